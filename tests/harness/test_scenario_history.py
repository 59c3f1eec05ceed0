"""`expect.history`: what lint refuses, and how it is shown."""

from __future__ import annotations

import pytest
from scenario_texts import TURNS, problems, scenario

from loopcheck.harness.scenario.show import show

HEAD = (
    "format: 1\ntitle: T\nrule: R\nprompt: P\nneeds: [images]\n"
    "tools:\n"
    "  reserve: {kind: write, args: {event: string, seat: integer}}\n"
    "  look: {kind: read, returns_parts: [{image: png}]}\n"
)


def found(history: str, *, level: str = "must") -> list[str]:
    """The problems of an expected history, which begins in line 13."""
    return problems(f"{TURNS}expect:\n  {level}: {{history: {history}}}\n", HEAD)


@pytest.mark.parametrize(
    "history",
    [
        "{turn1: {sent: [user]}, turn3: {last: say}}",
        "{turn2: {calls: [seat/1], order: [user, call seat, result seat/2], lacks: [redacted]}}",
        "{turn2: {any_of: [{calls: []}, {last: think}]}}",
    ],
)
def test_what_may_be_expected(history: str) -> None:
    assert found(history) == []


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        (
            "{turn4: {last: say}}",
            ["13:20: 'turn4' is never asked for | known: turn1 to turn3, "],
        ),
        ("{turn0: {last: say}}", ["13:20: 'turn0' is no turn such as 'turn2'"]),
        ("{turn2: {}}", ["13:27: this says nothing about the conversation"]),
        ("{turn2: {calls: [seet]}}", ["13:36: 'seet' is no call of this file | did you mean 's"]),
        ("{turn2: {calls: [seat/0]}}", ["13:36: 'seat/0' is no label such as pay or pay/1"]),
        ("{turn2: {last: usr}}", ["13:34: 'usr' is no entry of a conversation | did you mean 'us"]),
        (
            "{turn2: {any_of: [{last: user}, {lacks: [call sit, x]}]}}",
            [
                "13:60: 'sit' is no call of this file | known: seat",
                "13:70: 'x' is no entry of a conversation | known: call seat, redacted, result ",
            ],
        ),
        (
            "{turn2: {images: [seat]}}",
            [
                "13:28: this is too much for must: an honest loop may write images anew | say it",
                "13:37: no result of 'seat' has an image",
            ],
        ),
        (
            "{turn2: {call: []}}",
            ["13:28: unknown key 'call' in expect.must | did you mean 'cal"],
        ),
        (
            "{turn2: seat}",
            ["13:27: expect.must: 'turn2' must be a mapping or {any_of: ["],
        ),
    ],
)
def test_what_lint_refuses(history: str, expected: list[str]) -> None:
    texts = found(history)

    assert [text[: len(start)] for text, start in zip(texts, expected, strict=True)] == expected


def test_images_may_be_expected_where_a_result_has_one() -> None:
    tail = "turns:\n  - calls: [{as: view, tool: look, args: {}}]\nexpect:\n"

    assert problems(tail + "  should: {history: {turn2: {images: [view]}}}\n", HEAD) == []


def test_it_is_shown_at_its_turn() -> None:
    loaded = scenario(f"{TURNS}expect:\n  should: {{history: {{turn2: {{last: result seat}}}}}}\n")
    lines = show(loaded, "chat", "whole").splitlines()

    place = lines.index('  should hold {"last":"result seat"}')
    assert lines[place - 1].startswith("request 2 expected")
