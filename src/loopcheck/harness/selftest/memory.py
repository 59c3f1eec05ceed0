"""What a paused run keeps in its folder until it goes on."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.harness.selftest.voices import Call, Reply
from loopcheck.harness.task import Decision

_FILE: Final = "run.json"


@dataclass(frozen=True, slots=True)
class Kept:
    """The history of a run, the reply that it paused at, and what people have said of its calls."""

    history: list[JsonObject]
    reply: Reply
    decided: list[Decision]


def keep(folder: Path, kept: Kept) -> None:
    """Writes it down in this folder."""
    (folder / _FILE).write_text(json.dumps(asdict(kept)), encoding="utf-8")


def recall(folder: Path, decisions: Iterable[Decision]) -> Kept | None:
    """What was written down, with further decisions; None where nothing was."""
    file = folder / _FILE
    if not file.exists():
        return None
    kept = json.loads(file.read_text(encoding="utf-8"))
    calls = [Call(**call) for call in kept["reply"].pop("calls")]
    decided = [Decision(**one) for one in kept["decided"]]
    return Kept(kept["history"], Reply(calls, **kept["reply"]), [*decided, *decisions])
