"""Breaks the judgement in every small way, and counts the ways that no test notices.

    python tests/mutation/mutate.py all
    python tests/mutation/mutate.py list BASE
    python tests/mutation/mutate.py changed BASE
    python tests/mutation/mutate.py score

`all` takes an hour on one core and goes on where it was interrupted; `changed` tries the functions
that differ from the commit BASE, which `list` lists; `score` shows what came of it so far. What is
broken, and by which tests, stands under `[tool.mutmut]` in pyproject.toml; why some of it may go
unnoticed, in survivors.txt. The exit code is 1 where fewer than 85 of 100 were noticed, and once
all were tried also where the list is not that of the others.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

from survivors import LIST, change_of, function_of, listed

ROOT: Final = Path(__file__).resolve().parents[2]
LEAST_KILLED: Final = 0.85
MOST_FUNCTIONS: Final = 20
NOTICED: Final = frozenset({"killed", "timeout", "segfault", "caught by type check"})
_RESULT: Final = re.compile(r"\s*(?P<module>[\w.]+)\.(?P<name>x\S+): (?P<result>.+)")
_HUNK: Final = re.compile(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@")


def mutmut(*arguments: str) -> None:
    """Runs it; it shows its own progress."""
    subprocess.run([sys.executable, "-m", "mutmut", *arguments], cwd=ROOT, check=True)


def results() -> Iterator[tuple[str, str, str]]:
    """The module, the name and the result of each mutant."""
    command = [sys.executable, "-m", "mutmut", "results", "--all", "true"]
    told = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    for line in told.splitlines():
        found = _RESULT.fullmatch(line)
        if found is not None:
            yield found["module"], found["name"], found["result"]


def changed_functions(base: str) -> Iterator[str]:
    """Patterns for the mutants of each function that differs from this commit."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        patterns = tomllib.load(file)["tool"]["mutmut"]["only_mutate"]
    names = _git("diff", "--name-only", "--diff-filter=d", base, "--", "src").splitlines()
    for name in names:
        if any(fnmatch(name, pattern) for pattern in patterns):
            yield from _changed_in(name, base)


def _changed_in(name: str, base: str) -> Iterator[str]:
    lines: set[int] = set()
    for start, size in _HUNK.findall(_git("diff", "-U0", base, "--", name)):
        lines.update(range(int(start), int(start) + int(size or 1)))
    module = name.removeprefix("src/").removesuffix(".py").replace("/", ".")
    tree = ast.parse((ROOT / name).read_text(encoding="utf-8"))
    for prefix, function in _functions(tree):
        if lines.intersection(range(function.lineno, (function.end_lineno or 0) + 1)):
            yield f"{module}.{prefix}{function.name}__mutmut_*"


def _functions(
    tree: ast.Module,
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield "x_", node
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield f"xǁ{node.name}ǁ", inner


def _git(*arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def score(only: frozenset[str] | None = None) -> int:
    """Prints how many of each module were noticed, and what is wrong with the list of those that
    were not; returns the exit code."""
    found = [
        (module, name, result)
        for module, name, result in results()
        if only is None or any(fnmatch(f"{module}.{name}", one) for one in only)
    ]
    by_module: dict[str, Counter[bool]] = {}
    for module, _, result in found:
        if result != "not checked":
            by_module.setdefault(module, Counter())[result in NOTICED] += 1
    total: Counter[bool] = Counter()
    for module, counted in sorted(by_module.items()):
        total += counted
        print(f"{module:50} {counted[True]:5} of {counted.total():5} noticed")
    if not total:
        print("nothing to try")
        return 0
    share = total[True] / total.total()
    print(f"{'in all':50} {total[True]:5} of {total.total():5} noticed: {share:.1%}")
    is_whole = only is None and total.total() == len(found)
    alive = [one[:2] for one in found if one[2] not in (*NOTICED, "not checked")]
    is_listed = compare(alive, is_whole=is_whole)
    return 0 if share >= LEAST_KILLED and (is_listed or not is_whole) else 1


def compare(alive: Sequence[tuple[str, str]], *, is_whole: bool) -> bool:
    """Whether the list is that of the mutants that no test noticed; prints what is not in it,
    and what is in it for nothing, which shows when all were tried."""
    known = list(listed(LIST.read_text(encoding="utf-8")))
    needed = set()
    unlisted = 0
    for module, name in alive:
        function, change = function_of(module, name), change_of(module, name, root=ROOT)
        reasons = [one for one in known if one.is_of(function, change)]
        needed.update(reasons)
        if not reasons:
            print(f"NOT LISTED  {function}: {change}    ({module}.{name})")
            unlisted += 1
    stale = [one for one in known if one not in needed] if is_whole else []
    for one in stale:
        print(f"STALE  {one}")
    print(f"{len(alive) - unlisted} of {len(alive)} survivors are listed with a reason")
    return not unlisted and not stale


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("all")
    for name in ("list", "changed"):
        commands.add_parser(name).add_argument("base")
    commands.add_parser("score")
    options = parser.parse_args()
    if options.command == "list":
        print("\n".join(sorted(changed_functions(options.base))))
        return 0
    if options.command == "changed":
        changed = sorted(changed_functions(options.base))
        wanted, left = changed[:MOST_FUNCTIONS], changed[MOST_FUNCTIONS:]
        if wanted:
            mutmut("run", *wanted)
        if left:
            print(f"left for `all`: {len(left)} more functions that differ from {options.base}")
        return score(frozenset(wanted))
    if options.command == "all":
        mutmut("run")
    return score()


if __name__ == "__main__":
    sys.exit(main())
