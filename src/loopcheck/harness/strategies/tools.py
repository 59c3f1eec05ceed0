"""The tools of a generated scenario: reads and writes, what they take and how they behave."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from loopcheck.fake_providers.script import DialectName
from loopcheck.harness.scenario.tool_model import HANGING, ToolModel
from loopcheck.harness.strategies.features import Feature

Document = dict[str, object]
T = TypeVar("T")

_NAMES: Final = {
    "write": ("book_seat", "send_note", "pay_bill"),
    "read": ("find_train", "get_weather", "list_files"),
}
# By the name of the argument, so that a reader sees what a value is meant to be.
_ARGUMENTS: Final[dict[str, object]] = {
    "name": "string",
    "seat": "integer",
    "paid": "boolean",
    "price": "number",
    "day": {"type": "integer", "minimum": 1, "maximum": 31},
    "klass": {"type": "string", "enum": ["first", "second"]},
    "tags": {"type": "array", "items": {"type": "string"}},
    "place": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "track": {"type": "integer"}},
        "required": ["city", "track"],
        "additionalProperties": False,
    },
    "note": {"type": ["string", "null"]},
}
_WITHOUT_EFFECT: Final = ("error-result", "raises", "raises-timeout", "rejects", "rate-limited")
_WITH_EFFECT: Final = ("commit-then-raise", "commit-then-lose-response", "empty", "hostile")
_RETURNS: Final[tuple[object, ...]] = ({"confirmation": "B-7"}, "done", [1, "two"], 7, {})
_PARTS: Final = ([{"text": "A plan."}, {"image": "png"}], [{"text": "One."}, {"text": "Two."}])
_APPROVALS: Final = st.sampled_from([*[None] * 5, *["ask"] * 3, "disabled"])
ASKED: Final = "ask_user"
HOSTED: Final = "web_search"
_LOOKUPS: Final = ("none", "found", "absent", "inconclusive")
OFTEN: Final = st.sampled_from([False, True])
SELDOM: Final = st.sampled_from([False, False, False, True])
RARELY: Final = st.sampled_from([*[False] * 7, True])


def toolset(draw: DrawFn, features: Collection[Feature]) -> dict[str, Document]:
    """One to three tools by name; the simplest set is one write without arguments."""
    tools: dict[str, Document] = {}

    def add(draw: DrawFn) -> None:
        kind = draw(st.sampled_from(["write", "read"]))
        name = next(one for one in _NAMES[kind] if one not in tools)
        tools[name] = _tool(draw, kind, features)

    some(draw, add, most=3)
    if "answers" in features and draw(SELDOM):
        tools[ASKED] = asked_tool()
    return tools


def some(draw: DrawFn, make: Callable[[DrawFn], T], *, most: int) -> list[T]:
    """One, and as many more as are drawn. Each is drawn together with whether another follows,
    so that any of them can be cut out, which is what makes examples small."""
    made: list[T] = []
    while len(made) < most:
        one, another = draw(_one(make))
        made.append(one)
        if not another:
            break
    return made


@st.composite
def _one(draw: DrawFn, make: Callable[[DrawFn], T]) -> tuple[T, bool]:
    return make(draw), draw(OFTEN)


def _tool(draw: DrawFn, kind: str, features: Collection[Feature]) -> Document:
    tool: Document = {"kind": kind}
    names = draw(st.lists(st.sampled_from(list(_ARGUMENTS)), max_size=4, unique=True))
    if names:
        # People approve less than was asked for where something can be left out.
        tool |= _arguments(draw, names, OFTEN if "approvals" in features else SELDOM)
    if "behaviours" in features and draw(SELDOM):
        tool["behaves"] = draw(_behaviours(features))
    if "operations" in features and kind == "write" and names and draw(SELDOM):
        tool |= _operation(draw, names)
    if draw(SELDOM):
        tool |= draw(_results(features))
    approval = draw(_APPROVALS) if "approvals" in features else None
    if approval is not None:
        tool["approval"] = approval
    return tool


def _results(features: Collection[Feature]) -> st.SearchStrategy[Document]:
    values = st.sampled_from(_RETURNS).map(lambda value: _document("returns", value))
    if "images" not in features:
        return values
    return values | st.sampled_from(_PARTS).map(lambda parts: _document("returns_parts", parts))


def _document(key: str, value: object) -> Document:
    return {key: value}


def asked_tool() -> Document:
    """A tool that a person answers."""
    return {"kind": "ask", "args": {"question": "string"}}


def hosted_tool(dialect: DialectName) -> Document:
    """A tool that the service runs itself."""
    return {"kind": "hosted", "type": "web_search" if dialect == "messages" else "web_search_call"}


def _arguments(draw: DrawFn, names: list[str], often: st.SearchStrategy[bool]) -> Document:
    args = {name: _ARGUMENTS[name] for name in names}
    optional = [draw(st.sampled_from(names))] if draw(often) else []
    if not optional:
        return {"args": args}
    properties = {n: {"type": one} if isinstance(one, str) else one for n, one in args.items()}
    required = [name for name in names if name not in optional]
    schema: Document = {"type": "object", "properties": properties, "required": required}
    return {"schema": schema}


def _behaviours(features: Collection[Feature]) -> st.SearchStrategy[list[str]]:
    words = [*_WITHOUT_EFFECT, *_WITH_EFFECT]
    if "hangs" in features:
        words += sorted(HANGING)
    return st.lists(st.sampled_from(["normal", *words]), min_size=1, max_size=2).filter(
        lambda listed: listed != ["normal"]
    )


def _operation(draw: DrawFn, names: list[str]) -> Document:
    tool: Document = {"operation": draw(st.sampled_from([names, names[:1]]))}
    lookup = draw(st.sampled_from(_LOOKUPS))
    if lookup != "none":
        tool["lookup"] = lookup
    if draw(SELDOM):
        tool["deduplicates"] = True
    return tool


def parameters(tool: Document) -> dict[str, object]:
    """The JSON Schema of what the tool takes."""
    return ToolModel.model_validate(tool).parameters


def argument_names(tool: Document) -> list[str]:
    """The names of what the tool takes."""
    properties = parameters(tool)["properties"]
    return list(properties) if isinstance(properties, dict) else []


def without_argument(tool: Document, name: str) -> None:
    """Takes an argument away from the tool."""
    schema = tool.get("schema")
    inside = schema if isinstance(schema, dict) else {}
    for key, place in (("args", tool), ("properties", inside)):
        named = place.get(key)
        if isinstance(named, dict):
            place[key] = {other: spec for other, spec in named.items() if other != name}
    for key, place in (("operation", tool), ("required", inside)):
        listed = place.get(key)
        if isinstance(listed, list | tuple):
            place[key] = [other for other in listed if other != name]
    if tool.get("args") == {}:
        del tool["args"]
