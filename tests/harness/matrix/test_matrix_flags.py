"""A matrix from flags."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopcheck.harness.config import Config, ConfigError
from loopcheck.harness.matrix import flags
from loopcheck.harness.matrix.errors import MatrixError
from loopcheck.harness.matrix.plan import DependencySet, Matrix


def made(*sets: str) -> Matrix:
    return flags.matrix(["openai-sdk", "anthropic-sdk"], sets, Config(root=Path("/nowhere")))


def test_one_set_may_be_named_several_times() -> None:
    sets = flags.dependency_sets(
        [
            "now=locked",
            "next=openai>=3,<4",
            "next=anthropic==2.14.0",
            "next=npm:@a/b@1.0.0",
            "next=node:22",
            "next=python:3.12",
        ]
    )
    assert sets[0] == DependencySet(name="now")
    assert sets[1].python == ("openai>=3,<4", "anthropic==2.14.0")
    assert (sets[1].npm, sets[1].node, sets[1].python_version) == (("@a/b@1.0.0",), "22", "3.12")
    assert sets[1].places["openai>=3,<4"] == "--set next=openai>=3,<4"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("locked", "write NAME=PACKAGE"),
        ("=openai", "write NAME=PACKAGE"),
        ("a=open ai", "is no requirement"),
        ("a=npm:openai", "is no package of npm"),
    ],
)
def test_a_set_that_is_none(text: str, message: str) -> None:
    with pytest.raises(MatrixError, match=message):
        flags.dependency_sets([text])


def test_no_set_and_no_target() -> None:
    with pytest.raises(MatrixError, match="say under which sets"):
        made()
    with pytest.raises(MatrixError, match="say which target"):
        flags.matrix([], ["now=locked"], Config(root=Path("/nowhere")))


def test_two_sets_are_compared() -> None:
    found = flags.compared(made("a=locked", "b=x==1", "c=x==2"), "a..c")
    assert found.pairs == (("a", "c"),)
    with pytest.raises(MatrixError, match=r"write BASE\.\.HEAD"):
        flags.compared(found, "a")
    with pytest.raises(MatrixError, match="two of the sets"):
        flags.compared(found, "a..d")


def test_some_targets_only() -> None:
    found = made("a=locked")
    assert [one.name for one in flags.only(found, ["anthropic-sdk"]).targets] == ["anthropic-sdk"]
    assert flags.only(found, []) == found
    with pytest.raises(ConfigError, match="did you mean 'openai-sdk'"):
        flags.only(found, ["openai-skd"])
