"""Manifest and lock of a Node project: what they say, and how they are laid elsewhere."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final, TypeAlias

from loopcheck.harness.matrix.errors import CannotInstall
from loopcheck.harness.matrix.storage import write_whole

LOCK: Final = "package-lock.json"
MANIFEST: Final = "package.json"
_KINDS: Final = ("dependencies", "devDependencies", "optionalDependencies")
_FILE: Final = "file:"

Json: TypeAlias = dict[str, object]


def text_of(path: Path) -> str | None:
    """The file's text, if it is there. Raises CannotInstall for one that cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise CannotInstall(f"{path}: cannot be read: {error}") from None


def document(path: Path) -> Json | None:
    """The document in this file, if it is there. Raises CannotInstall."""
    text = text_of(path)
    if text is None:
        return None
    try:
        found = json.loads(text)
    except ValueError as error:
        raise CannotInstall(f"{path}: not JSON: {error}") from None
    if not isinstance(found, dict):
        raise CannotInstall(f"{path}: not what npm writes")
    return found


def present(folder: Path) -> frozenset[str]:
    """The names of the packages that a project has."""
    manifest = document(folder / MANIFEST) or {}
    names = {name for kind in _KINDS for name in _table(manifest.get(kind))}
    return frozenset(names | set(packages(document(folder / LOCK) or {})))


def packages(lock: Mapping[str, object]) -> dict[str, str]:
    """Versions by name, of what stands at the top of node_modules."""
    held = _table(lock.get("packages"))
    found: dict[str, str] = {}
    for path, one in held.items():
        entry, name = _table(one), path.removeprefix("node_modules/")
        if name == path or "node_modules/" in name:
            continue
        entry = _table(held.get(str(entry["resolved"]))) if entry.get("link") else entry
        found[name] = str(entry.get("version", "?"))
    return dict(sorted(found.items()))


def is_release(folder: Path, name: str) -> bool:
    """Whether the project has locked a release of the package, and no folder or file."""
    lock = document(folder / LOCK) or {}
    entry = _table(_table(lock.get("packages")).get(f"node_modules/{name}"))
    return "version" in entry and not str(entry.get("resolved", "")).startswith(_FILE)


def package_of(text: str) -> str:
    """The name in name@version."""
    return text[: text.rindex("@")]


def lay(source: Path, home: Path, *, of: Path | None = None) -> None:
    """Lays manifest and lock of `source` into `home`, so that paths in them, which begin at `of`
    (else at `source`), lead to the same places."""
    origin = of or source
    for name in (MANIFEST, LOCK):
        found = document(source / name)
        if found is not None:
            moved = _moved(found, origin, home)
            write_whole(home / name, json.dumps(moved, indent=2) + "\n")


def _moved(found: Json, origin: Path, home: Path) -> Json:
    moved = {**found, **_dependencies(found, origin, home)}
    held = found.get("packages")
    if isinstance(held, dict):
        moved["packages"] = {
            _path(path, origin, home) if path.startswith("..") else path: _entry(
                _table(one), origin, home
            )
            for path, one in held.items()
        }
    return moved


def _entry(entry: Json, origin: Path, home: Path) -> Json:
    moved = {**entry, **_dependencies(entry, origin, home)}
    if entry.get("link") and str(entry.get("resolved", "")).startswith(".."):
        moved["resolved"] = _path(str(entry["resolved"]), origin, home)
    return moved


def _dependencies(held: Json, origin: Path, home: Path) -> Json:
    return {
        kind: {name: _wanted(wanted, origin, home) for name, wanted in _table(held[kind]).items()}
        for kind in _KINDS
        if kind in held
    }


def _wanted(wanted: object, origin: Path, home: Path) -> object:
    if not isinstance(wanted, str) or not wanted.startswith(f"{_FILE}.."):
        return wanted
    return f"{_FILE}{_path(wanted.removeprefix(_FILE), origin, home)}"


def _path(path: str, origin: Path, home: Path) -> str:
    return Path(os.path.relpath(origin.resolve() / path, home.resolve())).as_posix()


def _table(value: object) -> Json:
    return value if isinstance(value, dict) else {}
