"""Names for the owners of leases, by which the end of one on the same machine can be seen.

A lease runs out by itself. Its owner's name says more where it can be known for sure: which
process it is, of which start of which machine. Everything else is taken for alive.
"""

from __future__ import annotations

import os
import uuid
from pathlib import Path

_PARTS = 4


def new_owner() -> str:
    """A name that no other owner has: `place/pid/start/unique`, where the place is a start of
    the machine and what its process ids are counted in; without them, unique alone."""
    place, start = _place(), _start(os.getpid())
    unique = uuid.uuid4().hex
    return unique if place is None or start is None else f"{place}/{os.getpid()}/{start}/{unique}"


def has_ended(owner: str) -> bool:
    """Whether the process of this owner is certain to be over. False for what cannot be known
    here: another machine, another container, a name of another kind."""
    parts = owner.split("/")
    if len(parts) != _PARTS or parts[0] != _place() or not parts[1].isdecimal():
        return False
    pid = int(parts[1])
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:
        return False
    # There is a process with this id; it may have begun later.
    return _start(pid) not in (None, parts[2])


def _place() -> str | None:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}.{os.stat('/proc/self/ns/pid').st_ino}"
    except (OSError, UnicodeDecodeError):
        return None


def _start(pid: int) -> str | None:
    """When the process began, in the kernel's own count."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        return stat.rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return None
