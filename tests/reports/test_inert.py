"""Text of models and tools is shown, not obeyed."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from loopcheck.reports.inert import inert, inert_lines


def test_what_a_terminal_would_obey_is_shown() -> None:
    assert inert("\x1b[2J\x9b1m\u202e\u2028\r\n\t\ufeff\U000e0041") == (
        "\\x1b[2J\\x9b1m\\u202e\\u2028\\r\\n\\t\\ufeff\\U000e0041"
    )


def test_half_characters_and_noncharacters_are_shown() -> None:
    assert inert("\ud83d \ufffe \ufdd0 \U0010ffff") == "\\ud83d \\ufffe \\ufdd0 \\U0010ffff"


def test_ordinary_text_of_any_script_stays() -> None:
    text = "Zürich, 東京, عربى, 👩‍💻, naïve <b>&amp;</b>"
    assert inert(text) == text


def test_only_the_texts_own_line_ends_make_lines() -> None:
    assert inert_lines("a\nb\r\nc\rd\u2028e") == ["a", "b", "c\\rd\\u2028e"]
    assert inert_lines("") == [""]


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=300))
def test_nothing_unsafe_is_left(text: str) -> None:
    shown = inert(text)
    shown.encode("utf-8")
    kinds = {unicodedata.category(character) for character in shown if character != "\u200d"}
    assert not kinds & {"Cc", "Cf", "Cs", "Zl", "Zp"}
