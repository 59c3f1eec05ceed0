"""`loopcheck serve` and `loopcheck drift`, from the outside."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import anthropic
import openai
import pytest
from openai.types.chat import ChatCompletion, ChatCompletionMessageFunctionToolCall
from scenario_texts import HEAD, TURNS
from serving import serving

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.cli import main

RECORDINGS = Path(__file__).parents[1] / "recordings"
TOOL = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that somebody else listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def refused(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert main(argv) == 2
    told = capsys.readouterr()
    assert told.out == ""
    (line,) = told.err.splitlines()
    return line.removeprefix("loopcheck: ")


def arguments(completion: ChatCompletion) -> JsonObject:
    """Those of its only call."""
    calls = completion.choices[0].message.tool_calls
    assert calls is not None
    (call,) = calls
    assert isinstance(call, ChatCompletionMessageFunctionToolCall)
    given: JsonObject = json.loads(call.function.arguments)
    return given


def test_the_official_clients_talk_to_it(tmp_path: Path) -> None:
    with serving("--auto", folder=tmp_path) as url:
        chat = openai.OpenAI(base_url=f"{url}/v1", api_key="sk-own")
        completion = chat.chat.completions.create(
            model="gpt-4.1",
            messages=[{"role": "user", "content": "Is it raining in Oslo?"}],
            tools=[TOOL],  # type: ignore[list-item]  # a plain mapping serves
        )
        assert list(arguments(completion)) == ["city"]
        said = chat.responses.create(model="gpt-4.1", input="Hello")
        assert said.output_text.startswith('You said "Hello".')
        claude = anthropic.Anthropic(base_url=url, api_key="sk-own")
        message = claude.messages.create(
            model="claude-sonnet-4-6",
            max_tokens=100,
            messages=[{"role": "user", "content": "Hello"}],
        )
        assert message.stop_reason == "end_turn"


def test_a_scenario_is_served_in_every_dialect(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(HEAD + TURNS)
    with serving("--scenario", "one.yaml", folder=tmp_path) as url:
        chat = openai.OpenAI(base_url=f"{url}/v1", api_key="sk-own", max_retries=0)
        tool = {**TOOL, "function": {"name": "reserve"}}
        given = chat.chat.completions.create(
            model="gpt-4.1",
            messages=[{"role": "user", "content": "P"}],
            tools=[tool],  # type: ignore[list-item]  # a plain mapping serves
        )
        assert arguments(given) == {"event": "E1", "seat": 12}
        flat = {"type": "function", "name": "reserve"}
        asked = chat.responses.create(
            model="gpt-4.1",
            input="P",
            tools=[flat],  # type: ignore[list-item]  # a plain mapping serves
        )
        assert [item.type for item in asked.output] == ["function_call"]


def test_recordings_are_made_and_replayed(tmp_path: Path) -> None:
    asked = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "Hello"}]}
    with (
        serving("--auto", folder=tmp_path) as service,
        serving("--record", service, "--into", "made", folder=tmp_path) as url,
    ):
        chat = openai.OpenAI(base_url=f"{url}/v1", api_key="sk-own-secret")
        first = chat.chat.completions.create(**asked)  # type: ignore[call-overload]  # a mapping
    (made,) = (tmp_path / "made").iterdir()
    assert "secret" not in made.read_text()
    with serving("--replay", "made", folder=tmp_path) as url:
        chat = openai.OpenAI(base_url=f"{url}/v1", api_key="another")
        assert chat.chat.completions.create(**asked) == first  # type: ignore[call-overload]


def test_a_port_in_use_is_told(capsys: pytest.CaptureFixture[str], taken: int) -> None:
    told = refused(capsys, "serve", "--auto", "--port", str(taken))
    assert told == f"port {taken} is in use; choose another, or 0 for any that is free"


@pytest.mark.parametrize(
    ("argv", "line"),
    [
        (["--auto", "--port", "99999"], "--port 99999: ports go from 0 to 65535"),
        (["--record", "https://x.example"], "--record URL and --into FOLDER go together"),
        (["--auto", "--into", "x"], "--record URL and --into FOLDER go together"),
        (
            ["--replay", "x", "--dialect", "chat"],
            "--lenient and --dialect go with --auto and --scenario",
        ),
        (["--replay", "gone.json"], "gone.json: No such file or directory"),
        (
            ["--record", "x.example", "--into", "x"],
            "--record: not a URL of a service: 'x.example'; it is like https://api.openai.com",
        ),
    ],
)
def test_what_cannot_be_served_is_told(
    capsys: pytest.CaptureFixture[str], argv: list[str], line: str
) -> None:
    assert refused(capsys, "serve", *argv) == line


def test_an_unknown_rule_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    told = refused(capsys, "serve", "--auto", "--dialect", "chat", "--lenient", "C1", "M1")
    assert told.startswith("no rule 'M1' to be lenient about; C1, C10, ")


def test_one_way_of_serving_must_be_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    assert "one of the arguments --auto --scenario" in refused(capsys, "serve")


def test_missing_libraries_are_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loopcheck.harness.schema_values._NEEDED", ("no_such_library",))
    told = refused(capsys, "serve", "--auto")
    assert told == "--auto needs more libraries: pip install 'loopcheck[serve]'"


def test_a_folder_that_cannot_be_made_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    into = str(tmp_path / "file" / "folder")
    told = refused(capsys, "serve", "--record", "https://x.example", "--into", into)
    assert told == "cannot record: Not a directory"


def test_drift_is_none_with_our_own_recordings(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["drift", str(RECORDINGS)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "chat_after_result: no difference"
    assert lines[-1] == "15 recordings: 15 without difference, 0 unknown differences"


def test_drift_lists_what_is_known_and_what_is_not(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    document = json.loads((RECORDINGS / "chat_call.json").read_text())
    document["response"]["body"]["novel"] = 1
    del document["response"]["body"]["service_tier"]
    file = tmp_path / "changed.json"
    file.write_text(json.dumps(document))
    assert main(["drift", str(file)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "changed: 1 unknown, 1 known",
        "  recorded only: body novel",
        "  known, 1: newer than the recording, or of another model",
        "1 recordings: 0 without difference, 1 unknown differences",
    ]


def test_drift_without_recording_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(capsys, "drift", "gone.json") == "gone.json: No such file or directory"
