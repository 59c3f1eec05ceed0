"""The stream of every scenario in every dialect, as a snapshot a person can read.

One file a scenario, with its variants. A frame stands there without what says nothing to a reader
(the envelope, nulls, padding), and ids and long frames are shortened; the digest of a response is
that of its exact writes, so that no byte changes unseen. After a deliberate change:
pytest tests/harness/test_wire_streams.py --snapshot-update, and read the difference.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from loopcheck.fake_providers import faults
from loopcheck.fake_providers.answers import prepare
from loopcheck.fake_providers.dialects import dialect as load_dialect
from loopcheck.fake_providers.script import Attempt
from loopcheck.fake_providers.wire import Frame
from loopcheck.harness.cases import CaseSpec, expand
from loopcheck.harness.scenario.asking import reading
from loopcheck.harness.scenario.compile import compile_script
from loopcheck.harness.scenario.load import load_builtin
from loopcheck.harness.scenario.model import Scenario

LONGEST: Final = 180
MOST_FRAMES: Final = 40
QUIET: Final = frozenset({"obfuscation", "sequence_number", "logprobs"})
ENVELOPE: Final = frozenset(
    {"id", "object", "created", "model", "service_tier", "system_fingerprint"}
)
OF_RESPONSE: Final = ("id", "status", "error", "incomplete_details", "output", "usage")
ID: Final = re.compile(r"\b((?:resp|msg|fc|rs|ctc|ws|call|toolu|srvtoolu)_\w{8})\w{5,}")
FILES: dict[str, list[Scenario]] = {}
for one in load_builtin():
    FILES.setdefault(one.id.partition("@")[0], []).append(one)


class OneFile(SingleFileSnapshotExtension):
    """A snapshot in a text file of its own."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"


@pytest.fixture
def streams(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(OneFile)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.replace("/", "."))
def test_stream(file: str, streams: SnapshotAssertion) -> None:
    assert "\n".join(line for spec in expand(FILES[file]) for line in case(spec)) + "\n" == streams


def test_there_is_a_snapshot_of_every_scenario_and_no_other() -> None:
    folder = Path(__file__).parent / "__snapshots__" / "test_wire_streams"
    kept = {path.name for path in folder.iterdir()}

    assert kept == {f"test_stream[{file.replace('/', '.')}].txt" for file in FILES}
    assert sum(path.stat().st_size for path in folder.iterdir()) < 2 * 1024 * 1024


def case(spec: CaseSpec) -> Iterator[str]:
    """Every response of the case, turn by turn and attempt by attempt."""
    script = compile_script(spec.scenario, spec.dialect, spec.mode)
    yield f"== {spec.id}"
    own = script.otherwise if "otherwise" in spec.scenario.model_fields_set else ()
    for number, turn in enumerate((*script.turns, *own), 1):
        for attempt_number, attempt in enumerate(turn.attempts, 1):
            name = f"turn {number}" if number <= len(script.turns) else "otherwise"
            if len(turn.attempts) > 1:
                name += f", attempt {attempt_number}"
            yield from response(name, number, attempt_number, attempt, spec)


def response(name: str, number: int, asked: int, attempt: Attempt, spec: CaseSpec) -> Iterator[str]:
    asked_for = reading(spec.scenario, spec.dialect, spec.mode)
    answer = prepare(asked_for, attempt, turn=number, asked=asked, seed=0, number=number)
    sent = faults.render(
        load_dialect(spec.dialect), answer, attempt, spec.mode, seed=0, now=lambda: 0.0
    )
    digest = hashlib.sha256(b"\0".join(sent.segments)).hexdigest()[:16]
    size = sum(map(len, sent.segments))
    writes = f"{size} bytes in {len(sent.segments)} writes"
    yield f"{name} · status {sent.status} · {writes} · {digest} · ends {sent.ends}"
    if spec.mode == "stream":
        yield from frames(sent)


def frames(sent: faults.Rendered) -> Iterator[str]:
    """What was sent, frame by frame; the last may be cut, and an error body is no frame."""
    whole = [frame_line(frame) for frame in sent.body_frames]
    rest = [text for text in sent.frame_texts[len(whole) :] if text]
    told = [*whole, *(json.dumps(text, ensure_ascii=False) for text in rest)]
    for line in told[:MOST_FRAMES]:
        yield f"  {line if len(line) <= LONGEST else line[: LONGEST - 1] + '…'}"
    if len(told) > MOST_FRAMES:
        yield f"  … {len(told) - MOST_FRAMES} more"


def frame_line(frame: Frame) -> str:
    if isinstance(frame.data, str):
        return frame.data or "(nothing)"
    rest = {name: value for name, value in frame.data.items() if name not in ENVELOPE}
    if isinstance(response := rest.get("response"), dict):
        rest["response"] = {name: response[name] for name in OF_RESPONSE if name in response}
    return ID.sub(r"\1…", json.dumps(slim(rest), ensure_ascii=False, separators=(",", ":")))


def slim(value: object) -> object:
    if isinstance(value, dict):
        members = ((name, slim(member)) for name, member in value.items())
        return {k: v for k, v in members if v is not None and v != [] and k not in QUIET}
    return [slim(item) for item in value] if isinstance(value, list) else value
