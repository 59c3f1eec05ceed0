"""One scripted provider for one case: a request in, a reply out, no I/O.

Order of judgement, as at the service: key, form of the request, rules about its history; then
which turn it asks for. Everything is recorded before a byte goes out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Protocol

from loopcheck.fake_providers import faults
from loopcheck.fake_providers.answers import prepare
from loopcheck.fake_providers.dialects import Memory, Rule, dialect
from loopcheck.fake_providers.dialects.interface import drop_oldest
from loopcheck.fake_providers.ids import digest
from loopcheck.fake_providers.recording import issued_fields, request_fields
from loopcheck.fake_providers.script import (
    Attempt,
    DialectName,
    Mode,
    Refuse,
    Say,
    Script,
    Turn,
    answer,
)
from loopcheck.fake_providers.templates import Templates
from loopcheck.fake_providers.turns import Given, Recognised, asks_for_a_turn
from loopcheck.fake_providers.wire import (
    Answer,
    HttpRequest,
    Item,
    Reading,
    Reply,
    ServiceError,
)

LONG_LIVED: Final = 1000
"""What `keep` is for a provider that serves until somebody stops it."""

_SIDE_TEXT = "OK"


class Recorder(Protocol):
    """Where the provider writes what happened; see the harness's journal for the kinds."""

    def __call__(self, kind: str, /, **fields: object) -> int: ...


def nothing(kind: str, /, **fields: object) -> int:
    """Records nothing, where nobody judges what happened."""
    return 0


@dataclass(slots=True, kw_only=True)
class Provider:
    """A service that follows a script.

    `tokens` tells which result tokens the calls with these labels have produced, `passed`
    whether a point in time has passed. `off` names
    request rules that are not applied, `on` rules that are although their evidence is weak.
    `models` are the models that exist; any does where none is named. `improvise` makes up the
    turn that answers a request, or refuses it; the script is not followed then. `keep` bounds
    what a provider that serves for ever remembers, counted in responses.
    """

    script: Script
    dialect: DialectName
    mode: Mode
    seed: int
    record: Recorder
    tokens: Callable[[Sequence[str]], frozenset[str]] = lambda labels: frozenset()
    passed: Callable[[str], bool] = lambda point: False
    api_key: str | None = None
    on: frozenset[str] = frozenset()
    off: frozenset[str] = frozenset()
    models: frozenset[str] = frozenset()
    improvise: Callable[[Reading], Turn] | None = None
    keep: int | None = None
    _memory: Memory = field(default_factory=Memory)
    _given: Given = field(default_factory=Given)
    _asked: dict[int, int] = field(default_factory=dict)
    _attempts: dict[int, tuple[int, int]] = field(default_factory=dict)
    _requests: int = 0
    _latest: tuple[HttpRequest, Reading] | None = None
    _noted: tuple[Reading, dict[str, object]] | None = None
    _templates: Templates = field(init=False)
    _rules: tuple[Rule, ...] = field(init=False)

    def __post_init__(self) -> None:
        self._templates = Templates(dialect(self.dialect), self.seed)
        self._rules = tuple(filter(self._applies, dialect(self.dialect).rules))
        self._memory.models = self.models

    def handle(self, request: HttpRequest) -> Reply:
        """Answers one request. Raises FaultError when a scripted fault cannot strike."""
        spoken = dialect(self.dialect)
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
            reading = self._read(request)
            self._apply_rules(reading)
            return self._answer(request, number, reading)
        except ServiceError as error:
            return self._refuse(request, number, error)

    def _authenticate(self, request: HttpRequest) -> None:
        spoken = dialect(self.dialect)
        key = spoken.authenticate(request.headers)
        if not key or (self.api_key is not None and key != self.api_key):
            raise spoken.named_error("auth", None)

    def _read(self, request: HttpRequest) -> Reading:
        """The reading of the request; that of the one before when it asks for just the same, as
        it is when loops retry."""
        if self._latest is not None:
            before, reading = self._latest
            if before == request:
                return reading
        reading = dialect(self.dialect).read(request, self._memory)
        if reading.self_contained:
            self._latest = (request, reading)
        return reading

    def _applies(self, rule: Rule) -> bool:
        weak = rule.grade in ("D", "unsure")
        return rule.id not in self.off and (not weak or rule.id in self.on)

    def _apply_rules(self, reading: Reading) -> None:
        for rule in self._rules:
            broken = rule.check(reading.history, reading.body, self._memory)
            if broken is not None:
                raise replace(broken, rule=rule.id)

    def _answer(self, request: HttpRequest, number: int, reading: Reading) -> Reply:
        if self.improvise is not None:
            return self._answer_with(self.improvise(reading), request, number, reading)
        found = self._given.recognise(reading.items, self.tokens)
        invented = self._given.invented_call(reading.items)
        if invented is not None:
            return self._diverge(request, number, reading, found, invented)
        continues = found.turn > 0 and found.by != "count"
        if not continues and not asks_for_a_turn(
            reading.items, reading.tools, prompt=self.script.prompt, tools=self.script.tools
        ):
            return self._say_aside(request, number, reading)
        turn = self.script.turn(found.turn + 1)
        recognised = {"turn": found.turn, "by": found.by}
        return self._answer_with(turn, request, number, reading, recognised=recognised)

    def _answer_with(
        self, turn: Turn, request: HttpRequest, number: int, reading: Reading, **more: object
    ) -> Reply:
        attempt_number = self._asked[turn.number] = self._asked.get(turn.number, 0) + 1
        self._record_request(
            request,
            number,
            reading,
            role="turn",
            turn=turn.number,
            attempt=attempt_number,
            **more,
        )
        return self._reply(number, reading, turn, attempt_number)

    def _reply(self, number: int, reading: Reading, turn: Turn, attempt_number: int) -> Reply:
        attempt = self._next_attempt(turn)
        prepared = self._prepare(reading, turn.number, attempt, attempt_number)
        mode: Mode = "stream" if reading.stream else "whole"
        rendered = self._templates.render(prepared, attempt, mode, turn=turn.number)
        self._remember(prepared, turn, rendered)
        self.record(
            "response",
            request=number,
            turn=turn.number,
            attempt=attempt_number,
            response_id=prepared.response_id,
            status=rendered.status,
            **issued_fields(prepared, rendered.sent),
            text=attempt.text,
            refusal=next((i.text for i in attempt.content if isinstance(i, Refuse)), None),
            stop=attempt.stop,
            fault=attempt.fault.kind if attempt.fault else None,
            ends=rendered.ends,
            odd=rendered.odd,
        )
        return Reply(
            status=rendered.status,
            headers=rendered.headers,
            segments=rendered.segments,
            streamed=rendered.streamed,
            ending=rendered.ending,
            keep_alive=rendered.keep_alive,
            pauses=rendered.pauses,
            finished=self._finisher(number, rendered.frame_texts),
        )

    def _next_attempt(self, turn: Turn) -> Attempt:
        latest, given = self._attempts.get(turn.number, (0, 0))
        position = turn.next_attempt(self.passed, position=latest, given=given)
        self._attempts[turn.number] = (position, given + 1 if position == latest else 1)
        return turn.attempts[position]

    def _finisher(
        self, number: int, frames: tuple[str, ...]
    ) -> Callable[[Literal["written", "client-closed"]], None]:
        def finished(how: Literal["written", "client-closed"]) -> None:
            self.record("sent", request=number, frames=list(frames), how=how)

        return finished

    def _prepare(self, reading: Reading, turn: int, attempt: Attempt, asked: int) -> Answer:
        return prepare(
            reading, attempt, turn=turn, asked=asked, seed=self.seed, number=self._requests
        )

    def _remember(self, prepared: Answer, turn: Turn, rendered: faults.Rendered) -> None:
        reached = tuple(c for c in prepared.calls if rendered.sent.get(c.label) != "none")
        for position, call in enumerate(reached):
            twice = call.call_id in (other.call_id for other in reached[:position])
            if twice or self._given.has_issued(call.call_id):
                self._memory.repeated.add(call.call_id)
        if rendered.ends in ("well", "marked"):
            dialect(self.dialect).remember(prepared, self._memory)
        said = "".join(piece.text for piece in prepared.content if isinstance(piece, Say))
        if self.improvise is None:
            self._given.add(
                turn.number,
                reached,
                text=said if rendered.status < 400 else "",
                scripted=turn.number <= len(self.script.turns),
            )

    def _forget(self, keep: int) -> None:
        self._memory.forget(keep)
        self._given.forget(keep)
        drop_oldest(self._asked, keep)
        drop_oldest(self._attempts, keep)

    def _refuse(self, request: HttpRequest, number: int, error: ServiceError) -> Reply:
        spoken = dialect(self.dialect)
        rule = next((rule for rule in spoken.rules if rule.id == error.rule), None)
        reading = self._reading_or_none(request)
        self._record_request(request, number, reading, role="refused", why=error.message)
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

    def _reading_or_none(self, request: HttpRequest) -> Reading | None:
        try:
            return self._read(request)
        except ServiceError:
            return None

    def _diverge(
        self,
        request: HttpRequest,
        number: int,
        reading: Reading,
        found: Recognised,
        invented: Item,
    ) -> Reply:
        why = (
            f"the call of {invented.name!r} with id {invented.call_id!r} at {invented.path} "
            "was never issued in this case"
        )
        self._record_request(
            request,
            number,
            reading,
            role="divergent",
            why=why,
            recognised={"turn": found.turn, "by": found.by},
        )
        error = dialect(self.dialect).named_error("invalid", reading)
        return self._error_reply(number, replace(error, message=f"loopcheck: {why}"))

    def _error_reply(self, number: int, error: ServiceError) -> Reply:
        spoken = dialect(self.dialect)
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
        spoken = dialect(self.dialect)
        body = json.dumps(spoken.side(request, self._memory), ensure_ascii=False)
        self._record_request(request, number, None, role="side")
        request_id = spoken.request_id(digest(self.seed, "request", number))
        return Reply(
            status=200,
            headers=(
                ("content-type", "application/json"),
                *spoken.headers(request_id, streamed=False),
            ),
            segments=(body.encode(),),
            finished=self._finisher(number, (body,)),
        )

    def _say_aside(self, request: HttpRequest, number: int, reading: Reading) -> Reply:
        """Answers a request outside the task (a title, a summary) without taking a turn."""
        self._record_request(request, number, reading, role="side")
        said = answer([Say(_SIDE_TEXT)])
        prepared = self._prepare(reading, 0, said, number)
        mode: Mode = "stream" if reading.stream else "whole"
        rendered = faults.render(dialect(self.dialect), prepared, said, mode, seed=self.seed)
        dialect(self.dialect).remember(prepared, self._memory)
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
        reading: Reading | None,
        *,
        role: str,
        **more: object,
    ) -> None:
        fields = self._request_fields(request, reading)
        self.record("request", request=number, role=role, **fields, **more)

    def _request_fields(self, request: HttpRequest, reading: Reading | None) -> dict[str, object]:
        if reading is not None and self._noted is not None and self._noted[0] is reading:
            return self._noted[1]
        key = dialect(self.dialect).authenticate(request.headers)
        fields = request_fields(request, reading, secret=key)
        self._noted = None if reading is None else (reading, fields)
        return fields
