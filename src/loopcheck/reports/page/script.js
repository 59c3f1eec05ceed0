"use strict";
(() => {
  const all = (what, within = document) => [...within.querySelectorAll(what)];
  const controls = document.getElementById("controls");
  const search = document.getElementById("search");
  const count = document.getElementById("count");
  const byClass = document.getElementById("by-class");
  const byCheck = document.getElementById("by-check");
  const chips = all("[data-verdict]", controls);
  const cases = all(".case").map((node) => ({
    node, text: null, verdict: node.dataset.verdict, group: node.dataset.class,
    checks: node.dataset.check.split(" "), target: node.dataset.target,
  }));
  const rows = all(".matrix tbody tr:not(.group)").map((node) => ({
    node, text: node.dataset.text, verdicts: node.dataset.verdicts.split("|"),
    checks: node.dataset.checks.split(" "), group: node.closest("tbody").dataset.class,
  }));

  const textOf = (one) => (one.text ??= `${one.target} ${one.node.textContent}`.toLowerCase());

  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const verdicts = chips.filter((c) => c.ariaPressed === "true").map((c) => c.dataset.verdict);
    const [group, check] = [byClass.value, byCheck.value];
    const fits = (one, has, text) =>
      (!verdicts.length || verdicts.some(has)) && (!group || one.group === group) &&
      (!check || one.checks.includes(check)) && words.every((word) => text().includes(word));
    let shown = 0;
    for (const one of cases) {
      one.node.hidden = !fits(one, (v) => v === one.verdict, () => textOf(one));
      shown += one.node.hidden ? 0 : 1;
    }
    for (const one of rows) {
      one.node.hidden = !fits(one, (v) => one.verdicts.includes(v), () => one.text);
    }
    for (const body of all(".matrix tbody")) {
      body.hidden = all("tr:not(.group)", body).every((row) => row.hidden);
    }
    for (const part of all("section.group:has(.case)")) {
      part.hidden = all(".case", part).every((node) => node.hidden);
    }
    const lines = rows.filter((one) => !one.node.hidden).length;
    count.value = `${shown} of ${cases.length} causes` + (rows.length ? `, ${lines} of ${rows.length} scenarios` : "");
  }

  function clear() {
    search.value = byClass.value = byCheck.value = "";
    for (const chip of chips) chip.ariaPressed = "false";
    filter();
  }

  function wanted() {
    const hash = location.hash.slice(1);
    if (!hash) return null;
    let plain = hash;
    try { plain = decodeURIComponent(hash); } catch { /* a percent sign of its own */ }
    const found = document.getElementById(hash) ?? document.getElementById(plain);
    if (found || !plain.startsWith("case=")) return found;
    const named = plain.slice("case=".length);
    return all("[id^='case=']").find((node) => node.id.endsWith(`:${named}`)) ?? null;
  }

  function follow() {
    const found = wanted();
    const node = found?.closest(".case");
    if (!node) return;
    if (node.hidden) clear();
    node.open = true;
    const summary = node.querySelector("summary");
    summary.scrollIntoView({ block: "start" });
    summary.focus({ preventScroll: true });
  }

  const visible = () => cases.map((one) => one.node).filter((node) => !node.hidden);

  function move(by) {
    const nodes = visible();
    const at = nodes.indexOf(document.activeElement?.closest?.(".case"));
    const next = nodes[at < 0 ? (by > 0 ? 0 : nodes.length - 1) : at + by];
    next?.querySelector("summary").focus();
    next?.querySelector("summary").scrollIntoView({ block: "nearest" });
  }

  function escape() {
    const node = document.activeElement?.closest?.(".case");
    if (document.activeElement === search && search.value) {
      search.value = "";
      filter();
    } else if (node?.open) {
      node.open = false;
      node.querySelector("summary").focus();
    } else {
      clear();
      document.activeElement?.blur();
    }
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.matches("input, select, textarea");
    if (event.key === "Escape") escape();
    else if (event.key === "Enter" && event.target === search) { event.preventDefault(); move(1); }
    else if (typing) return;
    else if (event.key === "/") { event.preventDefault(); search.focus(); search.select(); }
    else if (event.key === "j") move(1);
    else if (event.key === "k") move(-1);
  });

  for (const chip of chips) {
    chip.addEventListener("click", () => {
      chip.ariaPressed = chip.ariaPressed === "true" ? "false" : "true";
      filter();
    });
  }
  search.addEventListener("input", filter);
  byClass.addEventListener("change", filter);
  byCheck.addEventListener("change", filter);
  controls.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", follow);

  for (const node of all(".case")) {
    node.addEventListener("toggle", () => {
      const body = node.querySelector(":scope > .body");
      if (node.open && location.hash !== `#${body.id}` && node.contains(document.activeElement)) {
        history.replaceState(null, "", `#${body.id}`);
      }
    });
  }

  if (navigator.clipboard) {
    for (const command of all("code.command")) {
      const button = document.createElement("button");
      Object.assign(button, { type: "button", className: "copy", textContent: "Copy" });
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(command.textContent);
        button.textContent = "Copied";
        setTimeout(() => { button.textContent = "Copy"; }, 1500);
      });
      command.after(button);
    }
  }

  const opened = [];
  window.addEventListener("beforeprint", () => {
    for (const node of visible()) {
      if (!node.open) { node.open = true; opened.push(node); }
    }
  });
  window.addEventListener("afterprint", () => { for (const node of opened.splice(0)) node.open = false; });

  for (const node of [controls, ...all(".keys")]) node.hidden = false;
  filter();
  follow();
})();
