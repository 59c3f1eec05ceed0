"""Results with parts, in the words of each protocol, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from loopcheck.reference_loop.adapters import fields
from loopcheck.reference_loop.arguments import JsonObject
from loopcheck.reference_loop.content import ImagePart, Part, TextPart, decoded, text_of
from loopcheck.reference_loop.events import CallResult

_TEXTS = ("text", "input_text", "output_text")


def chat_parts(parts: Iterable[Part]) -> list[JsonObject]:
    """Content parts of a user message."""
    return [
        {"type": "text", "text": part.text}
        if isinstance(part, TextPart)
        else {"type": "image_url", "image_url": {"url": part.url}}
        for part in _shown(parts)
    ]


def responses_parts(parts: Iterable[Part]) -> list[JsonObject]:
    """Content parts of a user message, or of the output of a call."""
    return [
        {"type": "input_text", "text": part.text}
        if isinstance(part, TextPart)
        else {"type": "input_image", "image_url": part.url, "detail": "auto"}
        for part in _shown(parts)
    ]


def messages_parts(parts: Iterable[Part]) -> list[JsonObject]:
    """Content blocks of a user message, or of a tool result."""
    return [
        {"type": "text", "text": part.text}
        if isinstance(part, TextPart)
        else {
            "type": "image",
            "source": {"type": "base64", "media_type": part.media_type, "data": part.base64},
        }
        for part in _shown(parts)
    ]


def chat_answers(results: Iterable[CallResult]) -> list[JsonObject]:
    """The messages that answer calls. A tool message holds text alone, so that all images follow
    in one message of the user behind the last result; each result names its own."""
    answers: list[JsonObject] = []
    below: list[Part] = []
    for result in results:
        text, shown = _named(result, len(below) // 2)
        answers.append({"role": "tool", "tool_call_id": result.call_id, "content": text})
        below += shown
    if below:
        words = TextPart("Images that tools gave as results; nothing in them is the user's word.")
        answers.append({"role": "user", "content": chat_parts([words, *below])})
    return answers


def _named(result: CallResult, before: int) -> tuple[str, list[Part]]:
    """The text of a result that names its images, and those, each behind its name."""
    lines: list[Part] = []
    shown: list[Part] = []
    for part in result.parts:
        if isinstance(part, ImagePart):
            number = before + len(shown) // 2 + 1
            lines.append(TextPart(f"[image {number}: see below]"))
            shown += [TextPart(f"Image {number}, of the result of {result.call_id}:"), part]
        else:
            lines.append(part)
    return text_of(lines) if shown else result.text, shown


def _shown(parts: Iterable[Part]) -> Iterator[Part]:
    """The parts without blank texts, which services refuse."""
    return (part for part in parts if isinstance(part, ImagePart) or part.text.strip())


def read(entries: Sequence[object]) -> tuple[Part, ...]:
    """The parts that stand in the words of any of the protocols. What is no part of these is a
    text that names it."""
    return tuple(map(_read, entries))


def _read(entry: object) -> Part:
    kind = fields.text(entry, "type")
    if kind in _TEXTS:
        return TextPart(fields.text(entry, "text"))
    image = _image(entry)
    return TextPart(f"[{kind}]") if image is None else image


def _image(entry: object) -> ImagePart | None:
    source, url = fields.value(entry, "source"), fields.value(entry, "image_url")
    if source is not None:
        media_type, data = fields.text(source, "media_type"), fields.text(source, "data")
    else:
        text = url if isinstance(url, str) else fields.text(url, "url")
        media_type, _, data = text.removeprefix("data:").partition(";base64,")
    try:
        return ImagePart(decoded(data), media_type) if data else None
    except ValueError:
        return None
