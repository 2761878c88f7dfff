"""The published schema of report.json is that of the types, and reports and `compare --json` are what it says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from pydantic import ValidationError
from support.studies import write_scores
from support.synthetic_cubes import build_cube
from support.synthetic_reports import build_document, hold_to_schema, make_report, odd_cubes

from pipeline.cli import cli
from pipeline.inference.p_values import CONVENTIONS
from pipeline.report.document import read_report
from pipeline.report.json_schema import SCHEMA_FILES, report_json_schema, schema_text


def document() -> dict[str, Any]:
    return build_document(make_report({"news": build_cube(np.array([50.0, 53.0]), ["a", "b"])}))


@pytest.mark.parametrize("file", SCHEMA_FILES, ids=["package", "docs"])
def test_the_schema_is_that_of_the_types(file: Path) -> None:
    assert file.read_text(encoding="utf-8") == schema_text(), "regenerate it: python -m pipeline.report.json_schema"


def test_a_report_is_valid_by_the_published_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is in the extra `test`")
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA_FILES[0].read_text(encoding="utf-8")))
    validator.check_schema(validator.schema)
    whole = json.loads(json.dumps(build_document(make_report(odd_cubes()))))
    assert not [error.json_path for error in validator.iter_errors(whole)]
    del whole["pairs"][0]["p"]
    assert [error.json_path for error in validator.iter_errors(whole)] == ["$.pairs[0]"]


@pytest.mark.parametrize(("place", "key"), [((), "news"), (("pairs", 0), "p_value"), (("test_sets", 0, "metrics", 0), "unit")])
def test_a_key_that_nobody_described_is_refused(place: tuple[str | int, ...], key: str) -> None:
    changed = json.loads(json.dumps(document()))
    row = changed
    for step in place:
        row = row[step]
    row[key] = 1
    with pytest.raises(ValidationError, match=key):
        read_report(changed)


def test_only_what_may_be_unknown_may_be_left_out() -> None:
    definitions = report_json_schema()["$defs"]
    optional = {name: set(of["properties"]) - set(of["required"]) for name, of in definitions.items()}
    assert {name: keys for name, keys in optional.items() if keys} == {
        "Adjustment": {"across"},
        "Column": {"form", "later"},
        "MetricRow": {"decimals", "title"},
        "PairRow": {"tool_p"},
        "SystemRow": {"origin", "sample", "fraction", "replica"},
        "TableBlock": {"rows"},
    }


def test_a_pair_has_a_p_by_every_convention() -> None:
    assert [name.replace("_", "-") for name in document()["pairs"][0]["p_raw"]] == list(CONVENTIONS)


def test_what_compare_prints_is_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_scores(tmp_path / "scores.csv", ["one", "two", "three"])
    ended = CliRunner().invoke(cli, ["compare", "scores.csv", "-b", "500", "-q", "--json"], catch_exceptions=False)
    assert len(hold_to_schema(json.loads(ended.stdout))["pairs"]) == 3


def test_compare_draws_nothing_and_loads_nothing_to_draw_with(tmp_path: Path) -> None:
    write_scores(tmp_path / "scores.csv", ["one", "two"])
    code = """
import sys
from pipeline.cli import cli
try:
    cli(["compare", "scores.csv", "-b", "200", "-q"])
except SystemExit as ended:
    assert not ended.code, ended.code
assert "pipeline.report.document" in sys.modules
found = {"matplotlib", "pipeline.report.drawing.figures", "pipeline.report.layout.pages"} & set(sys.modules)
assert not found, found
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
