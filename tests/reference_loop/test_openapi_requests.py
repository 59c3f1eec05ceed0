"""Tools that are operations of an HTTP service: what is sent for which arguments."""

from __future__ import annotations

import json

import pytest
from http_services import (
    JsonObject,
    Service,
    failure,
    operation,
    parameter,
    refusal,
    run,
    sent,
)

from loopcheck.reference_loop import ToolFailure

OBJECT = {"type": "object", "properties": {"seat": {}}, "required": ["seat"]}


def target(described: JsonObject, arguments: JsonObject) -> str:
    """Path and query, as they were sent."""
    return sent(described, arguments).url.raw_path.decode().removeprefix("/v1")


@pytest.mark.parametrize(
    ("keys", "value", "written"),
    [
        ({}, "a b/ü&=?#%", "?q=a%20b%2F%C3%BC%26%3D%3F%23%25"),
        ({}, "", "?q="),
        ({}, True, "?q=true"),
        ({}, 12, "?q=12"),
        ({}, 12.0, "?q=12"),
        ({}, 1.5, "?q=1.5"),
        ({}, 1e300, "?q=1e%2B300"),
        ({}, ["a", "b,c", ""], "?q=a&q=b%2Cc&q="),
        ({"explode": False}, ["a", "b,c", 1], "?q=a,b%2Cc,1"),
        ({}, {"r": 1, "g=": "x"}, "?r=1&g%3D=x"),
        ({"explode": False}, {"r": 1, "g": "x"}, "?q=r,1,g,x"),
        ({}, None, ""),
        ({"name": "a[]"}, "x", "?a%5B%5D=x"),
    ],
)
def test_query_in_form_style(keys: JsonObject, value: object, written: str) -> None:
    one = {**parameter("q", "query"), **keys}
    assert target(operation(one), {one["name"]: value}) == f"/seats{written}"


@pytest.mark.parametrize(
    ("keys", "value", "written"),
    [
        ({}, "WS-7", "WS-7"),
        ({}, "a/../b", "a%2F..%2Fb"),
        ({}, "...", "..."),
        ({}, "%2e%2e", "%252e%252e"),
        ({}, ["a", "b/c"], "a,b%2Fc"),
        ({}, {"r": 1}, "r,1"),
        ({"explode": True}, {"r": 1, "g": 2}, "r=1,g=2"),
    ],
)
def test_path_in_simple_style(keys: JsonObject, value: object, written: str) -> None:
    described = operation(parameter("p", "path", **keys), path="/a b/{p}/x")
    assert target(described, {"p": value}) == f"/a%20b/{written}/x"


@pytest.mark.parametrize("value", ["", ".", ".."])
def test_a_value_that_would_be_another_path_is_never_sent(value: str) -> None:
    described = operation(parameter("p", "path"), path="/seats/{p}", method="delete")
    service = Service()
    assert failure(service.tool(described), {"p": value}) == ToolFailure(
        "invalid_arguments", "$.p: empty, '.' or '..' would be another path"
    )
    assert service.seen == []
    between = operation(parameter("p", "path"), path="/seats/x{p}.json")
    assert target(between, {"p": value}) == f"/seats/x{value}.json"


def test_headers_and_cookies() -> None:
    request = sent(
        operation(
            parameter("X-Tags", "header"),
            parameter("X-Object", "header", explode=True),
            parameter("X-Empty", "header"),
            parameter("sid", "cookie"),
            parameter("theme", "cookie"),
        ),
        {
            "X-Tags": ["a", 1],
            "X-Object": {"a": 1},
            "X-Empty": "",
            "sid": "ü; x=1",
            "theme": True,
        },
    )
    assert request.headers["x-tags"] == "a,1"
    assert request.headers["x-object"] == "a=1"
    assert request.headers["x-empty"] == ""
    assert request.headers["cookie"] == "sid=%C3%BC%3B%20x%3D1; theme=true"


def test_values_written_as_json() -> None:
    schema = {"content": {"application/json": {"schema": {"type": "object"}}}}
    described = operation({"name": "q", "in": "query", **schema})
    assert target(described, {"q": {"a": [1, None]}}) == (
        "/seats?q=%7B%22a%22%3A%20%5B1%2C%20null%5D%7D"
    )
    anything = operation({"name": "q", "in": "query", "content": {"application/json": {}}})
    assert target(anything, {"q": None}) == "/seats?q=null"


@pytest.mark.parametrize(
    ("place", "value", "reason"),
    [
        ("query", [], "empty, it cannot be told from one that is left out"),
        ("query", {}, "empty, it cannot be told from one that is left out"),
        ("query", [["nested"]], "only texts, numbers and booleans can stand inside of it"),
        ("query", {"a": None}, "only texts, numbers and booleans can stand inside of it"),
        ("query", "\ud800", "it is not valid Unicode"),
        ("cookie", ["a"], "a cookie holds one value"),
        ("header", "a\r\nhost: b", "a header holds printable ASCII, with no space at either end"),
        ("header", " a", "a header holds printable ASCII, with no space at either end"),
        ("header", "ü", "a header holds printable ASCII, with no space at either end"),
        ("header", ["a,b"], "an entry of a list in a header is not empty and has no ',' or '='"),
    ],
)
def test_what_has_no_writing_is_refused_before_it_is_sent(
    place: str, value: object, reason: str
) -> None:
    service = Service()
    tool = service.tool(operation(parameter("q", place)))
    assert failure(tool, {"q": value}) == ToolFailure("invalid_arguments", f"$.q: {reason}")
    assert service.seen == []


def test_null_is_left_out_only_where_it_may_be() -> None:
    required = Service().tool(operation(parameter("q", "query", required=True)))
    assert failure(required, {"q": None}).message == "$.q: null has no writing"


def test_members_of_an_object_do_not_pass_for_other_parameters() -> None:
    tool = Service().tool(operation(parameter("q", "query"), parameter("admin", "query")))
    assert failure(tool, {"q": {"admin": True}}).message == "$.q: admin is another parameter's name"
    two = Service().tool(operation(parameter("q", "query"), parameter("r", "query")))
    assert failure(two, {"q": {"x": 1}, "r": {"x": 2}}).message.startswith("$.r: x is another")


def test_an_address_that_is_too_long_is_refused() -> None:
    tool = Service().tool(operation(parameter("q", "query"), method="post"))
    assert failure(tool, {"q": "x" * 70_000}).code == "invalid_arguments"


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        (
            parameter("q", "query", style="deepObject"),
            "style deepObject is not written here; form is, in the query",
        ),
        (
            parameter("q", "path", style="matrix"),
            "style matrix is not written here; simple is, in the path",
        ),
        (parameter("q", "querystring"), "parameters in 'querystring' are not known"),
        (parameter("Host", "header"), "this header is not for callers to write"),
        (parameter("a b", "header"), "this is no name of a header"),
        (parameter("a;b", "cookie"), "this is no name of a cookie"),
        (
            {"name": "q", "in": "query", "content": {"text/csv": {}}},
            "of content, only application/json is written here",
        ),
    ],
)
def test_parameters_that_cannot_be_written_are_refused(node: JsonObject, reason: str) -> None:
    described = operation(node, path="/{q}" if node["in"] == "path" else "/")
    where = f"GET {next(iter(described['paths']))}"
    assert refusal(described) == f"{where}, parameter {node['name']}: {reason}"


def test_path_and_parameters_have_to_agree() -> None:
    missing = operation(path="/seats/{a}/{b}")
    assert refusal(missing).endswith("the path and its parameters do not agree about a, b")
    described = operation()
    described["paths"]["/seats"]["get"]["parameters"] = {}
    assert refusal(described) == "GET /seats: parameters have to be a list"


def test_parameters_of_the_operation_replace_those_of_its_path() -> None:
    described = operation(parameter("q", "query", required=True))
    described["paths"]["/seats"]["parameters"] = [parameter("q", "query"), parameter("q", "cookie")]
    assert refusal(described) == "GET /seats: two of its inputs are named 'q'"
    described["paths"]["/seats"]["parameters"].pop()
    tool = Service().tool(described)
    assert tool.parameters["required"] == ["q"]


def test_an_object_alone_is_all_the_arguments() -> None:
    described = operation(method="post", body={"$ref": "#/components/schemas/Seat"})
    described["components"] = {
        "schemas": {"Seat": {"$ref": "#/components/schemas/Real"}, "Real": OBJECT}
    }
    assert Service().tool(described).parameters == OBJECT
    request = sent(described, {"seat": "ü\ud800"})
    assert request.headers["content-type"] == "application/json"
    assert json.loads(request.content) == {"seat": "ü\ud800"}


def test_otherwise_the_content_is_one_of_the_arguments() -> None:
    with_query = operation(parameter("dry", "query"), method="post", body=OBJECT)
    assert json.loads(sent(with_query, {"dry": True, "body": {"seat": 1}}).content) == {"seat": 1}
    optional = operation(method="post", body=OBJECT)
    optional["paths"]["/seats"]["post"]["requestBody"]["required"] = False
    assert json.loads(sent(optional, {"body": {"seat": 1}}).content) == {"seat": 1}
    nothing = sent(optional, {})
    assert nothing.content == b""
    assert "content-type" not in nothing.headers
    text = operation(method="post", body={"type": "string"})
    assert sent(text, {"body": "x"}).content == b'"x"'
    circle = operation(method="post", body={"$ref": "#/components/a"})
    circle["components"] = {"a": {"$ref": "#/components/a"}}
    assert Service().tool(circle).parameters["required"] == ["body"]
    described = operation(method="post", body={})
    described["paths"]["/seats"]["post"]["requestBody"]["content"] = {
        "application/json": {"schema": True}
    }
    described["paths"]["/seats"]["post"]["requestBody"]["description"] = "Anything."
    assert Service().tool(described).parameters["properties"] == {
        "body": {"description": "Anything."}
    }


def test_other_json_is_sent_under_its_own_name() -> None:
    described = operation(method="patch", body=OBJECT)
    content = described["paths"]["/seats"]["patch"]["requestBody"]["content"]
    content["application/merge-patch+json"] = {"schema": {"type": "object"}}
    assert sent(described, {"seat": 1}).headers["content-type"] == "application/json"
    del content["application/json"]
    request = sent(described, {"seat": None})
    assert request.headers["content-type"] == "application/merge-patch+json"
    assert request.content == b'{"seat": null}'
    content.clear()
    assert refusal(described) == "PATCH /seats: its content is nothing; only JSON is sent here"


def test_ids_of_the_loop_go_where_they_belong() -> None:
    described = operation(
        parameter("idempotency-key", "header", required=True),
        parameter("X-Call", "header"),
        parameter("traceparent", "header"),
        parameter("Authorization", "header"),
        method="post",
        body=OBJECT,
    )
    service = Service()
    ids = {"Idempotency-Key": "operation_id", "X-Call": "call_id"}
    tool = service.tool(described, from_loop=ids)
    assert tool.parameters == OBJECT
    assert tool.deduplicates
    run(tool, {"seat": 1}, operation_id="op-1")
    assert service.seen[-1].headers["idempotency-key"] == "op-1"
    assert service.seen[-1].headers["x-call"] == "call_1"
    run(tool, {"seat": 1})
    assert "idempotency-key" not in service.seen[-1].headers
