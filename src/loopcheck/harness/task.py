"""What a loop on trial is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from loopcheck.fake_providers.script import DialectName
from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.prices import Prices
from loopcheck.harness.stop import Stop

if TYPE_CHECKING:
    from loopcheck.harness.world.own_tools import Recorder

State: TypeAlias = Literal["completed", "refused", "limit", "failed", "paused", "cancelled"]
STATES: tuple[State, ...] = ("completed", "refused", "limit", "failed", "paused", "cancelled")
Permission: TypeAlias = Literal["allow", "ask", "disabled"]
Decide: TypeAlias = Literal["approve", "deny", "answer"]
StateAt: TypeAlias = Literal["client", "server"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits that the scenario hands to the target; None where it sets none.

    `tokens` and `cost` (in dollars) are those of all responses together, `context` the tokens of
    the last one; `repeats` is how often in a row the same calls are carried out.
    """

    rounds: int | None = None
    tool_calls: int | None = None
    seconds: float | None = None
    tokens: int | None = None
    cost: float | None = None
    context: int | None = None
    repeats: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """Something that was said before the task began."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A conversation of its own, held at the same time as the others of the run: with the same
    prompt, and with this model and these tools where they are named."""

    name: str
    model: str | None = None
    tools: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool of the simulated world, in whatever form a loop wants it.

    `function` is a real function with signature, annotations and docstring, for frameworks that
    introspect; it is a coroutine function where the target is one. `call` and `acall` take the
    arguments as a mapping, and, where the loop knows them, the wire call id and the operation
    id. All of them return the result as text and raise what the world's tool raises.

    `approval` is the policy that the loop is told: `ask` wants a person's decision for each call,
    `disabled` is never run. A tool of kind `ask` has no body: its result is what a person
    answers. `operation` names the arguments that make two calls the same business action, and
    `look_up` says what became of an operation id, where the system behind the tool can tell:
    `{"status": "found", "result": ...}`, `absent` or `inconclusive`. `deduplicates` says that the
    system does nothing for an operation id that it has seen.
    """

    name: str
    description: str
    parameters: JsonObject
    kind: Literal["read", "write", "ask"]
    operation: tuple[str, ...] | None = None
    approval: Permission = "allow"
    look_up: Callable[[str], JsonObject] | None = None
    deduplicates: bool = False
    function: Callable[..., object]
    call: Callable[..., str]
    acall: Callable[..., Awaitable[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """A call that waits for a person: one that needs an approval, or one that a person answers."""

    call_id: str
    tool: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a person says about a call.

    `arguments` is what was approved, which may differ from what was asked; `value` is the answer
    to a tool of kind `ask`. The call may be one that does not wait at all.
    """

    call_id: str
    tool: str
    arguments: JsonObject
    decide: Decide
    reason: str = ""
    value: object = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume:
    """How a run goes on that was paused, or whose process died.

    `run` is the id that its paused outcome gave, None where none was heard; the run's folder and
    its `Task.run` are those of before. `decisions` may be empty.
    """

    run: str | None
    decisions: tuple[Decision, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task for the loop on trial.

    `base_url` is what the dialect's own SDK expects (with `/v1` for OpenAI's, without for
    Anthropic's). `tools` are callables, `specs` the same tools with name, schema and both kinds
    of call. `folder` is a directory of this run for whatever the loop wants to keep.

    `run` names the run within its case: it stays the same when the run is resumed, and when
    `follows` says that the prompt is the next message of the same conversation. `resume` is None
    for a fresh run. `stop` says when the user wants no more, and `clock_seconds` how far the
    scenario's clock is ahead of the real one. `tool_seconds` is how long a tool may take before it
    is given up, where the scenario wants that (`needs: [tool_timeout]`). `earlier` is what was said
    in this conversation before the task, and `state` who is to keep it: the client, or the server
    (`previous_response_id`, a conversation, a thread). `prices` are what a limit on cost counts
    with. `lanes` are conversations to be held at the same time, beside the one that has no name.
    `openapi` and `mcp` are
    where the same tools are served as HTTP operations and by the Model Context Protocol.
    """

    case: str
    dialect: DialectName
    stream: bool
    base_url: str
    api_key: str
    model: str
    prompt: str
    earlier: tuple[Message, ...] = ()
    state: StateAt = "client"
    lanes: tuple[Lane, ...] = ()
    specs: tuple[Tool, ...] = ()
    limits: Limits = field(default_factory=Limits)
    prices: Prices = field(default_factory=Prices)
    tool_choice: str = "auto"
    folder: Path = field(default_factory=Path)
    run: str = "r1"
    follows: bool = False
    resume: Resume | None = None
    stop: Stop = field(default_factory=Stop)
    clock_seconds: float = 0.0
    tool_seconds: float | None = None
    openapi: str = ""
    mcp: str = ""
    recorder: Recorder | None = None

    def record(self, functions: Iterable[Callable[..., object]]) -> list[Callable[..., object]]:
        """The loop's own tools, with their executions counted: a function that has the name of a
        scenario's tool is taken for it, and the world is the system behind it."""
        from loopcheck.harness.world.own_tools import recorded  # the world builds on this module

        if self.recorder is None:
            return list(functions)
        schemas = {spec.name: spec.parameters for spec in self.specs}
        return [
            recorded(one, self.recorder, lambda tool: schemas.get(tool, {})) for one in functions
        ]

    @property
    def messages(self) -> list[dict[str, str]]:
        """The prompt, behind what was said earlier, in the form that every SDK takes. Where the
        prompt follows in a conversation that goes on, it stands alone."""
        said = () if self.follows else self.earlier
        before = [{"role": message.role, "content": message.text} for message in said]
        return [*before, {"role": "user", "content": self.prompt}]

    @property
    def tools(self) -> list[Callable[..., object]]:
        """The tools as functions, in the scenario's order."""
        return [spec.function for spec in self.specs]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a run ended, as the loop sees it. Each state but `completed` wants a reason.

    A paused one names what it waits for, and may give its own id of the run. `place` is the line
    that the exception came from.
    """

    state: State
    reason: str = ""
    text: str = ""
    exception: str | None = None
    run: str | None = None
    pending: tuple[Pending, ...] = ()
    place: str | None = field(default=None, compare=False)


def final(text: str | None) -> Outcome:
    """A run that ended with the model's final answer."""
    return Outcome(state="completed", reason="final_answer", text=text or "")


def ended(state: State, reason: str, *, text: str | None = None) -> Outcome:
    """A run that ended in any other way that the loop can name."""
    return Outcome(state=state, reason=reason, text=text or "")


def paused(
    reason: str = "awaiting_approval", *, pending: Iterable[Pending] = (), run: str | None = None
) -> Outcome:
    """A run that waits for a person, and goes on when it is resumed."""
    return Outcome(state="paused", reason=reason, run=run, pending=tuple(pending))


Ends: TypeAlias = Mapping[type[BaseException], State]
