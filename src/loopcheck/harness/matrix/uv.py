"""uv, which makes Python environments, and the index settings that it works with.

uv reads none of pip's settings. Where it has none of its own and pip has, pip's are carried over,
so that both find the same packages; nothing is set that the user has not set.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from loopcheck.harness.matrix.errors import CannotInstall, MatrixError

_INDEX: Final = (
    "UV_CONFIG_FILE",
    "UV_DEFAULT_INDEX",
    "UV_EXTRA_INDEX_URL",
    "UV_FIND_LINKS",
    "UV_INDEX",
    "UV_INDEX_URL",
)
# What pip calls it, what uv calls it, and what stands between several values.
_CARRIED: Final[Mapping[str, tuple[str, str]]] = {
    "index-url": ("UV_DEFAULT_INDEX", " "),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "trusted-host": ("UV_INSECURE_HOST", " "),
    "constraint": ("UV_CONSTRAINT", " "),
    "cert": ("SSL_CERT_FILE", " "),
}
# uv has a flag for it, and no variable.
_NO_INDEX: Final = "no-index"
_TRUE: Final = ("1", "on", "true", "yes")
_SENT: Final = re.compile(
    r"UV_(DEFAULT_INDEX|INDEX\w*|EXTRA_INDEX_URL|FIND_LINKS|INSECURE_HOST|OFFLINE)"
)
_SETTINGS_SECONDS: Final = 30.0
_DRAWING: Final = str.maketrans("", "", "\u00d7\u2570\u2500\u25b6\u2502\u251c")
_NEEDS: Final = re.compile(
    r"(?P<name>[A-Za-z0-9][\w.-]*)(\[[^]]*\])?(?P<version>[=<>!~][^ ]*)? depends on (?P<what>\S+)"
)
_MISSING: Final = re.compile(
    r"(?:no version of |Because )(?P<name>[A-Za-z0-9][\w.-]*?)(?:[=<>!~]\S*)?"
    r"(?: and| was not found| has no)"
)


@dataclass(frozen=True, slots=True)
class Uv:
    """uv by its path, the variables that it is run with, the options of its `pip`, and what to
    tell of both."""

    command: str
    environment: Mapping[str, str]
    options: tuple[str, ...] = ()
    carried: tuple[str, ...] = ()

    def run(
        self, *arguments: str, cwd: Path | None = None, text: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        """What it said and with what exit code. Colours and progress are left out."""
        options = self.options if arguments[0] == "pip" else ()
        return subprocess.run(
            [self.command, "--no-progress", "--color", "never", *arguments, *options],
            cwd=cwd,
            env={**os.environ, **self.environment},
            input=text if text is not None else "",
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def sent(self) -> dict[str, str]:
        """The variables by which uv finds the same packages on another machine, which has its own
        certificates. Exact packages need no constraints."""
        settings = {**os.environ, **self.environment}
        return {name: value for name, value in settings.items() if _SENT.fullmatch(name)}

    def settings_file(self, root: Path) -> Path | None:
        """The file of settings that uv reads for a project in this folder."""
        return next((path for path in _settings_files(os.environ, root) if path.is_file()), None)


def find(root: Path) -> Uv:
    """uv, as the package of this name or on the PATH. Raises MatrixError."""
    command = _command()
    if command is None:
        raise MatrixError(
            "Python environments are made by uv, which is not here; "
            "pip install 'loopcheck[matrix]', or put uv on the PATH"
        )
    of_pip = "" if has_settings(os.environ, root) else _settings_of_pip()
    settings = carried_over(of_pip)
    options = ("--no-index",) if asks_no_index(of_pip) else ()
    told = tuple(f"{name} {value}" for name, value in settings.items() if name in _INDEX)
    return Uv(command=command, environment=settings, options=options, carried=(*told, *options))


def _command() -> str | None:
    try:
        from uv import find_uv_bin
    except ImportError:
        return shutil.which("uv")
    try:
        return str(find_uv_bin())
    except FileNotFoundError:
        return shutil.which("uv")


def has_settings(environment: Mapping[str, str], root: Path) -> bool:
    """Whether the user has told uv itself where packages come from."""
    if any(environment.get(name) for name in _INDEX):
        return True
    return any(path.is_file() for path in _settings_files(environment, root))


def _settings_files(environment: Mapping[str, str], root: Path) -> list[Path]:
    """Where uv looks for its settings, the nearest first."""
    homes = environment.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    systems = environment.get("XDG_CONFIG_DIRS") or "/etc/xdg"
    folders = (homes, *systems.split(os.pathsep), "/etc")
    named = environment.get("UV_CONFIG_FILE")
    return [
        *([Path(named)] if named else []),
        *(folder / "uv.toml" for folder in (root, *root.parents)),
        *(Path(folder, "uv", "uv.toml") for folder in folders),
    ]


def _settings_of_pip() -> str:
    """What `pip config list` prints, which knows all of its files and variables."""
    command = [sys.executable, "-m", "pip", "config", "list", "--disable-pip-version-check"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_SETTINGS_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def carried_over(listed: str) -> dict[str, str]:
    """The variables by which uv finds what pip finds, from what `pip config list` prints."""
    found = {
        _CARRIED[option][0]: _CARRIED[option][1].join(value.split())
        for option, value in _values(listed).items()
        if option in _CARRIED
    }
    if "UV_INDEX" in found:
        # pip takes the best version of all indexes; uv looks no further than the first.
        found["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    return found


def asks_no_index(listed: str) -> bool:
    """Whether pip looks at no index, by what `pip config list` prints."""
    return _values(listed).get(_NO_INDEX, "").lower() in _TRUE


def _values(listed: str) -> dict[str, str]:
    """The settings that concern uv, too. Of two values of a setting, that of a variable counts,
    as it does to pip."""
    values: dict[str, str] = {}
    from_variables = set[str]()
    for line in listed.splitlines():
        name, equals, text = line.partition("=")
        section, _, option = name.strip().rpartition(".")
        is_ours = option in _CARRIED or option == _NO_INDEX
        if not equals or not is_ours or section not in ("global", "install", ":env:"):
            continue
        if section == ":env:":
            from_variables.add(option)
        elif option in from_variables:
            continue
        values[option] = text.strip().strip("'\"").replace("\\n", " ")
    return values


def complaint(said: str) -> CannotInstall:
    """What uv said, in one line and with the package that stands in the way."""
    words = " ".join(said.translate(_DRAWING).split()).removeprefix("error: ")
    _, because, rest = words.partition("Because ")
    cause = f"{because}{rest}"
    needs = _NEEDS.search(cause)
    if needs is not None:
        name, version, what = needs["name"], needs["version"] or "", needs["what"].rstrip(".,")
        told = f"{name} {version.lstrip('=')}".strip()
        return CannotInstall(f"{told} requires {what} ({cause})", package=name)
    missing = _MISSING.search(cause)
    package = missing["name"] if missing is not None else None
    return CannotInstall(cause or words or "uv gave no reason", package=package)
