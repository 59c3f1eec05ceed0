"""The turns of a generated script: calls of the model, and how it ends."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from loopcheck.fake_providers.script import DialectName, Mode
from loopcheck.harness.scenario.json_text import compact
from loopcheck.harness.strategies.arguments import Arguments, arguments, wrong_arguments
from loopcheck.harness.strategies.features import Feature
from loopcheck.harness.strategies.tools import SELDOM, Document, parameters, some

_UNKNOWN: Final = "no_such_tool"
_STOPS: Final = ("length", "filter", "refusal", "context", "end")
_TEXTS: Final = st.sampled_from(["Ok.", "One moment.", "„Gleich“ 🚆", '{"a": 1}'])
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
    _schemas: dict[str, dict[str, object]] = field(default_factory=dict)

    def schema(self, tool: str) -> dict[str, object]:
        if tool not in self._schemas:
            self._schemas[tool] = parameters(self.tools[tool])
        return self._schemas[tool]

    def label(self) -> str:
        """A label that no call has yet."""
        round_, place = divmod(len(self.calls), len(_LABELS))
        return _LABELS[place] + (str(round_) if round_ else "")

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
        turn["think"] = "Let me see."
    if draw(SELDOM):
        turn["say"] = draw(_TEXTS)
    turn["calls"] = some(draw, lambda draw: call(draw, script), most=most)
    if "stops" in script.features and draw(SELDOM):
        turn["stop"] = draw(st.sampled_from(_STOPS))
    return turn


def call(draw: DrawFn, script: Script) -> Document:
    """One call, of a tool of the script where nothing is to be invalid."""
    label = script.label()
    made: Document = {"as": label, **_asked(draw, script)}
    if "ids" in script.features and script.dialect == "chat" and draw(SELDOM):
        made["id"] = draw(st.sampled_from(["", "call_1"]))
    script.calls[label] = made
    return made


def _asked(draw: DrawFn, script: Script) -> Document:
    if len(script.calls) > 0 and draw(SELDOM):  # the same once more
        again = script.calls[draw(st.sampled_from(sorted(script.calls)))]
        return {key: again[key] for key in ("tool", "args", "raw_args") if key in again}
    tool = draw(st.sampled_from(list(script.tools)))
    schema = script.schema(tool)
    if "invalid" in script.features and draw(SELDOM):
        return draw(_invalid(tool, schema, cut=script.can_be_cut))
    return {"tool": tool, "args": draw(arguments(schema))}


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
    if "refusals" in script.features and draw(st.booleans()):
        return [{"refuse": draw(st.sampled_from(["", "I cannot do that."]))}]
    turn: Document = {"say": draw(_TEXTS)}
    if "stops" in script.features and draw(SELDOM):
        turn["stop"] = draw(st.sampled_from([stop for stop in _STOPS if stop != "end"]))
    return [turn]
