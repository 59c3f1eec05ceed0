"""Files that are sent to a machine without the same disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from matrix_cells import cell

from loopcheck.harness.matrix import parcel
from loopcheck.harness.matrix.chosen import chosen
from loopcheck.harness.matrix.storage import told


def files(folder: Path) -> dict[str, str]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text() for path in found}


def test_a_project_is_sent_without_what_was_installed_there(tmp_path: Path) -> None:
    project = tmp_path / "service"
    for name in ("trial.py", "data/prices.csv", ".venv/x.py", "node_modules/a/b.js", ".env"):
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (project / "elsewhere.py").symlink_to("/no/such/file")
    sent = parcel.of_project(project)
    assert sent.root == str(project)
    assert sent.content == parcel.of_project(project).content
    home = sent.unpack(tmp_path / "there")
    assert home == tmp_path / "there" / "service"
    assert files(home) == {"trial.py": "trial.py", "data/prices.csv": "data/prices.csv"}


def test_a_project_may_be_too_large(tmp_path: Path) -> None:
    with (tmp_path / "model.bin").open("wb") as large:
        large.truncate(200_000_000)
    with pytest.raises(OSError, match="more than 100 MB") as caught:
        parcel.of_project(tmp_path)
    assert told(caught.value).startswith(f"{tmp_path}: holds more than 100 MB, too much to be sent")


def test_the_folders_of_a_target_are_sent_once(tmp_path: Path) -> None:
    asked = cell(tmp_path)
    project, other = tmp_path / "service", tmp_path / "other"
    update = {
        "project": str(project),
        "cwd": str(project / "trial"),
        "modules": (str(project / "src"), str(other)),
    }
    assert parcel.code(asked.model_copy(update=update)) == [other, project]
    assert parcel.code(asked.model_copy(update={"cwd": None})) == []


@pytest.mark.parametrize("patterns", [("own",), ("own/*.yaml", "once/retry-model-not-tools")])
def test_scenarios_keep_their_ids(tmp_path: Path, patterns: tuple[str, ...]) -> None:
    root = tmp_path / "scenarios"
    (root / "own").mkdir(parents=True)
    asked = cell(tmp_path).model_copy(update={"scenarios": patterns, "scenarios_root": str(root)})
    (tmp_path / "cut.yaml").rename(root / "own" / "cut.yaml")
    (root / "notes.yaml").write_text("no scenario")
    home = parcel.of_scenarios(asked).unpack(tmp_path / "there")
    assert list(files(home)) == ["own/cut.yaml"]
    here = [spec.id for spec in chosen(patterns, root)]
    assert here[0] == "own/cut[chat-whole]"
    assert [spec.id for spec in chosen(patterns, home)] == here


def test_the_catalogue_is_not_sent(tmp_path: Path) -> None:
    asked = cell(tmp_path, scenario="builtin:core")
    home = parcel.of_scenarios(asked).unpack(tmp_path / "there")
    assert files(home) == {}
