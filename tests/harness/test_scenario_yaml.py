from __future__ import annotations

import math

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from scenario_texts import refused

from loopcheck.harness.scenario import yaml_source
from loopcheck.harness.scenario.errors import ScenarioError
from loopcheck.harness.scenario.yaml_source import MAX_BYTES, read, resolve


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("Null", None),
        ("NULL", None),
        ("nULL", "nULL"),
        ("true", True),
        ("True", True),
        ("TRUE", True),
        ("false", False),
        ("False", False),
        ("FALSE", False),
        ("tRue", "tRue"),
        ("yes", "yes"),
        ("no", "no"),
        ("No", "No"),
        ("on", "on"),
        ("off", "off"),
        ("y", "y"),
        ("0", 0),
        ("12", 12),
        ("-12", -12),
        ("+12", 12),
        ("0777", 777),
        ("0o17", 15),
        ("0x1F", 31),
        ("0o8", "0o8"),
        ("0b1", "0b1"),
        ("-0x1", "-0x1"),
        ("1_000", "1_000"),
        ("190:20:30", "190:20:30"),
        ("2026-11-30", "2026-11-30"),
        ("2026-11-30T10:30:00Z", "2026-11-30T10:30:00Z"),
        ("1.5", 1.5),
        ("1.", 1.0),
        (".5", 0.5),
        ("-1e3", -1000.0),
        ("1e-2", 0.01),
        (".", "."),
        ("1e", "1e"),
        (".inf", math.inf),
        ("-.Inf", -math.inf),
        ("+.INF", math.inf),
        ("inf", "inf"),
        ("nan", "nan"),
        ("<<", "<<"),
        ("=", "="),
        ("\u0661\u0662", "\u0661\u0662"),
    ],
)
def test_plain_scalars_follow_the_core_schema(text: str, value: object) -> None:
    resolved = resolve(text)

    assert resolved == value
    assert type(resolved) is type(value)


@pytest.mark.parametrize("text", [".nan", ".NaN", ".NAN"])
def test_nan_is_a_float(text: str) -> None:
    resolved = resolve(text)

    assert isinstance(resolved, float)
    assert math.isnan(resolved)


def test_quoted_and_block_scalars_are_always_text() -> None:
    source = read(b"a: \"12\"\nb: 'true'\nc: |\n  12\nd: ''\n", "x.yaml")

    assert source.data == {"a": "12", "b": "true", "c": "12\n", "d": ""}


def test_places_of_values_and_keys_count_from_one() -> None:
    source = read("ä: 1\nlist:\n  - {k: ü, m: x}\n".encode(), "x.yaml")

    assert source.data == {"ä": 1, "list": [{"k": "ü", "m": "x"}]}
    assert source.values == {
        (): (1, 1),
        ("ä",): (1, 4),
        ("list",): (3, 3),
        ("list", 0): (3, 5),
        ("list", 0, "k"): (3, 9),
        ("list", 0, "m"): (3, 15),
    }
    assert source.keys[("list", 0, "m")] == (3, 12)


def test_an_alias_stands_where_it_is_written_and_its_parts_where_the_anchor_is() -> None:
    source = read(b"a: &x {k: 1}\nb: *x\n", "x.yaml")

    assert source.data == {"a": {"k": 1}, "b": {"k": 1}}
    assert source.values[("b",)] == (2, 4)
    assert source.values[("b", "k")] == (1, 11)


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    assert read(b"\xef\xbb\xbfa: 1\n", "x.yaml").data == {"a": 1}


_DEEP = "[" * 101 + "]" * 101
_ALIASES = "a: &a 1\nb: [" + ", ".join(["*a"] * 101) + "]\n"
_BOMB = "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 10)}]\n"
    for old, new in zip("abcde", "bcdef", strict=True)
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"a: 1\nb: 2\na: 3\n", "x.yaml:3:1: error: key 'a' stands twice; first in line 1"),
        (
            b"a: {b: 1, c: 2,\n  'b': 3}\n",
            "x.yaml:2:3: error: key 'b' stands twice; first in line 1",
        ),
        (
            b"a: &a {k: 1}\nb:\n  <<: *a\n",
            "x.yaml:3:3: error: merge keys (<<) are not allowed\n    write the keys out",
        ),
        (
            b"a:\n  12: x\n",
            "x.yaml:2:3: error: key 12 is not text\n    write '12' in quotes",
        ),
        (
            b"true: x\n",
            "x.yaml:1:1: error: key true is not text\n    write 'true' in quotes",
        ),
        (b"~: x\n", "x.yaml:1:1: error: key ~ is not text\n    write '~' in quotes"),
        (b"?\n: x\n", "x.yaml:1:2: error: key null is not text"),
        (b"? [a, b]\n: x\n", "x.yaml:1:3: error: a key must be text"),
        (
            b"a: !!python/object:os.system x\n",
            "x.yaml:1:4: error: tag 'tag:yaml.org,2002:python/object:os.system' is not allowed\n"
            "    put text in quotes",
        ),
        (
            b"a: !mine x\n",
            "x.yaml:1:4: error: tag '!mine' is not allowed\n    put text in quotes",
        ),
        (b"a: *nobody\n", "x.yaml:1:4: error: alias *nobody has no finished anchor before it"),
        (b"a: &a [*a]\n", "x.yaml:1:8: error: alias *a has no finished anchor before it"),
        (_ALIASES.encode(), "x.yaml:2:405: error: more than 100 aliases"),
        (_BOMB.encode(), "x.yaml:5:44: error: more than 100000 values, aliases expanded"),
        (
            f"a: {_DEEP}\n".encode(),
            "x.yaml:1:103: error: nested more than 100 levels deep",
        ),
        (
            b"a: 1\n---\nb: 2\n",
            "x.yaml:2:1: error: a second document begins here; a file holds one scenario",
        ),
        (b"", "x.yaml:1:1: error: the file is empty"),
        (b"# only a comment\n", "x.yaml:1:1: error: the file is empty"),
        (b"\n- a\n- b\n", "x.yaml:2:1: error: a scenario is a mapping of keys"),
        (b"just text\n", "x.yaml:1:1: error: a scenario is a mapping of keys"),
        (b"a: " + b"9" * 1001, "x.yaml:1:4: error: a number of more than 1000 digits"),
        (b"a: 1\nb: \xff\n", "x.yaml:2:4: error: not UTF-8 text"),
        (
            b"a: 1\nb: x\x1by\n",
            "x.yaml:2:5: error: character U+001B is not allowed\n"
            '    write it as an escape in double quotes, such as "\\x1b"',
        ),
        (b"#" * (MAX_BYTES + 1), f"x.yaml:1:1: error: the file is larger than {MAX_BYTES} bytes"),
    ],
)
def test_bad_input_is_reported_with_its_place(text: bytes, expected: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        read(text, "x.yaml")

    assert str(caught.value) == expected


@pytest.mark.parametrize(
    ("text", "start"),
    [
        (b"a: 1\n\tb: 2\n", "x.yaml:2:1: error: not YAML: "),
        (b"a: [1, 2\nb: 3\n", "x.yaml:2:2: error: not YAML: "),
        (b"a: 'x\n", "x.yaml:2:1: error: not YAML: "),
        (b"a: b: c\n", "x.yaml:1:5: error: not YAML: mapping values are not allowed"),
    ],
)
def test_syntax_errors_name_the_place(text: bytes, start: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        read(text, "x.yaml")

    assert str(caught.value).startswith(start)
    assert len(caught.value.problems) == 1


def test_several_problems_are_reported_at_once() -> None:
    with pytest.raises(ScenarioError) as caught:
        read(b"a: 1\na: 2\n3: x\nb: !t y\n", "x.yaml")

    assert [problem.line for problem in caught.value.problems] == [2, 3, 4]


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode()))
def test_reading_any_bytes_raises_nothing_but_a_scenario_error(text: bytes) -> None:
    found = refused(lambda: read(text, "x.yaml"))

    assert all(problem.line >= 1 and problem.column >= 1 for problem in found)


_ESCAPES = ["true", "\\ud83d", "\\U99999999", "  "]
_BITS = st.sampled_from(
    [
        *_ESCAPES,
        *"a-|>#%,\t\n{}[]\"'1",
        ": ",
        "- ",
        "&x ",
        "*x",
        "<<",
        "!t ",
        "? ",
        "---\n",
        "...\n",
    ]
)


@given(st.lists(_BITS, max_size=30).map("".join))
def test_reading_odd_yaml_raises_nothing_but_a_scenario_error(text: str) -> None:
    found = refused(lambda: read(text.encode(), "x.yaml"))

    assert all(problem.line >= 1 and problem.column >= 1 for problem in found)


class TestWithoutTheCParser:
    """PyYAML may come without libyaml; its Python parser has to do as well."""

    @pytest.fixture(autouse=True)
    def _python_parser(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(yaml_source, "_LOADER", yaml.SafeLoader)

    def test_values_and_places_are_the_same(self) -> None:
        source = read("ä: [1, {k: no}]\nb: 'x'\n".encode(), "x.yaml")

        assert source.data == {"ä": [1, {"k": "no"}], "b": "x"}
        assert source.values[("ä", 1, "k")] == (1, 12)
        assert source.keys[("b",)] == (2, 1)

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            (b'a: "\\U99999999"\n', "x.yaml:1:1: error: not YAML: "),
            (b'a: "\\ud83d"\n', "x.yaml:1:4: error: half of a surrogate pair is no character"),
        ],
    )
    def test_escapes_beyond_unicode_are_refused(self, text: bytes, expected: str) -> None:
        with pytest.raises(ScenarioError) as caught:
            read(text, "x.yaml")

        assert str(caught.value).startswith(expected)
