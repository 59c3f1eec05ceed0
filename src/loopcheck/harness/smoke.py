"""The smoke case: can this target be put on trial at all?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from loopcheck.harness.cases import CaseSpec
from loopcheck.harness.journal import Entry
from loopcheck.harness.scenario.model import Scenario, ToolModel, TurnModel

SMOKE: Final = Scenario(
    id="smoke",
    format=1,
    title="The target asks, gets one answer and ends",
    rule="A target that is put on trial sends a request to the base URL it was given.",
    prompt="Say that you are ready.",
    tools={"get_status": ToolModel(kind="read", args={"name": "string"})},
    turns=(TurnModel(say="Ready."),),
)


def complaint(entries: Sequence[Entry], spec: CaseSpec) -> str | None:
    """What is wrong with the target's description or set-up, in a sentence; None when it works."""
    for entry in entries:
        if entry["kind"] == "broken":
            return str(entry["what"])
    requests = [entry for entry in entries if entry["kind"] == "request"]
    refused = next((entry for entry in entries if entry["kind"] == "refused"), None)
    if refused is not None:
        return f"its request was refused: {refused['message']}"
    outcome = next((entry for entry in entries if entry["kind"] == "outcome"), None)
    ended = "it did not end"
    if outcome is not None:
        exception = outcome.get("exception")
        ended = f"it ended as {outcome['state']}, {outcome['text'] or outcome['reason']}"
        if exception:
            ended = f"{exception}: {outcome['text'] or outcome['reason']}"
            ended += f" ({outcome['place']})" if outcome.get("place") else ""
    if not requests:
        return f"it sent no request to task.base_url; {ended}"
    asked = [entry for entry in requests if entry["role"] == "turn"]
    if not asked:
        return "no request held task.prompt as a user message together with one of task.tools"
    if outcome is None or outcome["state"] != "completed":
        return f"a plain answer was not taken as the end; {ended}"
    return _wrong_mode(asked[0], spec)


def _wrong_mode(request: Entry, spec: CaseSpec) -> str | None:
    body = request["body"]
    streams = isinstance(body, dict) and body.get("stream") is True
    if streams == (spec.mode == "stream"):
        return None
    asked = "a stream" if streams else "a whole response"
    return f"declares mode {spec.mode!r} but asks for {asked}; honour task.stream"
