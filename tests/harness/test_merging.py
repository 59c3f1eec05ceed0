"""The shards of a run, joined, are the run; what is no run is refused by file and field."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from result_cases import CARD, finding, judged

from loopcheck.harness.exit_code import exit_code
from loopcheck.harness.footer import footer
from loopcheck.harness.merging import MergeError, Named, merge
from loopcheck.harness.results import (
    CaseResult,
    Header,
    Part,
    Report,
    TargetCard,
    TargetResult,
    Verdict,
)
from loopcheck.harness.shards import number_of

CHAT = CARD.model_copy(update={"dialects": ("chat",), "modes": ("whole",)})
HEADER = Header(
    loopcheck="0.1.0",
    suite="2026.1",
    seed=0,
    python="3.11.7",
    platform="p",
    started="2026-11-30T12:00:00+00:00",
    packages={"openai": "3.57.0"},
)
VERDICTS: tuple[Verdict, ...] = (
    "pass",
    "fail",
    "expected",
    "policy",
    "flaky",
    "stale",
    "not exercised",
    "not declared",
    "target broken",
    "harness error",
)


def report(
    *targets: TargetResult, part: Part | None = None, said: Mapping[str, object] | None = None
) -> Report:
    """A report whose header has, beside the usual, what is said."""
    code = exit_code(targets, is_part=part is not None)
    return Report(
        header=HEADER.model_copy(update={**(said or {}), "shard": part}),
        targets=targets,
        footer=footer(targets, exit_code=code, seconds=0),
    )


def result(*cases: CaseResult, name: str = "booking", broken: str | None = None) -> TargetResult:
    card = CHAT.model_copy(update={"name": name})
    stale = [f"{case.case}: listed" for case in cases if case.verdict == "stale"]
    return TargetResult(card=card, cases=cases, broken=broken, stale=tuple(stale))


def shards(whole: Report, of: int, *, plan: str = "p") -> list[Named]:
    """The reports that the shards of this run would have written."""

    def part(target: TargetResult, number: int) -> TargetResult:
        mine = [case for case in target.cases if number_of(case.undisturbed, of) == number]
        made = result(*mine, name=target.card.name, broken=target.broken)
        return made

    return [
        Named(
            f"{number}.json",
            report(
                *(part(target, number) for target in whole.targets),
                part=Part(numbers=(number,), of=of, plan=plan),
            ),
        )
        for number in range(1, of + 1)
    ]


@st.composite
def runs(draw: st.DrawFn) -> Report:
    """Runs of a few targets, each case with a verdict and some with deaths."""
    targets = []
    for name in draw(st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True)):
        cases = []
        for number in range(draw(st.integers(0, 12))):
            case = f"once/s{number:02}[chat-whole]"
            deaths = draw(st.sampled_from([[], ["+death@b.sent", "+death@a.sent"]]))
            for suffix in ["", *deaths]:
                verdict = draw(st.sampled_from(VERDICTS))
                cases.append(judged(case + suffix, verdict=verdict))
        targets.append(result(*cases, name=name))
    return report(*targets)


@given(runs(), st.integers(1, 7), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_the_shards_of_a_run_are_the_run(whole: Report, of: int, chance: random.Random) -> None:
    parts = shards(whole, of)
    chance.shuffle(parts)
    assert merge(parts) == whole


@given(runs(), st.integers(2, 5), st.data())
@settings(max_examples=40)
def test_what_was_joined_in_parts_is_joined_to_the_whole(
    whole: Report, of: int, data: st.DataObject
) -> None:
    parts = shards(whole, of)
    cut = data.draw(st.integers(1, of - 1))
    first = merge(parts[:cut], partial=True)
    assert first.header.shard == Part(numbers=tuple(range(1, cut + 1)), of=of, plan="p")
    assert first.footer.cases == sum(part.report.footer.cases for part in parts[:cut])
    assert merge([*parts[cut:], Named("first.json", first)]) == whole


def test_a_shard_that_is_missing_is_named() -> None:
    one, _, three, _ = shards(report(result(judged("a[chat-whole]"))), 4)
    with pytest.raises(MergeError) as caught:
        merge([three, one])
    assert str(caught.value) == (
        "target 'booking': shard 2, 4 of 4 is missing beside 1.json, 3.json; give its report too, "
        "or join what there is with --partial"
    )


def test_that_nothing_ran_is_said_of_the_whole_alone() -> None:
    parts = shards(
        report(result(judged("a[chat-whole]", verdict="not declared", status="not declared"))), 2
    )
    assert [part.report.footer.exit_code for part in parts] == [0, 0]
    assert merge(parts[:1], partial=True).footer.exit_code == 0
    assert merge(parts).footer.exit_code == 5


def test_targets_that_were_tried_elsewhere_stand_beside_each_other() -> None:
    """A CI job for each target and shard: every report has one target and its own packages."""
    a, b = (report(result(*cases(8), name=name)) for name in "ab")
    parts = [*shards(b, 2), *shards(a, 2)]
    whole = merge([Named(f"{i}.json", one.report) for i, one in enumerate(parts)])
    assert [target.card.name for target in whole.targets] == ["a", "b"]
    assert [len(target.cases) for target in whole.targets] == [8, 8]
    assert whole.header.shard is None


def test_a_target_that_was_tried_whole_stands_beside_one_in_shards() -> None:
    parts = shards(report(result(*cases(8))), 2)
    alone = Named("a.json", report(result(*cases(3), name="a")))
    assert merge([alone, *parts]).footer.cases == 11


def test_machines_and_versions_are_all_told() -> None:
    one = report(
        result(name="a"), said={"platform": "x", "packages": {"httpx": "1", "openai": "3.57.0"}}
    )
    other = report(
        result(name="b"),
        said={"platform": "y", "packages": {"openai": "3.56.0"}, "started": "2026"},
    )
    header = merge([Named("a.json", one), Named("b.json", other)]).header
    assert header.platform == "x, y"
    assert header.packages == {"httpx": "1", "openai": "3.56.0, 3.57.0"}
    assert header.started == "2026"


def test_a_target_that_broke_in_one_shard_is_broken_and_keeps_its_cases() -> None:
    one, two = shards(report(result(*cases(8))), 2)
    nothing = TargetResult(card=TargetCard(name="booking"), broken="cannot be imported")
    broken = Named("2.json", report(nothing, part=two.report.header.shard))
    whole = merge([broken, one])
    (target,) = whole.targets
    assert (target.broken, target.card) == ("cannot be imported", CHAT)
    assert target.cases == one.report.targets[0].cases
    assert whole.footer.exit_code == 4


def test_a_report_given_twice_counts_once() -> None:
    whole = report(result(*cases(3)))
    whole = whole.model_copy(update={"footer": whole.footer.model_copy(update={"seconds": 2.0})})
    assert merge([Named("a.json", whole), Named("b.json", whole)]) == whole


def test_a_case_that_was_run_again_and_did_the_same_counts_once() -> None:
    one, again = judged("a[chat-whole]"), judged("a[chat-whole]")
    again = again.model_copy(update={"seconds": 3.0, "journal": "elsewhere.jsonl"})
    reports = [Named("1.json", report(result(one))), Named("2.json", report(result(again)))]
    assert merge(reports).footer.cases == 1


def cases(many: int) -> list[CaseResult]:
    return [judged(f"a/{number}[chat-whole]") for number in range(many)]


def packed(**header: object) -> Sequence[Named]:
    """Two reports, of which the second has another header."""
    return Named("A.json", report(result())), Named("B.json", report(result(), said=header))


def carded(**card: object) -> Sequence[Named]:
    """Two reports, of which the second has another card."""
    (one,) = report(result()).targets
    other = one.model_copy(update={"card": one.card.model_copy(update=card)})
    return Named("A.json", report(one)), Named("B.json", report(other))


def divided(of: int, plan: str) -> Sequence[Named]:
    """A shard of two, and one of another run."""
    whole = report(result(*cases(4)))
    other = Named("B.json", shards(whole, of, plan=plan)[1].report)
    return shards(whole, 2)[0], other


def moved() -> Sequence[Named]:
    """A report into which somebody copied a case of another shard."""
    one, two = shards(report(result(*cases(6))), 2)
    stray = two.report.targets[0].cases[0]
    changed = report(result(stray, *one.report.targets[0].cases), part=one.report.header.shard)
    return Named("1.json", changed), two


def contradicting() -> Sequence[Named]:
    good, bad = judged("a[chat-whole]"), judged("a[chat-whole]", finding("effect.once"))
    return Named("A.json", report(result(good))), Named("B.json", report(result(bad)))


@pytest.mark.parametrize(
    ("reports", "message"),
    [
        (
            packed(suite="2025.4"),
            "B.json: header.suite is '2025.4', and '2026.1' in A.json; join reports of one suite",
        ),
        (packed(seed=7), "B.json: header.seed is 7, and 0 in A.json; join reports of one seed"),
        (
            packed(lenient=("C1",)),
            "B.json: header.lenient is ['C1'], and absent in A.json; join runs that left out the "
            "same request rules",
        ),
        (
            packed(loopcheck="0.2.0"),
            "B.json: header.loopcheck is '0.2.0', and '0.1.0' in A.json; checks may differ; run "
            "all parts with one version",
        ),
        (
            packed(packages={"openai": "4.0.0"}),
            "B.json: header.packages.openai is '4.0.0', and '3.57.0' in A.json; run all shards "
            "with the same versions",
        ),
        (
            carded(packages={**CHAT.packages, "openai": "4.0.0"}),
            "B.json: targets.0.card.packages.openai is '4.0.0', and '3.57.0' in A.json; 'booking' "
            "names one target, the same in all reports",
        ),
        (
            carded(can=("limits",)),
            "B.json: targets.0.card.can is ['limits'], and absent in A.json; 'booking' names one "
            "target, the same in all reports",
        ),
        (
            divided(3, "p"),
            "B.json: header.shard.of is 3, and 2 in 1.json; join shards of one division",
        ),
        (
            divided(2, "q"),
            "B.json: header.shard.plan is not that of 1.json: the two were to run different "
            "cases; run all shards with the same patterns, options and scenarios",
        ),
        (
            moved(),
            "1.json: targets.0.cases.0.case is 'a/0[chat-whole]', which belongs to shard 2/2 and "
            "not to 1/2: changed by hand, or made by another version; take the file as the run "
            "wrote it",
        ),
        (
            contradicting(),
            "B.json: targets.0.cases.0.verdict is 'fail', and 'pass' in A.json; a[chat-whole] has "
            "two results; leave out the report that does not count",
        ),
    ],
)
def test_what_is_no_part_of_the_run_is_refused_by_file_and_field(
    reports: Sequence[Named], message: str
) -> None:
    with pytest.raises(MergeError) as caught:
        merge(reports)
    assert str(caught.value) == message


def test_one_name_with_two_cards_in_one_report_is_refused() -> None:
    one = result()
    other = one.model_copy(update={"card": one.card.model_copy(update={"version": "2"})})
    with pytest.raises(MergeError, match=r"A\.json: targets\.1\.card\.version is '2', and absent"):
        merge([Named("A.json", report(one, other))])
