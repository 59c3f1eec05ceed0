"""Requests that come again, as they do when loops retry: read once, answered each time."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hostile_requests import KEY, post, script, valid

from loopcheck.fake_providers.provider import Provider, nothing
from loopcheck.fake_providers.script import DIALECTS, Attempt, DialectName, Turn
from loopcheck.fake_providers.wire import HttpRequest


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
        assert fake._read(first(dialect, model="gpt-4.1")).model == "gpt-4.1"

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
