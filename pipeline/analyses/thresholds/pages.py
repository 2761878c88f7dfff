"""Thresholds in a report: tables, a figure of the classes, sentences of verdicts, and marks in the scatters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pipeline.analyses.pair_classes import name_class
from pipeline.analyses.pairs import Window
from pipeline.analyses.presentation import baseline_of, decimals_of, name_procedure, say_intervals, select, title_of
from pipeline.analyses.thresholds.kinship import KINSHIP_NOTES
from pipeline.interfaces import Column, Figure, Headline, Mark, Section, Table
from pipeline.interfaces.analyses import FULL
from pipeline.interfaces.charts import Chart
from pipeline.interfaces.figures import INK, PALETTE
from pipeline.interfaces.wording import format_gain, format_interval, name_metric, shorten

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["SECTION", "describe_rules", "draw_thresholds", "mark_scatters", "show_tables", "state_thresholds"]

SECTION = Section("thresholds", "Thresholds", after="figures")
MOST_CLASSES = 20
"""Classes in one figure."""

_LONGEST = 40
_KEYS = ("test_set", "metric", "procedure")
_NOTES = (
    "A threshold is the {percentile:g}th percentile (type 7) of the gains of the pairs with a one-sided p in [{low:g}, {high:g}]; "
    "two-sided thresholds are about 19 % higher.",
    "By standard errors: {z:.3f} times the {percentile:g}th percentile of the standard errors of all pairs of the class, which "
    "needs no pair in the window; by pairs near borderline: the same of the pairs with p in [{near_low:g}, {near_high:g}], where "
    "there are {few}. Standard errors grow with the gain where systems differ much, and the second is then nearer to the window.",
    "It describes this test set and systems like these; it is no substitute for the test (Berg-Kirkpatrick et al. 2012).",
    "Intervals are for the population that the systems come from, on this test set. They are shown where the systems are many "
    "enough for an upper end; intervals from resampled systems are too low.",
    "The logistic gain is where a logistic curve of (p ≤ α) on the gain, over all pairs, reaches 1 − α.",
)
_COLUMNS = (
    Column("units", "units", "count"),
    Column("pairs_of", "pairs of"),
    Column("gain", "threshold", "score"),
    Column("interval", "95 % interval", "interval"),
    Column("pairs_in_window", "pairs in window", "count"),
    Column("systems_in_window", "systems in window", "count"),
    Column("se_gain", "threshold by standard errors", "score"),
    Column("se_interval", "its 95 % interval", "interval"),
    Column("se_pairs", "all pairs", "count"),
    Column("near_gain", "by pairs near borderline", "score"),
    Column("near_pairs", "pairs near borderline", "count"),
    Column("median_gain", "median gain in window", "score"),
    Column("gaussian_gain", "{z} × median standard error", "score"),
    Column("logistic_gain", "logistic threshold", "score"),
    Column("remark", "remark"),
)
_KINSHIP_COLUMNS = (
    Column("units", "units", "count"),
    Column("pairs_of", "pairs of"),
    Column("pairs", "pairs", "count"),
    Column("other_pairs", "other pairs", "count"),
    Column("median_se", "median standard error", "score"),
    Column("other_median_se", "that of other pairs", "score"),
    Column("ratio", "ratio at equal gain", "number"),
    Column("p", "p", "p"),
    Column("near_ratio", "ratio near borderline", "number"),
    Column("near_p", "its p", "p"),
    Column("counted", "arrangements"),
    Column("reason", "remark"),
)


def describe_rules(spec: Window, near: tuple[float, float], few: int) -> list[str]:
    """Return the sentences that must be shown beside thresholds."""
    words = {"percentile": spec.percentile, "low": spec.low, "high": spec.high, "z": spec.z}
    return [note.format(**words, near_low=near[0], near_high=near[1], few=few) for note in _NOTES]


def show_tables(rows: Sequence[Mapping[str, Any]], kinship: Sequence[Mapping[str, Any]], notes: Sequence[str]) -> Iterator[Table]:
    """Yield the tables: thresholds by test set, metric and procedure, kinship by test set and metric."""
    for place in dict.fromkeys(tuple(row[key] for key in _KEYS) for row in rows):
        where = dict(zip(_KEYS, place, strict=True))
        own = select(rows, **where)
        z = f"{own[0]['gaussian_z']:.3f}"
        gaussian = f"{z} × median standard error: what the median of the gains in the window would be for Gaussian differences."
        columns = tuple(replace(column, head=column.head.format(z=z)) for column in _COLUMNS)
        caption = " ".join(dict.fromkeys([*notes, gaussian, *say_intervals(own)]))
        yield Table(title_of(where), where, columns, caption, SECTION.key, tuple(map(_shown, own)))
    for test_set, metric in dict.fromkeys((row["test_set"], row["metric"]) for row in kinship):
        where = {"test_set": test_set, "metric": metric}
        shown = tuple(_shown_kinship(row) for row in select(kinship, **where))
        title = f"Standard errors by {shown[0]['relation_by']} · {test_set} · {name_metric(metric)}"
        yield Table(title, where, _KINSHIP_COLUMNS, " ".join(KINSHIP_NOTES), SECTION.key, shown)


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    remark = "; ".join(words for words in (row["reason"], row["warning"]) if words)
    return {**row, "pairs_of": name_class(row), "remark": remark or None}


def _shown_kinship(row: Mapping[str, Any]) -> dict[str, Any]:
    number = row["arrangements"]
    counted = None if number is None else f"all {number:,}" if row["exact"] else f"{number:,}"
    return {**row, "pairs_of": name_class(row), "counted": counted}


def state_thresholds(cubes: Mapping[str, xr.Dataset], rows: Sequence[Mapping[str, Any]], *, few: int) -> Iterator[Headline]:
    """Yield what verdicts say about the gains that are usually significant on the full test sets."""
    for row in select(rows, test_size=FULL, relation="all"):
        # Thresholds are of all pairs, also of those outside the family of a baseline.
        cube = cubes[row["test_set"]]
        if baseline_of(cube) is not None:
            continue
        sentence = _state(row, decimals_of(cubes, row["metric"]), few, str(cube.attrs.get("unit", "item")))
        if sentence is not None:
            yield Headline({key: row[key] for key in _KEYS}, sentence)


def _state(row: Mapping[str, Any], digits: int, few: int, unit: str) -> str | None:
    pairs, window = row["pairs_in_window"], "p from {:g} to {:g}".format(*row["window"])
    if pairs >= few:
        claim = _claim(row, row["gain"], row["interval"], digits, unit)
        return f"{claim} This is the {row['percentile']:g}th percentile of the gains of the {pairs:,} pairs with {window}."
    if row["se_pairs"] >= few:
        near = row["near_gain"] is not None
        gain, interval = (row["near_gain"], None) if near else (row["se_gain"], row["se_interval"])
        whose = "all {:,} pairs".format(row["se_pairs"])
        if near:
            whose = "the {:,} pairs with p from {:g} to {:g}".format(row["near_pairs"], *row["near_p"])
        few_there = f"only {pairs} {'has' if pairs == 1 else 'have'}" if pairs else "none has"
        claim = _claim(row, gain, interval, digits, unit)
        return (
            f"{claim} This is {row['gaussian_z']:.3f} times the {row['percentile']:g}th percentile "
            f"of the standard errors of {whose}, since {few_there} {window}."
        )
    return None  # a gain of few pairs is these pairs, and no threshold


def _claim(row: Mapping[str, Any], gain: float, interval: Any, digits: int, unit: str) -> str:
    """Say above which gain a pair is usually significant, in a sentence that can be read by itself."""
    ends = f" {format_interval(interval, digits)}" if interval else ""
    drawn = {"item": "", "document": " documents"}.get(unit, f" units of {unit}")
    above = f"With n = {row['units']:,}{drawn}, a gain above {format_gain(gain, digits)}{ends}"
    return f"{above} is usually significant where one pair alone is tested, one-sided."


def mark_scatters(cubes: Mapping[str, xr.Dataset], rows: Sequence[Mapping[str, Any]], *, few: int) -> Iterator[Mark]:
    """Yield what the scatters show: the window as a band, the classes of pairs, and a line at each threshold.

    If no pair is in the window, the line is at the threshold by standard errors.
    """
    for row in select(rows, test_size=FULL):
        where = {key: row[key] for key in _KEYS}
        low, high = row["window"]
        if row["relation"] == "all":
            caption = f"The band is p in [{low:g}, {high:g}]"
            caption += (
                f", a dashed line the {row['percentile']:g}th percentile of the gains in it." if row["gain"] is not None else "."
            )
            yield Mark(where, "p", (low, high), caption=caption, relation=row["relation_by"])
        values = tuple((str(x), str(y)) for x, y in row["values"])
        of = {"pairs": row["relation"], "relation": row["relation_by"], "values": values}
        digits, pairs = decimals_of(cubes, row["metric"]), row["pairs_in_window"]
        if row["gain"] is not None:
            gain, count = format_gain(row["gain"], digits), f"{pairs:,} pair{'' if pairs == 1 else 's'}"
            alt = f"Threshold, {row['relation']}: {gain} from {count}."
            yield Mark(where, "gain", row["gain"], f"{gain}, {count}", alt, **of)
        elif row["se_pairs"] >= few:
            gain = f"{format_gain(row['se_gain'], digits)} by se"
            caption = "Where no pair of a class is in the band, its line is at the threshold by standard errors (by se)."
            yield Mark(where, "gain", row["se_gain"], gain, f"Threshold, {row['relation']}: {gain}.", caption, **of)
        else:
            yield Mark(where, "gain", None, **of)


def draw_thresholds(cubes: Mapping[str, xr.Dataset], rows: Sequence[Mapping[str, Any]]) -> Iterator[Figure]:
    """Yield the figures of the classes of pairs on the full test sets, if there are several, with as many in each as fit."""
    full = [row for row in rows if row["test_size"] == FULL and (row["gain"] is not None or row["se_gain"] is not None)]
    for place in dict.fromkeys(tuple(row[key] for key in _KEYS) for row in full):
        where = dict(zip(_KEYS, place, strict=True))
        own = select(full, **where)
        if len(own) < 2:
            continue
        digits = decimals_of(cubes, where["metric"])
        name = f"Thresholds by class of pairs, {where['test_set']}, {name_metric(where['metric'])}"
        parts = [own[at : at + MOST_CLASSES] for at in range(0, len(own), MOST_CLASSES)]
        for number, some in enumerate(parts, start=1):
            part = f" ({number} of {len(parts)})" if len(parts) > 1 else ""
            title = f"{name}{name_procedure(cubes, where['procedure'])}{part}"
            alt = " ".join(_describe(row, digits) for row in some)
            caption = (
                "Filled: the threshold among borderline pairs. Hollow: by the standard errors of all pairs of the class; "
                "cross: of those near borderline. Lines are 95 % intervals, where there are any."
            )
            draw, size = partial(_draw, some, where["metric"]), (7.2, 1.3 + 0.28 * len(some))
            yield Figure("thresholds", title, alt, caption, draw, "thresholds", SECTION.key, size=size, plain=True)


def _describe(row: Mapping[str, Any], digits: int) -> str:
    window = "none in the window" if row["gain"] is None else f"{format_gain(row['gain'], digits)} in the window"
    return f"{name_class(row)}: {window}, {format_gain(row['se_gain'], digits)} by se."


def _draw(rows: Sequence[Mapping[str, Any]], metric: str, chart: Chart) -> None:
    marks = (
        ("gain", "interval", "o", PALETTE[0], "borderline pairs"),
        ("se_gain", "se_interval", "s", PALETTE[1], "standard errors of all pairs"),
        ("near_gain", None, "x", INK, "of pairs near borderline"),
    )
    largest = 0.0
    for shift, (key, interval, marker, colour, label) in zip((0.18, 0.0, -0.18), marks, strict=True):
        there = [(row[key], len(rows) - 1 - place + shift, row[interval] if interval else None) for place, row in enumerate(rows)]
        there = [one for one in there if one[0] is not None]
        if not there:
            continue
        largest = max([largest, *(x for x, _, _ in there), *(ends["hi"] for _, _, ends in there if ends is not None)])
        chart.points([x for x, _, _ in there], [y for _, y, _ in there], marker, colour=colour, filled=marker == "o", label=label)
        for _, y, ends in there:
            if ends is not None:
                chart.line([ends["lo"], ends["hi"]], [y, y], colour=colour, width=1.9)
    names = [f"{shorten(name_class(row), _LONGEST)} ({row['se_pairs']:,})" for row in reversed(rows)]
    chart.y.ticks, chart.y.low, chart.y.high = list(enumerate(names)), -0.6, len(rows) - 0.4
    chart.x.label, chart.x.low, chart.x.high = f"gain in {name_metric(metric)}", 0, 1.06 * largest
    chart.legend = "above"
