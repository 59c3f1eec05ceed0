"""The list of what no test notices names functions that are there, and changes to be found."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from survivors import LIST, ListError, Survivor, change_of, function_of, listed

SOURCE = Path(__file__).resolve().parents[2] / "src" / "loopcheck"
LISTED = list(listed(LIST.read_text(encoding="utf-8")))


def functions(module: str) -> set[str]:
    """The functions and methods of a module, as the list names them."""
    file = SOURCE / f"{module.replace('.', '/')}.py"
    names = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            names.add(f"{module}.{node.name}")
        elif isinstance(node, ast.ClassDef):
            names |= {
                f"{module}.{node.name}.{inner.name}"
                for inner in node.body
                if isinstance(inner, ast.FunctionDef)
            }
    return names


def test_each_function_is_there() -> None:
    modules = {one.function.partition(".")[0] for one in LISTED}
    assert modules <= {"harness", "fake_providers"}
    known: set[str] = set()
    for folder in ("harness/checks", "fake_providers"):
        for file in (SOURCE / folder).glob("*.py"):
            known |= functions(f"{folder.replace('/', '.')}.{file.stem}")
    assert [str(one) for one in LISTED if one.function not in known] == []


def test_each_change_is_listed_once() -> None:
    assert sorted({str(one) for one in LISTED}) == sorted(map(str, LISTED))


def test_a_reason_stands_above_what_it_is_for() -> None:
    text = "Both are the same.\n  a.b: x <=  y\n  a.c: z\nNobody asks.\n  a.b: None\n"
    assert list(listed(text)) == [
        Survivor("a.b", "x <= y", "Both are the same."),
        Survivor("a.c", "z", "Both are the same."),
        Survivor("a.b", "None", "Nobody asks."),
    ]


@pytest.mark.parametrize("text", ["  a.b: x\n", "Reason.\n  a.b\n", "\n  a.b: x\n"])
def test_a_line_that_says_nothing_is_a_mistake(text: str) -> None:
    with pytest.raises(ListError, match=r"line \d: a function and a change below a reason"):
        list(listed(text))


@pytest.mark.parametrize(
    ("module", "mutant", "function"),
    [
        ("loopcheck.harness.judge", "x_judge__mutmut_3", "harness.judge.judge"),
        ("loopcheck.harness.judge", "x__spoiled__mutmut_12", "harness.judge._spoiled"),
        ("loopcheck.a", "xǁGivenǁ__init____mutmut_1", "a.Given.__init__"),
        ("loopcheck.a", "xǁ_Onceǁ__call____mutmut_1", "a._Once.__call__"),
    ],
)
def test_a_mutant_is_one_of_a_function(module: str, mutant: str, function: str) -> None:
    assert function_of(module, mutant) == function


def test_a_change_is_what_stands_in_its_place(tmp_path: Path) -> None:
    file = tmp_path / "mutants" / "src" / "loopcheck" / "a.py"
    file.parent.mkdir(parents=True)
    names = ["x_f__mutmut_orig", "x_f__mutmut_1", "x_f__mutmut_2"]
    bodies = ["return (1,\n        2)", "return (1,\n        3)", "return (1,)"]
    lines: list[str] = []
    spans = {}
    for name, body in zip(names, bodies, strict=True):
        start = len(lines) + 1
        lines += f"def {name}():\n    {body}".split("\n")
        spans[name] = [start, len(lines)]
    file.write_text("\n".join(lines), encoding="utf-8")
    file.with_name("a.py.spans").write_text(json.dumps({"version": 1, "spans": spans}))
    assert change_of("loopcheck.a", "x_f__mutmut_1", root=tmp_path) == "3)"
    assert change_of("loopcheck.a", "x_f__mutmut_2", root=tmp_path) == "return (1,)"
    meant = Survivor("a.f", "3)", "It is all the same.")
    assert meant.is_of("a.f", "3)")
    assert not meant.is_of("a.g", "3)")
    assert not meant.is_of("a.f", "return (1,)")
