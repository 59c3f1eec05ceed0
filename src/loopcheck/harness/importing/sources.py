"""Which kind of file a source is, and the exchanges in it."""

from __future__ import annotations

from pathlib import Path

from loopcheck.harness.importing import cassette, har, journals
from loopcheck.harness.importing.exchanges import (
    Source,
    SourceError,
    cleaned,
    parsed_json,
    parsed_yaml,
    text_of,
)

_KINDS = "a recording, a journal, a HAR file or a cassette"


def read_source(path: Path) -> Source:
    """The exchanges in this file. Raises SourceError."""
    text = text_of(path)
    if path.suffix == ".jsonl":
        return journals.exchanges(path)
    if path.suffix in (".yaml", ".yml"):
        document = parsed_yaml(text)
    else:
        document = parsed_json(text)
        if document is None:
            raise SourceError(f"{path}: not JSON, so neither a recording nor a HAR file")
    if har.is_har(document):
        return har.exchanges(document)
    if cassette.is_cassette(document):
        return cassette.exchanges(document)
    if path.suffix in (".yaml", ".yml"):
        raise SourceError(f"{path}: no cassette: it has no list of interactions")
    if not isinstance(document, dict) or "protocol" not in document:
        raise SourceError(f"{path}: none of {_KINDS}")
    return Source((cleaned(document, path.stem),))
