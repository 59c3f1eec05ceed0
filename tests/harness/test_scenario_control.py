"""Further messages and `meanwhile`: what lint refuses, and how they are shown."""

from __future__ import annotations

import pytest
from scenario_texts import problems, scenario

from loopcheck.harness.scenario.show import show

NEEDS = "needs: [approval, input, resume, cancel, follow_up]\n"
HEAD = (
    "format: 1\ntitle: T\nrule: R\nprompt: P\nmodes: [stream]\n"
    "tools:\n"
    "  reserve: {kind: write, args: {seat: integer}, approval: ask}\n"
    "  look: {kind: read}\n"
    "  confirm: {kind: ask}\n"
)
TURNS = (
    "turns:\n"
    "  - calls: [{as: seat, tool: reserve, args: {seat: 12}}, {as: view, tool: look, args: {}}]\n"
    "  - calls: [{as: sure, tool: confirm, args: {}}]\n"
)
UNDECLARED = " | a target that does not claim it is then not declared"


def found(rule: str, *, needs: str = NEEDS) -> list[str]:
    """The problems of one rule of `meanwhile`, which stands in line 14."""
    return problems(f"{TURNS}meanwhile: [{{{rule}}}]\n", HEAD + needs)


@pytest.mark.parametrize(
    "rule",
    [
        "when: seat.waiting, do: approve",
        "when: [turn1.asked, seat.waiting], after: 2 hours, do: deny",
        "when: seat.waiting, do: {approve: seat, args: {seat: 13}, at_once: 2}",
        "when: run.paused, do: [{deny: seat, reason: too late}, {answer: yes, to: sure}]",
        "when: {in: seat, after: '1'}, do: cancel",
        "when: {in: say, after: Fin}, do: kill",
        "when: seat.committed, do: [kill, {resume: 2}]",
        "when: turn2.closed, do: [restart, resume]",
    ],
)
def test_what_may_happen(rule: str) -> None:
    assert found(rule) == []


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("when: seat.wating, do: cancel", ["14:20: 'seat.wating' is no point of 'seat'"]),
        ("when: [run.started, sit.asked], do: cancel", ["14:34: 'sit.asked' names no call"]),
        ("when: {in: sit, after: x}, do: cancel", ["14:25: 'sit' is said nowhere in this file"]),
        ("when: {in: think, after: x}, do: cancel", ["14:25: 'think' is said nowhere in this"]),
        (
            "when: {in: seat, after: '13'}, do: cancel",
            ["14:38: '13' does not stand in 'seat': {\"seat\":12}"],
        ),
        (
            "when: run.paused, do: approve",
            ["14:36: 'approve' alone is about the call in 'when', and 0 calls stand there"],
        ),
        (
            "when: [seat.asked, view.asked], do: [cancel, deny]",
            ["14:59: 'deny' alone is about the call in 'when', and 2 calls stand there"],
        ),
        (
            "when: view.asked, do: approve",
            ["14:36: 'view' is a call of look, which nobody has to approve | give look approval"],
        ),
        (
            "when: seat.asked, do: [{deny: view}]",
            ["14:44: 'view' is a call of look, which nobody has to approve"],
        ),
        (
            "when: seat.waiting, do: {approve: seet}",
            ["14:48: 'seet' is no call of this file | did you mean 'seat'?"],
        ),
        (
            "when: seat.waiting, do: {answer: 3, to: seat}",
            ["14:54: 'seat' is a call of reserve, which no person answers | give reserve"],
        ),
        (
            "when: seat.waiting, do: {answer: 3, to: sur}",
            ["14:54: 'sur' is no call of this file | did you mean 'sure'?"],
        ),
    ],
)
def test_what_cannot_happen(rule: str, expected: list[str]) -> None:
    seen = found(rule)
    assert len(seen) == len(expected)
    assert [text[: len(start)] for text, start in zip(seen, expected, strict=True)] == expected


@pytest.mark.parametrize(
    ("action", "wanted"),
    [
        ("approve", ["approval"]),
        ("{deny: seat}", ["approval"]),
        ("{answer: yes, to: sure}", ["input"]),
        ("cancel", ["cancel"]),
        ("resume", ["resume"]),
        ("{resume: 2}", ["resume"]),
        ("kill", []),
        ("restart", []),
    ],
)
def test_actions_have_needs(action: str, wanted: list[str]) -> None:
    seen = [text for text in found(f"when: seat.asked, do: {action}", needs="") if "13:" in text]
    word = action.strip("{").partition(":")[0]
    assert seen == [f"13:36: {word!r} wants needs: [{need}]{UNDECLARED}" for need in wanted]


def test_places_are_in_streams_only() -> None:
    tail = f"{TURNS}meanwhile: [{{when: {{in: seat, after: '1'}}, do: kill}}]\n"
    head = HEAD.replace("modes: [stream]\n", "") + NEEDS
    message = "only streams have places such as this one | narrow with modes: [stream]"
    assert problems(tail, head) == [f"13:20: {message}"]


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ("{user: Hello.}", []),
        ("{run: Again.}", []),
        ("{user: Hello.}, {run: Again.}", []),
        ("{user: Hello., run: Again.}", ["14:5: a message is one of user, run"]),
        ("{user: null}", ["14:5: a message is one of user, run"]),
    ],
)
def test_messages(entries: str, expected: list[str]) -> None:
    lines = "".join(f"  - {entry}}}\n" for entry in entries.replace("}", "").split(", {"))
    lines = lines.replace("- user", "- {user").replace("- run", "- {run")
    assert problems(TURNS + lines, HEAD + NEEDS) == expected


def test_a_conversation_that_goes_on_has_a_need() -> None:
    asked = [text for text in problems(TURNS + "  - {user: Hello.}\n", HEAD) if "user" in text]
    assert asked == [f"13:12: 'user' wants needs: [follow_up]{UNDECLARED}"]


def test_turns_do_not_begin_with_a_message() -> None:
    assert problems("turns: [{run: Hello.}, {say: Hi.}]\n", HEAD + NEEDS) == [
        "11:9: 'turns' begins with a message | the prompt begins the first run; turns answer it"
    ]


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        ("[completed, {any_of: [completed, failed]}]", []),
        ("completed", ["one outcome for 2 parts: the prompt and each user or run entry"]),
        ("[completed]", ["one outcome for 2 parts: the prompt and each user or run entry"]),
        (
            "[completed, completed, failed]",
            ["3 outcomes for 2 parts: the prompt and each user or run entry"],
        ),
    ],
)
def test_each_part_has_an_outcome(outcome: str, expected: list[str]) -> None:
    tail = f"{TURNS}  - {{run: Again.}}\nexpect: {{should: {{outcome: {outcome}}}}}\n"
    assert problems(tail, HEAD + NEEDS) == [f"15:28: {message}" for message in expected]


def test_one_run_has_one_outcome() -> None:
    tail = TURNS + "expect: {may: {outcome: [completed, failed]}}\n"
    message = "2 outcomes, and only the prompt begins a run"
    assert problems(tail, HEAD + NEEDS) == [f"14:25: {message}"]


def test_they_are_shown_in_their_place() -> None:
    tail = (
        f"{TURNS}"
        "  - {user: And now?}\n"
        "  - {say: Done.}\n"
        "  - {run: Again.}\n"
        "meanwhile:\n"
        "  - {when: seat.waiting, after: 2 hours, do: {approve: seat, args: {seat: 13}}}\n"
        "  - {when: [run.started.2, {in: seat, after: '1'}], do: [kill, {resume: 2}]}\n"
    )
    shown = show(scenario(tail, HEAD + NEEDS), "chat", "stream")
    kept = [line for line in shown.splitlines() if not line.startswith("  ")]
    assert [line.partition(" · ")[0] for line in kept] == [
        "request 1 expected: 1 user message, tools reserve, look, confirm",
        "turn 1",
        "request 2 expected: 2 results, for seat and view",
        "turn 2",
        "the user: And now?",
        "request 3 expected: the conversation, and 1 more user message",
        "turn 3",
        "another run: Again.",
        "otherwise",
        'meanwhile, at seat.waiting, after 2 hours: approve seat args {"seat":13}',
        "meanwhile, at run.started.2 and in seat after '1': kill, then resume 2",
    ]
