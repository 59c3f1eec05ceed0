"""What Responses tells of items beside what they say, and the tools that it repeats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from openai_answers import call, hosted, judged, reply

from loopcheck.fake_providers.dialects.responses import DIALECT
from loopcheck.fake_providers.dialects.responses.echo import tools as echoed
from loopcheck.fake_providers.script import Refuse, Say
from loopcheck.fake_providers.wire import JsonObject, Piece

BOOK = call("responses", "book", "book", "{}")
PROGRAM = hosted("program", "await tools.book()", None)
DEFERRED: JsonObject = {"type": "function", "name": "book", "defer_loading": True}
SEARCH: JsonObject = {"type": "tool_search"}


def output(
    *pieces: Piece, model: str = "gpt-4.1", tools: Sequence[JsonObject] = ()
) -> list[JsonObject]:
    items = DIALECT.whole(replace(reply("responses", pieces, tools=list(tools)), model=model))[
        "output"
    ]
    assert isinstance(items, list)
    return items


class TestPhases:
    @pytest.mark.parametrize("model", ["gpt-5.3-codex", "gpt-5.4", "gpt-5.5-2026-04-23", "gpt-6"])
    def test_newer_models_tell_what_leads_to_calls(self, model: str) -> None:
        said = output(Say("Booking."), BOOK, Say("Booked."), model=model)
        assert [item.get("phase") for item in said] == ["commentary", None, "final_answer"]
        assert output(Refuse("No."), model=model)[0]["phase"] == "final_answer"

    @pytest.mark.parametrize("model", ["gpt-4.1", "gpt-5", "gpt-5.1-codex-max", "o4-mini", "x"])
    def test_older_ones_do_not(self, model: str) -> None:
        assert "phase" not in output(Say("Booking."), BOOK, model=model)[0]

    def test_it_may_come_back(self) -> None:
        item = output(Say("Booked."), model="gpt-5.5")[0]
        body: JsonObject = {"model": "gpt-5.5", "input": [{"role": "user", "content": "x"}, item]}
        assert judged("responses", body).items[1].text == "Booked."


class TestCallers:
    def test_a_program_makes_the_calls_behind_it(self) -> None:
        _, made = output(PROGRAM, BOOK)
        assert made["caller"] == {"type": "program", "caller_id": PROGRAM.call_id}
        assert made["status"] == "in_progress"

    def test_the_model_makes_those_behind_its_end(self) -> None:
        *_, made = output(PROGRAM, hosted("program_output", "{}", "12"), BOOK)
        assert "caller" not in made
        assert made["status"] == "completed"

    def test_a_cut_call_is_incomplete_whoever_made_it(self) -> None:
        answer = reply("responses", [PROGRAM, BOOK], "length")
        items = DIALECT.whole(answer)["output"]
        assert isinstance(items, list)
        assert items[1]["status"] == "incomplete"


class TestNamespaces:
    def test_a_tool_that_a_search_has_loaded_is_its_own(self) -> None:
        assert output(BOOK, tools=[DEFERRED, SEARCH])[0]["namespace"] == "book"

    @pytest.mark.parametrize(
        "offered", [[DEFERRED], [{**DEFERRED, "defer_loading": False}, SEARCH]]
    )
    def test_others_stand_in_none(self, offered: list[JsonObject]) -> None:
        assert "namespace" not in output(BOOK, tools=offered)[0]


class TestTools:
    @pytest.mark.parametrize(
        ("tool", "filled"),
        [
            ({"type": "mcp", "server_label": "s"}, {"headers": None, "server_description": None}),
            (SEARCH, {"description": None, "parameters": None}),
            ({"type": "image_generation", "size": "auto"}, {"n": 1, "quality": "auto"}),
            ({"type": "file_search", "vector_store_ids": []}, {"max_num_results": 20}),
            ({"type": "web_search"}, {"search_context_size": "medium", "filters": None}),
        ],
    )
    def test_what_those_of_the_service_leave_out_is_filled_in(
        self, tool: JsonObject, filled: JsonObject
    ) -> None:
        (told,) = echoed({"tools": [tool]}, "gpt-5")
        assert {**told, **tool, **filled} == told

    def test_what_they_say_is_kept(self) -> None:
        tool: JsonObject = {"type": "web_search", "search_context_size": "low"}
        assert echoed({"tools": [tool]}, "gpt-5")[0]["search_context_size"] == "low"

    def test_functions_of_a_namespace_are_filled_in_too(self) -> None:
        home: JsonObject = {"type": "namespace", "name": "n", "tools": [{**DEFERRED}, SEARCH]}
        (told,) = echoed({"tools": [home]}, "gpt-5")
        inner = {**DEFERRED, "description": None, "parameters": None, "strict": False}
        assert told == {**home, "tools": [inner, SEARCH]}

    def test_a_tool_that_the_client_found_becomes_a_namespace(self) -> None:
        found: JsonObject = {"type": "tool_search_output", "tools": [{"name": "book"}]}
        (told,) = echoed({"tools": [DEFERRED], "input": [found]}, "gpt-5")
        inner = {"type": "function", "name": "book", "description": None}
        assert told == {
            "type": "namespace",
            "name": "book",
            "description": None,
            "tools": [{**inner, "parameters": None, "strict": False}],
        }

    @pytest.mark.parametrize(("model", "has_it"), [("gpt-5.5", True), ("gpt-5.4", False)])
    def test_newer_models_tell_of_the_schema_of_outputs(self, model: str, has_it: bool) -> None:
        (told,) = echoed({"tools": [{"type": "function", "name": "f"}]}, model)
        assert ("output_schema" in told) is has_it
