"""Files that are whole or not there, and what a full disk is called."""

from __future__ import annotations

import errno
import os
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Writes the file so that whoever reads it finds all of the old text or all of the new. What
    is no file, such as a terminal, is written to as it is."""
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise


def ignored(folder: Path) -> Path:
    """The folder, made if need be, which nobody means to commit."""
    folder.mkdir(parents=True, exist_ok=True)
    mark = folder / ".gitignore"
    if not mark.exists():
        mark.write_text("*\n", encoding="utf-8")
    return folder


def check_space(said: str, where: Path) -> None:
    """Raises OSError where a program says that the disk was full."""
    if "No space left on device" in said or "ENOSPC" in said:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(where))


def told(error: OSError) -> str:
    """The error in words that say what to do."""
    where = f"{error.filename}: " if error.filename else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return (
            f"{where}the disk is full; what was measured before is kept: free some space and run "
            "the same command again"
        )
    return f"{where}{error.strerror or error}; run the same command again once that is mended"
