"""Whose images a request holds, wherever in its body they stand."""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Iterator
from typing import Final

from loopcheck.harness.checks.evidence import Evidence, Request
from loopcheck.harness.checks.matching import match
from loopcheck.harness.world.images import is_from

# The signature of a PNG in base64, alone or in a data URL.
_PNG: Final = re.compile(r"(?:data:image/png;base64,)?(iVBORw0KGgo[A-Za-z0-9+/=]+)\Z")


def labels_of_images(request: Request, evidence: Evidence) -> tuple[str, ...]:
    """The labels of the calls whose results' images stand in the request, each once."""
    images = list(_images(request.body))
    return tuple(
        dict.fromkeys(
            made.call.label
            for made in match(evidence).matches
            if any(is_from(image, made.execution.token) for image in images)
        )
    )


def _images(value: object) -> Iterator[bytes]:
    if isinstance(value, dict):
        for member in value.values():
            yield from _images(member)
    elif isinstance(value, list):
        for member in value:
            yield from _images(member)
    elif isinstance(value, str) and (match := _PNG.match(value)):
        try:
            yield b64decode(match[1], validate=True)
        except binascii.Error:
            return
