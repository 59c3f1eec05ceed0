"""The index settings that uv works with, and what is made of what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopcheck.harness.matrix.uv import (
    Uv,
    asks_no_index,
    carried_over,
    complaint,
    find,
    has_settings,
)


def test_what_pip_is_told_is_carried_over() -> None:
    listed = (
        ":env:.find-links='/b'\n"
        "global.extra-index-url='https://a.example/simple https://b.example/simple'\n"
        "global.find-links='/a'\n"
        "global.index-url='https://c.example/simple'\n"
        "global.timeout='60'\n"
        "install.trusted-host='c.example'\n"
        "wheel.index-url='https://d.example'\n"
    )
    assert carried_over(listed) == {
        "UV_FIND_LINKS": "/b",
        "UV_INDEX": "https://a.example/simple https://b.example/simple",
        "UV_DEFAULT_INDEX": "https://c.example/simple",
        "UV_INSECURE_HOST": "c.example",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
    }


def test_without_settings_nothing_is_set() -> None:
    assert carried_over("") == {}


@pytest.mark.parametrize(
    ("listed", "asks_none"),
    [
        ("", False),
        ("global.no-index='true'", True),
        ("install.no-index='1'", True),
        ("global.no-index='false'", False),
        (":env:.no-index='0'\nglobal.no-index='true'", False),
        ("download.no-index='true'", False),
    ],
)
def test_pip_may_look_at_no_index(listed: str, asks_none: bool) -> None:
    assert asks_no_index(listed) is asks_none


def test_uv_then_looks_at_none_either(
    wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("uv", reason="needs uv: pip install 'loopcheck[matrix]'")
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_DIRS", str(tmp_path))
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    uv = find(tmp_path)
    assert uv.carried == (f"UV_FIND_LINKS {wheels}", "--no-index")
    done = uv.run("pip", "compile", "-", "--no-deps", text="certifi\n")
    assert "not found in the provided package locations" in done.stderr


def test_of_one_index_no_other_strategy_is_needed() -> None:
    assert carried_over("global.index-url='https://c.example/simple'") == {
        "UV_DEFAULT_INDEX": "https://c.example/simple"
    }


def test_a_project_and_a_user_may_have_settings_of_uv(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    nowhere = {"XDG_CONFIG_HOME": str(tmp_path / "c"), "XDG_CONFIG_DIRS": str(tmp_path / "d")}
    below = tmp_path / "project" / "sub"
    below.mkdir(parents=True)
    assert not has_settings(nowhere, below)
    assert has_settings({**nowhere, "UV_INDEX": "x"}, below)
    (tmp_path / "project" / "uv.toml").write_text("")
    assert has_settings(nowhere, below)


def test_the_nearest_settings_of_uv_are_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, folder in (("XDG_CONFIG_HOME", "home"), ("XDG_CONFIG_DIRS", "system")):
        monkeypatch.setenv(name, str(tmp_path / folder))
    monkeypatch.delenv("UV_CONFIG_FILE", raising=False)
    below = tmp_path / "project" / "sub"
    found: list[Path | None] = [Uv("uv", {}).settings_file(below)]
    for name in ("system/uv/uv.toml", "home/uv/uv.toml", "project/uv.toml", "project/sub/uv.toml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
        found.append(Uv("uv", {}).settings_file(below))
    monkeypatch.setenv("UV_CONFIG_FILE", str(tmp_path / "system/uv/uv.toml"))
    found.append(Uv("uv", {}).settings_file(below))
    names = ["system/uv", "home/uv", "project", "project/sub", "system/uv"]
    assert found == [None, *(tmp_path / name / "uv.toml" for name in names)]


def test_settings_that_say_where_packages_are_found_are_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("UV_INDEX_HOUSE_PASSWORD", "UV_INDEX", "UV_CACHE_DIR", "UV_PYTHON"):
        monkeypatch.setenv(name, name.lower())
    carried = {"UV_FIND_LINKS": "/a", "UV_CONSTRAINT": "/b", "SSL_CERT_FILE": "/c"}
    sent = Uv("uv", carried).sent
    ours = {"UV_INDEX_HOUSE_PASSWORD", "UV_INDEX", "UV_FIND_LINKS"}
    assert {name: value for name, value in sent.items() if name in ours} == {
        "UV_INDEX_HOUSE_PASSWORD": "uv_index_house_password",
        "UV_INDEX": "uv_index",
        "UV_FIND_LINKS": "/a",
    }
    assert not {"UV_CACHE_DIR", "UV_PYTHON", "UV_CONSTRAINT", "SSL_CERT_FILE"} & set(sent)


@pytest.mark.parametrize(
    ("said", "package", "message"),
    [
        (
            "error: No solution found when resolving dependencies\n"
            "  cause: Because plugin==3.1 depends on anthropic<1 and you require plugin==3.1, we\n"
            "         can conclude that you require anthropic<1.\n",
            "plugin",
            "plugin 3.1 requires anthropic<1 (Because plugin==3.1 depends on",
        ),
        (
            "error: No solution found when resolving dependencies\n"
            "  cause: Because there is no version of openai==9999 and you require\n"
            "         openai==9999, we can conclude that your requirements are unsatisfiable.\n",
            "openai",
            "Because there is no version of openai==9999",
        ),
        (
            "error: No solution found\n  cause: Because some-plugin was not found in the package\n",
            "some-plugin",
            "Because some-plugin was not found",
        ),
        (  # as older releases draw it
            "  \u00d7 No solution found when resolving dependencies:\n"
            "  \u2570\u2500\u25b6 Because plugin[all]>=3,<4 depends on anthropic<1 and you\n"
            "      require anthropic==2, we can conclude that it is unsatisfiable.\n",
            "plugin",
            "plugin >=3,<4 requires anthropic<1 (Because plugin[all]",
        ),
        ("error: Failed to fetch: x\n", None, "Failed to fetch: x"),
        ("", None, "uv gave no reason"),
    ],
)
def test_what_uv_says_is_told_in_a_line(said: str, package: str | None, message: str) -> None:
    found = complaint(said)
    assert found.package == package
    assert found.message.startswith(message)
    assert "\n" not in found.message
