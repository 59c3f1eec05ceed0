"""Business operations: the same action, however often and under whatever id it is asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from loopcheck.reference_loop.arguments import canonical
from loopcheck.reference_loop.tools import LoopTool


def operation_id(
    tool: LoopTool, arguments: Mapping[str, object], *, call: tuple[object, ...]
) -> str | None:
    """The id of the action that this call asks for, the same under every call id.

    A tool without operation key gets one only if something can be done with it, and then each
    call is an action of its own: `call` says which call this is.
    """
    if tool.operation is not None:
        key: list[object] = [
            tool.name,
            [[name, arguments.get(name)] for name in sorted(tool.operation)],
        ]
    elif tool.deduplicates or tool.look_up is not None:
        key = [tool.name, list(call)]
    else:
        return None
    return hashlib.sha256(canonical(key).encode()).hexdigest()[:32]
