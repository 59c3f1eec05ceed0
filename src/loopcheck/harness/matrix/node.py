"""Node environments, made by npm: a copy of the project with its packages, under a named Node."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import threading
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from loopcheck.harness.matrix.cell import NodeEnvironment, code_digest, digest
from loopcheck.harness.matrix.errors import CannotInstall
from loopcheck.harness.matrix.node_lock import LOCK, MANIFEST, document, lay, packages, text_of
from loopcheck.harness.matrix.storage import check_space, ignored, write_whole

_MARK: Final = ".loopcheck.json"
_NPMRC: Final = ".npmrc"
_RESOLVING: Final = (MANIFEST, LOCK, _NPMRC)
_NOT_COPIED: Final = shutil.ignore_patterns("node_modules", ".git", ".loopcheck", ".venv")
_QUIET: Final = ("--no-audit", "--no-fund", "--no-progress", "--loglevel=error")
_SYSTEMS: Final[Mapping[str, str]] = {"Linux": "linux", "Darwin": "darwin", "Windows": "win"}
_MACHINES: Final[Mapping[str, str]] = {"x86_64": "x64", "AMD64": "x64", "aarch64": "arm64"}
_NEEDS: Final = re.compile(
    r"peer (?P<what>\S+@\"[^\"]+\") from (?P<name>@?[^@\s]+)@(?P<version>\S+)"
)
_NOT_FOUND: Final = re.compile(
    r"(?:version found for |404 +')(?P<what>(?P<name>@?[^@\s']+)@[^\s']+?)(?:\.(?:\s|$)|')"
)


@dataclass(frozen=True, slots=True)
class ResolvedNode:
    """A project whose lock is complete: where manifest and lock are kept, and what they say."""

    wanted: NodeEnvironment
    files: Path
    key: str
    packages: dict[str, str]


@dataclass(frozen=True, slots=True)
class MadeNode:
    """An environment that is there: the copied project, the folder of its Node (None: the PATH's),
    and the seconds that it took to make; None where it was there before."""

    home: Path
    binaries: Path | None
    seconds: float | None


@dataclass(slots=True)
class NodeEnvironments:
    """Environments of Node below a folder. May be asked from several threads."""

    folder: Path
    anew: bool = False
    _locks: defaultdict[str, threading.Lock] = field(
        default_factory=lambda: defaultdict(threading.Lock)
    )

    def resolve(self, wanted: NodeEnvironment) -> ResolvedNode:
        """The exact packages of the project, without installing them. Raises CannotInstall."""
        project = Path(wanted.folder)
        texts = [text_of(project / name) for name in _RESOLVING]
        if texts[0] is None:
            raise CannotInstall(f"{project} has no {MANIFEST}, so npm cannot install it")
        if texts[1] is None and not wanted.changed:
            raise CannotInstall(f"{project} has no {LOCK}; npm install --package-lock-only")
        name = digest(texts, wanted.changed, wanted.node)
        files = ignored(self.folder / "resolved") / f"node-{name}"
        with self._locks[f"resolved {name}"]:
            if self.anew or not (files / LOCK).is_file():
                self._lock(project, files, wanted)
        lock = document(files / LOCK) or {}
        key = digest(str(project), lock, wanted.node or _version_of("node"))
        return ResolvedNode(wanted=wanted, files=files, key=key, packages=packages(lock))

    def get(self, resolved: ResolvedNode) -> MadeNode:
        """The project with these packages. Raises CannotInstall."""
        home = self.folder / "envs" / f"node-{resolved.key}"
        project = Path(resolved.wanted.folder)
        with self._locks[resolved.key]:
            binaries = self.binaries(resolved.wanted.node)
            held = _mark(home)
            if held is None:
                started = time.perf_counter()
                self._make(home, project, resolved, binaries)
                return MadeNode(home, binaries, time.perf_counter() - started)
            if held != code_digest(project):
                _copy(project, home, resolved)
            return MadeNode(home, binaries, None)

    def binaries(self, version: str | None) -> Path | None:
        """The folder of this Node, fetched through npm where it is not the one on the PATH."""
        if version is None or _is(_version_of("node"), version):
            return None
        system = _SYSTEMS.get(platform.system(), platform.system().lower())
        package = f"node-{system}-{_MACHINES.get(platform.machine(), platform.machine())}"
        home = self.folder / "node" / version
        with self._locks[f"node {version}"]:
            found = home / "node_modules" / package / "bin"
            if not found.is_dir():
                ignored(self.folder / "node")
                home.mkdir(parents=True, exist_ok=True)
                write_whole(home / MANIFEST, '{"private": true}\n')
                npm(home, None, "install", "--no-save", f"{package}@{version}")
        return found

    def _lock(self, project: Path, files: Path, wanted: NodeEnvironment) -> None:
        unfinished = files.with_name(f".{files.name}.{os.getpid()}")
        unfinished.mkdir(parents=True, exist_ok=True)
        try:
            lay(project, unfinished)
            if (project / _NPMRC).is_file():
                shutil.copy(project / _NPMRC, unfinished / _NPMRC)
            if wanted.changed:
                arguments = ("--package-lock-only", "--save-exact", *wanted.changed)
                npm(unfinished, self.binaries(wanted.node), "install", *arguments)
            shutil.rmtree(files, ignore_errors=True)
            unfinished.replace(files)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)

    def _make(
        self, home: Path, project: Path, resolved: ResolvedNode, binaries: Path | None
    ) -> None:
        ignored(home.parent)
        unfinished = home.with_name(f".{home.name}.{os.getpid()}")
        try:
            _copy(project, unfinished, resolved)
            npm(unfinished, binaries, "ci")
            shutil.rmtree(home, ignore_errors=True)
            unfinished.replace(home)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)


def _copy(project: Path, home: Path, resolved: ResolvedNode) -> None:
    """Lays the project's files anew, without touching what npm installed."""
    home.mkdir(parents=True, exist_ok=True)
    for path in home.iterdir():
        if path.is_dir() and path.name != "node_modules":
            shutil.rmtree(path)
        elif not path.is_dir():
            path.unlink()
    shutil.copytree(project, home, ignore=_NOT_COPIED, dirs_exist_ok=True, symlinks=True)
    lay(resolved.files, home)
    write_whole(home / _MARK, json.dumps({"code": code_digest(project)}))


def _mark(home: Path) -> str | None:
    try:
        held = json.loads((home / _MARK).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return str(held.get("code")) if isinstance(held, dict) else None


def _is(found: str, wanted: str) -> bool:
    return found == wanted or found.startswith(f"{wanted}.")


def _version_of(program: str) -> str:
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip().removeprefix("v")


def npm(cwd: Path, binaries: Path | None, *arguments: str) -> str:
    """What npm says in this folder, under the Node of `binaries` (None: the one on the PATH).
    Raises CannotInstall."""
    path = os.environ.get("PATH", os.defpath)
    environment = {**os.environ, "PATH": f"{binaries}{os.pathsep}{path}" if binaries else path}
    try:
        done = subprocess.run(
            ["npm", *arguments, *_QUIET],
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError as error:
        raise CannotInstall(f"npm cannot be started: {error.strerror or error}") from None
    if done.returncode != 0:
        check_space(done.stderr, cwd)
        raise _complaint(done.stderr or done.stdout)
    return done.stdout


def _complaint(said: str) -> CannotInstall:
    """What npm said, in one line and with the package that stands in the way."""
    lines = [re.sub(r"^npm (error|ERR!) ?(code )?", "", line) for line in said.splitlines()]
    text = "\n".join(line for line in lines if "complete log" not in line and "_logs" not in line)
    needs, missing = _NEEDS.search(text), _NOT_FOUND.search(text)
    if needs is not None:
        what = f"{needs['name']} {needs['version']} requires {needs['what']}"
        return CannotInstall(what, package=needs["name"])
    if missing is not None:
        return CannotInstall(f"there is no {missing['what']}", package=missing["name"])
    return CannotInstall(" ".join(text.split())[:600] or "npm gave no reason")
