"""Two hand-written reports between which everything happens that can happen."""

from __future__ import annotations

from sample_report import BUG, CARD, FOLLOWS, LINES, ONCE, case, named, report

from loopcheck.harness.results import Report, TargetCard, TargetResult

MOVED = ONCE.model_copy(update={"entries": (7, 10)})
OTHER = ONCE.model_copy(update={"seen": "3, from calls call_a_1, call_b_2 and call_c_3"})
RENAMED = ONCE.model_copy(update={"seen": "2, from calls call_other_1 and call_ids_2"})
FINE = {"outcome": "completed/final_answer"}

BOOKING_BEFORE = TargetResult(
    card=CARD,
    cases=(
        case("pass", **FINE),
        case("pass", mode="whole", **FINE),
        named("fail", "ids/mended", findings=(ONCE,)),
        named("fail", "ids/moved", findings=(ONCE,)),
        named("fail", "ids/other", findings=(FOLLOWS,)),
        named("fail", "ids/same", findings=(ONCE,)),
        named("fail", "ids/listed-now", findings=(ONCE,)),
        named("pass", "ids/taken-out"),
        named("pass", "ids/no-longer-declared"),
        named("not declared", "ids/declared-now", reason="needs approval"),
        named("not declared", "ids/never-declared", reason="needs approval"),
        named("pass", "ids/hung"),
        named("pass", "ids/lost-by-the-harness"),
    ),
)
BOOKING_AFTER = TargetResult(
    card=CARD.model_copy(update={"packages": {"openai": "4.0.0"}, "runtime": "python 3.13"}),
    cases=(
        case("fail", findings=(ONCE,), lines=LINES, journal="j.jsonl"),
        case("fail", mode="whole", findings=(RENAMED,)),
        named("pass", "ids/mended", **FINE),
        named("fail", "ids/moved", findings=(MOVED,)),
        named("fail", "ids/other", findings=(OTHER,)),
        named("fail", "ids/same", findings=(RENAMED,)),
        named("expected", "ids/listed-now", findings=(ONCE,), expectations=(BUG,)),
        named("pass", "ids/new"),
        named("not declared", "ids/no-longer-declared", reason="needs operation_ids"),
        named("fail", "ids/declared-now", findings=(ONCE,)),
        named("not declared", "ids/never-declared", reason="needs approval"),
        named("target broken", "ids/hung", reason="it did not end within 30 s"),
        named("harness error", "ids/lost-by-the-harness", reason="the fault did not fire"),
    ),
)
_HALE = (named("pass", "ids/mended"), named("pass", "ids/same"))


def _target(name: str, *, broken: str | None = None) -> TargetResult:
    return TargetResult(
        card=TargetCard(name=name), broken=broken, cases=() if broken is not None else _HALE
    )


TEMPERATURE = "chat, whole: TypeError: unexpected 'temperature'"
BEFORE: Report = report(
    BOOKING_BEFORE,
    _target("support"),
    _target("pricing", broken="chat, whole: ImportError: no module named 'x'"),
    _target("quotes", broken=TEMPERATURE),
    _target("retired"),
)
_LATER = report(
    BOOKING_AFTER,
    _target("support", broken=TEMPERATURE),
    _target("pricing"),
    _target("quotes", broken=TEMPERATURE),
    _target("billing"),
)
AFTER: Report = _LATER.model_copy(
    update={
        "header": _LATER.header.model_copy(
            update={
                "suite": "2026.2",
                "seed": 8,
                "lenient": ("C1",),
                "packages": {"openai": "4.0.0", "hostile\u202e<b>": "1|2"},
            }
        )
    }
)
