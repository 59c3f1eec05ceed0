"""Calls, executions and endings in words."""

from __future__ import annotations

from datetime import date

import pytest
from journals import call, one_round

from loopcheck.harness.checks.evidence import Response
from loopcheck.harness.checks.wording import as_json, counted, elided, ending, sent_arguments, told


@pytest.mark.parametrize(
    ("text", "limit", "short"),
    [
        ("a" * 160, 160, "a" * 160),
        ("a" * 161, 160, f"{'a' * 77} ... {'a' * 77}"),
        ("0123456789abc", 12, "012 ... abc"),
        ("0123456789ab", 11, "012 ... 9ab"),
        (" one\n  two ", 7, "one two"),
    ],
)
def test_a_long_text_loses_its_middle(text: str, limit: int, short: str) -> None:
    assert elided(text, limit) == short


def test_values_are_compact_json() -> None:
    assert as_json({"city": "Zürich", "on": date(2026, 1, 2)}) == (
        '{"city":"Zürich","on":"2026-01-02"}'
    )


def test_a_call_as_prose() -> None:
    assert told("book", {"event": "E1", "seat": 12}) == "book(event=E1, seat=12)"


@pytest.mark.parametrize(
    ("arguments", "sent", "words"),
    [
        ('{"seat": 1}', "whole", '{"seat": 1}'),
        ('{"seat": 1', "cut", 'only a part of {"seat": 1'),
        ("", "whole", "no arguments"),
        ("", "cut", "only a part of no arguments"),
    ],
)
def test_what_was_sent_of_the_arguments(arguments: str, sent: str, words: str) -> None:
    journal = one_round(call("a", arguments=arguments, sent=sent))
    (issued,) = journal.evidence().responses[0].calls
    assert sent_arguments(issued) == words


def response(ends: str, status: int = 200, fault: str | None = None) -> Response:
    return Response(
        n=3,
        request=1,
        turn=1,
        attempt=1,
        status=status,
        calls=(),
        text="",
        refusal=None,
        stop="length",
        fault=fault,
        ends=ends,
        accepted=False,
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (response("well"), "stop length"),
        (response("marked", fault="slow"), "stop length"),
        (response("unmarked"), "no terminal signal"),
        (response("unmarked", fault="eof"), "no terminal signal (eof)"),
        (response("failed"), "a failure"),
        (response("failed", fault="reset"), "a failure (reset)"),
        (response("failed", 399), "a failure"),
        (response("failed", 400), "status 400"),
        (response("failed", 500, "http"), "status 500 (http)"),
    ],
)
def test_how_a_response_ended(given: Response, words: str) -> None:
    assert ending(given) == words


def test_what_is_counted() -> None:
    assert [counted(count, "call") for count in (0, 1, 2)] == ["0 calls", "1 call", "2 calls"]
