"""Known failures: the user's loopcheck-expected.yaml, and what it makes of a run.

An entry answers findings of one check in the cases that its glob names: `bug` (will be mended),
`policy` (on purpose) or `flaky`, always with a reason. A failing case all of whose must-findings
are answered is no failure. A case that a bug or policy entry names, and that ran and no longer
shows the finding, makes the entry stale: it must be narrowed or go. After its day (`until`) an
entry answers nothing.

An entry about a case answers findings of its deaths, too; only one whose glob names deaths is
made stale by them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Final, Literal, TypeAlias

from loopcheck.harness.config import find as settings
from loopcheck.harness.naming import ANY_CHECK, hinted, matches
from loopcheck.harness.results import (
    CaseResult,
    Expectation,
    Finding,
    TargetCard,
    TargetResult,
    Verdict,
)
from loopcheck.harness.scenario.errors import Problem, ScenarioError, did_you_mean
from loopcheck.harness.scenario.yaml_source import Source, read

Kind: TypeAlias = Literal["bug", "policy", "flaky"]

FORMAT: Final = 1
KEYS: Final = ("case", "check", "kind", "reason", "issue", "until", "when", "target")
# Where a case is answered by entries of several kinds, the one that promises most names it.
_VERDICTS: Final[Mapping[Kind, Verdict]] = {"bug": "expected", "policy": "policy", "flaky": "flaky"}
_JUDGED: Final = frozenset({"pass", "fail", "expected", "policy", "flaky", "stale"})


class ExpectedError(Exception):
    """A list of known failures that cannot be used. Says file, line, field and remedy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One known failure. `check` None answers any check; `file` and `line` say where it stands."""

    case: str
    kind: Kind
    reason: str
    check: str | None = None
    issue: str | None = None
    until: date | None = None
    when: Mapping[str, str] = field(default_factory=dict)
    target: str | None = None
    file: str = ""
    line: int = 0

    def concerns(self, card: TargetCard, case: CaseResult) -> bool:
        """Whether it speaks of this case of this target with these package versions."""
        return (
            self.target in (None, card.name)
            and (matches(self.case, case.case) or matches(self.case, case.undisturbed))
            and all(_holds(card.packages.get(name), spec) for name, spec in self.when.items())
        )

    def names(self, finding: Finding) -> bool:
        return finding.level != "may" and self.check in (None, finding.check)

    def expired(self, today: date) -> bool:
        return self.until is not None and today > self.until

    def expectation(self) -> Expectation:
        """The entry as reports show it."""
        return Expectation(
            kind=self.kind, check=self.check or ANY_CHECK, reason=self.reason, issue=self.issue
        )

    def __str__(self) -> str:
        return f"listed as {self.kind} ({self.check or 'any check'})"


Expected: TypeAlias = tuple[Entry, ...]


def _holds(version: str | None, specifier: str) -> bool:
    from packaging.specifiers import SpecifierSet
    from packaging.version import InvalidVersion, Version

    try:
        return version is not None and SpecifierSet(specifier).contains(
            Version(version), prereleases=True
        )
    except InvalidVersion:
        return False


def load(path: Path) -> Expected:
    """The entries of a list of known failures. Raises ExpectedError."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise ExpectedError(f"{path}: cannot be read: {error.strerror or error}") from None
    return parse(text, str(path))


def parse(text: bytes | str, file: str) -> Expected:
    """The entries in this text; `file` is its name in errors. Raises ExpectedError."""
    try:
        source = read(text.encode() if isinstance(text, str) else text, file)
        return _Reader(source).entries()
    except ScenarioError as error:
        raise ExpectedError("\n".join(_line(problem) for problem in error.problems)) from None


def _line(problem: Problem) -> str:
    where = f"{problem.file}:{problem.line}:{problem.column}"
    return hinted(f"{where}: {problem.message}", problem.hint)


Where: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class _Reader:
    source: Source

    def _wrong(self, where: Where, message: str, hint: str = "", *, key: bool = False) -> Exception:
        return ScenarioError([self.source.problem(where, message, hint, key=key)])

    def entries(self) -> Expected:
        data = self.source.data
        self._known(data, ("format", "entries"), ())
        if data.get("format") != FORMAT:
            found = repr(data["format"]) if "format" in data else "missing"
            raise self._wrong(
                ("format",),
                f"'format' is {found}; this version reads {FORMAT}",
                f"format: {FORMAT}",
            )
        listed = data.get("entries")
        if listed is None:
            return ()
        if not isinstance(listed, list):
            raise self._wrong(("entries",), "'entries' must be a list")
        return tuple(self._entry(item, ("entries", n)) for n, item in enumerate(listed))

    def _known(self, data: Mapping[str, object], keys: Sequence[str], where: Where) -> None:
        for key in data:
            if key not in keys:
                hint = did_you_mean(key, keys)
                raise self._wrong((*where, key), f"unknown key {key!r}", hint, key=True)

    def _entry(self, item: object, where: Where) -> Entry:
        if not isinstance(item, dict):
            raise self._wrong(where, "an entry must be a mapping", "- case: …")
        self._known(item, KEYS, where)
        kind = self._kind(item, where)
        return Entry(
            case=self._required(item, "case", where),
            kind=kind,
            reason=self._required(item, "reason", where),
            check=self._check(item, kind, where),
            issue=self._optional(item, "issue", where),
            until=self._until(item, where),
            when=self._when(item, where),
            target=self._optional(item, "target", where),
            file=self.source.file,
            line=self.source.values[where][0],
        )

    def _optional(self, item: Mapping[str, object], key: str, where: Where) -> str | None:
        value = item.get(key)
        if key not in item:
            return None
        if not isinstance(value, str) or not value.strip():
            raise self._wrong((*where, key), f"{key!r} must be text, not {value!r}")
        return value

    def _required(self, item: Mapping[str, object], key: str, where: Where) -> str:
        value = self._optional(item, key, where)
        if value is None:
            raise self._wrong(where, f"the entry has no {key!r}; every entry needs one")
        return value

    def _kind(self, item: Mapping[str, object], where: Where) -> Kind:
        text = self._required(item, "kind", where)
        for kind in _VERDICTS:
            if text == kind:
                return kind
        raise self._wrong((*where, "kind"), f"unknown kind {text!r}", did_you_mean(text, _VERDICTS))

    def _check(self, item: Mapping[str, object], kind: Kind, where: Where) -> str | None:
        # A flaky case may fail anywhere; what is called a bug or a policy must be named.
        if kind == "flaky":
            return self._optional(item, "check", where)
        return self._required(item, "check", where)

    def _until(self, item: Mapping[str, object], where: Where) -> date | None:
        text = self._optional(item, "until", where)
        try:
            return date.fromisoformat(text) if text is not None else None
        except ValueError:
            message = f"'until' must be a day such as 2027-03-31, not {text!r}"
            raise self._wrong((*where, "until"), message) from None

    def _when(self, item: Mapping[str, object], where: Where) -> dict[str, str]:
        value = item.get("when", {})
        if not isinstance(value, dict):
            message = "'when' must be a mapping of package to versions"
            raise self._wrong((*where, "when"), message, 'when: {openai: "<3.50"}')
        return {name: self._versions(value, name, (*where, "when")) for name in value}

    def _versions(self, value: Mapping[str, object], name: str, where: Where) -> str:
        from packaging.specifiers import InvalidSpecifier, SpecifierSet

        text = self._required(value, name, where)
        try:
            SpecifierSet(text)
        except InvalidSpecifier:
            message = f"'when' of {name!r} must be a version specifier, not {text!r}"
            raise self._wrong((*where, name), message, 'such as "<2.14" or ">=3,<4"') from None
        return text


def find(root: Path) -> Expected:
    """The list that holds for the project at `root`; empty where it has none."""
    config = settings(root)
    if config.expected is None and not config.expected_file.exists():
        return ()
    return load(config.expected_file)


def apply(case: CaseResult, listed: Expected, card: TargetCard, *, today: date) -> CaseResult:
    """The case with the entries that answer it, and the verdict that they leave."""
    mine = [entry for entry in listed if entry.concerns(card, case)]
    outdated = [entry for entry in mine if _is_outdated(entry, case)]
    if case.verdict in ("pass", "stale") and outdated:
        shown = tuple(entry.expectation() for entry in outdated)
        return case.model_copy(update={"verdict": "stale", "expectations": shown})
    used = [entry for entry in mine if _speaks(entry, case)]
    valid = [entry for entry in used if not entry.expired(today)]
    update: dict[str, object] = {"expectations": tuple(entry.expectation() for entry in valid)}
    if case.verdict == "fail" and _all_answered(case, valid):
        musts = [entry for entry in valid if _speaks(entry, case, must_only=True)]
        update["verdict"] = _verdict(musts)
        update["reason"] = "; ".join(dict.fromkeys(entry.reason for entry in musts))
    elif case.verdict == "fail" and len(valid) < len(used):
        late = [entry for entry in used if entry.expired(today)]
        update["reason"] = "; ".join(
            f"{entry} until {entry.until}, which is past" for entry in late
        )
    return case.model_copy(update=update)


def apply_to_target(result: TargetResult, listed: Expected, *, today: date) -> TargetResult:
    """Every case of the target with its entries, and what of the list is stale."""
    stale = dict.fromkeys(
        f"{case.case}: {entry} and no longer fails ({entry.file}:{entry.line})"
        for case in result.cases
        for entry in listed
        if entry.concerns(result.card, case) and _is_outdated(entry, case)
    )
    cases = tuple(apply(case, listed, result.card, today=today) for case in result.cases)
    return result.model_copy(update={"cases": cases, "stale": tuple(stale)})


@dataclass(frozen=True, slots=True)
class Usage:
    """What the cases of a run say of one entry: which still need it, and which no longer do."""

    entry: Entry
    needed_by: tuple[str, ...]
    outdated_in: tuple[str, ...]


def usage(results: Iterable[TargetResult], listed: Expected) -> list[Usage]:
    """The entries that some case of this run shows to be outdated."""
    cases = [(result.card, case) for result in results for case in result.cases]
    found = []
    for entry in listed:
        mine = [case for card, case in cases if entry.concerns(card, case)]
        outdated = tuple(case.case for case in mine if _is_outdated(entry, case))
        needed = tuple(case.case for case in mine if _speaks(entry, case))
        if outdated:
            found.append(Usage(entry, needed, outdated))
    return found


def _is_outdated(entry: Entry, case: CaseResult) -> bool:
    """Whether the case ran, its check could answer, and nothing is left of the known failure."""
    unanswered = any(
        check.check == entry.check and check.status not in ("pass", "fail") for check in case.checks
    )
    judged = case.verdict in _JUDGED and not unanswered
    if case.is_death and "+" not in entry.case:
        return False
    return entry.kind != "flaky" and judged and not _speaks(entry, case)


def _speaks(entry: Entry, case: CaseResult, *, must_only: bool = False) -> bool:
    named = [f for f in case.findings if entry.names(f) and (f.level == "must" or not must_only)]
    # A case can fail without a finding, such as by hanging; only "any check" speaks of that.
    return bool(named) or (entry.check is None and case.verdict == "fail")


def _all_answered(case: CaseResult, valid: Sequence[Entry]) -> bool:
    musts = [finding for finding in case.findings if finding.level == "must"]
    if not musts:
        return any(entry.check is None for entry in valid)
    return all(any(entry.names(finding) for entry in valid) for finding in musts)


def _verdict(entries: Sequence[Entry]) -> Verdict:
    kinds = {entry.kind for entry in entries}
    return next(verdict for kind, verdict in _VERDICTS.items() if kind in kinds)
