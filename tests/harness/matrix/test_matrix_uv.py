"""The index settings that uv works with, and what is made of what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopcheck.harness.matrix.uv import carried_over, complaint, has_settings


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
