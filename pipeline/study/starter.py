"""A first study file with comments: what was found in files, and beside it the keys that one may want to change."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from pipeline.study.load import LoadedStudy
from pipeline.study.writing import place_paths
from pipeline.study.yaml_values import format_yaml

__all__ = ["SCHEMA_FILE", "write_starter"]

SCHEMA_FILE = "study.schema.json"
"""The file that editors read the schema of studies from: `pipeline schema` prints it."""

_HEAD = """\
# yaml-language-server: $schema={schema}
# {systems} on {counted}. Next:
#
#   pipeline check {name}     aligns the files again and computes nothing
#   pipeline plan {name}      says how long it takes
#   pipeline run {name}       runs it and writes a report
#
# Paths start from the folder of this file. What is not given has its default: `pipeline config {name}` shows them all.
"""

_ALL_PAIRS = """\
  # All pairs of systems are compared. To compare all with one of them only:
  # family: against-baseline
  # baseline: {example}
"""

_BASELINE = "  # All others are compared with this system. Without these two lines, all pairs are.\n"

_UNIT = "  # What is drawn: item, document, or a column of the files. Here: {unit}.\n  # unit: {unit}\n"


def write_starter(loaded: LoadedStudy, path: Path, *, counted: str, unit: str, systems: list[str], baseline: str | None) -> str:
    """Return the text of a commented study file that asks what a study made of plain values asks.

    Parameters
    ----------
    loaded : LoadedStudy
        As `study_from_value` gives it, of one test set.
    path : Path
        Where it will stand: paths are written as seen from there.
    counted : str
        The items and units of the test set, in words.
    unit : str
        What is drawn.
    systems : list of str
        The systems that were found, at least one.
    baseline : str or None
        The system that all others are compared with.
    """
    value: dict[str, Any] = json.loads(loaded.text)
    place_paths(value, loaded.base, path)
    name = path.name.removesuffix(path.suffix)
    head = _HEAD.format(schema=SCHEMA_FILE, systems=f"{len(systems)} systems", counted=counted, name=shlex.quote(path.name))
    resampling = format_yaml({"resampling": {"replicates": value["resampling"].get("replicates", 100_000)}})
    resampling += f"  alpha: {value['resampling']['alpha']}\n" + _UNIT.format(unit=unit)
    if baseline is None:
        resampling += _ALL_PAIRS.format(example=_scalar(systems[0]))
    else:
        resampling += _BASELINE + f"  family: against-baseline\n  baseline: {_scalar(baseline)}\n"
    parts = (
        ("", {"schema": value["schema"], "study": name}),
        ("# All numbers depend on the seed.\n", {"seed": loaded.study.seed}),
        (
            "# The name of the test set is part of its draws: rename it and other resamples are drawn.\n",
            {"test_sets": value["test_sets"]},
        ),
        ("# `pipeline metrics` lists more.\n", {"metrics": value["metrics"]}),
    )
    analyses = "# Questions beside who is better than whom; `pipeline analyses` lists more.\n"
    asked = [comment + format_yaml(part) for comment, part in parts]
    return "\n".join((head, *asked, resampling, analyses + format_yaml({"analyses": value["analyses"]})))


def _scalar(text: str) -> str:
    """Return a name as YAML writes it on a line."""
    return format_yaml({"name": text}).removeprefix("name: ").rstrip("\n")
