"""What `import loopcheck` offers."""

from __future__ import annotations

import pytest

import loopcheck


@pytest.mark.parametrize("name", loopcheck.__all__)
def test_every_public_name_is_loaded_when_it_is_used(name: str) -> None:
    assert getattr(loopcheck, name) is not None


def test_the_names_are_sorted_and_complete() -> None:
    assert sorted(loopcheck._HOMES) == sorted(loopcheck.__all__)


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'loopcheck' has no attribute 'nothing'"):
        loopcheck.nothing  # noqa: B018
