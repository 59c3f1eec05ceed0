"""The command that a matrix advises where one package is behind a regression."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from loopcheck.harness.cli.arguments import parse
from loopcheck.harness.cli.matrix_hint import narrower
from loopcheck.harness.config import Config, TargetSource
from loopcheck.harness.matrix.plan import DependencySet, Matrix, PlannedTarget
from loopcheck.harness.matrix.results import CellResult, CellStatus
from loopcheck.reports.matrix_comparison import compare

OLD = {"anthropic": "0.125.0", "openai": "1.0", "httpx": "0.28.1"}
NEW = {"anthropic": "2.14.0", "openai": "1.0", "httpx2": "2.16.2"}
WORSE: CellStatus = "breaks at import"
LOCKED = DependencySet(name="now")
BOTH = ("anthropic==2.14.0", "openai==1.0")


def cell(target: str, name: str, packages: dict[str, str], status: CellStatus) -> CellResult:
    return CellResult(
        target=target, dependency_set=name, key=name, status=status, packages=packages
    )


def advised(
    head: DependencySet,
    *arguments: str,
    base: DependencySet = LOCKED,
    before: Sequence[DependencySet] = (),
    old: dict[str, str] = OLD,
    new: dict[str, str] = NEW,
    broken: Sequence[str] = ("billing",),
    targets: Sequence[str] = ("quotes", "billing"),
    node: Path | None = None,
) -> str:
    """What is advised where these targets are broken under `head`."""
    worker = ("node", "w.mjs") if node is not None else None
    config = Config(root=Path("/nowhere"))
    planned = tuple(
        PlannedTarget(
            source=TargetSource(name=name, python="a:b", worker=worker), folder=node, config=config
        )
        for name in targets
    )
    matrix = Matrix(root=config.root, targets=planned, sets=(*before, base, head), suite="2026.1")
    cells = [cell(name, base.name, old, "ran") for name in targets]
    for name in targets:
        cells.append(cell(name, head.name, new, WORSE if name in broken else "ran"))
    options = parse(["matrix", *arguments])
    return narrower(matrix, [compare(cells, base.name, head.name)], options)


def test_the_package_that_was_asked_for_and_changed() -> None:
    found = advised(DependencySet(name="next", python=BOTH))
    assert found == "loopcheck matrix --bisect anthropic==0.125.0..2.14.0 --only billing"


def test_what_the_command_was_given_goes_along() -> None:
    head = DependencySet(name="next", python=("anthropic[bedrock]>=2",))
    given = ("m.yaml", "--scenario", "once/*", "--seed", "7", "--only", "billing")
    found = advised(head, *given, targets=["billing"])
    assert found == (
        "loopcheck matrix m.yaml --scenario 'once/*' "
        "--bisect 'anthropic[bedrock]==0.125.0..2.14.0' --only billing --seed 7"
    )
    flags = ("--target", "billing", "--set", "now=locked", "--set", "next=anthropic==2.14.0")
    assert advised(head, *flags, targets=["billing"]) == (
        "loopcheck matrix --target billing --set now=locked --set next=anthropic==2.14.0 "
        "--bisect 'anthropic[bedrock]==0.125.0..2.14.0'"
    )


def test_the_base_is_named_where_it_is_not_the_first_set() -> None:
    head, base = DependencySet(name="c", python=BOTH), DependencySet(name="b", python=BOTH[1:])
    found = advised(head, base=base, before=[LOCKED])
    assert found == (
        "loopcheck matrix --bisect anthropic==0.125.0..2.14.0 --only billing --compare b..c"
    )


@pytest.mark.parametrize(
    ("head", "new", "broken"),
    [
        (DependencySet(name="next", python=BOTH), NEW, []),  # nothing regressed
        (DependencySet(name="next", python=BOTH), {**NEW, "openai": "3.0"}, ["billing"]),
        (DependencySet(name="next", python=BOTH[1:]), NEW, ["billing"]),
        (DependencySet(name="next", python=BOTH, python_version="3.12"), NEW, ["billing"]),
        (DependencySet(name="next", python=BOTH), {**NEW, "anthropic": "0.1"}, ["billing"]),
        (DependencySet(name="next", python=BOTH), {"openai": "1.0"}, ["billing"]),
        (
            DependencySet(name="next", python=("anthropic @ file:///a.whl",)),
            {**NEW, "anthropic": "file:///a.whl"},
            ["billing"],
        ),
    ],
)
def test_where_it_is_not_clear_what_to_try_nothing_is_advised(
    head: DependencySet, new: dict[str, str], broken: Sequence[str]
) -> None:
    assert advised(head, new=new, broken=broken) == ""


@pytest.mark.parametrize(
    ("entry", "found"),
    [
        (
            {"version": "6.49.0", "resolved": "https://registry.example/openai-6.49.0.tgz"},
            "loopcheck matrix --bisect npm:openai@6.49.0..7.59.0",
        ),
        ({"resolved": "../openai", "link": True}, ""),
        ({"version": "6.49.0", "resolved": "file:../openai.tgz"}, ""),
    ],
)
def test_a_package_of_npm_that_was_locked_as_a_release(
    entry: dict[str, object], found: str, tmp_path: Path
) -> None:
    lock = {"packages": {"node_modules/openai": entry}}
    (tmp_path / "package-lock.json").write_text(json.dumps(lock))
    head = DependencySet(name="next", npm=("openai@7.59.0",))

    def of(base: DependencySet) -> str:
        old, new = {"openai": "6.49.0"}, {"openai": "7.59.0"}
        return advised(head, base=base, old=old, new=new, targets=["billing"], node=tmp_path)

    assert of(LOCKED) == found
    assert of(DependencySet(name="now", npm=("openai@6.49.0",))) != ""
