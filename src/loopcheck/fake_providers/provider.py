"""One scripted provider for one case: a request in, a reply out, no I/O.

Order of judgement, as at the service: key, form of the request, rules about its history; then
which turn it asks for. Everything is recorded before a byte goes out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, Literal, Protocol

from loopcheck.fake_providers import faults, lasting, sse
from loopcheck.fake_providers.answers import prepare
from loopcheck.fake_providers.asking import Asking
from loopcheck.fake_providers.choices import chosen
from loopcheck.fake_providers.dialects import Dialect, Memory, Rule, dialect
from loopcheck.fake_providers.dialects.interface import drop_oldest
from loopcheck.fake_providers.ids import digest
from loopcheck.fake_providers.known import Asked, Known, KnownRequests, Watched
from loopcheck.fake_providers.recording import AnswerNotes, request_fields
from loopcheck.fake_providers.script import (
    Attempt,
    Delivery,
    DialectName,
    Mode,
    Say,
    Script,
    Turn,
    answer,
)
from loopcheck.fake_providers.templates import Templates
from loopcheck.fake_providers.wire import (
    Answer,
    HttpRequest,
    Reading,
    Reply,
    ServiceError,
)

LONG_LIVED: Final = 1000
"""What `keep` is for a provider that serves until somebody stops it."""

NOTHING: Final[Mapping[str, object]] = MappingProxyType({})
_SIDE_TEXT = "OK"


class Recorder(Protocol):
    """Where the provider writes what happened; see the harness's journal for the kinds. What is
    handed over stays as it is; lists are handed over as sequences that cannot be changed.
    `shared` are fields that several entries have alike, in one mapping for all of them."""

    def __call__(
        self, kind: str, shared: Mapping[str, object] = NOTHING, /, **fields: object
    ) -> int: ...


def nothing(kind: str, shared: Mapping[str, object] = NOTHING, /, **fields: object) -> int:
    """Records nothing, where nobody judges what happened."""
    return 0


@dataclass(slots=True, kw_only=True)
class Provider:
    """A service that follows a script.

    `tokens` tells which result tokens the calls with these labels have produced, `passed` whether a
    point in time has passed, `begun` how many parts of the script have begun, and `rivals` whether
    several processes go on with one run, as they may. `off` names request rules that are not
    applied, `on` rules that are although their evidence is weak.
    `models` are the models that exist; any does where none is named. `improvise` makes up the turn
    that answers a request, or refuses it; the script is not followed then. `keep` bounds what a
    provider that serves for ever remembers, counted in responses.
    """

    script: Script
    dialect: DialectName
    mode: Mode
    seed: int
    record: Recorder
    tokens: Callable[[Sequence[str]], frozenset[str]] = lambda labels: frozenset()
    passed: Callable[[str], bool] = lambda point: False
    begun: Callable[[], int] = lambda: 1
    rivals: Callable[[], bool] = lambda: False
    api_key: str | None = None
    on: frozenset[str] = frozenset()
    off: frozenset[str] = frozenset()
    models: frozenset[str] = frozenset()
    improvise: Callable[[Reading], Turn] | None = None
    keep: int | None = None
    _memory: Memory = field(default_factory=Memory)
    _asking: Asking = field(init=False)
    _asked: dict[int, int] = field(default_factory=dict)
    _attempts: dict[int, tuple[int, int]] = field(default_factory=dict)
    _requests: int = 0
    _known: KnownRequests = field(default_factory=KnownRequests)
    _notes: AnswerNotes = field(default_factory=AnswerNotes)
    _spoken: Dialect = field(init=False)
    _templates: Templates = field(init=False)
    _rules: tuple[Rule, ...] = field(init=False)

    def __post_init__(self) -> None:
        self._spoken = dialect(self.dialect)
        self._templates = Templates(self._spoken, self.seed)
        self._asking = Asking(
            script=self.script, tokens=self.tokens, begun=self.begun, rivals=self.rivals
        )
        self._rules = tuple(filter(self._applies, self._spoken.rules))
        self._memory.models = self.models

    def follow(self, script: Script) -> None:
        """Goes on by this script, in which more is written of the same turns, or behind them."""
        self.script = script
        self._asking.follow(script)

    def handle(self, request: HttpRequest) -> Reply:
        """Answers one request. Raises FaultError when a scripted fault cannot strike."""
        spoken = self._spoken
        kind = spoken.serves(request.method, request.path)
        if self.keep is not None:
            self._forget(self.keep)
        self._requests += 1
        number = self._requests
        try:
            self._authenticate(request)
            if kind == "side":
                return self._side(request, number)
            if kind is None:
                raise replace(
                    spoken.named_error("not_found", None),
                    status=404,
                    code=None,
                    message=f"no such endpoint: {request.method} {request.path}",
                )
            known = self._read(request)
            self._apply_rules(known)
            return self._answer(number, known)
        except ServiceError as error:
            return self._refuse(request, number, error)

    def _authenticate(self, request: HttpRequest) -> None:
        spoken = self._spoken
        key = spoken.authenticate(request.headers)
        if not key or (self.api_key is not None and key != self.api_key):
            raise spoken.named_error("auth", None)

    def _read(self, request: HttpRequest) -> Known:
        """The request as it reads; as it read before where it is just the same and stands for
        itself."""
        known = self._known.find(request)
        if known is None:
            known = self._known.keep(request, self._spoken.read(request, self._memory))
        return known

    def _applies(self, rule: Rule) -> bool:
        weak = rule.grade in ("D", "unsure")
        return rule.id not in self.off and (not weak or rule.id in self.on)

    def _apply_rules(self, known: Known) -> None:
        if known.passes:
            return
        reading = known.reading
        memory, watched = Watched.over(self._memory)
        for rule in self._rules:
            broken = rule.check(reading.history, reading.body, memory)
            if broken is not None:
                raise replace(broken, rule=rule.id)
        known.passes = not watched.was_needed

    def _answer(self, number: int, known: Known) -> Reply:
        if self.improvise is not None:
            return self._answer_with(self.improvise(known.reading), number, known)
        asked = self._asking.of(known)
        why = self._asking.divergence(asked, known.reading)
        if why is not None:
            return self._diverge(number, known, asked, why)
        if asked.turn is None:
            return self._say_aside(number, known)
        wanted = chosen(known.reading.tool_choice)
        turn = self.script.turn(asked.turn, tool_choice=wanted)
        return self._answer_with(turn, number, known, asked)

    def _answer_with(
        self, turn: Turn, number: int, known: Known, asked: Asked | None = None
    ) -> Reply:
        attempt_number = self._asked[turn.number] = self._asked.get(turn.number, 0) + 1
        self._record_request(
            known.request,
            number,
            known,
            asked,
            role="turn",
            turn=turn.number,
            attempt=attempt_number,
        )
        return self._reply(number, known.reading, turn, attempt_number)

    def _reply(self, number: int, reading: Reading, turn: Turn, attempt_number: int) -> Reply:
        attempt = self._next_attempt(turn)
        prepared = self._prepare(reading, turn.number, attempt, attempt_number)
        mode: Mode = "stream" if reading.stream else "whole"
        rendered = self._templates.render(prepared, attempt, mode, turn=turn.number)
        fields = self._notes.fields(turn.number, attempt, prepared, rendered)
        text = str(fields["text"]) if rendered.status < 400 else ""
        self._remember(prepared, turn.number, attempt, attempt_number, rendered, text=text)
        self.record(
            "response",
            fields,
            request=number,
            turn=turn.number,
            attempt=attempt_number,
            response_id=prepared.response_id,
            status=rendered.status,
        )
        return Reply(
            status=rendered.status,
            headers=rendered.headers,
            segments=rendered.segments,
            streamed=rendered.streamed,
            ending=rendered.ending,
            keep_alive=rendered.keep_alive,
            pauses=rendered.pauses,
            reached=self._marker(number, rendered.marks) if rendered.marks else None,
            finished=self._finisher(number, rendered.frame_texts),
        )

    def _marker(self, number: int, marks: Mapping[int, str]) -> Callable[[int], None]:
        def reached(segment: int) -> None:
            if segment + 1 in marks:
                self.record("place", request=number, place=marks[segment + 1])

        return reached

    def _next_attempt(self, turn: Turn) -> Attempt:
        latest, given = self._attempts.get(turn.number, (0, 0))
        position = turn.next_attempt(self.passed, position=latest, given=given)
        self._attempts[turn.number] = (position, given + 1 if position == latest else 1)
        return turn.attempts[position]

    def _finisher(
        self, number: int, frames: Sequence[str]
    ) -> Callable[[Literal["written", "client-closed"]], None]:
        def finished(how: Literal["written", "client-closed"]) -> None:
            self.record("sent", request=number, frames=frames, how=how)

        return finished

    def _prepare(self, reading: Reading, turn: int, attempt: Attempt, asked: int) -> Answer:
        return prepare(
            reading,
            attempt,
            turn=turn,
            asked=asked,
            seed=self.seed,
            number=self._requests,
            before=self._templates.latest(turn, attempt),
        )

    def _remember(
        self,
        prepared: Answer,
        turn: int,
        attempt: Attempt,
        number: int,
        rendered: faults.Rendered,
        *,
        text: str,
    ) -> None:
        spoken = self._spoken
        lasts = lasting.lasts(spoken, prepared, attempt)
        reached = [c for c in prepared.calls if lasts or rendered.sent.get(c.label) != "none"]
        for position, call in enumerate(reached):
            twice = call.call_id in (other.call_id for other in reached[:position])
            if twice or self._asking.has_issued(call.call_id):
                self._memory.repeated.add(call.call_id)
        if lasts or rendered.ends in ("well", "marked"):
            spoken.remember(prepared, self._memory)
        if lasts and prepared.reading.stream:
            events = lasting.events(spoken, prepared, attempt, self.seed)
            self._memory.streams[prepared.response_id] = events
        if self.improvise is None:
            self._asking.given(turn, number, reached, text=text)

    def _forget(self, keep: int) -> None:
        self._memory.forget(keep)
        self._asking.forget(keep)
        drop_oldest(self._asked, keep)
        drop_oldest(self._attempts, keep)
        self._notes.forget(keep)

    def _refuse(self, request: HttpRequest, number: int, error: ServiceError) -> Reply:
        spoken = self._spoken
        rule = next((rule for rule in spoken.rules if rule.id == error.rule), None)
        known = self._known_or_none(request)
        self._record_request(request, number, known, role="refused", why=error.message)
        self.record(
            "refused",
            request=number,
            rule=error.rule,
            grade=rule.grade if rule else None,
            status=error.status,
            message=error.message,
            param=error.param,
        )
        return self._error_reply(number, error)

    def _known_or_none(self, request: HttpRequest) -> Known | None:
        try:
            return self._read(request)
        except ServiceError:
            return None

    def _diverge(self, number: int, known: Known, asked: Asked, why: str) -> Reply:
        self._record_request(known.request, number, known, asked, role="divergent", why=why)
        error = self._spoken.named_error("invalid", known.reading)
        return self._error_reply(number, replace(error, message=f"loopcheck: {why}"))

    def _error_reply(self, number: int, error: ServiceError) -> Reply:
        spoken = self._spoken
        request_id = spoken.request_id(digest(self.seed, "request", number))
        body = json.dumps(spoken.error_body(error, request_id), ensure_ascii=False)
        return Reply(
            status=error.status,
            headers=(
                ("content-type", "application/json"),
                *spoken.headers(request_id, streamed=False),
            ),
            segments=(body.encode(),),
            finished=self._finisher(number, (body,)),
        )

    def _side(self, request: HttpRequest, number: int) -> Reply:
        spoken = self._spoken
        events = spoken.resumed(request, self._memory)
        if events is None:
            kind, texts = "application/json", [sse.compact(spoken.side(request, self._memory))]
        else:
            kind = "text/event-stream; charset=utf-8"
            texts = [event.decode() for event in sse.encode(events, Delivery())]
        self._record_request(request, number, None, role="side")
        streamed = events is not None
        request_id = spoken.request_id(digest(self.seed, "request", number))
        return Reply(
            status=200,
            headers=(("content-type", kind), *spoken.headers(request_id, streamed=streamed)),
            segments=tuple(text.encode() for text in texts),
            streamed=streamed,
            finished=self._finisher(number, tuple(texts)),
        )

    def _say_aside(self, number: int, known: Known) -> Reply:
        """Answers a request outside the task (a title, a summary) without taking a turn."""
        self._record_request(known.request, number, known, role="side")
        reading = known.reading
        said = answer([Say(_SIDE_TEXT)])
        prepared = self._prepare(reading, 0, said, number)
        mode: Mode = "stream" if reading.stream else "whole"
        rendered = faults.render(self._spoken, prepared, said, mode, seed=self.seed)
        self._spoken.remember(prepared, self._memory)
        return Reply(
            status=rendered.status,
            headers=rendered.headers,
            segments=rendered.segments,
            streamed=rendered.streamed,
            finished=self._finisher(number, rendered.frame_texts),
        )

    def _record_request(
        self,
        request: HttpRequest,
        number: int,
        known: Known | None,
        asked: Asked | None = None,
        *,
        role: str,
        **more: object,
    ) -> None:
        fields = self._request_fields(request, known)
        if known is not None and asked is not None:
            fields = known.told(asked, fields)
        self.record("request", fields, request=number, role=role, **more)

    def _request_fields(self, request: HttpRequest, known: Known | None) -> Mapping[str, object]:
        if known is not None and known.fields is not None:
            return known.fields
        key = self._spoken.authenticate(request.headers)
        fields = request_fields(request, known.reading if known else None, secret=key)
        if known is not None:
            known.fields = fields
        return fields
