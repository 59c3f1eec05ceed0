"""Whose token a result carries."""

from __future__ import annotations

from dataclasses import dataclass

from loopcheck.harness.checks.evidence import Evidence, Execution, Issued
from loopcheck.harness.checks.matching import call_reading, equal_calls, is_visible


@dataclass(frozen=True, slots=True)
class Owned:
    """An execution with the calls that it may have been meant for.

    `loose` when its arguments are those of no call, so that only the tool tells."""

    execution: Execution
    calls: tuple[Issued, ...]
    loose: bool = False


@dataclass(frozen=True, slots=True)
class Owners:
    """The tokens of a case, with the calls that they belong to."""

    owned: tuple[Owned, ...]

    def executions(self, text: str) -> list[Execution]:
        """The executions whose token stands in the text."""
        return [one.execution for one in self.owned if _holds(text, one.execution)]

    def found(self, text: str) -> frozenset[str]:
        """The tokens that stand in the text."""
        return frozenset(one.token for one in self.executions(text))

    def own(self, call: Issued) -> frozenset[str]:
        """The tokens of the executions of this call and of those equal to it."""
        return frozenset(
            one.execution.token for one in self.owned if not one.loose and _is_for(one, call)
        )

    def foreign(self, text: str, call: Issued) -> bool:
        """Whether the text carries the token of another call. Results of executions that went
        astray are not held against a call of the same tool: the stray is the defect."""
        return any(
            not _is_for(one, call) and not (one.loose and one.execution.tool == call.tool)
            for one in self.owned
            if _holds(text, one.execution)
        )

    def names(self, text: str) -> str:
        """The calls, else the tools, whose tokens stand in the text."""
        seen = [one for one in self.owned if _holds(text, one.execution)]
        return " and ".join(
            dict.fromkeys(
                f"call {one.calls[0].name}" if one.calls else one.execution.tool for one in seen
            )
        )


def owners(evidence: Evidence) -> Owners:
    """Whom the tokens of this case belong to: every call that the execution may stem from, those
    of the response that was current before others. Calls that read alike cannot be told apart."""
    return Owners(tuple(_owned(execution, evidence) for execution in evidence.executions))


def _owned(execution: Execution, evidence: Evidence) -> Owned:
    calls = [
        call
        for response in sorted(evidence.responses, key=lambda r: r.n != execution.response)
        for call in response.calls
        if is_visible(call) and call_reading(execution, call, evidence.scenario) is not None
    ]
    return Owned(execution, tuple(calls), loose=not calls)


def _holds(text: str, execution: Execution) -> bool:
    return bool(execution.token) and execution.token in text


def _is_for(one: Owned, call: Issued) -> bool:
    return any(owner == call or equal_calls(owner, call) for owner in one.calls)
