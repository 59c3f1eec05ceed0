"""The values that pass between the stages of a fake provider; none of them does I/O.

Nobody changes one. What each request makes anew is not frozen all the same: to make a frozen
value takes three times as long.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from loopcheck.fake_providers.script import DialectName, Refuse, Say, Stop, Usage

JsonObject: TypeAlias = dict[str, object]


@dataclass(slots=True, kw_only=True)
class HttpRequest:
    """A request as the transport read it. Header names are lower case.

    `left` is done as soon as the client has closed its connection, where the transport can tell.
    """

    method: str
    path: str
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    left: Future[None] | None = field(default=None, compare=False, repr=False)


ItemKind: TypeAlias = Literal[
    "system", "user", "say", "refusal", "think", "call", "result", "other"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One entry of a conversation, free of dialect.

    `path` points into the request or, for what the service stored, into the stored
    conversation; `origin` says which. `arguments` is the text on the wire (for `messages`, the
    compact JSON of the object). `reply` numbers the model responses of the conversation from 0;
    it is None for everything that no model said. `item_id` is the id that thinking or a call has
    beside its call id, `seal` the opaque value of thinking; None where the dialect has none, or
    it was left out.
    """

    kind: ItemKind
    path: str
    origin: Literal["sent", "stored"] = "sent"
    text: str = ""
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None
    is_error: bool | None = None
    reply: int | None = None
    item_id: str | None = None
    seal: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedTool:
    """A tool as the request describes it to the model."""

    name: str
    schema: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A request that the service accepted as well formed.

    `history` is the effective conversation in the dialect's own items, stored ones included;
    `items` is the same, neutral. `self_contained` says that it does not depend on what the
    service remembers.
    """

    dialect: DialectName
    model: str
    stream: bool
    items: tuple[Item, ...]
    history: Sequence[JsonObject]
    tools: tuple[OfferedTool, ...]
    body: JsonObject
    tool_choice: object = None
    previous: str | None = None
    self_contained: bool = field(default=False, compare=False)

    @property
    def include_usage(self) -> bool:
        options = self.body.get("stream_options")
        return isinstance(options, dict) and options.get("include_usage") is True


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedCall:
    """A call with the ids it has on the wire. `item_id` is used by `responses` only."""

    label: str
    tool: str
    arguments: str
    call_id: str
    item_id: str
    form: Literal["function", "custom"] = "function"


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedThought:
    """Thinking with the opaque value that must come back unchanged: a signature, encrypted
    content, or the data of a redacted block."""

    text: str
    redacted: bool
    item_id: str
    seal: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedHosted:
    """A call that the service runs itself. With `of`, only the result of that earlier call."""

    label: str
    kind: str
    name: str
    arguments: str
    result: object
    call_id: str
    item_id: str
    of: str | None = None


Piece: TypeAlias = Say | Refuse | IssuedCall | IssuedThought | IssuedHosted


@dataclass(slots=True, kw_only=True)
class Answer:
    """A turn's answer, ready to be rendered: every id and time is chosen.

    `content` is in order; `item_ids` has one id for each piece.
    """

    response_id: str
    item_ids: tuple[str, ...]
    model: str
    created: int
    content: tuple[Piece, ...]
    stop: Stop
    usage: Usage
    reading: Reading
    calls: tuple[IssuedCall, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        self.calls = tuple([piece for piece in self.content if isinstance(piece, IssuedCall)])


@dataclass(frozen=True, slots=True)
class Open:
    """The piece at this position of `Answer.content` begins."""

    index: int


@dataclass(frozen=True, slots=True)
class Fragment:
    """The next fragment of that piece's text or arguments."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class Close:
    """That piece is complete."""

    index: int


Step: TypeAlias = Open | Fragment | Close

Part: TypeAlias = Literal[
    "head", "open", "fragment", "close", "finish", "usage", "terminal", "error", "ping"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One server-sent event before framing.

    `data` is a JSON object, or literal text (`[DONE]`), or "" for none. `label` names the call,
    or `say`, that an open, fragment or close frame belongs to; `text` is the fragment it carries.
    """

    data: JsonObject | str
    event: str | None = None
    part: Part = "head"
    label: str | None = None
    text: str = ""


@dataclass(slots=True, kw_only=True)
class ServiceError(Exception):
    """A refusal by the service: an HTTP error in the dialect's own words.

    `rule` is the id of the request rule that was broken, when one was; `path` points at the
    place in the request. `retry_after_ms` becomes `retry-after-ms` and `retry-after`.
    """

    status: int
    type: str
    message: str
    code: str | None = None
    param: str | None = None
    rule: str | None = None
    retry_after_ms: int | None = None
    details: JsonObject | None = None


Ending: TypeAlias = Literal["complete", "half-chunk", "reset", "stall", "close"]


@dataclass(slots=True, kw_only=True)
class Reply:
    """What the transport writes. `segments` are written one by one; `ending` says what follows.

    `complete` ends the body properly (also when events are missing from it), `half-chunk` sends
    FIN inside a chunk, `reset` an RST, `stall` waits until the client closes or the case ends,
    `close` closes the connection without any answer. `pauses` has the milliseconds to wait before
    the segment with that index. `reached` is called with the index of each segment once it was
    written, and `finished` with how the writing ended, once.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    segments: tuple[bytes, ...]
    streamed: bool = False
    ending: Ending = "complete"
    keep_alive: bool = True
    pauses: Mapping[int, int] = field(default_factory=dict)
    reached: Callable[[int], None] | None = None
    finished: Callable[[Literal["written", "client-closed"]], None] | None = None
