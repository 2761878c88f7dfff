"""The JSON Schema that comes with the package is the one of its study files."""

from __future__ import annotations

from pipeline.study.json_schema import SCHEMA_FILE, schema_text, study_json_schema


def test_the_file_is_current() -> None:
    assert SCHEMA_FILE.read_text(encoding="utf-8") == schema_text(), "regenerate it: python -m pipeline.study.json_schema"


def test_short_forms_are_allowed() -> None:
    schema = study_json_schema()
    assert {"type": "string"} in schema["properties"]["metrics"]["items"]["anyOf"]
    assert {"type": "string"} in schema["properties"]["analyses"]["items"]["anyOf"]
    assert schema["$defs"]["Resampling"]["properties"]["test_sizes"]["anyOf"][0]["type"] == "array"
    assert schema["additionalProperties"] is False
    assert set(schema["required"]) == {"schema", "study", "test_sets", "metrics"}
