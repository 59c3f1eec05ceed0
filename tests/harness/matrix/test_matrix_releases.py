"""The releases between two, as uv finds them in wheels of a folder and in an index."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import wheelhouse

from loopcheck.harness.matrix import releases, uv
from loopcheck.harness.matrix.errors import MatrixError
from loopcheck.harness.matrix.ranges import parse

VERSIONS = ("0.9", "1.0", "1.1", "1.1.post1", "1.2a1", "1.2", "1.10", "2.0rc1", "2.0", "2.1")


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of releases, which is all that uv finds. One of them is no wheel at all: no release
    is read to list them."""
    pytest.importorskip("uv", reason="needs uv: pip install 'loopcheck[matrix]'")
    folder = tmp_path / "wheels"
    folder.mkdir()
    for version in VERSIONS:
        wheelhouse.pack(folder, "steady", version, "", ["nowhere-at-all"])
    (folder / "steady-1.1-py3-none-any.whl").write_bytes(b"no wheel")
    monkeypatch.setenv("UV_FIND_LINKS", str(folder))
    monkeypatch.setenv("UV_OFFLINE", "1")
    return folder


def between(text: str, root: Path) -> tuple[str, ...]:
    return releases.of_python(parse(text), uv.find(root), sys.executable)


def test_the_oldest_comes_first_with_both_ends(wheels: Path) -> None:
    found = ("1.0", "1.1", "1.1.post1", "1.2", "1.10", "2.0")
    assert between("steady==1.0..2.0", wheels) == found
    assert between("Steady[extra]==1..2", wheels) == found


def test_prereleases_are_among_them_where_an_end_is_one(wheels: Path) -> None:
    found = ("1.2a1", "1.2", "1.10", "2.0rc1", "2.0")
    assert between("steady==1.2a1..2.0", wheels) == found
    assert between("steady==1.10..2.0rc1", wheels) == ("1.10", "2.0rc1")


def test_what_may_be_installed_decides(
    wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    constraints = tmp_path / "constraints.txt"
    constraints.write_text("steady!=1.2\n")
    monkeypatch.setenv("UV_CONSTRAINT", str(constraints))
    assert between("steady==1.1.post1..1.10", wheels) == ("1.1.post1", "1.10")


def test_what_was_withdrawn_is_taken_where_it_is_named(
    wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = tmp_path / "index" / "steady"
    index.mkdir(parents=True)
    links = [
        f'<a href="{(wheels / name).as_uri()}"{mark}>{name}</a>'
        for name, mark in [
            ("steady-1.0-py3-none-any.whl", ' data-yanked="bad"'),
            ("steady-1.1-py3-none-any.whl", ' data-yanked=""'),
            ("steady-1.2-py3-none-any.whl", ""),
            ("steady-2.0-py3-none-any.whl", ""),
        ]
    ]
    (index / "index.html").write_text("\n".join(links))
    for name in ("UV_FIND_LINKS", "UV_OFFLINE"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("UV_DEFAULT_INDEX", index.parent.as_uri())
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    assert between("steady==1.0..2.0", wheels) == ("1.0", "1.2", "2.0")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("steady==1.0..9.0", "steady 9.0 is not to be had (Because there is no version of steady"),
        ("steady==0.1..2.0", "steady 0.1 is not to be had"),
        (
            "nowhere-at-all==0.1..2.0",
            "nowhere-at-all 0.1 is not to be had (Because nowhere-at-all was not found",
        ),
    ],
)
def test_an_end_that_is_not_to_be_had(text: str, message: str, wheels: Path) -> None:
    with pytest.raises(MatrixError) as raised:
        between(text, wheels)
    told = str(raised.value)
    assert told.startswith(f"--bisect {text}: {message}")
    assert "choose two releases that your package index has" in told
    assert told.endswith("; the newest is 2.1") is text.startswith("steady")


def test_an_index_that_is_not_there(
    wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("UV_FIND_LINKS", "UV_OFFLINE"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    with pytest.raises(MatrixError, match=r"its releases cannot be listed: .*127\.0\.0\.1:9"):
        between("steady==1.0..2.0", wheels)
