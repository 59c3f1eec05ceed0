"""HTML that is safe by construction."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from loopcheck.reports.inert import inert
from loopcheck.reports.markup import Markup, joined, tag


class Read(HTMLParser):
    """What a browser makes of it: elements with their attributes, and the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_an_element_holds_text_elements_and_sequences() -> None:
    made = tag("p", "a < b", tag("b", "c"), [tag("i"), None, "d"], class_="x", data_a="1")
    assert made == '<p class="x" data-a="1">a &lt; b<b>c</b><i></i>d</p>'


def test_attributes_without_value() -> None:
    assert tag("p", hidden=True, title=None, open=False) == "<p hidden></p>"


def test_elements_without_content() -> None:
    assert tag("input", type="search") == '<input type="search">'


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=300))
def test_any_text_is_text_in_content_and_in_attributes(text: str) -> None:
    read = Read(tag("p", text, title=text))
    assert read.elements == [("p", {"title": inert(text)})]
    assert read.text == inert(text)


def test_long_text_is_cut_and_says_by_how_much() -> None:
    assert joined("x" * 10_000_000) == f"{'x' * 600}… (9999400 more characters)"


def test_markup_is_not_escaped_again() -> None:
    assert joined([Markup("<b>"), "<b>"]) == "<b>&lt;b&gt;"
