"""At which points the process of a loop dies."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from loopcheck.harness.cases import CaseSpec, Death
from loopcheck.harness.deaths import complaint


def deaths(spec: CaseSpec, *, rivals: bool = False) -> SearchStrategy[Death]:
    """Deaths of this case, the earliest first: while a turn is asked for and answered, and around
    each execution. With `rivals`, also two processes that resume the run at once. Whether a point
    comes depends on the loop; where it does not, the case is not exercised."""
    scenario = spec.scenario
    turns = [f"turn{n}.{what}" for n in range(1, len(scenario.turns) + 1) for what in _OF_A_TURN]
    calls = [f"{label}.{what}" for label in scenario.labels for what in _OF_A_CALL]
    points = [point for point in (*turns, *calls) if complaint(point, spec) is None]
    both = st.booleans() if rivals else st.just(False)
    return st.builds(Death, st.sampled_from(points), both)


_OF_A_TURN = ("asked", "sent")
_OF_A_CALL = ("started", "committed", "ended", "sent")
