"""How globs name case ids, whose brackets are literal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopcheck.harness.naming import hinted, matches, selects

CASE = "once/lost[chat-stream]"


@pytest.mark.parametrize(
    "glob",
    [
        "once/lost[chat-stream]",
        "once/lost[*-stream]",
        "once/lost[chat-*]",
        "once/lost[*]",
        "once/*",
        "once/**",
        "*",
        "once/l?st[*]",
        "once/lost",
        "*/lost",
    ],
)
def test_a_glob_names_the_case(glob: str) -> None:
    assert matches(glob, CASE)


@pytest.mark.parametrize(
    "glob",
    [
        "once/lost[messages-*]",
        "once/lost[c]",
        "once/los[t]",
        "once",
        "once/",
        "lost",
        "once.lost[*]",
        "once/lost[chat-stream]x",
        "",
    ],
)
def test_a_glob_does_not_name_the_case(glob: str) -> None:
    assert not matches(glob, CASE)


def test_a_folder_selects_what_is_below_it_and_nothing_beside_it() -> None:
    assert selects("once", CASE)
    assert selects("once/", CASE)
    assert not selects("onc", CASE)


@given(st.text(max_size=30))
def test_every_id_names_itself(text: str) -> None:
    assert matches(text, text)


def test_a_message_without_a_hint_stays_as_it_is() -> None:
    assert hinted("wrong", "") == "wrong"
    assert hinted("wrong", "did you mean 'x'?") == "wrong; did you mean 'x'?"
