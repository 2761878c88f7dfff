"""Which gain is usually significant? Answered as Berg-Kirkpatrick and others (2012) do.

Each pair is ordered so that its gain is not negative and has the one-sided strict p-value of their Figure 1. Of the pairs with
p in [.04, .06] the 95th percentile of the gains is the threshold: 95 % of the borderline differences were at most as large.
Two-sided thresholds would be 1.96/1.645, 19 % higher. A threshold describes this test set and systems like these.

It draws no figure of its own: its band and line are marks (`_marks`) in the scatters of `pipeline.report.figures`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.special import expit, logit

from pipeline.analyses.pairs import (
    BORDERLINE,
    FULL,
    PairTable,
    Window,
    describe_copies,
    describe_one_sided,
    find_base,
    find_relation,
    list_slices,
    percentile_of,
    read_pairs,
    read_units,
)
from pipeline.analyses.presentation import baseline_of, decimals_of, say_intervals, select, title_of
from pipeline.analyses.system_bootstrap import REPLICATES, SystemBootstrap, system_interval, weighted_percentile
from pipeline.interfaces import Analysis, Column, Finding, Headline, Mark, Section, Table
from pipeline.interfaces.wording import format_interval, format_number
from pipeline.options import read_options

__all__ = ["FEW_PAIRS", "ThresholdOptions", "Thresholds"]

FEW_PAIRS = 20
"""Pairs in the window: of fewer a threshold says little."""

_STEPS = 50
_CONVERGED = 1e-10
NOTES = (
    "A threshold is the {percentile:g}th percentile (type 7) of the gains of the pairs with a one-sided p in [{low:g}, {high:g}]; "
    "two-sided thresholds are about 19 % higher.",
    "It describes this test set and systems like these; it is no substitute for the test (Berg-Kirkpatrick et al. 2012).",
    "Intervals resample systems, not pairs, at an address made from the study's seed: they come out the same every time.",
    "The logistic gain is where a logistic curve of (p ≤ α) on the gain, over all pairs, reaches 1 − α.",
)


SECTION = Section("thresholds", "Thresholds", after="figures")
_COLUMNS = (
    Column("units", "units", "count"),
    Column("pairs_of", "pairs of"),
    Column("gain", "threshold", "score"),
    Column("interval", "95 % interval", "interval"),
    Column("pairs_in_window", "in window", "count"),
    Column("systems_in_window", "systems", "count"),
    Column("median_gain", "median", "score"),
    Column("gaussian_gain", "{z} se", "score"),
    Column("logistic_gain", "logistic", "score"),
    Column("remark", "remark"),
)


@dataclass(frozen=True)
class ThresholdOptions:
    """Options: ``relation`` names the coordinate that splits pairs, ``combinations`` adds a class for each two of its values."""

    window: tuple[float, float] = BORDERLINE
    percentile: float = 95.0
    relation: str | None = None
    combinations: bool = False
    alpha: float | None = None
    interval_replicates: int = REPLICATES

    def __post_init__(self) -> None:
        if len(self.window) != 2:
            raise ValueError(f"window takes two numbers, got {len(self.window)}")
        self.spec.holds(np.zeros(1))
        if self.alpha is not None and not 0 < self.alpha < 1:
            raise ValueError(f"alpha {self.alpha} must be between 0 and 1")
        if not 100 <= self.interval_replicates <= 100_000:
            raise ValueError(f"interval_replicates {self.interval_replicates} must be between 100 and 100000")

    @property
    def spec(self) -> Window:
        """The window and the percentile."""
        return Window(*self.window, percentile=self.percentile)


class Thresholds(Analysis):
    """The gain above which a difference is usually significant, by test size and relation of the systems."""

    name: ClassVar[str] = "thresholds"
    default_place: ClassVar[int | None] = 1
    of_compare: ClassVar[bool] = True

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options that are unknown or of no use."""
        read_options(ThresholdOptions, options, analysis=self.name)

    def find(self, cubes: Mapping[str, xr.Dataset], options: Mapping[str, Any]) -> Finding:
        """Return a row for each test set, metric, procedure, test size and class of pairs."""
        chosen = read_options(ThresholdOptions, options, analysis=self.name)
        rows = [row for name, cube in cubes.items() for row in _rows(name, cube, chosen)]
        notes = [note.format(percentile=chosen.spec.percentile, low=chosen.spec.low, high=chosen.spec.high) for note in NOTES]
        notes += describe_one_sided(cubes)
        if any(find_relation(cube, chosen.relation) is None for cube in cubes.values()):
            wanted = chosen.relation or "model or group"
            notes.append(f"Pairs are not split everywhere: no coordinate {wanted} says which systems belong together.")
        notes += [note for note in [describe_copies(cubes)] if note]
        return Finding(
            self.name,
            tuple(rows),
            tuple(notes),
            tables=tuple(_tables(rows, notes)),
            sections=(SECTION,),
            headlines=tuple(_headlines(cubes, rows)),
            marks=tuple(mark for row in rows if row["test_size"] == FULL for mark in _marks(cubes, row)),
        )


def _rows(name: str, cube: xr.Dataset, options: ThresholdOptions) -> Iterator[dict[str, Any]]:
    relation = find_relation(cube, options.relation)
    base = find_base(cube)
    alpha = float(options.alpha if options.alpha is not None else cube.attrs.get("alpha", 0.05))
    for metric, procedure in list_slices(cube):
        for size, units in read_units(cube).items():
            table = read_pairs(cube, metric=metric, test_size=size, procedure=procedure)
            classes: dict[str, NDArray[np.bool_]] = {"all": np.ones(len(table.gain), dtype=np.bool_)}
            if relation is not None:
                classes |= relation.classes(table, combinations=options.combinations)
            systems = SystemBootstrap(table.systems, base, int(cube.attrs.get("seed", 0)), name, size)
            for label, members in classes.items():
                yield {
                    "test_set": name,
                    "metric": metric,
                    "test_size": size,
                    "units": units,
                    "procedure": procedure,
                    "relation": label,
                    "relation_by": relation.name if relation is not None else None,
                    **_row(table, members, systems, options, alpha),
                }


def _row(
    table: PairTable, members: NDArray[np.bool_], systems: SystemBootstrap, options: ThresholdOptions, alpha: float
) -> dict[str, Any]:
    spec = options.spec
    usable = members & table.usable
    inside = usable & spec.holds(table.p)
    gains = table.gain[inside]
    gain = percentile_of(gains, spec.percentile)
    interval, interval_reason = system_interval(
        systems,
        table.first[inside],
        table.second[inside],
        lambda weights: weighted_percentile(gains, weights, spec.percentile),
        replicates=options.interval_replicates,
    )
    curve, curve_reason = fit_logistic(table.gain[usable], table.p[usable] <= alpha, share=1 - alpha)
    few = f"only {len(gains)} pairs in the window: fewer than {FEW_PAIRS} say little" if 0 < len(gains) < FEW_PAIRS else None
    return {
        "gain": gain,
        "reason": None if gain is not None else f"no pair has a p-value in [{spec.low:g}, {spec.high:g}]",
        "interval": interval,
        "interval_note": interval_reason or systems.note,
        "pairs_in_window": len(gains),
        "systems_in_window": len({*table.first[inside].tolist(), *table.second[inside].tolist()}),
        "pairs": int(usable.sum()),
        "identical_pairs": int((members & table.identical).sum()),
        "copied_pairs": int((members & ~table.identical & table.copied).sum()),
        "pairs_without_p": int((members & ~table.identical & ~table.copied & ~table.usable).sum()),
        "warning": few,
        "median_gain": float(np.median(gains)) if len(gains) else None,
        "gaussian_gain": gaussian_gain(table.se[inside], spec),
        "gaussian_z": spec.z,
        "logistic_gain": curve,
        "logistic_reason": curve_reason,
        "alpha": alpha,
        "window": [spec.low, spec.high],
        "percentile": spec.percentile,
    }


def _tables(rows: Sequence[Mapping[str, Any]], notes: Sequence[str]) -> Iterator[Table]:
    """Go through the tables, one a test set, metric and procedure."""
    keys = ("test_set", "metric", "procedure")
    for place in dict.fromkeys(tuple(row[key] for key in keys) for row in rows):
        where = dict(zip(keys, place, strict=True))
        own = select(rows, **where)
        z = f"{own[0]['gaussian_z']:.3f}"
        gaussian = (
            f"{z} se: what the median of the gains in the window would be for Gaussian differences, {z} times the median se there."
        )
        columns = tuple(replace(column, head=column.head.format(z=z)) for column in _COLUMNS)
        caption = " ".join(dict.fromkeys([*notes, gaussian, *say_intervals(own)]))
        yield Table(title_of(where), where, columns, caption, SECTION.key, tuple(map(_shown, own)))


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    by = f" {row['relation_by']}" if row["relation"] in {"same", "different"} else ""
    remark = "; ".join(words for words in (row["reason"], row["warning"]) if words)
    return {**row, "pairs_of": f"{row['relation']}{by}", "remark": remark or None}


def _headlines(cubes: Mapping[str, xr.Dataset], rows: Sequence[Mapping[str, Any]]) -> Iterator[Headline]:
    """Go through what verdicts say of the borderline pairs of the full test sets."""
    for row in select(rows, test_size=FULL, relation="all"):
        # Thresholds are of all pairs, also of those outside the family of a baseline.
        if row["gain"] is None or baseline_of(cubes[row["test_set"]]) is not None:
            continue
        digits = decimals_of(cubes, row["metric"])
        pairs, gain, size = row["pairs_in_window"], format_number(row["gain"], digits), f"n = {row['units']:,}"
        if row["warning"]:
            count = "1 borderline pair" if pairs == 1 else f"{pairs} borderline pairs"
            sentence = f"The threshold at this size ({size}), {gain}, rests on only {count}: treat it as a rough guide."
        else:
            interval = f" {format_interval(row['interval'], digits)}" if row["interval"] else ""
            sentence = (
                f"At this size ({size}) gains above {gain}{interval} are usually significant: "
                f"the {row['percentile']:g}th percentile of the gains of {pairs:,} borderline pairs."
            )
        yield Headline({key: row[key] for key in ("test_set", "metric", "procedure")}, sentence)


def _marks(cubes: Mapping[str, xr.Dataset], row: Mapping[str, Any]) -> Iterator[Mark]:
    """Go through what the scatters show: the window as a band, and a line at the threshold."""
    where = {key: row[key] for key in ("test_set", "metric", "procedure")}
    low, high = row["window"]
    if row["relation"] == "all":
        caption = f"The band is p in [{low:g}, {high:g}], a dashed line the {row['percentile']:g}th percentile of the gains in it."
        yield Mark(where, "p", (low, high), caption=caption, relation=row["relation_by"])
    if row["gain"] is not None:
        gain, pairs = format_number(row["gain"], decimals_of(cubes, row["metric"])), row["pairs_in_window"]
        count = f"{pairs} pair{'' if pairs == 1 else 's'}"
        alt = f"Threshold, {row['relation']}: {gain} from {count}."
        yield Mark(where, "gain", row["gain"], f"{gain}, {count}", alt, pairs=row["relation"], relation=row["relation_by"])


def gaussian_gain(se: NDArray[np.float64], window: Window) -> float | None:
    """Return the median gain expected in the window if differences were Gaussian: z times the median se."""
    return window.z * float(np.median(se)) if len(se) else None


def fit_logistic(gain: NDArray[np.float64], significant: NDArray[np.bool_], *, share: float) -> tuple[float | None, str | None]:
    """Return the gain at which the fitted chance of ``p ≤ α`` reaches ``share``, or the reason why there is none.

    All pairs enter, not those in the window alone: logit P(p ≤ α) = β₀ + β₁ · gain, by Newton's method from zero, so that the
    same pairs give the same bits.
    """
    if significant.all() or not significant.any():
        return None, "no curve: every pair is on the same side of α"
    if gain[significant].min() >= gain[~significant].max():
        return None, "no curve: the gain alone separates the pairs with p ≤ α from the others"
    scale = float(gain.std())
    if scale == 0:
        return None, "no curve: all gains are equal"
    centre = float(gain.mean())
    design = np.column_stack([np.ones_like(gain), (gain - centre) / scale])
    beta = np.zeros(2)
    for _ in range(_STEPS):
        fitted = expit(design @ beta)
        curvature = design.T @ (design * (fitted * (1 - fitted))[:, None])
        step = np.linalg.solve(curvature + 1e-12 * np.eye(2), design.T @ (significant - fitted))
        beta = beta + step
        if float(np.abs(step).max()) < _CONVERGED:
            break
    else:
        return None, f"no curve: the fit did not settle in {_STEPS} steps"
    if beta[1] <= 0:
        return None, "no curve: larger gains are not more often significant here"
    found = centre + scale * (float(logit(share)) - float(beta[0])) / float(beta[1])
    return (found, None) if found > 0 else (None, "no curve: the fit reaches the level below a gain of 0")
