"""The JSON Schema that comes with the package is the one of its study files; `pipeline schema` adds what is installed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from pipeline.cli import cli
from pipeline.plugins import list_plugins
from pipeline.study.json_schema import SCHEMA_FILE, schema_text, study_json_schema

STUDY = {
    "schema": 1,
    "study": "short",
    "preset": "koehn-2004",
    "test_sets": {"quiz": {"format": "scores", "outputs": "scores.csv"}},
    "metrics": ["mean", {"name": "bleu-char", "metric": "bleu"}],
    "resampling": {"procedures": ["sign"]},
    "analyses": ["suite", {"thresholds": {"percentile": 90}}, {"name": "replicas", "options": {}}],
    "training": {
        "data": {"path": "train.csv", "format": "labels"},
        "resamples": [{"method": "seed", "replicas": 2}],
        "models": {"own": {"trainer": "sklearn"}},
    },
}


def installed() -> dict[str, Any]:
    return dict(json.loads(CliRunner().invoke(cli, ["schema"], catch_exceptions=False).stdout))


def texts(schema: Any) -> set[str]:
    """Return the text of every list of choices, wherever it stands."""
    if isinstance(schema, list):
        return set().union(*map(texts, schema))
    if not isinstance(schema, dict):
        return set()
    return {one for one in schema.get("enum", ()) if isinstance(one, str)} | texts(list(schema.values()))


def test_the_file_is_current() -> None:
    assert SCHEMA_FILE.read_text(encoding="utf-8") == schema_text(), "regenerate it: python -m pipeline.study.json_schema"


def test_the_file_names_no_member_but_as_a_default() -> None:
    """A new metric, format, procedure, preset or analysis leaves it as it is."""
    families = ("procedures", "presets", "metrics", "readers", "analyses", "trainers")
    assert not texts(study_json_schema()) & {name for family in families for name in list_plugins(family)}


@pytest.mark.parametrize("family", ["procedures", "presets", "metrics", "readers", "analyses", "trainers"])
def test_the_command_proposes_the_names_of_what_is_installed(family: str) -> None:
    assert set(list_plugins(family)) <= texts(installed())


def test_both_take_the_same_studies() -> None:
    other = json.loads(json.dumps(STUDY).replace("sign", "of-another-package").replace("thresholds", "another-question"))
    for schema in (study_json_schema(), installed()):
        Draft202012Validator.check_schema(schema)
        for study in (STUDY, other):
            assert not list(Draft202012Validator(schema).iter_errors(study))
        assert list(Draft202012Validator(schema).iter_errors({**STUDY, "resampling": {"procedures": [3]}}))
        assert list(Draft202012Validator(schema).iter_errors({**STUDY, "preset": 3}))


def test_short_forms_are_allowed() -> None:
    schema = study_json_schema()
    assert {"type": "string"} in schema["properties"]["metrics"]["items"]["anyOf"]
    assert {"type": "string"} in schema["properties"]["analyses"]["items"]["anyOf"]
    assert schema["$defs"]["Resampling"]["properties"]["test_sizes"]["anyOf"][0]["type"] == "array"
    assert schema["additionalProperties"] is False
    assert set(schema["required"]) == {"schema", "study", "test_sets", "metrics"}
