"""How many connections may be open at once, and how to have more of them."""

from __future__ import annotations

import sys
from typing import Final

if sys.platform != "win32":
    import resource

_MOST: Final = 4096
# What the rest of the process needs: its own files and sockets, clients in tests among them.
_RESERVED: Final = 124
_FEWEST: Final = 16


def most_connections() -> int:
    """The bound, which leaves the process files enough to go on."""
    if sys.platform == "win32":
        return _MOST
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return _MOST
    return max(_FEWEST, min(_MOST, files - _RESERVED))


def allow_most_connections() -> None:
    """Lets this process open as many files as the bound needs, as far as it may. For processes
    that do nothing but serve: others may rely on small file numbers."""
    if sys.platform == "win32":
        return
    files, allowed = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST + _RESERVED
    if allowed != resource.RLIM_INFINITY:
        wanted = min(wanted, allowed)
    if files != resource.RLIM_INFINITY and files < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, allowed))
