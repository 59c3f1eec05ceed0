"""A hand-written report with every verdict, and text that no report should obey."""

from __future__ import annotations

from loopcheck.harness.results import (
    CaseResult,
    CheckResult,
    Expectation,
    Finding,
    Footer,
    Header,
    Report,
    TargetCard,
    TargetResult,
    Verdict,
)

HOSTILE = (
    "\x1b[31mred\x1b[0m \x07\x00 \u202egnp.exe\u2066 <b>&\"'</b> ]]> "
    "\U0001f469\u200d\U0001f4bb \ufffe\ud800 \u2028end\r\n\tnext"
)


ONCE = Finding(
    check="effect.once",
    level="must",
    sentence="one effect per business operation",
    expected="1 effect of reserve_seat (event=WS-7, participant=P-104)",
    seen="2, from calls call_book_x81k and call_again_t44c",
    entries=(9, 10),
    why="the loop knows calls only by call id; a repeated business action has a new one",
)
FOLLOWS = Finding(
    check="execution.once",
    level="must",
    sentence="a write is entered at most once per call",
    expected="1 execution",
    seen="2 executions",
    entries=(9,),
)
REMARK = Finding(
    check="correlation.known-id",
    level="should",
    sentence="the issued id is kept",
    expected="call_book_x81k",
    seen="id-1",
    entries=(6,),
)
LINES = (
    "1   case               once/lost[chat-stream], seed 0",
    "2   request 1          turn 1",
    "3   response 1         book",
    "4   execution   book   reserve_seat(event=WS-7, participant=P-104, seat=12)",
    "5   effect      book   reserved #R1",
    "6   request 2          tool result call_book_x81k: Error: connection closed",
    "7   response 2         again",
    "8   sent               turn 2: call again",
    "9   execution   again  reserve_seat(event=WS-7, participant=P-104, seat=12)",
    "10  effect      again  reserved #R2",
    "11  outcome            completed, final_answer",
)


def case(verdict: Verdict, *, mode: str = "stream", **fields: object) -> CaseResult:
    """A case of the scenario `once/lost` with this verdict."""
    return CaseResult.model_validate(
        {
            "case": f"once/lost[chat-{mode}]",
            "scenario": "once/lost",
            "title": "A seat is reserved once although the response is lost",
            "rule": "A write whose response is lost is never sent a second time.",
            "dialect": "chat",
            "mode": mode,
            "verdict": verdict,
            "checks": (CheckResult(check="effect.once", status="pass"),),
            "seconds": 0.11,
            **fields,
        }
    )


def named(verdict: Verdict, scenario: str, **fields: object) -> CaseResult:
    """A case of another scenario with this verdict."""
    return case(verdict).model_copy(
        update={"case": f"{scenario}[chat-stream]", "scenario": scenario, **fields}
    )


FAILING = case(
    "fail",
    grounds=("B139", "B141"),
    checks=(CheckResult(check="effect.once", status="fail", findings=(ONCE,)),),
    findings=(ONCE, FOLLOWS, REMARK),
    lines=LINES,
    journal=".loopcheck/last/booking/once.lost.chat-stream.jsonl",
)
OTHER_IDS = ONCE.model_copy(update={"seen": "2, from calls call_book_0000 and call_again_1111"})
BUG = Expectation(
    kind="bug", check="effect.once", reason="will be mended", issue="https://t.example/1"
)

CASES = (
    case("pass", mode="whole", seconds=0.09),
    FAILING,
    case("fail", case="once/lost[messages-stream]", dialect="messages", findings=(OTHER_IDS,)),
    named("pass", "ids/kept", findings=(REMARK,)),
    named("expected", "errors/known", findings=(ONCE,), expectations=(BUG,), reason=BUG.reason),
    named("policy", "truncation/parsable", findings=(ONCE,), reason="whole JSON is run"),
    named("flaky", "transport/slow", findings=(ONCE,), reason="slow machines"),
    named("stale", "errors/mended", expectations=(BUG,)),
    named("not exercised", "control/late", reason="the loop ended before turn 3"),
    named("not declared", "control/approval", reason="needs approval", seconds=0.0),
    named("target broken", "transport/reset", reason="it did not end within 30 s"),
    named("harness error", "transport/cut", reason="the fault did not fire"),
    named(
        "fail",
        "hostile/text",
        title=HOSTILE,
        reason=HOSTILE,
        findings=(
            Finding(
                check="correlation.own-result",
                level="must",
                sentence=f"a result {HOSTILE}",
                expected=HOSTILE,
                seen=HOSTILE,
                entries=(1,),
                why=HOSTILE,
            ),
        ),
        lines=(f"1  request {HOSTILE}",),
    ),
)
CARD = TargetCard(
    name="booking",
    version="4.2.0",
    runtime="python 3.12",
    packages={"openai": "3.57.0"},
    dialects=("chat",),
    modes=("whole", "stream"),
)
BOOKING = TargetResult(
    card=CARD,
    smoke=named("pass", "smoke", seconds=0.04),
    cases=CASES,
    stale=(
        "errors/mended[chat-stream]: listed as bug (effect.once) and no longer fails (x.yaml:3)",
    ),
)
BROKEN = TargetResult(
    card=TargetCard(name="support"), broken="chat, whole: TypeError: unexpected 'temperature'"
)


def report(*targets: TargetResult, exit_code: int = 4) -> Report:
    """A report of these targets."""
    cases = [case for target in targets for case in target.cases]
    verdicts = [case.verdict for case in cases]
    return Report(
        header=Header(
            loopcheck="0.1.0",
            suite="2026.1",
            seed=7,
            python="3.12.1",
            platform="Linux",
            started="2026-11-30T09:00:00+00:00",
            packages={"openai": "3.57.0"},
        ),
        targets=targets,
        footer=Footer(
            targets=len(targets),
            cases=len(cases),
            verdicts={verdict: verdicts.count(verdict) for verdict in verdicts},
            exit_code=exit_code,
            seconds=1.5,
        ),
    )


REPORT = report(BOOKING, BROKEN)
