/** Who is on trial, as the harness is told. */

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { TargetError } from "./errors.js";
import { STATES } from "./outcome.js";

/** The card's document. Throws TargetError where the card cannot be right. */
export function cardOf(card, folders) {
  const { name, version, dialects, modes, can, limitUnit } = card;
  if (typeof name !== "string" || name === "") throw new TargetError("the card has no name");
  if (!Array.isArray(dialects) || dialects.length === 0) {
    throw new TargetError(`target '${name}': dialects is empty; name at least one`);
  }
  for (const state of new Map(card.ends ?? []).values()) {
    if (!STATES.includes(state)) {
      throw new TargetError(
        `target '${name}': unknown outcome in ends '${state}'; known: ${STATES.join(", ")}`,
      );
    }
  }
  return {
    name,
    version,
    language: card.language ?? "javascript",
    runtime: `node ${process.versions.node}`,
    packages: versionsOf(card.packages ?? [], folders),
    dialects,
    modes,
    can,
    limit_unit: limitUnit,
  };
}

function versionsOf(packages, folders) {
  return Object.fromEntries(packages.map((name) => [name, versionOf(name, folders)]));
}

// Not by resolving it: a package need not export its package.json.
function versionOf(name, folders) {
  for (const folder of folders) {
    for (let at = folder; ; at = dirname(at)) {
      const file = join(at, "node_modules", name, "package.json");
      if (existsSync(file)) return JSON.parse(readFileSync(file, "utf8")).version;
      if (dirname(at) === at) break;
    }
  }
  return "not installed";
}
