"""The messages between the harness and a worker: one JSON object a line.

Commands go to the worker's stdin and answers come from its stdout. Members that are not known
here are ignored, so that either side may be newer.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from loopcheck.fake_providers.script import DialectName
from loopcheck.harness.results import TargetCard
from loopcheck.harness.task import Decide, Outcome, Pending, Permission, State, StateAt

PROTOCOL: Final = 1


class _Message(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class LimitsDocument(_Message):
    rounds: int | None = None
    tool_calls: int | None = None
    seconds: float | None = None
    tokens: int | None = None
    cost: float | None = None
    context: int | None = None
    repeats: int | None = None


class PricesDocument(_Message):
    """What tokens cost, in dollars a million."""

    input: float
    output: float


class MessageDocument(_Message):
    """Something that was said before the task began."""

    role: Literal["user", "assistant"]
    text: str


class LaneDocument(_Message):
    """A conversation to be held at the same time as the others of the run."""

    name: str
    model: str | None = None
    tools: tuple[str, ...] | None = None


class ToolDocument(_Message):
    """A tool of the world, as an endpoint. `invoke` takes the arguments as the JSON body;
    `lookup` says what became of an operation id, where the tool's system can tell."""

    name: str
    description: str = ""
    parameters: dict[str, object]
    kind: Literal["read", "write", "ask"] = "read"
    operation: tuple[str, ...] | None = None
    approval: Permission = "allow"
    deduplicates: bool = False
    invoke: str
    lookup: str | None = None


class TaskDocument(_Message):
    """The task of one case. `folder` is the run's own directory, and `run` its name, which stays
    the same when it is resumed. `follows` says that the prompt is the next message of the same
    conversation, `clock_seconds` how far the scenario's clock is ahead of the real one,
    `tool_seconds` how long a tool may take, where the scenario bounds it. `earlier` was said in
    this conversation before, and `state` says who is to keep the conversation. `lanes` are held
    beside the one that has no name."""

    case: str = ""
    dialect: DialectName
    stream: bool
    base_url: str
    api_key: str
    model: str
    prompt: str
    earlier: tuple[MessageDocument, ...] = ()
    state: StateAt = "client"
    lanes: tuple[LaneDocument, ...] = ()
    tool_choice: str = "auto"
    limits: LimitsDocument = LimitsDocument()
    prices: PricesDocument | None = None
    folder: str = ""
    run: str = "r1"
    follows: bool = False
    clock_seconds: float = 0.0
    tool_seconds: float | None = None
    openapi: str = ""
    mcp: str = ""
    own: str | None = None
    tools: tuple[ToolDocument, ...] = ()


class Hello(_Message):
    """Asks for the card; the first command."""

    cmd: Literal["hello"] = "hello"
    protocol: int = PROTOCOL
    loopcheck: str


class Run(_Message):
    """Asks for one run; whatever answers it carries the same `seq`."""

    cmd: Literal["run"] = "run"
    seq: str
    task: TaskDocument


class DecisionDocument(_Message):
    """What a person says about a call: `arguments` is what was approved, `value` the answer to a
    tool of kind `ask`."""

    call_id: str
    tool: str = ""
    arguments: dict[str, object] = {}
    decide: Decide
    reason: str = ""
    value: object = None


class Resume(_Message):
    """Asks that a run go on which was paused, or whose process died. `of` is the `seq` under
    which it was last worked on, `run` the worker's own id of it, where it gave one. With
    `cancel`, the user wants no more."""

    cmd: Literal["resume"] = "resume"
    seq: str
    of: str = ""
    run: str | None = None
    decisions: tuple[DecisionDocument, ...] = ()
    cancel: bool = False
    task: TaskDocument


class Cancel(_Message):
    """Asks that the run of that `seq` be given up; the run answers, not the request."""

    cmd: Literal["cancel"] = "cancel"
    seq: str


class Bye(_Message):
    """Ends the worker."""

    cmd: Literal["bye"] = "bye"


Command: TypeAlias = Annotated[Hello | Run | Resume | Cancel | Bye, Field(discriminator="cmd")]


class CardDocument(_Message):
    name: str
    version: str | None = None
    language: str = ""
    runtime: str = ""
    packages: dict[str, str] = {}
    dialects: tuple[str, ...]
    modes: tuple[str, ...] = ("whole", "stream")
    can: tuple[str, ...] = ()
    limit_unit: str = "rounds"

    def card(self) -> TargetCard:
        """The card as reports know it."""
        return TargetCard(**self.model_dump())


class Card(_Message):
    """The answer to hello."""

    card: CardDocument
    protocol: int


class PendingDocument(_Message):
    """A call that waits for a person."""

    call_id: str
    tool: str
    arguments: dict[str, object] = {}


class OutcomeDocument(_Message):
    """How a run ended. One that is paused names what it waits for."""

    state: State
    reason: str = ""
    text: str = ""
    exception: str | None = None
    run: str | None = None
    pending: tuple[PendingDocument, ...] = ()
    place: str | None = None

    def outcome(self) -> Outcome:
        """The outcome as the journal knows it."""
        fields = self.model_dump(exclude={"pending"})
        return Outcome(**fields, pending=tuple(Pending(**c.model_dump()) for c in self.pending))


class Ended(_Message):
    """A run ended in a way that the loop chose."""

    seq: str
    outcome: OutcomeDocument


class Skipped(_Message):
    """The worker declines a run, and says why."""

    seq: str
    skipped: str


class ErrorDocument(_Message):
    type: str
    message: str = ""


class Errored(_Message):
    """The worker itself broke. Without `seq` it answers hello: there is no target to be had."""

    seq: str | None = None
    errored: ErrorDocument


Answer: TypeAlias = Card | Ended | Skipped | Errored


@dataclass(frozen=True, slots=True)
class Malformed:
    """A line that is meant as a message and is none, with the run that it speaks of."""

    seq: str | None
    why: str


_COMMAND: Final[TypeAdapter[Command]] = TypeAdapter(Command)
_ANSWERS: Final[dict[str, type[Answer]]] = {
    "card": Card,
    "outcome": Ended,
    "skipped": Skipped,
    "errored": Errored,
}


def to_line(message: Command | Answer) -> bytes:
    """The message as one line."""
    return message.model_dump_json(exclude_none=True).encode() + b"\n"


def read_command(line: bytes) -> Command | Malformed:
    """The command on a line of a worker's stdin."""
    value = _object(line)
    if value is None:
        return Malformed(None, "a command is a JSON object")
    try:
        return _COMMAND.validate_python(value)
    except ValidationError as error:
        return Malformed(_seq(value), _first_problem(error))


def read_answer(line: bytes) -> Answer | Malformed | None:
    """The answer on a line of a worker's stdout; None for anything else that was printed."""
    value = _object(line)
    if value is None:
        return None
    kind = next((key for key in _ANSWERS if key in value), None)
    if kind is None and "seq" not in value:
        return None
    if kind is None:
        return Malformed(_seq(value), f"an answer has one of {', '.join(_ANSWERS)}")
    try:
        return _ANSWERS[kind].model_validate(value)
    except ValidationError as error:
        return Malformed(_seq(value), _first_problem(error))


def well_formed(text: str) -> str:
    """The text with half surrogates replaced, which models do write and no encoding takes."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _object(line: bytes) -> dict[str, object] | None:
    try:
        value = json.loads(line)
        value = json.loads(well_formed(json.dumps(value, ensure_ascii=False)))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _seq(value: dict[str, object]) -> str | None:
    seq = value.get("seq")
    return seq if isinstance(seq, str) else None


def _first_problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, problem["loc"]))
    return f"{place}: {problem['msg']}" if place else problem["msg"]
