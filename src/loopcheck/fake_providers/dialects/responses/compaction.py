"""A conversation made shorter: what the user said, and one opaque item for the rest.

The service keeps the rest of it in mind, as a model that reads the item would.
"""

from __future__ import annotations

import hashlib
from typing import Final

from loopcheck.fake_providers.dialects.interface import Memory
from loopcheck.fake_providers.dialects.responses import body, read
from loopcheck.fake_providers.dialects.responses.items import kind_of
from loopcheck.fake_providers.dialects.responses.listing import made_id, resources
from loopcheck.fake_providers.script import Usage
from loopcheck.fake_providers.sse import compact
from loopcheck.fake_providers.wire import HttpRequest, JsonObject

_CREATED: Final = 1_780_000_000
_TOKEN_SIZE: Final = 4


def compacted(request: HttpRequest, memory: Memory) -> JsonObject:
    """The answer to a request that has a conversation made shorter. Raises ServiceError where it
    cannot be read."""
    history = read.read(request, memory).history
    text = compact(list(history))
    seal = _seal(text)
    memory.compactions[seal] = [item for item in history if not _is_users(item)]
    named = made_id("compaction", text)
    said = resources(item for item in history if _is_users(item))
    item: JsonObject = {"id": named, "type": "compaction", "encrypted_content": seal}
    usage = Usage(input=len(text) // _TOKEN_SIZE + 8, output=len(seal) // _TOKEN_SIZE)
    return {
        "id": "resp_" + named.removeprefix("cmp_"),
        "object": "response.compaction",
        "created_at": _CREATED,
        "output": [*said, item],
        "usage": body.usage(usage),
    }


def _is_users(item: JsonObject) -> bool:
    return kind_of(item) == "message" and item.get("role") == "user"


def _seal(text: str) -> str:
    rounds = (f"{number} {text}".encode(errors="surrogatepass") for number in range(4))
    return "gAAAAAB" + "".join(hashlib.sha256(part).hexdigest() for part in rounds)
