"""The world as an OpenAPI document: valid, true, and served beside the tools."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator
from worlds import Arguments, Staged, scenario

from loopcheck.fake_providers.server import Server
from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.scenario.load import load_builtin
from loopcheck.harness.stage import Stage
from loopcheck.harness.world import openapi
from loopcheck.harness.world.http import tool_app

ROOT = "http://127.0.0.1:8/c/1"
TREE: JsonObject = {
    "type": "object",
    "properties": {
        "root": {"$ref": "#/$defs/node"},
        "again": {"$ref": "#"},
        "word": {"const": {"$ref": "#/$defs/node"}},
    },
    "$defs": {
        "node": {
            "type": "object",
            "properties": {"below": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
            "additionalProperties": False,
        }
    },
}


def described(tools: dict[str, Arguments]) -> JsonObject:
    return openapi.document(scenario(tools), ROOT)


def assert_valid(document: JsonObject) -> None:
    # As it is read by others: JSON.
    errors = OpenAPIV31SpecValidator(json.loads(json.dumps(document))).iter_errors()
    assert [error.message for error in errors] == []


def at(document: object, pointer: str) -> object:
    for part in pointer.removeprefix("#").split("/")[1:]:
        assert isinstance(document, dict)
        document = document[part.replace("~1", "/").replace("~0", "~")]
    return document


def below(document: JsonObject, pointer: str) -> dict[str, Any]:
    """The object at a pointer. Any: what is in it is what a test is about."""
    found = at(document, pointer)
    assert isinstance(found, dict)
    return found


def reserve(**keys: object) -> dict[str, Arguments]:
    return {"reserve": {"kind": "write", "args": {"seat": "integer"}, **keys}}


def test_every_scenario_of_the_catalogue_has_a_valid_document() -> None:
    documents = [openapi.document(one, ROOT) for one in load_builtin()]
    # The same tools need no second look.
    distinct = {json.dumps([one["paths"], one["components"]]): one for one in documents}
    assert len(distinct) > 10
    for document in distinct.values():
        assert_valid(document)


def test_a_tool_is_one_operation() -> None:
    document = described(reserve(description="Reserves.", operation=["seat"], deduplicates=True))
    assert_valid(document)
    assert document["servers"] == [{"url": ROOT}]
    operation = below(document, "#/paths/~1tools~1reserve/post")
    assert operation["operationId"] == "reserve"
    assert operation["description"] == "Reserves."
    assert operation["x-loopcheck-kind"] == "write"
    assert operation["x-loopcheck-operation"] == ["seat"]
    assert [one["name"] for one in operation["parameters"]] == ["X-Call-Id", "Idempotency-Key"]
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    assert at(document, schema["$ref"]) == {
        "type": "object",
        "properties": {"seat": {"type": "integer"}},
        "required": ["seat"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("keys", "names"),
    [
        ({}, ["X-Call-Id"]),
        ({"lookup": "found"}, ["X-Call-Id", "X-Operation-Id"]),
        ({"lookup": "found", "deduplicates": True}, ["X-Call-Id", "Idempotency-Key"]),
    ],
)
def test_only_a_system_that_deduplicates_takes_an_idempotency_key(
    keys: Arguments, names: list[str]
) -> None:
    operation = below(described(reserve(**keys)), "#/paths/~1tools~1reserve/post")
    assert [one["name"] for one in operation["parameters"]] == names


def test_references_inside_a_schema_still_hold() -> None:
    document = described({"plant": {"kind": "read", "schema": TREE}})
    assert_valid(document)
    key, schema = next(iter(below(document, "#/components/schemas").items()))
    assert schema["properties"]["again"] == {"$ref": f"#/components/schemas/{key}"}
    assert schema["properties"]["word"] == {"const": {"$ref": "#/$defs/node"}}
    validator = Draft202012Validator({**document, "$ref": f"#/components/schemas/{key}"})
    assert validator.is_valid({"root": {"below": [{}]}, "again": {"root": {}}})
    assert not validator.is_valid({"root": {"below": [{"above": 1}]}})


def test_a_schema_with_an_id_of_its_own_stays_as_it_is() -> None:
    schema = {"$id": "urn:example:tree", **TREE}
    document = described({"plant": {"kind": "read", "schema": schema}})
    assert next(iter(below(document, "#/components/schemas").values())) == schema


def test_names_that_are_no_names_elsewhere_are_written_out() -> None:
    tools: dict[str, Arguments] = {
        name: {"kind": "read"} for name in ("get seat/ü", "get.seat", "problem-details", "{x}")
    }
    document = described(tools)
    assert_valid(document)
    assert next(iter(below(document, "#/paths"))) == "/tools/get%20seat%2F%C3%BC"


def test_look_up_is_an_operation_where_a_tool_has_one() -> None:
    assert "/operations" not in below(described(reserve()), "#/paths")
    document = described({**reserve(lookup="absent"), "look_up_operation": {"kind": "read"}})
    assert_valid(document)
    operation = below(document, "#/paths/~1operations/post")
    assert operation["operationId"] == "look_up_operation_"
    asked = operation["requestBody"]["content"]["application/json"]["schema"]
    assert asked["properties"]["tool"]["enum"] == ["reserve"]


def test_what_a_person_answers_is_no_operation() -> None:
    document = described({"confirm": {"kind": "ask"}, **reserve()})
    assert list(below(document, "#/paths")) == ["/tools/reserve"]


@pytest.fixture
def served() -> Iterator[tuple[Staged, str]]:
    staged = Staged(
        reserve(behaves=["rate-limited", "rejects", "raises", "normal"], lookup="found")
    )
    with Server() as server:
        root = server.mount("case", tool_app(staged.world, lambda: described(staged.tools)))
        yield staged, root
    assert server.errors == ()


def ask(url: str, body: bytes | None = None) -> tuple[int, str, JsonObject]:
    try:
        with urllib.request.urlopen(url, body) as answer:
            return answer.status, answer.headers["content-type"], json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, error.headers["content-type"], json.load(error)


def test_answers_are_those_of_the_document(served: tuple[Staged, str]) -> None:
    _, root = served
    status, media_type, document = ask(f"{root}/openapi.json")
    assert (status, media_type) == (200, "application/json")
    assert_valid(document)
    statuses = []
    for body in [b"{}"] * 4 + [b"[]"]:
        status, media_type, answer = ask(f"{root}/tools/reserve", body)
        statuses.append(status)
        response = below(document, f"#/paths/~1tools~1reserve/post/responses/{status}")
        if "$ref" in response:
            response = below(document, response["$ref"])
        ((described_type, content),) = response["content"].items()
        assert described_type == media_type
        Draft202012Validator({**document, **content["schema"]}).validate(answer)
    assert statuses == [429, 403, 500, 200, 400]


def test_the_document_is_read_with_get(served: tuple[Staged, str]) -> None:
    _, root = served
    assert ask(f"{root}/openapi.json", b"{}")[0] == 405


def test_without_a_description_there_is_no_document() -> None:
    staged = Staged(reserve())
    with Server() as server:
        root = server.mount("case", tool_app(staged.world))
        assert ask(f"{root}/openapi.json")[0] == 404


def test_a_case_serves_it_below_its_root() -> None:
    one = scenario(reserve())
    spec = CaseSpec(scenario=one, dialect="chat", mode="whole")
    with Stage() as stage, stage.open(spec, target="x") as opened:
        _, _, document = ask(f"{opened.root}/openapi.json")
        assert document == openapi.document(one, opened.root)
