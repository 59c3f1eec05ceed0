"""Loops over the standard library that keep their run in a file, and go on from it."""

from __future__ import annotations

from pathlib import Path

from loopcheck.harness.config import TargetSource

TARGETS = '''
import json, os, time, urllib.request
from pathlib import Path
import loopcheck

with Path("workers.txt").open("a") as workers:
    print(os.getpid(), file=workers)


def answer(task, messages):
    tools = [
        {"type": "function", "function": {"name": spec.name, "parameters": spec.parameters}}
        for spec in task.specs
    ]
    body = {"model": task.model, "messages": messages, "tools": tools}
    request = urllib.request.Request(
        task.base_url + "/chat/completions",
        data=json.dumps(body).encode(),
        headers={"authorization": "Bearer " + task.api_key, "content-type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)["choices"][0]["message"]


class Kept:
    """The conversation and the calls that were begun, on disk before anything follows from them."""

    def __init__(self, task):
        self.file = task.folder / "run.json"
        begun = {"messages": [{"role": "user", "content": task.prompt}], "begun": []}
        kept = json.loads(self.file.read_text()) if self.file.exists() else begun
        self.messages, self.begun = kept["messages"], kept["begun"]

    def save(self):
        part = self.file.with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps({"messages": self.messages, "begun": self.begun}))
        part.replace(self.file)

    def open_calls(self):
        done = {m["tool_call_id"] for m in self.messages if m["role"] == "tool"}
        return [
            call
            for message in self.messages
            for call in message.get("tool_calls") or ()
            if call["id"] not in done
        ]


def became(spec, operation):
    """What became of a call that was begun; a system that is still at it is asked again."""
    for _ in range(100):
        told = spec.look_up(operation)
        if told["status"] != "inconclusive":
            return told
        time.sleep(0.01)
    return told


def drive(task, looks_up, kept=None):
    kept = kept or Kept(task)
    while True:
        calls = kept.open_calls()
        last = kept.messages[-1]
        if last["role"] == "assistant" and not last.get("tool_calls"):
            return loopcheck.final(last["content"])
        if not calls:
            kept.messages.append(answer(task, kept.messages))
            kept.save()
            continue
        call = calls[0]
        (spec,) = [s for s in task.specs if s.name == call["function"]["name"]]
        told = {"status": "absent"}
        if looks_up and call["id"] in kept.begun:
            told = became(spec, call["id"])
        if told["status"] == "inconclusive":
            return loopcheck.ended("paused", "outcome_unknown")
        kept.begun.append(call["id"])
        kept.save()
        if told["status"] == "found":
            result = told["result"]
        else:
            arguments = json.loads(call["function"]["arguments"])
            result = spec.call(arguments, call_id=call["id"], operation_id=call["id"])
        kept.messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
        kept.save()


CAN = ["resume", "operation_ids"]


@loopcheck.loop(dialects=["chat"], modes=["whole"], can=CAN)
def careful(task):
    return drive(task, looks_up=True)


@loopcheck.loop(dialects=["chat"], modes=["whole"], can=CAN)
def forgetful(task):
    """Books again what it had begun when it died."""
    return drive(task, looks_up=False)


@loopcheck.loop(dialects=["chat"], modes=["whole"])
def mortal(task):
    return drive(task, looks_up=True)


@loopcheck.loop(dialects=["chat"], modes=["whole"], can=CAN)
def unlocked(task):
    """Two processes that resume its run are both let in."""
    kept = Kept(task)
    if task.resume is not None:
        (task.folder / f"here.{os.getpid()}").touch()
        deadline = time.monotonic() + 5
        while len(list(task.folder.glob("here.*"))) < 2 and time.monotonic() < deadline:
            time.sleep(0.005)
    return drive(task, looks_up=True, kept=kept)
'''


def source(name: str, folder: Path) -> TargetSource:
    """The loop of this name as a target that is found in the folder."""
    (folder / "dying.py").write_text(TARGETS, encoding="utf-8")
    return TargetSource(name=name, python=f"dying:{name}", cwd=folder)


def pids(folder: Path) -> list[int]:
    """The process ids of all workers that were ever started there."""
    return [int(line) for line in (folder / "workers.txt").read_text().split()]
