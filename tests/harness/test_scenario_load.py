from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scenario_texts import HEAD, TURNS, problems, refused, scenario

from loopcheck.harness.scenario.errors import Problem, ScenarioError
from loopcheck.harness.scenario.load import (
    CATALOGUE,
    ScenarioFile,
    discover,
    find_files,
    load_builtin,
    load_file,
    load_text,
)
from loopcheck.harness.scenario.model import (
    AnyOfQuantity,
    AttemptModel,
    PlaceModel,
    TurnModel,
)

GOOD = (HEAD + TURNS).encode()


def test_a_short_file_has_every_default() -> None:
    loaded = scenario(TURNS)

    assert loaded.id == "x"
    assert (loaded.dialects, loaded.modes, loaded.needs) == ("all", ("whole", "stream"), ())
    assert loaded.otherwise == (TurnModel(say="Finished."),)
    assert loaded.labels == ("seat",)
    assert loaded.tools["reserve"].parameters == {
        "type": "object",
        "properties": {"event": {"type": "string"}, "seat": {"type": "integer"}},
        "required": ["event", "seat"],
        "additionalProperties": False,
    }
    assert loaded.tools["look"].returns == {"ok": True}
    assert loaded.tools["look"].behaves == ("normal",)


def test_single_values_stand_for_lists_of_one() -> None:
    loaded = scenario(
        TURNS + "otherwise: {say: Bye.}\n",
        HEAD.replace("look: {kind: read", "look: {kind: read, returns_after: seat.ended"),
    )

    assert loaded.otherwise == (TurnModel(say="Bye."),)
    assert loaded.tools["look"].returns_after == ("seat.ended",)


def test_quantities_and_places_take_each_of_their_forms() -> None:
    loaded = scenario(
        "turns:\n"
        "  - calls: [{as: seat, tool: reserve, args: {event: E1, seat: 12}}]\n"
        "    attempts:\n"
        "      - {fault: eof, at: {in: seat, after: '1'}}\n"
        "      - {fault: reset, at: {chat: end, messages: {frame: terminal, bytes: 3}}}\n"
        "      - normal\n"
        "expect: {must: {executions: {reserve: {any_of: [0, [{event: E1, seat: 12}]]}, look: 0}}}\n"
    )

    assert loaded.turns[0].attempts == (
        AttemptModel(fault="eof", at=PlaceModel.model_validate({"in": "seat", "after": "1"})),
        AttemptModel(
            fault="reset", at={"chat": "end", "messages": PlaceModel(frame="terminal", bytes=3)}
        ),
        "normal",
    )
    assert loaded.expect.must.executions == {
        "reserve": AnyOfQuantity(any_of=(0, ({"event": "E1", "seat": 12},))),
        "look": 0,
    }


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        ("turn: []\n", ["1:1: the scenario has no 'turns'", "8:1: unknown key 'turn' | did you"]),
        (
            TURNS + "tuols: {}\n",
            ["11:1: unknown key 'tuols' | did you mean 'tools'?"],
        ),
        (
            "turns: [{sai: x}, {user: y, sai: z}, {if: w}]\n",
            [
                "8:10: unknown key 'sai' in turn 1 | did you mean 'say'?",
                "8:29: unknown key 'sai' in entry 2 | known: run, user",
                "8:43: turn 2: 'if' must be a mapping, not text",
            ],
        ),
        (
            TURNS + "meanwhile: [{whan: seat.asked, do: cancel}]\n",
            [
                "11:13: meanwhile 1 has no 'when'",
                "11:14: unknown key 'whan' in meanwhile 1 | did you mean 'when'?",
            ],
        ),
        (
            TURNS + "meanwhile: [{when: {in: seat, afer: E}, do: {deny: seat, reson: no}}]\n",
            [
                "11:20: meanwhile 1 has no 'after'",
                "11:31: unknown key 'afer' in meanwhile 1 | did you mean 'after'?",
                "11:58: unknown key 'reson' in meanwhile 1 | did you mean 'reason'?",
            ],
        ),
        (
            "turns:\n  - calls: [{as: a, tool: look, argz: {}, args: {}}]\n",
            ["9:33: unknown key 'argz' in call 'a' | did you mean 'args'?"],
        ),
        (
            "turns:\n  - say: x\n    attempts: [{fault: eof}, {fualt: eof}]\n",
            ["10:31: unknown key 'fualt' in attempt 2 | did you mean 'fault'?"],
        ),
        (
            TURNS + "expect: {must: {execution: {}, history: {turn1: {lack: []}}}}\n",
            [
                "11:17: unknown key 'execution' in expect.must | did you mean 'executions'?",
                "11:50: unknown key 'lack' in expect.must | did you mean 'lacks'?",
            ],
        ),
        (
            TURNS + "expect: {must: {executions: {look: {at_mots: 1}}}}\n",
            [
                "11:36: expect.must has no 'at_most'",
                "11:37: unknown key 'at_mots' in expect.must | did you mean 'at_most'?",
            ],
        ),
        (
            TURNS + "delivery: {segment: byte, pauses: [{at: start, for: 1 ms, then: 2}]}\n",
            [
                "11:12: unknown key 'segment' | did you mean 'segments'?",
                "11:59: unknown key 'then' | known: at, for",
            ],
        ),
        (
            TURNS + "delivery: {pauses: [{at: start, for: 2 s}]}\n",
            ["11:38: 'for': a pause is at most 1000 ms, not 2 s"],
        ),
        (TURNS + "limits: {costs: 3}\n", ["11:10: unknown key 'costs' | did you mean 'cost'?"]),
        (TURNS + "id: x\n", ["11:1: unknown key 'id' | the id of a scenario is its path below"]),
    ],
)
def test_unknown_keys_are_reported_at_their_place(tail: str, expected: list[str]) -> None:
    found = problems(tail)

    assert len(found) == len(expected)
    assert [text[: len(start)] for text, start in zip(found, expected, strict=True)] == expected


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        ("turns: 3\n", "8:8: 'turns' must be a list, not a whole number"),
        ("turns: [x]\n", "8:9: turn 1: an item of 'turns' must be a mapping, not text"),
        ("turns: [{say: 3}]\n", "8:15: turn 1: 'say' must be text, not a whole number"),
        ("turns: [{optional: 1}]\n", "8:20: turn 1: 'optional' must be true or false, not a w"),
        ("turns: [{optional: yes}]\n", "8:20: turn 1: 'optional' must be true or false, not text"),
        ("turns: [{stop: ends}]\n", "8:16: turn 1: 'ends' is no value of 'stop' | did you mean 'e"),
        ("turns: [{stop: {chat: ends}}]\n", "8:23: turn 1: 'ends' is no value of 'stop'"),
        ("turns: [{stop: {chat: end, reponses: end}}]\n", "8:28: 'reponses' is no dialect | did"),
        ("turns: [{attempts: []}]\n", "8:20: turn 1: 'attempts' must not be empty"),
        ("turns: [{attempts: [nrmal]}]\n", "8:21: attempt 1: 'nrmal' is no value of an item of"),
        ("turns: [{attempts: [{times: 0}]}]\n", "8:29: attempt 1: 'times' must be at least 1, not"),
        (
            "turns: [{attempts: [{status: 200}]}]\n",
            "8:30: attempt 1: 'status' must be at least 400",
        ),
        (
            "turns: [{attempts: [{retry_after: 2 sec}]}]\n",
            "8:35: attempt 1: 'retry_after': '2 sec' is no duration such as '300 ms', '2 s' or",
        ),
        ("turns: [{attempts: [{at: 3}]}]\n", "8:26: attempt 1: 'at' must be text or a mapping"),
        ("turns: []\nformat: 2\n", "9:1: key 'format' stands twice"),
        ("turns: []\ngrounds: [B1]\n", "9:11: 'B1' is no bug id such as 'B139'"),
        ("turns: []\ndialects: chat\n", "9:11: 'chat' is no value of 'dialects'"),
        ("turns: []\ndialects: []\n", "9:11: 'dialects' must not be empty"),
        ("turns: []\nmodes: [streamed]\n", "9:9: 'streamed' is no value of an item of 'modes'"),
        (
            "turns: []\ndelivery: {fragments: 0}\n",
            "9:23: 'fragments' must be at least 1, not 0",
        ),
        (
            "turns: []\ndelivery: {segments: []}\n",
            "9:22: 'segments' must be text or a whole number, not a list",
        ),
        (
            "turns: []\nexpect: {must: {executions: {look: x}}}\n",
            "9:36: expect.must: 'look' must be a whole number or a list or {at_most: n} or",
        ),
        (
            "turns: []\nexpect: {must: {outcome: done}}\n",
            "9:26: expect.must: 'outcome': 'done' is no outcome; outcomes: completed, refused,",
        ),
        (
            "turns: []\nexpect: {must: {results: {a: owned}}}\n",
            "9:30: expect.must: 'owned' is no value of 'a' | did you mean 'own'?",
        ),
        ("turns: []\nrules: {on: C1}\n", "9:13: 'on' must be a list, not text"),
        ("turns: []\nlimits: {seconds: -1}\n", "9:19: 'seconds' must be more than 0"),
        ("turns: [{say: .nan}]\n", "8:15: nan is no JSON number"),
        ("turns: [{calls: [{as: a, tool: look, args: {x: 1e999}}]}]\n", "8:48: inf is no JSON"),
    ],
)
def test_wrong_values_are_reported_at_their_place(tail: str, expected: str) -> None:
    (found,) = problems(tail)

    assert found[: len(expected)] == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("  a: {kind: rite}", "6:13: tool 'a': 'rite' is no value of 'kind' | did you mean 'write"),
        ("  a: {args: {}}", "6:6: tool 'a' has no 'kind'"),
        ("  a: {kind: read, behaves: raises}", "6:28: tool 'a': 'behaves' must be a list or a"),
        ("  a: {kind: write, behaves: [{rate-limited: soon}]}", "6:45: tool 'a': 'rate-limited':"),
        (
            "  a: {kind: read, returns_parts: [{txt: x}]}",
            "6:36: unknown key 'txt' in tool 'a' | did",
        ),
        ("  a: {kind: read, behaves: [rises]}", "6:29: tool 'a': 'rises' is no value of an item"),
        ("  a: {kind: read, approval: no}", "6:29: tool 'a': 'no' is no value of 'approval' | "),
        ("  a: {kind: read, permission: [yes]}", "6:32: tool 'a': 'yes' is no value of an item of"),
        ("  a: {kind: read, behave: []}", "6:19: unknown key 'behave' in tool 'a' | did you mean"),
        ("  turns: {kind: read, calls: []}", "6:23: unknown key 'calls' in tool 'turns' | known:"),
        ("  a: {kind: read, args: {x: 3}}", "6:29: tool 'a': 'x' must be text or a mapping, not"),
    ],
)
def test_wrong_tools_are_reported_at_their_place(line: str, expected: str) -> None:
    head = "format: 1\ntitle: T\nrule: R\nprompt: P\ntools:\n" + line + "\n"

    (found,) = problems("turns: []\n", head)

    assert found[: len(expected)] == expected


def test_problems_are_shown_as_lines_and_sorted() -> None:
    error = ScenarioError(
        [Problem("b.yaml", 2, 1, "two", "mend it"), Problem("a.yaml", 0, 0, "cannot be read")]
    )

    assert str(error) == ("a.yaml: error: cannot be read\nb.yaml:2:1: error: two\n    mend it")


_INNER_KEYS = [
    *["calls", "as", "tool", "args", "attempts", "at", "in", "must", "results", "chat"],
    *["any_of", "kind", "behaves", "look", "say", "fragments", "delivery", "stop"],
]
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(_INNER_KEYS), inner, max_size=4)
    ),
    max_leaves=12,
)
_KEYS = ["turns", "tools", "expect", "otherwise", "delivery", "limits", "rules", "dialects"]


@given(st.dictionaries(st.sampled_from([*_KEYS, "needs", "modes", "grounds", "odd"]), _JSON))
def test_any_mapping_is_loaded_or_refused_with_places(mapping: dict[str, object]) -> None:
    import yaml

    whole = {"format": 1, "title": "T", "rule": "R", "prompt": "P", "turns": [], **mapping}
    text = yaml.safe_dump(whole, allow_unicode=False, sort_keys=False)
    found = refused(lambda: load_text(text.encode(), file="x.yaml", id="x"))

    assert all(problem.line >= 1 and problem.column >= 1 for problem in found)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("qa/scenarios/once/a.yaml", "qa/scenarios/b.yml", "other/c.yaml"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(GOOD)
    (tmp_path / "qa/scenarios/notes.txt").write_text("no scenario")
    return tmp_path


@pytest.mark.parametrize(
    ("pattern", "ids"),
    [
        ("qa/scenarios", ["b", "once/a"]),
        ("qa/scenarios/once", ["once/a"]),
        ("qa/scenarios/once/a.yaml", ["once/a"]),
        ("qa/scenarios/**", ["b", "once/a"]),
        ("qa/scenarios/*/*.yaml", ["once/a"]),
        ("other", ["c"]),
        ("other/*.yaml", ["c"]),
        ("other/c.yaml", ["c"]),
        ("once/single-body-call", ["once/single-body-call"]),
        ("truncation/refusal-w*", ["truncation/refusal-with-text"]),
        ("basics/*", ["basics/final-answer", "basics/lookup-then-reserve"]),
        ("assembly/late-id", ["assembly/late-id", "assembly/late-id@interleaved"]),
        ("assembly/late-id@*", ["assembly/late-id@interleaved"]),
        ("*/resp-c*@item-id-is-n*", ["assembly/resp-callid-vs-itemid@item-id-is-null"]),
        ("qa/scenarios/b.yml", ["b"]),
    ],
)
def test_patterns_name_files_by_their_id(project: Path, pattern: str, ids: list[str]) -> None:
    assert [scenario.id for scenario in discover([pattern], cwd=project)] == ids


def test_the_catalogue_is_named_builtin(tmp_path: Path) -> None:
    every = discover(["builtin:all"], cwd=tmp_path)

    assert every == load_builtin()
    files = [scenario.id.partition("@")[0] for scenario in every]
    assert files == sorted(files)


def test_the_core_is_a_part_of_the_catalogue(tmp_path: Path) -> None:
    listed = [line for line in (CATALOGUE / "core.txt").read_text().splitlines() if line[0] != "#"]
    core = discover(["builtin:core"], cwd=tmp_path)

    assert sorted(listed) == listed
    assert list(dict.fromkeys(scenario.id.partition("@")[0] for scenario in core)) == listed
    assert 60 < len(listed) < len(load_builtin())


def test_a_variant_and_its_file_are_loaded_once(tmp_path: Path) -> None:
    patterns = ["assembly/late-id@interleaved", "assembly/late-id"]

    loaded = [scenario.id for scenario in discover(patterns, cwd=tmp_path)]
    assert loaded == ["assembly/late-id", "assembly/late-id@interleaved"]


def test_a_variant_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="assembly/late-id@early: error: no scenario has"):
        discover(["assembly/late-id@early"], cwd=tmp_path)


def test_a_file_that_two_patterns_name_is_loaded_once(project: Path) -> None:
    found = find_files(["qa/scenarios/once/a.yaml", "qa/scenarios"], cwd=project)

    assert [file.id for file in found] == ["once/a", "b"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("once/single-body-cal", "did you mean 'once/single-body-call'?"),
        ("builtin:cor", "did you mean 'builtin:core'?"),
    ],
)
def test_a_pattern_that_names_nothing_is_an_error(
    tmp_path: Path, pattern: str, expected: str
) -> None:
    with pytest.raises(ScenarioError) as caught:
        discover([pattern], cwd=tmp_path)

    assert str(caught.value) == f"{pattern}: error: no scenario has this name\n    {expected}"


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    with pytest.raises(ScenarioError, match="empty: error: the folder holds no scenario"):
        discover(["empty"], cwd=tmp_path)


def test_two_files_with_one_id_are_an_error(project: Path) -> None:
    (project / "other/b.yaml").write_bytes(GOOD)
    with pytest.raises(ScenarioError) as caught:
        discover(["qa/scenarios", "other"], cwd=project)

    first = project / "qa/scenarios/b.yml"
    assert str(caught.value) == f"{project / 'other/b.yaml'}: error: id 'b' is also that of {first}"


def test_every_problem_of_every_file_is_reported(project: Path) -> None:
    (project / "other/c.yaml").write_text("format: 1\n")
    (project / "other/d.yaml").write_text("- x\n")

    with pytest.raises(ScenarioError) as caught:
        discover(["other"], cwd=project)

    assert [(Path(p.file).name, p.line) for p in caught.value.problems] == [
        *[("c.yaml", 1)] * 4,
        ("d.yaml", 1),
    ]


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"gone\.yaml: error: cannot be read: No such file"):
        load_file(tmp_path / "gone.yaml", tmp_path)


def test_the_id_is_the_path_below_the_root() -> None:
    assert ScenarioFile(Path("/a/b/c/d.yaml"), Path("/a/b")).id == "c/d"
