"""Which package is narrowed down and between which of its releases: PACKAGE==LOW..HIGH."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from loopcheck.harness.matrix import semver
from loopcheck.harness.matrix.errors import MatrixError
from loopcheck.harness.matrix.node_lock import package_of
from loopcheck.harness.matrix.projects import name_of
from loopcheck.harness.matrix.reading import npm_complaint, python_complaint

_PYTHON: Final = re.compile(r"(?P<package>[^@=]+)==(?P<low>[^=@]+?)\.\.(?P<high>[^=@]+)")
_NPM: Final = re.compile(r"(?:npm:)?(?P<package>@?[^@=]+)@(?P<low>[^=@]+?)\.\.(?P<high>[^=@]+)")
_EXAMPLES: Final = "as in anthropic==0.125.0..2.14.0, or npm:openai@6.49.0..7.59.0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """A package with two of its releases, the older one first."""

    package: str
    low: str
    high: str
    is_npm: bool

    @property
    def name(self) -> str:
        """What environments know the package by."""
        return self.package if self.is_npm else name_of(self.package) or self.package

    @property
    def takes_prereleases(self) -> bool:
        """Whether one of its ends is a pre-release."""
        ends = (self.low, self.high)
        if self.is_npm:
            return any(map(semver.is_prerelease, ends))
        return any(Version(end).is_prerelease for end in ends)

    def pin(self, version: str) -> str:
        """What asks for this release, as a set of dependencies does."""
        return f"{self.package}{'@' if self.is_npm else '=='}{version}"

    def is_about(self, text: str) -> bool:
        """Whether this line of a set asks for the package, too."""
        if self.is_npm:
            return package_of(text) == self.name
        return str(canonicalize_name(Requirement(text).name)) == self.name

    def __str__(self) -> str:
        return f"{'npm:' if self.is_npm else ''}{self.pin(f'{self.low}..{self.high}')}"


def parse(text: str) -> Range:
    """The range that is meant by PACKAGE==LOW..HIGH, or by npm:PACKAGE@LOW..HIGH. Raises
    MatrixError."""
    found, is_npm = _PYTHON.fullmatch(text), False
    if found is None:
        found, is_npm = _NPM.fullmatch(text), True
    if found is None:
        raise MatrixError(f"--bisect {text}: write PACKAGE==LOW..HIGH, {_EXAMPLES}")
    wanted = Range(
        package=found["package"].strip(), low=found["low"], high=found["high"], is_npm=is_npm
    )
    complaint = _complaint(wanted)
    if complaint is not None:
        raise MatrixError(f"--bisect {text}: {complaint}")
    return wanted


def _complaint(wanted: Range) -> str | None:
    pin = wanted.pin(wanted.low)
    named = npm_complaint(pin) if wanted.is_npm else python_complaint(pin)
    if named is not None:
        return named
    try:
        is_rising = _is_below(wanted.low, wanted.high, is_npm=wanted.is_npm)
    except (InvalidVersion, ValueError) as error:
        return f"{error}; name two releases, {_EXAMPLES}"
    if is_rising:
        return None
    return f"{wanted.low} is not below {wanted.high}; name the older release first"


def _is_below(low: str, high: str, *, is_npm: bool) -> bool:
    if is_npm:
        return semver.key(low) < semver.key(high)
    return Version(low) < Version(high)
