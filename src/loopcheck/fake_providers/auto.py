"""A provider without a script: it answers any request plausibly, and the same request alike.

A token is four characters here, in counts and in limits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from loopcheck.fake_providers.amending import amended
from loopcheck.fake_providers.dialects import dialect
from loopcheck.fake_providers.ids import digest
from loopcheck.fake_providers.provider import LONG_LIVED, Provider, nothing
from loopcheck.fake_providers.script import (
    Attempt,
    Call,
    Content,
    Delivery,
    DialectName,
    Say,
    Script,
    Think,
    Turn,
    Usage,
    answer,
)
from loopcheck.fake_providers.sse import compact
from loopcheck.fake_providers.wire import HttpRequest, Item, JsonObject, Reading, Reply
from loopcheck.fake_providers.wishes import TOKEN_SIZE, ClientTool, Wish, wish

Values: TypeAlias = Callable[[JsonObject, int], object]

_CLOSINGS: Final = (
    "That is all I can say.",
    "I hope that helps.",
    "This is a plausible answer.",
    "Thank you for asking.",
)
_THOUGHT: Final = "I consider what was asked, and what the tools can do about it."
_QUOTED: Final = 160
# Thinking takes at most this part of the tokens, and then all that it has to say.
_THINKING_PART: Final = 4
_REMEMBERED: Final = 3
# Of so many answers with several tools at hand, all but one call two of them.
_ALONE: Final = 4
_NOT_THE_REQUEST: Final = ("stream", "stream_options")


class NoValueError(Exception):
    """No value satisfies a schema, as far as could be found out. Says whose schema, and why."""


class AutoProvider:
    """One service that improvises.

    `values` makes a value for a JSON Schema from a seed, or raises NoValueError. `off` and `on`
    name request rules, as in a scripted provider.
    """

    def __init__(
        self,
        name: DialectName,
        *,
        values: Values,
        seed: int = 0,
        off: frozenset[str] = frozenset(),
        on: frozenset[str] = frozenset(),
    ) -> None:
        self._values = values
        self._seed = seed
        self._dialect = dialect(name)
        self._asked: tuple[Wish, str | None] = (Wish(), None)
        said = Turn(number=1, attempts=(answer([Say("OK")]),))
        self._provider = Provider(
            script=Script(turns=(said,), otherwise=(said,), prompt=None),
            dialect=name,
            mode="whole",
            seed=seed,
            record=nothing,
            off=off,
            on=on,
            improvise=self._turn,
            keep=LONG_LIVED,
        )

    def handle(self, request: HttpRequest) -> Reply:
        """Answers one request."""
        self._asked = (Wish(), None)
        reply = self._provider.handle(request)
        asked, stop = self._asked
        return amended(reply, asked, stop, self._dialect.name)

    def _turn(self, reading: Reading) -> Turn:
        """The turn whose number stands for the request, whether or not it is streamed."""
        told = {key: value for key, value in reading.body.items() if key not in _NOT_THE_REQUEST}
        mark = int(digest(self._seed, reading.dialect, compact(told))[:12], 16)
        wanted = wish(reading)
        try:
            content = self._content(reading, wanted, mark)
        except NoValueError as error:
            refusal = self._dialect.named_error("server", reading)
            raise replace(refusal, message=f"loopcheck serve: {error}") from None
        attempt, stop = _bounded(reading, content, wanted)
        self._asked = (wanted, stop)
        return Turn(number=mark, attempts=(attempt,))

    def _content(self, reading: Reading, wanted: Wish, mark: int) -> list[Content]:
        thought: list[Content] = [Think(_THOUGHT)] if _has_time_to_think(wanted) else []
        ends_with_results = bool(reading.items) and reading.items[-1].kind == "result"
        if wanted.tools and (wanted.forced or not ends_with_results):
            try:
                return [*thought, *self._calls(wanted, mark)]
            except NoValueError:
                if wanted.forced:
                    raise
        return [*thought, Say(self._text(reading.items, wanted, mark))]

    def _calls(self, wanted: Wish, mark: int) -> Iterator[Call]:
        count = len(wanted.tools)
        first = mark % count
        chosen = [wanted.tools[first]]
        if wanted.parallel and count > 1 and mark // count % _ALONE:
            chosen.append(wanted.tools[(first + 1) % count])
        for position, tool in enumerate(chosen, 1):
            yield self._call(tool, position, mark)

    def _call(self, tool: ClientTool, position: int, mark: int) -> Call:
        value = self._value(tool.schema, mark + position, f"the tool {tool.name!r}")
        text = str(value) if tool.form == "custom" else compact(value)
        return Call(label=f"auto{position}", tool=tool.name, arguments=text, form=tool.form)

    def _text(self, items: Sequence[Item], wanted: Wish, mark: int) -> str:
        said = f"{_echo(items)} {_CLOSINGS[mark % len(_CLOSINGS)]}"
        if wanted.form is None:
            return said
        if set(wanted.form) <= {"type"}:
            return compact({"answer": said})
        return compact(self._value(wanted.form, mark, "the answer"))

    def _value(self, schema: JsonObject, seed: int, whose: str) -> object:
        try:
            return self._values(schema, seed)
        except NoValueError as error:
            raise NoValueError(f"no value found for the schema of {whose}: {error}") from None


def _has_time_to_think(wanted: Wish) -> bool:
    limit = wanted.tokens
    return wanted.thinks and (limit is None or limit >= _THINKING_PART * _tokens(len(_THOUGHT)))


def _echo(items: Sequence[Item]) -> str:
    """What the tools returned since the model spoke last, or what was said to it last."""
    results: list[str] = []
    for item in reversed(items):
        if item.kind != "result":
            break
        results.insert(0, _quoted(item.text))
    if results:
        return f"The tools returned {', '.join(results)}."
    said = [_quoted(item.text) for item in items if item.kind == "user"][-_REMEMBERED:]
    return f"You said {', and then '.join(said)}." if said else "Nothing was said."


def _quoted(text: str) -> str:
    plain = " ".join(text.split())
    return f'"{plain if len(plain) <= _QUOTED else plain[:_QUOTED] + "…"}"'


def _bounded(
    reading: Reading, content: Sequence[Content], wanted: Wish
) -> tuple[Attempt, str | None]:
    """The answer within its token limit and before its first stop sequence, and that sequence."""
    spoken, stop = _stopped(content, wanted.stops)
    kept, is_cut = _cut(spoken, wanted.tokens)
    if is_cut:
        stop = None
    undisturbed = answer(kept, stop="length" if is_cut else None)
    heard = sum(len(item.text) + len(item.arguments or "") for item in reading.items)
    thought = sum(len(piece.text) for piece in kept if isinstance(piece, Think))
    usage = Usage(
        input=_tokens(heard) + 8,
        output=sum(_tokens(len(_said(piece))) for piece in kept),
        reasoning=_tokens(thought),
    )
    delivery = Delivery(fragments=TOKEN_SIZE)
    return Attempt(
        content=undisturbed.content, stop=undisturbed.stop, usage=usage, delivery=delivery
    ), stop


def _tokens(size: int) -> int:
    return -(-size // TOKEN_SIZE)


def _said(piece: Content) -> str:
    match piece:
        case Call():
            return piece.arguments
        case Say() | Think():
            return piece.text
        case _:
            return ""


def _stopped(content: Sequence[Content], stops: Sequence[str]) -> tuple[list[Content], str | None]:
    """The content up to the stop sequence that comes first in its text."""
    kept: list[Content] = []
    for piece in content:
        text = piece.text if isinstance(piece, Say) else ""
        found = sorted((text.index(stop), stop) for stop in stops if stop in text)
        if found:
            place, stop = found[0]
            return [*kept, Say(text[:place])], stop
        kept.append(piece)
    return kept, None


def _cut(content: Sequence[Content], limit: int | None) -> tuple[list[Content], bool]:
    """As much of the content as the limit allows, and whether anything is missing."""
    if limit is None:
        return list(content), False
    kept: list[Content] = []
    left = limit * TOKEN_SIZE
    for piece in content:
        text = _said(piece)
        if len(text) <= left:
            kept.append(piece)
            left -= _tokens(len(text)) * TOKEN_SIZE
            continue
        if left:
            kept.append(_shortened(piece, text[:left]))
        return kept, True
    return kept, False


def _shortened(piece: Content, text: str) -> Content:
    match piece:
        case Call():
            return Call(label=piece.label, tool=piece.tool, arguments=text, form=piece.form)
        case Think():
            return Think(text)
        case _:
            return Say(text)
