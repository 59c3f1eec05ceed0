"""Requests that come again, as they do when loops retry: read once, answered each time."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hostile_requests import KEY, bent, post, script, valid
from hypothesis import given, settings
from hypothesis import strategies as st

from loopcheck.fake_providers.known import KnownRequests
from loopcheck.fake_providers.provider import NOTHING, Provider, nothing
from loopcheck.fake_providers.script import DIALECTS, Attempt, DialectName, Turn
from loopcheck.fake_providers.wire import HttpRequest, Reply


def provider(dialect: DialectName) -> Provider:
    return Provider(
        script=script(), dialect=dialect, mode="whole", seed=0, record=nothing, api_key=KEY
    )


def first(dialect: DialectName, **more: object) -> HttpRequest:
    body: dict[str, Any] = {**valid(dialect, results=False), **more}
    return post(dialect, json.dumps(body).encode())


@pytest.mark.parametrize("dialect", DIALECTS)
class TestReading:
    def test_the_same_request_is_read_once(self, dialect: DialectName) -> None:
        fake = provider(dialect)
        assert fake._read(first(dialect)) is fake._read(first(dialect))

    def test_another_body_is_read(self, dialect: DialectName) -> None:
        fake = provider(dialect)
        fake._read(first(dialect))
        assert fake._read(first(dialect, model="gpt-4.1")).reading.model == "gpt-4.1"

    def test_other_headers_are_read(self, dialect: DialectName) -> None:
        fake = provider(dialect)
        before = fake._read(first(dialect))
        headers = {**first(dialect).headers, "anthropic-version": "2026-10-21"}
        assert fake._read(replace(first(dialect), headers=headers)) is not before

    def test_every_answer_has_ids_of_its_own(self, dialect: DialectName) -> None:
        fake = provider(dialect)
        answers = [b"".join(fake.handle(first(dialect)).segments) for _ in range(5)]
        assert len(set(answers)) == 5


@pytest.mark.parametrize(
    ("dialect", "more"),
    [
        ("messages", {"thread": {"type": "create"}}),
        ("responses", {"previous_response_id": "resp_1"}),
        ("responses", {"conversation": "conv_1"}),
        ("responses", {"input": [{"type": "item_reference", "id": "msg_1"}]}),
    ],
)
def test_what_leans_on_the_past_is_read_again(
    dialect: DialectName, more: dict[str, object]
) -> None:
    fake = provider(dialect)
    assert fake._read(first(dialect, **more)) is not fake._read(first(dialect, **more))


class Book:
    """What a provider records."""

    def __init__(self) -> None:
        self.entries: list[dict[str, object]] = []

    def record(self, kind: str, shared: Mapping[str, object] = NOTHING, /, **fields: object) -> int:
        self.entries.append({"kind": kind, **shared, **fields})
        return len(self.entries)


def answers(
    dialect: DialectName, requests: Sequence[HttpRequest], *, forgetful: bool
) -> tuple[list[Reply], list[dict[str, object]]]:
    """The replies to these requests, and the journal; the forgetful one knows none of them."""
    book = Book()
    fake = replace(provider(dialect), record=book.record)
    replies = []
    for request in requests:
        if forgetful:
            fake._known = KnownRequests()
        replies.append(replace(fake.handle(request), finished=None))
    return replies, book.entries


@pytest.mark.parametrize("dialect", DIALECTS)
class TestKnowing:
    @settings(max_examples=15, deadline=None)
    @given(seed=st.integers(0, 10**6), data=st.data())
    def test_it_changes_no_answer_and_no_journal(
        self, dialect: DialectName, seed: int, data: st.DataObject
    ) -> None:
        """Whatever is asked, in whatever order and how often: verdicts, turns and all."""
        bodies = [
            *(json.dumps(valid(dialect, results=results)).encode() for results in (False, True)),
            *bent(dialect, 6, seed),
        ]
        asked = data.draw(st.lists(st.sampled_from(bodies), min_size=4, max_size=24))
        requests = [post(dialect, body) for body in asked]
        assert answers(dialect, requests, forgetful=False) == answers(
            dialect, requests, forgetful=True
        )

    def test_a_verdict_is_kept_where_it_needed_no_memory(self, dialect: DialectName) -> None:
        fake = provider(dialect)
        fake.handle(first(dialect))
        assert fake._read(first(dialect)).passes

    def test_a_verdict_about_calls_is_not(self, dialect: DialectName) -> None:
        """Rules forgive the client ids that the service itself has issued twice."""
        fake = provider(dialect)
        continued = post(dialect, json.dumps(valid(dialect, results=True)).encode())
        for request in (first(dialect), continued):
            assert fake.handle(request).status == 200
        assert not fake._read(continued).passes

    def test_few_are_kept(self, dialect: DialectName) -> None:
        fake = provider(dialect)
        for number in range(100):
            fake._read(first(dialect, user=str(number)))
        assert len(fake._known._by_body) == 64

    def test_long_ones_are_not(self, dialect: DialectName) -> None:
        fake = provider(dialect)
        fake._read(first(dialect, user="x" * 64 * 1024))
        assert not fake._known._by_body


def test_a_conversation_without_a_name_is_nobody_elses() -> None:
    fake = provider("responses")
    fake.handle(first("responses", conversation=""))
    assert len(fake._read(first("responses", user="another")).reading.items) == 1


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_journal_says_what_was_sent_long_after_it_was(dialect: DialectName) -> None:
    book = Book()
    fake = replace(provider(dialect), record=book.record)
    sent = []
    for _ in range(5):
        reply = fake.handle(first(dialect, stream=True))
        assert reply.finished is not None
        reply.finished("written")
        sent.append(b"".join(reply.segments).decode())
    frames = [entry["frames"] for entry in book.entries if entry["kind"] == "sent"]
    assert ["".join(each) for each in frames if isinstance(each, Sequence)] == sent
    assert len({len(each) for each in frames if isinstance(each, Sequence)}) == 1


class TestAttempts:
    def turn(self, *attempts: Attempt) -> Turn:
        return Turn(number=1, attempts=attempts)

    def given(self, turn: Turn, count: int, passed: set[str] | None = None) -> list[int]:
        position = times = 0
        found = []
        for _ in range(count):
            chosen = turn.next_attempt(
                lambda point: point in (passed or set()), position=position, given=times
            )
            times = times + 1 if chosen == position else 1
            position = chosen
            found.append(chosen)
        return found

    def test_each_is_given_its_times_and_the_last_for_ever(self) -> None:
        turn = self.turn(Attempt(times=2), Attempt(), Attempt(times=1))
        assert self.given(turn, 7) == [0, 0, 1, 2, 2, 2, 2]

    def test_one_waits_for_a_point_and_is_skipped_once_it_has_passed(self) -> None:
        turn = self.turn(Attempt(until="run.started"), Attempt(times=2), Attempt())
        assert self.given(turn, 4) == [0, 0, 0, 0]
        assert self.given(turn, 4, {"run.started"}) == [1, 1, 2, 2]
