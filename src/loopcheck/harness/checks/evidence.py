"""A journal, read into the shapes that checks ask about. Pure: nothing is judged here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from loopcheck.fake_providers.script import DialectName, Mode
from loopcheck.fake_providers.wire import Item, JsonObject, OfferedTool
from loopcheck.harness.journal import Entry
from loopcheck.harness.scenario.model import Scenario

if TYPE_CHECKING:
    from loopcheck.harness.checks.conversation import Conversation


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request for a turn, or one that was refused or divergent; side requests are apart."""

    n: int
    number: int
    role: str
    turn: int | None
    attempt: int | None
    recognised: Mapping[str, object]
    items: tuple[Item, ...]
    tools: tuple[OfferedTool, ...]
    tool_choice: object
    body: object
    why: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Issued:
    """A call that a response issued. `sent` is whole, cut or none; `position` is its place among
    all pieces of the response. `approved` are the arguments that a person put in place of its
    own, `replaced` whether these are others than the target had said that it waits with."""

    attempt: int
    ordinal: int
    label: str
    tool: str
    arguments: str
    call_id: str
    sent: str
    n: int
    position: int = 0
    approved: JsonObject | None = None
    replaced: bool = False

    @property
    def name(self) -> str:
        """The label, with the attempt where it is not the first."""
        return self.label if self.attempt == 1 else f"{self.label}/{self.attempt}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """Thinking that a response issued and the client has to carry: a part that can be read, which
    is empty where it is redacted, and an opaque value."""

    text: str
    item_id: str
    seal: str
    position: int
    redacted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A response to a request for a turn. `ends` is well, marked, unmarked or failed.
    `accepted` when the loop continued from it, `odd` when the service itself would not send it.
    `usage` is what it costs in tokens, of the input and of the output; None where the journal does
    not say."""

    n: int
    request: int
    turn: int
    attempt: int
    status: int
    calls: tuple[Issued, ...]
    text: str
    refusal: str | None
    stop: str
    fault: str | None
    ends: str
    accepted: bool
    carry: tuple[Thought, ...] = ()
    usage: tuple[int, int] | None = None
    odd: bool = False

    @property
    def tokens(self) -> int:
        """All tokens of the response."""
        return sum(self.usage or ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """The entry of a tool body, with what became of it."""

    n: int
    number: int
    tool: str
    arguments: JsonObject
    label: str | None
    call_id: str | None
    operation_id: str | None
    token: str
    response: int | None = None
    ended: str | None = None
    ended_n: int | None = None
    result: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """A committed change in the world. `operation` is None where its tool has no key."""

    n: int
    execution: int
    tool: str
    arguments: JsonObject
    operation: JsonObject | None
    deduplicated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A request that the service turned down. `rule` is None where its form was wrong."""

    n: int
    request: int
    rule: str | None
    grade: str | None
    status: int
    message: str
    param: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """The world was asked what became of an operation."""

    n: int
    tool: str
    operation_id: str | None
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """The run ended in a way that no loop chose. `fault` is target, hung or harness."""

    n: int
    fault: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How the run ended, as the loop sees it."""

    n: int
    state: str
    reason: str
    text: str
    exception: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What a person said about a call: approve, deny or answer. `arguments` is what was approved,
    `pending` whether the target had said that the call waits."""

    n: int
    decide: str
    label: str
    call_id: str
    tool: str
    arguments: JsonObject
    pending: bool
    value: object = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """A target said that these calls wait for a person; the run went on, if at all, at entry
    `until`."""

    n: int
    calls: tuple[JsonObject, ...]
    until: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Everything a check may look at: the journal, the scenario, what the target declared.

    `limit_unit` is what the target's limit counts. `points` has the entry at which each point in
    time came, by name (`book.started`, and `book.started.2` for the second time); `forced`
    describes the gates that had to be let go. `ends` has for each part of the case (the prompt,
    each further message or run) the outcomes of its last leg, `told` all outcomes in order;
    `outcome` is the last of them. `legs` and `deaths` are the entries at which the case went on
    and at which a process died.
    `cancelled_n` is the entry of the user's cancellation. `traced` has the conversations once a
    check has looked at them.
    """

    scenario: Scenario
    dialect: DialectName
    mode: Mode
    can: frozenset[str]
    limit_unit: str = "rounds"
    entries: Sequence[Entry]
    requests: tuple[Request, ...]
    side: tuple[Request, ...]
    responses: tuple[Response, ...]
    executions: tuple[Execution, ...]
    effects: tuple[Effect, ...]
    refused: tuple[Refused, ...]
    lookups: tuple[Lookup, ...] = ()
    forced: tuple[str, ...] = ()
    points: Mapping[str, int] = field(default_factory=dict)
    outcome: Ended | None = None
    ends: tuple[tuple[Ended, ...], ...] = ()
    decisions: tuple[Decided, ...] = ()
    pauses: tuple[Pause, ...] = ()
    cancelled_n: int | None = None
    told: tuple[Ended, ...] = ()
    legs: tuple[int, ...] = ()
    deaths: tuple[int, ...] = ()
    broken: tuple[Broken, ...] = ()
    traced: list[Conversation] = field(default_factory=list, compare=False, repr=False)

    @property
    def last_n(self) -> int:
        """The entry that ended the case: proof of what never came."""
        if self.outcome is not None:
            return self.outcome.n
        return len(self.entries)
