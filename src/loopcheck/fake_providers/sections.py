"""Which part of a script a request belongs to.

A further message of the user, or another run, begins a part of its own. Its turns are given
only to requests that hold its text; what was left of the part before is skipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from loopcheck.fake_providers.script import EarlierText, Script, Section
from loopcheck.fake_providers.wire import Item, Reading


def lane_of(script: Script, reading: Reading) -> Section | None:
    """The part of the script that is the lane which claims this request, the first that does."""
    names = [tool.name for tool in reading.tools]
    offered = {tool for tool in script.tools if any(name.endswith(tool) for name in names)}
    for lane, section in zip(script.lanes, script.sections[1 + len(script.later) :], strict=True):
        meant = lane.model is None or fnmatchcase(reading.model, lane.model)
        if meant and lane.tools in (None, offered):
            return section
    return None


def without_earlier(
    items: Sequence[Item],
    earlier: Sequence[EarlierText],
    prompt: str | None,
) -> Sequence[Item]:
    """The conversation without what was said in it before the task, which may read like what the
    script says. Loops may have dropped the beginning of that; what the prompt does not follow was
    said in the task."""
    said = [place for place, item in enumerate(items) if item.kind in ("user", "say")]
    for left in range(len(earlier)):
        places = said[: len(earlier) - left]
        prompted = said[len(places) : len(places) + 1]
        if (
            prompted
            and _is_prompt(items[prompted[0]], prompt)
            and all(_says(items[p], *one) for p, one in zip(places, earlier[left:], strict=False))
        ):
            dropped = set(places)
            return [item for place, item in enumerate(items) if place not in dropped]
    return items


def _is_prompt(item: Item, prompt: str | None) -> bool:
    return item.kind == "user" and (prompt or "") in item.text


def _says(item: Item, role: str, text: str) -> bool:
    return item.kind == ("user" if role == "user" else "say") and text in item.text


def asked_in(
    sections: Sequence[Section], items: Sequence[Item], begun: int
) -> tuple[Section, Sequence[Item]]:
    """The latest of the parts begun whose text the request holds, with what it holds of it."""
    for section in reversed(sections[1:begun]):
        for place in range(len(items) - 1, -1, -1):
            if items[place].kind == "user" and (section.text or "") in items[place].text:
                return section, items if section.fresh else items[place:]
    return sections[0], items
