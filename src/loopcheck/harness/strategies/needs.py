"""What a generated scenario has to say that it needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from loopcheck.harness.scenario.tool_model import HANGING
from loopcheck.harness.strategies.tools import Document

_OF_ACTIONS: Final = {
    "approve": "approval",
    "deny": "approval",
    "answer": "input",
    "cancel": "cancel",
    "resume": "resume",
}


def needs(document: Document) -> list[str]:
    """The capabilities that a target has to declare for this scenario."""
    found = [
        *(["limits"] if "limits" in document else []),
        *(["earlier"] if "earlier" in document else []),
        *(["server_state"] if document.get("state") == "server" else []),
        *(["lanes"] if document.get("lanes") else []),
        *(need for turn in _turns(document) for need in _of_turn(turn)),
        *(need for tool in _values(document["tools"]) for need in _of_tool(tool)),
        *(need for rule in _listed(document.get("meanwhile")) for need in _of_rule(rule)),
    ]
    return list(dict.fromkeys(found))


def _turns(document: Document) -> Iterator[Document]:
    yield from _listed(document["turns"])
    for lane in _values(document.get("lanes")):
        yield from _listed(lane["turns"])


def _of_turn(turn: Document) -> Iterator[str]:
    pieces = [turn, *_listed(turn.get("items"))]
    if any("think" in piece or "redacted" in piece for piece in pieces):
        yield "thinking"
    if "user" in turn:
        yield "follow_up"


def _of_tool(tool: Document) -> Iterator[str]:
    if "approval" in tool:
        yield "approval"
    if tool["kind"] == "ask":
        yield "input"
    if tool["kind"] == "hosted":
        yield "hosted"
    if any("image" in part for part in _listed(tool.get("returns_parts"))):
        yield "images"
    if HANGING.intersection(map(str, _items(tool.get("behaves")))):
        yield "tool_timeout"


def _of_rule(rule: Document) -> Iterator[str]:
    for action in _items(rule["do"]) or [rule["do"]]:
        word = str(next(iter(action)) if isinstance(action, dict) else action)
        if word in _OF_ACTIONS:
            yield _OF_ACTIONS[word]


def _values(value: object) -> list[Document]:
    return list(value.values()) if isinstance(value, dict) else []


def _listed(value: object) -> list[Document]:
    return [one for one in _items(value) if isinstance(one, dict)]


def _items(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else []
