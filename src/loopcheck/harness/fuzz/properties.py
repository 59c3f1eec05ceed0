"""What holds for every loop, whatever the model says and however it gets there.

Each `check_` function takes a target (or a `Trial`) and a scenario (or one case of it), and raises
PropertyBroken with the scenario that shows it. Cases that the target does not declare are left
out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Final, TypeAlias

from loopcheck.harness.canonical import canonical
from loopcheck.harness.cases import CaseSpec, Death, delivered
from loopcheck.harness.deaths import complaint, with_death
from loopcheck.harness.fuzz import shown
from loopcheck.harness.fuzz.failure import Failure, PropertyBroken
from loopcheck.harness.fuzz.observed import Difference, Observed, observe
from loopcheck.harness.fuzz.trial import On, Ran, Trial, trial_of
from loopcheck.harness.fuzz.wanted import wanted
from loopcheck.harness.journal import Entry
from loopcheck.harness.results import Finding
from loopcheck.harness.scenario.model import AttemptModel, DeliveryModel, Expect, Scenario

What: TypeAlias = Scenario | CaseSpec
SAFETY: Final = ("execution.*", "effect.*", "approval.*", "cancel.*")
ENDS: Final = ("limits.*", "outcome.*", "hung")
# How many, and of which tool, is no other failure.
_COUNTED: Final = re.compile(r"(?:at (?:most|least) )?[0-9]+ (\w+?)s? of \S+")
RETRIED: Final = AttemptModel(fault="http", retry_after="1 ms")


def check_rules(target: On, scenario: What, *, checks: tuple[str, ...] = ("*",)) -> None:
    """No check whose id is among these (globs) has a finding under must."""
    trial = trial_of(target)
    for ran in trial.runs(scenario):
        _refuse(broken_rule(ran, checks))


def check_safety(target: On, scenario: What) -> None:
    """However the connection breaks: nothing runs that was not asked for whole, and nothing
    takes effect twice."""
    check_rules(target, scenario, checks=SAFETY)


def check_history(target: On, scenario: What) -> None:
    """Every request that the loop sends is valid, and continues the conversation."""
    check_rules(target, scenario, checks=("history.*",))


def check_results(target: On, scenario: What) -> None:
    """Every call is answered, under its own id and with its own result."""
    check_rules(target, scenario, checks=("correlation.*",))


def check_ends(target: On, scenario: What) -> None:
    """The loop comes to an end, within the limits that it was given, and says which."""
    check_rules(target, scenario, checks=ENDS)


def check_delivery(target: On, scenario: What, *deliveries: DeliveryModel) -> None:
    """The loop does the same under each of these deliveries as under the scenario's own: the
    same executions, order of writes, results by call, and outcome."""
    trial = trial_of(target)
    for spec in trial.specs(scenario):
        if spec.mode == "stream":
            for delivery in deliveries:
                _refuse(broken_delivery(trial, spec, delivery))


def check_portable(target: On, scenario: Scenario) -> None:
    """The loop does the same in every dialect and mode of the scenario that it speaks."""
    trial = trial_of(target)
    _refuse(broken_portability(trial, scenario))


def check_retries(
    target: On, scenario: What, *, turn: int = 1, fault: AttemptModel = RETRIED
) -> None:
    """Where the first request for this turn fails, nothing runs that would not have run without."""
    trial = trial_of(target)
    for spec in trial.specs(scenario):
        _refuse(broken_retry(trial, spec, turn, fault))


def check_repeatable(target: On, scenario: What) -> None:
    """The same case with the same seed gives the same canonical journal."""
    trial = trial_of(target)
    for spec in trial.specs(scenario):
        _refuse(broken_repetition(trial, spec))


def check_progress(target: On, scenario: What) -> None:
    """Where nothing goes wrong, each call that the model asks for runs once, and the run is
    completed; where the user gives up early, it is not. Other scenarios are passed over."""
    trial = trial_of(target)
    for spec in trial.specs(scenario):
        _refuse(broken_progress(trial, spec))


def check_deaths(target: On, scenario: What, *deaths: Death) -> None:
    """Wherever the process dies, the run that is resumed keeps every rule, and does nothing more
    often than the model asked for. Wants a `Trial` whose driver has a process to end."""
    trial = trial_of(target)
    for spec in trial.specs(scenario):
        for death in deaths:
            _refuse(broken_death(trial, spec, death))


def check_same_verdicts(target: On, other: On, scenario: What) -> None:
    """Both get the same verdict with the same findings: a target in process and in a worker."""
    first, second = trial_of(target), trial_of(other)
    for ran in first.runs(scenario):
        again = second.run(ran.spec)
        if again is not None and (mine := verdict(ran)) != (theirs := verdict(again)):
            difference = Difference("verdicts", mine, theirs)
            _refuse(_failure("worker.same-verdict", difference, again))


def _refuse(failure: Failure | None) -> None:
    if failure is not None:
        raise PropertyBroken(failure)


def verdict(ran: Ran) -> str:
    """The verdict with what was found, in words."""
    found = [f"{one.check} ({one.level})" for one in ran.result.findings]
    return ", ".join([ran.result.verdict, *sorted(found)])


def broken_rule(ran: Ran, checks: tuple[str, ...] = ("*",)) -> Failure | None:
    """The primary finding under must among these checks, or that the case could not be judged."""
    result = ran.result
    if result.verdict in ("target broken", "harness error"):
        first = (result.reason or "").partition(":")[0]
        difference = Difference(first, "a case that can be judged", result.reason or "")
        return _failure(result.verdict.replace(" ", "."), difference, ran)
    for one in result.findings:
        if one.level == "must" and any(fnmatchcase(one.check, pattern) for pattern in checks):
            difference = Difference(_kind(one, ran.entries), one.expected, one.seen)
            return _failure(one.check, difference, ran)
    return None


def broken_delivery(trial: Trial, spec: CaseSpec, delivery: DeliveryModel) -> Failure | None:
    """What the loop does otherwise when the responses of this case are delivered so."""
    other = delivered(spec, delivery)
    both = _both(trial, spec, other)
    if both is None:
        return None
    (_, before), (ran, after) = both
    difference = before.difference(after)
    if difference is None:
        return None
    return _failure("delivery.same", difference, ran, shown.expecting(other, before))


def broken_portability(trial: Trial, scenario: Scenario) -> Failure | None:
    """What the loop does otherwise in another dialect or mode."""
    first: Observed | None = None
    for ran in trial.runs(scenario):
        seen = observe(ran, trial.card)
        first = seen if first is None else first
        difference = first.difference(seen, loosely=True)
        if difference is not None:
            narrowed = shown.expecting(shown.narrowed(ran.spec), first)
            return _failure("dialects.same", difference, ran, narrowed)
    return None


def broken_retry(
    trial: Trial, spec: CaseSpec, turn: int, fault: AttemptModel = RETRIED
) -> Failure | None:
    """What runs beyond what would have run, when the first request for this turn fails."""
    if not 1 <= turn <= len(spec.scenario.turns):
        return None
    other = shown.retried(spec, turn, fault)
    both = _both(trial, spec, other)
    if both is None:
        return None
    (_, before), (ran, after) = both
    difference = after.more_than(before)
    if difference is not None:
        return _failure("retry.nothing-again", difference, ran)
    return broken_rule(ran, SAFETY)


def broken_repetition(trial: Trial, spec: CaseSpec) -> Failure | None:
    """What is otherwise in the canonical journal when the case is run once more."""
    first, second = trial.run(spec), trial.run(spec)
    if first is None or second is None:
        return None
    for mine, theirs in _pairs(canonical(first.entries), canonical(second.entries)):
        if mine != theirs:
            kind, expected, seen = _first_field(mine, theirs)
            return _failure("repeat.same-journal", Difference(kind, expected, seen), second)
    return None


def broken_progress(trial: Trial, spec: CaseSpec) -> Failure | None:
    """What does not come of a script although nothing goes wrong."""
    expect = wanted(spec.scenario)
    if expect is None:
        return None
    scenario = spec.scenario.model_copy(update={"expect": expect})
    return _broken_with_its_words(trial, replace(spec, scenario=scenario))


def broken_death(trial: Trial, spec: CaseSpec, death: Death) -> Failure | None:
    """What goes wrong when the process dies there and the run is resumed."""
    if complaint(death.point, spec) is not None:
        return None
    return _broken_with_its_words(trial, with_death(spec, death))


def _broken_with_its_words(trial: Trial, spec: CaseSpec) -> Failure | None:
    """What is broken of this case; it is shown without expectations where these say nothing."""
    ran = trial.run(spec)
    failure = None if ran is None else broken_rule(ran)
    if failure is None or failure.check == "scenario.expects":
        return failure
    bare = failure.shown.scenario.model_copy(update={"expect": Expect()})
    return replace(failure, shown=replace(failure.shown, scenario=bare))


_Side: TypeAlias = tuple[Ran, Observed]


def _both(trial: Trial, spec: CaseSpec, other: CaseSpec) -> tuple[_Side, _Side] | None:
    ran, again = trial.run(spec), trial.run(other)
    if ran is None or again is None:
        return None
    return (ran, observe(ran, trial.card)), (again, observe(again, trial.card))


def _pairs(one: tuple[Entry, ...], other: tuple[Entry, ...]) -> Iterator[tuple[Entry, Entry]]:
    missing: Entry = {"kind": "nothing"}
    for place in range(max(len(one), len(other))):
        yield (
            one[place] if place < len(one) else missing,
            other[place] if place < len(other) else missing,
        )


def _first_field(one: Entry, other: Entry) -> tuple[str, str, str]:
    if one["kind"] != other["kind"]:
        return "order of entries", str(one["kind"]), str(other["kind"])
    keys = dict.fromkeys((*one, *other))
    key = next(key for key in keys if one.get(key) != other.get(key))
    return f"{one['kind']}.{key}", str(one.get(key)), str(other.get(key))


def _kind(finding: Finding, entries: tuple[Entry, ...]) -> str:
    """What was first seen to be wrong, in words that are the same wherever it happens."""
    first = entries[finding.entries[0] - 1] if finding.entries else {}
    if first.get("kind") == "refused":
        return f"{finding.sentence}: {first.get('rule') or first.get('param') or 'form'}"
    if finding.check == "scenario.expects":
        return _COUNTED.sub(r"\1s", finding.expected.partition(":")[0])
    return finding.sentence


def _failure(check: str, difference: Difference, ran: Ran, spec: CaseSpec | None = None) -> Failure:
    return Failure(
        check=check,
        kind=difference.kind,
        expected=difference.expected,
        seen=difference.seen,
        shown=shown.narrowed(ran.spec) if spec is None else spec,
        entries=ran.entries,
    )
