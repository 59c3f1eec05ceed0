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
from typing import BinaryIO, Final

from loopcheck.harness.worker.hosted import Hosted
from loopcheck.harness.worker.protocol import (
    Answer,
    Bye,
    Cancel,
    Command,
    ErrorDocument,
    Errored,
    Hello,
    Malformed,
    Run,
    read_command,
    to_line,
)

_PR_SET_PDEATHSIG: Final = 1
_GRACE_SECONDS: Final = 1.0


def main(arguments: list[str]) -> int:
    """Serves the target until bye, or until the harness is gone."""
    if len(arguments) != 1:
        print("usage: python -m loopcheck.harness.worker.host MODULE:ATTR", file=sys.stderr)
        return 2
    _die_with_parent()
    commands, answers = _take_streams()
    inbox: queue.SimpleQueue[Command | Malformed] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(commands, inbox), daemon=True).start()
    with Hosted(arguments[0]) as hosted:
        for command in iter(inbox.get, Bye()):
            answer = _answer(hosted, command)
            if answer is not None:
                answers.write(to_line(answer))
    return 0


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


def _read(commands: Iterable[bytes], inbox: queue.SimpleQueue[Command | Malformed]) -> None:
    for line in commands:
        inbox.put(read_command(line))
    inbox.put(Bye())
    # The harness is gone. A target that hangs must not outlive it, nor what it started.
    time.sleep(_GRACE_SECONDS)
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def _answer(hosted: Hosted, command: Command | Malformed) -> Answer | None:
    match command:
        case Hello():
            return hosted.hello()
        case Run():
            return hosted.run(command)
        case Malformed(seq, why):
            return Errored(seq=seq, errored=ErrorDocument(type="ProtocolError", message=why))
        case Cancel(seq=seq):
            # An answer would be taken for that of the run, which may have ended meanwhile.
            print(f"loopcheck: this worker cannot cancel {seq}", file=sys.stderr)
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
