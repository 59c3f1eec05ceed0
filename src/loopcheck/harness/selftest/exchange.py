"""One request to a model and its response, over the standard library: no SDK is needed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from typing import Final
from urllib.parse import urlsplit

from loopcheck.fake_providers.wire import JsonObject

_SECONDS: Final = 20.0


class ServiceFailure(Exception):
    """The service reported an error, or its response never came to its end."""


def whole(url: str, headers: Mapping[str, str], body: JsonObject) -> JsonObject:
    """The body of a response that is not streamed. Raises ServiceFailure."""
    return _object("".join(lines(url, headers, body)))


def events(url: str, headers: Mapping[str, str], body: JsonObject) -> Iterator[JsonObject]:
    """The JSON of each event, as it comes. Raises ServiceFailure, also in their midst."""
    data: list[str] = []
    for line in lines(url, headers, body):
        text = line.rstrip("\r\n")
        if text.startswith("data:"):
            data.append(text.removeprefix("data:"))
        elif not text:
            event = "\n".join(data).strip()
            data = []
            if event.startswith("{"):
                yield _object(event)


def lines(url: str, headers: Mapping[str, str], body: JsonObject) -> Iterator[str]:
    """The lines of a response, as they come. Raises ServiceFailure, also in their midst."""
    parts = urlsplit(url)
    try:
        with closing(HTTPConnection(parts.netloc, timeout=_SECONDS)) as connection:
            sent = {"content-type": "application/json", **headers}
            connection.request("POST", parts.path, json.dumps(body), sent)
            answer = connection.getresponse()
            if answer.status != 200:
                raise ServiceFailure(f"status {answer.status}")
            for line in answer:
                yield line.decode()
    except (OSError, HTTPException, UnicodeDecodeError) as error:
        raise ServiceFailure(f"{type(error).__name__}: {error}") from error


def _object(text: str) -> JsonObject:
    try:
        parsed: object = json.loads(text)
    except ValueError as error:
        raise ServiceFailure(f"no JSON: {error}") from error
    if not isinstance(parsed, dict) or parsed.get("error") or parsed.get("type") == "error":
        raise ServiceFailure(f"an error: {text[:200]}")
    return parsed


def member(value: object, *names: str | int) -> object:
    """What stands at this place of a JSON value; None where there is no such place."""
    for name in names:
        if isinstance(value, dict) and isinstance(name, str):
            value = value.get(name)
        elif isinstance(value, list) and isinstance(name, int) and name < len(value):
            value = value[name]
        else:
            return None
    return value


def objects(value: object, *names: str | int) -> list[JsonObject]:
    """The objects in the list at this place."""
    found = member(value, *names)
    listed: Iterable[object] = found if isinstance(found, list) else ()
    return [one for one in listed if isinstance(one, dict)]


def text(value: object, *names: str | int) -> str:
    """The text at this place, empty where there is none."""
    found = member(value, *names)
    return found if isinstance(found, str) else ""


def written(value: object, *names: str | int) -> str:
    """The text at this place; some servers send an object where the text of one is meant."""
    found = member(value, *names)
    return json.dumps(found) if isinstance(found, dict) else text(value, *names)
