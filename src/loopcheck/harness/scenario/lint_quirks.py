"""What quirks and raw responses may get wrong."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from loopcheck.fake_providers.quirks import QUIRKS, wrong_value
from loopcheck.fake_providers.script import DialectName, Quirk
from loopcheck.harness.scenario import walk
from loopcheck.harness.scenario.compile import quirk_of
from loopcheck.harness.scenario.errors import Problem, did_you_mean
from loopcheck.harness.scenario.model import AttemptModel, Base64Model, Scenario, TurnModel
from loopcheck.harness.scenario.shapes import dialect_shape
from loopcheck.harness.scenario.stream_model import QuirkModel, Quirks
from loopcheck.harness.scenario.walk import Content
from loopcheck.harness.scenario.yaml_source import Path, Source

_Owner: TypeAlias = TurnModel | AttemptModel
_NARROW: Final = "narrow the file with dialects or modes, or write the quirks by dialect"


def lint(scenario: Scenario, source: Source) -> Iterator[Problem]:
    """Problems of the quirks of the file, of its turns and of their attempts."""
    everything = Content(tuple(walk.pieces(scenario, source)))
    yield from _quirks(("quirks",), scenario.quirks, everything, scenario, source)
    for path, turn in walk.turns(scenario, source):
        own = walk.own_content(path, turn)
        yield from _quirks((*path, "quirks"), turn.quirks, own, scenario, source)
        yield from _raw(path, turn, scenario, source)
        for where, attempt in walk.attempts(path, turn):
            content = walk.content(path, turn, where, attempt)
            yield from _quirks((*where, "quirks"), attempt.quirks, content, scenario, source)
            yield from _raw(where, attempt, scenario, source)


def _quirks(
    path: Path, quirks: Quirks | None, content: Content, scenario: Scenario, source: Source
) -> Iterator[Problem]:
    if isinstance(quirks, dict):
        for name, listed in quirks.items():
            yield from _listed((*path, name), listed, (name,), content, scenario, source)
    elif quirks is not None:
        names = walk.dialects(scenario)
        yield from _listed(path, quirks, names, content, scenario, source)


def _listed(
    path: Path,
    quirks: Sequence[QuirkModel],
    names: Sequence[DialectName],
    content: Content,
    scenario: Scenario,
    source: Source,
) -> Iterator[Problem]:
    for number, written in enumerate(quirks):
        place = (*path, number)
        if isinstance(written, dict) and len(written) != 1:
            yield source.problem(place, "a quirk is a name, or one name with its value")
            continue
        quirk = quirk_of(written)
        if quirk.name not in QUIRKS:
            hint = did_you_mean(quirk.name, QUIRKS)
            yield source.problem(place, f"{quirk.name!r} is no quirk", hint)
        elif (wrong := wrong_value(quirk)) is not None:
            yield source.problem(place, wrong, _word_hint(quirk))
        else:
            yield from _idle(place, quirk, names, content, scenario, source)


def _word_hint(quirk: Quirk) -> str:
    words = QUIRKS[quirk.name].words
    given = quirk.value[0] if isinstance(quirk.value, list) and quirk.value else quirk.value
    return did_you_mean(given, words) if isinstance(given, str) and words else ""


def _idle(
    path: Path,
    quirk: Quirk,
    names: Sequence[DialectName],
    content: Content,
    scenario: Scenario,
    source: Source,
) -> Iterator[Problem]:
    entry = QUIRKS[quirk.name]
    idle = [
        f"{name}-{mode}"
        for name in names
        for mode in scenario.modes
        if not entry.strikes(name, mode, quirk.value)
    ]
    if idle:
        message = f"the quirk {quirk.name!r} does nothing in {', '.join(idle)}"
        yield source.problem(path, message, _NARROW)
    elif entry.of_calls and all(scenario.is_hosted(call.tool) for _, call in content.calls):
        yield source.problem(path, f"the quirk {quirk.name!r} does nothing without a call")
    elif quirk.name == "split-name" and isinstance(quirk.value, list):
        joined = "".join(map(str, quirk.value))
        if joined not in [call.tool for _, call in content.calls]:
            yield source.problem(path, f"the pieces join to {joined!r}, which is no called tool")


def _raw(path: Path, owner: _Owner, scenario: Scenario, source: Source) -> Iterator[Problem]:
    for key, written, mode in (("raw", owner.raw, "stream"), ("raw_body", owner.raw_body, "whole")):
        if written is None:
            continue
        place = (*path, key)
        if mode not in scenario.modes:
            message = f"{key!r} does nothing: the file has no {mode} responses"
            yield source.problem(place, message, key=True)
        if owner.quirks is not None:
            message = f"quirks do not change what {key!r} writes out"
            yield source.problem((*path, "quirks"), message, key=True)
        by_dialect = dialect_shape(written) == "a mapping by dialect"
        parts = written.items() if by_dialect and isinstance(written, dict) else [("", written)]
        for name, part in parts:
            yield from _bytes((*place, *([name] if name else [])), part, source)
    alone = owner.raw is not None and owner.raw_body is None
    if alone and "whole" in scenario.modes:
        hint = "narrow with modes: [stream], or write raw_body, too"
        yield source.problem((*path, "raw"), "'raw' writes streams only", hint, key=True)


def _bytes(path: Path, written: object, source: Source) -> Iterator[Problem]:
    if isinstance(written, Base64Model):
        encoded: object = written.base64
    elif isinstance(written, dict) and len(written) == 1:
        encoded = written.get("base64")
    else:
        return
    if isinstance(encoded, str):
        try:
            b64decode(encoded, validate=True)
        except ValueError:
            yield source.problem((*path, "base64"), "not base64")
