"""The exchanges with a model that a file holds, whatever kind of file it is."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

from loopcheck.fake_providers.record import recording_of
from loopcheck.fake_providers.recordings import Recording, RecordingError, recording_from
from loopcheck.fake_providers.script import FaultKind
from loopcheck.fake_providers.wire import HttpRequest
from loopcheck.harness.importing.values import whole_characters

LARGEST: Final = 8 * 1024 * 1024
HIDDEN: Final = "***"
_KEYS: Final = re.compile(
    r"\b(sk-[\w-]{12,}|AIza[\w-]{20,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|xox[abp]-[\w-]{10,}"
    r"|AKIA[0-9A-Z]{16}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*)"
)
_ENDINGS: Final = ("/chat/completions", "/responses", "/messages")


class SourceError(Exception):
    """A file that no scenario can be made of. Says why."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request for a response, and what came. `ended` is how the answer broke off, where
    the source tells."""

    recording: Recording
    ended: FaultKind | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """The exchanges in their order; `left_out` says what else the file holds."""

    exchanges: tuple[Exchange, ...]
    left_out: tuple[str, ...] = ()


def text_of(path: Path) -> str:
    """The text of the file. Raises SourceError."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise SourceError(f"{path}: cannot be read: {error.strerror or error}") from None
    if len(content) > LARGEST:
        raise SourceError(f"{path}: larger than {LARGEST // 1024**2} MiB; cut it to one story")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SourceError(f"{path}: not UTF-8 ({error.reason})") from None


def without_keys(text: str) -> str:
    """The text, with *** for what looks like a key of a service."""
    return _KEYS.sub(HIDDEN, text)


def parsed_json(text: str) -> object:
    """The JSON value, or None where the text is none."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value


def parsed_yaml(text: str) -> object:
    """The value of this YAML, or None where the text is none."""
    try:
        value: object = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return value


def cleaned(document: object, name: str, ended: FaultKind | None = None) -> Exchange:
    """The exchange that is recorded in this document, without keys in its texts. Raises
    SourceError."""
    shown = without_keys(json.dumps(document, ensure_ascii=False))
    try:
        return Exchange(recording_from(name, whole_characters(json.loads(shown))), ended)
    except RecordingError as error:
        raise SourceError(str(error)) from None


def model_request(
    method: str, path: str, headers: Mapping[str, str], body: bytes
) -> HttpRequest | None:
    """The request as the service itself would get it, or None where it asks for no response of a
    model: gateways have paths of their own in front."""
    plain = path.partition("?")[0].rstrip("/")
    for ending in _ENDINGS:
        if method.upper() == "POST" and plain.endswith(ending):
            lowered = {name.lower(): value for name, value in headers.items()}
            return HttpRequest(method="POST", path=f"/v1{ending}", headers=lowered, body=body)
    return None


def exchanged(
    number: int, request: HttpRequest, status: int, headers: Mapping[str, str], body: bytes
) -> Exchange:
    """The exchange without its secrets."""
    recording = recording_of(f"exchange {number}", request, status, headers, body)
    # A connection that never answered has the status 0 in a HAR file.
    return cleaned(recording.document(), recording.name, None if status else "close")
