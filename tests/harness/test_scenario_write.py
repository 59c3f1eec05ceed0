"""A written scenario loads to the same scenario, and reads like one that a person wrote."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from loopcheck.harness.scenario.load import load_builtin, load_text
from loopcheck.harness.scenario.model import (
    AttemptModel,
    CallModel,
    MeanwhileModel,
    Scenario,
    ToolModel,
    TurnModel,
)
from loopcheck.harness.scenario.write import WIDTH, write

KEYS = st.one_of(
    st.text(max_size=8), st.sampled_from(["no", "1", "a: b", "#", "k" * 121, "k" * 1100])
)
JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**20), 10**20),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=12),
        st.sampled_from(["no", "~", "0x1F", "1e3", ".inf", "- a", "a #b", "a: b", "'", '"']),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


def again(scenario: Scenario) -> Scenario:
    text = write(scenario)
    return load_text(text.encode(), file="again.yaml", id=scenario.id)


def call(**said: object) -> CallModel:
    return CallModel.model_validate({"as": "one", "tool": "book", **said})


def sample(**given: object) -> Scenario:
    """A scenario with one call, and with whatever is given."""
    document: dict[str, object] = {
        "format": 1,
        "title": "One seat",
        "rule": "A seat is booked once.",
        "prompt": "Book a seat.",
        "tools": {"book": ToolModel(kind="write", args={"seat": "integer"})},
        "turns": [TurnModel(calls=(call(args={"seat": 1}),))],
        **given,
    }
    return Scenario.model_validate(document)


def test_scenarios_of_the_catalogue_are_the_same_again() -> None:
    for scenario in load_builtin()[::2]:
        assert again(scenario) == scenario, scenario.id


@settings(max_examples=60)
@given(JSON, st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200))
def test_any_value_and_any_text_is_the_same_again(value: object, text: str) -> None:
    tool = ToolModel(kind="read", args={"seat": "integer"}, returns=value)
    scenario = sample(title=text, prompt=text, tools={"book": tool})
    assert again(scenario) == scenario


def test_it_is_short_and_in_blocks() -> None:
    scenario = sample(
        rule="A loop that is told of a failure asks again, and what it has already done it does "
        "not do a second time.\n",
        needs=("approval",),
        dialects=("chat",),
        tools={"book": ToolModel(kind="write", args={"seat": "integer"}, approval="ask")},
        turns=[
            TurnModel(
                say='Say "yes".',
                calls=(call(raw_args='{"seat":1'),),
                attempts=(AttemptModel(fault="http", retry_after="1 ms"), "normal"),
            )
        ],
        meanwhile=[MeanwhileModel(when=("one.waiting",), do=("approve",))],
    )
    assert write(scenario, comment="Found by a search.\nTwice.") == TEXT


TEXT = """\
# Found by a search.
# Twice.
format: 1
title: One seat
rule: >
  A loop that is told of a failure asks again, and what it has already done it does not do a
  second time.
needs: [approval]
dialects: [chat]
prompt: Book a seat.

tools:
  book: {kind: write, args: {seat: integer}, approval: ask}

turns:
  - say: 'Say "yes".'
    calls: [{as: one, tool: book, raw_args: '{"seat":1'}]
    attempts: [{fault: http, retry_after: "1 ms"}, normal]

meanwhile: [{when: one.waiting, do: approve}]
"""


def test_lines_are_no_wider_than_an_editor_shows() -> None:
    args = {f"argument{n}": "x" * 20 for n in range(8)}
    text = write(sample(turns=[TurnModel(calls=(call(args=args),))]))
    assert max(map(len, text.splitlines())) <= WIDTH
