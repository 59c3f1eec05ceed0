"""What a wire protocol has to offer. A new one is a package with a `DIALECT` of this kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias, TypeVar

from loopcheck.fake_providers.dialects.kept import Kept
from loopcheck.fake_providers.script import DialectName, ErrorName
from loopcheck.fake_providers.wire import (
    Answer,
    Frame,
    HttpRequest,
    JsonObject,
    Reading,
    ServiceError,
    Step,
)

ItemIdKind: TypeAlias = Literal["say", "refuse", "call", "custom", "think", "hosted"]
Key = TypeVar("Key")
Value = TypeVar("Value")
Grade: TypeAlias = Literal["R", "I", "S", "D", "unsure"]


@dataclass(slots=True)
class Memory:
    """What the service keeps between requests of one case.

    `conversations` maps a response id to the whole native conversation that ends with that
    response, and the id of a conversation object to that conversation. `settings` maps it to the
    request fields beside the conversation that a continuation may leave out. `responses` has the
    bodies of what can be retrieved, by id; `pending` tells how often one of them is still to be
    told of as unfinished, `streams` has the events of those whose stream can be taken up again.
    `compactions` maps the opaque value of a compacted conversation to what it stands for. `seals`
    maps the id of each item of thinking that was issued to its opaque value. `repeated` holds
    call ids that the fake itself issued more than once: rules on duplicate ids do not hold these
    against the client. `issued` holds all call ids and tool names that the fake itself made:
    rules on their form do not. `models` are the models that exist; where none is named, any does.
    """

    conversations: Kept[list[JsonObject]] = field(default_factory=lambda: Kept())
    settings: dict[str, JsonObject] = field(default_factory=dict)
    responses: Kept[JsonObject] = field(default_factory=lambda: Kept())
    pending: dict[str, int] = field(default_factory=dict)
    streams: dict[str, tuple[Frame, ...]] = field(default_factory=dict)
    compactions: dict[str, list[JsonObject]] = field(default_factory=dict)
    seals: dict[str, str] = field(default_factory=dict)
    repeated: set[str] = field(default_factory=set)
    issued: set[str] = field(default_factory=set)
    models: frozenset[str] = frozenset()

    def forget(self, keep: int) -> None:
        """Drops the oldest of everything until so many are left."""
        drop_oldest(self.conversations, keep)
        drop_oldest(self.settings, keep)
        drop_oldest(self.responses, keep)
        drop_oldest(self.pending, keep)
        drop_oldest(self.streams, keep)
        drop_oldest(self.compactions, keep)
        drop_oldest(self.seals, keep)
        for ids in (self.repeated, self.issued):
            while len(ids) > keep:
                ids.pop()


def drop_oldest(kept: MutableMapping[Key, Value], keep: int) -> None:
    """Leaves so many entries, the latest."""
    while len(kept) > keep:
        del kept[next(iter(kept))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule of the service about requests.

    `grade` is the evidence for it: R recorded body, I exact text in public issues, S exact text
    in public code, D documentation, or unsure. `check` gets the effective native conversation,
    the whole body and the memory, and returns the refusal or None.
    """

    id: str
    grade: Grade
    summary: str
    check: Callable[[Sequence[JsonObject], JsonObject, Memory], ServiceError | None]


class Dialect(Protocol):
    """One wire protocol, without I/O and without state of its own."""

    name: DialectName
    rules: tuple[Rule, ...]

    def base_url(self, root: str) -> str:
        """The base URL that this dialect's SDKs expect, for a server at `root`."""
        ...

    def serves(self, method: str, path: str) -> Literal["generate", "side"] | None:
        """Whether a request (path below the base) is for a turn, a side request, or neither."""
        ...

    def authenticate(self, headers: Mapping[str, str]) -> str | None:
        """The API key that was presented, or None."""
        ...

    def read(self, request: HttpRequest, memory: Memory) -> Reading:
        """The request, with stored state expanded. Raises ServiceError when it is malformed
        or names state that is not stored. Rules about histories are not checked here."""
        ...

    def whole(self, answer: Answer) -> JsonObject:
        """The body of a response that is not streamed."""
        ...

    def frames(self, answer: Answer, steps: Sequence[Step]) -> list[Frame]:
        """The event sequence: head, the steps in their order, finish and terminal events."""
        ...

    def remember(self, answer: Answer, memory: Memory) -> None:
        """Keeps what the service would keep of this response."""
        ...

    def named_error(self, name: ErrorName, reading: Reading | None) -> ServiceError:
        """The service's own words for a kind of error."""
        ...

    def error_body(self, error: ServiceError, request_id: str) -> JsonObject:
        """The body of an HTTP error."""
        ...

    def error_frames(
        self, error: ServiceError, sequence: int, *, answer: Answer | None = None
    ) -> list[Frame]:
        """The in-stream form of an error; `sequence` is the number of frames sent before.

        `answer` is the one that it strikes, for dialects whose error repeats the response."""
        ...

    def side(self, request: HttpRequest, memory: Memory | None = None) -> JsonObject:
        """A plausible answer to a side request (token counts, model lists, what is stored).
        Raises ServiceError where it asks for something that is not there."""
        ...

    def resumed(self, request: HttpRequest, memory: Memory) -> Sequence[Frame] | None:
        """The events that a side request asks for once more; None where it asks for none.
        Raises ServiceError where there are none to be had."""
        ...

    def outlives(self, reading: Reading) -> bool:
        """Whether the service goes on with the response when its connection breaks."""
        ...

    def headers(self, request_id: str, *, streamed: bool) -> tuple[tuple[str, str], ...]:
        """The response headers that the service sends beside those of the transport."""
        ...

    def call_id(self, label: str, digest: str) -> str:
        """A call id in the dialect's shape; `digest` is 64 characters of lower-case hex."""
        ...

    def response_id(self, digest: str) -> str:
        """A response id in the dialect's shape."""
        ...

    def item_id(self, kind: ItemIdKind, digest: str) -> str:
        """An output item id in the dialect's shape ("" where the dialect has none)."""
        ...

    def seal(self, digest: str, *, redacted: bool) -> str:
        """An opaque value for thinking, in the dialect's shape; stable for the digest."""
        ...

    def request_id(self, digest: str) -> str:
        """A request id in the dialect's shape."""
        ...
