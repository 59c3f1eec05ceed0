"""Python environments, made by uv and kept by what is in them."""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from loopcheck.harness.matrix import own_wheel
from loopcheck.harness.matrix.resolution import Resolved
from loopcheck.harness.matrix.storage import check_space, ignored, write_whole
from loopcheck.harness.matrix.uv import Uv, complaint

_MARK: Final = "loopcheck.json"


@dataclass(frozen=True, slots=True)
class Made:
    """An environment that is there: its interpreter, and the seconds that it took to make; None
    where it was there before."""

    python: Path
    seconds: float | None


@dataclass(slots=True)
class Environments:
    """The environments below a folder. May be asked from several threads."""

    uv: Callable[[], Uv]
    folder: Path
    _locks: defaultdict[str, threading.Lock] = field(
        default_factory=lambda: defaultdict(threading.Lock)
    )

    def get(self, resolved: Resolved) -> Made:
        """The environment with these packages and this loopcheck. Raises CannotInstall."""
        key = resolved.key
        with self._locks[key]:
            home = self.folder / key
            held = _mark(home)
            if held is None:
                return self._make(home, resolved)
            if held.get("loopcheck") != own_wheel.digest():
                self._renew(home, resolved)
            return Made(_python(home), None)

    def _make(self, home: Path, resolved: Resolved) -> Made:
        """Makes it beside its place first: what is in its place is whole."""
        started = time.perf_counter()
        ignored(self.folder)
        unfinished = self.folder / f".{home.name}.{os.getpid()}"
        try:
            self._install(unfinished, resolved)
            write_whole(unfinished / _MARK, _marked(resolved))
            shutil.rmtree(home, ignore_errors=True)
            unfinished.replace(home)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
        return Made(_python(home), time.perf_counter() - started)

    def _install(self, home: Path, resolved: Resolved) -> None:
        self._run("venv", "--quiet", "--relocatable", "--python", resolved.interpreter, str(home))
        lines = home / "requirements.txt"
        lines.write_text("".join(f"{line}\n" for line in resolved.lines), encoding="utf-8")
        self._run(
            "pip",
            "install",
            "--quiet",
            "--python",
            str(_python(home)),
            "--no-deps",
            "-r",
            str(lines),
        )
        self._install_own(home)

    def _install_own(self, home: Path) -> None:
        wheel = own_wheel.write(ignored(self.folder.parent / "wheels"))
        install = ("pip", "install", "--quiet", "--no-deps", "--reinstall", "--offline")
        self._run(*install, "--python", str(_python(home)), str(wheel))

    def _renew(self, home: Path, resolved: Resolved) -> None:
        """Puts the loopcheck that runs in the place of the one of before."""
        self._install_own(home)
        write_whole(home / _MARK, _marked(resolved))

    def _run(self, *arguments: str) -> None:
        done = self.uv().run(*arguments)
        if done.returncode != 0:
            check_space(done.stderr, self.folder)
            raise complaint(done.stderr)


def _python(home: Path) -> Path:
    return home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _marked(resolved: Resolved) -> str:
    held = {"loopcheck": own_wheel.digest(), "packages": resolved.packages}
    return json.dumps(held, indent=2) + "\n"


def _mark(home: Path) -> dict[str, object] | None:
    try:
        held = json.loads((home / _MARK).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return held if isinstance(held, dict) and _python(home).exists() else None
