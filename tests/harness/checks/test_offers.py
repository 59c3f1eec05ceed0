"""execution.allowed, by what the request offered: on journals written by hand."""

from __future__ import annotations

import pytest
from journals import Json, Written, call, levels, one_round, scenario

pytestmark = pytest.mark.usefixtures("every_word")


def test_a_response_whose_request_is_unknown_proves_no_offer() -> None:
    journal = one_round()
    journal.entries[1]["role"] = "side"
    journal.execute()
    assert levels(journal.check("execution.allowed")) == []


@pytest.mark.parametrize(("can", "level"), [((), "should"), (("validates",), "must")])
def test_what_breaks_the_schema_that_was_sent(can: tuple[str, ...], level: str) -> None:
    arguments: Json = {"event": "E1", "seat": "window"}
    journal = one_round(call("book", arguments=arguments))
    journal.execute(arguments=arguments)
    (finding,) = journal.check("execution.allowed", *can).findings
    assert finding.level == level
    assert finding.expected == "an error result: seat: 'window' is not of type 'integer'"


def test_null_and_absent_are_one_to_the_schema() -> None:
    declared: Json = {
        "type": "object",
        "properties": {"note": {"type": ["string", "null"]}, "size": {"type": "integer"}},
        "required": ["note"],
    }
    journal = one_round(
        call("p", "ping", {"note": None}),
        scenario_=scenario(tools={"ping": {"kind": "read", "schema": declared}}),
    )
    journal.execute("ping", {"size": None})
    assert levels(journal.check("execution.allowed", "validates")) == []


def test_a_schema_that_is_none_holds_nobody() -> None:
    journal = Written()
    journal.ask()
    journal.entries[-1]["tools"] = [{"name": "reserve_seat", "schema": {"type": "nonsense"}}]
    journal.answer(call("book"))
    journal.execute()
    assert levels(journal.check("execution.allowed", "validates")) == []


@pytest.mark.parametrize("choice", ["none", {"type": "none"}])
def test_a_tool_that_the_request_withheld(choice: object) -> None:
    journal = Written()
    journal.ask(tool_choice=choice)
    journal.answer(call("book"))
    journal.execute()
    assert levels(journal.check("execution.allowed")) == ["should"]


def test_a_tool_that_the_request_did_not_offer() -> None:
    journal = Written()
    journal.ask(tools=["get_weather"])
    journal.answer(call("book"))
    journal.execute()
    (finding,) = journal.check("execution.allowed").findings
    assert finding.expected == (
        '0 executions of reserve_seat: request 1 offered get_weather, tool_choice "auto"'
    )


def test_a_name_with_a_prefix_is_offered() -> None:
    journal = Written()
    journal.ask()
    journal.entries[-1]["tools"] = [{"name": "P-reserve_seat", "schema": {"type": "object"}}]
    journal.answer(call("book"))
    journal.execute()
    assert levels(journal.check("execution.allowed")) == []


def test_every_execution_is_held_to_the_offer() -> None:
    """Of the request behind the first nothing is known, that of the second offered nothing."""
    journal = one_round()
    journal.entries[1]["role"] = "side"
    journal.execute()
    journal.carry()
    journal.ask(2, tools=[])
    journal.answer(call("again"))
    journal.execute()
    (finding,) = journal.check("execution.allowed").findings
    assert finding.expected == (
        '0 executions of reserve_seat: request 2 offered no tools, tool_choice "auto"'
    )


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (
            {"event": "E1", "seat": 12, "row": 3},
            "Additional properties are not allowed ('row' was unexpected)",
        ),
        ({"event": None, "seat": 12}, "event: None is not of type 'string'"),
        ({"event": "E1", "seat": 12, "rows": [1, "x"]}, "rows.1: 'x' is not of type 'integer'"),
    ],
)
def test_a_complaint_names_the_place_where_there_is_one(arguments: Json, complaint: str) -> None:
    journal = one_round(call("book", arguments=arguments))
    tools = journal.entries[1]["tools"]
    assert isinstance(tools, list)
    properties = {
        **tools[0]["schema"]["properties"],
        "rows": {"type": "array", "items": {"type": "integer"}},
    }
    tools[0]["schema"].update(properties=properties, additionalProperties=False)
    journal.execute(arguments=arguments)
    (finding,) = journal.check("execution.allowed").findings
    assert finding.expected == f"an error result: {complaint}"


def test_a_tool_that_the_task_does_not_have_was_not_offered() -> None:
    journal = one_round(call("x", "drop_tables", {}))
    journal.execute("drop_tables", {})
    assert levels(journal.check("execution.allowed")) == ["should"]
