"""The JSON Schema of ``report.json``, made from the types of the report: ``python -m pipeline.report.json_schema`` writes it.

It stands beside this module, and in ``docs/`` for people who read a report with another program. It is that of one version of the
document: a report is held to it key by key, so that a key which nobody described cannot appear.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from pipeline.report.document import SCHEMA_VERSION, Report

__all__ = ["SCHEMA_FILES", "report_json_schema", "schema_text"]

SCHEMA_FILES = (
    Path(__file__).with_name("report.schema.json"),
    Path(__file__).resolve().parents[2] / "docs" / "report.schema.json",
)
"""The one in the package, and its copy in ``docs/`` of a checkout."""


def report_json_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of ``report.json`` and of what ``compare --json`` prints."""
    schema = TypeAdapter(Report).json_schema()
    return {
        "$schema": GenerateJsonSchema.schema_dialect,
        **schema,
        "title": f"pipeline report, version {SCHEMA_VERSION}",
    }


def schema_text() -> str:
    """Return the text of the files."""
    return json.dumps(report_json_schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for file in SCHEMA_FILES:
        file.write_text(schema_text(), encoding="utf-8")
