from __future__ import annotations

from scenario_texts import HEAD, TURNS, scenario
from syrupy.assertion import SnapshotAssertion

from loopcheck.harness.scenario.model import TurnModel
from loopcheck.harness.scenario.show import show

FAULTY = """\
turns:
  - say: One moment.
    calls:
      - {as: seat, tool: reserve, args: {event: E1, seat: 12}}
      - {as: look, tool: look, args: {}}
    delivery: {interleave: {chat: true}}
    attempts:
      - {fault: http, error: rate_limit, retry_after: 20 ms, times: 2}
      - {fault: eof, at: {in: seat, after: '"seat":1'}}
      - normal
  - optional: true
    refuse: I can't.
expect:
  must: {results: {seat: {any_of: [own, error, none]}}}
  should: {results: {look: {value: {ok: true}}}}
"""


def test_a_stream_is_shown_frame_by_frame(snapshot: SnapshotAssertion) -> None:
    assert show(scenario(FAULTY), "chat", "stream") == snapshot


def test_a_whole_response_is_shown_as_one_body(snapshot: SnapshotAssertion) -> None:
    assert show(scenario(TURNS), "messages", "whole") == snapshot


def test_every_frame_is_shown_whole_when_asked_for() -> None:
    text = show(scenario(TURNS), "responses", "stream", every_frame=True)

    assert "event: response.completed" in text
    assert '"sequence_number":' in text
    assert "…" not in text
    assert "(first " not in text


def test_one_seed_shows_one_stream() -> None:
    loaded = scenario(TURNS)

    assert show(loaded, "chat", "stream", seed=1) == show(loaded, "chat", "stream", seed=1)
    assert show(loaded, "chat", "stream", seed=1) != show(loaded, "chat", "stream", seed=2)


def test_a_fault_that_cannot_strike_is_said() -> None:
    right = scenario("turns: [{say: x, attempts: [{fault: eof, at: {frame: 2}}]}]\n", HEAD)
    turn = right.model_dump(by_alias=True, exclude_unset=True)["turns"][0]
    turn["attempts"][0]["at"] = {"frame": 99}
    wrong = right.model_copy(update={"entries": (TurnModel.model_validate(turn),)})

    text = show(wrong, "chat", "stream")

    assert "turn 1 · text, stop end, eof at {frame: 99}, stream\n  cannot be played: " in text
