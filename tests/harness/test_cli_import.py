"""`loopcheck import`: what was recorded becomes a scenario that says the same."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from loopcheck.fake_providers import faults
from loopcheck.fake_providers.answers import prepare
from loopcheck.fake_providers.derive import NotDerivedError, derive
from loopcheck.fake_providers.dialects import Memory, dialect
from loopcheck.fake_providers.recordings import Recording, parse_events, read
from loopcheck.fake_providers.script import Mode
from loopcheck.harness.cli import main
from loopcheck.harness.scenario.compile import compile_script
from loopcheck.harness.scenario.load import load_text
from loopcheck.harness.scenario.model import Scenario

RECORDINGS = sorted((Path(__file__).parents[1] / "recordings").glob("*.json"))
KEY = "sk-proj-abcdefghijklmnop"
TOOL = {
    "type": "function",
    "function": {
        "name": "book",
        "description": "Keeps a seat",
        "parameters": {
            "type": "object",
            "properties": {"seat": {"type": "integer"}},
            "required": ["seat"],
            "additionalProperties": False,
        },
    },
}
USER = {"role": "user", "content": f"Seat 12, please. My key is {KEY}."}
CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "book", "arguments": '{"seat":12}'},
}
ASSISTANT = {"role": "assistant", "content": "I will.", "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "kept"}
ERROR = {
    "error": {"message": "Slow down, org-77", "type": "requests", "code": "rate_limit_exceeded"}
}
IMPORTED = """\
format: 1
title: Imported from NAME
rule: Every recorded call is run at most once, and answered under its own id.
dialects: [chat]
modes: [whole]
prompt: "Seat 12, please. My key is ***."

tools:
  book: {kind: write, description: Keeps a seat, args: {seat: integer}}

turns:
  - say: I will.
    calls: [{as: book, tool: book, args: {seat: 12}}]
    attempts: [{fault: http, error: rate_limit, headers: {retry-after: "20"}}, normal]
  - say: Seat 12 is yours.
"""
LEFT_OUT = """\
left out: 1 other requests
left out: request 1: the system prompt
left out: response 1: the error's own words
left out: request 2: the system prompt
left out: request 3: the system prompt
"""


def asked(*messages: object) -> str:
    system = {"role": "system", "content": "You are Ann's."}
    return json.dumps({"model": "m", "messages": [system, USER, *messages], "tools": [TOOL]})


def answered(message: object, reason: str) -> str:
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return json.dumps({"id": "x", "object": "chat.completion", "choices": [choice]})


# Request, status and response of each exchange.
STORY = [
    (asked(), 429, json.dumps(ERROR)),
    (asked(), 200, answered(ASSISTANT, "tool_calls")),
    (
        asked(ASSISTANT, RESULT),
        200,
        answered({"role": "assistant", "content": "Seat 12 is yours."}, "stop"),
    ),
]
URL = "https://gateway.test/acme/v1/chat/completions?api-version=1"
SECRETS = {"Authorization": "Bearer Zm9vYmFy-secret", "Cookie": "session=ann"}
TOLD = {"Content-Type": "application/json", "Retry-After": "20", "Set-Cookie": "ann=1"}


def har(*, encode: bool = False) -> str:
    def listed(headers: dict[str, str]) -> list[dict[str, str]]:
        return [{"name": name, "value": value} for name, value in headers.items()]

    entries: list[object] = [
        {"request": {"method": "GET", "url": "https://gateway.test/"}, "response": {"status": 200}}
    ]
    for request, status, body in STORY:
        content = {"text": body}
        if encode:
            content = {"text": base64.b64encode(body.encode()).decode(), "encoding": "base64"}
        asking = {"method": "POST", "url": URL, "headers": listed(SECRETS)}
        entries.append(
            {
                "request": {**asking, "postData": {"text": request}},
                "response": {"status": status, "headers": listed(TOLD), "content": content},
            }
        )
    return json.dumps({"log": {"entries": entries}})


def cassette(*, zipped: bool = False) -> str:
    interactions: list[object] = [
        {
            "request": {"method": "GET", "uri": "https://gateway.test/", "body": None},
            "response": {"status": {"code": 200}, "headers": {}, "body": {"string": ""}},
        }
    ]
    for request, status, body in STORY:
        sent = {"method": "POST", "uri": URL, "body": request}
        headers = {name: [value] for name, value in TOLD.items()}
        text = gzip.compress(body.encode()) if zipped else body
        interactions.append(
            {
                "request": {**sent, "headers": {k: [v] for k, v in SECRETS.items()}},
                "response": {
                    "status": {"code": status, "message": "?"},
                    "headers": headers,
                    "body": {"string": text},
                },
            }
        )
    return yaml.safe_dump({"interactions": interactions, "version": 1})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("story.har", har()),
        ("encoded.har", har(encode=True)),
        ("story.yaml", cassette()),
        ("zipped.yml", cassette(zipped=True)),
    ],
)
def test_a_har_file_and_a_cassette_tell_the_same_story(
    name: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / name
    source.write_text(text)
    assert main(["import", str(source)]) == 0
    told = capsys.readouterr()
    assert told.out == IMPORTED.replace("NAME", name)
    assert told.err == LEFT_OUT


def imported(source: Path, capsys: pytest.CaptureFixture[str]) -> Scenario:
    assert main(["import", str(source)]) == 0
    return load_text(capsys.readouterr().out.encode(), file="imported.yaml", id="imported")


def played(scenario: Scenario, recording: Recording) -> Recording:
    """What the fake answers to the recorded request, at the last turn of the scenario."""
    mode: Mode = "stream" if recording.stream else "whole"
    script = compile_script(scenario, recording.protocol, mode)
    spoken = dialect(recording.protocol)
    reading = spoken.read(recording.request(), Memory())
    attempt = script.turns[-1].attempts[-1]
    answer = prepare(reading, attempt, turn=1, asked=1, seed=0, number=1)
    rendered = faults.render(spoken, answer, attempt, mode, seed=0)
    text = b"".join(rendered.segments).decode()
    if recording.stream and rendered.status == 200:
        return replace(recording, status=200, events=parse_events(text))
    return replace(recording, status=rendered.status, body=json.loads(text))


def content(recording: Recording) -> tuple[object, ...]:
    try:
        attempt = derive(recording)
    except NotDerivedError as error:
        return (str(error),)
    calls = [(call.tool, _value(call.arguments), call.form) for call in attempt.calls]
    fault = None if attempt.fault is None else (attempt.fault.kind, attempt.fault.error)
    return (attempt.text, attempt.refusal, calls, attempt.stop, fault)


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_a_recording_is_played_with_the_same_calls_and_text(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recording = read(path)
    again = played(imported(path, capsys), recording)
    assert again.status == recording.status
    if recording.status == 200 and path.stem != "responses_background_queued":
        assert content(again) == content(recording)


def cut(recording: Recording, keep: int) -> Recording:
    assert recording.events is not None
    return replace(recording, events=recording.events[:keep])


@pytest.mark.parametrize(
    "path", [p for p in RECORDINGS if "stream" in p.stem], ids=lambda p: p.stem
)
def test_a_stream_that_broke_off_anywhere_is_a_fault(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recording = read(path)
    assert recording.events is not None
    source = tmp_path / "cut.json"
    for keep in range(len(recording.events) - 3):
        source.write_text(json.dumps(cut(recording, keep).document()))
        turn = imported(source, capsys).turns[-1]
        (attempt,) = turn.attempts
        assert attempt != "normal"
        assert attempt.fault == ("empty" if keep == 0 else "eof")


def test_the_arguments_that_arrived_are_those_of_the_cut_call(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recording = read(RECORDINGS[[p.stem for p in RECORDINGS].index("chat_stream_call")])
    source = tmp_path / "cut.json"
    seen = set()
    for keep in range(len(recording.events or ())):
        source.write_text(json.dumps(cut(recording, keep).document()))
        seen |= {call.raw_args for call in imported(source, capsys).turns[-1].calls}
    whole = '{"city":"away"}'
    assert len(seen) > 2
    assert all(text is None or whole.startswith(text) for text in seen)


LIVED = """\
format: 1
title: A seat is kept
rule: One call keeps one seat.
modes: [stream]
prompt: Seat 12, please.
tools:
  book: {kind: write, args: {seat: integer}}
turns:
  - say: I will.
    calls: [{as: book, tool: book, args: {seat: 12}}]
    attempts: [{fault: error-event, error: server}, normal]
  - say: Seat 12 is yours.
"""


def test_a_journal_gives_back_its_scenario(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lived.yaml").write_text(LIVED)
    assert main(["run", "lived.yaml", "--target", "reference"]) == 0
    capsys.readouterr()
    lived = load_text(LIVED.encode(), file="lived.yaml", id="lived")
    journals = sorted(Path(".loopcheck/last/reference").glob("*.jsonl"))
    assert len(journals) == 3
    for journal in journals:
        again = imported(journal, capsys)
        assert (again.prompt, again.tools.keys()) == (lived.prompt, lived.tools.keys())
        assert again.tools["book"].parameters == lived.tools["book"].parameters
        assert again.modes == ("stream",)
        told = [turn.model_dump(exclude_defaults=True) for turn in again.turns]
        assert told == [turn.model_dump(exclude_defaults=True) for turn in lived.turns]


def test_a_further_message_and_another_conversation_are_parts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def said(text: str) -> dict[str, object]:
        return {"role": "assistant", "content": text}

    def entry(messages: list[object], text: str) -> dict[str, object]:
        body = json.dumps({"model": "m", "messages": messages})
        return {
            "request": {"method": "POST", "url": URL, "postData": {"text": body}},
            "response": {"status": 200, "content": {"text": answered(said(text), "stop")}},
        }

    one, two, three = ({"role": "user", "content": text} for text in ("One", "Two", "Three"))
    entries = [
        entry([one], "First"),
        entry([one, said("First"), two], "Second"),
        entry([three], "Third"),
    ]
    source = tmp_path / "parts.har"
    source.write_text(json.dumps({"log": {"entries": entries}}))
    scenario = imported(source, capsys)
    assert scenario.prompt == "One"
    assert scenario.needs == ("follow_up",)
    kept = [entry.model_dump(exclude_defaults=True) for entry in scenario.entries]
    assert kept == [
        {"say": "First"},
        {"user": "Two"},
        {"say": "Second"},
        {"run": "Three"},
        {"say": "Third"},
    ]


def test_to_writes_a_new_file_and_replaces_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("story.har").write_text(har())
    assert main(["import", "story.har", "--to", "scenarios/seat"]) == 0
    assert capsys.readouterr().out == (
        "scenarios/seat.yaml: written\nscenarios/scenario.schema.json: written\n"
    )
    head = "# yaml-language-server: $schema=scenario.schema.json\n"
    written = Path("scenarios/seat.yaml").read_text()
    assert written == head + IMPORTED.replace("NAME", "story.har")
    assert main(["import", "story.har", "--to", "scenarios/seat"]) == 2
    assert capsys.readouterr().err == (
        "loopcheck: scenarios/seat.yaml: there is such a file already, and it stays as it is\n"
    )


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("a.har", "{", "a.har: not JSON, so neither a recording nor a HAR file"),
        ("a.json", "[" * 100_000, "a.json: not JSON, so neither a recording nor a HAR file"),
        ("a.json", "[]", "a.json: none of a recording, a journal, a HAR file or a cassette"),
        ("a.json", "\0" * 10_000_000, "a.json: larger than 8 MiB; cut it to one story"),
        (
            "a.json",
            '{"protocol": "telnet"}',
            "a.json: protocol is 'telnet', not one of responses, chat, messages",
        ),
        ("a.har", '{"log": {"entries": [1, {}]}}', "a.har: it holds no response of a model"),
        ("a.yaml", "interactions: []", "a.yaml: it holds no response of a model"),
        ("a.yaml", "a: [", "a.yaml: no cassette: it has no list of interactions"),
        (
            "a.yaml",
            "!!python/object/apply:os.getcwd []",
            "a.yaml: no cassette: it has no list of interactions",
        ),
        ("a.jsonl", "{}", "a.jsonl:1: not a journal entry of a known kind"),
    ],
)
def test_a_file_of_another_kind_is_one_line(
    name: str,
    content: str,
    line: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(content)
    assert main(["import", name]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == f"loopcheck: {line}\n"


def test_a_file_that_is_not_there_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "nowhere.har"]) == 2
    assert capsys.readouterr().err == (
        "loopcheck: nowhere.har: cannot be read: No such file or directory\n"
    )


def changed(stem: str, **response: object) -> str:
    document = json.loads(next(p for p in RECORDINGS if p.stem == stem).read_text())
    document["response"] |= response
    return json.dumps(document)


@pytest.mark.parametrize(
    ("stem", "response", "turn", "left_out"),
    [
        (
            "messages_thinking_call",
            {"body": {"stop_reason": "tool_use", "content": [{"type": "tool_use", "input": 5}]}},
            {"calls": ({"label": "None", "tool": "None", "raw_args": "5"},)},
            "left out: that there were responses which were not streamed\n",
        ),
        (
            "chat_call",
            {"body": {"choices": [{"message": {"content": "\ud800!"}, "finish_reason": "stop"}]}},
            {"say": "?!"},
            "",
        ),
        (
            "chat_call",
            {"body": {"choices": [{"finish_reason": []}]}},
            {},
            "left out: response 1: all of it, which is no response of this protocol\n",
        ),
        (
            "responses_reasoning",
            {"body": {"status": "completed", "output": [{"type": "computer_call"}]}},
            {},
            "left out: response 1: an item of type 'computer_call'\n",
        ),
        (
            "chat_stream_call",
            {"sse": [{"data": {"choices": [{"delta": {"tool_calls": [{"index": []}]}}]}}]},
            {
                "calls": ({"label": "None", "tool": "None", "raw_args": ""},),
                "attempts": ({"fault": "eof"},),
            },
            "",
        ),
    ],
)
def test_what_no_service_sends_is_left_out_or_kept_as_it_is(
    stem: str,
    response: dict[str, object],
    turn: dict[str, object],
    left_out: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = tmp_path / "odd.json"
    source.write_text(changed(stem, **response))
    assert main(["import", str(source)]) == 0
    told = capsys.readouterr()
    scenario = load_text(told.out.encode(), file="odd.yaml", id="odd")
    assert scenario.turns[-1].model_dump(exclude_defaults=True) == turn
    assert told.err == left_out
