"""How one and the same response becomes bytes, in all the ways that lose nothing."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from loopcheck.harness.scenario.model import DeliveryModel

_LOSSLESS: dict[str, SearchStrategy[object]] = {
    "fragments": st.one_of(
        st.sampled_from(["whole", "char", "escapes", "seeded"]), st.integers(2, 12)
    ),
    "segments": st.one_of(
        st.sampled_from(["all", "frame", "byte", "utf8", "crlf", "seeded"]), st.integers(2, 64)
    ),
    "newline": st.just("crlf"),
    "comments": st.integers(1, 3),
    "pings": st.integers(1, 3),
    "data_lines": st.integers(2, 4),
    "space": st.just(False),
    "keep_alive": st.just(False),
}
_ODD: dict[str, SearchStrategy[object]] = {
    "interleave": st.sampled_from([True, "seeded"]),
    "bom": st.just(True),
}


@st.composite
def _some(draw: DrawFn, keys: Mapping[str, SearchStrategy[object]]) -> DeliveryModel:
    # Optional keys of a dictionary do not shrink to none.
    given = {key: draw(values) for key, values in keys.items() if draw(st.booleans())}
    return DeliveryModel.model_validate(given)


def deliveries(*, lossless: bool = True) -> SearchStrategy[DeliveryModel]:
    """Deliveries of a stream: fragments, writes to the socket, newlines, comments, pings.

    None of it changes what the model said, so that a loop does the same under each of them. With
    `lossless=False` also what only gateways do: interleaved calls, and a byte order mark. The
    simplest one is the default.
    """
    return _some(_LOSSLESS if lossless else _LOSSLESS | _ODD)
