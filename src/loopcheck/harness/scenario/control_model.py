"""The types of what happens to a run from outside: further messages, and `meanwhile`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BeforeValidator, Discriminator, Field, Tag

from loopcheck.harness.scenario.shapes import ByShape, Positive, Strict, Text, as_list, shape
from loopcheck.harness.scenario.stream_model import Duration

ActionWord: TypeAlias = Literal["approve", "deny", "cancel", "kill", "restart", "resume"]
OF_A_PROCESS: Final = frozenset({"kill", "restart"})


class MessageModel(Strict):
    """An entry of `turns` that is no turn: what the user says next in the same conversation, or
    the prompt of another run. Exactly one of the two."""

    user: Text | None = None
    run: Text | None = None


class EarlierModel(Strict):
    """What the user or the model said before the task. Exactly one of the two."""

    user: Text | None = None
    say: Text | None = None


class InsideModel(Strict):
    """A place in the stream: right after this text within the arguments of a call, or within
    `say` or `think`."""

    in_: Text = Field(alias="in")
    after: Text

    def __str__(self) -> str:
        return f"in {self.in_} after {self.after!r}"


class ApproveModel(Strict):
    """Approves a call, with other arguments where `args` is given; `at_once` sends the decision
    so many times in parallel."""

    approve: str
    args: dict[str, object] | None = None
    at_once: Positive = 1


class DenyModel(Strict):
    deny: str
    reason: str = ""
    at_once: Positive = 1


class AnswerModel(Strict):
    """What the person says to a tool of kind `ask`."""

    answer: object
    to: str


class ResumeModel(Strict):
    """Resumes in so many processes at once."""

    resume: Positive


ACTIONS: Final[Mapping[str, type[Strict]]] = {
    "approve": ApproveModel,
    "deny": DenyModel,
    "answer": AnswerModel,
    "resume": ResumeModel,
}


def action_key(value: object) -> str:
    """The key by which an action that is a mapping is known."""
    has = value.__contains__ if isinstance(value, Mapping) else lambda key: hasattr(value, key)
    return next((key for key in ACTIONS if has(key)), "approve")


def _action(value: object) -> str:
    return f"{{{action_key(value)}: ...}}" if shape(value) == "a mapping" else shape(value)


Action: TypeAlias = Annotated[
    Annotated[ActionWord, Tag("text")]
    | Annotated[ApproveModel, Tag("{approve: ...}")]
    | Annotated[DenyModel, Tag("{deny: ...}")]
    | Annotated[AnswerModel, Tag("{answer: ...}")]
    | Annotated[ResumeModel, Tag("{resume: ...}")],
    Discriminator(_action),
]
When: TypeAlias = Annotated[
    Annotated[str, Tag("text")] | Annotated[InsideModel, Tag("a mapping")], ByShape
]


class MeanwhileModel(Strict):
    """Once all points of `when` have passed, and then the duration on the scenario's clock, the
    actions are done in their order."""

    when: Annotated[tuple[When, ...], BeforeValidator(as_list), Field(min_length=1)]
    after: Duration | None = None
    do: Annotated[tuple[Action, ...], BeforeValidator(as_list), Field(min_length=1)]


def entry_shape(value: object) -> str:
    """Whether an entry of `turns` is a message or a turn."""
    if isinstance(value, MessageModel):
        return "a message"
    if isinstance(value, Mapping) and ("user" in value or "run" in value):
        return "a message"
    return "a turn"
