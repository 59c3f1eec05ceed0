"""A journal in memory and as a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopcheck.harness.journal import FORMAT, Journal, JournalError, load, to_lines

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
