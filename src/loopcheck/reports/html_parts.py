"""What the pages of a run and of a comparison have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from loopcheck.reports.html_controls import keys
from loopcheck.reports.markup import Child, Markup, tag


def banner(kicker: str, text: str, *, bad: bool) -> list[Markup]:
    """The first lines of a page: what it is, and how it went."""
    tone, shape = ("bad", "✕") if bad else ("good", "✓")
    sign = tag("span", shape, class_=tone, aria_hidden="true")
    return [tag("p", kicker, class_="kicker"), tag("h1", sign, " ", text)]


def facts(told: Mapping[str, str]) -> Markup:
    """Names and values in a row, without those that are empty."""
    rows = [tag("div", tag("dt", name), tag("dd", said)) for name, said in told.items() if said]
    return tag("dl", *rows, class_="facts")


def contents(sections: Mapping[str, str]) -> Markup:
    """Links to the sections of the page, by their ids."""
    links = [tag("a", title, href=f"#{name}") for name, title in sections.items()]
    return tag("nav", *links, keys(), aria_label="sections")


def table(names: Sequence[str], rows: Iterable[Child], *, kind: str, label: str) -> Markup:
    """A table that scrolls on its own where it is too wide."""
    heads = tag("tr", *(tag("th", name, scope="col") for name in names))
    return scrolling(
        tag("table", tag("thead", heads), tag("tbody", rows), class_=kind), label=label
    )


def scrolling(content: Markup, *, label: str) -> Markup:
    """A box that scrolls on its own, by keyboard as well."""
    return tag("div", content, class_="scroll", tabindex="0", role="region", aria_label=label)


def notice(*content: Child, tone: str | None = None) -> Markup:
    """A line that is not to be overlooked."""
    return tag("p", *content, class_=f"{tone} notice" if tone else "notice")
