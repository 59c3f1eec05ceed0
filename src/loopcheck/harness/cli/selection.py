"""From what was typed to what is run: cases, and the targets they are run on."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Sequence
from pathlib import Path

from loopcheck.harness.cases import CaseSpec, expand
from loopcheck.harness.cli.arguments import UsageError
from loopcheck.harness.config import Config, TargetSource
from loopcheck.harness.deaths import ALL, Deaths, complaint, named, with_death
from loopcheck.harness.naming import hinted, selects
from loopcheck.harness.scenario.errors import did_you_mean
from loopcheck.harness.scenario.load import discover, load_builtin


def select(patterns: Sequence[str], config: Config, *, cwd: Path) -> list[CaseSpec]:
    """The cases that the patterns name, each once. Raises UsageError for one that names none.

    A pattern is a place (a file, a folder, a glob of files, `builtin:core`), or an id or glob of
    ids among the project's scenarios and then the built-in ones. Behind an id, `+death@POINT`
    names the case with that death.
    """
    if not patterns:
        return list(expand(discover(config.scenarios, cwd=config.root)))
    places = [pattern for pattern in patterns if is_place(pattern, cwd)]
    chosen = list(expand(discover(places, cwd=cwd))) if places else []
    globs = [pattern for pattern in patterns if pattern not in places]
    if globs:
        chosen += _by_id(globs, config)
    return list({spec.id: spec for spec in chosen}.values())


def files_named(patterns: Sequence[str], *, cwd: Path) -> dict[str, str]:
    """The files among the patterns, by the ids of the scenarios in them."""
    files = [pattern for pattern in patterns if (cwd / pattern).is_file()]
    return {found.id: file for file in files for found in discover([file], cwd=cwd)}


def _by_id(globs: Iterable[str], config: Config) -> list[CaseSpec]:
    own = list(expand(discover(config.scenarios, cwd=config.root)))
    builtin: list[CaseSpec] | None = None
    chosen = []
    for text in globs:
        pattern, death = named(text)
        found = [spec for spec in own if selects(pattern, spec.id)]
        if not found:
            builtin = list(expand(load_builtin())) if builtin is None else builtin
            found = [spec for spec in builtin if selects(pattern, spec.id)]
        if not found:
            raise UsageError(_unknown(pattern, [*own, *(builtin or ())]))
        if death is not None:
            found = [with_death(spec, death) for spec in _that_have(death.point, found)]
        chosen += found
    return chosen


def deaths(points: Sequence[str], cases: Sequence[CaseSpec], *, rivals: bool) -> Deaths | None:
    """The deaths that are asked for. Raises UsageError for a point that no case has."""
    if not points:
        if rivals:
            raise UsageError("--rivals says how runs are resumed behind deaths; add --deaths all")
        return None
    if ALL in points:
        return Deaths(rivals=rivals)
    for point in points:
        _that_have(point, cases)
    return Deaths(points=tuple(dict.fromkeys(points)), rivals=rivals)


def _that_have(point: str, cases: Sequence[CaseSpec]) -> list[CaseSpec]:
    """The cases whose process can die at this point."""
    complaints = [complaint(point, spec) for spec in cases]
    found = [spec for spec, one in zip(cases, complaints, strict=True) if one is None]
    # The case that nearly has it knows what was meant.
    wrong = sorted((one for one in complaints if one is not None), key=lambda one: not one[1])
    if not found and wrong:
        raise UsageError(hinted(*wrong[0]))
    return found


def _unknown(pattern: str, specs: Iterable[CaseSpec]) -> str:
    cases = {spec.id: spec.scenario.id for spec in specs}
    names = cases if "[" in pattern else set(cases.values())
    return hinted(f"no case or file is named {pattern!r}", did_you_mean(pattern, names))


def is_place(pattern: str, cwd: Path) -> bool:
    """Whether a pattern says where scenario files are, and not what they are called."""
    if pattern.startswith("builtin:") or (cwd / pattern).exists():
        return True
    if pattern.endswith("]"):  # a case id, whose bracket is no character class
        return False
    return glob.has_magic(pattern) and any(glob.iglob(pattern, root_dir=cwd, recursive=True))


def targets(names: Sequence[str], config: Config) -> list[TargetSource]:
    """The targets of these names, or the project's only one. Raises UsageError."""
    if names:
        return [config.target(name) for name in dict.fromkeys(names)]
    if len(config.targets) == 1:
        return list(config.targets.values())
    if config.targets:
        raise UsageError(f"say which target: --target {' or '.join(config.targets)}")
    raise UsageError(
        "say which target: --target NAME, where NAME is module:attr, a target of "
        f"[tool.loopcheck.targets], or one of {', '.join(config.known_targets)}"
    )
