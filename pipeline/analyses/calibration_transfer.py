"""Does a small p on one test set predict the sign on another? Table 1 of Berg-Kirkpatrick and others (2012).

Pairs are ordered by their gain on the base test set at its full size and binned by their one-sided strict p there; the share
of each bin with a gain of the same sign on another test set is what is found. The pairs are joined by the names of their
systems. A pair that is tied on the other test set has no sign: it is counted apart and is not in the share.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.pair_classes import find_base
from pipeline.analyses.pairs import (
    BORDERLINE,
    FEW_PAIRS,
    PairTable,
    describe_copies,
    describe_one_sided,
    list_slices,
    read_pairs,
)
from pipeline.analyses.presentation import in_parts, name_procedure, say_intervals, select
from pipeline.analyses.system_bootstrap import REPLICATES, SystemBootstrap, share_of_weight, system_interval
from pipeline.analyses.units import count_shared
from pipeline.interfaces import Analysis, Column, Figure, Finding, ScoredStatistics, Section, Table
from pipeline.interfaces.figures import INK, PALETTE, tidy_axes
from pipeline.interfaces.wording import shorten
from pipeline.options import meant, read_options

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

__all__ = ["CalibrationOptions", "CalibrationTransfer"]

FULL = "full"
NOTES = (
    "A bin holds the pairs with low < p ≤ high (the first includes p = 0), p one-sided and strict, on the base test set at its "
    "full size; the row called window is the text's [0.04, 0.06], both ends included, and overlaps its neighbours.",
    "Pairs tied on the other test set have no sign there: counted apart, not in the share. A share of 50 % says that p on the "
    "base test set says nothing about the other.",
    "Pairs share systems: intervals resample systems, not pairs. Agreement is not 1 − p.",
)


SECTION = Section("calibration", "Calibration across test sets", after="figures")
_COLUMNS = (
    Column("p_on_base", "p on the base"),
    Column("pairs", "pairs", "count"),
    Column("same_sign", "same sign", "count"),
    Column("ties", "tied", "count"),
    Column("share", "share", "share"),
    Column("interval", "95 % interval", "share-interval"),
    Column("systems", "systems", "count"),
    Column("remark", "remark"),
)
_LONGEST = 28


@dataclass(frozen=True)
class CalibrationOptions:
    """Options: the ``base`` test set (the first), those ``against`` it (all others), upper edges of the ``bins`` of p."""

    base: str | None = None
    against: tuple[str, ...] | str = ()
    bins: tuple[float, ...] = (0.00125, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08)
    window: tuple[float, float] = BORDERLINE
    interval_replicates: int = REPLICATES

    def __post_init__(self) -> None:
        edges = (0.0, *self.bins)
        if not self.bins or any(b <= a for a, b in pairwise(edges)) or edges[-1] > 1:
            raise ValueError(f"bins must be increasing numbers above 0 and not above 1, got {list(self.bins)}")
        if len(self.window) != 2 or not 0 <= self.window[0] < self.window[1] <= 1:
            raise ValueError(f"window must be two increasing numbers between 0 and 1, got {list(self.window)}")
        if not 100 <= self.interval_replicates <= 100_000:
            raise ValueError(f"interval_replicates {self.interval_replicates} must be between 100 and 100000")


@dataclass(frozen=True, eq=False)
class CalibrationTransfer(Analysis):
    """The share of pairs that keep their order on another test set, by p-value."""

    name: ClassVar[str] = "calibration-transfer"
    default_place: ClassVar[int | None] = 3
    of_single_runs: ClassVar[bool] = True
    items: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Names of the items by test set, where they are known."""

    def with_statistics(self, statistics: Mapping[str, Mapping[str, ScoredStatistics]]) -> CalibrationTransfer:
        """Return the analysis that knows which items test sets have in common."""
        some = {name: next(iter(of_set.values())) for name, of_set in statistics.items() if of_set}
        return CalibrationTransfer({name: tuple(map(str, one.data["item"].values.tolist())) for name, one in some.items()})

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options that are unknown or of no use."""
        read_options(CalibrationOptions, options, analysis=self.name)

    def find(self, cubes: Mapping[str, xr.Dataset], options: Mapping[str, Any]) -> Finding:
        """Return a row for each other test set, metric, procedure and bin of p."""
        chosen = read_options(CalibrationOptions, options, analysis=self.name)
        base = chosen.base or next(iter(cubes), None)
        named = (chosen.against,) if isinstance(chosen.against, str) else chosen.against
        others = named or tuple(name for name in cubes if name != base)
        rows: list[dict[str, Any]] = []
        if base is None or base not in cubes:
            rows = [_nothing(base, None, _absent(str(base), cubes))]
        elif not others:
            rows = [_nothing(base, None, "there is one test set: nothing to carry over to")]
        else:
            for other in others:
                if other == base:
                    rows.append(_nothing(base, other, "a test set is not compared with itself"))
                elif other not in cubes:
                    rows.append(_nothing(base, other, _absent(other, cubes)))
                else:
                    shared = count_shared(self.items.get(base, ()), self.items.get(other, ()))
                    rows += [row | {"shared_items": shared} for row in _rows(base, other, cubes, chosen)]
        of_base = {base: cubes[base]} if base is not None and base in cubes else {}
        copies = describe_copies(of_base)
        notes = (*NOTES, *_describe_shared(rows, self.items), *describe_one_sided(of_base), *([copies] if copies else []))
        return Finding(
            self.name,
            tuple(rows),
            notes,
            {"base": base, "bins": list(chosen.bins)},
            tables=tuple(_tables(rows, notes)),
            figures=tuple(_figures(cubes, rows)),
            sections=(SECTION,),
            csv={"calibration": rows},
            interval_of={"calibration": "share"},
        )


def _describe_shared(rows: Sequence[Mapping[str, Any]], items: Mapping[str, Sequence[str]]) -> list[str]:
    """Say which other test sets are not of other items; items are called the same in both."""
    told = {row["against"]: row for row in rows if row["shared_items"]}
    return [
        f"{other} has {row['shared_items']:,} of its {len(items[other]):,} items in common with {row['test_set']}, by their names: "
        "signs agree more often there than on items of its own."
        for other, row in told.items()
    ]


def _absent(name: str, cubes: Mapping[str, xr.Dataset]) -> str:
    return "; ".join(filter(None, [f"there are no results for the test set {name!r}", meant(name, cubes)]))


def _nothing(base: str | None, against: str | None, reason: str, **where: Any) -> dict[str, Any]:
    """Return a row that says why there is no share."""
    return {
        "test_set": base,
        "against": against,
        "metric": None,
        "procedure": None,
        **where,
        "kind": "none",
        "p_low": None,
        "p_high": None,
        "pairs": 0,
        "same_sign": 0,
        "ties": 0,
        "share": None,
        "interval": None,
        "systems": 0,
        "reason": reason,
        "interval_note": None,
        "warning": None,
        "unmatched_pairs": None,
        "shared_items": None,
    }


def _deltas(cube: xr.Dataset, metric: str) -> dict[tuple[str, str], float]:
    """Return the observed difference of every pair in both orders, at full size."""
    values = cube["observed_delta"].sel(metric=metric, test_size=FULL).values.tolist()
    found: dict[tuple[str, str], float] = {}
    for a, b, value in zip(cube["system_a"].values.tolist(), cube["system_b"].values.tolist(), values, strict=True):
        found[str(a), str(b)] = value
        found[str(b), str(a)] = -value
    return found


def _rows(base: str, other: str, cubes: Mapping[str, xr.Dataset], options: CalibrationOptions) -> Iterator[dict[str, Any]]:
    cube = cubes[base]
    there = {str(metric) for metric in cubes[other]["metric"].values.tolist()}
    for metric, procedure in list_slices(cube):
        where = {"metric": metric, "procedure": procedure}
        if metric not in there:
            yield _nothing(base, other, f"the test set {other!r} has no metric {metric!r}", **where)
            continue
        table = read_pairs(cube, metric=metric, test_size=FULL, procedure=procedure)
        found = _deltas(cubes[other], metric)
        delta = np.array([found.get(pair, np.nan) for pair in zip(table.better, table.worse, strict=True)])
        # A pair with gain 0 on the base has no order to keep.
        ordered = table.usable & (table.gain > 0)
        systems = SystemBootstrap(table.systems, find_base(cube), int(cube.attrs.get("seed", 0)), base, FULL)
        edges = (0.0, *options.bins, *((1.0,) if options.bins[-1] < 1 else ()))
        for number, (low, high) in enumerate(pairwise(edges)):
            inside = ordered & (table.p <= high) & ((table.p > low) | (number == 0))
            bin_of = {"test_set": base, "against": other, **where, "kind": "bin", "p_low": low, "p_high": high}
            yield bin_of | _share(table, delta, inside, systems, options)
        low, high = options.window
        inside = ordered & (table.p >= low) & (table.p <= high)
        window = {"test_set": base, "against": other, **where, "kind": "window", "p_low": low, "p_high": high}
        yield window | _share(table, delta, inside, systems, options)


def _share(
    table: PairTable, delta: NDArray[np.float64], inside: NDArray[np.bool_], systems: SystemBootstrap, options: CalibrationOptions
) -> dict[str, Any]:
    matched = inside & np.isfinite(delta)
    signed = matched & (delta != 0)
    hits = delta[signed] > 0
    pairs = len(hits)
    interval, note = system_interval(
        systems,
        table.first[signed],
        table.second[signed],
        lambda weights: share_of_weight(hits, weights),
        replicates=options.interval_replicates,
    )
    return {
        "pairs": int(matched.sum()),
        "same_sign": int(hits.sum()),
        "ties": int(matched.sum()) - pairs,
        "share": float(hits.mean()) if pairs else None,
        "interval": interval,
        "systems": len({*table.first[signed].tolist(), *table.second[signed].tolist()}),
        "reason": None if pairs else "no pair with a sign in this bin",
        "interval_note": (note or systems.note) if pairs else None,
        "warning": f"only {pairs} pairs" if 0 < pairs < FEW_PAIRS else None,
        "unmatched_pairs": int(inside.sum()) - int(matched.sum()),
    }


def _tables(rows: Sequence[Mapping[str, Any]], notes: Sequence[str]) -> Iterator[Table]:
    """Go through the tables: the reasons why there is nothing, then one a test set, metric and procedure, a row a bin."""
    for row in select(rows, kind="none"):
        title = f"{row['test_set']} → {row['against'] or 'other test sets'}"
        yield Table(title, {"kind": "none"}, (Column("reason", "remark"),), section=SECTION.key, rows=(row,))
    there = [row for row in rows if row["kind"] != "none"]
    keys = ("test_set", "against", "metric", "procedure")
    for place in dict.fromkeys(tuple(row[key] for key in keys) for row in there):
        where = dict(zip(keys, place, strict=True))
        own = select(there, **where)
        title = "{test_set} → {against} · {metric} · {procedure}".format(**where)
        caption = " ".join([*notes, *say_intervals(own)])
        yield Table(title, where, _COLUMNS, caption, SECTION.key, tuple(map(_shown, own)))


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    why = None if row["interval"] else row["interval_note"]
    edges = f"{row['p_low']:g} – {row['p_high']:g}" + (" (window)" if row["kind"] == "window" else "")
    remark = "; ".join(words for words in (row["reason"], row["warning"], why) if words)
    return {**row, "p_on_base": edges, "remark": remark or None}


def _figures(cubes: Mapping[str, xr.Dataset], rows: Sequence[Mapping[str, Any]]) -> Iterator[Figure]:
    """Go through the figures, one a metric and procedure, and as many as colours for all other test sets ask."""
    bins = [row for row in rows if row["kind"] == "bin" and row["share"] is not None]
    for base, metric, procedure in dict.fromkeys((row["test_set"], row["metric"], row["procedure"]) for row in bins):
        here = select(bins, test_set=base, metric=metric, procedure=procedure)
        title = f"What p on {base} says of other test sets, {metric}{name_procedure(cubes, procedure)}"
        for part, others in in_parts(title, list(dict.fromkeys(row["against"] for row in here))):
            some = [row for row in here if row["against"] in others]
            alt = "Share of pairs with the same sign, by p. " + " ".join(
                f"{row['against']}, p to {row['p_high']:g}: {100 * row['share']:.0f} % of {_signed(row)}." for row in some
            )
            caption = "Numbers at the foot are pairs; lines are 95 % intervals with the systems resampled; at 50 % p says nothing."
            yield Figure("calibration", part, alt, caption, partial(_draw, some), "calibration", SECTION.key, size=(7.2, 3.9))


def _draw(rows: Sequence[Mapping[str, Any]], axes: Axes) -> None:
    others = list(dict.fromkeys(row["against"] for row in rows))
    edges = sorted({(row["p_low"], row["p_high"]) for row in rows})
    width = 0.8 / len(others)
    axes.axhline(50, color=INK, linewidth=0.9, linestyle=(0, (4, 3)))
    for number, other in enumerate(others):
        own = select(rows, against=other)
        for row in own:
            x = edges.index((row["p_low"], row["p_high"])) + (number - (len(others) - 1) / 2) * width
            label = shorten(other, _LONGEST) if row is own[0] else None
            axes.bar(x, 100 * row["share"], width * 0.9, color=PALETTE[number], alpha=0.45, label=label)
            if row["interval"] is not None:
                axes.vlines(x, 100 * row["interval"]["lo"], 100 * row["interval"]["hi"], color=PALETTE[number], linewidth=1.8)
            count = f"{_signed(row):,}"
            axes.annotate(count, (x, 0), xytext=(0, 3), textcoords="offset points", ha="center", fontsize=7.5)
    axes.set_xticks(range(len(edges)), [f"{_edge(a)}–{_edge(b)}" for a, b in edges], fontsize=8)
    axes.set_ylim(0, 104)
    tidy_axes(axes, x=f"one-sided p on {shorten(rows[0]['test_set'], _LONGEST)}", y="same sign, % of pairs")
    axes.grid(False, axis="x")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3)


def _signed(row: Mapping[str, Any]) -> int:
    """Count the pairs with a sign on the other test set."""
    return int(row["pairs"]) - int(row["ties"])


def _edge(value: float) -> str:
    return f"{value:g}".removeprefix("0") or "0"
