"""A small honest chat loop that survives its process: approvals, resuming and cancelling."""

from __future__ import annotations

import fcntl
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from stdlib_loop import ask, parsed, result, spec_of

import loopcheck

Json = dict[str, Any]


class Kept:
    """What a run keeps in its folder. Whoever works on it holds the lock."""

    def __init__(self, task: loopcheck.Task) -> None:
        self._file = task.folder / "run.json"
        self.state: Json = {"messages": [], "decided": {}, "begun": [], "ended": None}
        if self._file.exists():
            self.state = json.loads(self._file.read_text(encoding="utf-8"))

    def save(self) -> None:
        written = self._file.with_suffix(".new")
        written.write_text(json.dumps(self.state), encoding="utf-8")
        written.replace(self._file)


@contextmanager
def held(task: loopcheck.Task) -> Iterator[Kept]:
    """The run, once no other process or thread works on it."""
    with (task.folder / "lock").open("w") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(0.01)
            else:
                break
        yield Kept(task)


@loopcheck.loop(
    dialects=["chat"],
    can=["approval", "input", "resume", "cancel", "operation_ids", "follow_up", "reports_effects"],
)
def durable(task: loopcheck.Task) -> loopcheck.Outcome:
    with held(task) as kept:
        return run(task, kept)


def run(task: loopcheck.Task, kept: Kept) -> loopcheck.Outcome:
    state = kept.state
    if task.resume is None or not state["messages"]:
        state["messages"].append({"role": "user", "content": task.prompt})
        state["ended"] = None
    if state["ended"] is not None:
        return loopcheck.final(state["ended"])
    for decision in task.resume.decisions if task.resume else ():
        state["decided"].setdefault(decision.call_id, [decision.decide, decision.value])
    kept.save()
    while not task.stop.requested:
        pending = [call for call in open_calls(state) if waits(task, state, call)]
        if pending:
            return loopcheck.paused(pending=map(named, pending), run=f"{task.case}/{task.run}")
        calls = open_calls(state)
        if calls:
            state["messages"].append(result(calls[0], carried_out(task, kept, calls[0])))
        else:
            choice = ask(task, state["messages"])
            state["messages"].append(choice["message"])
            if not choice["message"].get("tool_calls"):
                state["ended"] = choice["message"]["content"]
        kept.save()
        if state["ended"] is not None:
            return loopcheck.final(state["ended"])
    return loopcheck.ended("cancelled", "cancelled_by_user")


def open_calls(state: Json) -> list[Json]:
    """The calls of the latest response that have no result yet."""
    answered = {message.get("tool_call_id") for message in state["messages"]}
    calls = [call for message in state["messages"] for call in message.get("tool_calls") or ()]
    return [call for call in calls if call["id"] not in answered]


def waits(task: loopcheck.Task, state: Json, call: Json) -> bool:
    spec = spec_of(task, call)
    return (spec.approval == "ask" or spec.kind == "ask") and call["id"] not in state["decided"]


def named(call: Json) -> loopcheck.Pending:
    return loopcheck.Pending(
        call_id=call["id"],
        tool=call["function"]["name"],
        arguments=parsed(call["function"]["arguments"]),
    )


def carried_out(task: loopcheck.Task, kept: Kept, call: Json) -> str:
    spec = spec_of(task, call)
    decide, value = kept.state["decided"].get(call["id"], ["approve", None])
    if decide == "deny":
        return "A person said no."
    if decide == "answer":
        return json.dumps(value)
    arguments = parsed(call["function"]["arguments"])
    operation = operation_of(task, spec, arguments, call)
    if operation in kept.state["begun"]:
        return found_out(spec, operation)
    kept.state["begun"].append(operation)
    kept.save()
    try:
        return spec.call(arguments, call_id=call["id"], operation_id=operation)
    except ConnectionError:
        return found_out(spec, operation)


def operation_of(task: loopcheck.Task, spec: loopcheck.Tool, arguments: Json, call: Json) -> str:
    """An id that stays the same when the model asks again for the same business action."""
    key = spec.operation
    what = [call["id"]] if key is None else [arguments[name] for name in key]
    return json.dumps([task.run, spec.name, what])


def found_out(spec: loopcheck.Tool, operation: str) -> str:
    """What became of an operation that was begun, and whose end nobody here has seen."""
    answer = spec.look_up(operation) if spec.look_up is not None else {}
    if answer.get("status") == "found":
        found = answer["result"]
        return found if isinstance(found, str) else json.dumps(found)
    return "The outcome is unknown."
