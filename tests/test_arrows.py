"""The rooms import in one direction only, module by module."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import loopcheck

ROOT = Path(loopcheck.__file__).parent
ROOMS = ("fake_providers", "harness", "reference_loop", "reports")
SDKS = frozenset({"openai", "anthropic", "httpx", "httpx2"})
RESULTS = ("loopcheck.harness.results", "loopcheck.harness.matrix.results")
# Delivers to clients of HTTPX in their own process; imported when that is asked for, never before.
RESPX_ROUTES = "fake_providers/_respx_routes.py"


def imported(path: Path) -> set[str]:
    """Every module that the file imports, at whatever depth of the code."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def modules(room: str) -> list[Path]:
    return sorted((ROOT / room).rglob("*.py"))


def rooms_of(names: set[str]) -> set[str]:
    return {room for room in ROOMS for name in names if name.startswith(f"loopcheck.{room}")}


def top_level(names: set[str]) -> set[str]:
    return {name.split(".")[0] for name in names}


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", modules("fake_providers"), ids=relative)
def test_fake_providers_import_no_other_room(path: Path) -> None:
    names = imported(path)
    assert rooms_of(names) <= {"fake_providers"}
    outside = top_level(names) & (SDKS | {"respx", "httpcore", "jsonschema", "yaml", "pytest"})
    assert outside == ({"httpx", "respx"} if relative(path) == RESPX_ROUTES else set())


@pytest.mark.parametrize("path", modules("reference_loop"), ids=relative)
def test_the_reference_loop_stands_alone(path: Path) -> None:
    assert rooms_of(imported(path)) <= {"reference_loop"}


@pytest.mark.parametrize("path", modules("reports"), ids=relative)
def test_reports_know_nothing_but_results(path: Path) -> None:
    names = imported(path)
    assert rooms_of(names) <= {"reports", "harness"}
    harness = {name for name in names if name.startswith("loopcheck.harness")}
    assert all(name.startswith(RESULTS) for name in harness)


@pytest.mark.parametrize("path", modules("harness"), ids=relative)
def test_the_harness_sees_the_reference_loop_only_in_targets(path: Path) -> None:
    names = imported(path)
    rooms = rooms_of(names)
    where = relative(path)
    if not where.startswith("harness/targets/"):
        assert "reference_loop" not in rooms
        assert not top_level(names) & SDKS
    may_report = where.startswith("harness/cli/") or where in (
        "harness/case.py",
        "harness/plugin.py",
    )
    if not may_report:
        assert "reports" not in rooms


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=relative)
def test_nobody_imports_private_parts_of_pytest(path: Path) -> None:
    assert "_pytest" not in top_level(imported(path))
