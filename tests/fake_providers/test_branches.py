"""Two conversations at once, told from one that repeats itself or starts over."""

from __future__ import annotations

import pytest

from loopcheck.fake_providers.asking import Asking
from loopcheck.fake_providers.branches import Branches
from loopcheck.fake_providers.known import Known
from loopcheck.fake_providers.script import Call, Script, Turn, answer
from loopcheck.fake_providers.wire import HttpRequest, IssuedCall, Item, Reading


def held(*call_ids: str) -> list[Item]:
    return [Item(kind="call", path="x", call_id=one) for one in call_ids]


def played(steps: str, branches: Branches | None = None) -> list[tuple[int, int] | None]:
    """`1` gives attempt 1 of turn 1, `a` goes on from it, `b` from attempt 2, and so on."""
    branches = branches or Branches()
    found: list[tuple[int, int] | None] = []
    for step in steps:
        if step.isdigit():
            branches.issue(1, int(step), [f"id{step}"])
        else:
            found.append(branches.fork(1, held(f"id{'abc'.index(step) + 1}")))
    return found


@pytest.mark.parametrize(
    ("steps", "forks"),
    [
        ("1a", [None]),
        ("1aaa", [None, None, None]),
        ("12b", [None]),  # asked again, and went on from the second
        ("12a", [None]),  # from the first, which came late
        ("1a2b", [None, None]),  # started over
        ("1a2b3c", [None, None, None]),
        ("12ab", [None, (1, 2)]),
        ("12ba", [None, (1, 2)]),
        ("1a2ba", [None, None, (1, 2)]),  # the first conversation goes on after all
        ("123cb", [None, (2, 3)]),
    ],
)
def test_a_fork_is_two_that_go_on(steps: str, forks: list[tuple[int, int] | None]) -> None:
    assert played(steps) == forks


def test_other_turns_and_ids_that_tell_nothing_do_not_count() -> None:
    branches = Branches()
    branches.issue(1, 1, ["same"])
    branches.issue(1, 2, ["same"])
    branches.issue(2, 1, ["other"])

    assert branches.fork(1, held("same")) is None
    assert branches.fork(1, held("other")) is None
    assert branches.fork(1, held("unknown", "")) is None


def test_a_conversation_that_holds_both_attempts_is_one() -> None:
    branches = Branches()
    assert played("12", branches) == []

    assert branches.fork(1, held("id1", "id2")) is None
    assert branches.fork(1, held("id1", "id2")) is None


def test_what_is_forgotten_is_no_more_held_against_anybody() -> None:
    branches = Branches()
    assert played("12a", branches) == [None]
    branches.forget(0)

    assert branches.fork(1, held("id2")) is None


@pytest.mark.parametrize("rivals", [False, True])
def test_processes_that_go_on_at_once_are_no_fork(rivals: bool) -> None:
    booking = Call(label="book", tool="book", arguments="{}")
    turns = tuple(Turn(number=n, attempts=(answer([booking]),)) for n in (1, 2))
    script = Script(turns=turns, otherwise=turns, prompt=None)
    asking = Asking(
        script=script,
        tokens=lambda labels: frozenset(),
        begun=lambda: 1,
        rivals=lambda: rivals,
    )
    issued = [
        IssuedCall(label="book", tool="book", arguments="{}", call_id=f"id{n}", item_id="")
        for n in (1, 2)
    ]
    for attempt, call in enumerate(issued, 1):
        asking.given(1, attempt, [call], text="")

    whys = []
    for call in issued:
        reading = Reading(
            dialect="chat",
            model="m",
            stream=False,
            items=tuple(held(call.call_id)),
            history=(),
            tools=(),
            body={},
        )
        known = Known(HttpRequest(method="POST", path="/"), reading)
        assert asking.of(known).turn == 2
        whys.append(asking.divergence(asking.of(known), reading))

    assert whys[0] is None
    assert (whys[1] is None) is rivals
