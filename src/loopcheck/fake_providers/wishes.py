"""What a request asks of its answer, read alike from the three protocols."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from loopcheck.fake_providers.script import DialectName
from loopcheck.fake_providers.wire import JsonObject, Reading

# In counts and limits, where nobody tokenizes.
TOKEN_SIZE: Final = 4

_FORMS: Final = ("function", "custom")
_NAMING: Final = (*_FORMS, "tool")
_ANY_OBJECT: Final[JsonObject] = {"type": "object"}
_LIMITS: Final[Mapping[DialectName, tuple[str, ...]]] = {
    "chat": ("max_completion_tokens", "max_tokens"),
    "responses": ("max_output_tokens",),
    "messages": ("max_tokens",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientTool:
    """A tool that the client would run. A custom one takes text, which satisfies `schema`, too."""

    name: str
    schema: JsonObject
    form: Literal["function", "custom"] = "function"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the answer may and must be.

    `tools` are those that may be called; `forced` says that one of them must be. `form` is the
    schema that the text has to satisfy. `tokens` bounds the answer; None does not. `logprobs` is
    how many alternatives are told for each token; None tells nothing of them.
    """

    tools: tuple[ClientTool, ...] = ()
    forced: bool = False
    parallel: bool = True
    form: JsonObject | None = None
    tokens: int | None = None
    stops: tuple[str, ...] = ()
    thinks: bool = False
    choices: int = 1
    logprobs: int | None = None


def wish(reading: Reading) -> Wish:
    """The wishes of a request that has passed the rules of its service."""
    body = reading.body
    tools, forced = _choice(reading)
    return Wish(
        tools=tools,
        forced=forced and bool(tools),
        parallel=_is_parallel(reading),
        form=_form(_format(reading)),
        tokens=_first_number(body, _LIMITS[reading.dialect]),
        stops=_stops(reading),
        thinks=_thinks(reading),
        choices=(_first_number(body, ("n",)) or 1) if reading.dialect == "chat" else 1,
        logprobs=_logprobs(reading),
    )


def _choice(reading: Reading) -> tuple[tuple[ClientTool, ...], bool]:
    """The tools that may be called, and whether one has to be."""
    offered = tuple(_offered(reading))
    choice = reading.tool_choice
    if isinstance(choice, str):
        return (() if choice == "none" else offered), choice == "required"
    if not isinstance(choice, dict):
        return offered, False
    kind = choice.get("type")
    match kind:
        case "none":
            return (), False
        case "auto":
            return offered, False
        case "any":
            return offered, True
        case "allowed_tools":
            inner = _object(choice.get("allowed_tools")) or choice
            names = {_name(tool) for tool in _objects(inner.get("tools"))}
            allowed = tuple(tool for tool in offered if tool.name in names)
            return allowed, inner.get("mode") == "required"
        case _ if kind in _NAMING:
            return tuple(tool for tool in offered if tool.name == _name(choice)), True
        case _:
            # The service would run one of its own tools.
            return (), False


def _offered(reading: Reading) -> Iterator[ClientTool]:
    described = {_name(tool): tool for tool in _objects(reading.body.get("tools"))}
    legacy = {_name(tool) for tool in _objects(reading.body.get("functions"))}
    for tool in reading.tools:
        # The old form of offering functions has an old form of calls, too.
        if tool.name in legacy:
            continue
        entry = described.get(tool.name, {})
        if entry.get("type") == "custom" and reading.dialect != "messages":
            yield ClientTool(name=tool.name, schema=_text_schema(entry), form="custom")
        else:
            yield ClientTool(name=tool.name, schema=tool.schema or _ANY_OBJECT)


def _text_schema(tool: JsonObject) -> JsonObject:
    """What the text of a custom tool must be; of a grammar only regular expressions are kept."""
    form = _object((_object(tool.get("custom")) or tool).get("format"))
    grammar = _object(form.get("grammar")) or form
    if grammar.get("syntax") == "regex" and isinstance(grammar.get("definition"), str):
        return {"type": "string", "pattern": f"^(?:{grammar['definition']})$"}
    return {"type": "string"}


def _is_parallel(reading: Reading) -> bool:
    choice = _object(reading.tool_choice)
    apart = choice.get("disable_parallel_tool_use") is True
    return reading.body.get("parallel_tool_calls") is not False and not apart


def _format(reading: Reading) -> JsonObject:
    body = reading.body
    match reading.dialect:
        case "chat":
            return _object(body.get("response_format"))
        case "responses":
            return _object(_object(body.get("text")).get("format"))
        case "messages":
            return _object(_object(body.get("output_config")).get("format")) or _object(
                body.get("output_format")
            )


def _form(wanted: JsonObject) -> JsonObject | None:
    match wanted.get("type"):
        case "json_object":
            return _ANY_OBJECT
        case "json_schema":
            return _object((_object(wanted.get("json_schema")) or wanted).get("schema"))
        case _:
            return None


def _stops(reading: Reading) -> tuple[str, ...]:
    given = reading.body.get("stop_sequences" if reading.dialect == "messages" else "stop")
    listed = given if isinstance(given, list) else [given]
    return tuple(stop for stop in listed if isinstance(stop, str) and stop)


def _thinks(reading: Reading) -> bool:
    if reading.dialect == "messages":
        return _object(reading.body.get("thinking")).get("type") in ("enabled", "adaptive")
    reasoning = reading.body.get("reasoning")
    asked = reading.dialect == "responses" and isinstance(reasoning, dict)
    return asked and _object(reasoning).get("effort") not in ("none", None)


def _logprobs(reading: Reading) -> int | None:
    body = reading.body
    if reading.dialect == "chat":
        return (_first_number(body, ("top_logprobs",)) or 0) if body.get("logprobs") else None
    include = body.get("include")
    wanted = isinstance(include, list) and "message.output_text.logprobs" in include
    top = _first_number(body, ("top_logprobs",))
    return (top or 0) if reading.dialect == "responses" and (wanted or top) else None


def _first_number(body: JsonObject, keys: tuple[str, ...]) -> int | None:
    values = (body.get(key) for key in keys)
    return next((v for v in values if isinstance(v, int) and not isinstance(v, bool)), None)


def _name(tool: JsonObject) -> str:
    """The name of a tool or of a choice, which may stand in an object named by its type."""
    inner = next((tool[form] for form in _FORMS if isinstance(tool.get(form), dict)), tool)
    return str(_object(inner).get("name"))


def _object(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _objects(value: object) -> list[JsonObject]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
