from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from loopcheck.fake_providers.ids import BASE58, BASE62, digest, spell


def test_a_digest_is_64_hex_characters_that_never_change() -> None:
    assert digest(7, 1, "call", 2) == (
        "12ed086e4dea057e23ed2de8e4031e01cf21df2c34dd7ff9fa962e93328f6197"
    )


@given(st.tuples(st.integers(), st.text(), st.integers()), st.integers(0, 9))
def test_each_part_and_the_seed_change_the_digest(parts: tuple[int, str, int], seed: int) -> None:
    first, text, last = parts
    others = {
        digest(seed + 1, first, text, last),
        digest(seed, first + 1, text, last),
        digest(seed, first, text + "x", last),
        digest(seed, first, text, str(last)),
        digest(seed, first, text),
    }
    assert len(others | {digest(seed, *parts)}) == 6


@given(st.integers(), st.sampled_from([BASE58, BASE62]), st.integers(1, 32))
def test_a_spelled_digest_has_the_length_and_the_letters_asked_for(
    seed: int, alphabet: str, length: int
) -> None:
    spelled = spell(digest(seed), alphabet=alphabet, length=length)
    assert len(spelled) == length
    assert set(spelled) <= set(alphabet)


def test_different_digests_are_spelled_differently() -> None:
    spelled = {spell(digest(seed), alphabet=BASE58, length=22) for seed in range(200)}
    assert len(spelled) == 200
