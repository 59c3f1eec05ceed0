"""Lists that are told page by page, as both OpenAI protocols do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal
from urllib.parse import parse_qs

from loopcheck.fake_providers.dialects.openai_common import invalid, wrong_type
from loopcheck.fake_providers.dialects.openai_rules import too_big, too_small
from loopcheck.fake_providers.wire import JsonObject

_USUAL: Final = 20
_MOST: Final = 100
_ORDERS: Final = ("asc", "desc")


def asked(query: str) -> dict[str, str]:
    """The parameters of a query, each once."""
    return {name: values[-1] for name, values in parse_qs(query, keep_blank_values=True).items()}


def page(
    entries: Sequence[JsonObject], wanted: Mapping[str, str], *, order: Literal["asc", "desc"]
) -> JsonObject:
    """The page that the parameters `limit`, `order` and `after` ask for; `order` is the usual
    one. Raises ServiceError for values that they cannot have."""
    limit, chosen = _limit(wanted.get("limit")), wanted.get("order", order)
    if chosen not in _ORDERS:
        raise invalid(
            f"Invalid value: '{chosen}'. Supported values are: 'asc' and 'desc'.",
            param="order",
            code="invalid_value",
        )
    ordered = list(entries) if chosen == "asc" else list(reversed(entries))
    rest = ordered[_start(ordered, wanted.get("after")) :]
    return listed(rest[:limit], more=len(rest) > limit)


def listed(entries: Sequence[JsonObject], *, more: bool = False) -> JsonObject:
    """A list as the service writes one."""
    return {
        "object": "list",
        "data": list(entries),
        "first_id": entries[0]["id"] if entries else None,
        "last_id": entries[-1]["id"] if entries else None,
        "has_more": more,
    }


def _limit(given: str | None) -> int:
    if given is None:
        return _USUAL
    try:
        limit = int(given)
    except ValueError:
        raise wrong_type("limit", "an integer", given) from None
    if limit < 1:
        raise too_small("limit", "integer", 1, limit)
    if limit > _MOST:
        raise too_big("limit", "integer", _MOST, limit)
    return limit


def _start(ordered: Sequence[JsonObject], after: str | None) -> int:
    if after is None:
        return 0
    places = [number for number, entry in enumerate(ordered, 1) if entry["id"] == after]
    if not places:
        raise invalid(f"No item with id '{after}' in this list.", param="after")
    return places[0]
