"""Tools that are operations of an HTTP service: what is sent arrives, whatever it is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from urllib.parse import parse_qsl, unquote

import httpx2
import pytest
from http_services import JsonObject, document, parameter
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from loopcheck.fake_providers.server import Server
from loopcheck.fake_providers.wire import HttpRequest, Reply
from loopcheck.reference_loop import openapi_tools

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
SEGMENT = TEXT.filter(lambda text: text not in ("", ".", ".."))
HEADER = st.from_regex(r"([!-~]([ -~]*[!-~])?)?", fullmatch=True)
NUMBER = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
JSON: SearchStrategy[object] = st.recursive(
    st.none() | st.booleans() | NUMBER | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
ARGUMENTS = st.fixed_dictionaries(
    {"id": SEGMENT, "list": st.lists(SEGMENT, min_size=1)},
    optional={
        "q": TEXT,
        "number": NUMBER,
        "tags": st.lists(TEXT, min_size=1),
        "few": st.lists(TEXT, min_size=2),
        "X-Word": HEADER,
        "crumb": TEXT,
        "json": JSON,
        "body": JSON,
    },
)
EVERYWHERE = document(
    {
        "/s/{id}/of/{list}/end": {
            "post": {
                "operationId": "call",
                "parameters": [
                    parameter("id", "path", schema={"type": "string"}),
                    parameter("list", "path", schema={"type": "array"}),
                    parameter("q", "query"),
                    parameter("number", "query"),
                    parameter("tags", "query"),
                    parameter("few", "query", explode=False),
                    parameter("X-Word", "header"),
                    parameter("crumb", "cookie"),
                    {"name": "json", "in": "query", "content": {"application/json": {}}},
                ],
                "requestBody": {"content": {"application/json": {}}},
            }
        }
    }
)


def read_back(request: HttpRequest) -> JsonObject:
    """The arguments, as a server reads them that knows the document."""
    _, _, id_, _, list_, _ = request.path.split("/")
    found: JsonObject = {"id": unquote(id_), "list": [unquote(one) for one in list_.split(",")]}
    raw = [pair.partition("=")[::2] for pair in request.query.split("&") if pair]
    for name, text in parse_qsl(request.query, keep_blank_values=True, strict_parsing=bool(raw)):
        if name == "tags":
            found.setdefault("tags", []).append(text)
        elif name != "few":
            found[name] = json.loads(text) if name in ("json", "number") else text
    for name, text in raw:
        if name == "few":
            found["few"] = [unquote(one) for one in text.split(",")]
    if "x-word" in request.headers:
        found["X-Word"] = request.headers["x-word"]
    if "cookie" in request.headers:
        found["crumb"] = unquote(request.headers["cookie"].partition("=")[2])
    if request.body:
        found["body"] = json.loads(request.body)
    return found


@pytest.fixture(scope="module")
def mirror() -> Iterator[str]:
    """A server that answers with what it was sent."""

    def app(request: HttpRequest) -> Reply:
        return Reply(
            status=200,
            headers=(("content-type", "application/json"),),
            segments=(json.dumps(read_back(request)).encode(),),
        )

    with Server() as server:
        yield server.mount("mirror", app)
    assert server.errors == ()


@settings(max_examples=60)
@given(arguments=ARGUMENTS)
def test_arguments_arrive_unchanged(mirror: str, arguments: JsonObject) -> None:
    async def through() -> object:
        async with httpx2.AsyncClient(verify=False, trust_env=False) as client:
            (tool,) = openapi_tools(EVERYWHERE, client=client, base_url=mirror)
            return json.loads(await tool.invoke(arguments, call_id="c", operation_id=None))

    assert asyncio.run(through()) == arguments
