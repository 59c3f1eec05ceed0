"""A wheel of the loopcheck that runs, however it was installed.

It is written from the installed files and their metadata, so that an editable install, a checkout
and a wheel work alike, and nothing has to be built or fetched.
"""

from __future__ import annotations

import base64
import os
import threading
import zipfile
from functools import cache
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Final

import loopcheck

NAME: Final = "loopcheck"
_DATE: Final = (2020, 1, 1, 0, 0, 0)  # the same files make the same wheel
_METADATA: Final = ("METADATA", "entry_points.txt")
_WHEEL: Final = (
    "Wheel-Version: 1.0\nGenerator: loopcheck\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
)


@cache
def digest() -> str:
    """What stands for this loopcheck: its version and every byte of its files."""
    found = sha256(metadata.version(NAME).encode())
    for name, content in _files():
        found.update(f"\0{name}\0{len(content)}\0".encode())
        found.update(content)
    return found.hexdigest()[:16]


def write(folder: Path) -> Path:
    """Writes the wheel into a folder of its own below this one, once, and returns its path."""
    version = metadata.version(NAME)
    path = folder / digest() / f"{NAME}-{version}-py3-none-any.whl"
    if path.is_file():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    # Several threads and processes may write it at once, each the same.
    unfinished = path.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
    try:
        with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as wheel:
            _fill(wheel, f"{NAME}-{version}.dist-info")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return path


def requirements() -> tuple[str, ...]:
    """What it needs itself, without its extras."""
    needed = metadata.requires(NAME) or ()
    return tuple(one for one in needed if "extra ==" not in one)


def _fill(wheel: zipfile.ZipFile, info: str) -> None:
    distribution = metadata.distribution(NAME)
    files = dict(_files())
    for name in _METADATA:
        text = distribution.read_text(name)
        if text is not None:
            files[f"{info}/{name}"] = text.encode()
    files[f"{info}/WHEEL"] = _WHEEL.encode()
    files[f"{info}/RECORD"] = _record(files, info)
    for name, content in files.items():
        wheel.writestr(zipfile.ZipInfo(name, _DATE), content, zipfile.ZIP_DEFLATED)


def _record(files: dict[str, bytes], info: str) -> bytes:
    lines = [f"{name},sha256={_hash(content)},{len(content)}" for name, content in files.items()]
    return "\n".join([*lines, f"{info}/RECORD,,", ""]).encode()


def _hash(content: bytes) -> str:
    return base64.urlsafe_b64encode(sha256(content).digest()).decode().rstrip("=")


def _files() -> list[tuple[str, bytes]]:
    root = Path(loopcheck.__file__).parent
    found = sorted(path for path in root.rglob("*") if path.is_file())
    return [
        (path.relative_to(root.parent).as_posix(), path.read_bytes())
        for path in found
        if "__pycache__" not in path.parts
    ]
