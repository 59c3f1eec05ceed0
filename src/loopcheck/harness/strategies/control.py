"""What happens to a generated run from outside: decisions, cancellations, resumptions, gates."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from loopcheck.harness.strategies import turns
from loopcheck.harness.strategies.arguments import Arguments, arguments
from loopcheck.harness.strategies.features import Feature
from loopcheck.harness.strategies.tools import OFTEN, SELDOM, Document

_DECISIONS: Final = ("approve", "deny", "changed", "changed", "late", "stale", "twice", "none")
_LATER: Final[tuple[tuple[str, Feature], ...]] = (("user", "messages"), ("run", "runs"))
_SAID: Final = ("Please go on.", "And then?", "Thank you.")
_BEGUN: Final = ("Something else, please.", "One more thing.")


def meanwhile(draw: DrawFn, script: turns.Script, said: list[Document]) -> list[Document]:
    """What people do while the turns are played."""
    rules = [rule for label in script.calls for rule in _decided(draw, label, script)]
    if "cancels" in script.features and draw(SELDOM):
        rules.append(_cancelled(draw, script, said))
    if "resumes" in script.features and draw(SELDOM):
        points = ["run.ended", *(["run.paused"] if rules else [])]
        rules.append({"when": draw(st.sampled_from(points)), "do": "resume"})
    return rules


def _decided(draw: DrawFn, label: str, script: turns.Script) -> list[Document]:
    """What a person says of this call, if it has to be asked about."""
    call = script.calls[label]
    tool = script.tools.get(str(call["tool"]), {})
    when = f"{label}.waiting"
    if tool.get("kind") == "ask":
        answer = draw(st.sampled_from(["Yes.", 12, {"seat": 12}]))
        return [{"when": when, "do": {"answer": answer, "to": label}}] if not draw(SELDOM) else []
    if tool.get("approval") != "ask":
        return []
    match draw(st.sampled_from(_DECISIONS)):
        case "changed":
            args = draw(changed(call, script))
            return [{"when": when, "do": {"approve": label, "args": args}}]
        case "late":
            return [{"when": when, "after": "2 hours", "do": "approve"}]
        case "stale":
            about = draw(st.sampled_from(_that_wait(script)))
            return [{"when": when, "do": {"approve": about}}]
        case "twice":
            return [{"when": when, "do": [{"deny": label}, {"approve": label}]}]
        case "none":
            return []
        case decision:
            return [{"when": when, "do": decision}]


def changed(call: Document, script: turns.Script) -> SearchStrategy[Arguments]:
    """What a person may put in place of the arguments of a call: fewer where that is possible,
    or others."""
    schema, asked = script.schema(str(call["tool"])), call.get("args")
    required, given = schema.get("required"), asked if isinstance(asked, dict) else {}
    needed = required if isinstance(required, list) else []
    fewer = [_without(given, name) for name in given if name not in needed]
    return st.sampled_from(fewer) if fewer else arguments(schema)


def _without(given: Arguments, name: str) -> Arguments:
    return {key: value for key, value in given.items() if key != name}


def _that_wait(script: turns.Script) -> list[str]:
    asked = {name for name, tool in script.tools.items() if tool.get("approval") == "ask"}
    return [label for label, call in script.calls.items() if call["tool"] in asked]


def _cancelled(draw: DrawFn, script: turns.Script, said: list[Document]) -> Document:
    """A cancellation; where it comes while a tool runs, that may wait to see what comes of it."""
    label = draw(st.sampled_from(sorted(script.calls)))
    point = draw(st.sampled_from(["started", "ended", "asked", "turn", "run", "inside"]))
    tool = script.tools.get(str(script.calls[label]["tool"]), {})
    if point in ("started", "ended") and tool.get("kind") != "ask":
        if point == "started" and draw(OFTEN):
            tool["returns_after"] = "run.ended"
        return {"when": f"{label}.{point}", "do": "cancel"}
    if point == "turn":
        number = draw(st.integers(1, len(said)))
        what = draw(st.sampled_from(["asked", "sent"]))
        return {"when": f"turn{number}.{what}", "do": "cancel"}
    text = turns.text_of(script.calls[label])
    if point == "inside" and script.mode == "stream" and len(text) > 1:
        after = text[: draw(st.integers(1, len(text) - 1))]
        return {"when": {"in": label, "after": after}, "do": "cancel"}
    return {"when": "run.started" if point == "run" else f"{label}.asked", "do": "cancel"}


def gates(draw: DrawFn, script: turns.Script, said: list[Document]) -> None:
    """Has a tool end, or take effect, only behind a call beside it."""
    for turn in said:
        calls = turns.calls_of(turn)
        if len(calls) < 2 or not draw(SELDOM):
            continue
        gated, opener = draw(st.permutations(calls))[:2]
        tool = script.tools.get(str(gated["tool"]))
        if tool is None or tool["kind"] == "ask" or gated["tool"] == opener["tool"]:
            continue
        tool["returns_after"] = f"{opener['as']}.{draw(st.sampled_from(['started', 'ended']))}"
        if tool["kind"] == "write" and draw(SELDOM):
            tool["commits_after"] = f"{gated['as']}.started"


def later(draw: DrawFn, script: turns.Script) -> list[Document]:
    """A further message, or another run, with turns that answer it; words of its own each."""
    kinds = [kind for kind, feature in _LATER if feature in script.features]
    entries: list[Document] = []
    for place in range(2):
        if not kinds or not draw(SELDOM):
            break
        kind = draw(st.sampled_from(kinds))
        entries.append({kind: (_SAID if kind == "user" else _BEGUN)[place]})
        entries.append(turns.calling(draw, script) if draw(OFTEN) else {"say": "Very well."})
    return entries
