"""Edits of a list of known failures keep everything else as it was written."""

from __future__ import annotations

import pytest

from loopcheck.harness.expected import ExpectedError, parse
from loopcheck.harness.expected_text import NEW, with_entry, without

FILE = """\
# Our list.
format: 1
entries:
  # The first is old.
  - case: a[*-stream]
    check: c.one
    kind: bug
    reason: >
      folded
      text
    # About the second.
  - case: b[*]          # on one line
    check: c.two
    kind: policy
    reason: "on purpose"
# The end.
"""
NEXT = {"case": "c[*]", "check": "c.three", "kind": "bug", "reason": "new: it's known"}


def test_an_entry_is_added_below_the_last_one() -> None:
    text = with_entry(FILE, NEXT, "x.yaml")
    head, tail = FILE.split("# The end.\n")
    added = "  - case: c[*]\n    check: c.three\n    kind: bug\n    reason: 'new: it''s known'\n"
    assert text == f"{head}{added}# The end.\n{tail}"
    assert parse(text, "x.yaml")[2].reason == "new: it's known"


@pytest.mark.parametrize(
    "text", [NEW, "format: 1", "format: 1\nentries: []  # none\n", "entries:\nformat: 1\n"]
)
def test_an_entry_is_added_to_an_empty_list(text: str) -> None:
    (entry,) = parse(with_entry(text, NEXT, "x.yaml"), "x.yaml")
    assert (entry.case, entry.check) == ("c[*]", "c.three")


def test_a_list_without_indent_stays_without() -> None:
    text = "entries:\n- {case: a, kind: flaky, reason: r}\nformat: 1\n"
    assert with_entry(text, NEXT, "x.yaml").splitlines()[2] == "- case: c[*]"


def test_a_list_in_brackets_is_left_to_its_author() -> None:
    text = "format: 1\nentries: [{case: a, kind: flaky, reason: r}]\n"
    with pytest.raises(ExpectedError, match=r"^x\.yaml: 'entries' is written in brackets"):
        with_entry(text, NEXT, "x.yaml")
    with pytest.raises(ExpectedError, match=r"^x\.yaml: 'entries' is written in brackets"):
        without(text, parse(text, "x.yaml"), "x.yaml")


def test_what_would_be_no_entry_is_not_written() -> None:
    with pytest.raises(ExpectedError, match="has no 'check'"):
        with_entry(FILE, {"case": "c", "kind": "bug", "reason": "r"}, "x.yaml")
    with pytest.raises(ExpectedError, match="'until' must be a day"):
        with_entry(FILE, {**NEXT, "until": "soon"}, "x.yaml")


def test_the_first_entry_goes_and_the_comments_stay() -> None:
    first, second = parse(FILE, "x.yaml")
    text = without(FILE, [first], "x.yaml")
    assert text.splitlines()[:6] == [
        "# Our list.",
        "format: 1",
        "entries:",
        "  # The first is old.",
        "    # About the second.",
        "  - case: b[*]          # on one line",
    ]
    assert [entry.case for entry in parse(text, "x.yaml")] == [second.case]


def test_the_last_entry_goes() -> None:
    text = without(FILE, parse(FILE, "x.yaml")[1:], "x.yaml")
    assert text == FILE.split("  - case: b")[0] + "# The end.\n"


def test_all_entries_go_and_the_list_is_empty() -> None:
    text = without(FILE, parse(FILE, "x.yaml"), "x.yaml")
    assert parse(text, "x.yaml") == ()
    assert text.count("#") == 4


def test_an_entry_whose_dash_stands_alone_goes_with_its_dash() -> None:
    text = "format: 1\nentries:\n-\n  case: a\n  kind: flaky\n  reason: r\n"
    assert without(text, parse(text, "x.yaml"), "x.yaml") == "format: 1\nentries:\n"


def test_no_entry_is_no_change() -> None:
    assert without(FILE, [], "x.yaml") == FILE
    assert without(NEW, parse(FILE, "x.yaml"), "x.yaml") == NEW
