"""The turns of a generated script: calls of the model, and how it ends."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from loopcheck.fake_providers.script import DialectName, Mode
from loopcheck.harness.scenario.json_text import compact, whole_object
from loopcheck.harness.strategies.arguments import Arguments, arguments, wrong_arguments
from loopcheck.harness.strategies.features import Feature
from loopcheck.harness.strategies.tools import (
    HOSTED,
    OFTEN,
    SELDOM,
    Document,
    parameters,
    some,
    without_argument,
)

_UNKNOWN: Final = "no_such_tool"
_STOPS: Final = ("length", "filter", "refusal", "context", "end")
_TEXTS: Final = st.sampled_from(["Ok.", "One moment.", "„Gleich“ 🚆", '{"a": 1}'])
_IDS: Final = st.sampled_from(["call_1", "call_1", "call_2", ""])
_THOUGHTS: Final = st.sampled_from(["Let me see.", " Is that so?\n", "„Hm“ 🤔"])
_NO_OBJECTS: Final = ("", "null", "[]", '"text"', "{} {}", "{'a': 1}", '{"a": 1,}')
_LABELS: Final = "abcdefghijklmnopqrstuvwxyz"


@dataclass(slots=True)
class Script:
    """What is drawn so far: the tools, and the calls by label with their argument text."""

    dialect: DialectName
    mode: Mode
    features: Collection[Feature]
    tools: dict[str, Document]
    calls: dict[str, Document] = field(default_factory=dict)
    hosted: list[str] = field(default_factory=list)
    repeats_ids: bool = False
    has_custom: bool = False
    _schemas: dict[str, dict[str, object]] = field(default_factory=dict)

    def schema(self, tool: str) -> dict[str, object]:
        if tool not in self._schemas:
            self._schemas[tool] = parameters(self.tools[tool])
        return self._schemas[tool]

    def label(self) -> str:
        """A label that no call has yet."""
        round_, place = divmod(len(self.calls) + len(self.hosted), len(_LABELS))
        return _LABELS[place] + (str(round_) if round_ else "")

    def lessen(self, tool: str, name: str) -> None:
        """Takes an argument away from a tool, in all of its calls."""
        without_argument(self.tools[tool], name)
        self._schemas.pop(tool, None)
        for call in self.calls.values():
            if call["tool"] == tool:
                _without(call, name)

    @property
    def is_keyed(self) -> bool:
        """Whether a tool has business operations."""
        return any("operation" in tool for tool in self.tools.values())

    @property
    def can_be_cut(self) -> bool:
        """Whether arguments may be any text: whole responses of messages hold an object."""
        return (self.dialect, self.mode) != ("messages", "whole")


def text_of(call: Document) -> str:
    """The argument text of a call."""
    raw = call.get("raw_args")
    return raw if isinstance(raw, str) else compact(call.get("args"))


def calling(draw: DrawFn, script: Script) -> Document:
    """A turn that asks for one to three calls."""
    most = 3 if "parallel" in script.features else 1
    turn: Document = {}
    if "thinking" in script.features and script.dialect != "chat" and draw(SELDOM):
        turn["think"] = draw(_THOUGHTS)
    if draw(SELDOM):
        turn["say"] = draw(_TEXTS)
    turn["calls"] = some(draw, lambda draw: call(draw, script), most=most)
    if "stops" in script.features and draw(SELDOM):
        turn["stop"] = draw(st.sampled_from(_STOPS))
    return _in_pieces(draw, turn, script)


def calls_of(turn: Document) -> list[Document]:
    """The client's calls of a turn."""
    pieces = turn.get("items", [])
    listed = turn.get("calls", [])
    assert isinstance(pieces, list)
    assert isinstance(listed, list)
    calls = [piece["call"] for piece in pieces if "call" in piece]
    return [one for one in (*listed, *calls) if one["tool"] != HOSTED]


def _in_pieces(draw: DrawFn, turn: Document, script: Script) -> Document:
    """The turn, where it holds what has to be written piece by piece: what the service did
    itself, and thinking that nobody else can read."""
    hidden = "think" in turn and draw(SELDOM)
    hosted = "hosted" in script.features and script.dialect != "chat" and draw(SELDOM)
    if not hidden and not hosted:
        return turn
    pieces: list[Document] = [{key: turn[key]} for key in ("think", "say") if key in turn]
    if hidden:
        pieces.insert(1, {"redacted": True})
    if hosted:
        pieces += _hosted(script)
    for one in calls_of(turn):
        pieces.append({"call": one})
    return {"items": pieces, **({"stop": turn["stop"]} if "stop" in turn else {})}


def _hosted(script: Script) -> list[Document]:
    label = script.label()
    script.hosted.append(label)
    asked = {"as": label, "tool": HOSTED, "args": {"query": "E1"}}
    return [{"call": asked}, {"hosted_result": {"of": label, "value": "A report."}}]


def paused(script: Script) -> list[Document]:
    """A turn that the service pauses at its own work, and the one that goes on from there."""
    called, found = _hosted(script)
    return [
        {"items": [{"say": "One moment."}, called], "stop": "pause"},
        {"items": [found, {"say": "There is a report."}]},
    ]


def call(draw: DrawFn, script: Script) -> Document:
    """One call, of a tool of the script where nothing is to be invalid."""
    label = script.label()
    made: Document = {"as": label, **_asked(draw, script)}
    if script.repeats_ids:
        made["id"] = draw(_IDS)
    if script.has_custom and draw(OFTEN):
        _make_custom(made)
    script.calls[label] = made
    return made


def _asked(draw: DrawFn, script: Script) -> Document:
    if len(script.calls) > 0 and draw(SELDOM):  # the same once more
        again = script.calls[draw(st.sampled_from(sorted(script.calls)))]
        return {key: again[key] for key in ("tool", "args", "raw_args", "form") if key in again}
    tool = draw(st.sampled_from(list(script.tools)))
    schema = script.schema(tool)
    if "invalid" in script.features and draw(SELDOM):
        return draw(_invalid(tool, schema, cut=script.can_be_cut))
    return {"tool": tool, "args": draw(arguments(schema))}


def _make_custom(call: Document) -> None:
    """Has the call come as text for a tool of the custom form, which nobody offers."""
    text = text_of(call)
    call.pop("args", None)
    call |= {"raw_args": text, "form": "custom"}


def _without(call: Document, name: str) -> None:
    """Takes an argument away from a call whose arguments are an object."""
    is_custom = call.get("form") == "custom"
    args = whole_object(text_of(call)) if is_custom else call.get("args")
    if isinstance(args, dict) and name in args:
        less = {key: value for key, value in args.items() if key != name}
        call |= {"raw_args": compact(less)} if is_custom else {"args": less}


def _invalid(tool: str, schema: dict[str, object], *, cut: bool) -> SearchStrategy[Document]:
    wrong = wrong_arguments(schema).map(lambda args: _document(tool, args=args))
    unknown = arguments(schema).map(lambda args: _document(_UNKNOWN, args=args))
    if not cut:
        return st.one_of(wrong, unknown)
    no_object = st.sampled_from(_NO_OBJECTS).map(lambda text: _document(tool, raw_args=text))
    return st.one_of(
        wrong, unknown, no_object, arguments(schema).flatmap(lambda args: _cut(tool, args))
    )


def _cut(tool: str, args: Arguments) -> SearchStrategy[Document]:
    text = compact(args)
    places = st.integers(1, len(text) - 1)
    return places.map(lambda size: _document(tool, raw_args=text[:size]))


def _document(tool: str, **said: object) -> Document:
    return {"tool": tool, **said}


def ending(draw: DrawFn, script: Script) -> list[Document]:
    """How the script ends: as ever, or with a last turn of its own."""
    if not draw(SELDOM):
        return []
    if "hosted" in script.features and script.dialect == "messages" and draw(SELDOM):
        return paused(script)
    if "refusals" in script.features and draw(st.booleans()):
        return [{"refuse": draw(st.sampled_from(["", "I cannot do that."]))}]
    turn: Document = {"say": draw(_TEXTS)}
    if "stops" in script.features and draw(SELDOM):
        turn["stop"] = draw(st.sampled_from([stop for stop in _STOPS if stop != "end"]))
    return [turn]
