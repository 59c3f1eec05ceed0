"""What was said, in the words of the scenario format."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from loopcheck.fake_providers.script import (
    Call,
    Content,
    DialectName,
    Hosted,
    Refuse,
    Say,
    Stop,
    Think,
    answer,
)
from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.importing.said import Said
from loopcheck.harness.scenario.json_text import compact, whole_object

_NO_LABEL: Final = re.compile(r"[^A-Za-z0-9_-]+")
_RESERVED: Final = re.compile(r"(run|say|think|turn[0-9]+)\Z")
_TOOL: Final = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(slots=True)
class Writer:
    """Writes turns, and keeps what the file as a whole has to know of them: `streams` says that
    no whole response could hold it all."""

    protocol: DialectName
    offered: frozenset[str] = frozenset()
    hosted: dict[str, JsonObject] = field(default_factory=dict)
    streams: bool = False
    needs: set[str] = field(default_factory=set)
    left_out: list[str] = field(default_factory=list)
    _labels: set[str] = field(default_factory=set)
    _of_hosted: dict[str, str] = field(default_factory=dict)

    def turn(self, attempts: Sequence[Said]) -> JsonObject:
        """The turn that was given in these attempts; the last one says what it is about."""
        taken, used = frozenset(self._labels), set[str]()
        written: list[JsonObject] = []
        for one in attempts:
            self._labels = set(taken)
            written.append(self._said(one))
            used |= self._labels
        self._labels = used
        last = written[-1]
        entries = [
            {**self._fault(one), **({} if keys == last else keys)} or "normal"
            for one, keys in zip(attempts, written, strict=True)
        ]
        return last if entries == ["normal"] else {**last, "attempts": entries}

    def _fault(self, said: Said) -> JsonObject:
        fault = said.fault or {}
        self.streams |= fault.get("fault") in ("error-event", "empty")
        return fault

    def _said(self, said: Said) -> JsonObject:
        self._of_hosted = {}
        pieces = [keys for piece in said.content for keys in self._piece(piece)]
        own = answer(said.content).stop
        stop: Stop | None = None if said.stop in (None, own) else said.stop
        return {**_keys(pieces), **({} if stop is None else {"stop": stop})}

    def _piece(self, piece: Content) -> Iterator[JsonObject]:
        match piece:
            case Say(text) if text:
                yield {"say": text}
            case Refuse(text):
                yield {"refuse": text}
            case Think():
                self.needs.add("thinking")
                yield {"redacted": True} if piece.redacted else {"think": piece.text}
            case Call():
                label = self._label(piece.tool)
                custom: JsonObject = {"form": "custom"} if piece.form == "custom" else {}
                given = {"raw_args": piece.arguments} if custom else _arguments(piece.arguments)
                self.streams |= self.protocol == "messages" and "raw_args" in given
                yield {"call": {"as": label, "tool": piece.tool, **given, **custom}}
            case Hosted():
                yield from self._hosted(piece)

    def _hosted(self, piece: Hosted) -> Iterator[JsonObject]:
        self.needs.add("hosted")
        if piece.of is not None:
            of = self._of_hosted.get(piece.of)
            if of is None:
                self.left_out.append(f"the result of a {piece.kind} whose call is not there")
            else:
                yield {"hosted_result": {"of": of, "value": piece.result}}
            return
        tool = _TOOL.sub("_", piece.name or piece.kind)[:50] or "hosted"
        tool = f"{tool}_hosted" if tool in self.offered else tool
        self.hosted[tool] = {"kind": "hosted", "type": {self.protocol: piece.kind or tool}}
        label = self._of_hosted[piece.label] = self._label(tool)
        given = _arguments(piece.arguments)
        self.streams |= self.protocol == "messages" and "raw_args" in given
        yield {"call": {"as": label, "tool": tool, **given}}
        if piece.result is not None:
            yield {"hosted_result": {"of": label, "value": piece.result}}

    def _label(self, tool: str) -> str:
        """The tool's name, numbered from the second call on."""
        stem = _NO_LABEL.sub("-", tool)[:32].strip("-_") or "call"
        if not stem[0].isalpha() or _RESERVED.match(stem):
            stem = f"call-{stem}"
        label, number = stem, 1
        while label in self._labels:
            number += 1
            label = f"{stem}-{number}"
        self._labels.add(label)
        return label


def _arguments(text: str) -> JsonObject:
    """As a mapping, where that says the same."""
    value = whole_object(text)
    if value is None or _doubles(text, value):
        return {"raw_args": text}
    return {"args": value}


def _doubles(text: str, value: JsonObject) -> bool:
    """Whether the mapping says less than the text, or nothing that JSON can."""
    try:
        told = compact(value)
        told.encode()
    except ValueError:
        return True
    return len(re.sub(r"\s", "", told)) < len(re.sub(r"\s", "", text)) and "\\" not in text


def _keys(pieces: Iterable[JsonObject]) -> JsonObject:
    """The short form, where the order is the usual one and no key stands twice."""
    listed = list(pieces)
    order = [next(iter(piece)) for piece in listed]
    usual = [key for key in ("think", "say", "call", "refuse") for one in order if one == key]
    once = all(order.count(key) <= 1 for key in ("think", "say", "refuse"))
    if order != usual or not once:
        return {"items": listed}
    calls = [piece["call"] for piece in listed if "call" in piece]
    rest = {key: value for piece in listed for key, value in piece.items() if key != "call"}
    short = {**rest, **({"calls": calls} if calls else {})}
    return short
