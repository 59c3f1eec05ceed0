"""A journal as people read it: one short line an entry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from loopcheck.harness.checks.wording import counted, elided, told
from loopcheck.harness.journal import Entry

_WIDTH: Final = 96


def lines(entries: Iterable[Entry]) -> tuple[str, ...]:
    """One line for each entry: its number, what it is, the label of its call, and what came."""
    labels: dict[object, str] = {}
    made = []
    for entry in entries:
        if entry.get("kind") == "execution":
            labels[entry.get("execution")] = _text(entry, "label") or "?"
        label = labels.get(entry.get("execution"), "") if "execution" in entry else ""
        if entry.get("kind") == "decision":
            label = _text(entry, "label")
        kind = _text(entry, "kind")
        head, said = _READERS.get(kind, _plain)(entry)
        made.append(
            f"{_text(entry, 'n'):>4}  {head or kind:<11} {label:<8} {elided(said, _WIDTH)}".rstrip()
        )
    return tuple(made)


_Reader = Callable[[Entry], tuple[str, str]]


def _text(entry: Mapping[str, object], key: str) -> str:
    value = entry.get(key)
    return "" if value is None else str(value)


def _mappings(value: object) -> list[Mapping[str, object]]:
    found = value if isinstance(value, list | tuple) else ()
    return [one for one in found if isinstance(one, dict)]


def _call(entry: Mapping[str, object]) -> str:
    arguments = entry.get("arguments")
    return told(_text(entry, "tool"), arguments if isinstance(arguments, dict) else {})


def _plain(entry: Entry) -> tuple[str, str]:
    return "", ""


def _case(entry: Entry) -> tuple[str, str]:
    return "", (
        f"{_text(entry, 'scenario')}[{_text(entry, 'dialect')}-{_text(entry, 'mode')}], "
        f"target {_text(entry, 'target')}, seed {_text(entry, 'seed')}"
    )


def _request(entry: Entry) -> tuple[str, str]:
    role = _text(entry, "role")
    what = f"asks for turn {_text(entry, 'turn')}" if role == "turn" else role
    attempt = entry.get("attempt")
    if isinstance(attempt, int) and attempt > 1:
        what += f" again (attempt {attempt})"
    if why := _text(entry, "why"):
        what += f": {why}"
    items = _mappings(entry.get("conversation"))
    thoughts = sum(_text(item, "kind") == "think" for item in items)
    held = ", ".join(filter(None, (_held(items), f"{thoughts} of thinking" if thoughts else "")))
    return f"request {_text(entry, 'request')}", f"{what}{'; ' if held else ''}{held}"


def _held(items: list[Mapping[str, object]]) -> str:
    """How many calls the conversation holds, and the results that came last."""
    kinds = Counter(_text(item, "kind") for item in items)
    if not kinds["result"]:
        return counted(kinds["call"], "call") if kinds["call"] else ""
    last = len(items)
    while last and _text(items[last - 1], "kind") == "result":
        last -= 1
    results = items[last:] or [item for item in items if _text(item, "kind") == "result"][-1:]
    said = ", ".join(
        f"result {_text(item, 'call_id')}: {elided(_text(item, 'text'), 60)!r}" for item in results
    )
    return said if len(results) == kinds["result"] else f"{kinds['result']} results, last {said}"


def _refused(entry: Entry) -> tuple[str, str]:
    rule = _text(entry, "rule")
    named = f" (rule {rule})" if rule else ""
    return "", f"status {_text(entry, 'status')}{named}: {_text(entry, 'message')}"


def _response(entry: Entry) -> tuple[str, str]:
    said = ["thinking" for _ in _mappings(entry.get("carry"))]
    said += [
        f"{_text(call, 'label')} {_text(call, 'tool')}({_text(call, 'arguments')})"
        + ("" if call.get("sent") == "whole" else f" [{_text(call, 'sent')}]")
        for call in _mappings(entry.get("calls"))
    ]
    if text := _text(entry, "text"):
        said.append(repr(elided(text, 40)))
    if entry.get("refusal") is not None:
        said.append(f"refusal {elided(_text(entry, 'refusal'), 40)!r}")
    turn = f"turn {_text(entry, 'turn')}: {', '.join(said) or 'nothing'}"
    return "", f"{turn}, {_end(entry)}"


def _end(entry: Entry) -> str:
    fault = _text(entry, "fault")
    if not fault:
        return f"stop {_text(entry, 'stop')}"
    status = f" {_text(entry, 'status')}" if fault == "http" else ""
    return f"fault {fault}{status}"


def _sent(entry: Entry) -> tuple[str, str]:
    frames = entry.get("frames")
    count = len(frames) if isinstance(frames, list | tuple) else 0
    closed = ", the client closed" if entry.get("how") == "client-closed" else ""
    return "", f"{counted(count, 'frame')} to request {_text(entry, 'request')}{closed}"


def _execution(entry: Entry) -> tuple[str, str]:
    return "", _call(entry)


def _effect(entry: Entry) -> tuple[str, str]:
    again = ", recognised: no second effect" if entry.get("deduplicated") else ""
    return "", f"{_call(entry)} committed{again}"


def _ended(entry: Entry) -> tuple[str, str]:
    return "", f"{_text(entry, 'how')}: {_text(entry, 'result')}"


def _lookup(entry: Entry) -> tuple[str, str]:
    operation = _text(entry, "operation_id")
    return "look-up", f"{_text(entry, 'tool')} {operation}: {_text(entry, 'answer')}"


def _gate(entry: Entry) -> tuple[str, str]:
    return "", f"{_text(entry, 'gate')}: {_text(entry, 'how')}"


def _outcome(entry: Entry) -> tuple[str, str]:
    reason = _text(entry, "reason")
    ended = f"{_text(entry, 'state')}{f'/{reason}' if reason else ''}"
    if pending := ", ".join(_call(call) for call in _mappings(entry.get("pending"))):
        return "", f"{ended}, waiting for {pending}"
    return "", f"{ended}, text {elided(_text(entry, 'text'), 60)!r}"


def _leg(entry: Entry) -> tuple[str, str]:
    said = f"{_text(entry, 'how')} {_text(entry, 'run')}"
    copies, clock = entry.get("copies"), entry.get("clock")
    if isinstance(copies, int) and copies > 1:
        said += f" in {copies} processes at once"
    if isinstance(clock, int | float) and clock > 0:
        said += f", clock {clock:g} s ahead"
    return "", said + (", to be cancelled" if entry.get("cancelled") is True else "")


def _decision(entry: Entry) -> tuple[str, str]:
    said = f"{_text(entry, 'decide')} {_call(entry)}"
    if entry.get("decide") == "answer":
        said += f": {entry.get('value')!r}"
    if reason := _text(entry, "reason"):
        said += f": {reason}"
    return "", said if entry.get("pending") is True else f"{said}, which does not wait"


def _action(entry: Entry) -> tuple[str, str]:
    when = entry.get("when")
    points = " and ".join(map(str, when)) if isinstance(when, list | tuple) else ""
    return "", f"{_text(entry, 'do')} at {points}"


def _place(entry: Entry) -> tuple[str, str]:
    return "", f"{_text(entry, 'place')}, of request {_text(entry, 'request')}"


def _died(entry: Entry) -> tuple[str, str]:
    return "", _text(entry, "how")


def _broken(entry: Entry) -> tuple[str, str]:
    return "", f"{_text(entry, 'fault')}: {_text(entry, 'what')}"


_READERS: Final[Mapping[str, _Reader]] = {
    "case": _case,
    "request": _request,
    "refused": _refused,
    "response": _response,
    "sent": _sent,
    "execution": _execution,
    "effect": _effect,
    "ended": _ended,
    "lookup": _lookup,
    "gate": _gate,
    "outcome": _outcome,
    "broken": _broken,
    "leg": _leg,
    "decision": _decision,
    "action": _action,
    "place": _place,
    "died": _died,
}
