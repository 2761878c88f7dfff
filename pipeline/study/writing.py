"""Write the study that a comparison ran to a file, so that it can be changed and run again."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import Any

from pipeline.store.objects import is_object
from pipeline.study.load import LoadedStudy
from pipeline.study.yaml_values import format_yaml

__all__ = ["UNNAMED_SET", "UNNAMED_STUDY", "place_paths", "write_study"]

UNNAMED_STUDY, UNNAMED_SET = "compare", "test set"
"""The names of a comparison's study and its one test set, which the user has not named."""

_HEAD = """\
# What `pipeline compare` ran. The same numbers, with a report and everything that is stored:
#
#   pipeline run {name}
#
# Paths start from the folder of this file. `pipeline schema` lists the keys; every value that is not given has its default.
"""


def write_study(loaded: LoadedStudy, path: Path) -> str:
    """Return the text of a study file that asks what a study made of plain values asks.

    Parameters
    ----------
    loaded : LoadedStudy
        As `study_from_value` gives it.
    path : Path
        Where it will stand: paths are written as seen from there.
    """
    value: dict[str, Any] = json.loads(loaded.text)
    place_paths(value, loaded.base, path)
    name = path.name.removesuffix(path.suffix)
    told = {"schema": value["schema"], "study": name, "seed": loaded.study.seed}  # all numbers depend on the seed
    return _HEAD.format(name=shlex.quote(path.name)) + format_yaml(
        told | {key: part for key, part in value.items() if key not in told}
    )


def place_paths(value: dict[str, Any], base: Path, path: Path) -> None:
    """Write the relative paths of a study, which start from ``base``, as seen from the file ``path``; changes ``value``."""
    folder = path.absolute().parent

    def place(name: str) -> str:
        return name if os.path.isabs(name) or is_object(name) else os.path.relpath(base / name, folder)

    for test_set in value["test_sets"].values():
        for key in ("references", "gold", "outputs", "documents"):
            if key in test_set:
                test_set[key] = _placed(test_set[key], place)
    for metric in value["metrics"]:
        if isinstance(metric, dict) and "path" in metric:
            metric["path"] = place(metric["path"])


def _placed(value: Any, place: Any) -> Any:
    if isinstance(value, str):
        return place(value)
    if isinstance(value, list):
        return [place(name) for name in value]
    return {system: place(name) for system, name in value.items()}
