"""From the exchanges of a file to the scenario that they tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from loopcheck.fake_providers.script import DIALECTS, MODES, DialectName
from loopcheck.fake_providers.wire import JsonObject, OfferedTool
from loopcheck.harness.importing.asked import Asked, asked
from loopcheck.harness.importing.exchanges import Exchange, Source, SourceError
from loopcheck.harness.importing.said import Said, said
from loopcheck.harness.importing.tools import tools
from loopcheck.harness.importing.writing import Writer
from loopcheck.harness.scenario.model import Scenario

RULE: Final = "Every recorded call is run at most once, and answered under its own id."
PROMPT: Final = "Go on."
_OWN_WORDS: Final = ("http", "error-event", "error-body")


@dataclass(slots=True)
class _Told:
    """The story so far: messages and turns, each turn as its attempts."""

    prompt: str | None = None
    entries: list[str | list[Said]] = field(default_factory=list)
    runs: set[int] = field(default_factory=set)
    heard: int = 0
    first: str = ""
    latest: JsonObject | None = None


def scenario(source: Source, name: str) -> tuple[Scenario, tuple[str, ...]]:
    """The scenario, and what of the exchanges it does not say. Raises SourceError."""
    protocol = _protocol(source)
    told, left_out = _Told(), list(source.left_out)
    offered: dict[str, OfferedTool] = {}
    descriptions: dict[str, str] = {}
    for number, exchange in enumerate(source.exchanges, 1):
        request, response = asked(exchange.recording), said(exchange)
        offered.update((tool.name, tool) for tool in request.tools)
        descriptions.update(request.descriptions)
        _add(told, exchange, request, response)
        left_out += [f"request {number}: {what}" for what in request.left_out]
        left_out += [f"response {number}: {what}" for what in _lost(response)]
    if told.prompt is None:
        left_out.append(f"the prompt, which is not there: it reads {PROMPT!r}")
    known = tools(offered.values(), descriptions, left_out)
    writer = Writer(protocol, frozenset(known))
    entries = _entries(told, writer)
    modes = _modes(source.exchanges)
    if writer.streams and modes != ["stream"]:
        modes = ["stream"]
        left_out.append("that there were responses which were not streamed")
    document: JsonObject = {
        "format": 1,
        "title": f"Imported from {name}",
        "rule": RULE,
        "needs": sorted(writer.needs),
        "dialects": [protocol],
        "modes": modes,
        "prompt": told.prompt or PROMPT,
        "tools": {**known, **writer.hosted},
        "turns": entries,
    }
    return Scenario.model_validate(document), tuple(dict.fromkeys([*left_out, *writer.left_out]))


def _protocol(source: Source) -> DialectName:
    protocols: set[DialectName] = {exchange.recording.protocol for exchange in source.exchanges}
    if not protocols:
        raise SourceError("it holds no response of a model")
    if len(protocols) > 1:
        known = ", ".join(sorted(protocols, key=DIALECTS.index))
        raise SourceError(f"it holds several protocols ({known}), not one")
    return protocols.pop()


def _lost(response: Said) -> Iterator[str]:
    if response.left_out is not None:
        yield response.left_out
    if response.fault is not None and response.fault["fault"] in _OWN_WORDS:
        yield "the error's own words"


def _modes(exchanges: Sequence[Exchange]) -> list[str]:
    streamed = {exchange.recording.events is not None for exchange in exchanges}
    # Of errors and dropped connections nobody can tell how they would have been sent.
    answered = {e.recording.events is not None for e in exchanges if e.recording.status == 200}
    chosen = answered or streamed
    return [mode for mode in MODES if (mode == "stream") in chosen]


def _add(told: _Told, exchange: Exchange, request: Asked, response: Said) -> None:
    """Adds a turn, or one more attempt of the turn that was asked for before."""
    body = exchange.recording.request_body
    repeated = body is not None and body == told.latest
    last = told.entries[-1] if told.entries else None
    failed = isinstance(last, list) and last[-1].fault is not None
    if isinstance(last, list) and (repeated or (failed and not _goes_on(told, request))):
        last.append(response)
    else:
        _add_messages(told, request)
        told.entries.append([response])
    told.latest = body


def _goes_on(told: _Told, request: Asked) -> bool:
    """Whether the request says more than the ones before, or something else."""
    more = len(request.messages) > told.heard
    return request.stored or more or _is_another(told, request)


def _is_another(told: _Told, request: Asked) -> bool:
    """Whether the request is of another conversation."""
    begun = told.prompt is not None and not request.stored
    return begun and bool(request.messages) and request.messages[0][0] != told.first


def _add_messages(told: _Told, request: Asked) -> None:
    """Adds what the request says for the first time; what was answered to messages that were
    heard is told by exchanges of their own."""
    another = _is_another(told, request)
    new = request.messages if another or request.stored else request.messages[told.heard :]
    for number, (text, turns) in enumerate(new):
        if told.prompt is None:
            told.prompt = text
        else:
            if another and number == 0:
                told.runs.add(len(told.entries))
            told.entries.append(text)
        told.entries.extend([Said(content)] for content in turns if content)
    if request.messages and not request.stored:
        told.first, told.heard = request.messages[0][0], len(request.messages)


def _entries(told: _Told, writer: Writer) -> list[JsonObject]:
    written: list[JsonObject] = []
    for number, entry in enumerate(told.entries):
        if isinstance(entry, list):
            written.append(writer.turn(entry))
        elif number in told.runs:
            written.append({"run": entry})
        else:
            writer.needs.add("follow_up")
            written.append({"user": entry})
    return written
