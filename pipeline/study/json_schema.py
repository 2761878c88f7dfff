"""The shape of a study file for editors: ``python -m pipeline.study.json_schema`` writes ``study.schema.json``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from pipeline.analyses.registry import default_analyses
from pipeline.presets.registry import PRESETS
from pipeline.procedures.registry import PROCEDURES, default_procedure
from pipeline.study.schema import Study

__all__ = ["SCHEMA_FILE", "study_json_schema"]

SCHEMA_FILE = Path(__file__).with_name("study.schema.json")


def study_json_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a study file, with the short forms that the loader takes."""
    schema = Study.model_json_schema(by_alias=True)
    definitions, properties = schema["$defs"], schema["properties"]
    name = {"type": "string"}
    properties["metrics"]["items"] = {"anyOf": [name, properties["metrics"]["items"]]}
    form = definitions["TestSet"]["properties"]["format"]
    definitions["TestSet"]["properties"]["format"] = {"anyOf": [name, {"$ref": form.pop("$ref")}], **form}
    properties["analyses"]["default"] = [{"name": name, "options": {}} for name in default_analyses()]
    one_option = {"type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": {"type": ["object", "null"]}}
    properties["analyses"]["items"] = {"anyOf": [name, properties["analyses"]["items"], one_option]}
    procedures = definitions["Resampling"]["properties"]["procedures"]
    procedures["items"] = {"anyOf": [{"enum": PROCEDURES.own()}, name]}  # other packages bring more
    procedures["default"] = [default_procedure().name]
    properties["preset"]["anyOf"] = [{"enum": PRESETS.own()}, *properties["preset"]["anyOf"]]
    sizes = definitions["Resampling"]["properties"]["test_sizes"]
    values = definitions["TestSizes"]["properties"]["values"]
    short = {key: value for key, value in values.items() if key in ("type", "items")}
    definitions["Resampling"]["properties"]["test_sizes"] = {"anyOf": [short, {"$ref": sizes.pop("$ref")}], **sizes}
    return {"$schema": GenerateJsonSchema.schema_dialect, **schema, "title": "pipeline study"}


def schema_text() -> str:
    """Return the text of the file."""
    return json.dumps(study_json_schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
