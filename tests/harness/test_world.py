"""What the world does and writes down, body by body."""

from __future__ import annotations

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import Arguments, Staged

from loopcheck.harness.world.gates import CaseEnded

SEAT: Arguments = {"seat": 12}
SEATS: Arguments = {"seat": "integer"}


def reserving(**keys: object) -> Staged:
    return Staged({"reserve": {"kind": "write", "args": SEATS, **keys}})


def execution(token: str, **changes: object) -> Arguments:
    return {
        "kind": "execution",
        "execution": 1,
        "tool": "reserve",
        "arguments": SEAT,
        "label": "book",
        "call_id": None,
        "operation_id": None,
        "token": token,
        **changes,
    }


EFFECT: Arguments = {
    "kind": "effect",
    "execution": 1,
    "tool": "reserve",
    "arguments": SEAT,
    "operation": None,
    "deduplicated": False,
}


def ended(how: str, result: str, execution: int = 1) -> Arguments:
    return {"kind": "ended", "execution": execution, "how": how, "result": result}


def test_normal_write_is_journalled_before_it_commits_and_when_it_ends() -> None:
    staged = reserving(returns={"ok": True})
    staged.issue(("book", "reserve", '{"seat":12}'))
    result = staged.world.execute("reserve", SEAT)
    (token,) = staged.world.tokens(["book"])
    assert result == f'{{"ok":true,"token":"{token}"}}'
    assert staged.entries() == [execution(token), EFFECT, ended("result", result)]


@pytest.mark.parametrize(
    ("behaviour", "exception", "has_effect"),
    [
        ("raises", RuntimeError("reserve failed"), False),
        ("raises-timeout", TimeoutError("reserve timed out"), False),
        ("rejects", PermissionError("rejected by the executor: reserve is not allowed"), False),
        ("commit-then-raise", RuntimeError("reserve failed"), True),
        (
            "commit-then-lose-response",
            ConnectionError("connection closed before the response arrived"),
            True,
        ),
    ],
)
def test_behaviour_that_raises(behaviour: str, exception: Exception, has_effect: bool) -> None:
    staged = reserving(behaves=[behaviour])
    staged.issue(("book", "reserve", '{"seat":12}'))
    with pytest.raises(type(exception)) as raised:
        staged.world.execute("reserve", SEAT)
    assert (type(raised.value), str(raised.value)) == (type(exception), str(exception))
    assert staged.entries() == [
        execution(""),
        *([EFFECT] if has_effect else []),
        ended(
            "rejected" if behaviour == "rejects" else "raised",
            f"{type(exception).__name__}: {exception}",
        ),
    ]
    assert staged.world.tokens(["book"]) == frozenset()


def test_error_result_is_structured_and_has_neither_token_nor_effect() -> None:
    staged = reserving(behaves=["error-result"])
    staged.issue(("book", "reserve", '{"seat":12}'))
    result = staged.world.execute("reserve", SEAT)
    assert json.loads(result) == {
        "error": {"code": "tool_error", "message": "reserve could not do this", "retryable": False}
    }
    assert staged.entries() == [execution(""), ended("error", result)]


def test_empty_result_has_an_effect_and_no_token() -> None:
    staged = reserving(behaves=["empty"])
    staged.issue(("book", "reserve", '{"seat":12}'))
    assert staged.world.execute("reserve", SEAT) == ""
    assert staged.entries() == [execution(""), EFFECT, ended("result", "")]


def test_large_result_keeps_its_token_wherever_it_is_cut() -> None:
    staged = reserving(behaves=["large"])
    staged.issue(("book", "reserve", '{"seat":12}'))
    result = staged.world.execute("reserve", SEAT)
    (token,) = staged.world.tokens(["book"])
    assert 200_000 < len(result) < 600_000
    assert token in result[:1000]
    assert token in result[-1000:]
    assert result == reserving(behaves=["large"]).world.execute("reserve", SEAT)


def test_hostile_result_gives_orders_and_carries_the_token() -> None:
    staged = reserving(behaves=["hostile"])
    staged.issue(("book", "reserve", '{"seat":12}'))
    result = staged.world.execute("reserve", SEAT)
    (token,) = staged.world.tokens(["book"])
    assert "ignore all previous instructions" in result
    assert token in result
    assert [entry["kind"] for entry in staged.entries()] == ["execution", "effect", "ended"]


@pytest.mark.parametrize(
    "behaviour", ["normal", "empty", "commit-then-raise", "commit-then-lose-response"]
)
def test_read_never_has_an_effect(behaviour: str) -> None:
    staged = Staged({"look": {"kind": "read", "behaves": [behaviour]}})
    with suppress(RuntimeError, ConnectionError):
        staged.world.execute("look", {})
    assert [entry["kind"] for entry in staged.entries()] == ["execution", "ended"]


@pytest.mark.parametrize(
    ("returns", "result"),
    [
        ({"naïve": [1, 2]}, '{{"naïve":[1,2],"token":"{token}"}}'),
        ("three seats", "three seats {token}"),
        ([1, None], '{{"value":[1,null],"token":"{token}"}}'),
        (None, '{{"value":null,"token":"{token}"}}'),
    ],
)
def test_token_is_added_by_the_kind_of_result(returns: object, result: str) -> None:
    staged = reserving(returns=returns)
    given = staged.world.execute("reserve", SEAT)
    token = staged.entries("execution")[0]["token"]
    assert given == result.format(token=token)


def test_returns_each_gives_one_an_execution_and_repeats_the_last() -> None:
    staged = reserving(returns_each=["one", "two"])
    results = [staged.world.execute("reserve", SEAT) for _ in range(3)]
    assert [result.split()[0] for result in results] == ["one", "two", "two"]


def test_behaviours_are_one_an_execution_of_the_tool_and_repeat_the_last() -> None:
    staged = reserving(behaves=["raises", "error-result"])
    with pytest.raises(RuntimeError):
        staged.world.execute("reserve", SEAT)
    assert '"error"' in staged.world.execute("reserve", SEAT)
    assert '"error"' in staged.world.execute("reserve", SEAT)


def test_behaviours_by_label_are_one_an_execution_of_that_call() -> None:
    staged = reserving(behaves={"b": ["error-result", "normal"]})
    staged.issue(("a", "reserve", '{"seat":1}'), ("b", "reserve", '{"seat":2}'))
    for seat in (1, 2, 2, 3):
        staged.world.execute("reserve", {"seat": seat})
    assert staged.labels() == ["a", "b", "b", None]
    hows = [entry["how"] for entry in staged.entries("ended")]
    assert hows == ["result", "error", "result", "result"]


def test_tokens_follow_from_the_seed() -> None:
    def tokens(seed: int) -> list[object]:
        staged = Staged({"a": {"kind": "read"}, "b": {"kind": "read"}}, seed=seed)
        for tool in ("a", "b", "a"):
            staged.world.execute(tool, {})
        return [entry["token"] for entry in staged.entries("execution")]

    assert tokens(1) == tokens(1)
    assert len({*tokens(1), *tokens(2)}) == 6


def test_tokens_are_those_of_the_labels_asked_for() -> None:
    staged = reserving()
    staged.issue(("a", "reserve", '{"seat":1}'), ("b", "reserve", '{"seat":2}'))
    for seat in (1, 2, 2):
        staged.world.execute("reserve", {"seat": seat})
    token = [str(entry["token"]) for entry in staged.entries("execution")]
    assert staged.world.tokens(["a"]) == {token[0]}
    assert staged.world.tokens(["a", "b"]) == set(token)
    assert staged.world.tokens(["other"]) == frozenset()


def test_journal_keeps_the_arguments_as_they_were() -> None:
    staged = reserving()
    arguments: Arguments = {"seat": 1, "tags": ["x"]}
    staged.world.execute("reserve", arguments)
    arguments["seat"] = 2
    assert staged.entries("execution")[0]["arguments"] == {"seat": 1, "tags": ["x"]}


def test_unknown_tool_is_named_with_the_known_ones() -> None:
    staged = reserving()
    with pytest.raises(LookupError, match="no tool 'reserv'; tools here: reserve"):
        staged.world.execute("reserv", {})
    assert staged.entries() == []


class TestOperations:
    def effects(self, staged: Staged) -> list[tuple[object, object]]:
        return [(entry["operation"], entry["deduplicated"]) for entry in staged.entries("effect")]

    def test_operation_is_the_key_arguments(self) -> None:
        staged = Staged({"pay": {"kind": "write", "operation": ["to", "note"]}})
        staged.world.execute("pay", {"to": "Ann", "cents": 5})
        assert self.effects(staged) == [({"to": "Ann"}, False)]

    def test_empty_key_makes_all_calls_one_operation(self) -> None:
        staged = Staged({"pay": {"kind": "write", "operation": [], "deduplicates": True}})
        staged.world.execute("pay", {"cents": 5})
        staged.world.execute("pay", {"cents": 6})
        assert self.effects(staged) == [({}, False), ({}, True)]

    def test_without_deduplication_the_second_request_has_a_second_effect(self) -> None:
        staged = Staged({"pay": {"kind": "write", "operation": ["to"]}})
        for _ in range(2):
            staged.world.execute("pay", {"to": "Ann"}, operation_id="op-1")
        assert self.effects(staged) == [({"to": "Ann"}, False), ({"to": "Ann"}, False)]

    @pytest.mark.parametrize(
        ("ids", "recognised"),
        [
            (("op-1", "op-1"), True),
            (("op-1", "op-2"), False),
            ((None, None), True),
            (("op-1", None), True),
            ((None, "op-1"), False),
        ],
    )
    def test_an_operation_id_alone_decides_where_it_is_given(
        self, ids: tuple[str | None, str | None], recognised: bool
    ) -> None:
        staged = Staged({"pay": {"kind": "write", "operation": ["to"], "deduplicates": True}})
        for operation_id in ids:
            staged.world.execute("pay", {"to": "Ann"}, operation_id=operation_id)
        assert self.effects(staged) == [({"to": "Ann"}, False), ({"to": "Ann"}, recognised)]

    def test_other_key_or_other_tool_is_another_operation(self) -> None:
        pay = {"kind": "write", "operation": ["to"], "deduplicates": True}
        staged = Staged({"pay": pay, "gift": pay})
        for tool, to in (("pay", "Ann"), ("pay", "Bob"), ("gift", "Ann")):
            staged.world.execute(tool, {"to": to})
        assert [recognised for _, recognised in self.effects(staged)] == [False, False, False]

    def test_without_a_key_and_an_id_nothing_is_recognised(self) -> None:
        staged = Staged({"pay": {"kind": "write", "deduplicates": True}})
        for _ in range(2):
            staged.world.execute("pay", {"to": "Ann"})
        assert self.effects(staged) == [(None, False), (None, False)]


class TestLookups:
    def paid(self, lookup: str, *, behaves: str = "commit-then-lose-response") -> Staged:
        pay: Arguments = {"kind": "write", "operation": ["to"], "lookup": lookup}
        staged = Staged({"pay": {**pay, "behaves": [behaves]}})
        with pytest.raises((ConnectionError, RuntimeError)):
            staged.world.execute("pay", {"to": "Ann", "cents": 5}, operation_id="op-1")
        return staged

    def test_found_tells_the_truth_and_what_the_result_would_have_been(self) -> None:
        staged = self.paid("found")
        token = staged.entries("execution")[0]["token"]
        assert staged.world.lookup("pay", "op-1") == {
            "status": "found",
            "found": True,
            "result": f'{{"ok":true,"token":"{token}"}}',
            "tool": "pay",
            "arguments": {"to": "Ann", "cents": 5},
            "operation": {"to": "Ann"},
        }
        assert staged.world.lookup("pay", "op-2") == {"status": "absent", "found": False}
        assert staged.entries("lookup") == [
            {"kind": "lookup", "tool": "pay", "operation_id": "op-1", "answer": "found"},
            {"kind": "lookup", "tool": "pay", "operation_id": "op-2", "answer": "absent"},
        ]

    def test_found_does_not_invent_an_effect(self) -> None:
        staged = self.paid("found", behaves="raises")
        assert staged.world.lookup("pay", "op-1") == {"status": "absent", "found": False}

    def test_inconclusive_is_said_whatever_happened(self) -> None:
        staged = self.paid("inconclusive")
        assert staged.world.lookup("pay", "op-1") == {
            "status": "inconclusive",
            "found": None,
            "detail": "cannot tell; ask a person",
        }
        assert staged.entries("lookup")[0]["answer"] == "inconclusive"

    def test_absent_is_not_said_of_an_effect_that_is_there(self) -> None:
        assert self.paid("absent").world.lookup("pay", "op-1")["status"] == "found"
        assert self.paid("absent", behaves="raises").world.lookup("pay", "op-1") == {
            "status": "absent",
            "found": False,
        }

    def test_result_that_only_a_look_up_gives_has_a_token_of_its_own(self) -> None:
        for lookup, is_marked in (("found", True), ("absent", True), ("inconclusive", False)):
            (execution,) = self.paid(lookup).entries("execution")
            assert bool(execution["token"]) is is_marked

    def test_empty_result_is_empty_when_it_is_looked_up(self) -> None:
        pay: Arguments = {"kind": "write", "operation": ["to"], "lookup": "found"}
        staged = Staged({"pay": {**pay, "behaves": ["empty"]}})
        staged.world.execute("pay", {"to": "Ann"}, operation_id="op-1")
        assert staged.world.lookup("pay", "op-1")["result"] == ""
        assert staged.entries("execution")[0]["token"] == ""

    def test_look_up_that_does_not_exist(self) -> None:
        staged = self.paid("none")
        with pytest.raises(LookupError, match="pay has no look-up"):
            staged.world.lookup("pay", "op-1")
        with pytest.raises(LookupError, match="no tool 'other'"):
            staged.world.lookup("other", "op-1")
        assert staged.entries("lookup") == []


TOOLS: dict[str, Arguments] = {
    "look": {"kind": "read", "args": {"city": "string"}, "description": "Looks."},
    "reserve": {"kind": "write", "args": SEATS, "operation": ["seat"], "body": "blocking"},
}


class TestSpecs:
    def test_tools_stand_in_the_scenarios_order_with_their_schemas(self) -> None:
        look, reserve = Staged(TOOLS).world.specs(blocking=True)
        assert (look.name, look.kind, look.description, look.operation) == (
            "look",
            "read",
            "Looks.",
            None,
        )
        assert look.parameters == {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
            "additionalProperties": False,
        }
        assert (reserve.name, reserve.kind, reserve.operation) == ("reserve", "write", ("seat",))

    def test_function_is_a_coroutine_function_unless_blocking(self) -> None:
        world = Staged(TOOLS).world
        kinds = [
            [asyncio.iscoroutinefunction(spec.function) for spec in world.specs(blocking=blocking)]
            for blocking in (True, False)
        ]
        assert kinds == [[False, False], [True, False]]

    def test_all_ways_in_reach_the_same_body(self) -> None:
        staged = Staged(TOOLS)
        look, _ = staged.world.specs(blocking=False)
        staged.issue(("a", "look", '{"city":"Bern"}'))
        look.call({"city": "Bern"}, "call_a", "op-1")

        async def asynchronously() -> None:
            await look.acall({"city": "Bern"}, call_id="call_a", operation_id="op-2")
            waited = look.function("Bern")
            assert asyncio.iscoroutine(waited)
            await waited

        asyncio.run(asynchronously())
        keys = ("label", "call_id", "operation_id")
        assert [[entry[key] for key in keys] for entry in staged.entries("execution")] == [
            ["a", "call_a", "op-1"],
            ["a", "call_a", "op-2"],
            ["a", None, None],
        ]


def test_nothing_is_executed_after_the_case_has_ended() -> None:
    staged = reserving()
    staged.world.close()
    with pytest.raises(CaseEnded, match="the case has ended"):
        staged.world.execute("reserve", SEAT)
    assert staged.entries() == []


def test_fifty_threads_leave_a_consistent_journal() -> None:
    staged = reserving(operation=["seat"], deduplicates=True)
    staged.issue(*((f"c{n}", "reserve", f'{{"seat":{n % 25}}}') for n in range(50)))
    ready = threading.Barrier(50)

    def run(n: int) -> str:
        ready.wait()
        return staged.world.execute("reserve", {"seat": n % 25})

    with ThreadPoolExecutor(50) as pool:
        results = list(pool.map(run, range(50)))

    executions = staged.entries("execution")
    assert [entry["execution"] for entry in executions] == list(range(1, 51))
    assert len({entry["token"] for entry in executions}) == len(set(results)) == 50
    assert sorted(map(str, staged.labels())) == sorted(f"c{n}" for n in range(50))
    assert [entry["deduplicated"] for entry in staged.entries("effect")].count(False) == 25
    for number in range(1, 51):
        kinds = [entry["kind"] for entry in staged.entries() if entry.get("execution") == number]
        assert kinds == ["execution", "effect", "ended"]
    result_of = {entry["execution"]: entry["result"] for entry in staged.entries("ended")}
    assert all(str(entry["token"]) in str(result_of[entry["execution"]]) for entry in executions)


@given(
    st.lists(st.sampled_from(["normal", "empty", "raises", "commit-then-raise", "error-result"]))
)
def test_every_execution_ends_and_only_commits_have_effects(behaves: list[str]) -> None:
    staged = reserving(behaves=behaves or ["normal"])
    for _ in behaves:
        with suppress(RuntimeError):
            staged.world.execute("reserve", SEAT)
    committing = {"normal", "empty", "commit-then-raise"}
    assert [entry["execution"] for entry in staged.entries("effect")] == [
        number for number, word in enumerate(behaves, 1) if word in committing
    ]
    assert [entry["execution"] for entry in staged.entries("ended")] == [
        *range(1, len(behaves) + 1)
    ]
