"""Every text of the page has the contrast that WCAG AA asks for, in light and in dark."""

from __future__ import annotations

import re
from importlib import resources

import pytest

STYLE = resources.files("loopcheck.reports").joinpath("page", "style.css").read_text("utf-8")
TEXTS = ("ink", "quiet", "link", "bad", "warn", "good")
PAPERS = {
    "ground": TEXTS,
    "paper": TEXTS,
    "faint": TEXTS,
    "bad-paper": ("ink", "quiet", "link", "bad", "good"),
    "warn-paper": ("ink", "quiet", "link", "warn", "good"),
    "good-paper": ("good",),
    "bad": ("paper",),
    "warn": ("paper",),
}
SCHEMES: dict[str, dict[str, str]] = dict(
    zip(
        ("light", "dark", "print"),
        [
            dict(re.findall(r"--([\w-]+): (#[0-9a-f]+);", block))
            for block in re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)
        ],
        strict=True,
    )
)


def luminance(colour: str) -> float:
    digits = colour.lstrip("#")
    if len(digits) == 3:
        digits = "".join(digit * 2 for digit in digits)
    parts = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_is_measured_as_the_guideline_says() -> None:
    assert contrast("#fff", "#000") == pytest.approx(21)
    assert contrast("#777777", "#fff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    ("paper", "text"), [(paper, text) for paper, texts in PAPERS.items() for text in texts]
)
def test_text_stands_out(scheme: str, paper: str, text: str) -> None:
    colours = SCHEMES[scheme]
    assert contrast(colours[text], colours[paper]) >= 4.5
