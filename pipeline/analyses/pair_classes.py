"""Classes of pairs by a coordinate of their two systems.

The coordinate is the study's `systems.relation`, else ``model``, else ``group``. Pairs of one value are the class *same*, those of
two values *different*; a study may name any other combinations of values. A pair of which either system has no value is in no
class but *all*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.pairs import PairTable, has_value
from pipeline.dataclass import dataclass

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["ALL", "DIFFERENT", "SAME", "PairClass", "Relation", "find_base", "find_relation", "name_class", "read_classes"]

ANY = "*"


@dataclass(frozen=True)
class PairClass:
    """A class of pairs.

    Parameters
    ----------
    label : str
    values : tuple of (str, str)
        The values of the two systems in either order, ``*`` for any; empty for the classes that need none.
    """

    label: str
    values: tuple[tuple[str, str], ...] = ()

    def holds(self, one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which pairs are of this class, from the values of both systems: arrays of one shape, "" where there is none."""
        known = (one != "") & (other != "")
        if not self.values:
            alike = one == other
            wanted = {"all": np.ones_like(known), "same": known & alike, "different": known & ~alike}
            return np.asarray(wanted[self.label], dtype=np.bool_)
        found = np.zeros_like(known)
        for x, y in self.values:
            found |= (_is(one, x) & _is(other, y)) | (_is(one, y) & _is(other, x))
        return np.asarray(known & found, dtype=np.bool_)


def _is(values: NDArray[Any], wanted: str) -> NDArray[np.bool_]:
    return np.ones(values.shape, dtype=np.bool_) if wanted == ANY else np.asarray(values == wanted, dtype=np.bool_)


ALL, SAME, DIFFERENT = PairClass("all"), PairClass("same"), PairClass("different")
TAKEN = ("all", "same", "different", "other")


@dataclass(frozen=True)
class Relation:
    """The value of a coordinate for each system."""

    name: str
    values: dict[str, str]

    def values_of(self, systems: Sequence[str]) -> NDArray[Any]:
        """Return the value of each system, "" where it has none."""
        return np.array([self.values.get(name, "") for name in systems], dtype=object)

    def mask(self, table: PairTable, kind: PairClass) -> NDArray[np.bool_]:
        """Return which pairs of a table are of a class."""
        return kind.holds(self.values_of(table.better), self.values_of(table.worse))

    def combinations(self, table: PairTable) -> tuple[PairClass, ...]:
        """Return a class for each two values that some pair of the table has, and for each value with itself."""
        values = sorted({value for value in self.values_of(table.systems) if value})
        classes = [PairClass(f"{x} × {y}", ((x, y),)) for x, y in combinations_with_replacement(values, 2)]
        return tuple(kind for kind in classes if self.mask(table, kind).any())


def name_class(row: Mapping[str, Any]) -> str:
    """Return how a table or figure calls the class of pairs of a row: with the relation that it is by, where it has one.

    Examples
    --------
    >>> name_class({"relation": "same", "relation_by": "team"}), name_class({"relation": "all", "relation_by": "team"})
    ('same team', 'all')
    """
    return f"{row['relation']} {row['relation_by']}" if row["relation"] in {SAME.label, DIFFERENT.label} else str(row["relation"])


def read_classes(given: Mapping[str, Any]) -> tuple[PairClass, ...]:
    """Return the classes that a study names; ValueError for one that cannot be a class.

    Examples
    --------
    >>> read_classes({"kin": [["a", "a"], ["b", "b"]], "a and others": ["a", "*"]})[1]
    PairClass(label='a and others', values=(('a', '*'),))
    """
    found = []
    for label, written in given.items():
        if str(label) in TAKEN:
            raise ValueError(f"classes: {label!r} is the name of a class that there is already")
        listed = written if isinstance(written, list | tuple) else None
        if listed and len(listed) == 2 and not any(isinstance(part, list | tuple) for part in listed):
            listed = [listed]
        if not listed or not all(isinstance(two, list | tuple) and len(two) == 2 for two in listed):
            raise ValueError(f"classes: {label!r} must be two values, or a list of two values each, not {written!r}")
        if any(isinstance(part, list | tuple | dict) or not str(part) for two in listed for part in two):
            raise ValueError(f"classes: {label!r} must have words as values, not {written!r}")
        found.append(PairClass(str(label), tuple((str(x), str(y)) for x, y in listed)))
    return tuple(found)


def find_relation(cube: xr.Dataset, asked: str | None) -> Relation | None:
    """Return the coordinate that splits the pairs: the one asked for, the study's, else ``model``, else ``group``."""
    wanted = asked or cube.attrs.get("relation") or None
    for name in [wanted] if wanted else ["model", "group"]:
        values = _by_system(cube, str(name))
        # A coordinate with one system a value (a model column that repeats the name) splits nothing.
        if values and (wanted or len(set(values.values())) < len(values)):
            return Relation(str(name), values)
    return None


def find_base(cube: xr.Dataset) -> dict[str, str]:
    """Return the base model of each system where the systems are replicas of base models, else nothing."""
    replicas = any(set(_by_system(cube, name).values()) - {"-1"} for name in ("replica", "sample"))
    models = _by_system(cube, "model")
    return models if replicas and len(set(models.values())) < len(models) else {}


def _by_system(cube: xr.Dataset, name: str) -> dict[str, str]:
    if name not in cube.variables or cube[name].dims != ("system",):
        return {}
    pairs = zip(cube["system"].values.tolist(), cube[name].values.tolist(), strict=True)
    return {str(system): str(value) for system, value in pairs if has_value(value)}
