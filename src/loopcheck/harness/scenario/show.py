"""Shows a scenario as its fake provider plays it: requests awaited, frames sent."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, get_args

from loopcheck.fake_providers import faults
from loopcheck.fake_providers.answers import prepare
from loopcheck.fake_providers.dialects import dialect as load_dialect
from loopcheck.fake_providers.places import described
from loopcheck.fake_providers.script import (
    Attempt,
    DialectName,
    Fault,
    Hosted,
    Mode,
    Refuse,
    Script,
    Think,
    Turn,
)
from loopcheck.fake_providers.wire import Frame
from loopcheck.harness.results import Level
from loopcheck.harness.scenario.asking import reading
from loopcheck.harness.scenario.compile import compile_script
from loopcheck.harness.scenario.control_model import Action
from loopcheck.harness.scenario.expectations import AnyOfResult, ValueResult
from loopcheck.harness.scenario.json_text import compact
from loopcheck.harness.scenario.model import Scenario

_OTHERS: Final = ((Think, "thinking"), (Hosted, "hosted call"), (Refuse, "refusal"))
_FIRST: Final = 6
_WIDTH: Final = 120
_NOISE: Final = frozenset({"obfuscation", "sequence_number", "logprobs"})
_ID: Final = re.compile(r"\b((?:resp|msg|fc|call|toolu)_[A-Za-z0-9]{8}(?:_[A-Za-z0-9]{4})?)\w{5,}")


def show(
    scenario: Scenario,
    dialect: DialectName,
    mode: Mode,
    *,
    seed: int = 0,
    every_frame: bool = False,
) -> str:
    """What is asked and answered, turn by turn, as text. Frames are shortened, and only the
    first of each response stand there, unless `every_frame` is asked for."""
    script = compile_script(scenario, dialect, mode)
    asking = reading(scenario, dialect, mode)
    lines = list(_earlier(script))
    for number, turn in enumerate((*script.turns, *script.otherwise), 1):
        beyond = number > len(script.turns)
        lines.extend(_messages(number, script))
        if not beyond:
            lines.append(_expected(turn, script, scenario))
            lines.extend(_history(number, scenario))
        asked_for = f" (tool_choice {turn.tool_choice})" if turn.tool_choice else ""
        name = f"otherwise{asked_for}" if beyond else f"turn {number}"
        for title, attempt, asked in _attempts(name, turn):
            answer = prepare(asking, attempt, turn=number, asked=asked, seed=seed, number=number)
            fault = f", {_fault(attempt.fault)}" if attempt.fault else ""
            lines.append(f"{title} · {_said(attempt)}{fault}, {mode}")
            try:
                rendered = faults.render(load_dialect(dialect), answer, attempt, mode, seed=seed)
            except faults.FaultError as error:
                lines.append(f"  cannot be played: {error}")
                continue
            lines[-1] += f", {_sent(rendered, mode, every_frame)}"
            lines.extend(_frames(rendered, every_frame))
    return "\n".join([*lines, *_meanwhile(scenario)])


def _earlier(script: Script) -> Iterator[str]:
    """What was said in the conversation before."""
    for role, text in script.earlier:
        who = "the user" if role == "user" else "the model"
        yield f"earlier, {who}: {_shortened(text)}"


def _messages(number: int, script: Script) -> Iterator[str]:
    """What is said before this turn, in a conversation that goes on or in another run; the lane
    that begins with it."""
    for section in script.later:
        if section.first == number:
            how = "another run" if section.fresh else "the user"
            yield f"{how}: {_shortened(section.text or '')}"
    for lane in script.lanes:
        if lane.first == number:
            model = f", model {lane.model}" if lane.model else ""
            tools = (
                f", tools {', '.join(sorted(lane.tools)) or 'none'}"
                if lane.tools is not None
                else ""
            )
            yield f"lane {lane.name}{model}{tools}:"


def _meanwhile(scenario: Scenario) -> Iterator[str]:
    """What happens from outside, and when."""
    for rule in scenario.meanwhile:
        when = " and ".join(map(str, rule.when))
        after = f", after {rule.after}" if rule.after is not None else ""
        does = ", then ".join(_action(action) for action in rule.do)
        yield f"meanwhile, at {when}{after}: {does}"


def _action(action: Action) -> str:
    if isinstance(action, str):
        return action
    given = action.model_dump(exclude_defaults=True)
    return " ".join(f"{k} {v if isinstance(v, str) else compact(v)}" for k, v in given.items())


def _expected(turn: Turn, script: Script, scenario: Scenario) -> str:
    unless = ", unless the run has ended" if turn.optional else ""
    start = f"request {turn.number} expected{unless}: "
    section = next(s for s in script.sections if s.first <= turn.number <= s.last)
    if turn.number == section.first and not section.fresh:
        return f"{start}the conversation, and 1 more user message"
    if turn.number == section.first and section.text is None:
        return f"{start}any that the lane claims"
    if turn.number == section.first:
        tools = ", ".join(scenario.tools)
        return start + "1 user message" + (f", tools {tools}" if tools else "")
    labels = [call.label for call in script.turns[turn.number - 2].attempts[-1].calls]
    if not labels:
        return start + "the same conversation, asked again"
    named = _listed([f"{label}{_wanted(label, scenario)}" for label in labels])
    return start + f"{_count(len(labels), 'result')}, for {named}"


def _history(number: int, scenario: Scenario) -> Iterator[str]:
    """What the conversation has to hold when this turn is asked for, by level."""
    for level in get_args(Level):
        expected = scenario.expect.level(level).history.get(f"turn{number}")
        if expected is not None:
            words = compact(expected.model_dump(exclude_defaults=True))
            yield f"  {level} hold {words}"


def _wanted(label: str, scenario: Scenario) -> str:
    for level in (scenario.expect.should, scenario.expect.must):
        if label in level.results:
            result = level.results[label]
            words = result.any_of if isinstance(result, AnyOfResult) else (result,)
            shown = (compact(w.value) if isinstance(w, ValueResult) else w for w in words)
            return f" ({' or '.join(shown)})"
    return ""


def _attempts(name: str, turn: Turn) -> Iterator[tuple[str, Attempt, int]]:
    asked = 1
    for number, attempt in enumerate(turn.attempts, 1):
        title = name if len(turn.attempts) == 1 else f"{name}, attempt {number}"
        if attempt.until is not None:
            title += f" (until {attempt.until})"
        yield title + (f" (times {attempt.times})" if attempt.times > 1 else ""), attempt, asked
        asked += attempt.times


def _said(attempt: Attempt) -> str:
    parts = ["text"] if attempt.text else []
    if attempt.calls:
        parts.append(_count(len(attempt.calls), "call"))
    if len(attempt.calls) > 1 and attempt.delivery.interleave:
        parts.append("interleaved")
    for kind, word in _OTHERS:
        if any(isinstance(item, kind) for item in attempt.content):
            parts.append(word)
    quirks = [f"quirk {quirk.name}" for quirk in attempt.quirks]
    return ", ".join([*(parts or ["nothing"]), f"stop {attempt.stop}", *quirks])


def _sent(rendered: faults.Rendered, mode: Mode, every_frame: bool) -> str:
    if rendered.status != 200:
        return f"status {rendered.status}" if rendered.status else "no answer"
    if mode == "whole":
        return f"{sum(len(segment) for segment in rendered.segments)} bytes"
    frames = len(rendered.body_frames)
    first = f" (first {_FIRST})" if frames > _FIRST and not every_frame else ""
    return _count(frames, "frame") + first


def _frames(rendered: faults.Rendered, every_frame: bool) -> Iterator[str]:
    if every_frame:
        for number, text in enumerate(rendered.frame_texts, 1):
            for row, line in enumerate(text.rstrip("\r\n").splitlines()):
                yield f"  {number if row == 0 else '':>3}  {line}"
        return
    if not rendered.body_frames:
        yield from (f"       {_shortened(text)}" for text in rendered.frame_texts if text)
        return
    envelope = _envelope(rendered.body_frames)
    for number, frame in enumerate(rendered.body_frames[:_FIRST], 1):
        yield f"  {number:>3}  {_shortened(_without(frame, envelope))}"


def _envelope(frames: Sequence[Frame]) -> set[str]:
    """The members that say the same in every frame."""
    objects = [frame.data for frame in frames if isinstance(frame.data, dict)]
    if len(objects) < 2:
        return set()
    return {
        name
        for name, value in objects[0].items()
        if all(other.get(name) == value for other in objects[1:])
    }


def _without(frame: Frame, envelope: set[str]) -> str:
    if isinstance(frame.data, str):
        return frame.data
    rest = {name: value for name, value in frame.data.items() if name not in envelope}
    return _ID.sub(r"\1…", compact(_slim(rest)))


def _slim(value: object) -> object:
    """The value without members that are null or say nothing to a reader."""
    if isinstance(value, dict):
        members = ((name, _slim(member)) for name, member in value.items())
        return {k: v for k, v in members if v is not None and k not in _NOISE}
    return [_slim(item) for item in value] if isinstance(value, list) else value


def _shortened(text: str) -> str:
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"


def _fault(fault: Fault) -> str:
    match fault.kind:
        case "http" | "error-body":
            wait = fault.retry_after_ms
            return f"{fault.kind} {fault.error}" + (f", retry after {wait} ms" if wait else "")
        case "headers-only":
            return f"headers-only, then {fault.then}"
        case "close" | "empty":
            return fault.kind
        case "error-event":
            return f"error-event {fault.error} at {described(fault.at)}"
    return f"{fault.kind} at {described(fault.at)}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _listed(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
