from __future__ import annotations

import pytest
from scenario_texts import HEAD, TURNS, problems

from loopcheck.fake_providers.script import Quirk
from loopcheck.harness.cases import expand
from loopcheck.harness.scenario.compile import compile_script
from loopcheck.harness.scenario.load import load_variants

VARIED = """\
dialects: [chat]
modes: [stream]
quirks: [{index: absent}]
variants:
  is-null: {quirks: [{index: null}]}
  on-all: {title: U, dialects: all, quirks: [unknown-event]}
"""


def test_a_variant_is_the_file_with_keys_of_its_own() -> None:
    base, null, everywhere = load_variants(
        (HEAD + TURNS + VARIED).encode(), file="x.yaml", id="a/x"
    )

    assert [s.id for s in (base, null, everywhere)] == ["a/x", "a/x@is-null", "a/x@on-all"]
    assert (base.title, null.title, everywhere.title) == ("T", "T", "U")
    assert (null.dialects, everywhere.dialects, everywhere.modes) == (("chat",), "all", ("stream",))
    assert null.turns == base.turns
    quirks = compile_script(null, "chat", "stream").turns[0].attempts[0].quirks
    assert quirks == (Quirk("index", None),)
    assert null.variants == {}
    assert [spec.id for spec in expand([null])] == ["a/x@is-null[chat-stream]"]


@pytest.mark.parametrize(
    ("variants", "expected"),
    [
        ("{a: {quirk: []}}", ["11:16: unknown key 'quirk' | did you mean 'quirks'?"]),
        (
            "{a: {modes: [stream], quirks: [{index: far}]}}",
            [
                "11:42: the quirk 'index' takes `absent`; `null`; a number for all calls; "
                "`{from: n}`; a list, one per call; `growing` with each delta; `mixed` (every "
                "other delta lacks it); not 'far' | known: absent, growing, mixed"
            ],
        ),
        (
            "{a: {turns: [{calls: [{as: seat, tool: reserve, args: {}}]}], needs: [resum]}}",
            ["11:81: 'resum' is no capability | did you mean 'resume'?"],
        ),
        ("{a: {format: 1}}", ["11:16: a variant has the 'format' of its file"]),
        ("{a: {}}", ["11:12: the variant 'a' changes nothing"]),
        (
            "{A B: {title: U}}",
            [
                "11:12: 'A B' is no name of a variant | small letters, digits and -; it becomes a "
                "part of the id"
            ],
        ),
        ("{a: 1}", ["11:15: 'a' must be a mapping, not a whole number"]),
    ],
)
def test_problems_of_variants_stand_where_they_are_written(
    variants: str, expected: list[str]
) -> None:
    assert problems(TURNS + f"variants: {variants}\n") == expected
