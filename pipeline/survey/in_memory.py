"""Turn the arguments of a comparison in Python (a DataFrame, arrays by name, files or folders) into files by system."""

from __future__ import annotations

import csv
import os
from collections.abc import Collection, Iterable, Mapping, Set
from decimal import Decimal
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.errors import UsageError
from pipeline.survey.compare_arguments import OneOrMore, as_paths, name_systems
from pipeline.survey.folders import expand_folders

__all__ = ["Settled", "settle_outputs"]

_ROLES = frozenset({"item", "id", "item_id", "segment", "system", "model", "document", "label"})
"""Names of columns that readers look for: a level of an index with one of these names becomes that column."""

_TRUTHS = frozenset({"true", "false", "yes", "no"})

_ARRAYS = "give each system one array with a score for each item, in the same order of items: {'ours': scores, 'base': others}"


class Settled(NamedTuple):
    """Paths of outputs by system, with ``*`` for a table of all systems; of references; and the layout of a table in memory."""

    outputs: dict[str, str]
    references: list[str]
    layout: str = ""

    @property
    def in_memory(self) -> bool:
        """Whether the table was in memory: the file it stands in is gone after the comparison."""
        return bool(self.layout)


def settle_outputs(outputs: Any, references: OneOrMore, *, folder: Path, groups: Collection[str] = ()) -> Settled:
    """Return outputs as files by system.

    Parameters
    ----------
    outputs : DataFrame, mapping of str to array, mapping of str to path, path, or sequence of paths
        A table has a row for each item and a column for each system, or any other layout of a file. A folder means what is in it.
    references : path or sequence of paths
        Where none are given, those of the folder.
    folder : Path
        Where a table that is in memory is written.
    groups : collection of str
        Columns that are asked for as units, documents and the like, and need hold no scores.

    Raises
    ------
    UsageError
        P004 where arrays are no scores of the same items, P005 where a mapping has arrays and paths.
    """
    if hasattr(outputs, "to_csv") or hasattr(outputs, "write_csv"):
        _write_frame(outputs, folder / "DataFrame.csv", _ROLES.union(groups))
        return Settled({"*": str(folder / "DataFrame.csv")}, as_paths(references), layout="auto")
    if isinstance(outputs, Mapping) and outputs:
        arrays = {name: value for name, value in outputs.items() if not isinstance(value, (str, os.PathLike))}
        if not arrays:
            return Settled(name_systems(outputs), as_paths(references))
        if len(arrays) < len(outputs):
            raise UsageError.of(
                "P005",
                "some systems are arrays and others are paths",
                where=", ".join(map(str, arrays)),
                help="give all as arrays or all as paths",
            )
        _write_arrays(arrays, folder / "arrays.csv", groups)
        return Settled({"*": str(folder / "arrays.csv")}, as_paths(references), layout="wide")
    if not isinstance(outputs, (str, os.PathLike)):
        outputs = list(outputs) if isinstance(outputs, Iterable) else [outputs]
        if not (outputs and all(isinstance(path, (str, os.PathLike)) for path in outputs)):
            what = f"{type(outputs[0]).__name__} is not a path, and has no name of a system" if outputs else "there are no outputs"
            raise UsageError.of("P004", what, where="outputs", help=f"name files or a folder, or {_ARRAYS}")
    files = expand_folders(as_paths(outputs), as_paths(references), base=Path.cwd())
    return Settled(name_systems(files.outputs), files.references)


def _write_frame(frame: Any, path: Path, known: Collection[str]) -> None:
    """Write a DataFrame of Polars, or one of pandas, with an index that says something.

    Levels of an index that are known by their names become those columns; all others together name the items. None of them is
    taken for a system, whatever it is called.
    """
    if not hasattr(frame, "to_csv"):
        frame.write_csv(path)
        return
    frame = frame if hasattr(frame, "columns") else frame.to_frame()
    if frame.columns.nlevels > 1:
        help_ = "join them: frame.columns = ['-'.join(map(str, names)) for names in frame.columns]"
        raise UsageError.of("P004", "the columns of the DataFrame have names of several levels", where="outputs", help=help_)
    index = frame.index
    if type(index).__name__ != "RangeIndex" or index.name is not None:
        front = {name: index.get_level_values(place) for place, name in enumerate(index.names) if name in known}
        if len(front) < index.nlevels and "item" not in frame.columns and "item" not in front:
            front["item"] = ["/".join(map(str, label)) if isinstance(label, tuple) else label for label in index]
        frame = frame.copy(deep=False)
        for place, (name, values) in enumerate(front.items()):
            frame.insert(place, name, values, allow_duplicates=True)
    frame.to_csv(path, index=False)


def _write_arrays(arrays: Mapping[Any, Any], path: Path, groups: Collection[str]) -> None:
    columns: dict[str, list[Any]] = {}
    for name, values in arrays.items():
        if str(name) in columns:
            raise UsageError.of("P004", f"two systems are called '{name}'", where="outputs", help="give each a name of its own")
        columns[str(name)] = _as_list(str(name), values, scores=str(name) not in {"item", *groups})
    _refuse_other_order(arrays)
    sizes = {name: len(values) for name, values in columns.items()}
    if len(set(sizes.values())) > 1:
        raise UsageError.of("P004", f"systems have different numbers of items: {sizes}", where="outputs", help=_ARRAYS)
    if "item" not in columns:
        columns = {"item": list(range(next(iter(sizes.values())))), **columns}
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def _as_list(name: str, values: Any, *, scores: bool) -> list[Any]:
    """Return an array of NumPy, pandas, Polars, Torch and the like, or any other sequence, as a list of plain values."""
    plain = values.__array__() if not hasattr(values, "tolist") and hasattr(values, "__array__") else values
    plain = plain.tolist() if hasattr(plain, "tolist") else plain  # of a masked array, what is masked is None
    fault, found = "", []
    if isinstance(plain, (Mapping, Set)):
        fault = f"is a {type(values).__name__}, whose values are in no order that others share"
    elif not isinstance(plain, Iterable):
        fault = f"is a single value, {plain!r}"
    else:
        found = list(plain)
        if any(isinstance(value, (list, tuple)) for value in found):
            fault = "has more than one dimension"
        elif scores and found and not any(map(_is_score, found)):
            fault = f"holds no numbers: {found[0]!r}"
    if fault:
        raise UsageError.of("P004", f"{name!r} {fault}", where="outputs", help=_ARRAYS)
    return found


def _is_score(value: Any) -> bool:
    """Tell whether a reader could take a value for a number; it says itself where one of a column is wrong."""
    if not isinstance(value, str):
        return value is None or isinstance(value, (Real, Decimal))
    try:
        float(value.strip().removesuffix("%"))
    except ValueError:
        return value.strip().lower() in _TRUTHS
    return True


def _refuse_other_order(arrays: Mapping[Any, Any]) -> None:
    """Refuse Series whose indexes have the same labels in other places: pairing them by place would pair different items."""
    indexes = {name: values.index for name, values in arrays.items() if hasattr(values, "index") and not callable(values.index)}
    for (one, index), (other, labels) in zip(indexes.items(), list(indexes.items())[1:], strict=False):
        if not index.equals(labels) and index.isin(labels).any():
            raise UsageError.of(
                "P004",
                f"the indexes of '{one}' and '{other}' have the same items in different places, or only some items in common",
                where="outputs",
                help="pandas.DataFrame(outputs).dropna() pairs items by label; .to_numpy() of each pairs them by place",
            )
