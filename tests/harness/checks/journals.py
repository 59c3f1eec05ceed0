"""Journals written by hand: a small builder in the order in which things happen."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from loopcheck.fake_providers.script import DialectName, Mode
from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.checks import CHECKS
from loopcheck.harness.checks.evidence import Evidence
from loopcheck.harness.checks.interface import run
from loopcheck.harness.checks.reading import read
from loopcheck.harness.journal import FORMAT, Entry
from loopcheck.harness.judge import judge
from loopcheck.harness.results import CaseResult, CheckResult, Finding
from loopcheck.harness.scenario.model import Scenario

Json = dict[str, object]

TOOLS: Json = {
    "reserve_seat": {"kind": "write", "args": {"event": "string", "seat": "integer"}},
    "get_weather": {"kind": "read", "args": {"city": "string"}},
}
SEAT: Json = {"event": "E1", "seat": 12}
EXECUTION_CHECKS = (
    "execution.complete-only",
    "execution.allowed",
    "execution.exact-arguments",
    "execution.once",
)
# What checks said in the test that runs; see the fixture `every_word`.
SAID: list[str] = []


def scenario(**keys: object) -> Scenario:
    """A scenario with a write and a read, without expectations unless they are given."""
    return Scenario.model_validate(
        {
            "id": "tests/one",
            "format": 1,
            "title": "A seat is reserved",
            "rule": "It is reserved once.",
            "prompt": "Reserve a seat.",
            "tools": TOOLS,
            "turns": [{"say": "Done."}],
            **keys,
        }
    )


def call(
    label: str,
    tool: str = "reserve_seat",
    arguments: Mapping[str, object] | str = SEAT,
    *,
    call_id: str | None = None,
    sent: str = "whole",
) -> Json:
    """A call as a response issues it; text for arguments goes on the wire as it is."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    call_id = f"call_{label}" if call_id is None else call_id
    return {"label": label, "tool": tool, "arguments": text, "call_id": call_id, "sent": sent}


@dataclass
class Written:
    """A journal in the making. `items` is the conversation that the next request holds."""

    scenario: Scenario = field(default_factory=scenario)
    dialect: DialectName = "chat"
    mode: Mode = "stream"
    entries: list[Entry] = field(default_factory=list)
    items: list[Json] = field(default_factory=list)
    requests: int = 0
    executions: int = 0
    replies: int = 0
    given: list[Json] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.note(
            "case",
            format=FORMAT,
            scenario=self.scenario.id,
            dialect=self.dialect,
            mode=self.mode,
            seed=0,
            target="tested",
        )
        self.items.append(
            {"kind": "user", "path": "messages[0]", "origin": "sent", "text": self.scenario.prompt}
        )

    def note(self, kind: str, **fields: object) -> int:
        """Appends an entry as it is and returns its number."""
        self.entries.append({"n": len(self.entries) + 1, "kind": kind, **fields})
        return len(self.entries)

    def ask(
        self,
        turn: int = 1,
        attempt: int = 1,
        *,
        role: str = "turn",
        tools: Iterable[str] | None = None,
        **fields: object,
    ) -> int:
        """A request with the conversation so far; it continues the turn before."""
        self.requests += 1
        offered = self.scenario.tools if tools is None else tools
        return self.note(
            "request",
            request=self.requests,
            method="POST",
            path="/v1/chat/completions",
            headers={},
            body={"stream": self.mode == "stream"},
            role=role,
            **({"turn": turn, "attempt": attempt} if role == "turn" else {}),
            recognised={"turn": turn - 1, "by": "ids" if turn > 1 else "none"},
            conversation=[dict(item) for item in self.items],
            tools=[
                {"name": name, "schema": self.scenario.tools[name].parameters} for name in offered
            ],
            **{"tool_choice": "auto", **fields},
        )

    def answer(
        self,
        *calls: Json,
        text: str = "",
        stop: str | None = None,
        ends: str = "well",
        fault: str | None = None,
        status: int = 200,
        refusal: str | None = None,
    ) -> int:
        """The response to the last request for a turn."""
        request = next(e for e in reversed(self.entries) if e["kind"] == "request")
        self.given = list(calls)
        return self.note(
            "response",
            request=request["request"],
            turn=request["turn"],
            attempt=request["attempt"],
            response_id=f"resp_{len(self.entries)}",
            status=status,
            calls=list(calls),
            text=text,
            refusal=refusal,
            stop=stop or ("calls" if calls else "end"),
            fault=fault,
            ends=ends,
        )

    def carry(self, *calls: Json) -> None:
        """The loop keeps these calls (or all of the last response) in its conversation."""
        for one in calls or self.given:
            self.items.append(
                {
                    "kind": "call",
                    "path": f"messages[{len(self.items)}]",
                    "origin": "sent",
                    "call_id": one["call_id"],
                    "name": one["tool"],
                    "arguments": one["arguments"],
                    "reply": self.replies,
                }
            )
        self.replies += 1

    def result(self, call_id: str, text: str) -> None:
        """The loop keeps this result in its conversation."""
        self.items.append(
            {
                "kind": "result",
                "path": f"messages[{len(self.items)}]",
                "origin": "sent",
                "call_id": call_id,
                "text": text,
            }
        )

    def execute(
        self,
        tool: str = "reserve_seat",
        arguments: Json | None = None,
        *,
        how: str = "result",
        effect: bool | None = None,
        operation: Json | None = None,
        deduplicated: bool = False,
        **fields: object,
    ) -> str:
        """An execution with its effect (writes that give a result have one) and its end; returns
        what came of it, with the token in it where it succeeded."""
        self.executions += 1
        token = f"tok-{self.executions:03d}"
        given = SEAT if arguments is None else arguments
        self.note(
            "execution",
            execution=self.executions,
            tool=tool,
            arguments=given,
            token=token,
            **{"label": None, "call_id": None, "operation_id": None, **fields},
        )
        if effect if effect is not None else tool == "reserve_seat" and how == "result":
            self.note(
                "effect",
                execution=self.executions,
                tool=tool,
                arguments=given,
                operation=operation,
                deduplicated=deduplicated,
            )
        text = json.dumps({"ok": True, "token": token}) if how == "result" else "it did not work"
        self.note("ended", execution=self.executions, how=how, result=text)
        return text

    def end(
        self, state: str = "completed", reason: str = "", text: str = "", **fields: object
    ) -> int:
        """The run ends."""
        return self.note(
            "outcome",
            **{"state": state, "reason": reason, "text": text, "exception": None, **fields},
        )

    def evidence(self, *can: str) -> Evidence:
        return read(self.entries, self.scenario, frozenset(can))

    def check(self, name: str, *can: str) -> CheckResult:
        """What one check says of this journal."""
        check = next(check for check in CHECKS if check.id == name)
        result = run(check, self.evidence(*can))
        reason = "" if result.reason is None else f": {result.reason}"
        SAID.append(f"{result.check} {result.status}{reason}")
        SAID.extend(map(in_words, result.findings))
        return result

    def judged(self, *can: str, limit_unit: str = "rounds") -> CaseResult:
        spec = CaseSpec(self.scenario, self.dialect, self.mode)
        result = judge(self.entries, spec, frozenset(can), limit_unit)
        SAID.append(f"{result.case} {result.verdict}")
        SAID.extend(map(in_words, result.findings))
        return result


def in_words(found: Finding) -> str:
    """A finding with all that it says."""
    why = "" if found.why is None else f"; why: {found.why}"
    return (
        f"  {found.check} ({found.level}): {found.sentence}\n"
        f"    expected {found.expected}\n"
        f"    seen {found.seen}\n"
        f"    entries {', '.join(map(str, found.entries))}{why}"
    )


def levels(result: CheckResult) -> list[str]:
    """The levels of a check's findings, in order."""
    return [found.level for found in result.findings]


def execution_levels(journal: Written, *can: str) -> dict[str, list[str]]:
    """The levels of the findings of each check of executions that has any."""
    results = {name: levels(journal.check(name, *can)) for name in EXECUTION_CHECKS}
    return {name: each for name, each in results.items() if each}


def primary(result: CaseResult) -> str | None:
    """The check of the primary finding."""
    return result.findings[0].check if result.findings else None


def one_round(
    *calls: Json, scenario_: Scenario | None = None, dialect: DialectName = "chat"
) -> Written:
    """A journal up to the response with these calls."""
    journal = Written(scenario_ or scenario(), dialect)
    journal.ask()
    journal.answer(*(calls or (call("book"),)))
    return journal


def two_rounds(*calls: Json, results: list[tuple[str, str]]) -> Written:
    """The response with the calls, then a request that holds them with these results."""
    journal = one_round(*calls)
    journal.carry()
    for call_id, text in results:
        journal.result(call_id, text)
    journal.ask(2)
    return journal


def honest(*calls: Json, scenario_: Scenario | None = None) -> Written:
    """A whole honest run: every call is carried out, answered, and the model ends."""
    journal = one_round(*calls, scenario_=scenario_)
    journal.carry()
    for one in journal.given:
        result = journal.execute(str(one["tool"]), json.loads(str(one["arguments"]) or "{}"))
        journal.result(str(one["call_id"]), result)
    journal.ask(2)
    journal.answer(text="Done.")
    journal.end(text="Done.")
    return journal


def entries_of(journal: Written, kind: str) -> Sequence[Entry]:
    """The entries of one kind."""
    return [entry for entry in journal.entries if entry["kind"] == kind]
