"""The project's settings: found, read, and refused with file and key."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopcheck.harness.config import READY_MADE, Config, ConfigError, TargetSource, find

FULL = """
suite = "2026.1"
scenarios = ["builtin:core", "qa/scenarios"]
expected = "known.yaml"
[targets]
booking = "qa.booking_target:booking"
support = { worker = ["node", "trial/worker.mjs"], cwd = "services" }
billing = { python = "billing.trial:loop", cwd = "services" }
"""


def own(folder: Path, text: str) -> Path:
    path = folder / "loopcheck.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_without_a_file_defaults_hold(tmp_path: Path) -> None:
    config = find(tmp_path)
    assert config == Config(root=tmp_path)
    assert (config.suite, config.scenarios) == ("2026.1", ("builtin:all",))
    assert config.expected_file == tmp_path / "loopcheck-expected.yaml"


def test_every_key_of_loopcheck_toml_is_read(tmp_path: Path) -> None:
    (tmp_path / "services").mkdir()
    path = own(tmp_path, FULL)
    assert find(tmp_path) == Config(
        root=tmp_path,
        file=path,
        suite="2026.1",
        scenarios=("builtin:core", "qa/scenarios"),
        expected=tmp_path / "known.yaml",
        targets={
            "booking": TargetSource(
                name="booking", python="qa.booking_target:booking", cwd=tmp_path
            ),
            "support": TargetSource(
                name="support", worker=("node", "trial/worker.mjs"), cwd=tmp_path / "services"
            ),
            "billing": TargetSource(
                name="billing", python="billing.trial:loop", cwd=tmp_path / "services"
            ),
        },
    )


def test_the_nearest_file_with_settings_wins(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    own(tmp_path, 'expected = "outer.yaml"')
    (inner / "pyproject.toml").write_text('[project]\nname = "without-settings"\n')
    assert find(inner).root == tmp_path
    (tmp_path / "a" / "pyproject.toml").write_text('[tool.loopcheck]\nexpected = "inner.yaml"\n')
    config = find(inner)
    assert config.file == tmp_path / "a" / "pyproject.toml"
    assert config.expected_file == tmp_path / "a" / "inner.yaml"


def test_two_files_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    own(tmp_path, "")
    (tmp_path / "pyproject.toml").write_text("[tool.loopcheck]\n")
    with pytest.raises(ConfigError, match="settings both in loopcheck"):
        find(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("suit = 1", "suit is no setting; did you mean 'suite'?"),
        ("suite = 2026.1", "suite must be text in quotes, not 2026.1"),
        ('suite = "2020.1"', "suite is wrong: unknown suite '2020.1'; this version has 2026.1"),
        ('scenarios = "qa"', 'scenarios must be a list of text, such as ["builtin:core", "qa"]'),
        ("scenarios = []", "scenarios must be a list of text"),
        ("scenarios = [1]", "scenarios must be text in quotes, not 1"),
        ('expected = ""', "expected must be text in quotes, not ''"),
        ("targets = 1", 'targets must be a table of name = "module:attr"'),
        ("targets.a = 1", "targets.a must be text in quotes, not 1"),
        (
            'targets.a = "qa/booking.py:x"',
            "targets.a must be of the form 'package.module:attr', not 'qa/booking.py:x'",
        ),
        (
            'targets.a = {pyton = "a:b"}',
            "targets.a.pyton is no setting; did you mean 'python'?",
        ),
        ("targets.a = {}", "targets.a must have one of 'python' and 'worker'"),
        (
            'targets.a = {python = "a:b", worker = ["node"]}',
            "targets.a must have one of 'python' and 'worker'",
        ),
        ('targets.a = {worker = "node x.mjs"}', "targets.a.worker must be a list of text"),
        ('targets.a = {worker = ["x"], cwd = "gone"}', "targets.a.cwd is no folder: "),
    ],
)
def test_a_wrong_setting_is_named_with_file_and_key(
    tmp_path: Path, text: str, message: str
) -> None:
    path = own(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        find(tmp_path)
    assert str(caught.value).startswith(f"{path}: {message}")


def test_a_setting_of_pyproject_is_named_by_its_whole_key(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text("[tool.loopcheck]\nsuite = 1\n")
    with pytest.raises(ConfigError) as caught:
        find(tmp_path)
    assert str(caught.value) == f"{path}: tool.loopcheck.suite must be text in quotes, not 1"


@pytest.mark.parametrize("text", ["= 1", "a = \x00", "tool = 1\n[tool]"])
def test_what_is_no_toml_is_named(tmp_path: Path, text: str) -> None:
    path = own(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        find(tmp_path)
    assert str(caught.value).startswith(f"{path}: not valid TOML: ")


def test_a_settings_table_must_be_a_table(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool]\nloopcheck = 1\n")
    with pytest.raises(ConfigError, match=r"tool\.loopcheck must be a table"):
        find(tmp_path)


def test_ready_made_targets_are_always_known(tmp_path: Path) -> None:
    assert find(tmp_path).target("pydantic-ai") == TargetSource(
        name="pydantic-ai", python="loopcheck.harness.targets.pydantic_ai:pydantic_ai"
    )
    assert list(READY_MADE) == [
        "reference",
        "openai-sdk",
        "anthropic-sdk",
        "langchain",
        "pydantic-ai",
        "openai-agents",
        "litellm",
    ]


def test_a_project_may_replace_a_ready_made_target(tmp_path: Path) -> None:
    own(tmp_path, 'targets.langchain = "qa:mine"')
    assert find(tmp_path).target("langchain").python == "qa:mine"


def test_a_target_may_be_given_as_module_and_attribute(tmp_path: Path) -> None:
    source = find(tmp_path).target("pkg.trial:loops.mine")
    assert source == TargetSource(
        name="pkg.trial:loops.mine", python="pkg.trial:loops.mine", cwd=tmp_path
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "langchian",
            "unknown target 'langchian', and no Python target as package.module:attr; "
            "did you mean 'langchain'?",
        ),
        ("pkg/trial.py:x", "target 'pkg/trial.py:x' is not of the form package.module:attr"),
        ("pkg:", "target 'pkg:' is not of the form package.module:attr"),
    ],
)
def test_an_unknown_target_is_refused(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        find(tmp_path).target(name)
    assert str(caught.value) == message
