"""What the tests of quirks look at: the parts of events that quirks change."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sample_answers import PLAIN, answer, call

from loopcheck.fake_providers import faults
from loopcheck.fake_providers.dialects import dialect
from loopcheck.fake_providers.script import Attempt, Delivery, DialectName, Mode, Quirk
from loopcheck.fake_providers.wire import Answer, Frame, JsonObject, Piece

ORDER = '{"order":"A-1"}'
ONE: list[Piece] = [call("order", ORDER, tool="get_order")]
TWO: list[Piece] = [*ONE, call("mail", '{"to":"zoë"}', tool="send_mail")]
NOTHING: list[Piece] = [call("list", "{}", tool="list_orders")]


def quirks(*written: str | JsonObject) -> tuple[Quirk, ...]:
    """Quirks as a scenario writes them."""
    return tuple(Quirk(q) if isinstance(q, str) else Quirk(*next(iter(q.items()))) for q in written)


def rendered(
    speaks: DialectName,
    *written: str | JsonObject,
    content: Sequence[Piece] = ONE,
    mode: Mode = "stream",
    how: Delivery = PLAIN,
    to: Answer | None = None,
) -> faults.Rendered:
    """The response that says this with these quirks; fragments have nine characters."""
    to = to or answer(content, speaks=speaks)
    attempt = Attempt(stop=to.stop, delivery=how, quirks=quirks(*written))
    return faults.render(dialect(speaks), to, attempt, mode, seed=1)


def stream(
    speaks: DialectName, *written: str | JsonObject, content: Sequence[Piece] = ONE
) -> tuple[Frame, ...]:
    return rendered(speaks, *written, content=content).body_frames


def body(speaks: DialectName, *written: str | JsonObject, content: Sequence[Piece] = ONE) -> object:
    """The body of the whole response, as JSON."""
    response = rendered(speaks, *written, content=content, mode="whole")
    parsed: object = json.loads(b"".join(response.segments))
    return parsed


def data(frame: Frame) -> JsonObject:
    assert isinstance(frame.data, dict)
    return frame.data


def inner(holder: object, *keys: str | int) -> object:
    """The value at this path; None where it ends."""
    value = holder
    for key in keys:
        if isinstance(value, list) and isinstance(key, int):
            value = value[key] if key < len(value) else None
        else:
            value = value.get(key) if isinstance(value, dict) else None
    return value
