"""What a scenario asks and demands, as a digest: the same for two files that mean the same."""

from __future__ import annotations

import hashlib
import json

from pydantic import BaseModel

from loopcheck.harness.scenario.model import Scenario

# Words for readers, the name, and what is a scenario of its own.
_NOT_MEANT = frozenset({"id", "title", "rule", "grounds", "variants"})


def meaning(scenario: Scenario) -> str:
    """16 hexadecimal digits. Neither words for readers, comments, the order of keys nor values
    that are the default change it; what is sent, and what is demanded, does."""
    said = {key: value for key, value in _own(scenario).items() if key not in _NOT_MEANT}
    return hashlib.sha256(json.dumps(said, ensure_ascii=False).encode()).hexdigest()[:16]


def _own(model: BaseModel) -> dict[str, object]:
    """What is set to another value than the default, by key, in one order."""
    fields = type(model).model_fields
    given = {
        field.alias or name: _plain(getattr(model, name))
        for name, field in fields.items()
        if getattr(model, name) != field.get_default(call_default_factory=True)
    }
    extra = {name: _plain(value) for name, value in (model.model_extra or {}).items()}
    return dict(sorted({**given, **extra}.items()))


def _plain(value: object) -> object:
    if isinstance(value, BaseModel):
        return _own(value)
    if isinstance(value, dict):
        # Arguments are sent, and tools offered, in the order in which they are written.
        return [[key, _plain(item)] for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
