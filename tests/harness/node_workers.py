"""The Node package for tests: where it is, a Node to run it, and targets that use it."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Final

import pytest

PACKAGE: Final = Path(__file__).resolve().parents[2] / "workers" / "node"
OLDEST: Final = 18

TARGET: Final = """
import fs from "node:fs";
import { spawn, spawnSync } from "node:child_process";
import { setTimeout } from "node:timers/promises";
import { ended, serve, TargetError } from "PACKAGE";

class Limit extends Error {}

console.log("before it is served");
serve(
  { name: "plain", version: "7", dialects: ["chat"], modes: ["stream"], can: ["parallel"],
    ends: [[Limit, "limit"]], limitUnit: "requests" },
  async (task) => {
    switch (task.prompt) {
      case "echo":
        return `${task.case} ${task.dialect} ${task.stream} ${task.limits.rounds}`;
      case "refuse":
        return ended("refused", "refused", "No.");
      case "skip":
        return { skipped: "no chat here" };
      case "raise":
        throw new RangeError("too far");
      case "limit":
        throw new Limit("8 rounds");
      case "misuse":
        throw new TargetError("no model was given");
      case "number":
        return 42;
      case "print":
        console.log("to stdout");
        process.stdout.write("written\\n");
        return "printed";
      case "print raw":
        fs.writeSync(1, "to fd 1\\n");
        spawnSync("echo", ["from a child"], { stdio: "inherit" });
        return "printed";
      case "half":
        return "\\ud83d";
      case "exit":
        console.error("goodbye");
        process.exit(3);
      case "leave":
        Promise.reject(new Error("nobody waits for this"));
        return await setTimeout(60_000, "late");
      case "tools":
        return await task.tools[0].call({ seat: 12 }, { callId: "c1", operationId: "o1" });
      case "child":
        fs.writeFileSync(`${task.folder}/child`, String(spawn("sleep", ["60"]).pid));
        return await setTimeout(60_000, "late");
      case "resume":
        return JSON.stringify(task.resume);
      case "pause":
        return { state: "paused", reason: "asks", run: "r-17",
                 pending: [{ callId: "c1", tool: "book", arguments: { seat: 1 } }] };
      case "wait":
        fs.writeFileSync(`${task.folder}/waiting`, "");
        return await setTimeout(60_000, "late", { signal: task.signal });
      default:
        return task.prompt;
    }
  },
);
"""


def node() -> str:
    """The Node on the PATH; skips the test where there is none, or one that is too old."""
    if not PACKAGE.is_dir():
        pytest.skip("the tests run outside a checkout, without workers/node")
    found = shutil.which("node")
    if found is None:
        pytest.skip("Node workers need node, and it is not here")
    version = node_version(found)
    if version < OLDEST:
        pytest.skip(f"Node workers need Node {OLDEST}, and this is {version}")
    return found


def node_version(program: str | Path) -> int:
    """The major version of a Node."""
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    return int(said.stdout.strip().removeprefix("v").partition(".")[0])


def write_target(folder: Path, text: str = TARGET) -> Path:
    """A target's file, which finds the package without an installation."""
    path = folder / "target.mjs"
    path.write_text(text.replace("PACKAGE", (PACKAGE / "index.js").as_uri()), encoding="utf-8")
    return path


class Lines:
    """A worker's process, line by line, as no client would talk to it."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        assert process.stdin is not None
        assert process.stdout is not None
        self._stdin, self._stdout = process.stdin, process.stdout

    def say(self, *commands: object) -> None:
        """Writes commands; text as it is, the rest as JSON."""
        for command in commands:
            line = command if isinstance(command, str) else json.dumps(command, ensure_ascii=False)
            self._stdin.write(line.encode() + b"\n")
        self._stdin.flush()

    def hear(self) -> dict[str, object]:
        """The next answer."""
        answer = json.loads(self._stdout.readline())
        assert isinstance(answer, dict)
        return answer

    def end(self) -> int:
        """Closes its stdin and waits for its end."""
        self._stdin.close()
        return self.process.wait(10)


@contextmanager
def talking_to(folder: Path, text: str = TARGET) -> Iterator[Lines]:
    """A target's worker, started as the leader of a group of its own, and killed at the end."""
    command = [node(), str(write_target(folder, text))]
    pipe = subprocess.PIPE
    with _Killed(
        command, cwd=folder, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"before it is served\n"
        yield Lines(process)


class _Killed(subprocess.Popen[bytes]):
    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()
        super().__exit__(kind, value, trace)
