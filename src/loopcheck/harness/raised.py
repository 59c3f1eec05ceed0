"""Which line an exception came from, in words that lead there."""

from __future__ import annotations

import importlib
import sysconfig
from collections.abc import Collection, Iterator
from pathlib import Path
from types import TracebackType
from typing import Final

import loopcheck

_PACKAGES: Final = tuple(sysconfig.get_path(kind) for kind in ("purelib", "platlib"))
_OWN: Final = str(Path(loopcheck.__file__).parent)
_INSTALLED: Final = (
    *(sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib")),
    *_PACKAGES,
    _OWN,
)


def place(error: BaseException, *, beside: Collection[str] = (), whole: bool = False) -> str | None:
    """The user's own line as `file:line`, which says more than the one deep inside a package that
    it leads to; that one stands behind it, as in `llm.py:88 in sdk/client.py:12`. Frames of the
    files in `beside` are left out. Unless `whole`, files are named from where they are found."""
    frames = [
        (file, number)
        for file, number in _frames(error.__traceback__)
        if file not in (__file__, importlib.__file__, *beside) and not file.startswith("<frozen ")
    ]
    if not frames:
        return None
    own = [frame for frame in frames if not frame[0].startswith(_INSTALLED)]
    packages = [
        frame
        for frame in frames
        if frame[0].startswith(_PACKAGES) and not frame[0].startswith(_OWN)
    ]
    lines = dict.fromkeys((own[-1:] or packages[-1:] or frames[-1:]) + packages[-1:])
    return " in ".join(f"{file if whole else _shortened(file)}:{number}" for file, number in lines)


def _frames(trace: TracebackType | None) -> Iterator[tuple[str, int]]:
    while trace is not None:
        yield trace.tb_frame.f_code.co_filename, trace.tb_lineno
        trace = trace.tb_next


def _shortened(file: str) -> str:
    for folder in (*_PACKAGES, str(Path(_OWN).parent), str(Path.cwd())):
        if file.startswith(folder):
            return file[len(folder) :].lstrip("/\\")
    return file
