"""Files of evaluation tools for tests: written as JSON, surveyed as a test set, and damaged byte by byte."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from pipeline.errors import DataError, Problem
from pipeline.interfaces import Items
from pipeline.items.align import survey_test_set
from pipeline.items.frame import Survey, digest_items
from pipeline.items.outputs import load_output
from pipeline.items.readers import load_reader
from pipeline.study.schema import Systems
from pipeline.study.sets import TestSet


def put(path: Path, value: Any, indent: int | None = 1) -> Path:
    """Write a value as JSON; a list of lines that are texts already goes as it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=indent), encoding="utf-8")
    return path


def survey(folder: Path, form: Any, outputs: str, *, unit: str = "item", **given: Any) -> tuple[Survey, dict[str, Items]]:
    """Survey outputs as a test set, and read each as a task does."""
    spec = TestSet(format=form, outputs=outputs, **given)
    found = survey_test_set("set", spec, base=folder, systems=Systems(), unit=unit)
    return found, {output.system: load_output(spec, output, frame=found.frame, base=folder) for output in found.outputs}


def problems_of(form: Any, path: Path, *, system: str | None = "north", options: Mapping[str, Any] | None = None) -> list[Problem]:
    """Return what is wrong with a file of outputs; it must be refused."""
    try:
        load_reader(form).read_outputs(path, system=system, options=options or {})
    except DataError as exc:
        return list(exc.problems)
    raise AssertionError(f"{path} was read")


edits = st.lists(
    st.tuples(st.floats(0, 1), st.sampled_from(["put", "drop", "cut", "repeat"]), st.binary(min_size=1, max_size=3)),
    min_size=1,
    max_size=4,
)
"""Places in a file, from its beginning to its end, and what is done there."""


def damage(data: bytes, given: list[tuple[float, str, bytes]]) -> bytes:
    """Return bytes with edits made to them."""
    for place, kind, some in given:
        at = int(place * len(data))
        if kind == "put":
            data = data[:at] + some + data[at + len(some) :]
        elif kind == "drop":
            data = data[:at] + data[at + 1 + some[0] :]
        elif kind == "cut":
            data = data[:at] if some[0] < 64 else data
        else:
            data = data[:at] + data[at : at + some[0]] + data[at:]
    return data


swaps = st.lists(
    st.tuples(
        st.floats(0, 1, exclude_max=True),
        st.sampled_from(
            [
                None,
                True,
                0,
                -1,
                3,
                10**400,
                0.5,
                1e308,
                float("nan"),
                float("-inf"),
                "",
                " ",
                "x",
                "\ud800",
                "\0",
                "1",
                [],
                [[]],
                {},
                {"": 1},
            ]
        ),
    ),
    max_size=3,
)
"""Places in a value, from its outside to its last leaf, and what is put there."""


def swap(value: Any, given: list[tuple[float, Any]]) -> Any:
    """Return a copy of a value in JSON, of lists and objects, in which other values stand at some places."""
    value = json.loads(json.dumps(value))
    for place, other in given:
        spots: list[tuple[Any, Any]] = []
        _walk(value, spots)
        if spots:
            holder, key = spots[int(place * len(spots))]
            holder[key] = deepcopy(other)
    return value


def _walk(value: Any, spots: list[tuple[Any, Any]]) -> None:
    for key in range(len(value)) if isinstance(value, list) else list(value) if isinstance(value, dict) else ():
        spots.append((value, key))
        _walk(value[key], spots)


def read_or_refuse(form: Any, path: Path, data: bytes, *, system: str | None = "north", options: Mapping[str, Any]) -> bool:
    """Read damaged bytes; only a `DataError` with a place may come of it. What is read must be fit to be kept."""
    path.write_bytes(data)
    refused: list[Problem] = []
    found: dict[str, Items] = {}
    try:
        found = load_reader(form).read_outputs(path, system=system, options=options)
    except DataError as exc:
        refused = list(exc.problems)
    for problem in refused:
        assert str(problem.where).startswith(str(path))
        problem.message.encode()
    for name, items in found.items():
        assert all(len(column) == len(items) == len(items.lines) for column in items.columns.values())
        assert len(set(items.ids)) == len(items)
        digest_items(items)
        name.encode()
    return not refused
