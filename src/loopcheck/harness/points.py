"""Points in time, such as `book.started`, derived from a journal one entry at a time.

A pure fold, used live to open the gates of the world and afterwards as evidence of order.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from loopcheck.harness.journal import Entry

_DECIDED: Final = {"approve": "approved", "deny": "denied", "answer": "answered"}


class PointTracker:
    """Turns journal entries into the points that they pass.

    The second time a point is passed it is also named with its number: `book.started.2`.
    """

    def __init__(self) -> None:
        self._times: Counter[str] = Counter()
        self._turns: dict[object, object] = {}
        self._labels: dict[object, str] = {}
        self._issued: dict[object, list[str]] = {}
        self._answered: Counter[object] = Counter()
        self._asked: dict[str, tuple[object, str]] = {}

    def feed(self, entry: Entry) -> list[str]:
        """The points that this entry passes, in order, each name at most once in a case."""
        return [self._numbered(point) for point in self._points(entry)]

    def has_passed(self, point: str) -> bool:
        """Whether this point has been passed; `book.started.2` asks for the second time."""
        name, _, times = point.rpartition(".")
        if times.isdecimal():
            return self._times[name] >= int(times)
        return point in self._times

    def _numbered(self, point: str) -> str:
        self._times[point] += 1
        times = self._times[point]
        return point if times == 1 else f"{point}.{times}"

    def _points(self, entry: Entry) -> Iterator[str]:
        match entry["kind"]:
            case "case":
                yield "run.started"
            case "leg" if entry.get("how") != "resume":
                yield "run.started"
            case "outcome":
                yield from self._outcome(entry)
            case "place":
                yield str(entry["place"])
            case "decision":
                yield f"{entry['label']}.{_DECIDED[str(entry['decide'])]}"
            case "action" if entry.get("do") == "cancel":
                yield "run.cancelling"
            case "request":
                yield from self._request(entry)
            case "response":
                yield from self._response(entry)
            case "sent" if entry.get("request") in self._turns:
                turn = f"turn{self._turns[entry['request']]}"
                yield f"{turn}.sent"
                if entry.get("how") == "client-closed":
                    yield f"{turn}.closed"
            case "execution" if isinstance(label := entry.get("label"), str):
                self._labels[entry["execution"]] = label
                yield f"{label}.started"
            case "effect" if entry.get("execution") in self._labels:
                yield f"{self._labels[entry['execution']]}.committed"
            case "ended" if entry.get("execution") in self._labels:
                yield f"{self._labels[entry['execution']]}.ended"

    def _outcome(self, entry: Entry) -> Iterator[str]:
        if entry.get("state") != "paused":
            yield "run.ended"
            return
        yield "run.paused"
        for label in self.labels_of(_mappings(entry.get("pending"))):
            if label is not None:
                yield f"{label}.waiting"

    def labels_of(self, calls: Sequence[Mapping[str, object]]) -> list[str | None]:
        """The labels of calls that a target says are waiting: of an id that was issued several
        times the latest ones, in order, those with the same tool and arguments before others; of
        an id that was never issued, as loops may give ids of their own, the latest equal calls."""
        named = [self._named(call) for call in calls]
        left = Counter(named)
        labels: list[str | None] = []
        for candidates in named:
            position = left[candidates]
            left[candidates] -= 1
            labels.append(candidates[-position] if len(candidates) >= position else None)
        return labels

    def _named(self, call: Mapping[str, object]) -> tuple[str, ...]:
        """The calls that a target may mean by this one."""
        given = (call.get("tool"), json.dumps(call.get("arguments"), sort_keys=True))
        issued = self._issued.get(call.get("call_id"))
        equal = tuple(label for label in issued or self._asked if self._asked[label] == given)
        return equal or tuple(issued or ())

    def _request(self, entry: Entry) -> Iterator[str]:
        if entry.get("role") == "turn":
            self._turns[entry["request"]] = entry["turn"]
            yield f"turn{entry['turn']}.asked"
        results = Counter(
            item.get("call_id")
            for item in _mappings(entry.get("conversation"))
            if item.get("kind") == "result"
        )
        for call_id, count in results.items():
            # An id that was issued twice stands for its labels in the order of their issue.
            labels = self._issued.get(call_id, [])
            for label in labels[self._answered[call_id] : count]:
                self._answered[call_id] += 1
                yield f"{label}.sent"

    def _response(self, entry: Entry) -> Iterator[str]:
        for call in _mappings(entry.get("calls")):
            if call.get("sent") != "none":
                label = str(call["label"])
                self._issued.setdefault(call.get("call_id"), []).append(label)
                self._asked[label] = call.get("tool"), _sorted(call.get("arguments"))
                yield f"{label}.asked"


def _sorted(arguments: object) -> str:
    """The wire text of arguments, written so that equal ones are the same text."""
    try:
        return json.dumps(json.loads(str(arguments)), sort_keys=True)
    except ValueError:
        return str(arguments)


def _mappings(value: object) -> list[Mapping[str, object]]:
    entries = value if isinstance(value, list | tuple) else []
    return [entry for entry in entries if isinstance(entry, dict)]
