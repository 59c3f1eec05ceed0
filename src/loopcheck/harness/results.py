"""The results of a run, as data. A leaf: reports are made from this module and nothing else."""

from __future__ import annotations

from typing import Final, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

REPORT_FORMAT: Final = 1

Level: TypeAlias = Literal["must", "should", "may"]
Status: TypeAlias = Literal["pass", "fail", "not observable", "not exercised", "not declared"]
Verdict: TypeAlias = Literal[
    "pass",
    "fail",
    "expected",
    "policy",
    "flaky",
    "stale",
    "not exercised",
    "not declared",
    "unscored",
    "target broken",
    "harness error",
]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Finding(_Model):
    """One broken rule, with the journal entries that prove it."""

    check: str
    level: Level
    sentence: str = Field(description="the requirement that was broken")
    expected: str
    seen: str
    entries: tuple[int, ...] = Field(
        description="journal entries that prove it, first mismatch first"
    )
    why: str | None = Field(default=None, description="likely cause, where one is known")


class CheckResult(_Model):
    """What one check says of one case."""

    check: str
    status: Status
    reason: str | None = Field(default=None, description="for every status but pass and fail")
    findings: tuple[Finding, ...] = ()


class Expectation(_Model):
    """The entry of the user's list of known failures that a case matched."""

    kind: Literal["bug", "policy", "flaky"]
    check: str
    reason: str
    issue: str | None = None


class CaseResult(_Model):
    """One judged case: a scenario in one dialect and mode."""

    case: str = Field(
        description="scenario[dialect-mode], and +death@point where its process was killed"
    )
    scenario: str
    title: str
    rule: str
    grounds: tuple[str, ...] = ()
    dialect: str
    mode: str
    verdict: Verdict
    reason: str | None = None
    checks: tuple[CheckResult, ...] = ()
    findings: tuple[Finding, ...] = Field(
        default=(),
        description="primary finding first; the others follow from it or stand beside it",
    )
    expectations: tuple[Expectation, ...] = ()
    outcome: str | None = Field(default=None, description="state/reason")
    summary: str = Field(default="", description="requests, executions and effects in one line")
    seconds: float = 0.0
    lines: tuple[str, ...] = Field(
        default=(), description="the journal as one short line an entry, prefixed by its number"
    )
    frames: tuple[str, ...] = Field(
        default=(), description="the last frames of the response that the first finding is about"
    )
    journal: str | None = Field(default=None, description="path of the journal file")

    @property
    def undisturbed(self) -> str:
        """The id of the case as it is when no process dies."""
        case, bracket, _ = self.case.partition("]+")
        return f"{case}]" if bracket else case

    @property
    def is_death(self) -> bool:
        """Whether its process is killed beyond what the scenario itself does."""
        return self.case != self.undisturbed


class TargetCard(_Model):
    """Who was on trial."""

    name: str
    version: str | None = None
    language: str = "python"
    runtime: str = ""
    packages: dict[str, str] = Field(default_factory=dict)
    dialects: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    can: tuple[str, ...] = ()
    limit_unit: str = Field(default="rounds", description="what its limit on rounds counts")


class TargetResult(_Model):
    """All cases of one target."""

    card: TargetCard
    broken: str | None = Field(default=None, description="why it could not be put on trial")
    smoke: CaseResult | None = None
    cases: tuple[CaseResult, ...] = ()
    stale: tuple[str, ...] = Field(default=(), description="expectations that no longer fail")


class Part(_Model):
    """Which shards of a divided run a report holds."""

    numbers: tuple[int, ...] = Field(
        description="1 to `of`; one, unless reports of shards were merged and others were missing"
    )
    of: int = Field(ge=1)
    plan: str = Field(description="digest of what was to be run, the same in all shards of a run")

    @model_validator(mode="after")
    def _are_shards(self) -> Self:
        if any(not 1 <= number <= self.of for number in self.numbers):
            raise ValueError(f"of {self.of} shards there are 1 to {self.of}")
        if list(self.numbers) != sorted(set(self.numbers)):
            raise ValueError("each shard is named once, in order")
        return self

    def __str__(self) -> str:
        return f"{', '.join(map(str, self.numbers)) or 'none'}/{self.of}"


class Header(_Model):
    """What was tested, with what."""

    format: int = REPORT_FORMAT
    loopcheck: str
    suite: str
    seed: int
    lenient: tuple[str, ...] = Field(default=(), description="request rules that were left out")
    shard: Part | None = Field(
        default=None, description="which part of a run this is; absent where it is the whole"
    )
    python: str
    platform: str
    started: str = Field(description="RFC 3339")
    packages: dict[str, str] = Field(default_factory=dict)


class Footer(_Model):
    """The counts. A report without it is a truncated run."""

    targets: int
    cases: int
    verdicts: dict[str, int]
    exit_code: int
    seconds: float


class Report(_Model):
    """One run, whole: the source of every rendering."""

    header: Header
    targets: tuple[TargetResult, ...]
    footer: Footer
