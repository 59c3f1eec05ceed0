"""The JSON Schema of the report, for readers in other languages: `report.schema.json`."""

from __future__ import annotations

import json

from loopcheck.harness.results import REPORT_FORMAT, Report


def document() -> dict[str, object]:
    """The schema of the format that this loopcheck writes."""
    schema = Report.model_json_schema(mode="validation")
    definitions = schema.get("$defs", {})
    definitions["Header"]["properties"]["format"]["const"] = REPORT_FORMAT
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"loopcheck report, format {REPORT_FORMAT}",
        **{name: value for name, value in schema.items() if name != "title"},
    }


def text() -> str:
    """The schema as it stands in the package."""
    return json.dumps(document(), indent=2) + "\n"


if __name__ == "__main__":
    print(text(), end="")
