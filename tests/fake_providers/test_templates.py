"""An answer given from a template has the very bytes of one that is rendered."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_answers import read

from loopcheck.fake_providers import faults
from loopcheck.fake_providers.answers import prepare
from loopcheck.fake_providers.dialects import dialect
from loopcheck.fake_providers.faults import Rendered
from loopcheck.fake_providers.padding import STAND_IN, Pads, padding
from loopcheck.fake_providers.script import (
    DIALECTS,
    MODES,
    Attempt,
    Call,
    Content,
    Delivery,
    DialectName,
    Fault,
    Mode,
    Place,
    Quirk,
    Refuse,
    Say,
    Stop,
    Think,
)
from loopcheck.fake_providers.templates import Templates
from loopcheck.fake_providers.wire import Answer, JsonObject, Reading

SEED = 3
BODIES: dict[DialectName, JsonObject] = {
    "chat": {"model": "gpt-4o", "messages": [{"role": "user", "content": "Go."}]},
    "responses": {"model": "gpt-4o", "input": "Go."},
    "messages": {
        "model": "claude-sonnet-4-6",
        "max_tokens": 99,
        "messages": [{"role": "user", "content": "Go."}],
    },
}
# What stands for ids and times in a template, where a model may well say it.
LIKE_BLANKS = [STAND_IN, f"{STAND_IN}3:9~", "~item-0~", "~call-1~", "8888888888888002"]
TEXTS = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=30),
    st.sampled_from(LIKE_BLANKS),
)
DELIVERIES = st.builds(
    Delivery,
    fragments=st.sampled_from(["whole", "char", "seeded", "escapes", 3]),
    segments=st.sampled_from(["frame", "all", "byte", "seeded", "utf8", "crlf", 7]),
    interleave=st.sampled_from([False, True, "seeded"]),
    newline=st.sampled_from(["lf", "crlf"]),
    comments=st.integers(0, 2),
    pings=st.integers(0, 2),
    data_lines=st.integers(1, 2),
    bom=st.booleans(),
    keep_alive=st.booleans(),
)


def calls(label: str) -> st.SearchStrategy[Call]:
    return st.builds(
        Call,
        label=st.just(label),
        tool=st.just("reserve"),
        arguments=TEXTS,
        wire_id=st.sampled_from([None, "", "call_same", STAND_IN]),
    )


def contents(name: DialectName) -> st.SearchStrategy[list[Content]]:
    kinds: list[st.SearchStrategy[Content]] = [
        st.builds(Say, TEXTS),
        st.builds(Refuse, TEXTS),
        calls("a"),
        calls("b"),
    ]
    if name != "chat":
        kinds.append(st.builds(Think, TEXTS, st.booleans()))
    return st.lists(st.one_of(kinds), max_size=4)


def reading(name: DialectName, mode: Mode, **more: object) -> Reading:
    return read(name, {**BODIES[name], "stream": mode == "stream", **more})


def answers(attempt: Attempt, asked: Sequence[Reading]) -> list[Answer]:
    return [
        prepare(one, attempt, turn=1, asked=n, seed=SEED, number=n) for n, one in enumerate(asked)
    ]


def told(rendered: Rendered) -> tuple[object, ...]:
    """All of it but the events, which a template does not have."""
    return (
        rendered.status,
        rendered.headers,
        rendered.segments,
        tuple(rendered.frame_texts),
        rendered.streamed,
        rendered.ending,
        rendered.keep_alive,
        dict(rendered.sent),
        rendered.ends,
        rendered.odd,
        dict(rendered.pauses),
    )


def check(attempt: Attempt, mode: Mode, asked: Sequence[Reading]) -> Templates:
    spoken = dialect(asked[0].dialect)
    templates = Templates(spoken, SEED)
    for answer in answers(attempt, asked):
        given = templates.render(answer, attempt, mode, turn=1)
        assert told(given) == told(faults.render(spoken, answer, attempt, mode, seed=SEED))
    return templates


def templates_used(templates: Templates) -> int:
    return sum(entry.template is not None for entry in templates._entries.values())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", DIALECTS)
class TestSameBytes:
    @settings(max_examples=25, deadline=None)
    @given(data=st.data())
    def test_whatever_is_said_and_however(
        self, name: DialectName, mode: Mode, data: st.DataObject
    ) -> None:
        attempt = Attempt(
            content=tuple(data.draw(contents(name))),
            stop=data.draw(st.sampled_from(["end", "calls", "length"])),
            delivery=data.draw(DELIVERIES),
        )
        check(attempt, mode, [reading(name, mode)] * 4)

    @pytest.mark.parametrize("stop", ["end", "length"])
    def test_a_template_is_used(self, name: DialectName, mode: Mode, stop: Stop) -> None:
        call = Call(label="a", tool="reserve", arguments='{"seat":12}')
        attempt = Attempt(content=(Say("Zoë, I book it."), call), stop=stop)
        assert templates_used(check(attempt, mode, [reading(name, mode)] * 2)) == 1

    def test_what_looks_like_a_blank_is_left_alone(self, name: DialectName, mode: Mode) -> None:
        """There is no template then, since it could not tell them apart."""
        for text in LIKE_BLANKS[:1] + LIKE_BLANKS[-1:]:
            attempt = Attempt(content=(Say(text),), delivery=Delivery(fragments="whole"))
            assert templates_used(check(attempt, mode, [reading(name, mode)] * 4)) == 0

    def test_another_request_is_another_answer(self, name: DialectName, mode: Mode) -> None:
        attempt = Attempt(content=(Say("Hello."),))
        plain, other = (reading(name, mode, model=model) for model in ("gpt-4o", "gpt-4.1"))
        check(attempt, mode, [plain, plain, plain, other, other, other, plain])

    def test_ids_of_another_length_are_rendered(self, name: DialectName, mode: Mode) -> None:
        attempt = Attempt(content=(Say("Hello."),))
        spoken, templates = dialect(name), Templates(dialect(name), SEED)
        for answer in answers(attempt, [reading(name, mode)] * 3):
            templates.render(answer, attempt, mode, turn=1)
        late = prepare(
            reading(name, mode), attempt, turn=1, asked=9, seed=SEED, number=10_000_000_000
        )
        given = templates.render(late, attempt, mode, turn=1)
        assert told(given) == told(faults.render(spoken, late, attempt, mode, seed=SEED))


@pytest.mark.parametrize(
    "attempt",
    [
        Attempt(content=(Say("Hello."),), fault=Fault(kind="http")),
        Attempt(content=(Say("Hello."),), quirks=(Quirk("finish", "stop"),)),
        Attempt(content=(Say("Hello."),), raw=b"data: [DONE]\n\n"),
        Attempt(
            content=(Say("Hello."),), delivery=Delivery(pauses=((Place(frame="terminal"), 1),))
        ),
    ],
)
def test_what_is_disturbed_has_no_template(attempt: Attempt) -> None:
    assert templates_used(check(attempt, "stream", [reading("chat", "stream")] * 4)) == 0


def test_few_templates_are_kept() -> None:
    spoken, attempt = dialect("chat"), Attempt(content=(Say("Hello."),))
    templates = Templates(spoken, SEED)
    (answer,) = answers(attempt, [reading("chat", "whole")])
    for turn in range(200):
        templates.render(answer, attempt, "whole", turn=turn)
    assert len(templates._entries) == 64


class TestPadding:
    @given(st.text(max_size=9), st.lists(st.integers(0, 700), min_size=1, unique=True))
    def test_one_by_one_or_together(self, response_id: str, numbers: list[int]) -> None:
        wanted = [(number, 16 - number % 16) for number in sorted(numbers)]
        alone = [padding(response_id, number, "x" * (number % 16)) for number, _ in wanted]
        assert [pad.decode() for pad in Pads(wanted).of(response_id)] == alone
        assert [len(pad) for pad in alone] == [size for _, size in wanted]

    def test_it_differs_from_event_to_event_and_between_responses(self) -> None:
        pads = [padding(response_id, n, "") for response_id in ("a", "b") for n in range(500)]
        assert len(set(pads)) == 1000
        assert all(pad.isalnum() and pad.isascii() for pad in pads)
