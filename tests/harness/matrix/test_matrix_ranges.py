"""The package and the releases that are meant by --bisect, and what is refused."""

from __future__ import annotations

import pytest

from loopcheck.harness.matrix import semver
from loopcheck.harness.matrix.errors import MatrixError
from loopcheck.harness.matrix.ranges import Range, parse


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        (
            "anthropic==0.125.0..2.14.0",
            Range(package="anthropic", low="0.125.0", high="2.14.0", is_npm=False),
        ),
        (
            "OpenAI[aiohttp]==1.0rc1..1!0",
            Range(package="OpenAI[aiohttp]", low="1.0rc1", high="1!0", is_npm=False),
        ),
        (
            "openai@6.49.0..7.59.0",
            Range(package="openai", low="6.49.0", high="7.59.0", is_npm=True),
        ),
        (
            "npm:@a/b@1.0.0-rc.1..1.0.0",
            Range(package="@a/b", low="1.0.0-rc.1", high="1.0.0", is_npm=True),
        ),
    ],
)
def test_what_is_meant(text: str, meant: Range) -> None:
    assert parse(text) == meant
    assert parse(str(meant)) == meant


def test_what_environments_and_sets_know_the_package_by() -> None:
    python, npm = parse("OpenAI[aiohttp]==1.0..2.0"), parse("@a/b@1.0.0..2.0.0")
    assert (python.name, npm.name) == ("openai", "@a/b")
    assert (python.pin("1.5"), npm.pin("1.5.0")) == ("OpenAI[aiohttp]==1.5", "@a/b@1.5.0")
    assert [python.is_about(text) for text in ("openai>=1", "OpenAI", "open")] == [1, 1, 0]
    assert [npm.is_about(text) for text in ("@a/b@^1", "b@1.0.0")] == [True, False]


@pytest.mark.parametrize(
    ("text", "takes"),
    [
        ("a==1.0..2.0", False),
        ("a==1.0..2.0.post1", False),
        ("a==1.0..2.0b1", True),
        ("a==1.0.dev1..2.0", True),
        ("a@1.0.0..2.0.0", False),
        ("a@1.0.0..2.0.0-beta.2", True),
    ],
)
def test_prereleases_are_taken_where_an_end_is_one(text: str, takes: bool) -> None:
    assert parse(text).takes_prereleases is takes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("anthropic", "write PACKAGE==LOW..HIGH, as in anthropic==0.125.0..2.14.0, or npm:openai@"),
        ("anthropic==1.0", "write PACKAGE==LOW..HIGH"),
        ("anthropic==..2.0", "write PACKAGE==LOW..HIGH"),
        ("==1.0..2.0", "write PACKAGE==LOW..HIGH"),
        ("npm:openai==1.0.0..2.0.0", "is no requirement"),
        ("a b==1.0..2.0", "is no requirement"),
        ("a==2.0..1.0", "2.0 is not below 1.0; name the older release first"),
        ("a==1.0..1", "1.0 is not below 1; name the older release first"),
        ("a@2.0.0..2.0.0-rc.1", "2.0.0 is not below 2.0.0-rc.1"),
        ("a==1.0..latest", "Invalid version: 'latest'; name two releases"),
        ("a@1.0..2.0", "'1.0' is no version of npm; write it as 7.59.0"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(MatrixError) as raised:
        parse(text)
    assert str(raised.value).startswith(f"--bisect {text}: ")
    assert message in str(raised.value)


def test_the_order_of_releases_on_npm() -> None:
    rising = ["1.0.0-1", "1.0.0-2", "1.0.0-10", "1.0.0-a", "1.0.0-a.1", "1.0.0-b", "1.0.0"]
    rising += ["1.0.1", "1.2.0", "1.10.0", "2.0.0-rc.9", "2.0.0-rc.10", "2.0.0"]
    assert sorted(reversed(rising), key=semver.key) == rising
    assert semver.key("1.0.0+build.7") == semver.key("1.0.0")
    with pytest.raises(ValueError, match=r"'v1\.0' is no version of npm"):
        semver.key("v1.0")
