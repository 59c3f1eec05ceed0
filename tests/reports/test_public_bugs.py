"""Each public report that a scenario names can be found."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

from loopcheck.reports.public_bugs import PublicBug, find


def named() -> set[str]:
    """The ids that the built-in scenarios name as their grounds."""
    folder = Path(str(resources.files("loopcheck").joinpath("scenarios")))
    lines = [
        line
        for path in folder.rglob("*.yaml")
        for line in re.findall(r"^grounds: \[(.*)\]", path.read_text("utf-8"), re.MULTILINE)
    ]
    return {bug for line in lines for bug in re.findall(r"B\d+", line)}


def test_every_ground_of_the_catalogue_is_a_public_thread() -> None:
    found = find(sorted(named()))
    assert len(found) > 100
    assert [bug.id for bug in found if bug.url is None or not bug.about] == []


def test_a_thread_has_an_address() -> None:
    (bug,) = find(["B001"])
    assert bug.url == "https://github.com/openai/openai-python/issues/2806"


def test_an_unknown_one_is_its_id_alone() -> None:
    assert find(["B999"]) == [PublicBug("B999")]
    assert PublicBug("B999").url is None
