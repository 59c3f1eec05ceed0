"""Which attempt a request for a turn gets."""

from __future__ import annotations

from loopcheck.fake_providers.script import Attempt, Turn


def given(turn: Turn, requests: int, *, passed: int = 99) -> list[int]:
    """The attempts that so many requests get; the point passes before request `passed`."""
    positions: list[int] = []
    position = times = 0
    for number in range(1, requests + 1):
        now = turn.next_attempt(
            lambda point, number=number: point == "x.ended" and number >= passed,  # type: ignore[misc]
            position=position,
            given=times,
        )
        times = times + 1 if now == position else 1
        position = now
        positions.append(now)
    return positions


def turn(*attempts: Attempt) -> Turn:
    return Turn(number=1, attempts=attempts)


def test_the_last_attempt_repeats() -> None:
    assert given(turn(Attempt(times=2), Attempt()), 5) == [0, 0, 1, 1, 1]


def test_an_attempt_until_a_point() -> None:
    until = turn(Attempt(), Attempt(until="x.ended"), Attempt(times=2), Attempt())

    assert given(until, 8, passed=5) == [0, 1, 1, 1, 2, 2, 3, 3]
    assert given(until, 4) == [0, 1, 1, 1]
    assert given(until, 4, passed=1) == [0, 2, 2, 3]
