"""Packages for environments of tests, without a registry: tiny ones that are made up, and those
that loopcheck needs, packed again from what is installed."""

from __future__ import annotations

import base64
import zipfile
from collections.abc import Iterable, Mapping
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement

from loopcheck.harness.matrix import own_wheel

LOOP: Final = (Path(__file__).parents[1] / "stdlib_loop.py").read_text(encoding="utf-8")
HONEST: Final = "\n\ndef run(task):\n    return loop(task, parsed, looks=True)\n"
CARELESS: Final = "\n\ndef run(task):\n    return loop(task, closed_brace, looks=False)\n"
_HEADER: Final = '"content-type": "application/json",'
# What each release of the made-up SDK does, and what it needs.
RELEASES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "1.0": (LOOP + HONEST, ()),
    "2.0": (LOOP.replace(_HEADER, f'{_HEADER} "x-tiny": "2.0 new",') + CARELESS, ()),
    "3.0": (LOOP + "\n\ndef run():\n    raise AssertionError\n", ()),
    "4.0": ("from json import gone\n", ()),
    "5.0": (LOOP + HONEST, ("tinybase>=9",)),
}


def write(folder: Path, *, also: Iterable[str] = ()) -> Path:
    """Writes all of them into this folder, for uv's and pip's --find-links; and what is installed
    of these packages and of all that they need."""
    folder.mkdir()
    for version, (text, needs) in RELEASES.items():
        pack(folder, "tinysdk", version, text, needs)
    for version in ("1.0", "2.0", "3.0"):
        pack(folder, "tinybase", version, "")
    for name in _needed([*own_wheel.requirements(), *also], set()):
        _pack_again(folder, name)
    return folder


def _needed(requirements: Iterable[str], seen: set[str]) -> set[str]:
    for text in requirements:
        needed = Requirement(text)
        if needed.name in seen or not _applies(needed):
            continue
        seen.add(needed.name)
        _needed(metadata.requires(needed.name) or (), seen)
    return seen


def _applies(needed: Requirement) -> bool:
    return needed.marker is None or needed.marker.evaluate({"extra": ""})


def _pack_again(folder: Path, name: str) -> None:
    found = metadata.distribution(name)
    info = f"{found.metadata['Name'].replace('-', '_')}-{found.version}.dist-info"
    files = {
        str(file): Path(str(found.locate_file(file))).read_bytes()
        for file in found.files or ()
        if ".." not in file.parts and file.suffix != ".pyc" and ".dist-info" not in str(file)
    }
    info_files = {name: found.read_text(name) or "" for name in ("METADATA", "WHEEL")}
    tags = [
        line.removeprefix("Tag: ")
        for line in info_files["WHEEL"].splitlines()
        if line.startswith("Tag: ")
    ]
    base = f"{found.metadata['Name'].replace('-', '_')}-{found.version}"
    files |= {f"{info}/{name}": text.encode() for name, text in info_files.items()}
    _zip(folder / f"{base}-{tags[0]}.whl", info, files)


def pack(folder: Path, name: str, version: str, text: str, needs: Iterable[str] = ()) -> None:
    """Writes a release of a package that is one module."""
    info = f"{name}-{version}.dist-info"
    told = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}"]
    told += [f"Requires-Dist: {need}" for need in needs]
    wheel = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    held = {f"{info}/METADATA": "\n".join([*told, ""]).encode(), f"{info}/WHEEL": wheel.encode()}
    _zip(folder / f"{name}-{version}-py3-none-any.whl", info, {f"{name}.py": text.encode(), **held})


def _zip(path: Path, info: str, files: Mapping[str, bytes]) -> None:
    lines = [f"{name},sha256={_hash(content)},{len(content)}" for name, content in files.items()]
    record = "\n".join([*lines, f"{info}/RECORD,,", ""])
    with zipfile.ZipFile(path, "w") as wheel:
        for name, content in files.items():
            wheel.writestr(name, content)
        wheel.writestr(f"{info}/RECORD", record)


def _hash(content: bytes) -> str:
    return base64.urlsafe_b64encode(sha256(content).digest()).decode().rstrip("=")
