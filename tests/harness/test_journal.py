"""A journal in memory and as a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopcheck.harness.journal import FORMAT, Entry, Journal, JournalError, load, to_lines

CASE = f'{{"n":1,"kind":"case","format":{FORMAT}}}\n'


def test_entries_are_numbered_and_told_to_the_watcher() -> None:
    seen: list[object] = []
    journal = Journal(lambda entry: seen.append(entry["n"]))
    assert [journal.record("case", format=1), journal.record("outcome", state="completed")] == [
        1,
        2,
    ]
    assert seen == [1, 2]
    assert journal.entries()[1] == {"n": 2, "kind": "outcome", "state": "completed"}


def test_an_unknown_kind_is_refused_and_leaves_no_entry() -> None:
    journal = Journal()
    with pytest.raises(ValueError, match="unknown journal kind 'outcom'; kinds are case, "):
        journal.record("outcom")
    assert len(journal) == 0


def test_a_watcher_may_record() -> None:
    def watch(entry: dict[str, object]) -> None:
        if entry["kind"] == "case":
            journal.record("gate", gate="g", how="opened")

    journal = Journal(watch)
    journal.record("case")
    assert [entry["kind"] for entry in journal] == ["case", "gate"]


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    journal = Journal()
    journal.record("case", format=FORMAT)
    journal.record("outcome", state="completed", text="Zürich\u2028\n\ud83d")
    path = tmp_path / "journal.jsonl"
    path.write_text(to_lines(journal), encoding="utf-8")
    assert load(path) == journal.entries()


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        (b"", "", "does not begin with a 'case' entry"),
        (b'{"n":1,"kind":"outcome"}\n', "", "does not begin with a 'case' entry"),
        (CASE.encode() + b"{", ":2", "not JSON"),
        (CASE.encode() + b"[1]\n", ":2", "not a journal entry of a known kind"),
        (CASE.encode() + b'{"n":2,"kind":"dream"}', ":2", "not a journal entry of a known kind"),
        (CASE.encode() + b'{"n":2,"kind":[]}', ":2", "not a journal entry of a known kind"),
        (CASE.replace(f":{FORMAT}}}", ":99}").encode(), ":1", "format 99; this version reads 1"),
        (b"\xff\xfe", "", "not UTF-8"),
        (b"[" * 100_000, ":1", "not JSON"),
    ],
)
def test_a_wrong_file_is_named_with_its_line(
    tmp_path: Path, text: bytes, where: str, what: str
) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(text)
    with pytest.raises(JournalError) as caught:
        load(path)
    assert caught.value.where == f"{path}{where}"
    assert caught.value.what.startswith(what)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match=r"none\.jsonl: cannot be read: No such file"):
        load(tmp_path / "none.jsonl")


VALUES = st.recursive(
    st.one_of(st.none(), st.integers(), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(max_size=3), inner)),
    max_leaves=8,
)


@given(st.lists(st.dictionaries(st.sampled_from(["text", "state", "reason"]), VALUES)))
def test_what_is_read_later_is_what_was_told_at_once(recorded: list[dict[str, object]]) -> None:
    told: list[Entry] = []
    journal = Journal(told.append)
    for fields in recorded:
        journal.record("outcome", **fields)
    assert list(journal.entries()) == told
    assert told == [
        {"n": number, "kind": "outcome", **fields} for number, fields in enumerate(recorded, 1)
    ]


@pytest.mark.parametrize("frames", [("one", "two"), range(2), []])
def test_a_sequence_is_read_as_a_list(frames: Sequence[object]) -> None:
    journal = Journal()
    journal.record("sent", request=1, frames=frames, how="written")
    assert journal.entries()[0]["frames"] == list(frames)
    assert json.loads(to_lines(journal))["frames"] == list(frames)


def test_who_changes_an_entry_changes_no_journal() -> None:
    journal = Journal()
    journal.record("outcome", state="completed")
    journal.entries()[0]["state"] = "failed"
    assert journal.entries()[0]["state"] == "completed"
