"""What is on trial, and how a user declares it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from loopcheck.fake_providers.script import DIALECTS, MODES, DialectName, Mode
from loopcheck.harness.raised import place
from loopcheck.harness.task import STATES, Ends, Outcome, State, Task

if TYPE_CHECKING:
    from loopcheck.harness.results import TargetCard
    from loopcheck.harness.targets.driven import AdapterFactory

CAPABILITIES: Final = (
    "approval",
    "input",
    "resume",
    "cancel",
    "follow_up",
    "parallel",
    "limits",
    "tool_call_limit",
    "token_limit",
    "cost_limit",
    "context_limit",
    "repeat_limit",
    "operation_ids",
    "validates",
    "tool_timeout",
    "reports_effects",
    "hosted",
    "thinking",
    "images",
    "earlier",
    "server_state",
    "lanes",
)

LoopFunction: TypeAlias = Callable[[Task], Outcome] | Callable[[Task], Awaitable[Outcome]]


class TargetError(Exception):
    """A target is described or built wrongly. The message says what, where and how to mend it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A loop on trial, with what it declares about itself.

    `limit_unit` is what its limit on rounds counts: `rounds` (model responses), `tool_rounds`
    (those with calls), `requests`, or, where it is something else, a word for that.
    """

    name: str
    function: LoopFunction
    dialects: tuple[DialectName, ...]
    modes: tuple[Mode, ...]
    can: frozenset[str] = frozenset()
    ends: Ends = field(default_factory=dict)
    packages: tuple[str, ...] = ()
    version: str | None = None
    limit_unit: str = "rounds"

    @property
    def is_async(self) -> bool:
        return inspect.iscoroutinefunction(self.function)

    def __call__(self, task: Task) -> Outcome | Awaitable[Outcome]:
        return self.function(task)

    def card(self) -> TargetCard:
        """The card that reports show, with the versions of the packages it names."""
        import platform
        from importlib import metadata

        from loopcheck.harness.results import TargetCard

        versions: dict[str, str] = {}
        for package in self.packages:
            try:
                versions[package] = metadata.version(package)
            except metadata.PackageNotFoundError:
                versions[package] = "not installed"
        return TargetCard(
            name=self.name,
            version=self.version,
            runtime=f"python {platform.python_version()}",
            packages=versions,
            dialects=self.dialects,
            modes=self.modes,
            can=tuple(sorted(self.can)),
            limit_unit=self.limit_unit,
        )


def outcome_of(error: BaseException, ends: Ends) -> Outcome:
    """The outcome that an exception stands for: the one that `ends` maps its class (or a class
    above it) to, else `failed` with the class as the reason, which is a named end, no defect."""
    name = type(error).__name__
    states: list[State] = [state for kind, state in ends.items() if isinstance(error, kind)]
    state: State = states[0] if states else "failed"
    return Outcome(state=state, reason=name, text=str(error), exception=name, place=place(error))


def cut_short(error: asyncio.CancelledError, task: Task, ends: Ends) -> Outcome:
    """The outcome of a target that a cancellation went through: the user's, where one was asked
    for, else one of its own making."""
    if task.stop.requested:
        return Outcome(state="cancelled", reason="cancelled_by_user")
    return outcome_of(error, ends)


def _one_of(what: str, given: Iterable[str], known: Iterable[str], name: str) -> None:
    from difflib import get_close_matches

    known = tuple(known)
    for value in given:
        if value not in known:
            close = get_close_matches(value, known, 1)
            hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
            raise TargetError(f"target {name!r}: unknown {what} {value!r}; {hint}")


def loop(
    *,
    dialects: Iterable[DialectName],
    modes: Iterable[Mode] = MODES,
    can: Iterable[str] = (),
    ends: Mapping[type[BaseException], State] | None = None,
    name: str | None = None,
    packages: Iterable[str] = (),
    version: str | None = None,
    limit_unit: str = "rounds",
) -> Callable[[LoopFunction], Target]:
    """Declares a function that takes a Task and returns an Outcome as a target.

    `ends` maps exceptions of the framework to outcomes; any other exception is the outcome
    `failed` with its class as the reason. `packages` are distributions whose versions belong in
    the report. Raises TargetError at once for words that do not exist.
    """

    dialect_names, mode_names, capabilities = tuple(dialects), tuple(modes), tuple(can)

    def declare(function: LoopFunction) -> Target:
        target_name = name or str(getattr(function, "__name__", "target"))
        _one_of("dialect", dialect_names, DIALECTS, target_name)
        _one_of("mode", mode_names, MODES, target_name)
        _one_of("capability", capabilities, CAPABILITIES, target_name)
        _one_of("outcome in ends", (ends or {}).values(), STATES, target_name)
        if not dialect_names:
            raise TargetError(f"target {target_name!r}: dialects is empty; name at least one")
        return Target(
            name=target_name,
            function=function,
            dialects=dialect_names,
            modes=mode_names,
            can=frozenset(capabilities),
            ends=dict(ends or {}),
            packages=tuple(packages),
            version=version,
            limit_unit=limit_unit,
        )

    return declare


# What the reference loop does whichever adapter it drives.
_DRIVEN_CAN: Final = (
    "cancel",
    "context_limit",
    "cost_limit",
    "limits",
    "operation_ids",
    "parallel",
    "repeat_limit",
    "reports_effects",
    "token_limit",
    "tool_call_limit",
    "tool_timeout",
    "validates",
)


def adapter(
    *,
    dialects: Iterable[DialectName],
    modes: Iterable[Mode] = MODES,
    can: Iterable[str] = (),
    ends: Mapping[type[BaseException], State] | None = None,
    name: str | None = None,
    packages: Iterable[str] = (),
    version: str | None = None,
) -> Callable[[AdapterFactory], Target]:
    """Declares a provider adapter as a target: the reference loop drives what the function makes.

    The function takes a Task and returns a `loopcheck.reference_loop.ProviderAdapter`, or an
    asynchronous context manager that gives one. What the reference loop does for every adapter
    (limits, operation ids, validation, parallel calls, cancelling) is declared without being
    named; `approval`, `input` and `resume` want one whose conversations can be stored, `follow_up`
    one that has `follow()` besides.
    """

    def declare(factory: AdapterFactory) -> Target:
        from loopcheck.harness.targets.driven import driven

        return loop(
            dialects=dialects,
            modes=modes,
            can=dict.fromkeys((*can, *_DRIVEN_CAN)),
            ends=ends,
            name=name or str(getattr(factory, "__name__", "adapter")),
            packages=packages,
            version=version,
        )(driven(factory))

    return declare
