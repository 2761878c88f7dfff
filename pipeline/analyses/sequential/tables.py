"""How looks again and again are shown: tables of pairs and of products, and the words that must be shown beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from pipeline.analyses.presentation import select
from pipeline.analyses.sequential.data import OrderedScores
from pipeline.interfaces import Column, Section, Table
from pipeline.interfaces.wording import name_metric

__all__ = ["NOTES", "PRODUCT_NOTE", "SECTION", "describe_place", "make_tables", "write_e"]

SECTION = Section("sequential", "Looking again and again", after="figures")

NOTES = (
    "Each interval holds at all looks together: however often anybody looks, and whenever they stop, it leaves out the true gain "
    "of its pair with a chance of at most α. No plan of looks is needed, and none is spent (Waudby-Smith and Ramdas 2024).",
    "e is the capital of a bettor against “the two do not differ” who began with 1: 1/α or more has a chance of at most α, at any "
    "time. p is 1 over the largest e so far, valid at all looks together. e-BH: among the pairs marked, the expected share that do "
    "not differ is at most α, whatever their dependence. Intervals, p and “says” are of each pair by itself.",
)
PRODUCT_NOTE = (
    "e-values of test sets with different items are multiplied, in the order in which these were looked at. Items that stand in "
    "two of the test sets would be counted twice, and the product would be no e-value."
)
_GIVEN = (
    "The {units:,} units are taken in the order of the test set, as if they had come in it by chance; units that are sorted by "
    "topic or difficulty have not."
)
_PERMUTED = "The {units:,} units are taken in an order drawn from the study's seed; with more units it is another order."
_MEANS = (
    "All items of a {unit} are one value, their mean: the gain is the mean over units, which is not that over items where units "
    "differ in length."
)
_PRICE = (
    "The price: at {units:,} units these intervals are {ratio:.2g} times as wide as those of a single look that was fixed "
    "beforehand{median}; one look at {fewer:,.0f} units would give the same width."
)
_PAIRS = (
    Column("system_a", "better"),
    Column("system_b", "worse"),
    Column("mean_gain", "gain", "score"),
    Column("interval", "interval at all looks", "interval"),
    Column("interval_of_one_look", "of one look", "interval"),
    Column("e", "e", "written"),
    Column("p", "p at all looks", "p"),
    Column("decided_at", "decided at unit", "count"),
    Column("says", "says"),
    Column("marked", "e-BH"),
    Column("reason", "remark"),
)
_PRODUCTS = (
    Column("system_a", "better"),
    Column("system_b", "worse"),
    Column("by_look", "e after each look", "written"),
    Column("p", "p at all looks", "p"),
    Column("says", "says"),
    Column("marked", "e-BH"),
)
_WHY = (Column("reason", "remark"),)


def write_e(log10: float) -> str:
    """Write an e-value from its decimal logarithm, which may be beyond all floats.

    Examples
    --------
    >>> write_e(0.30103), write_e(3.5), write_e(412.3), write_e(-7.0)
    ('2', '3160', '2.0e+412', '1.0e-07')
    """
    if -4 <= log10 < 4:
        return f"{float(f'{10**log10:.3g}'):g}"
    power = int(np.floor(log10))
    digits = f"{10 ** (log10 - power):.1f}"
    return f"1.0e{power + 1:+03d}" if digits == "10.0" else f"{digits}e{power:+03d}"


def describe_place(scores: OrderedScores, rows: Sequence[Mapping[str, Any]], *, unit: str, order: str) -> str:
    """Say what the numbers of a test set and metric are based on, and what looking often costs there."""
    units = rows[0]["units"]
    low, high = scores.bounds
    told = [
        f"Scores of items lie in {low:g} … {high:g}"
        + (", as the study declares." if scores.declared else ": every item scores one or the other."),
        (_GIVEN if order == "given" else _PERMUTED).format(units=units),
    ]
    if unit != "item":
        told.append(_MEANS.format(unit=unit))
    ratios = [row["width_ratio"] for row in rows if row["width_ratio"] is not None]
    if ratios:
        ratio = float(np.median(ratios))
        median = " (median of pairs)" if len(ratios) > 1 else ""
        told.append(_PRICE.format(units=units, ratio=ratio, median=median, fewer=units / ratio**2))
    return " ".join(told)


def make_tables(rows: Sequence[Mapping[str, Any]], words: Mapping[tuple[str, str], str]) -> Iterator[Table]:
    """Yield the tables: one of pairs for each test set and metric, one of products for each metric, and reasons.

    Parameters
    ----------
    rows : sequence of mapping
    words : mapping
        What `describe_place` says, by test set and metric.
    """
    for test_set, metric in dict.fromkeys((row["test_set"], row["metric"]) for row in select(rows, kind="pair")):
        own = select(rows, kind="pair", test_set=test_set, metric=metric)
        caption = " ".join([words[test_set, metric], *NOTES])
        where = {"test_set": test_set, "metric": metric}
        used = _used(own, _PAIRS)
        yield Table(f"{test_set} · {name_metric(metric)}", where, used, caption, SECTION.key, tuple(map(_shown, own)))
    for metric in dict.fromkeys(row["metric"] for row in select(rows, kind="product")):
        own = select(rows, kind="product", metric=metric)
        title = f"{' × '.join(own[0]['test_sets'])} · {name_metric(metric)}"
        yield Table(title, {"metric": metric}, _PRODUCTS, PRODUCT_NOTE, SECTION.key, tuple(map(_shown, own)))
    for row in select(rows, kind="none"):
        title = " · ".join(str(row[key]) for key in ("test_set", "metric") if row[key] is not None) or "No sequence"
        yield Table(title, {"kind": "none"}, _WHY, section=SECTION.key, rows=(row,))


def _used(rows: Sequence[Mapping[str, Any]], columns: tuple[Column, ...]) -> tuple[Column, ...]:
    return tuple(column for column in columns if column.key != "reason" or any(row["reason"] for row in rows))


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    by_look = ", ".join(map(write_e, row["log10_e_by_look"])) if row["kind"] == "product" else None
    return {**row, "e": write_e(row["log10_e"]), "by_look": by_look, "marked": "yes" if row["e_bh"] else "no"}
