"""Does what a scenario has happen meanwhile, and says how a case goes on.

It hears every journal entry. An action at a point is done before whatever passed the point goes
on: a tool body or a stream waits in the call that records it.
"""

from __future__ import annotations

import re
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal, Protocol

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.journal import Entry
from loopcheck.harness.legs import Leg
from loopcheck.harness.points import PointTracker
from loopcheck.harness.scenario.control_model import (
    Action,
    AnswerModel,
    ApproveModel,
    DenyModel,
    MeanwhileModel,
    ResumeModel,
)
from loopcheck.harness.scenario.duration import milliseconds
from loopcheck.harness.scenario.json_text import whole_object
from loopcheck.harness.scenario.model import Scenario
from loopcheck.harness.task import Decision, Outcome, Pending, Resume

_NO_CALL: Final = re.compile(r"(run|turn[0-9]+)\Z")


class Control(Protocol):
    """A hold on the target while it runs; both are done when they return."""

    def cancel(self) -> None:
        """Tells it that the user wants no more."""
        ...

    def end(self, *, orderly: bool) -> None:
        """Ends its process, by SIGKILL unless it is to be orderly."""
        ...


class Conductor:
    """The course of one case.

    Each rule is done once, at the entry that completes its points. What a person decides is kept
    until the run is next resumed, and forgotten with the part of the case that it was about. A
    cancellation that a pause or a death answers is told once more, when the run is resumed. The
    scenario of one that `grows` is still being written.
    """

    def __init__(
        self, scenario: Scenario, record: Callable[..., int], *, grows: bool = False
    ) -> None:
        self._scenario = scenario
        self._grows = grows
        self._record = record
        self._lock = threading.RLock()
        self._points = PointTracker()
        self._passed: set[str] = set()
        self._left = list(scenario.meanwhile)
        self._due: deque[MeanwhileModel] = deque()
        self._is_acting = False
        self._control: Control | None = None
        self._decisions: list[tuple[Action, str | None]] = []
        self._copies = 0
        self._has_rivals = False
        self._killed: Literal["killed", "restarted"] | None = None
        self._wants_cancel = False
        self._lingers = False
        self._is_running = False
        self._clock_seconds = 0.0
        self._calls: dict[str, Pending] = {}
        self._pending: tuple[Pending, ...] = ()
        self._run: str | None = None
        self._section = 0
        self._leg = Leg(prompt=scenario.prompt)

    @property
    def first(self) -> Leg:
        """The leg that the prompt begins; a run may be given up before it."""
        with self._lock:
            self._leg = replace(
                self._leg, cancelled=self._wants_cancel, clock_seconds=self._clock_seconds
            )
            return self._leg

    @property
    def begun(self) -> int:
        """How many parts of the script have begun."""
        return self._section + 1

    @property
    def has_rivals(self) -> bool:
        """Whether several processes were to go on with one run at once."""
        return self._has_rivals

    @property
    def death(self) -> Literal["killed", "restarted"] | None:
        """How the process was ended, as scripted, while it ran the latest leg."""
        return self._killed

    def takes_time(self) -> bool:
        """Whether time passes before the case goes on, in which what the run left behind would
        show: the user has given it up, or lets it wait."""
        with self._lock:
            lingers, self._lingers = self._lingers, False
            return lingers

    def begins(self, control: Control) -> None:
        """The target runs from now on, and this is a hold on it."""
        with self._lock:
            self._control, self._is_running = control, True

    def has_ended(self) -> None:
        """The target runs no more."""
        with self._lock:
            self._is_running = False

    def watch(self, entry: Entry) -> None:
        """Takes note of an entry, and does what has become due."""
        if not (self._scenario.meanwhile or self._grows):
            return
        with self._lock:
            if entry["kind"] == "response":
                self._note_calls(entry)
            self._passed.update(self._points.feed(entry))
            self._take_up_what_is_due()

    def grow(self, scenario: Scenario) -> None:
        """Goes on by this scenario, which has more messages or rules behind those that there
        were. What is due by now is done."""
        with self._lock:
            self._left += scenario.meanwhile[len(self._scenario.meanwhile) :]
            self._scenario = scenario
            self._take_up_what_is_due()

    def has_passed(self, point: str) -> bool:
        """Whether this point has passed."""
        with self._lock:
            return self._points.has_passed(point)

    def _take_up_what_is_due(self) -> None:
        due = [rule for rule in self._left if self._passed.issuperset(map(str, rule.when))]
        self._left = [rule for rule in self._left if rule not in due]
        self._due.extend(due)
        self._act_on_what_is_due()

    def _act_on_what_is_due(self) -> None:
        if self._is_acting:  # what an action makes due is done behind it
            return
        self._is_acting = True
        try:
            while self._due:
                self._do(self._due.popleft())
        finally:
            self._is_acting = False

    def next(self, outcomes: Sequence[Outcome]) -> Leg | None:
        """What follows when a leg ended with these outcomes, none of them where it died."""
        with self._lock:
            paused = next((o for o in reversed(outcomes) if o.state == "paused"), None)
            if paused is not None:
                self._pending, self._run = paused.pending, paused.run
            elif outcomes:
                self._pending, self._wants_cancel = (), False
            leg = self._resumed() if self.resumes(outcomes) else self._following()
            self._killed = None
            if leg is not None:
                self._leg = leg
            return leg

    def resumes(self, outcomes: Sequence[Outcome]) -> bool:
        """Whether the run is resumed behind a leg that ended so."""
        with self._lock:
            is_paused = any(outcome.state == "paused" for outcome in outcomes)
            return bool(self._copies) or (is_paused and bool(self._decisions or self._wants_cancel))

    def _resumed(self) -> Leg:
        # Telling of a decision may make the next one due, which is for the next leg.
        given, self._decisions = self._decisions, []
        decisions = tuple(self._decision(action, label) for action, label in given)
        copies = max(1, self._copies, *(_at_once(action) for action, _ in given))
        self._has_rivals |= copies > 1
        cancelled = self._wants_cancel
        self._copies, self._wants_cancel = 0, False
        return Leg(
            number=self._leg.number + 1,
            how="resume",
            run=self._leg.run,
            prompt=self._leg.prompt,
            follows=self._leg.follows,
            resume=Resume(run=self._run, decisions=decisions),
            copies=copies,
            cancelled=cancelled,
            clock_seconds=self._clock_seconds,
        )

    def _following(self) -> Leg | None:
        messages = self._scenario.messages
        if self._section >= len(messages):
            return None
        entry = messages[self._section]
        self._section += 1
        self._decisions, self._pending, self._wants_cancel = [], (), False
        run = self._leg.run if entry.run is None else f"r{int(self._leg.run[1:]) + 1}"
        if entry.run is not None:
            self._run = None
        return Leg(
            number=self._leg.number + 1,
            how="follow_up" if entry.run is None else "run",
            run=run,
            prompt=entry.user or entry.run or "",
            follows=entry.run is None,
            clock_seconds=self._clock_seconds,
        )

    def _do(self, rule: MeanwhileModel) -> None:
        if rule.after is not None:
            self._clock_seconds += milliseconds(rule.after) / 1000
            self._lingers = True
        for action in rule.do:
            match action:
                case "cancel":
                    self._act("cancel", rule)
                    self._lingers = self._wants_cancel = True
                    if self._control is not None and self._is_running:
                        self._control.cancel()
                case "kill" | "restart":
                    self._act(action, rule)
                    if self._is_running:
                        self._killed = "killed" if action == "kill" else "restarted"
                    if self._control is not None:
                        self._control.end(orderly=action == "restart")
                case "resume":
                    self._copies = 1
                case ResumeModel(resume=copies):
                    self._copies = copies
                case "approve" | "deny":
                    self._decisions.append((action, _label(rule)))
                case ApproveModel() | DenyModel() | AnswerModel():
                    self._decisions.append((action, None))

    def _act(self, what: str, rule: MeanwhileModel) -> None:
        self._record("action", do=what, when=[str(point) for point in rule.when])

    def _decision(self, action: Action, label: str | None) -> Decision:
        """The decision as the target gets it, about the call as the target knows it."""
        match action:
            case ApproveModel(approve=named, args=changed):
                return self._about(named, "approve", arguments=changed)
            case DenyModel(deny=named, reason=reason):
                return self._about(named, "deny", reason=reason)
            case AnswerModel(to=named, answer=value):
                return self._about(named, "answer", value=value)
            case "deny":
                return self._about(label or "", "deny")
            case _:
                return self._about(label or "", "approve")

    def _about(
        self,
        label: str,
        decide: Literal["approve", "deny", "answer"],
        *,
        arguments: JsonObject | None = None,
        reason: str = "",
        value: object = None,
    ) -> Decision:
        asked = self._calls.get(label) or Pending(call_id="", tool="", arguments={})
        waiting = self._waiting()
        call = waiting.get(label, asked)
        meant = label if label in waiting else _alike(call, waiting)
        decision = Decision(
            call_id=call.call_id,
            tool=call.tool,
            # A target that does not say what a call waits with means what the model asked for.
            arguments=(call.arguments or asked.arguments) if arguments is None else arguments,
            decide=decide,
            reason=reason,
            value=value,
        )
        self._record(
            "decision",
            decide=decide,
            label=meant or label,
            call_id=decision.call_id,
            tool=decision.tool,
            arguments=decision.arguments,
            pending=meant is not None,
            reason=reason,
            value=value,
        )
        return decision

    def _waiting(self) -> dict[str, Pending]:
        """The calls that wait, by label."""
        calls = [
            {"call_id": c.call_id, "tool": c.tool, "arguments": c.arguments} for c in self._pending
        ]
        labelled = zip(self._points.labels_of(calls), self._pending, strict=True)
        return {label: call for label, call in labelled if label is not None}

    def _note_calls(self, entry: Entry) -> None:
        calls = entry.get("calls")
        for call in calls if isinstance(calls, list | tuple) else ():
            arguments = whole_object(str(call["arguments"]))
            self._calls[str(call["label"])] = Pending(
                call_id=str(call["call_id"]), tool=str(call["tool"]), arguments=arguments or {}
            )


def _alike(call: Pending, waiting: Mapping[str, Pending]) -> str | None:
    """The label of the call that waits which a word about this call is about to the target, which
    is told the id and the tool."""
    named = (label for label, one in waiting.items() if one.call_id == call.call_id)
    return next((label for label in named if waiting[label].tool == call.tool), None)


def _label(rule: MeanwhileModel) -> str | None:
    """The call that a rule's points are about."""
    points = (point.partition(".")[0] for point in rule.when if isinstance(point, str))
    return next((what for what in points if not _NO_CALL.match(what)), None)


def _at_once(action: Action) -> int:
    return action.at_once if isinstance(action, ApproveModel | DenyModel) else 1
