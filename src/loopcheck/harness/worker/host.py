"""The worker for Python targets: python -m loopcheck.harness.worker.host MODULE:ATTR"""

from __future__ import annotations

import ctypes
import io
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Iterable
from types import FrameType
from typing import BinaryIO, Final, TypeAlias

from loopcheck.harness.worker.hosted import Hosted
from loopcheck.harness.worker.protocol import (
    Answer,
    Bye,
    Cancel,
    ErrorDocument,
    Errored,
    Hello,
    Malformed,
    Resume,
    Run,
    read_command,
    to_line,
)

_Waiting: TypeAlias = Hello | Run | Resume | Bye | Malformed

_PR_SET_PDEATHSIG: Final = 1
_GRACE_SECONDS: Final = 1.0


def main(arguments: list[str]) -> int:
    """Serves the target until bye, or until the harness is gone."""
    if len(arguments) != 1:
        print("usage: python -m loopcheck.harness.worker.host MODULE:ATTR", file=sys.stderr)
        return 2
    _die_with_parent()
    commands, answers = _take_streams()
    inbox: queue.SimpleQueue[_Waiting] = queue.SimpleQueue()
    signal.signal(signal.SIGTERM, _end)
    try:
        with Hosted(arguments[0]) as hosted:
            threading.Thread(target=_read, args=(commands, inbox, hosted), daemon=True).start()
            for command in iter(lambda: hosted.meanwhile(inbox.get), Bye()):
                answers.write(to_line(_answer(hosted, command)))
    except _Terminated:
        return 128 + signal.SIGTERM
    return 0


class _Terminated(BaseException):
    """The process is to end, in good order: what the target wants done at last is done."""


def _end(signum: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    raise _Terminated


def _die_with_parent() -> None:
    """On Linux, dies when the thread that started this process ends, even in the midst of a
    hang that no Python code could break."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _take_streams() -> tuple[BinaryIO, BinaryIO]:
    """The protocol's streams. Nobody else gets them: what the target prints goes to stderr, and
    what it or its children read is empty."""
    commands = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    return commands, answers


def _read(commands: Iterable[bytes], inbox: queue.SimpleQueue[_Waiting], hosted: Hosted) -> None:
    for line in commands:
        match read_command(line):
            case Cancel(seq=seq):
                hosted.cancel(seq)
            case command:
                inbox.put(command)
    inbox.put(Bye())
    # The harness is gone. A target that hangs must not outlive it, nor what it started.
    time.sleep(_GRACE_SECONDS)
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def _answer(hosted: Hosted, command: _Waiting) -> Answer:
    match command:
        case Run() | Resume():
            return hosted.run(command)
        case Malformed(seq, why):
            return Errored(seq=seq, errored=ErrorDocument(type="ProtocolError", message=why))
        case _:
            return hosted.hello()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
