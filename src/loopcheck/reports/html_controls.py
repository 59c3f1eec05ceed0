"""The filters above a report. They do nothing without a script, and are hidden then."""

from __future__ import annotations

from collections.abc import Sequence

from loopcheck.reports.markup import Markup, tag
from loopcheck.reports.verdicts import SIGNS


def controls(*, verdicts: Sequence[str], groups: Sequence[str], checks: Sequence[str]) -> Markup:
    """Search, verdicts, class and check."""
    return tag(
        "form",
        tag(
            "label",
            tag("span", "Search", class_="vh"),
            tag(
                "input",
                type="search",
                id="search",
                placeholder="Search cases  ( / )",
                autocomplete="off",
                spellcheck="false",
            ),
        ),
        tag("span", *map(_verdict, verdicts), class_="chips", role="group", aria_label="verdicts"),
        _choice("class", "every class", groups),
        _choice("check", "every check", checks),
        tag("output", id="count", aria_live="polite"),
        id="controls",
        role="search",
        hidden=True,
    )


def _verdict(verdict: str) -> Markup:
    sign = SIGNS[verdict]
    return tag(
        "button",
        tag("b", sign.shape, aria_hidden="true"),
        f" {sign.word}",
        type="button",
        class_=sign.tone,
        aria_pressed="false",
        data_verdict=verdict,
    )


def _choice(name: str, every: str, values: Sequence[str]) -> Markup:
    options = [tag("option", value, value=value) for value in values]
    return tag(
        "label",
        tag("span", name, class_="vh"),
        tag("select", tag("option", every, value=""), *options, id=f"by-{name}"),
    )


def keys() -> Markup:
    """What can be done without a mouse."""
    return tag(
        "span",
        *(
            [tag("kbd", key), f" {what} "]
            for key, what in {"/": "search", "j": "next", "k": "back", "Enter": "open"}.items()
        ),
        tag("kbd", "Esc"),
        " close",
        class_="keys",
        hidden=True,
    )
