"""What a comparison is given in Python: a DataFrame, arrays by name, files or folders; all become files by system."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.errors import UsageError
from pipeline.survey.compare_arguments import OneOrMore, as_paths, name_systems
from pipeline.survey.folders import expand_folders

__all__ = ["Settled", "settle_outputs"]


class Settled(NamedTuple):
    """Paths of outputs by system, with ``*`` for a table of all systems; of references; and whether the table was in memory."""

    outputs: dict[str, str]
    references: list[str]
    in_memory: bool = False


def settle_outputs(outputs: Any, references: OneOrMore, *, folder: Path) -> Settled:
    """Return outputs as files by system.

    Parameters
    ----------
    outputs : DataFrame, mapping of str to array, mapping of str to path, path, or sequence of paths
        A table has a row for each item and a column for each system, or any other layout of a file. A folder means what is in it.
    references : path or sequence of paths
        Where none are given, those of the folder.
    folder : Path
        Where a table that is in memory is written.

    Raises
    ------
    UsageError
        P004 where arrays are no scores of the same items, P005 where a mapping has arrays and paths.
    """
    write = getattr(outputs, "to_csv", None) or getattr(outputs, "write_csv", None)
    if write is not None:
        _write_frame(outputs, folder / "DataFrame.csv")
        return Settled({"*": str(folder / "DataFrame.csv")}, as_paths(references), in_memory=True)
    if isinstance(outputs, Mapping):
        arrays = {str(name): value for name, value in outputs.items() if not isinstance(value, (str, os.PathLike))}
        if not arrays:
            return Settled(name_systems(outputs), as_paths(references))
        if len(arrays) < len(outputs):
            raise UsageError.of(
                "P005",
                "some systems are arrays and others are paths",
                where=", ".join(arrays),
                help="give all as arrays or all as paths",
            )
        _write_arrays(arrays, folder / "arrays.csv")
        return Settled({"*": str(folder / "arrays.csv")}, as_paths(references), in_memory=True)
    files = expand_folders(as_paths(outputs), as_paths(references), base=Path.cwd())
    return Settled(name_systems(files.outputs), files.references)


def _write_frame(frame: Any, path: Path) -> None:
    """Write a DataFrame of pandas, with an index that says something as its items, or one of Polars."""
    if not hasattr(frame, "to_csv"):
        frame.write_csv(path)
        return
    counts = type(frame.index).__name__ == "RangeIndex" and frame.index.name is None
    labelled = counts or "item" in frame.columns or any(frame.index.names)
    frame.to_csv(path, index=not counts and "item" not in frame.columns, index_label=None if labelled else "item")


def _write_arrays(arrays: Mapping[str, Sequence[Any]], path: Path) -> None:
    columns = {name: list(getattr(values, "tolist", lambda values=values: values)()) for name, values in arrays.items()}
    sizes = {name: len(values) for name, values in columns.items()}
    nested = [name for name, values in columns.items() if any(isinstance(value, (list, tuple)) for value in values)]
    if nested or len(set(sizes.values())) > 1:
        raise UsageError.of(
            "P004",
            f"{nested[0]!r} has more than one dimension" if nested else f"systems have different numbers of items: {sizes}",
            where="outputs",
            help="give each system one array with a score for each item, in the same order of items",
        )
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", *columns])
        writer.writerows([number, *row] for number, row in enumerate(zip(*columns.values(), strict=True)))
