"""Answers requests with what real services answered once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from loopcheck.fake_providers._responses import error_reply
from loopcheck.fake_providers.dialects import Memory, dialect
from loopcheck.fake_providers.recordings import Recording
from loopcheck.fake_providers.routing import spoken
from loopcheck.fake_providers.script import DialectName
from loopcheck.fake_providers.sse import compact
from loopcheck.fake_providers.wire import HttpRequest, JsonObject, Reply, ServiceError

# They describe a transfer that is over.
_OF_TRANSFER: Final = ("connection", "content-encoding", "content-length", "transfer-encoding")


class Replay:
    """Gives out recordings: those of the protocol, streamed or whole as asked, by turn.

    A recording's turn is one more than the model responses in its request; where the request was
    not kept, its place among its kind. A turn that was recorded several times is given in order,
    the last one for ever. A request that no recording fits gets a 404 that lists what there is.
    """

    def __init__(self, recordings: Sequence[Recording]) -> None:
        self._recordings = [
            (recording, turn)
            for recording, turn in zip(recordings, _turns(recordings), strict=True)
        ]
        self._asked: dict[tuple[DialectName, bool, int], int] = {}
        self._last: dict[DialectName, int] = {}

    def handle(self, request: HttpRequest) -> Reply:
        """The recorded response that fits."""
        name = spoken(request)
        if dialect(name).serves(request.method, request.path) != "generate":
            return error_reply(404, "not_recorded", f"nothing is replayed at {request.path}")
        try:
            reading = dialect(name).read(request, Memory())
        except ServiceError as error:
            return error_reply(error.status, "invalid_request_error", error.message)
        turn = self._turn(name, reading.body, replies(reading.body, name))
        fitting = self._fitting(name, reading.stream, turn)
        if not fitting:
            return error_reply(404, "not_recorded", self._missing(name, reading.stream, turn))
        key = (name, reading.stream, turn)
        asked = self._asked[key] = self._asked.get(key, 0) + 1
        self._last[name] = turn
        return _reply(fitting[min(asked, len(fitting)) - 1])

    def _turn(self, name: DialectName, body: JsonObject, before: int) -> int:
        """A request that continues a stored response is for the turn behind it."""
        previous = body.get("previous_response_id")
        if not isinstance(previous, str):
            return before + 1
        for recording, turn in self._recordings:
            if recording.protocol == name and _response_id(recording) == previous:
                return turn + 1
        return self._last.get(name, 0) + 1

    def _fitting(self, name: DialectName, stream: bool, turn: int) -> list[Recording]:
        of_kind = [
            (recording, recorded)
            for recording, recorded in self._recordings
            if recording.protocol == name and recording.stream == stream
        ]
        exact = [recording for recording, recorded in of_kind if recorded == turn]
        # Recordings that begin in the middle of a conversation are a conversation, too.
        return exact or [recording for recording, _ in of_kind[turn - 1 : turn]]

    def _missing(self, name: DialectName, stream: bool, turn: int) -> str:
        there = ", ".join(_told(r.protocol, r.stream, recorded) for r, recorded in self._recordings)
        return f"no recording fits {_told(name, stream, turn)}; there are {there}"


def replies(body: JsonObject, name: DialectName) -> int:
    """How many model responses a request holds."""
    request = HttpRequest(method="POST", path="", body=compact(body).encode())
    try:
        items = dialect(name).read(request, Memory()).items
    except ServiceError:
        return 0
    return len({item.reply for item in items if item.reply is not None})


def _turns(recordings: Sequence[Recording]) -> list[int]:
    known: list[int] = []
    places: dict[tuple[DialectName, bool], int] = {}
    turn_of: Mapping[str, int] = {}
    for recording in recordings:
        kind = (recording.protocol, recording.stream)
        places[kind] = places.get(kind, 0) + 1
        turn = places[kind]
        if recording.request_body is not None:
            previous = str(recording.request_body.get("previous_response_id"))
            turn = turn_of.get(previous, replies(recording.request_body, recording.protocol)) + 1
        known.append(turn)
        turn_of = {**turn_of, str(_response_id(recording)): turn}
    return known


def _response_id(recording: Recording) -> object:
    bodies = [recording.body, *(event.data for event in recording.events or ())]
    for body in bodies:
        if isinstance(body, dict):
            inner = body.get("response", body)
            return inner.get("id") if isinstance(inner, dict) else None
    return None


def _told(name: DialectName, stream: bool, turn: int) -> str:
    return f"{name} {'streamed' if stream else 'whole'} turn {turn}"


def _reply(recording: Recording) -> Reply:
    headers = tuple(
        (name, value) for name, value in recording.headers.items() if name not in _OF_TRANSFER
    )
    if recording.events is not None:
        segments = tuple(event.encoded() for event in recording.events)
        kind = "text/event-stream; charset=utf-8"
    else:
        segments = (compact(recording.body).encode(),)
        kind = "application/json"
    if "content-type" not in recording.headers:
        headers = (*headers, ("content-type", kind))
    return Reply(
        status=recording.status,
        headers=headers,
        segments=segments,
        streamed=recording.events is not None,
    )
