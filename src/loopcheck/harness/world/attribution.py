"""Which call an execution is thought to belong to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.checks.values import Reading, ordinary_readings, reading, whole_object
from loopcheck.harness.journal import Entry


@dataclass(slots=True, kw_only=True)
class _Call:
    label: str
    tool: str
    meanings: list[JsonObject]
    call_id: str | None
    response: int
    started: bool = False


class Attribution:
    """Remembers the calls that were issued and which of them were started.

    `schemas` are the parameters of each tool that the scenario has. Not safe for threads by itself.
    """

    def __init__(self, schemas: Mapping[str, JsonObject]) -> None:
        self._schemas = schemas
        self._calls: list[_Call] = []
        self._responses = 0

    def issue(self, response: Entry) -> None:
        """Takes note of the calls of a `response` entry, which is now the current one."""
        self._responses += 1
        calls = response.get("calls")
        for call in calls if isinstance(calls, list | tuple) else ():
            if call.get("sent") == "none":
                continue
            self._calls.append(
                _Call(
                    label=call["label"],
                    tool=call["tool"],
                    meanings=_meanings(call["arguments"]),
                    call_id=call.get("call_id"),
                    response=self._responses,
                )
            )

    def take(self, tool: str, arguments: JsonObject, call_id: str | None) -> str | None:
        """The label of the call that an execution belongs to, which is thereby started.

        By the wire id where it is known, else by tool and arguments: first a call that was not
        started, of the latest response that has one, else one that is run again.
        """
        named = [call for call in self._calls if call_id is not None and call.call_id == call_id]
        candidates = [
            (call, how)
            for call in named or self._calls
            if (how := self._reading(call, tool, arguments)) is not None
        ]
        # Where the id is known it decides, whatever became of the arguments.
        candidates = candidates or [(call, Reading.LOSSLESS) for call in named]
        if not candidates:
            return None
        call, _ = max(candidates, key=lambda one: (not one[0].started, one[0].response, -one[1]))
        call.started = True
        return call.label

    def _reading(self, call: _Call, tool: str, arguments: JsonObject) -> Reading | None:
        if call.tool != tool:
            return None
        schema = self._schemas.get(tool, {})
        found = (reading(meaning, arguments, schema) for meaning in call.meanings)
        return min((how for how in found if how is not None), default=None)


def _meanings(text: str) -> list[JsonObject]:
    whole = whole_object(text)
    return ordinary_readings(text) if whole is None else [whole]
