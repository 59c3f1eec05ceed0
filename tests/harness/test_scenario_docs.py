from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel

from loopcheck.fake_providers.quirks.document import document
from loopcheck.fake_providers.script import ErrorForm, FaultKind
from loopcheck.harness.scenario import control_model, expectations, model
from loopcheck.harness.scenario.load import load_text
from loopcheck.harness.target import CAPABILITIES

DOCS = Path(__file__).parents[2] / "docs"
QUIRKS_PAGE = (DOCS / "quirks.md").read_text(encoding="utf-8")
WALK_THROUGH = (DOCS / "writing-a-scenario.md").read_text(encoding="utf-8")
FORMAT = (DOCS / "format.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```", WALK_THROUGH, re.DOTALL)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_every_example_is_a_right_scenario(number: int) -> None:
    loaded = load_text(EXAMPLES[number].encode(), file="docs", id=f"docs/{number}")

    assert loaded.turns


def test_the_walk_through_has_its_examples() -> None:
    assert len(EXAMPLES) == 5


@pytest.mark.parametrize(
    "described",
    [
        model.Scenario,
        model.ToolModel,
        model.TurnModel,
        model.CallModel,
        model.HostedResultModel,
        model.ItemModel,
        model.AttemptModel,
        model.PauseModel,
        model.PlaceModel,
        model.DeliveryModel,
        model.LimitsModel,
        model.RulesModel,
        model.ExpectLevel,
        model.IfModel,
        model.LaneIfModel,
        model.LaneModel,
        expectations.HistoryModel,
        model.RequestsModel,
        model.MeanwhileModel,
        model.MessageModel,
        control_model.EarlierModel,
        *control_model.ACTIONS.values(),
    ],
)
def test_every_key_of_the_format_is_described(described: type[BaseModel]) -> None:
    fields = described.model_fields
    keys = {field.alias or key for key, field in fields.items()} - {"id"}

    assert {key for key in keys if not re.search(rf"[`{{ ]{key}[`:]", FORMAT)} == set()


def test_the_page_about_quirks_is_made_from_their_registry() -> None:
    """After a change: python -m loopcheck.fake_providers.quirks.document > docs/quirks.md"""
    assert document() == QUIRKS_PAGE


def test_every_fault_and_form_is_described() -> None:
    words = {*get_args(FaultKind), *get_args(ErrorForm)}

    assert {word for word in words if f"`{word}`" not in FORMAT} == set()


def test_every_capability_is_named() -> None:
    assert {word for word in CAPABILITIES if f"`{word}`" not in FORMAT} == set()
