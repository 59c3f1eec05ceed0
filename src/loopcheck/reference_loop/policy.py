"""Who may do what: decided for every call, in every round again, from the call alone.

Nothing that a model or a tool says changes a permission; only the application's own policy
speaks here. What is not allowed is answered with a structured error, and the run goes on.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias
from urllib.parse import quote

from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.tools import LoopTool

Permission: TypeAlias = Literal["disabled", "ask", "always"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """On whose behalf the run acts.

    `resources` are what this caller may touch: names, or all below one as in `accounts/7/*`;
    `*` is everything.
    """

    name: str = ""
    resources: tuple[str, ...] = ("*",)

    def may_touch(self, resource: str) -> bool:
        return any(
            resource == pattern or (pattern.endswith("*") and resource.startswith(pattern[:-1]))
            for pattern in self.resources
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """What a rule is asked about."""

    tool: LoopTool
    arguments: JsonObject
    caller: Caller
    round: int


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the policy says about a call, and why: `code` and `reason` go to the model."""

    permission: Permission
    code: str = "denied"
    reason: str = ""


Rule: TypeAlias = Callable[[ToolUse], Awaitable[Ruling]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What a run may do.

    `allowed` lists the tools that may run at all and `offered` those that the model is told
    about; None means all. `permissions` are by tool, `otherwise` holds for the rest. `rule` is
    asked last, about a call that everything else allows: it can forbid the call or have a person
    asked, never widen a permission. An approval that was asked for longer than
    `approval_seconds` ago holds no more.
    """

    allowed: Collection[str] | None = None
    offered: Collection[str] | None = None
    permissions: Mapping[str, Permission] = field(default_factory=dict)
    otherwise: Permission = "always"
    caller: Caller = field(default_factory=Caller)
    rule: Rule | None = None
    approval_seconds: float | None = None

    def offers(self, tool: LoopTool) -> bool:
        """Whether the model is told about this tool."""
        return self._allows(tool) and (self.offered is None or tool.name in self.offered)

    async def rule_on(self, use: ToolUse) -> Ruling:
        """The ruling on one call, whose arguments are valid."""
        tool = use.tool
        if not self._allows(tool):
            return Ruling("disabled", reason=f"{tool.name} is not allowed here.")
        if not self.offers(tool):
            return Ruling("disabled", "not_offered", f"{tool.name} is not offered now.")
        resource = resource_of(tool, use.arguments)
        if resource is not None and not self.caller.may_touch(resource):
            return Ruling("disabled", "out_of_scope", f"{resource} is out of the caller's reach.")
        permission = self._permission(tool)
        if self.rule is None:
            return Ruling(permission)
        return _stricter(Ruling(permission), await self._ask(self.rule, use))

    async def _ask(self, rule: Rule, use: ToolUse) -> Ruling:
        try:
            return await rule(use)
        except Exception as error:
            # A rule that cannot decide has not allowed anything.
            return Ruling("disabled", "rule_failed", f"The rule failed: {type(error).__name__}.")

    def _allows(self, tool: LoopTool) -> bool:
        listed = self.allowed is None or tool.name in self.allowed
        return listed and self._permission(tool) != "disabled"

    def _permission(self, tool: LoopTool) -> Permission:
        return self.permissions.get(tool.name, self.otherwise)


def resource_of(tool: LoopTool, arguments: JsonObject) -> str | None:
    """The resource that this call touches; what comes from arguments cannot leave its place."""
    if tool.resource is None:
        return None
    return tool.resource.format_map({name: _segment(value) for name, value in arguments.items()})


def _segment(value: object) -> str:
    return quote(str(value), safe="")


def _stricter(one: Ruling, other: Ruling) -> Ruling:
    order: tuple[Permission, ...] = ("disabled", "ask", "always")
    return min(other, one, key=lambda ruling: order.index(ruling.permission))
