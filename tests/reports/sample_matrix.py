"""A hand-written matrix: every way a cell can end, every kind of change and of drift."""

from __future__ import annotations

from sample_report import HOSTILE, ONCE, case, report

from loopcheck.harness.matrix.results import (
    Asked,
    AskedCase,
    CellResult,
    CellStatus,
    Trouble,
    Wire,
)
from loopcheck.harness.results import CaseResult, TargetCard, TargetResult
from loopcheck.reports.matrix_comparison import compare, summary
from loopcheck.reports.matrix_report import (
    DependencySet,
    Footer,
    Header,
    MatrixReport,
)

CASE = "once/lost[chat-stream]"
OLD = {"anthropic": "0.125.0", "httpx": "0.28.1"}
NEW = {"anthropic": "2.14.0", "httpx2": "2.16.2"}


def asked(turn: int | None, attempt: int = 1, *, answered: str = "", **more: int) -> Asked:
    return Asked(
        turn=turn,
        attempt=attempt,
        endpoint="POST /v1/messages",
        headers=more.get("headers", 0),
        body=more.get("body", 0),
        answered=answered,
    )


def wire(
    *requests: Asked,
    headers: dict[str, str] | None = None,
    bodies: tuple[dict[str, tuple[str, ...]], ...] = ({},),
    cases: tuple[str, ...] = (CASE,),
) -> Wire:
    made = requests or (asked(1),)
    return Wire(
        headers=(headers or {},),
        bodies=bodies,
        cases=tuple(AskedCase(case=name, dialect="messages", requests=made) for name in cases),
    )


BEFORE = wire(
    asked(1),
    asked(2, 1, answered="529"),
    asked(2, 2, body=1),
    headers={
        "x-api-key": "***",
        "anthropic-version": "2023-06-01",
        "user-agent": "Anthropic/Python 0.125.0",
    },
    bodies=(
        {"model": ('"m"',), "messages[user].role": ('"user"',)},
        {"messages[assistant].role": ('"assistant"',), "messages[user].role": ('"user"',)},
    ),
)
AFTER = wire(
    asked(1),
    asked(2, 1, answered="529"),
    asked(2, 2, body=1),
    headers={
        "authorization": "Bearer ***",
        "anthropic-version": "2026-10-21",
        "user-agent": "Anthropic/Python 2.14.0",
    },
    bodies=(
        {"model": ('"m"',), "messages[user].role": ('"user"',), "thread.type": ('"create"',)},
        {"messages[user].role": ('"user"',), "thread.type": ('"continue"',)},
    ),
)


def cell(
    target: str,
    dependency_set: str,
    *cases: CaseResult,
    status: CellStatus = "ran",
    trouble: Trouble | None = None,
    packages: dict[str, str] | None = None,
    requests: Wire | None = None,
) -> CellResult:
    broken = trouble.message if trouble is not None and status.startswith("breaks") else None
    card = TargetCard(name=target, runtime="python 3.12.1", packages={})
    held = report(TargetResult(card=card, cases=cases, broken=broken))
    return CellResult(
        target=target,
        dependency_set=dependency_set,
        key=f"{target}-{dependency_set}",
        status=status,
        trouble=trouble,
        packages=packages or {},
        environment="e1",
        environment_seconds=11.2 if dependency_set == "next" else None,
        report=None if status == "cannot install" else held,
        report_file=f".loopcheck/matrix/reports/{target}.{dependency_set}.json",
        wire=requests or Wire(),
        seconds=9.8,
        cpu_seconds=4.2,
    )


PASSING = case("pass")
FAILING = case("fail", findings=(ONCE,))
TYPE_ERROR = Trouble(
    message="chat, whole: it sent no request to task.base_url; TypeError: create() got an "
    "unexpected keyword argument 'temperature' (billing/llm.py:88)",
    place="billing/llm.py:88",
)
CONFLICT = Trouble(
    message=f"some-plugin 3.1 requires anthropic<1 ({HOSTILE})",
    package="some-plugin",
    place="loopcheck-matrix.yaml:11",
)
MISSING = Trouble(
    message="cannot import legacy.trial: ModuleNotFoundError: No module named 'httpx'",
    package="httpx",
    place="legacy/llm.py:3",
)
CELLS = [
    cell("billing", "now", PASSING, packages={"anthropic": "0.125.0"}),
    cell(
        "billing",
        "next",
        status="breaks at the first call",
        trouble=TYPE_ERROR,
        packages={"anthropic": "2.14.0"},
    ),
    cell("quotes", "now", PASSING, packages=OLD, requests=BEFORE),
    cell("quotes", "next", FAILING, packages=NEW, requests=AFTER),
    cell("support", "now", FAILING, packages={"anthropic": "0.125.0"}, requests=BEFORE),
    cell("support", "next", PASSING, packages={"anthropic": "2.14.0"}, requests=AFTER),
    cell("pricing", "now", PASSING, packages=OLD),
    cell("pricing", "next", status="cannot install", trouble=CONFLICT),
    cell("legacy", "now", status="breaks at import", trouble=MISSING, packages=OLD),
    cell("legacy", "next", status="breaks at import", trouble=MISSING, packages=NEW),
]
SETS = (
    DependencySet(name="now", asked=("locked",)),
    DependencySet(name="next", asked=("anthropic==2.14.0", "node 22")),
)


def matrix_report(cells: list[CellResult], *, exit_code: int = 1) -> MatrixReport:
    header = Header(
        loopcheck="1.0.0",
        suite="2026.1",
        seed=0,
        only_present=True,
        python="3.12.1",
        platform="Linux",
        started="2026-11-30T12:00:00+00:00",
        command="loopcheck matrix loopcheck-matrix.yaml",
    )
    summaries = tuple(summary(one) for one in cells)
    footer = Footer(
        cells=len(cells),
        cases=sum(one.cases for one in summaries),
        resumed=0,
        exit_code=exit_code,
        seconds=401.2,
    )
    return MatrixReport(
        header=header,
        sets=SETS,
        cells=summaries,
        comparisons=(compare(cells, "now", "next"),),
        footer=footer,
    )


MATRIX = matrix_report(CELLS)
