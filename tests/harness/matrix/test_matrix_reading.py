"""A matrix's file and settings, and what is said of one that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopcheck.harness.config import Config, find
from loopcheck.harness.matrix.document import from_file, from_settings
from loopcheck.harness.matrix.errors import MatrixError
from loopcheck.harness.matrix.plan import DependencySet, Matrix
from loopcheck.harness.matrix.reading import matrix

GOOD = """\
format: 1
suite: "2026.1"
targets:
  - openai-sdk
  - {name: billing, path: services/billing, target: "billing.trial:loop"}
  - {name: support, path: services/support, worker: [node, trial/worker.mjs]}
  - include: services/*/loopcheck.toml
sets:
  now: locked
  next:
    python: ["openai==3.57.0", "anthropic==2.14.0"]
    npm: ["openai@7.59.0", "@anthropic-ai/sdk@1.14.0"]
    node: "22"
only_present: true
compare: {base: now, head: next}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("billing", "support", "pricing"):
        (tmp_path / "services" / name).mkdir(parents=True)
    (tmp_path / "services/pricing/loopcheck.toml").write_text(
        '[targets]\npricing = "pricing:loop"\nold = { worker = ["node", "w.mjs"] }\n'
    )
    return tmp_path


def read(folder: Path, text: str) -> Matrix:
    (folder / "m.yaml").write_text(text)
    return matrix(from_file(folder / "m.yaml"), find(folder))


def wrong(folder: Path, text: str) -> list[str]:
    """Each mistake as line:column: message."""
    with pytest.raises(MatrixError) as caught:
        read(folder, text)
    return str(caught.value).replace(f"{folder}/m.yaml:", "").splitlines()


def test_the_whole_file(folder: Path) -> None:
    found = read(folder, GOOD)
    names = ["openai-sdk", "billing", "support", "pricing", "old"]
    assert [target.name for target in found.targets] == names
    openai, billing, support, pricing, _ = found.targets
    assert openai.folder is None
    assert billing.source.python == "billing.trial:loop"
    assert billing.source.cwd == billing.folder == folder / "services/billing"
    assert support.source.worker == ("node", "trial/worker.mjs")
    assert (support.is_node, billing.is_node) == (True, False)
    assert pricing.folder == folder / "services/pricing"
    now, following = found.sets
    assert now == DependencySet(name="now")
    assert now.asked() == ("locked",)
    assert following.python == ("openai==3.57.0", "anthropic==2.14.0")
    assert following.npm == ("openai@7.59.0", "@anthropic-ai/sdk@1.14.0")
    assert following.places["anthropic==2.14.0"] == f"{folder}/m.yaml:11"
    assert following.asked()[-1] == "node 22"
    assert found.only_present
    assert found.pairs == (("now", "next"),)
    assert len(list(found.cells())) == 10


def test_without_a_word_each_set_is_compared_with_the_next(folder: Path) -> None:
    sets = "sets: {a: locked, b: {python: [x==1]}, c: {python: [x==2]}}\n"
    found = read(folder, f"format: 1\ntargets: [openai-sdk]\n{sets}")
    assert found.pairs == (("a", "b"), ("b", "c"))
    assert not found.only_present


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("format: 1\n", "", "1:1: error: format must be 1"),
        ("format: 1", "format: 2", "1:9: error: format must be 1"),
        ("suite:", "suit:", "2:1: error: unknown key 'suit'"),
        ('"2026.1"', '"1999"', "2:8: error: unknown suite '1999'"),
        ("openai-sdk", "openai-skd", "4:5: error: unknown target 'openai-skd'"),
        ("services/billing", "services/biling", "5:27: error: is no folder: "),
        ("worker: [", "wroker: [", "6:45: error: unknown key 'wroker'"),
        ("services/*/loop", "nowhere/*/loop", "7:14: error: no file matches"),
        ("now: locked", "now: latest", "9:8: error: a set is 'locked' or a mapping"),
        ("openai==3.57.0", "openai=3.57.0", "11:14: error: 'openai=3.57.0' is no requirement"),
        ("openai@7.59.0", "openai", "12:11: error: 'openai' is no package of npm"),
        ('"22"', "22", "13:11: error: must be text, not 22"),
        ("only_present: true", "only_present: 1", "14:15: error: must be true or false"),
        ("base: now", "base: before", "15:17: error: 'base' must name one of the sets"),
    ],
)
def test_a_mistake_is_told_with_its_place(folder: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    lines = wrong(folder, GOOD.replace(old, new, 1))
    assert any(line.startswith(message) for line in lines), lines


def test_all_mistakes_are_told_at_once(folder: Path) -> None:
    text = GOOD.replace("openai-sdk", "openai-skd").replace("now: locked", "now: latest")
    assert len([line for line in wrong(folder, text) if ": error: " in line]) >= 2


def test_what_is_missing_is_told_with_an_example(folder: Path) -> None:
    lines = wrong(folder, "format: 1\n")
    assert any("'targets' is missing" in line for line in lines)
    assert any("'sets' is missing" in line for line in lines)


def test_two_targets_of_one_name(folder: Path) -> None:
    text = GOOD.replace("name: support", "name: billing")
    assert "a second target is named 'billing'" in wrong(folder, text)[0]


def test_a_file_that_is_not_there(folder: Path) -> None:
    with pytest.raises(MatrixError, match=r"none\.yaml: cannot be read: No such file"):
        from_file(folder / "none.yaml")


def test_the_settings_hold_a_matrix_too(folder: Path) -> None:
    (folder / "pyproject.toml").write_text(
        '[tool.loopcheck.matrix]\ntargets = ["openai-sdk"]\nonly_present = true\n'
        '[tool.loopcheck.matrix.sets]\nnow = "locked"\nnext = { python = ["openai==3.57.0"] }\n'
    )
    config = find(folder)
    assert config.file is not None
    assert config.matrix is not None
    found = matrix(from_settings(config.file, "tool.loopcheck.matrix", config.matrix), config)
    assert [one.name for one in found.sets] == ["now", "next"]
    assert found.only_present


def test_a_mistake_in_the_settings_names_the_key(folder: Path) -> None:
    file = folder / "pyproject.toml"
    table = {"targets": ["openai-sdk"], "sets": {"next": {"python": ["=="]}}}
    with pytest.raises(MatrixError) as caught:
        matrix(from_settings(file, "tool.loopcheck.matrix", table), Config(root=folder))
    place = "pyproject.toml: tool.loopcheck.matrix.sets.next.python[0]: error: '==' is no"
    assert place in str(caught.value)
