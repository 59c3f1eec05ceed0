"""LiteLLM as an adapter: its messages are believed, and its requests are repeated by the loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from loopcheck.harness.cases import expand
from loopcheck.harness.inprocess import InProcess
from loopcheck.harness.results import CaseResult
from loopcheck.harness.runner import RunOptions, run_case
from loopcheck.harness.scenario.load import load_builtin
from loopcheck.harness.stage import Stage

SPECS = {spec.id: spec for spec in expand(load_builtin())}
WAYS = tuple(
    f"{dialect}-{mode}"
    for dialect in ("chat", "responses", "messages")
    for mode in ("whole", "stream")
)
# What LiteLLM warns of and leaves unclosed is its own affair.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def tried() -> Iterator[Callable[[str], CaseResult]]:
    pytest.importorskip("litellm", reason="litellm is not installed: loopcheck[litellm]")
    from loopcheck.harness.targets.litellm import litellm

    with Stage() as stage, InProcess(litellm) as driver:
        card = litellm.card()
        yield lambda case: run_case(driver, card, SPECS[case], stage, RunOptions())


def seen(result: CaseResult) -> tuple[str, str | None, str]:
    return result.verdict, result.outcome, result.summary


@pytest.mark.parametrize("way", WAYS)
def test_calls_are_carried_out(tried: Callable[[str], CaseResult], way: str) -> None:
    result = tried(f"basics/lookup-then-reserve[{way}]")
    assert seen(result) == (
        "pass",
        "completed/final_answer",
        "3 requests, 2 executions, 1 effect",
    )
    assert result.findings == ()


@pytest.mark.parametrize("way", WAYS)
def test_requests_are_repeated_by_the_loop_alike_in_each_dialect(
    tried: Callable[[str], CaseResult], way: str
) -> None:
    """One request for the call, and three for the answer after it."""
    assert seen(tried(f"transport/http-429-529-mid-loop[{way}]")) == (
        "pass",
        "completed/final_answer",
        "4 requests, 1 execution, 1 effect",
    )
    # Two attempts more and no further; LiteLLM on its own would make them three times each.
    assert seen(tried(f"transport/http-500-outlasts-retries[{way}]")) == (
        "pass",
        "failed/provider_failure",
        "4 requests, 1 execution, 1 effect",
    )


@pytest.mark.parametrize("way", [way for way in WAYS if way.endswith("stream")])
def test_a_stream_that_breaks_off_is_asked_for_again(
    tried: Callable[[str], CaseResult], way: str
) -> None:
    result = tried(f"transport/reset-mid-args[{way}]")
    assert (result.verdict, result.outcome) == ("pass", "completed/final_answer")


@pytest.mark.parametrize(
    ("case", "outcome"),
    [
        ("truncation/trunc-length-partial-args[chat-whole]", "failed/incomplete_response"),
        ("truncation/content-filter-with-call[chat-whole]", "refused/incomplete_response"),
        ("truncation/refusal-with-text[chat-whole]", "refused/refused"),
        ("truncation/empty-final-turn[chat-whole]", "failed/incomplete_response"),
        ("transport/empty-stream[chat-stream]", "failed/incomplete_response"),
        ("hosted/custom-tool-call-type[chat-whole]", "failed/provider_failure"),
    ],
)
def test_ends(tried: Callable[[str], CaseResult], case: str, outcome: str) -> None:
    result = tried(case)
    assert (result.verdict, result.outcome) == ("pass", outcome)
