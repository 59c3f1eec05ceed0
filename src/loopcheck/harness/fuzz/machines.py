"""A state machine that drives a loop round by round: the model, the service, the user and the
process each do what they may do next, and every check is an invariant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar, Final, TypeAlias

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from hypothesis.strategies import DrawFn

from loopcheck.fake_providers.script import DIALECTS, MODES, DialectName, Mode
from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.fuzz.failure import PropertyBroken
from loopcheck.harness.fuzz.keep import keep_failure
from loopcheck.harness.fuzz.live import LiveCase
from loopcheck.harness.fuzz.properties import RETRIED, SAFETY, broken_rule
from loopcheck.harness.fuzz.trial import On, Ran, Trial, trial_of
from loopcheck.harness.scenario.control_model import MeanwhileModel, MessageModel
from loopcheck.harness.scenario.model import AttemptModel, Scenario, TurnModel
from loopcheck.harness.session import session
from loopcheck.harness.strategies import turns
from loopcheck.harness.strategies.control import changed
from loopcheck.harness.strategies.features import Feature, features_for
from loopcheck.harness.strategies.scripts import HEAD, with_spare
from loopcheck.harness.strategies.tools import (
    HOSTED,
    OFTEN,
    RARELY,
    SELDOM,
    Document,
    argument_names,
    hosted_tool,
    toolset,
    without_argument,
)

Start: TypeAlias = tuple[DialectName, Mode, dict[str, Document], bool, bool]
# What is said of a whole script at once, or takes seconds, is no step.
_NO_STEPS: Final = frozenset[Feature](
    {"delivery", "quirks", "gates", "endless", "earlier", "state", "lanes", "hangs", "stalls"}
)
_FAULTS: Final = (
    RETRIED,
    AttemptModel(fault="close"),
    AttemptModel(fault="eof", at="start"),
    AttemptModel(fault="eof"),
    AttemptModel(fault="reset"),
)
_POINTS: Final = ("asked", "sent", "started", "committed", "ended")
_OF_A_TURN: Final = ("asked", "sent")
_TEXTS: Final = ("Ok.", "One moment.", '{"a": 1}')
_MORE: Final = ("Please go on.", "And then?", "Thank you.")
_MOST_TURNS: Final = 8
# What can be said of a run that has not ended.
_ALWAYS: Final = (*SAFETY, "correlation.*", "history.*")


@st.composite
def _start(draw: DrawFn, machine: LoopMachine) -> Start:
    dialect = draw(st.sampled_from(machine.dialects))
    mode = draw(st.sampled_from(machine.modes))
    tools = toolset(draw, machine.features)
    for tool in tools.values():
        for name in argument_names(tool):
            if not draw(OFTEN):
                without_argument(tool, name)
    repeats = "ids" in machine.features and dialect != "messages" and draw(SELDOM)
    custom = "custom" in machine.features and dialect != "messages" and draw(RARELY)
    return dialect, mode, tools, repeats, custom


@st.composite
def _calling(draw: DrawFn, machine: LoopMachine) -> Document:
    return turns.calling(draw, machine.script)


@st.composite
def _deciding(draw: DrawFn, machine: LoopMachine) -> list[Document]:
    rules = [_decision(draw, point, machine) for point in machine.waiting]
    return [one for one in rules if one]


def _decision(draw: DrawFn, point: str, machine: LoopMachine) -> Document:
    """What a person says of a call that waits; empty where that is nothing."""
    label = point.partition(".")[0]
    tool = str(machine.script.calls[label]["tool"])
    if machine.script.tools[tool]["kind"] == "ask":
        said = draw(st.sampled_from(["Yes.", 12, None]))
        return {"when": point, "do": {"answer": said, "to": label}} if said is not None else {}
    match draw(st.sampled_from(["approve", "deny", "nothing", "changed"])):
        case "nothing":
            return {}
        case "changed":
            args = draw(changed(machine.script.calls[label], machine.script))
            return {"when": point, "do": {"approve": label, "args": args}}
        case word:
            return {"when": point, "do": word}


class LoopMachine(RuleBasedStateMachine):
    """Puts a target on trial; `machine` makes one, whose `TestCase` belongs in a test module."""

    on: ClassVar[On]
    dialects: ClassVar[Sequence[DialectName]]
    modes: ClassVar[Sequence[Mode]]
    features: ClassVar[frozenset[Feature]]
    folder: ClassVar[Path | None]

    def __init__(self) -> None:
        super().__init__()
        self._trial: Trial = trial_of(type(self).on)
        self._live: LiveCase | None = None
        self._script: turns.Script | None = None
        self._armed: tuple[str, tuple[str, ...]] | None = None
        self._is_broken = False

    @property
    def live(self) -> LiveCase:
        """The case that is on."""
        assert self._live is not None
        return self._live

    @property
    def script(self) -> turns.Script:
        """The tools, and the calls that the model has asked for."""
        assert self._script is not None
        return self._script

    @property
    def waiting(self) -> list[str]:
        """The points at which the calls began to wait that wait for a person now."""
        return self.live.waiting() if self._live is not None else []

    @initialize(start=st.runner().flatmap(_start))
    def the_user_asks(self, start: Start) -> None:
        dialect, mode, tools, repeats, custom = start
        self._script = turns.Script(
            dialect, mode, self.features, tools, repeats_ids=repeats, has_custom=custom
        )
        document: Document = {**HEAD, "dialects": [dialect], "modes": [mode], "turns": []}
        hosted = {HOSTED: hosted_tool(dialect)} if "hosted" in self.features else {}
        scenario = Scenario.model_validate({**document, "tools": with_spare(tools) | hosted})
        self._live = LiveCase(self._trial, CaseSpec(scenario, dialect, mode))
        self._live.start()

    def _is_asked(self) -> bool:
        return self._live is not None and self._live.asked is not None

    def _may_say_more(self) -> bool:
        return self._is_asked() and len(self.live.scenario.turns) < _MOST_TURNS

    def _is_open(self) -> bool:
        return self._is_asked() and self.live.open is not None

    def _has_ended(self) -> bool:
        return self._live is not None and self._live.ended is not None and not self._is_asked()

    def _can(self, capability: str) -> bool:
        return capability in self._trial.card.can

    @precondition(lambda self: self._is_asked() and not self._is_open())
    @rule(what=st.sampled_from([*_TEXTS, "I cannot do that."]))
    def the_model_says(self, what: str) -> None:
        self._answer({"say" if what in _TEXTS else "refuse": what})

    @precondition(lambda self: self._may_say_more() and not self._is_open())
    @rule(turn=st.runner().flatmap(_calling))
    def the_model_calls(self, turn: Document) -> None:
        self._answer(turn)

    @precondition(
        lambda self: self._may_say_more() and not self._is_open() and "faults" in self.features
    )
    @rule(turn=st.runner().flatmap(_calling), fault=st.sampled_from(_FAULTS))
    def the_service_fails(self, turn: Document, fault: AttemptModel) -> None:
        self._answer({**turn, "attempts": [fault]})

    @precondition(lambda self: self._is_open())
    @rule(fault=st.sampled_from(_FAULTS))
    def the_service_fails_again(self, fault: AttemptModel) -> None:
        self._tried_again(fault)

    @precondition(lambda self: self._is_open())
    @rule()
    def the_service_recovers(self) -> None:
        self._tried_again("normal")

    @precondition(
        lambda self: self._is_asked() and self._can("cancel") and "cancels" in self.features
    )
    @rule(point=st.sampled_from(_POINTS))
    def the_user_will_give_up(self, point: str) -> None:
        """When the next answer has come so far."""
        self._armed = point, ("cancel",)

    @precondition(
        lambda self: self._is_asked() and self._can("resume") and self._trial.driver.has_process
    )
    @rule(point=st.sampled_from(_POINTS))
    def the_process_will_die(self, point: str) -> None:
        """When the next answer has come so far; then the run is resumed in another one."""
        self._armed = point, ("kill", "resume")

    @precondition(lambda self: self._has_ended() and bool(self.waiting))
    @rule(rules=st.runner().flatmap(_deciding))
    def the_user_decides(self, rules: list[Document]) -> None:
        for one in rules:
            self.live.happens(MeanwhileModel.model_validate(one))
        if rules:
            self.live.go_on()

    @precondition(
        lambda self: (
            self._has_ended()
            and self._is_paused()
            and self._can("cancel")
            and "cancels" in self.features
        )
    )
    @rule()
    def the_user_gives_up_while_it_waits(self) -> None:
        self._happens(self.live.latest("run.paused"), "cancel")
        self.live.go_on()

    @precondition(
        lambda self: self._has_ended() and self._can("resume") and "resumes" in self.features
    )
    @rule()
    def the_run_is_resumed(self) -> None:
        point = "run.paused" if self._is_paused() else "run.ended"
        self._happens(self.live.latest(point), "resume")
        self.live.go_on()

    @precondition(lambda self: self._has_ended() and self._messages_left("messages"))
    @rule()
    def the_user_says_more(self) -> None:
        self.live.follows(MessageModel(user=_MORE[len(self.live.scenario.messages)]))

    @precondition(lambda self: self._has_ended() and self._messages_left("runs"))
    @rule()
    def another_run_begins(self) -> None:
        self.live.follows(MessageModel(run=_MORE[len(self.live.scenario.messages)]))

    @precondition(lambda self: not self._is_asked())
    @rule()
    def nothing_happens(self) -> None:
        """There is always something that can be done next."""

    @invariant()
    def every_check_is_kept(self) -> None:
        if self._live is not None and self._live.has_news():
            self._check(self._live.judged(), so_far=self._live.ended is None)

    def teardown(self) -> None:
        if self._live is None:
            return
        ran = self._live.close()
        if ran is not None and not self._is_broken:
            self._trial.heard(ran)
            self._check(ran, so_far=False)

    def _check(self, ran: Ran, *, so_far: bool) -> None:
        failure = broken_rule(ran, _ALWAYS if so_far else ("*",))
        # That it has asked for nothing can only be said in the end.
        if failure is None or (so_far and failure.check == "target.broken"):
            return
        self._is_broken = True
        keep_failure(failure, self._folder)
        raise PropertyBroken(failure)

    @property
    def _folder(self) -> Path:
        name = self._trial.card.name
        return self.folder or session().root / ".loopcheck" / "machine" / name

    def _is_paused(self) -> bool:
        return any(outcome.state == "paused" for outcome in self.live.ended or ())

    def _messages_left(self, feature: Feature) -> bool:
        return feature in self.features and len(self.live.scenario.messages) < len(_MORE)

    def _answer(self, turn: Document) -> None:
        self._set_off(turns.calls_of(turn))
        self.live.answers(TurnModel.model_validate(turn))

    def _tried_again(self, attempt: AttemptModel | str) -> None:
        turn = self.live.open
        assert turn is not None
        self._set_off([])
        update = {"attempts": (*turn.attempts, attempt)}
        self.live.answers(turn.model_copy(update=update))

    def _set_off(self, calls: list[Document]) -> None:
        """Has happen what was to happen with the next answer."""
        if self._armed is None:
            return
        (point, actions), self._armed = self._armed, None
        if point in _OF_A_TURN or not calls:
            what = f"turn{self.live.asked}.{point if point in _OF_A_TURN else 'asked'}"
        else:
            what = f"{calls[0]['as']}.{point}"
        self._happens(self.live.next_time(what), *actions)

    def _happens(self, when: str, *actions: str) -> None:
        rule = MeanwhileModel.model_validate({"when": when, "do": list(actions)})
        self.live.happens(rule)


def machine(
    target: On,
    *,
    dialects: Iterable[DialectName] = DIALECTS,
    modes: Iterable[Mode] = MODES,
    features: Iterable[Feature] | None = None,
    folder: Path | None = None,
) -> type[LoopMachine]:
    """A state machine for this target, in the dialects and modes that it speaks.

    It does what the target bears, or what `features` name. A step that breaks a rule fails the
    test with the scenario that shows it, which is also written to `folder`, with its journal (by
    default `.loopcheck/machine/TARGET`). A process can only die in a trial whose driver has one.
    """
    card = target.card if isinstance(target, Trial) else target.card()
    chosen = features_for(card.can) if features is None else features
    update: dict[str, object] = {
        "on": target,
        "dialects": [one for one in dialects if one in card.dialects],
        "modes": [one for one in modes if one in card.modes],
        "features": frozenset(chosen) - _NO_STEPS,
        "folder": folder,
    }
    return type("LoopMachine", (LoopMachine,), update)
