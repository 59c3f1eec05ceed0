"""Size of the HTML report of 20 targets and 110 scenarios, the time that it takes to make it, and
the first paint where Chromium is found.

    python tests/bench/bench_html.py [SHARE ...]

SHARE of the scenarios fail on each target, each in a way of its own; 0.1 and 1 unless given. The
first paint is measured with Playwright and the browser that LOOPCHECK_CHROMIUM names, by default
the first one on the path.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from loopcheck.harness.results import (
    CaseResult,
    Finding,
    Footer,
    Header,
    Report,
    TargetCard,
    TargetResult,
)
from loopcheck.reports import html

TARGETS, SCENARIOS = 20, 110
CASES = [(d, m) for d in ("chat", "responses", "messages") for m in ("whole", "stream")]
LINES = (
    "   1  case                 arguments/a[chat-stream], target t, seed 0",
    *(
        line
        for turn in range(3)
        for line in (
            f"  {turn}2  request {turn}            asks for turn {turn}; 2 results, last: 'ok'",
            f'  {turn}3  response             turn {turn}: seat reserve_seat({{"event":"E1"}})',
            f"  {turn}4  sent                 7 frames to request {turn}",
            f"  {turn}5  execution   seat     reserve_seat(event='E1', seat=12, aisle=True)",
            f"  {turn}6  effect      seat     reserve_seat(event='E1', seat=12) committed",
        )
    ),
    "  70  outcome              completed/final_answer, text 'The seat is reserved for you.'",
)
FRAMES = tuple(f"frame {n}  data: {'{' * 9}{'x' * 160}" for n in range(3, 7))


def case(scenario: int, dialect: str, mode: str, *, target: int, share: float) -> CaseResult:
    name = f"{('arguments', 'assembly', 'errors', 'once')[scenario % 4]}/scenario-{scenario:03}"
    fails = (scenario * 7 + target * 13) % 100 < share * 100
    findings = (
        Finding(
            check="execution.exact-arguments",
            level="must",
            sentence="no value of a call's arguments is changed or invented",
            expected='reserve_seat with {"event":"E1","seat":12} (call seat)',
            seen=f"{scenario}: reserve_seat(event='E1')",
            entries=(15, 13),
            why="the arguments were put together by the place of the fragment",
        ),
        Finding(
            check="scenario.expects",
            level="should",
            sentence=f"scenario {scenario} goes well",
            expected="result of seat: own",
            seen="no result",
            entries=(70,),
        ),
    )
    return CaseResult(
        case=f"{name}[{dialect}-{mode}]",
        scenario=name,
        title=f"What scenario {scenario} is about, in a line of the usual length",
        rule="Fragments that name no call are put to the only call there is, or the run fails.",
        grounds=("B001", "B007", "B010"),
        dialect=dialect,
        mode=mode,
        verdict="fail" if fails else "pass",
        findings=findings if fails else (),
        seconds=0.03,
        lines=LINES,
        frames=FRAMES,
        journal=f".loopcheck/last/target-{target}/{name}.{dialect}-{mode}.jsonl",
    )


def report(share: float) -> Report:
    targets = tuple(
        TargetResult(
            card=TargetCard(name=f"target-{t}", runtime="python 3.12", packages={"openai": "3"}),
            cases=tuple(
                case(scenario, *how, target=t, share=share)
                for scenario in range(SCENARIOS)
                for how in CASES
            ),
        )
        for t in range(TARGETS)
    )
    header = Header(
        loopcheck="0", suite="2026.1", seed=0, python="3.12", platform="Linux", started="2026"
    )
    return Report(
        header=header,
        targets=targets,
        footer=Footer(
            targets=TARGETS,
            cases=sum(len(target.cases) for target in targets),
            verdicts=Counter(str(c.verdict) for target in targets for c in target.cases),
            exit_code=1,
            seconds=1.0,
        ),
    )


def first_paint(path: Path) -> str:
    browser_path = os.environ.get("LOOPCHECK_CHROMIUM") or shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return "not measured (no playwright)"
    if browser_path is None:
        return "not measured (no Chromium)"
    paints = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        for _ in range(5):
            page = browser.new_page()
            page.goto(path.as_uri())
            paints.append(
                page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
            )
            page.close()
        browser.close()
    return f"{statistics.median(paints) / 1000:.2f} s (median of {len(paints)})"


def main(shares: list[float]) -> None:
    for share in shares:
        made = report(share)
        started = time.perf_counter()
        text = html.render(made)
        seconds = time.perf_counter() - started
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "report.html")
            path.write_text(text, encoding="utf-8")
            print(
                f"{TARGETS} targets, {SCENARIOS} scenarios, {len(CASES)} cases each, "
                f"{share:.0%} failing: {len(text.encode()) / 1e6:.2f} MB, made in {seconds:.2f} s, "
                f"first paint {first_paint(path)}"
            )


if __name__ == "__main__":
    main([float(share) for share in sys.argv[1:]] or [0.1, 1.0])
