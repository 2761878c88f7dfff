"""The pairs of a cube as plain arrays, the better system first, and which of them are borderline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.standard_errors import read_standard_errors
from pipeline.dataclass import dataclass
from pipeline.interfaces.analyses import FULL
from pipeline.interfaces.wording import name_metric
from pipeline.numerics.special import ndtri
from pipeline.procedures.registry import PROCEDURES

if TYPE_CHECKING:
    import xarray as xr

__all__ = [
    "BORDERLINE",
    "FEW_PAIRS",
    "NEAR",
    "PairTable",
    "Window",
    "describe_copies",
    "describe_one_sided",
    "find_common",
    "find_copies",
    "has_value",
    "list_slices",
    "percentile_of",
    "read_coordinate",
    "read_pairs",
    "read_units",
]

ONE_SIDED = "one-sided"
MOST_NAMED = 5


@dataclass(frozen=True)
class PairTable:
    """The pairs of one (test set, metric, test size, procedure).

    Parameters
    ----------
    better, worse : tuple of str
        Names, ordered by the observed gain; a pair with gain 0 keeps the order of the cube.
    first, second : (pair,) int64
        Positions of these names in ``systems``; a copy stands where its original does.
    gain : (pair,) float64
        The observed difference, never negative.
    se : (pair,) float64
        Its standard error, by `read_standard_errors`.
    p : (pair,) float64
        One-sided strict p-value of the ordered pair; NaN where there is none.
    identical : (pair,) bool
        Pairs whose unit statistics are all equal.
    copied : (pair,) bool
        Pairs with a system that is a copy of another: that other one has the same pair already.
    systems : tuple of str
        All systems of the pairs but the copies, sorted, so that their numbers do not depend on the order of the cube.
    """

    better: tuple[str, ...]
    worse: tuple[str, ...]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    gain: NDArray[np.float64]
    se: NDArray[np.float64]
    p: NDArray[np.float64]
    identical: NDArray[np.bool_]
    copied: NDArray[np.bool_]
    systems: tuple[str, ...]

    @property
    def usable(self) -> NDArray[np.bool_]:
        """Pairs that are not identical, have a gain and a p-value, and are counted once whatever copies there are."""
        return ~self.identical & ~self.copied & np.isfinite(self.p) & np.isfinite(self.gain)

    @property
    def measured(self) -> NDArray[np.bool_]:
        """Pairs that are not identical, have a gain and a standard error, and are counted once whatever copies there are."""
        return ~self.identical & ~self.copied & np.isfinite(self.gain) & np.isfinite(self.se) & (self.se > 0)

    @property
    def near(self) -> NDArray[np.bool_]:
        """Measured pairs that are not far from borderline."""
        return self.measured & (self.p >= NEAR[0]) & (self.p <= NEAR[1])


def has_value(value: object) -> bool:
    """Say whether a coordinate's value says anything."""
    if value is None or (isinstance(value, float | np.floating) and not np.isfinite(value)):
        return False
    return str(value) not in {"", "nan", "None"}


def read_coordinate(cube: xr.Dataset, name: str) -> list[str]:
    """Return a coordinate of each system, "" where it is empty or missing."""
    if name not in cube.variables or cube[name].dims != ("system",):
        return [""] * cube.sizes["system"]
    return [str(value) if has_value(value) else "" for value in cube[name].values.tolist()]


def list_slices(cube: xr.Dataset) -> Iterator[tuple[str, str]]:
    """Go through (metric, procedure) in the order of the cube."""
    for metric in cube["metric"].values.tolist():
        for procedure in cube["procedure"].values.tolist():
            yield str(metric), str(procedure)


def read_units(cube: xr.Dataset) -> dict[str, int]:
    """Return the number of units of each test size, smallest first."""
    pairs = zip(cube["test_size"].values.tolist(), cube["n_units"].values.tolist(), strict=True)
    return dict(sorted(((str(label), int(n)) for label, n in pairs), key=lambda item: (item[1], item[0] == FULL)))


def find_copies(cube: xr.Dataset, metric: str) -> dict[str, str]:
    """Give, for each system whose statistics are all those of another one, that other: of equals the first by name stays.

    Equal means equal on the full test set: the same systems are left out at every size.
    """
    same = cube["identical"].sel(metric=metric, test_size=FULL).values.astype(np.bool_)
    first: dict[str, str] = {}
    for a, b in zip(cube["system_a"].values[same].tolist(), cube["system_b"].values[same].tolist(), strict=True):
        for name, other in ((str(a), str(b)), (str(b), str(a))):
            first[name] = min(first.get(name, name), other)
    return {name: first.get(other, other) for name, other in first.items() if other < name}


def describe_copies(cubes: Mapping[str, xr.Dataset]) -> str | None:
    """Say which systems are left out because they are copies of others; None where there are none."""
    told: dict[str, None] = {}
    for name, cube in cubes.items():
        for metric in map(str, cube["metric"].values.tolist()):
            copies = sorted(find_copies(cube, metric).items())
            if copies:
                shown = ", ".join(f"{a} = {b}" for a, b in copies[:MOST_NAMED])
                more = f" and {len(copies) - MOST_NAMED} more" if len(copies) > MOST_NAMED else ""
                told[f"{len(copies)} of {cube.sizes['system']} on {name}, {name_metric(metric)} ({shown}{more})"] = None
    if not told:
        return None
    return f"Systems with the same statistics on every unit count once; left out as copies: {'; '.join(told)}."


def describe_one_sided(cubes: Mapping[str, xr.Dataset]) -> list[str]:
    """Say what the one-sided p is for procedures where it is not that of Berg-Kirkpatrick and others."""
    procedures = dict.fromkeys(str(name) for cube in cubes.values() for name in cube["procedure"].values.tolist())
    told = [(name, PROCEDURES[name].one_sided) for name in procedures]
    return [f"The one-sided p of {name} is {what}." for name, what in told if what is not None]


def read_pairs(cube: xr.Dataset, *, metric: str, test_size: str, procedure: str) -> PairTable:
    """Read gains, standard errors and one-sided p-values of all pairs, the better system first."""
    names_a = [str(name) for name in cube["system_a"].values.tolist()]
    names_b = [str(name) for name in cube["system_b"].values.tolist()]
    where = {"metric": metric, "test_size": test_size}
    delta = cube["observed_delta"].sel(where).values.astype(np.float64)
    swapped = delta < 0
    better = tuple(b if swap else a for a, b, swap in zip(names_a, names_b, swapped, strict=True))
    worse = tuple(a if swap else b for a, b, swap in zip(names_a, names_b, swapped, strict=True))
    copies = find_copies(cube, metric)
    systems = tuple(sorted({*names_a, *names_b} - set(copies)))
    place = {name: position for position, name in enumerate(systems)}
    number = place | {name: place[other] for name, other in copies.items()}
    return PairTable(
        better=better,
        worse=worse,
        first=np.array([number[name] for name in better], dtype=np.int64),
        second=np.array([number[name] for name in worse], dtype=np.int64),
        gain=np.abs(delta),
        se=read_standard_errors(cube, metric=metric, test_size=test_size),
        p=cube["p_value"].sel(where | {"procedure": procedure, "convention": ONE_SIDED}).values.astype(np.float64),
        identical=cube["identical"].sel(where).values.astype(np.bool_),
        copied=np.array([a in copies or b in copies for a, b in zip(better, worse, strict=True)], dtype=np.bool_),
        systems=systems,
    )


def find_common(tables: Sequence[PairTable]) -> list[NDArray[np.int64]]:
    """Return where in each table the pairs are that are measured in all of them, in the order of the first."""
    number = {name: place for place, name in enumerate(sorted({name for table in tables for name in table.systems}))}
    codes, places = [], []
    for table in tables:
        own = np.array([number[name] for name in table.systems], np.int64)
        measured = np.flatnonzero(table.measured)
        one, other = own[table.first[measured]], own[table.second[measured]]
        code = np.minimum(one, other) * len(number) + np.maximum(one, other)
        order = np.argsort(code)
        codes.append(code[order])
        places.append(measured[order])
    common = reduce(partial(np.intersect1d, assume_unique=True), codes)
    common = common[np.argsort(places[0][np.searchsorted(codes[0], common)])]
    return [place[np.searchsorted(code, common)] for code, place in zip(codes, places, strict=True)]


BORDERLINE = (0.04, 0.06)
"""The p-values of borderline pairs, as in the paper: the default window of every analysis that has one."""
NEAR = (0.005, 0.3)
"""The p-values of pairs that are not far from borderline: standard errors grow with the gain where systems differ much."""
FEW_PAIRS = 20
"""Borderline pairs, or pairs near borderline: fewer say little."""


@dataclass(frozen=True)
class Window:
    """Which pairs are borderline, and which percentile of their gains is the threshold (Berg-Kirkpatrick 2012, §3.1.1)."""

    low: float = BORDERLINE[0]
    high: float = BORDERLINE[1]
    percentile: float = 95.0

    def __post_init__(self) -> None:
        if not 0 <= self.low < self.high <= 1:
            raise ValueError(f"the window [{self.low}, {self.high}] must be two increasing numbers between 0 and 1")
        if not 0 <= self.percentile <= 100:
            raise ValueError(f"the percentile {self.percentile} must be between 0 and 100")

    @property
    def z(self) -> float:
        """The standard normal quantile at the window's middle, 1.645 by default."""
        return -float(ndtri((self.low + self.high) / 2))

    def holds(self, p: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which p-values are in the window, its ends included."""
        return (p >= self.low) & (p <= self.high)


def percentile_of(gains: NDArray[np.float64], percentile: float) -> float | None:
    """Return the type 7 percentile (NumPy's and R's default) of the gains, or None where there are none.

    Examples
    --------
    >>> percentile_of(np.array([4.0, 1.0, 2.0, 3.0]), 75.0)
    3.25
    """
    return float(np.percentile(gains, percentile, method="linear")) if len(gains) else None
