"""`loopcheck drift`: how far the fake is from what real services were recorded to send."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from collections.abc import Sequence

from loopcheck.fake_providers.drift import Difference, drift
from loopcheck.fake_providers.known_drift import reason_for
from loopcheck.fake_providers.recordings import Recording, RecordingError, read_all
from loopcheck.harness.cli.arguments import UsageError
from loopcheck.harness.exit_code import AS_EXPECTED, FAILURES
from loopcheck.reports.inert import inert_lines


def run(options: Namespace) -> int:
    """Compares each recording. 0 when every difference is a known one, 1 otherwise."""
    try:
        recordings = read_all(options.recordings)
    except RecordingError as error:
        raise UsageError(str(error)) from None
    found = [(recording, drift(recording)) for recording in recordings]
    for recording, differences in found:
        print("\n".join(inert_lines(_told(recording, differences))))
    unknown = sum(not _is_known(recording, one) for recording, ones in found for one in ones)
    clean = sum(not differences for _, differences in found)
    print(f"{len(found)} recordings: {clean} without difference, {unknown} unknown differences")
    return FAILURES if unknown else AS_EXPECTED


def _is_known(recording: Recording, difference: Difference) -> bool:
    return reason_for(recording.protocol, difference) is not None


def _told(recording: Recording, differences: Sequence[Difference]) -> str:
    if not differences:
        return f"{recording.name}: no difference"
    known = Counter(reason_for(recording.protocol, difference) for difference in differences)
    unknown = known.pop(None, 0)
    lines = [f"{recording.name}: {unknown} unknown, {known.total()} known"]
    lines += [
        f"  {difference}" for difference in differences if not _is_known(recording, difference)
    ]
    lines += [f"  known, {count}: {reason}" for reason, count in known.items()]
    return "\n".join(lines)
