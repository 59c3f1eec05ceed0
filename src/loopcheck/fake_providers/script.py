"""What a fake provider is told to say, free of any wire protocol.

A script is compiled for one dialect and one mode before it gets here: per-dialect values are
already chosen, and every attempt carries its whole content. Everything is immutable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias

DialectName: TypeAlias = Literal["responses", "chat", "messages"]
Mode: TypeAlias = Literal["whole", "stream"]
Stop: TypeAlias = Literal["end", "calls", "length", "filter", "refusal", "context", "pause"]

EarlierText: TypeAlias = tuple[Literal["user", "assistant"], str]

DIALECTS: Final[tuple[DialectName, ...]] = ("responses", "chat", "messages")
MODES: Final[tuple[Mode, ...]] = ("whole", "stream")


@dataclass(frozen=True, slots=True)
class Say:
    """Visible text of the model."""

    text: str


@dataclass(frozen=True, slots=True)
class Refuse:
    """A refusal in the dialect's own form; the text may be empty."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call the model proposes.

    `arguments` is the exact text that goes on the wire, which may be cut or wrong. A wire id is
    derived from the label unless `wire_id` gives one (which may be empty).
    """

    label: str
    tool: str
    arguments: str
    wire_id: str | None = None
    form: Literal["function", "custom"] = "function"


@dataclass(frozen=True, slots=True)
class Think:
    """Thinking or reasoning that the client may see and has to carry; `redacted` is opaque."""

    text: str = ""
    redacted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosted:
    """A tool call that the service runs itself; the loop must neither run nor answer it.

    `kind` is its type on the wire, such as `web_search_call`, `mcp_call` or `web_search`.
    `result` is what the service found, None while it has not run. Where a result stands at a
    place of its own, it is the result of the call named by `of`.
    """

    label: str
    kind: str
    name: str
    arguments: str = "{}"
    result: object = None
    of: str | None = None


Content: TypeAlias = Say | Refuse | Call | Think | Hosted


@dataclass(frozen=True, slots=True)
class Quirk:
    """A named deviation of the event stream, with its value (True where it takes none)."""

    name: str
    value: object = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Token counts that the response reports."""

    input: int
    output: int
    reasoning: int = 0


Fragments: TypeAlias = Literal["whole", "char", "seeded", "escapes"] | int
Interleave: TypeAlias = bool | Literal["seeded"] | tuple[str, ...]
Segments: TypeAlias = Literal["frame", "all", "byte", "seeded", "utf8", "crlf"] | int


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """How the same content becomes bytes; none of it changes what was said.

    `pieces` lists the fragments of a call's arguments by label and wins over `fragments`.
    `segments` says how the body is divided into writes to the socket.
    `comments` and `pings` come after every n-th frame; 0 means none. `pauses` are milliseconds
    for which nothing is written at a place; `marks` name places at which something else happens
    when they are reached, and the writing waits for a moment.
    """

    fragments: Fragments = "seeded"
    pieces: tuple[tuple[str, tuple[str, ...]], ...] = ()
    interleave: Interleave = False
    segments: Segments = "frame"
    newline: Literal["lf", "crlf"] = "lf"
    comments: int = 0
    pings: int = 0
    data_lines: int = 1
    space: bool = True
    keep_alive: bool = True
    bom: bool = False
    pauses: tuple[tuple[Place, int], ...] = ()
    marks: tuple[tuple[Place, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A place in the body of a response; the first field that is set says which.

    `frame`: before the n-th frame (from 1), the frame with the stop reason (`finish`) or the
    last one (`terminal`). `inside`: within the arguments of that call label, or of `say`, right
    after the text `after` or after `size` bytes. `before`, `behind`: the call's first or last
    event. `size` alone: after n bytes of the body. `start`: before the first frame; `end`: after
    the last.
    """

    frame: int | Literal["finish", "terminal"] | None = None
    inside: str | None = None
    after: str | None = None
    before: str | None = None
    behind: str | None = None
    size: int | None = None
    edge: Literal["start", "end"] | None = None


ErrorForm: TypeAlias = Literal["error", "with-choices", "finish", "failed"]
FaultKind: TypeAlias = Literal[
    "http",
    "close",
    "headers-only",
    "empty",
    "error-body",
    "eof",
    "half-chunk",
    "reset",
    "stall",
    "error-event",
]
ErrorName: TypeAlias = Literal[
    "invalid",
    "auth",
    "not_found",
    "conflict",
    "timeout",
    "rate_limit",
    "quota",
    "server",
    "unavailable",
    "overloaded",
    "context",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What goes wrong with one response, and where.

    `error` is rendered in the dialect's own status, type and words; `status` overrides its
    status. `retry_after_ms` is announced to the client, as a date where `retry_after_date` says
    so; it is never slept. `terminal` lets an empty answer have its last event. `form` picks one
    of the forms that an error in a stream has; None is the service's own.
    """

    kind: FaultKind
    at: Place = field(default_factory=lambda: Place(frame="finish"))
    error: ErrorName = "server"
    status: int | None = None
    retry_after_ms: int | None = None
    retry_after_date: bool = False
    headers: tuple[tuple[str, str], ...] = ()
    body: str | None = None
    then: Literal["eof", "reset", "stall"] = "eof"
    terminal: bool = False
    form: ErrorForm | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One complete answer to one request for a turn.

    `times` is how often in a row it is given, unless `until` names a point in time: then it is
    given until that has passed. The last attempt of a turn repeats for ever, whatever it says.
    `raw` replaces the rendered events (by events as mappings, or by bytes),
    `raw_body` the body of a whole response; the content still says what was proposed.
    """

    content: tuple[Content, ...] = ()
    stop: Stop = "end"
    usage: Usage | None = None
    delivery: Delivery = field(default_factory=Delivery)
    fault: Fault | None = None
    times: int = 1
    until: str | None = None
    quirks: tuple[Quirk, ...] = ()
    raw: tuple[object, ...] | bytes | None = None
    raw_body: object = None

    @property
    def calls(self) -> tuple[Call, ...]:
        return tuple(item for item in self.content if isinstance(item, Call))

    @property
    def text(self) -> str:
        return "".join([item.text for item in self.content if isinstance(item, Say)])

    @property
    def refusal(self) -> str | None:
        for item in self.content:
            if isinstance(item, Refuse):
                return item.text
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One scripted model response, with what each request for it gets.

    Beyond the script, one with a `tool_choice` (auto, required, none or a tool) answers the
    requests that ask for that, and no others.
    """

    number: int
    attempts: tuple[Attempt, ...]
    optional: bool = False
    must_reach: bool = False
    tool_choice: str | None = None

    def next_attempt(
        self, passed: Callable[[str], bool], *, position: int = 0, given: int = 0
    ) -> int:
        """The position of the attempt that the next request for this turn gets, when the latest
        one is at `position` and was given so many times; `passed` tells whether a point in time
        has passed."""
        if position >= len(self.attempts):  # beyond the script, another turn was asked for before
            position, given = 0, 0
        while position < len(self.attempts) - 1:
            attempt = self.attempts[position]
            until = attempt.until
            goes_on = given < attempt.times if until is None else not passed(until)
            if goes_on:
                break
            position, given = position + 1, 0
        return position

    @property
    def calls(self) -> tuple[Call, ...]:
        """Every call that any attempt of this turn proposes."""
        return tuple(call for attempt in self.attempts for call in attempt.calls)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One part of a script, which the prompt, a further message or another run begins.

    Its turns are those from `first` to `last`, none where `last` is smaller. `text` begins it;
    where that is None, any request does. `fresh` says that it has a history of its own.
    """

    number: int
    text: str | None
    first: int
    last: int
    fresh: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A conversation beside the others of a run, whose turns are those from `first` to `last`.

    It is asked in by requests for a model of this name (a glob) that offer, of the script's tools,
    just these; where one of the two is None, by the other alone.
    """

    name: str
    first: int
    last: int
    model: str | None = None
    tools: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """All turns of a case, and what answers requests beyond them, in rotation, for ever.

    A request begins the task when it holds `prompt`; where that is None, any request does.
    `later` are the parts behind the first. `earlier` was said in the conversation before, each
    by the user or the assistant. `lanes` are the conversations that go on at the same time, whose
    turns stand behind all others.
    """

    turns: tuple[Turn, ...]
    otherwise: tuple[Turn, ...]
    prompt: str | None
    tools: tuple[str, ...] = ()
    later: tuple[Section, ...] = ()
    earlier: tuple[EarlierText, ...] = ()
    lanes: tuple[Lane, ...] = ()

    @property
    def sections(self) -> tuple[Section, ...]:
        """The parts of the script, the one that the prompt begins first, and the lanes last."""
        last = len(self.turns) if not self.lanes else self.lanes[0].first - 1
        last = self.later[0].first - 1 if self.later else last
        first = Section(number=0, text=self.prompt, first=1, last=last)
        lanes = (
            Section(number=number, text=None, first=lane.first, last=lane.last)
            for number, lane in enumerate(self.lanes, 1 + len(self.later))
        )
        return (first, *self.later, *lanes)

    def turn(self, number: int, *, tool_choice: str = "auto") -> Turn:
        """The turn with this number, counted from 1; never fails for positive numbers. Beyond the
        script it is the next of those that answer requests with this tool choice."""
        if number < 1:
            raise ValueError(f"turns are numbered from 1, not {number}")
        if number <= len(self.turns):
            return self.turns[number - 1]
        fitting = [turn for turn in self.otherwise if turn.tool_choice == tool_choice]
        rotation = fitting or [turn for turn in self.otherwise if turn.tool_choice is None]
        extra = self._beyond(number) // len(self.sections) % len(rotation)
        return replace(rotation[extra], number=number)

    def after(self, latest: int, section: Section) -> int:
        """The number of the turn behind the latest one that was recognised, in this part. Turns
        beyond the script are numbered on, in turn for each part."""
        beyond = latest > len(self.turns)
        if beyond and self._beyond(latest) % len(self.sections) == section.number:
            return latest + len(self.sections)
        following = latest + 1 if section.first <= latest and not beyond else section.first
        if following <= section.last:
            return following
        return len(self.turns) + 1 + section.number

    def section_of(self, number: int) -> int:
        """The number of the part that this turn belongs to."""
        if number > len(self.turns):
            return self._beyond(number) % len(self.sections)
        return next(s.number for s in self.sections if s.first <= number <= s.last)

    def _beyond(self, number: int) -> int:
        return number - len(self.turns) - 1


def answer(content: Sequence[Content], *, stop: Stop | None = None) -> Attempt:
    """An undisturbed answer; it stops for calls when it holds any, unless told otherwise."""
    if stop is None:
        if any(isinstance(item, Call) for item in content):
            stop = "calls"
        elif any(isinstance(item, Refuse) for item in content):
            stop = "refusal"
        else:
            stop = "end"
    return Attempt(content=tuple(content), stop=stop)
