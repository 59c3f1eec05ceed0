"""What happened to a run from outside: pauses, decisions, cancellation, its parts, their ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopcheck.harness.checks import fields
from loopcheck.harness.checks.evidence import Decided, Ended, Pause
from loopcheck.harness.journal import Entry


def ended(entry: Entry) -> Ended:
    """The outcome that an entry tells of."""
    return Ended(
        n=fields.number(entry, "n"),
        state=fields.text(entry, "state"),
        reason=fields.text(entry, "reason"),
        text=fields.text(entry, "text"),
        exception=fields.text_or_none(entry, "exception"),
    )


def ends(entries: Sequence[Entry]) -> Iterator[tuple[Ended, ...]]:
    """For each part of the case, the outcomes of the last leg that gave any."""
    latest: list[Ended] = []
    is_new_leg = True
    for entry in entries:
        if entry.get("kind") == "leg":
            if entry.get("how") != "resume":
                yield tuple(latest)
                latest = []
            is_new_leg = True
        elif entry.get("kind") == "outcome":
            latest = [ended(entry)] if is_new_leg else [*latest, ended(entry)]
            is_new_leg = False
    yield tuple(latest)


def decisions(entries: Sequence[Entry]) -> Iterator[Decided]:
    """What people decided, in order."""
    for entry in fields.of_kind(entries, "decision"):
        yield Decided(
            n=fields.number(entry, "n"),
            decide=fields.text(entry, "decide"),
            label=fields.text(entry, "label"),
            call_id=fields.text(entry, "call_id"),
            tool=fields.text(entry, "tool"),
            arguments=fields.object_(entry, "arguments"),
            pending=entry.get("pending") is True,
            value=entry.get("value"),
        )


def pauses(entries: Sequence[Entry]) -> Iterator[Pause]:
    """The times at which calls waited for a person."""
    for entry in fields.of_kind(entries, "outcome"):
        waiting = fields.objects(entry, "pending")
        if entry.get("state") == "paused" and waiting:
            n = fields.number(entry, "n")
            later = (fields.number(e, "n") for e in fields.of_kind(entries, "leg"))
            yield Pause(n=n, calls=tuple(waiting), until=next((m for m in later if m > n), None))


def cancelled(entries: Sequence[Entry]) -> int | None:
    """The entry of the user's cancellation."""
    actions = fields.of_kind(entries, "action")
    return next((fields.number(e, "n") for e in actions if e.get("do") == "cancel"), None)


def approvals(entries: Sequence[Entry]) -> dict[str, Decided]:
    """What people approved, by the label of the call. The first word about a call that waits is
    the one that counts."""
    counts: dict[str, Decided] = {}
    for one in decisions(entries):
        if one.label not in counts or (one.pending and not counts[one.label].pending):
            counts[one.label] = one
    return {label: one for label, one in counts.items() if one.decide == "approve"}


def replaced(entries: Sequence[Entry]) -> frozenset[str]:
    """The labels of the calls that people approved with other arguments than the target had said
    that they wait with."""
    waiting = list(pauses(entries))
    return frozenset(
        label
        for label, one in approvals(entries).items()
        if one.pending and not any(_presents(pause, one) for pause in waiting if pause.n < one.n)
    )


def _presents(pause: Pause, approved: Decided) -> bool:
    return any(
        call.get("call_id") == approved.call_id and call.get("arguments") == approved.arguments
        for call in pause.calls
    )
