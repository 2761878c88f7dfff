"""What units and strata do to a study's numbers, in words: how many there are, and the checks on them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.sample_size.power import critical_value
from pipeline.inference.unit_diagnostics.few_units import expected_rejection
from pipeline.inference.unit_diagnostics.unit_guard import expected_stratified_rejection, guard_units, warning_words
from pipeline.interfaces import Check
from pipeline.interfaces.wording import name_metric
from pipeline.numerics.special import ndtr, ndtri
from pipeline.report.document import Report
from pipeline.report.facts import ItemClusters, Strata, TestSetRow
from pipeline.report.pairs.notes import NOTICEABLE, are_clustered
from pipeline.report.pairs.pairs import Pairs, as_pairs
from pipeline.report.rows import PairRow

if TYPE_CHECKING:
    import xarray as xr

__all__ = [
    "check_units",
    "count_size",
    "count_units",
    "describe_design_effect",
    "expect_rejection",
    "sign_strata",
    "trust_independence",
    "unit_reasons",
]

_Effects = Mapping[tuple[str, str, str], float]
"""By metric and pair."""

_Known = tuple[TestSetRow, ItemClusters, _Effects]
"""A test set, what its items stand in, and what that does."""

LIBERAL = 0.06
"""Share of true nulls rejected at .05 above which strata are remarked on."""


def count_units(items: int | None, units: int, unit: str, form: str | None = None) -> str:
    """Return how many items of a format there are, and in how many units where items are not drawn one by one.

    Examples
    --------
    >>> count_units(2037, 181, "document", "text")
    '2,037 segments in 181 documents'
    >>> count_units(12, 3, "genre", "scores")
    '12 items in 3 units (genre)'
    """
    noun = _ITEMS.get(form or "", "items")
    if unit == "item":
        return f"{units:,} {noun}"
    drawn = f"{units:,} {unit}s" if unit == "document" else f"{units:,} units ({unit})"
    return drawn if items is None else f"{items:,} {noun} in {drawn}"


def name_units(unit: str, form: str | None = None) -> str:
    """Return what the units of a format are called, several of them.

    Examples
    --------
    >>> name_units("item", "text"), name_units("item", "scores"), name_units("document"), name_units("genre")
    ('segments', 'items', 'documents', 'units of genre')
    """
    if unit == "item":
        return _ITEMS.get(form or "", "items")
    return f"{unit}s" if unit == "document" else f"units of {unit}"


def count_size(items: int | None, units: int, unit: str) -> str:
    """Return n: the units that are drawn, and the items that they are made of.

    Examples
    --------
    >>> count_size(500, 500, "item"), count_size(500, 50, "document"), count_size(12, 3, "genre")
    ('n = 500', 'n = 50 documents (500 items)', 'n = 3 units of genre (12 items)')
    """
    if unit == "item":
        return f"n = {units:,}"
    return f"n = {units:,} {name_units(unit)}" + (f" ({items:,} items)" if items is not None else "")


_ITEMS = {
    **dict.fromkeys(("text", "mt-metrics-eval"), "segments"),
    **dict.fromkeys(("columns", "conllu", "tagged", "brackets"), "sentences"),
    **{"links": "sentence pairs", "trn": "utterances", "trec": "topics", "swe-bench": "instances"},
}
"""What the items of a format are called."""


def unit_reasons(cubes: Mapping[str, xr.Dataset], units: Sequence[str]) -> dict[str, str]:
    """Say why pairs have no design effect, and why a study has no one unit."""
    several = {"unit": f"test sets have units of their own: {', '.join(units)}"} if len(units) > 1 else {}
    lacking = [name for name, cube in cubes.items() if not cube.attrs.get("clusters")]
    if not lacking:
        return several
    where = "" if len(lacking) == len(cubes) else f" on {', '.join(lacking)}"
    why = f"no design effect{where}: it is not known which items stand together in documents"
    same = f"no intra-cluster correlation{where}, for the same reason"
    return several | {"pairs.design_effect": why, "pairs.intra_cluster_correlation": same}


def expect_rejection(cube: xr.Dataset, units: float) -> float | None:
    """Return the share of true nulls that a bootstrap of so many units rejects at .05, within the strata of a cube, if any."""
    strata = cube.attrs.get("strata")
    return expected_stratified_rejection(units, int(strata["count"])) if strata else expected_rejection(units)


def sign_strata(strata: str | None) -> list[str]:
    """Return what a signature says of strata: nothing where there are none."""
    return [f"strata:{strata}"] if strata is not None else []


def check_units(report: Report) -> Iterator[tuple[str, bool, str]]:
    """Yield the checks on units: name, whether to check, and the words."""
    drawn: list[_Known] = []
    alike: list[_Known] = []
    within: list[tuple[TestSetRow, Strata]] = []
    known = _effects(report)
    for test_set in report.test_sets:
        clusters, strata, effects = test_set.clusters, test_set.strata, known.get(test_set.name)
        if clusters and effects:
            (alike if clusters.column == test_set.unit else drawn).append((test_set, clusters, effects))
        if strata:
            within.append((test_set, strata))
    if drawn:
        found = [_items_drawn(*one) for one in drawn]
        yield "Items in documents", any(bad for bad, _ in found), " ".join(words for _, words in found)
    if alike:
        yield "Design effect", False, " ".join(_units_drawn(*one) for one in alike)
    if within:
        found = [_strata(*one) for one in within]
        tails = " Tails below 10/b are counted, not computed."
        yield "Strata", any(bad for bad, _ in found), " ".join(words for _, words in found) + tails


def describe_design_effect(pairs: Sequence[PairRow], test_set: TestSetRow) -> str:
    """Say with a verdict on items what drawing what they stand in would do to it; nothing where that changes little."""
    clusters, everybody = test_set.clusters, as_pairs(pairs)
    rows = everybody.where(everybody.holds("in_family") & are_clustered(everybody))
    if clusters is None or not len(rows):
        return ""
    effects = _effects_of(rows)
    several = f" of {len(rows):,} of the pairs" if len(rows) > 1 else ""
    told = (
        f"This verdict is on items, which stand in {clusters.count:,} {clusters.column}s: drawing these multiplies the variance"
        f"{several} {_spread(effects)}, and a test of items at .05 rejects about "
        f"{100 * _rejected(median(effects.values())):.0f} % of true nulls"
    )
    won = rows.where(rows.holds("separated") & (rows.floats("se") > 0) & rows.known("delta"))
    lost = len(won) - int(_hold(won, clusters.effective).sum())
    if lost:
        which = "the difference is" if len(pairs) == 1 else f"{lost:,} of the separated pairs {'is' if lost == 1 else 'are'}"
        told += f"; by {clusters.column}s {which} not separated"
    return f"{told}."


def _hold(pairs: Pairs, clusters: float) -> NDArray[np.bool_]:
    """Tell which separated pairs' gains are beyond the critical value by the standard error of clusters, G − 1 its freedom."""
    level = pairs.floats("minimum_detectable_effect.level")
    if clusters <= 1:
        return np.zeros(len(pairs), np.bool_)
    wider = pairs.floats("se") * np.sqrt(pairs.floats("design_effect"))
    known = np.isfinite(level)
    critical = critical_value(np.where(known, level, 0.05), clusters - 1)
    return ~known | (pairs.floats("delta") > critical * wider)


def trust_independence(report: Report) -> list[Check]:
    """Return the check that cannot be made: of test sets whose items are drawn while nothing says which of them stand together."""
    unknown = [t for t in report.test_sets if t.unit == "item" and not t.clusters]
    if not unknown:
        return []
    names = defaultdict(list)
    for test_set in unknown:
        names[test_set.unit_reason or "it is not known which items stand together"].append(test_set.name)
    reasons = "; ".join(f"{', '.join(some)}: {reason}" for reason, some in names.items())
    detail = (
        f"{reasons}. Items are drawn as if they were independent: where several share a document, a speaker or a source, p is too "
        "small. Documents are named by `documents:` of a test set, or `--documents` of `compare`."
    )
    return [Check("Independence of items", "not checked", detail)]


def _effects(report: Report) -> dict[str, dict[tuple[str, str, str], float]]:
    """Return the design effects by test set, whatever the procedure."""
    found: dict[str, dict[tuple[str, str, str], float]] = {}
    for place, pairs in report.pairs_of.items():
        known = pairs.where(pairs.known("design_effect"))
        if len(known):
            found.setdefault(place.test_set, {}).update(_effects_of(known))
    return found


def _effects_of(pairs: Pairs) -> dict[tuple[str, str, str], float]:
    cells = (pairs.values(name).tolist() for name in ("metric", "system_a", "system_b"))
    return dict(zip(zip(*cells, strict=True), pairs.floats("design_effect").tolist(), strict=True))


def _spread(effects: _Effects) -> str:
    (metric, a, b), most = max(effects.items(), key=lambda item: item[1])
    worst = f"by {most:.2f} ({a} and {b}, {name_metric(metric)})"
    if len(effects) == 1:
        return worst
    return f"by {median(effects.values()):.2f} (median of {len(effects):,} pairs), at most {worst}"


def _rejected(effect: float) -> float:
    """Return the share of true nulls that a test of items rejects at .05 if it underestimates the variance by a factor."""
    return 2 * float(ndtr(ndtri(0.025) / np.sqrt(effect)))


def _items_drawn(test_set: TestSetRow, clusters: ItemClusters, effects: _Effects) -> tuple[bool, str]:
    middle = median(effects.values())
    bad = middle > NOTICEABLE
    column, count, effective = clusters.column, clusters.count, clusters.effective
    worth = f", worth {effective:.3g} of equal size" if effective < 0.995 * count else ""
    words = (
        f"{test_set.name}: {test_set.unit}s are drawn, though they stand in {count:,} {column}s{worth}. "
        f"Drawing {column}s would multiply the variance of a gain {_spread(effects)}."
    )
    if bad:
        words += (
            f" A test of {test_set.unit}s at .05 then rejects about {100 * _rejected(middle):.0f} % of true nulls: "
            f"set `resampling.unit: {column}`."
        )
    # As if all of them differed: that few do is told of each pair.
    few = guard_units(effective, np.array([count]))[0] & 1
    return bad, " ".join(
        [words, *(f"With {column}s: {said}" for said in warning_words(few, effective=effective, units=count, discordant=count))]
    )


def _units_drawn(test_set: TestSetRow, clusters: ItemClusters, effects: _Effects) -> str:
    middle = median(effects.values())
    would = f"a test of items at .05 would reject about {100 * _rejected(middle):.0f} % of true nulls"
    return f"{test_set.name}: drawing {clusters.column}s, not items, multiplies the variance of a gain {_spread(effects)}" + (
        f"; {would}." if middle > NOTICEABLE else "."
    )


def _strata(test_set: TestSetRow, strata: Strata) -> tuple[bool, str]:
    sizes = " to ".join(f"{size:,}" for size in dict.fromkeys((strata.smallest, strata.largest)))
    words = f"{test_set.name}: {test_set.unit}s are drawn within {strata.count:,} strata of {strata.column} ({sizes} each)"
    if strata.alone:
        words += f"; {strata.alone:,} alone in theirs never vary"
    rate = test_set.expected_rejection
    if rate is not None:
        words += (
            f"; about {100 * rate:.1f} % of true nulls are rejected at .05 by p as it is counted, but not by the p that decides"
        )
    return bool(strata.alone) or (rate or 0.0) > LIBERAL, words + "."
