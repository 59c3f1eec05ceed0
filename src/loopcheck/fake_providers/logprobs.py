"""Log probabilities for the text of an answer; the same for a text, streamed or whole."""

from __future__ import annotations

from typing import Final

from loopcheck.fake_providers.wire import JsonObject
from loopcheck.fake_providers.wishes import TOKEN_SIZE

_CHOSEN: Final = -0.0625
_NEXT: Final = -3.5
_OTHERS: Final = (" the", " a", " and", " of", " to", " in", " it", " is", " or", " on")
_SAID: Final = ("content", "refusal")
# Here the service leaves them out, as recorded.
_BARE_EVENT: Final = "response.content_part.done"
_TEXT_EVENTS: Final = {"response.output_text.delta": "delta", "response.output_text.done": "text"}


def with_chat_logprobs(body: JsonObject, top: int) -> JsonObject:
    """The body, or the chunk, with the probabilities of what its choices say."""
    choices = body.get("choices")
    if not isinstance(choices, list):
        return body
    return {**body, "choices": [_with_chat_logprobs(choice, top) for choice in choices]}


def _with_chat_logprobs(choice: JsonObject, top: int) -> JsonObject:
    said = choice.get("message", choice.get("delta"))
    for kind in _SAID:
        text = said.get(kind) if isinstance(said, dict) else None
        if isinstance(text, str):
            told = {**dict.fromkeys(_SAID), kind: _tokens(text, top)}
            return {**choice, "logprobs": told}
    return choice


def with_text_logprobs(body: object, top: int) -> JsonObject:
    """The response, or the event, with the probabilities of its output texts."""
    changed = _walked(body, top)
    assert isinstance(changed, dict)
    return changed


def _walked(value: object, top: int) -> object:
    if isinstance(value, list):
        return [_walked(entry, top) for entry in value]
    if not isinstance(value, dict) or value.get("type") == _BARE_EVENT:
        return value
    made = {key: _walked(entry, top) for key, entry in value.items()}
    key = _TEXT_EVENTS.get(str(made.get("type")), "text")
    text = made.get(key)
    if "logprobs" in made and isinstance(text, str):
        made["logprobs"] = _tokens(text, top)
    return made


def _tokens(text: str, top: int) -> list[JsonObject]:
    parts = [text[start : start + TOKEN_SIZE] for start in range(0, len(text), TOKEN_SIZE)]
    return [_token(part, top) for part in parts]


def _token(text: str, top: int) -> JsonObject:
    others = [_probability(other, _NEXT - n) for n, other in enumerate(_OTHERS)]
    best = [_probability(text, _CHOSEN), *others][:top]
    return {**_probability(text, _CHOSEN), "top_logprobs": best}


def _probability(text: str, logprob: float) -> JsonObject:
    return {"token": text, "logprob": logprob, "bytes": list(text.encode())}
