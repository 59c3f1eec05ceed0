"""A tiny honest loop on generated scripts: whatever it meets, no check holds a must against it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from hypothesis import given
from hypothesis import strategies as st
from journals import Json, Written, call, scenario

LABELS = [f"c{place}" for place in range(40)]
TEXTS = [
    '{"event":"E1","seat":12}',
    '{"event":"E1","seat":1',
    '{"event":"E2","seat":"7"}',
    '{"event":"E1","seat":12,"row":3}',
    "[]",
]


@dataclass(frozen=True)
class Habits:
    """In what honest loops differ."""

    renames_ids: bool
    wraps: bool
    reads_types: bool
    stops_at_unknown: bool
    gives_up: bool
    merges_equal: bool


HABITS = st.builds(Habits, *[st.booleans()] * 6)
CALLS = st.lists(
    st.tuples(
        st.sampled_from(["reserve_seat", "get_weather", "unknown"]),
        st.sampled_from(TEXTS),
        st.sampled_from(["", "own", "same"]),
    ),
    max_size=3,
)
ATTEMPTS = st.lists(
    st.tuples(CALLS, st.sampled_from(["well", "marked", "unmarked", "failed", "http"])),
    min_size=1,
    max_size=3,
)
SCRIPTS = st.lists(ATTEMPTS, max_size=3)


class HonestLoop:
    """Runs complete calls once, answers every call, and tells how it ended."""

    def __init__(self, habits: Habits, failing: set[int]) -> None:
        self.habits = habits
        self.failing = failing
        self.journal = Written(scenario())
        self.made = 0

    def run(self, script: list[list[tuple[list[tuple[str, str, str]], str]]]) -> Written:
        for turn, attempts in enumerate(script, 1):
            if not self.turn(turn, attempts):
                return self.journal
        self.journal.ask(len(script) + 1)
        self.journal.answer(text="Done.")
        self.journal.end("completed", "final_answer", "Done.")
        return self.journal

    def turn(self, turn: int, attempts: list[tuple[list[tuple[str, str, str]], str]]) -> bool:
        """Asks until an attempt ends well; False when the run is over."""
        for number, (calls, ends) in enumerate(attempts, 1):
            self.journal.ask(turn, number)
            self.give(calls, ends)
            if ends == "well":
                return self.carry_out()
            if self.habits.gives_up or ends == "marked":
                break
        self.journal.end("failed", "incomplete_response")
        return False

    def give(self, calls: list[tuple[str, str, str]], ends: str) -> None:
        made = []
        for tool, text, wire_id in calls:
            label = LABELS[self.made]
            self.made += 1
            ids = {"": "", "own": f"call_{label}", "same": "call_0"}
            sent = "none" if ends == "http" else "cut" if ends == "failed" else "whole"
            made.append(call(label, tool, text, call_id=ids[wire_id], sent=sent))
        status, fault = (500, "http") if ends == "http" else (200, None)
        self.journal.answer(
            *made, ends="failed" if ends == "http" else ends, status=status, fault=fault
        )

    def carry_out(self) -> bool:
        calls = list(self.journal.given)
        if not calls:
            self.journal.end("completed", "final_answer")
            return False
        if self.habits.stops_at_unknown and any(one["tool"] == "unknown" for one in calls):
            self.journal.end("failed", "UnknownTool")
            return False
        renamed = [
            {**one, "call_id": f"new_{self.made}_{place}"}
            if self.habits.renames_ids or not one["call_id"]
            else one
            for place, one in enumerate(calls)
        ]
        self.journal.carry(*renamed)
        done: dict[str, str] = {}
        for one in renamed:
            self.journal.result(str(one["call_id"]), self.result_of(one, done))
        return True

    def result_of(self, one: Json, done: dict[str, str]) -> str:
        try:
            arguments = json.loads(str(one["arguments"]))
        except ValueError:
            return "Error: no JSON"
        if not isinstance(arguments, dict) or one["tool"] == "unknown":
            return "Error: refused"
        key = f"{one['tool']} {one['arguments']}"
        if not (self.habits.merges_equal and key in done):
            done[key] = self.execute(str(one["tool"]), arguments)
        return f"<result>{done[key]}</result>" if self.habits.wraps else done[key]

    def execute(self, tool: str, arguments: Json) -> str:
        if self.habits.reads_types and tool == "reserve_seat":
            arguments = {**arguments, "seat": int(str(arguments["seat"]))}
            arguments.pop("row", None)
        fails = self.journal.executions + 1 in self.failing
        return self.journal.execute(tool, arguments, how="raised" if fails else "result")


@given(SCRIPTS, HABITS, st.sets(st.integers(1, 9)), st.sets(st.sampled_from(["parallel"])))
def test_an_honest_loop_is_never_accused(
    script: list[list[tuple[list[tuple[str, str, str]], str]]],
    habits: Habits,
    failing: set[int],
    can: set[str],
) -> None:
    journal = HonestLoop(habits, failing).run(script)
    result = journal.judged(*can)
    assert [found for found in result.findings if found.level == "must"] == []
    assert result.verdict == "pass"


@given(SCRIPTS, HABITS, st.sets(st.integers(1, 9)))
def test_a_write_that_is_doubled_is_always_found(
    script: list[list[tuple[list[tuple[str, str, str]], str]]], habits: Habits, failing: set[int]
) -> None:
    class Liar(HonestLoop):
        def execute(self, tool: str, arguments: Json) -> str:
            if tool == "reserve_seat":
                super().execute(tool, arguments)
            return super().execute(tool, arguments)

    # Who carries equal calls out as one, and that twice, is within what the model asked for.
    journal = Liar(replace(habits, merges_equal=False), failing).run(script)
    doubled = any(one["tool"] == "reserve_seat" for one in executions(journal))
    # Beside a call that does not parse, it may as well have been made from that one.
    checks = ("execution.once", "execution.complete-only")
    assert any(journal.check(name).status == "fail" for name in checks) is doubled


def executions(journal: Written) -> list[Json]:
    return [entry for entry in journal.entries if entry["kind"] == "execution"]
