from __future__ import annotations

from pathlib import Path

import pytest

from loopcheck.fake_providers.dialects.document import document

PAGE = Path(__file__).parents[2] / "docs" / "rules.md"


@pytest.mark.skipif(not PAGE.parent.is_dir(), reason="the tests run outside a checkout")
def test_the_page_about_request_rules_is_made_from_the_rules() -> None:
    """After a change: python -m loopcheck.fake_providers.dialects.document > docs/rules.md"""
    assert document() == PAGE.read_text(encoding="utf-8")
