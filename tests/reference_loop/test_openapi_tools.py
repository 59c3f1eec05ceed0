"""Tools that are operations of an HTTP service: what the document makes of them."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from http_services import BASE, JsonObject, Service, document, operation, parameter, refusal, run
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from loopcheck.reference_loop import LoopTool, ToolDefinitionError, ToolFailure, openapi_tools
from loopcheck.reference_loop import schema as schemas


def test_each_operation_is_a_tool_whose_method_decides_its_kind() -> None:
    methods = ("get", "head", "options", "put", "delete", "post", "patch", "trace")
    tools = Service().tools(
        document({"/a": {"summary": "Not one.", **{m: {"operationId": m} for m in methods}}})
    )
    assert {tool.name: (tool.kind, tool.deduplicates) for tool in tools} == {
        "get": ("read", False),
        "head": ("read", False),
        "options": ("read", False),
        "put": ("write", True),
        "delete": ("write", True),
        "post": ("write", False),
        "patch": ("write", False),
    }


@pytest.mark.parametrize(
    ("node", "name"),
    [
        ({"operationId": "seats.reserve/now!"}, "seats_reserve_now"),
        ({"operationId": "a" * 70}, "a" * 64),
        ({"operationId": "_list_"}, "_list_"),
        ({}, "get_seats_id"),
    ],
)
def test_names_are_made_legal(node: JsonObject, name: str) -> None:
    described = document({"/seats/{id}": {"parameters": [parameter("id", "path")], "get": node}})
    assert Service().tool(described).name == name


def test_names_that_clash_or_say_nothing_are_refused() -> None:
    clash = document({"/a": {"get": {"operationId": "a.b"}}, "/b": {"put": {"operationId": "a_b"}}})
    assert refusal(clash) == "PUT /b and GET /a are both named a_b"
    assert refusal(operation(operationId="ü")).startswith("GET /seats: '' is no name for a tool; ")


def test_summary_and_description_are_the_description() -> None:
    assert Service().tool(operation()).description == ""
    both = operation(summary="Lists seats.", description="All of them.")
    assert Service().tool(both).description == "Lists seats.\n\nAll of them."
    twice = operation(summary="Lists seats.", description="Lists seats.")
    assert Service().tool(twice).description == "Lists seats."


def test_what_is_left_out_need_not_be_readable() -> None:
    described = operation()
    described["paths"]["/form"] = {"post": {"requestBody": {"content": {"text/csv": {}}}}}
    assert refusal(described) == ("POST /form: its content is text/csv; only JSON is sent here")
    assert Service().tool(described, include=["call"]).name == "call"
    assert refusal(described, include=["call", "calls"]) == "the document has no operation 'calls'"
    for option in ({"kinds": {"x": "read"}}, {"operation": {"x": ()}}):
        assert refusal(operation(), **option) == "the document has no operation 'x'"


def test_what_the_application_knows_goes_before_the_method() -> None:
    body = {"type": "object", "properties": {"n": {}}, "required": ["n"]}
    described = operation(method="put", path="/seats", body=body)
    tool = Service().tool(described, kinds={"call": "read"}, operation={"call": ("n",)})
    assert (tool.kind, tool.deduplicates, tool.operation) == ("read", False, ("n",))


@pytest.mark.parametrize(
    ("described", "reason"),
    [
        (
            {"openapi": "3.0.3"},
            "OpenAPI 3.0.3 is not read here: its schemas are not JSON Schema 2020-12; convert "
            "the document to 3.1",
        ),
        (
            {"swagger": "2.0"},
            "OpenAPI 2.0 is not read here: its schemas are not JSON Schema 2020-12; convert the "
            "document to 3.1",
        ),
        (
            {"openapi": "3.2.0"},
            "OpenAPI 3.2.0 is not read here: it is none that is known; convert the document to 3.1",
        ),
        ({}, "this is no OpenAPI document: it has no member 'openapi'"),
        ({"openapi": "3.1.0"}, "paths has to be an object, not NoneType"),
        (
            {"openapi": "3.1.0", "jsonSchemaDialect": "http://json-schema.org/draft-07/schema#"},
            "the document: schemas of http://json-schema.org/draft-07/schema# are not read here; "
            "JSON Schema 2020-12 is",
        ),
    ],
)
def test_documents_of_another_kind_are_refused_by_name(described: JsonObject, reason: str) -> None:
    assert refusal(described) == reason


def test_a_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "seats.json"
    file.write_text(json.dumps(operation()), encoding="utf-8")
    client = httpx2.AsyncClient(transport=httpx2.MockTransport(Service()))
    for source in (file, str(file)):
        assert openapi_tools(source, client=client, base_url=BASE)[0].name == "call"


def test_a_file_that_is_no_json_is_refused(tmp_path: Path) -> None:
    client = httpx2.AsyncClient()
    for name, hint in (("seats.yaml", "load YAML yourself"), ("seats.json", "is not JSON")):
        file = tmp_path / name
        file.write_text("openapi: 3.1.0", encoding="utf-8")
        with pytest.raises(ToolDefinitionError, match=hint):
            openapi_tools(file, client=client)


def test_references_are_followed_and_cycles_stay_cycles() -> None:
    tree: JsonObject = {
        "type": "object",
        "properties": {
            "below": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}},
            "$ref": {"const": {"$ref": "#/no/reference"}},
        },
        "additionalProperties": False,
    }
    described = document(
        {"/trees/{id}": {"$ref": "#/components/pathItems/Trees"}},
        components={
            "schemas": {"Tree": tree, "Alias": {"$ref": "#/components/schemas/Tree"}},
            "parameters": {"Id": parameter("id", "path", description="Which one.")},
            "requestBodies": {
                "Body": {"$ref": "#/components/requestBodies/Real"},
                "Real": {
                    "description": "The tree.",
                    "content": {
                        "application/json": {"schema": {"$ref": "#/components/schemas/Alias"}}
                    },
                },
            },
            "pathItems": {
                "Trees": {
                    "parameters": [{"$ref": "#/components/parameters/Id"}],
                    "put": {
                        "operationId": "plant",
                        "requestBody": {"$ref": "#/components/requestBodies/Body"},
                    },
                }
            },
        },
    )
    tool = Service().tool(described)
    below = {"type": "array", "items": {"$ref": "#/$defs/Tree"}}
    definition = {**tree, "properties": {**tree["properties"], "below": below}}
    assert tool.parameters == {
        "type": "object",
        "properties": {
            "id": {"description": "Which one."},
            "body": {"description": "The tree.", "$ref": "#/$defs/Alias"},
        },
        "required": ["id"],
        "additionalProperties": False,
        "$defs": {"Alias": {"$ref": "#/$defs/Tree"}, "Tree": definition},
    }
    assert schemas.problems(tool.parameters, {"id": 1, "body": {"below": [{"below": []}]}}) == []
    assert schemas.problems(tool.parameters, {"id": 1, "body": {"below": [{"over": []}]}}) != []
    # The document itself is left as it was.
    assert tree["properties"]["below"]["items"] == {"$ref": "#/components/schemas/Tree"}


def test_equal_names_at_different_places_are_kept_apart() -> None:
    described = operation(
        parameter("a", "query", schema={"$ref": "#/components/one/Size"}),
        parameter("b", "query", schema={"$ref": "#/components/two/0"}),
        parameter("c", "query", schema={"$ref": "#/components/three/Si~1ze~0"}),
        parameter("d", "query", schema={"$ref": "#/components/four/Size"}),
    )
    described["components"] = {
        "one": {"Size": {"const": 1}},
        "two": [{"const": 2}],
        "three": {"Si/ze~": {"const": 3}},
        "four": {"Size": {"const": 4}},
    }
    tool = Service().tool(described)
    assert tool.parameters["$defs"] == {
        "Size": {"const": 1},
        "0": {"const": 2},
        "Si_1ze_0": {"const": 3},
        "Size_2": {"const": 4},
    }


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        (
            {"$ref": "other.json#/Seat"},
            "other.json#/Seat is outside of the document; put everything into one",
        ),
        ({"$ref": "#seat"}, "#seat is no JSON pointer; anchors are not read"),
        ({"$ref": "#/components/schemas/Seat"}, "#/components/schemas/Seat points to nothing"),
        (
            {"$ref": "#/paths/~1seats/get/parameters/7"},
            "#/paths/~1seats/get/parameters/7 points to nothing",
        ),
        ({"items": {"$dynamicRef": "#x"}}, "$dynamicRef is not read in schemas here"),
        ({"allOf": [{"$id": "urn:x"}]}, "$id is not read in schemas here"),
        ({"$recursiveAnchor": True}, "$recursiveAnchor is not read in schemas here"),
        (
            {"$schema": "http://json-schema.org/draft-07/schema#"},
            "schemas of http://json-schema.org/draft-07/schema# are not read here; JSON Schema "
            "2020-12 is",
        ),
        (7, "a schema has to be an object, not int"),
    ],
)
def test_schemas_that_cannot_be_taken_out_are_refused(schema: object, reason: str) -> None:
    assert refusal(operation(parameter("seat", "query", schema=schema))) == f"GET /seats: {reason}"


def test_a_reference_to_itself_is_refused() -> None:
    described = document({"/a": {"$ref": "#/paths/~1a"}})
    assert refusal(described) == "path /a: #/paths/~1a refers to itself"


@pytest.mark.parametrize("path", ["evil.test/seats", "/seats?all=1", "/seats#all"])
def test_paths_that_are_none_are_refused(path: str) -> None:
    assert refusal(document({path: {}})) == f"path {path}: a path begins with '/' and has no '?'"
    assert Service().tools(document({"x-note": 1})) == ()


WHOLE = document(
    {
        "/seats/{id}": {
            "parameters": [{"$ref": "#/components/parameters/Id"}],
            "servers": [{"url": "https://{x}.test", "variables": {"x": {"default": "y"}}}],
            "put": {
                "operationId": "call",
                "summary": "Puts.",
                "security": [{"key": []}],
                "parameters": [parameter("q", "query", style="form", explode=False)],
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "properties": {"a": {"$ref": "#/components/schemas/A"}},
                                "allOf": [{"items": {"enum": [1]}}],
                            }
                        }
                    },
                },
            },
        }
    },
    components={
        "schemas": {"A": {"type": "array", "items": {"$ref": "#/components/schemas/A"}}},
        "parameters": {"Id": parameter("id", "path", description="Which.")},
    },
    servers=[{"url": BASE}],
)
JSON: SearchStrategy[object] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just("#/components"),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2)
    ),
    max_leaves=4,
)


def places(node: object) -> Iterator[tuple[Any, Any]]:
    """Every container and key of the document."""
    if isinstance(node, dict | list):
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            yield node, key
            yield from places(value)


@settings(max_examples=100)
@given(data=st.data())
def test_a_broken_document_is_refused_in_an_orderly_way(data: st.DataObject) -> None:
    broken = copy.deepcopy(WHOLE)
    container, key = data.draw(st.sampled_from(list(places(broken))))
    container[key] = data.draw(JSON)
    try:
        tools = Service().tools(broken, base_url=None)
    except ToolDefinitionError:
        return
    for tool in tools:
        asyncio.run(tool_call(tool))


async def tool_call(tool: LoopTool) -> None:
    with contextlib.suppress(ToolFailure):
        arguments: JsonObject = {"id": "7", "q": ["a"], "body": {"a": []}}
        await tool.invoke(arguments, call_id="c", operation_id=None)


def test_words_that_say_nothing_to_a_model_are_left_out() -> None:
    schema = {
        "$schema": "https://spec.openapis.org/oas/3.1/dialect/base",
        "type": "string",
        "xml": {"name": "x"},
        "example": "x",
        "examples": ["x"],
        "discriminator": {"propertyName": "x"},
        "externalDocs": {"url": "x"},
        "$defs": {"unused": {}},
    }
    tool = Service().tool(operation(parameter("seat", "query", schema=schema)))
    assert tool.parameters["properties"] == {"seat": {"type": "string", "examples": ["x"]}}


def test_the_address_comes_from_the_nearest_servers() -> None:
    service = Service()
    described = operation()
    described["servers"] = [
        {
            "url": "https://{region}.test/{version}/",
            "variables": {"region": {"default": "eu"}, "version": {"default": "v2"}},
        }
    ]
    run(service.tool(described, base_url=None))
    assert str(service.seen[-1].url) == "https://eu.test/v2/seats"
    described["paths"]["/seats"]["get"]["servers"] = [{"url": "https://own.test"}]
    run(service.tool(described, base_url=None))
    assert str(service.seen[-1].url) == "https://own.test/seats"
    run(service.tool(described, base_url="https://given.test/"))
    assert str(service.seen[-1].url) == "https://given.test/seats"


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        (None, "nothing is no address to send it to; give base_url"),
        ("/v1", "/v1 is no address to send it to; give base_url"),
        ("https://[].test", "https://[].test is no address to send it to; give base_url"),
        ("https://x.test:y", "https://x.test:y is no address to send it to; give base_url"),
        ("ftp://x.test", "ftp://x.test is no address to send it to; give base_url"),
        *(
            (
                url,
                "an address with credentials, query or fragment is not used, since addresses get "
                "into logs",
            )
            for url in ("https://me:secret@x.test", "https://x.test?key=1", "https://x.test#f")
        ),
    ],
)
def test_addresses_that_are_none_are_refused(url: str | None, reason: str) -> None:
    described = operation()
    described["servers"] = [{"url": url}] if url else []
    assert refusal(described, base_url=None) == f"GET /seats: {reason}"
