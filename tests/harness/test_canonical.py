"""Two journals of one case with one seed are the same in their canonical form."""

from __future__ import annotations

from loopcheck.harness.canonical import canonical
from loopcheck.harness.journal import Entry


def journal(*, port: int, case: int, closed: str, run: str, late: bool) -> list[Entry]:
    """A journal as it comes from one run; `late`: the stream's end is recorded late."""
    sent: Entry = {"kind": "sent", "request": 1, "frames": ["data: [DONE]"], "how": closed}
    execution: Entry = {"kind": "execution", "execution": 1, "tool": "book"}
    url = f"http://127.0.0.1:{port}/c/{case}-one/v1"
    entries: list[Entry] = [
        {"kind": "case", "seed": 0},
        {
            "kind": "request",
            "request": 1,
            "headers": {"host": f"127.0.0.1:{port}", "accept": "text/event-stream"},
            "body": {"messages": [{"content": f"see {url}"}]},
        },
        {"kind": "gate", "gate": "a waits for b", "how": "forced"},
        {"kind": "response", "request": 1, "turn": 1},
        *([execution, sent] if late else [sent, execution]),
        {"kind": "outcome", "state": "failed", "text": f"no answer from {url}", "run": run},
    ]
    return [{"n": n, **entry} for n, entry in enumerate(entries, 1)]


ONE = journal(port=4001, case=1, closed="written", run="a1", late=False)
OTHER = journal(port=4002, case=27, closed="client-closed", run="b2", late=True)


def test_times_ports_and_ids_of_runs_do_not_count() -> None:
    assert canonical(ONE) == canonical(OTHER)


def test_what_counts_stays_in_its_order_and_is_numbered_anew() -> None:
    kinds = [(entry["n"], entry["kind"]) for entry in canonical(OTHER)]
    assert kinds == [
        (1, "case"),
        (2, "request"),
        (3, "response"),
        (4, "sent"),
        (5, "execution"),
        (6, "outcome"),
    ]
    assert canonical(ONE)[1]["headers"] == {"accept": "text/event-stream"}


def test_another_value_is_another_journal() -> None:
    changed = [{**entry, "tool": "pay"} if "tool" in entry else entry for entry in ONE]
    assert canonical(changed) != canonical(ONE)


def test_what_was_sent_to_a_side_request_stays_where_it_was() -> None:
    entries: list[Entry] = [
        {"n": 1, "kind": "request", "request": 1, "role": "side"},
        {"n": 2, "kind": "sent", "request": 1, "frames": [], "how": "written"},
    ]
    assert [entry["kind"] for entry in canonical(entries)] == ["request", "sent"]


def test_what_an_exception_says_does_not_count_but_what_a_loop_says_does() -> None:
    def ended(text: str, exception: str | None) -> Entry:
        return {"n": 1, "kind": "outcome", "state": "failed", "text": text, "exception": exception}

    assert canonical([ended("at 12:01", "Boom")]) == canonical([ended("at 12:02", "Boom")])
    assert canonical([ended("at 12:01", "Boom")]) != canonical([ended("at 12:01", "Bang")])
    assert canonical([ended("No.", None)]) != canonical([ended("Yes.", None)])
