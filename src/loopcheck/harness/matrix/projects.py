"""What a Python project declares, and what it has locked."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final

from packaging.markers import Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from loopcheck.harness.matrix.errors import CannotInstall
from loopcheck.harness.matrix.own_wheel import NAME
from loopcheck.harness.matrix.uv import Uv, complaint

_LOCKS: Final = ("uv.lock", "pylock.toml", "poetry.lock", "pdm.lock")
_REQUIREMENTS: Final = ("requirements.lock", "requirements.txt")
_MAIN: Final = frozenset({"main", "default"})
_EXTRAS: Final[Mapping[str, str]] = {"openai-sdk": "openai", "anthropic-sdk": "anthropic"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """The requirements that a project declares, and those that it has locked, one a line."""

    declared: tuple[str, ...]
    locked: tuple[str, ...]

    @property
    def present(self) -> frozenset[str]:
        """The names of the packages that it has."""
        return frozenset(filter(None, map(name_of, (*self.declared, *self.locked))))


def name_of(line: str) -> str | None:
    """The name of the package that a line of requirements asks for."""
    found = re.match(r"\s*([A-Za-z0-9][\w.-]*)", line)
    return str(canonicalize_name(found[1])) if found else None


def of_ready_made(target: str) -> Project:
    """What a ready-made target of loopcheck needs, as it is installed beside loopcheck."""
    extra = _EXTRAS.get(target, target)
    declared = tuple(_of_extra(extra))
    return Project(declared=declared, locked=tuple(_installed(map(Requirement, declared))))


def _of_extra(extra: str) -> Iterator[str]:
    for text in metadata.requires(NAME) or ():
        needed = Requirement(text)
        if needed.marker is None or "extra" not in str(needed.marker):
            continue
        if not needed.marker.evaluate({"extra": extra}):
            continue
        if canonicalize_name(needed.name) == NAME:
            for other in needed.extras:
                yield from _of_extra(other)
        else:
            needed.marker = None
            yield str(needed)


def _installed(wanted: Iterable[Requirement]) -> Iterator[str]:
    """What is installed of these packages and of all that they need."""
    seen: set[str] = set()
    waiting = list(wanted)
    while waiting:
        needed = waiting.pop()
        name = canonicalize_name(needed.name)
        if name in seen or not _applies(needed.marker, ""):
            continue
        try:
            found = metadata.distribution(needed.name)
        except metadata.PackageNotFoundError:
            continue
        seen.add(name)
        yield f"{name}=={found.version}"
        for text in found.requires or ():
            below = Requirement(text)
            if any(_applies(below.marker, extra) for extra in ("", *needed.extras)):
                below.marker = None
                waiting.append(below)


def _applies(marker: Marker | None, extra: str) -> bool:
    return marker is None or marker.evaluate({"extra": extra})


def of_folder(folder: Path, uv: Callable[[], Uv]) -> Project:
    """The project in this folder. Raises CannotInstall where nothing says what it has."""
    declared = tuple(_declared(folder))
    for name in _LOCKS:
        if (folder / name).is_file():
            locked = _READERS[name](folder, uv)
            return Project(declared=declared or _unpinned(locked), locked=locked)
    for name in _REQUIREMENTS:
        if (folder / name).is_file():
            locked = tuple(_lines(folder / name))
            return Project(declared=declared or _unpinned(locked), locked=locked)
    locked = _of_environment(folder, uv, declared)
    return Project(declared=declared or _unpinned(locked), locked=locked)


def _toml(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CannotInstall(f"{path}: cannot be read: {error}") from None


def _declared(folder: Path) -> Iterator[str]:
    path = folder / "pyproject.toml"
    project = _toml(path).get("project") if path.is_file() else None
    dependencies = project.get("dependencies") if isinstance(project, dict) else None
    if isinstance(dependencies, list):
        yield from (str(line) for line in dependencies)


def _unpinned(lines: Iterable[str]) -> tuple[str, ...]:
    """The packages of a lock by their names, for a project that declares them nowhere else."""
    return tuple(dict.fromkeys(_without_version(line) for line in lines))


def _without_version(line: str) -> str:
    try:
        needed = Requirement(line)
    except InvalidRequirement:
        return line
    extras = f"[{','.join(sorted(needed.extras))}]" if needed.extras else ""
    marker = f" ; {needed.marker}" if needed.marker else ""
    return line if needed.url else f"{needed.name}{extras}{marker}"


def _of_uv(folder: Path, uv: Callable[[], Uv]) -> tuple[str, ...]:
    arguments = ("--frozen", "--no-hashes", "--no-header", "--no-annotate", "--no-dev")
    done = uv().run("export", *arguments, "--no-emit-project", cwd=folder)
    if done.returncode != 0:
        raise CannotInstall(f"{folder / 'uv.lock'}: {complaint(done.stderr).message}")
    return tuple(_absolute(line, folder) for line in done.stdout.splitlines() if line.strip())


def _of_packages(name: str) -> Callable[[Path, Callable[[], Uv]], tuple[str, ...]]:
    """Reads locks that list their packages as tables."""

    def read(folder: Path, uv: Callable[[], Uv]) -> tuple[str, ...]:
        document = _toml(folder / name)
        packages = document.get("packages", document.get("package"))
        if not isinstance(packages, list):
            raise CannotInstall(f"{folder / name}: lists no packages; lock the project anew")
        return tuple(filter(None, map(_of_table, packages)))

    return read


def _of_table(package: object) -> str | None:
    if not isinstance(package, dict) or "version" not in package:
        return None
    groups = package.get("groups")
    if isinstance(groups, list) and not _MAIN & set(groups):
        return None
    marker = package.get("marker") or package.get("markers")
    return f"{package['name']}=={package['version']}" + (
        f" ; {marker}" if isinstance(marker, str) and marker else ""
    )


_READERS: Final[Mapping[str, Callable[[Path, Callable[[], Uv]], tuple[str, ...]]]] = {
    "uv.lock": _of_uv,
    **{name: _of_packages(name) for name in _LOCKS if name != "uv.lock"},
}


def _lines(path: Path) -> Iterator[str]:
    """The requirements in a file, and in those that it includes; paths are made absolute."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CannotInstall(f"{path}: cannot be read: {error}") from None
    for raw in text.replace("\\\n", " ").splitlines():
        line = re.sub(r"(^|\s)#.*$", "", raw)
        line = re.sub(r"\s--hash=\S+", "", line).strip()
        included = re.match(r"(?:-r|--requirement)[ =]?(.+)", line)
        if included:
            yield from _lines(path.parent / included[1].strip())
        elif line:
            yield _absolute(line, path.parent)


def _absolute(line: str, folder: Path) -> str:
    editable, _, path = line.partition(" ") if line.startswith("-e ") else ("", "", line)
    if not path.startswith(("./", "../", ".\\")) and path != ".":
        return line
    return f"{editable} {(folder / path).resolve()}".strip()


def _of_environment(
    folder: Path, uv: Callable[[], Uv], declared: tuple[str, ...]
) -> tuple[str, ...]:
    """What is installed now: in the project's own environment, else beside loopcheck."""
    own = next((folder / name for name in (".venv", "venv") if (folder / name).is_dir()), None)
    if own is None and declared:
        return tuple(_installed(map(Requirement, declared)))
    python = str(own) if own is not None else sys.executable
    done = uv().run("pip", "freeze", "--python", python)
    if done.returncode != 0:
        said = complaint(done.stderr).message
        raise CannotInstall(f"{folder}: nothing says what it has: {said}")
    lines = done.stdout.splitlines()
    return tuple(line for line in lines if name_of(line) != NAME and not _is_own(line))


def _is_own(line: str) -> bool:
    """Whether this is loopcheck from its sources."""
    return line.startswith("-e ") and line.rstrip("/").endswith(NAME)
