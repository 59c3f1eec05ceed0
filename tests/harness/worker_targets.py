"""Targets for tests of workers, and tasks for them."""

from __future__ import annotations

from pathlib import Path

from loopcheck.fake_providers.wire import JsonObject

PATIENCE = 10.0

TARGETS = """
import asyncio, json, os, signal, subprocess, sys, time
from loopcheck.harness.target import TargetError, loop
from loopcheck.harness.task import Limits, ended, final

class Limit(Exception):
    pass

@loop(dialects=["chat"], modes=["stream"], can=["parallel"], version="7", packages=["pydantic"],
      ends={Limit: "limit"})
def plain(task):
    match task.prompt:
        case "echo":
            print("printed", file=sys.stderr)
            return final(f"{task.case} {task.dialect} {task.stream} {task.limits.rounds}")
        case "raise":
            raise KeyError("lost")
        case "limit":
            raise Limit("8 rounds")
        case "exit":
            sys.exit(3)
        case "die":
            print("goodbye", file=sys.stderr, flush=True)
            os._exit(3)
        case "kill":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "hang":
            child = subprocess.Popen(["sleep", "60"])
            (task.folder / "child").write_text(str(child.pid))
            time.sleep(60)
        case "print":
            print("to stdout")
            os.write(1, b"to fd 1\\n")
            subprocess.run(["echo", "from a child"], check=True)
            return final(sys.stdin.read())
        case "half":
            return final("\\ud83d")
        case "misdeclared":
            raise TargetError("no model was given")
        case "int":
            return 42

@loop(dialects=["chat"])
async def coroutine(task):
    if task.prompt == "raise":
        raise ConnectionError("away")
    if task.prompt == "cancel":
        raise asyncio.CancelledError
    return ended("refused", f"in loop {id(asyncio.get_running_loop())}")
"""


def document(prompt: str, folder: Path = Path(), **more: object) -> JsonObject:
    return {
        "case": "once/lost[chat-stream]",
        "dialect": "chat",
        "stream": True,
        "base_url": "http://127.0.0.1:9/c/k/v1",
        "api_key": "sk-loopcheck",
        "model": "gpt-4o",
        "prompt": prompt,
        "limits": {"rounds": 8},
        "folder": str(folder),
        **more,
    }
