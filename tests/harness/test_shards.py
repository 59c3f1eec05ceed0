"""Where a case is run follows from its id alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopcheck.harness.cases import Death, expand
from loopcheck.harness.results import Part
from loopcheck.harness.scenario.load import load_builtin
from loopcheck.harness.shards import MOST, Shard, digest, number_of, parse

CASES = list(expand(load_builtin()))


@pytest.mark.parametrize(
    ("text", "shard"), [("1/1", Shard(1, 1)), ("2/5", Shard(2, 5)), ("05/5", Shard(5, 5))]
)
def test_a_shard_is_typed_as_one_of_so_many(text: str, shard: Shard) -> None:
    assert parse(text) == shard


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' is no shard; write K/N, as in 2/5"),
        ("2", "'2' is no shard; write K/N, as in 2/5"),
        ("1/-3", "'1/-3' is no shard; write K/N, as in 2/5"),
        ("1/3 ", "'1/3 ' is no shard; write K/N, as in 2/5"),
        ("²/3", "'²/3' is no shard; write K/N, as in 2/5"),
        ("0/3", "'0/3' is no shard; of 3 shards there are 1/3 to 3/3"),
        ("4/3", "'4/3' is no shard; of 3 shards there are 1/3 to 3/3"),
        ("1/0", f"'1/0' is no shard; N is 1 to {MOST}"),
        ("1/10001", f"'1/10001' is no shard; N is 1 to {MOST}"),
    ],
)
def test_what_is_no_shard_is_refused_with_what_would_be(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        parse(text)
    assert str(caught.value) == message


@given(st.text(), st.integers(min_value=1, max_value=50))
def test_each_case_belongs_to_one_shard(case: str, of: int) -> None:
    held = [number for number in range(1, of + 1) if Shard(number, of).holds(case)]
    assert held == [number_of(case, of)]


def test_where_the_cases_of_the_catalogue_belong_is_the_same_on_every_machine() -> None:
    """Fixed values: a change of the rule would part one run between two versions."""
    cases = [
        "once/reservation-response-lost[chat-stream]",
        "ids/dupid-same-turn[chat-whole]",
        "truncation/empty-final-turn[responses-whole]",
        "truncation/trunc-length-partial-args[chat-stream]",
    ]
    assert [number_of(case, 5) for case in cases] == [2, 4, 5, 2]


@pytest.mark.parametrize("of", [2, 5, 8])
def test_the_shards_of_the_catalogue_are_of_about_one_size(of: int) -> None:
    sizes = [sum(Shard(k, of).holds(one.undisturbed) for one in CASES) for k in range(1, of + 1)]
    assert sum(sizes) == len(CASES)
    assert max(sizes) < 1.25 * len(CASES) / of


def test_a_death_belongs_where_its_case_does() -> None:
    spec = CASES[0]
    dying = type(spec)(spec.scenario, spec.dialect, spec.mode, Death("book.committed"))
    assert dying.id != spec.id
    assert dying.undisturbed == spec.id


def test_other_wishes_have_another_digest() -> None:
    assert digest(["a", "b"]) == digest(["a", "b"])
    assert len({digest(["a", "b"]), digest(["a"]), digest([])}) == 3


@pytest.mark.parametrize(("numbers", "said"), [((2,), "2/5"), ((1, 3), "1, 3/5"), ((), "none/5")])
def test_a_part_says_which_it_is(numbers: tuple[int, ...], said: str) -> None:
    assert str(Part(numbers=numbers, of=5, plan="p")) == said


@pytest.mark.parametrize("numbers", [(0,), (6,), (2, 1), (1, 1)])
def test_a_part_that_cannot_be_is_refused(numbers: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"of 5 shards|once, in order"):
        Part(numbers=numbers, of=5, plan="p")
