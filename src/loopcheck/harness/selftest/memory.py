"""What a run keeps in its folder: until it goes on where it paused, and behind its end."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.selftest.voices import Call, Reply
from loopcheck.harness.task import Decision, Outcome

_FILE: Final = "run.json"
_END: Final = "end.json"


@dataclass(slots=True)
class Operation:
    """A business action that was begun, with the arguments that it was begun with, and its
    result; None where nobody said that it was done."""

    arguments: JsonObject
    result: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The history of a run, the reply that it paused at, what people have said of its calls, by
    their places, its operations by their ids, and how many replies it has asked for."""

    history: list[JsonObject]
    reply: Reply
    decided: dict[int, Decision]
    operations: dict[str, Operation]
    asked: int


def keep(folder: Path, kept: Kept) -> None:
    """Writes it down in this folder."""
    (folder / _FILE).write_text(json.dumps(asdict(kept)), encoding="utf-8")


def recall(folder: Path) -> Kept | None:
    """What was written down; None where nothing was."""
    file = folder / _FILE
    if not file.exists():
        return None
    kept = json.loads(file.read_text(encoding="utf-8"))
    reply = kept.pop("reply")
    calls = [Call(**call) for call in reply.pop("calls")]
    decided = {int(place): Decision(**one) for place, one in kept.pop("decided").items()}
    begun = {key: Operation(**one) for key, one in kept.pop("operations").items()}
    return Kept(reply=Reply(calls, **reply), decided=decided, operations=begun, **kept)


def keep_end(folder: Path, outcome: Outcome) -> None:
    """Writes down how the run ended."""
    document = {"state": outcome.state, "reason": outcome.reason, "text": outcome.text}
    (folder / _END).write_text(json.dumps(document), encoding="utf-8")


def recall_end(folder: Path) -> Outcome | None:
    """How the run ended; None where it has not."""
    file = folder / _END
    return Outcome(**json.loads(file.read_text(encoding="utf-8"))) if file.exists() else None
