"""What the journal says of thinking: as it was issued, and as it came back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from loopcheck.fake_providers.provider import NOTHING, Provider
from loopcheck.fake_providers.recording import request_fields
from loopcheck.fake_providers.script import (
    Call,
    Content,
    DialectName,
    Say,
    Script,
    Think,
    Turn,
    answer,
)
from loopcheck.fake_providers.wire import HttpRequest, JsonObject

PATHS = {"responses": "/v1/responses", "messages": "/v1/messages"}
HEADERS = {
    "authorization": "Bearer sk-test",
    "x-api-key": "sk-test",
    "anthropic-version": "2023-06-01",
    "content-type": "application/json",
}
CONTENT: tuple[Content, ...] = (
    Think("One."),
    Think(redacted=True),
    Say("On it."),
    Call(label="book", tool="reserve", arguments='{"seat":12}'),
)


class Played:
    """Two requests to a provider: the question, then everything with a result."""

    def __init__(self, dialect: DialectName) -> None:
        self.entries: list[dict[str, Any]] = []
        told = Script(
            turns=(Turn(number=1, attempts=(answer(CONTENT),)),),
            otherwise=(Turn(number=0, attempts=(answer([Say("Done.")]),)),),
            prompt="Go.",
        )
        self.provider = Provider(
            script=told, dialect=dialect, mode="whole", seed=0, record=self.record
        )
        self.dialect = dialect
        name = "input" if dialect == "responses" else "messages"
        self.history: list[object] = [{"role": "user", "content": "Go."}]
        body = {"model": "m-1", "max_tokens": 9} if dialect == "messages" else {"model": "m-1"}
        self.body: JsonObject = {**body, name: self.history}

    def record(self, kind: str, shared: Mapping[str, object] = NOTHING, /, **fields: object) -> int:
        self.entries.append({"kind": kind, **shared, **fields})
        return len(self.entries)

    def post(self) -> dict[str, Any]:
        reply = self.provider.handle(
            HttpRequest(
                method="POST",
                path=PATHS[self.dialect],
                headers=HEADERS,
                body=json.dumps(self.body).encode(),
            )
        )
        body: dict[str, Any] = json.loads(b"".join(reply.segments))
        return body

    def last(self, kind: str) -> dict[str, Any]:
        return [entry for entry in self.entries if entry["kind"] == kind][-1]

    def thoughts(self) -> list[tuple[str, str | None, str | None]]:
        self.post()
        items = self.last("request")["conversation"]
        return [
            (item["text"], item.get("item_id"), item.get("seal"))
            for item in items
            if item["kind"] == "think"
        ]


@pytest.mark.parametrize("dialect", ["responses", "messages"])
def test_what_was_issued_is_what_comes_back(dialect: DialectName) -> None:
    played = Played(dialect)
    body = played.post()
    issued = played.last("response")
    assert [(one["kind"], one["text"], one["position"]) for one in issued["carry"]] == [
        ("think", "One.", 0),
        ("redacted", "", 1),
    ]
    assert [(one["label"], one["position"]) for one in issued["calls"]] == [("book", 3)]
    assert issued["usage"].keys() == {"input", "output"}
    if dialect == "responses":
        played.history += body["output"]
    else:
        played.history.append({"role": "assistant", "content": body["content"]})
    assert played.thoughts() == [
        (one["text"], one["item_id"] or None, one["seal"]) for one in issued["carry"]
    ]


def test_calls_of_responses_say_their_item_id() -> None:
    played = Played("responses")
    played.history += played.post()["output"]
    (issued,) = played.last("response")["calls"]
    played.post()
    (held,) = [i for i in played.last("request")["conversation"] if i["kind"] == "call"]
    assert held["item_id"] == issued["item_id"]
    assert issued["item_id"].startswith("fc_")


def test_what_was_left_out_of_a_block_is_empty() -> None:
    played = Played("messages")
    played.history.append(
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "One."}]}
    )
    assert played.thoughts() == [("One.", None, "")]


@pytest.mark.parametrize(("key", "kept"), [("k", True), ("sk-0123", True), ("sk-01234", False)])
def test_only_a_key_that_no_word_holds_is_masked(key: str, kept: bool) -> None:
    said = f"ask {key} again"
    asked = HttpRequest(
        method="POST",
        path="/v1/chat/completions",
        headers={"authorization": f"Bearer {key}", "user-agent": said},
        body=json.dumps({"messages": [{"role": "user", "content": said}]}).encode(),
    )
    fields = request_fields(asked, None, secret=key)
    written = said if kept else "ask *** again"
    assert fields["headers"] == {"user-agent": written}
    assert fields["body"] == {"messages": [{"role": "user", "content": written}]}
