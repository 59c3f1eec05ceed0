"""Each limit, to the unit: what is allowed is done, and one more is not."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from loopcheck.reference_loop import (
    CallResult,
    Calls,
    Clock,
    Failed,
    Final,
    Limits,
    LoopOutcome,
    LoopTool,
    ProposedCall,
    ReferenceLoop,
    Reply,
    Retries,
    TaskInfo,
    Usage,
)
from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.repetition import fingerprint, goes_in_circles, kept

SCHEMA: JsonObject = {"type": "object", "properties": {"n": {"type": "integer"}}}


class Rounds:
    """One reply a request; the last one again and again."""

    def __init__(self, *replies: Reply, seconds: float = 0.0) -> None:
        self.replies = list(replies)
        self.requests = 0
        self.seconds = seconds
        self.now = 0.0

    def start(self, task: TaskInfo) -> int:
        return 0

    async def request(self, round_: int) -> Reply:
        self.requests += 1
        self.now += self.seconds
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]

    def append(self, round_: int, calls: Calls, results: Sequence[CallResult]) -> int:
        return round_ + 1


def looks(*texts: str, usage: Usage | None = None) -> Calls:
    calls = [
        ProposedCall(call_id=str(n), name="look", arguments_text=text)
        for n, text in enumerate(texts)
    ]
    return Calls(tuple(calls), None, usage=usage)


async def invoke(arguments: JsonObject, *, call_id: str, operation_id: str | None) -> str:
    return "seen"


LOOK = LoopTool(name="look", description="", parameters=SCHEMA, kind="read", invoke=invoke)


def run(adapter: Rounds, limits: Limits, *, price: float = 0.0) -> LoopOutcome:
    async def work() -> LoopOutcome:
        loop = ReferenceLoop(
            adapter,
            [LOOK],
            limits,
            clock=Clock(running=lambda: adapter.now),
            price=lambda usage: usage.total * price,
            retries=Retries(first_seconds=0.0),
        )
        return await loop.run("Go.")

    return asyncio.run(work())


TEN = looks("{}", usage=Usage(input_tokens=6, output_tokens=4))


@pytest.mark.parametrize(
    ("limits", "reason", "requests"),
    [
        (Limits(rounds=3), "max_rounds", 3),
        (Limits(tool_calls=3), "max_tool_calls", 4),
        (Limits(tool_calls=0), "max_tool_calls", 1),
        (Limits(tokens=0), "max_tokens", 0),
        (Limits(tokens=29), "max_tokens", 3),
        (Limits(tokens=30), "max_tokens", 3),
        (Limits(tokens=31), "max_tokens", 4),
        (Limits(cost=14.5), "max_cost", 3),
        (Limits(cost=15.0), "max_cost", 3),
        (Limits(cost=15.5), "max_cost", 4),
        (Limits(context_tokens=10), "context_limit", 1),
        (Limits(context_tokens=11, rounds=7), "max_rounds", 7),
        (Limits(seconds=3.0), "max_elapsed", 3),
        (Limits(seconds=3.5), "max_elapsed", 4),
        (Limits(seconds=0.0), "max_elapsed", 0),
        (Limits(repeats=3), "repeated_calls", 4),
        (Limits(repeats=1), "repeated_calls", 2),
    ],
)
def test_how_far_a_run_goes(limits: Limits, reason: str, requests: int) -> None:
    adapter = Rounds(TEN, seconds=1.0)
    outcome = run(adapter, limits, price=0.5)
    assert (outcome.state, outcome.reason) == ("limit", reason)
    assert adapter.requests == requests
    assert (outcome.rounds, outcome.tokens) == (requests, 10 * requests)
    assert (outcome.cost, outcome.elapsed) == (5.0 * requests, 1.0 * requests)
    begun = requests - 1 if reason in ("max_tool_calls", "repeated_calls") else requests
    assert [call.outcome for call in outcome.calls] == ["done"] * begun


def test_an_answer_may_spend_the_last_of_everything() -> None:
    adapter = Rounds(Final("Done.", usage=Usage(input_tokens=99)), seconds=9.0)
    limits = Limits(rounds=1, tokens=5, cost=1.0, context_tokens=5, seconds=5.0)
    assert run(adapter, limits, price=1.0).state == "completed"


def test_what_broke_off_costs_as_well() -> None:
    broken = Failed("reset", retryable=True, usage=Usage(input_tokens=10))
    outcome = run(Rounds(broken), Limits(tokens=10))
    assert (outcome.reason, outcome.tokens) == ("max_tokens", 10)


def test_without_usage_nothing_is_counted() -> None:
    outcome = run(Rounds(looks("{}")), Limits(tokens=1, cost=1.0, context_tokens=1, rounds=3))
    assert (outcome.reason, outcome.tokens, outcome.cost) == ("max_rounds", 0, 0.0)


def test_two_batches_in_turns_are_a_circle_too() -> None:
    one, two = looks('{"n": 1}'), looks('{"n": 2}')
    adapter = Rounds(*[one, two] * 9)
    outcome = run(adapter, Limits(repeats=3))
    assert (outcome.reason, adapter.requests) == ("repeated_calls", 7)


@pytest.mark.parametrize(
    ("sequence", "repeats", "circles"),
    [
        ("", 1, False),
        ("a", 1, False),
        ("aa", 1, True),
        ("aa", 2, False),
        ("aaa", 2, True),
        ("aaba", 2, False),
        ("aba", 1, True),
        ("abab", 2, False),
        ("ababa", 2, True),
        ("xbaba", 2, False),
        ("abcabcabc", 1, False),
    ],
)
def test_what_a_circle_is(sequence: str, repeats: int, circles: bool) -> None:
    assert goes_in_circles(sequence, repeats) is circles
    assert goes_in_circles("xyz" + sequence, repeats) is circles


def test_what_is_kept_is_enough() -> None:
    recent: tuple[str, ...] = ()
    for count, name in enumerate("abababab", start=1):
        assert goes_in_circles((*recent, name), 3) == (count >= 7)
        recent = kept((*recent, name), 3)
        assert len(recent) <= 6


def test_a_batch_is_known_by_what_it_asks_for() -> None:
    one = looks('{"n": 1, "m": 2}', "")
    assert fingerprint(one.calls) == fingerprint(looks("{}", '{"m":2,"n":1}').calls)
    assert fingerprint(one.calls) != fingerprint(looks("{}").calls)
    assert fingerprint(looks("{").calls) != fingerprint(looks("").calls)
    assert fingerprint(looks('"\ud800').calls)


def test_calls_that_stay_unusable_end_the_run_once_they_are_answered() -> None:
    adapter = Rounds(looks("{"))
    outcome = run(adapter, Limits(invalid_rounds=3))
    assert (outcome.state, outcome.reason) == ("failed", "invalid_calls")
    assert outcome.text == "no call of 'look' was usable in 3 rounds in a row"
    assert adapter.requests == 3
    assert [call.outcome for call in outcome.calls] == ["rejected"] * 3
    assert outcome.conversation == 3


def test_one_usable_call_makes_the_count_start_again() -> None:
    bad, good = looks("{"), looks("{", "{}")
    adapter = Rounds(bad, bad, good, bad, bad, bad)
    assert run(adapter, Limits(invalid_rounds=3)).reason == "invalid_calls"
    assert adapter.requests == 6


def test_unusable_calls_may_be_borne_with() -> None:
    assert run(Rounds(looks("{")), Limits(invalid_rounds=None, rounds=20)).rounds == 20


@pytest.mark.parametrize(
    "wrong",
    [
        {"rounds": 0},
        {"repeats": 0},
        {"invalid_rounds": 0},
        {"tool_calls": -1},
        {"seconds": -0.1},
        {"tokens": -1},
        {"cost": -0.1},
        {"context_tokens": -1},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_limits_are_checked_when_they_are_made(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Limits(**wrong)


def test_limits_may_be_tight() -> None:
    assert Limits(rounds=1, tool_calls=0, seconds=0.0, repeats=1, tokens=0).rounds == 1


@pytest.mark.parametrize(
    ("failed", "retries", "requests"),
    [
        (Failed("x", retryable=True), Retries(count=2, first_seconds=0.0), 3),
        (Failed("x", retryable=True), Retries(count=0), 1),
        (Failed("x", retryable=True), Retries(count=5, budget=1, first_seconds=0.0), 2),
        (Failed("x", retryable=False), Retries(), 1),
        (Failed("x", retryable=True, status=429, retry_after=0.0), Retries(), 3),
        (Failed("x", retryable=True, status=400), Retries(count=1, first_seconds=0.0), 1),
        (
            Failed("x", retryable=True, status=400, invited=True),
            Retries(count=1, first_seconds=0.0),
            2,
        ),
        (Failed("x", retryable=True, retry_after=61.0), Retries(), 1),
    ],
)
def test_what_is_asked_for_again(failed: Failed, retries: Retries, requests: int) -> None:
    adapter = Rounds(failed)
    outcome = asyncio.run(ReferenceLoop(adapter, retries=retries).run("Go."))
    assert (outcome.state, outcome.reason) == ("failed", "provider_failure")
    assert adapter.requests == requests


def test_a_wait_grows_and_has_an_end() -> None:
    retries = Retries(first_seconds=1.0, longest_seconds=5.0)
    assert [retries.delay(failures) for failures in (1, 2, 3, 4)] == [1.0, 2.0, 4.0, 5.0]
    assert retries.delay(1, 5.0) == 5.0
    assert retries.delay(1, 5.5) is None
