"""What faults, attempts and deliveries may get wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from loopcheck.fake_providers.script import DIALECTS
from loopcheck.harness.scenario import point_names, walk
from loopcheck.harness.scenario.compile import arguments_text
from loopcheck.harness.scenario.errors import Problem, did_you_mean
from loopcheck.harness.scenario.model import AtModel, AttemptModel, PlaceModel, Scenario
from loopcheck.harness.scenario.walk import Content
from loopcheck.harness.scenario.yaml_source import Path, Source

_PLACED: Final = frozenset({"eof", "half-chunk", "reset", "stall", "error-event"})
_USES: Final = {
    "at": _PLACED,
    "error": frozenset({"http", "error-body", "error-event"}),
    "status": frozenset({"http"}),
    "retry_after": frozenset({"http"}),
    "headers": frozenset({"http", "error-body"}),
    "body": frozenset({"http", "error-body"}),
    "then": frozenset({"headers-only"}),
    "terminal": frozenset({"empty"}),
    "form": frozenset({"error-event"}),
}
_FORMS: Final = frozenset(
    frozenset(form.split())
    for form in ("frame", "frame bytes", "in_ after", "in_ bytes", "before", "after", "bytes")
)


def lint(scenario: Scenario, source: Source) -> Iterator[Problem]:
    """Problems of every attempt and every delivery."""
    for path, turn in walk.turns(scenario, source):
        reachable = True
        for where, attempt in walk.attempts(path, turn):
            if not reachable:
                message = "no request reaches this attempt: the one before it succeeds"
                yield source.problem(where, message)
            reachable = reachable and attempt != AttemptModel()
            content = walk.content(path, turn, where, attempt)
            yield from _until(where, attempt, scenario, source)
            yield from _fault(where, attempt, content, scenario, source)
    yield from _pauses(scenario, source)
    yield from _pieces(scenario, source)
    yield from _interleaved_labels(scenario, source)


def _until(
    path: Path, attempt: AttemptModel, scenario: Scenario, source: Source
) -> Iterator[Problem]:
    if attempt.until is None:
        return
    wrong = point_names.complaint(attempt.until, scenario)
    if wrong is not None:
        yield source.problem((*path, "until"), *wrong)
    if "times" in attempt.model_fields_set:
        yield source.problem((*path, "times"), "'until' stands instead of 'times'", key=True)


def _fault(
    path: Path, attempt: AttemptModel, content: Content, scenario: Scenario, source: Source
) -> Iterator[Problem]:
    for key, faults in _USES.items():
        if key in attempt.model_fields_set and attempt.fault not in faults:
            fault = f"the fault {attempt.fault!r}" if attempt.fault else "an attempt without fault"
            yield source.problem((*path, key), f"{key!r} does nothing with {fault}", key=True)
    hint = "narrow with modes: [stream]"
    if attempt.fault == "error-event" and "whole" in scenario.modes:
        message = "error-event strikes only in streams"
        yield source.problem((*path, "fault"), message, hint)
    if attempt.terminal and "whole" in scenario.modes:
        yield source.problem((*path, "terminal"), "only streams have a terminal event", hint)
    if attempt.at is None:
        return
    if isinstance(attempt.at, dict):
        for dialect, at in attempt.at.items():
            yield from _place((*path, "at", dialect), attempt, at, content, source)
    else:
        yield from _place((*path, "at"), attempt, attempt.at, content, source)


def _place(
    path: Path, attempt: AttemptModel, at: AtModel, content: Content, source: Source
) -> Iterator[Problem]:
    if at == "end" and attempt.fault == "eof":
        yield source.problem(path, "eof at the end leaves nothing out", "use reset or half-chunk")
    yield from _spot(path, at, content, source)


def _spot(path: Path, at: AtModel, content: Content, source: Source) -> Iterator[Problem]:
    if not isinstance(at, PlaceModel):
        return
    given = frozenset(name for name, value in at if value is not None)
    if given not in _FORMS:
        keys = " and ".join(sorted(name.rstrip("_") for name in given)) or "nothing"
        hint = "one of frame; frame and bytes; in and after; in and bytes; before; after; bytes"
        yield source.problem(path, f"{keys} is no place", hint)
    elif at.in_ is not None:
        yield from _inside(path, at, content, source)
    else:
        label = at.before or at.after
        if label is not None and label not in content.labels:
            key = "before" if at.before else "after"
            yield _no_call((*path, key), label, content, source)


def _inside(path: Path, at: PlaceModel, content: Content, source: Source) -> Iterator[Problem]:
    call = content.call(at.in_ or "")
    if call is None:
        stands = {"say": content.says, "think": content.thinks}
        if not stands.get(at.in_ or ""):
            yield _no_call((*path, "in"), at.in_ or "", content, source)
        return
    text = arguments_text(call)
    if at.after is not None and at.after not in text:
        message = f"{at.after!r} does not stand in the arguments of {call.label!r}: {text}"
        yield source.problem((*path, "after"), message)
    if at.bytes is not None and at.bytes > len(text.encode()):
        message = f"the arguments of {call.label!r} have only {len(text.encode())} bytes"
        yield source.problem((*path, "bytes"), message)


def _pauses(scenario: Scenario, source: Source) -> Iterator[Problem]:
    everything = Content(tuple(walk.pieces(scenario, source)))
    for path, delivery in walk.deliveries(scenario, source):
        for number, pause in enumerate(delivery.pauses or ()):
            yield from _spot((*path, "pauses", number, "at"), pause.at, everything, source)


def _no_call(path: Path, label: str, content: Content, source: Source) -> Problem:
    calls = ", ".join(content.labels) or "none"
    return source.problem(path, f"{label!r} is no call of this attempt; calls here: {calls}")


def _pieces(scenario: Scenario, source: Source) -> Iterator[Problem]:
    texts: dict[str, set[str]] = {}
    for _, call in walk.calls(scenario, source):
        if (call.args is None) != (call.raw_args is None):
            texts.setdefault(call.label, set()).add(arguments_text(call))
    for path, delivery in walk.deliveries(scenario, source):
        if not isinstance(delivery.fragments, dict):
            continue
        for label, pieces in delivery.fragments.items():
            place = (*path, "fragments", label)
            if label not in scenario.labels:
                hint = did_you_mean(label, scenario.labels)
                yield source.problem(place, f"{label!r} is no call", hint, key=True)
            elif any("".join(pieces) != text for text in texts.get(label, ())):
                arguments = " or ".join(sorted(texts[label]))
                message = f"the pieces join to {''.join(pieces)}, the arguments are {arguments}"
                yield source.problem(place, message)


def _interleaved_labels(scenario: Scenario, source: Source) -> Iterator[Problem]:
    for path, delivery in walk.deliveries(scenario, source):
        how = delivery.interleave
        by_dialect = how if isinstance(how, dict) else dict.fromkeys(DIALECTS, how)
        for dialect, value in by_dialect.items():
            place = (*path, "interleave", *((dialect,) if isinstance(how, dict) else ()))
            for number, label in enumerate(value if isinstance(value, tuple) else ()):
                if label not in scenario.labels:
                    message = f"{label!r} is no call"
                    hint = did_you_mean(label, scenario.labels)
                    yield source.problem((*place, number), message, hint)
            if not isinstance(how, dict):
                break
