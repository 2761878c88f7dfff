"""A first study file with comments: what was found in the files, and the keys that a user may want to change."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.analyses.registry import analyses_of_test_sets
from pipeline.errors import UsageError, name_some
from pipeline.study.load import LoadedStudy, study_from_value
from pipeline.study.writing import place_paths
from pipeline.study.yaml_values import format_yaml

__all__ = ["SCHEMA_FILE", "ask_across", "join_studies", "write_starter"]

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

_TEST_SETS = "# The name of a test set is part of its draws: rename it and other resamples are drawn.\n"

_PATTERN = "# A file that is added later and matches {system} is one more system; a list, `NAME: PATH`, names systems one by one.\n"

_ALL_PAIRS = """\
  # All pairs of systems are compared. To compare all with one of them only:
  # family: against-baseline
  # baseline: {example}
"""

_BASELINE = "  # All others are compared with this system. Without these two lines, all pairs are.\n"

_UNIT = "  # What is drawn: item, document, or a column of the files. Here: {unit}.\n  # unit: {unit}\n"


def join_studies(studies: Mapping[str, LoadedStudy]) -> LoadedStudy:
    """Return one study of the only test set of each of some, by the names that these have in it.

    Raises
    ------
    UsageError
        P021 where no metric is usual for all of them.
    """
    if len(studies) == 1:
        return next(iter(studies.values()))
    values = {name: json.loads(loaded.text) for name, loaded in studies.items()}
    first, *others = values.values()
    metrics = [metric for metric in first["metrics"] if all(metric in other["metrics"] for other in others)]
    if not metrics:
        raise UsageError.of(
            "P021",
            f"no metric is usual for all of these test sets: {name_some(list(values))}",
            help="name one with -m, or the files of one test set alone",
        )
    test_sets = {name: test_set for name, value in values.items() for test_set in value["test_sets"].values()}
    return study_from_value(first | {"metrics": metrics, "test_sets": test_sets}, base=next(iter(studies.values())).base)


def ask_across(loaded: LoadedStudy, common: int) -> LoadedStudy:
    """Return a study of several test sets that also asks what these say together, of so many systems as are in all of them."""
    if len(loaded.study.test_sets) < 2:
        return loaded
    value = json.loads(loaded.text)
    return study_from_value(value | {"analyses": [*value["analyses"], *analyses_of_test_sets(common)]}, base=loaded.base)


def write_starter(loaded: LoadedStudy, path: Path, *, counted: str, unit: str, systems: list[str], baseline: str | None) -> str:
    """Return the text of a commented study file that asks what a study made of plain values asks.

    Parameters
    ----------
    loaded : LoadedStudy
        As `study_from_value` gives it.
    path : Path
        Where it will stand: paths are written as seen from there.
    counted : str
        The items and units of the test sets, in words.
    unit : str
        What is drawn.
    systems : list of str
        The systems that were found, at least one.
    baseline : str or None
        The system that all others are compared with.
    """
    value: dict[str, Any] = json.loads(loaded.text)
    place_paths(value, loaded.base, path)
    named = [one for one in value["test_sets"].values() if isinstance(one.get("outputs"), str)]
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
        (_TEST_SETS + _PATTERN * any("{system}" in one["outputs"] for one in named), {"test_sets": value["test_sets"]}),
        ("# `pipeline metrics` lists more.\n", {"metrics": value["metrics"]}),
    )
    analyses = "# Questions beside who is better than whom; `pipeline analyses` lists more.\n"
    asked = [comment + format_yaml(part) for comment, part in parts]
    return "\n".join((head, *asked, resampling, analyses + format_yaml({"analyses": value["analyses"]})))


def _scalar(text: str) -> str:
    """Return a name as YAML writes it on a line."""
    return format_yaml({"name": text}).removeprefix("name: ").rstrip("\n")
