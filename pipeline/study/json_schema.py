"""The shape of a study file for editors: ``python -m pipeline.study.json_schema`` writes ``study.schema.json``.

Names of procedures, presets, metrics, formats and analyses are text there, because they depend on what is installed; loading a
study checks them. `pipeline schema` prints the same schema with the installed names, for an editor to complete.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from pipeline.analyses.registry import default_analyses
from pipeline.procedures.registry import default_procedure
from pipeline.study.schema import Study

__all__ = ["SCHEMA_FILE", "study_json_schema"]

_SPECIFICATIONS = (
    ("FormatSpec", "name", "readers"),
    ("DataFiles", "format", "readers"),
    ("AnalysisSpec", "name", "analyses"),
    ("ModelSpec", "trainer", "trainers"),
)
"""Where the long forms have a name, by definition and key; a metric may be called as the study likes."""

SCHEMA_FILE = Path(__file__).with_name("study.schema.json")


def study_json_schema(names: Mapping[str, Iterable[str]] | None = None) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a study file, with the short forms that the loader takes.

    Parameters
    ----------
    names : mapping of str to iterable of str, optional
        Installed names by family, as `pipeline.plugins.list_plugins` calls them (``readers``, ``metrics``, …). They are what an
        editor proposes; any other text is valid too, because a study may be run where more is installed.
    """
    known = {family: sorted(some) for family, some in (names or {}).items()}
    schema = Study.model_json_schema(by_alias=True)
    definitions, properties = schema["$defs"], schema["properties"]
    properties["metrics"]["items"] = {"anyOf": [*_named("metrics", known), properties["metrics"]["items"]]}
    form = definitions["TestSet"]["properties"]["format"]
    definitions["TestSet"]["properties"]["format"] = {"anyOf": [*_named("readers", known), {"$ref": form.pop("$ref")}], **form}
    properties["analyses"]["default"] = [{"name": name, "options": {}} for name in default_analyses()]
    one_option = {"type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": {"type": ["object", "null"]}}
    if "analyses" in known:
        one_option["propertyNames"] = {"anyOf": _named("analyses", known)}
    properties["analyses"]["items"] = {"anyOf": [*_named("analyses", known), properties["analyses"]["items"], one_option]}
    procedures = definitions["Resampling"]["properties"]["procedures"]
    procedures["items"] = {"anyOf": _named("procedures", known)}
    procedures["default"] = [default_procedure().name]
    properties["preset"]["anyOf"] = [*_named("presets", known), {"type": "null"}]
    sizes = definitions["Resampling"]["properties"]["test_sizes"]
    values = definitions["TestSizes"]["properties"]["values"]
    for specification, key, family in _SPECIFICATIONS:
        if family in known:
            definitions[specification]["properties"][key] |= {"anyOf": _named(family, known)}
            del definitions[specification]["properties"][key]["type"]
    short = {key: value for key, value in values.items() if key in ("type", "items")}
    definitions["Resampling"]["properties"]["test_sizes"] = {"anyOf": [short, {"$ref": sizes.pop("$ref")}], **sizes}
    return {"$schema": GenerateJsonSchema.schema_dialect, **schema, "title": "pipeline study"}


def _named(family: str, known: Mapping[str, list[str]]) -> list[dict[str, Any]]:
    """Return what a name of this family may be: one of those that are known, or any text."""
    text: dict[str, Any] = {"type": "string"}
    return [{"enum": known[family]}, text] if family in known else [text]


def schema_text() -> str:
    """Return the text of the file."""
    return json.dumps(study_json_schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
