"""Results with parts, and refusals that say when to ask again."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

import loopcheck
from loopcheck.harness.tool_values import ImagePart, Parts, RateLimited, TextPart

PARTS = (TextPart("Seat 12"), ImagePart(b"\x89PNG", "image/png"), TextPart("by the window"))
CONTENT = [
    {"type": "text", "text": "Seat 12"},
    {"type": "image", "data": "iVBORw==", "mimeType": "image/png"},
    {"type": "text", "text": "by the window"},
]


def test_parts_are_a_text_for_loops_that_take_no_more() -> None:
    result = Parts(PARTS)

    assert result == "Seat 12\n[image]\nby the window"
    assert json.dumps(result) == '"Seat 12\\n[image]\\nby the window"'
    assert type(str(result)) is str
    assert result.parts == PARTS


def test_parts_and_their_content_are_the_same() -> None:
    assert Parts(PARTS).content == CONTENT
    assert Parts.of_content(CONTENT).parts == PARTS


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "the content of a result is a list of parts"),
        ([{"type": "text"}], "no part of a result: {'type': 'text'}"),
        ([{"type": "audio", "data": ""}], "no part of a result: "),
        ([{"type": "image", "data": "%", "mimeType": "image/png"}], "the data of an image is base"),
    ],
)
def test_content_that_is_none(content: object, message: str) -> None:
    with pytest.raises(ValueError, match="^" + message[:20].replace("{", r"\{")) as raised:
        Parts.of_content(content)
    assert str(raised.value).startswith(message)


def test_parts_survive_copies() -> None:
    for copied in (copy.deepcopy(Parts(PARTS)), pickle.loads(pickle.dumps(Parts(PARTS)))):
        assert (copied, copied.parts) == (Parts(PARTS), PARTS)


def test_refusal_says_when_to_ask_again() -> None:
    assert RateLimited("busy", retry_after=0.3).retry_after == 0.3
    assert RateLimited("busy").retry_after is None
    assert str(RateLimited("busy")) == "busy"


def test_they_are_public() -> None:
    public = (loopcheck.RateLimited, loopcheck.Parts, loopcheck.TextPart, loopcheck.ImagePart)

    assert public == (RateLimited, Parts, TextPart, ImagePart)
