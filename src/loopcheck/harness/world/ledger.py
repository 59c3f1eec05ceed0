"""The ledger: the effects that were really committed, and what a look-up says of them."""

from __future__ import annotations

from dataclasses import dataclass

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.checks.values import same
from loopcheck.harness.scenario.model import ToolModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """One committed change. `operation` holds the key arguments of its business operation,
    `result` what the tool returns for it when all is well."""

    tool: str
    arguments: JsonObject
    operation: JsonObject | None
    operation_id: str | None
    result: str = ""


def operation_of(model: ToolModel, arguments: JsonObject) -> JsonObject | None:
    """The key arguments of the business operation, or None where the tool declares none."""
    if model.operation is None:
        return None
    return {name: arguments[name] for name in model.operation if name in arguments}


class Ledger:
    """The committed effects, in order. Not safe for threads by itself."""

    def __init__(self) -> None:
        self._effects: list[Committed] = []

    def commit(self, effect: Committed, *, deduplicates: bool) -> bool:
        """Commits an effect and says whether it was recognised as one committed before, in
        which case it has no second effect."""
        if deduplicates and any(_same_operation(effect, other) for other in self._effects):
            return True
        self._effects.append(effect)
        return False

    def find(self, tool: str, operation_id: str) -> Committed | None:
        """The effect of this operation, if it was committed."""
        for effect in self._effects:
            if effect.tool == tool and effect.operation_id == operation_id:
                return effect
        return None


def _same_operation(one: Committed, other: Committed) -> bool:
    if one.tool != other.tool:
        return False
    # Given an id, the system goes by it alone, as real ones do: a fresh id books again.
    if one.operation_id is not None:
        return one.operation_id == other.operation_id
    return one.operation is not None and same(one.operation, other.operation)


def answer(lookup: str, effect: Committed | None, *, is_open: bool) -> tuple[str, JsonObject]:
    """What a look-up says, in one word and as the document that the loop gets.

    `inconclusive` is said whatever the ledger holds. `found` and `absent` tell the truth; where
    it `is_open`, because a body that may commit has not ended, `found` cannot tell yet, and
    `absent` decides that there will be no effect.
    """
    if lookup == "inconclusive":
        return _told("inconclusive", found=None, detail="cannot tell; ask a person")
    if effect is not None:
        return _told(
            "found",
            found=True,
            result=effect.result,
            tool=effect.tool,
            arguments=effect.arguments,
            operation=effect.operation,
        )
    if is_open and lookup == "found":
        return _told("inconclusive", found=None, detail="still being carried out; ask again")
    return _told("absent", found=False)


def _told(status: str, **members: object) -> tuple[str, JsonObject]:
    return status, {"status": status, **members}
