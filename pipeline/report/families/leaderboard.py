"""Systems by score, with the ranks, groups and letters that follow from the separated pairs. Nothing is tested here."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from pipeline.analyses.pairs import has_value
from pipeline.analyses.standard_errors import read_score_errors
from pipeline.inference.intervals.proportions import wilson
from pipeline.inference.multiple_comparisons.ranks import CLUSTERS, Separation, name_letters, rank_intervals, separate
from pipeline.interfaces.analyses import FULL
from pipeline.numerics.special import stdtrit
from pipeline.report.families.adjustment import FamilyOf
from pipeline.report.pairs.cube_facts import effective_units_of, metric_fact
from pipeline.report.pairs.pair_set import PairSet
from pipeline.report.rows import BoardRow, ClusterRow, FamilyKey, ScoreInterval, SystemRow
from pipeline.report.values import plain

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["LETTERS", "MOST_LETTERED", "Standing", "letters_of", "list_systems", "rank_systems"]

COORDINATES = ("origin", "model", "group", "sample", "fraction", "replica")

LETTERS = "letters"
"""The one definition whose groups overlap."""

MOST_LETTERED = 60
"""Systems; the letters of more cannot be read, and may take seconds."""


class Standing(NamedTuple):
    """The ranks of the systems of one family, and the groups they form."""

    board: list[BoardRow]
    clusters: list[ClusterRow]


def rank_systems(pairs: PairSet, cube: xr.Dataset, place: FamilyKey, *, family: FamilyOf, alpha: float) -> Standing:
    """Return systems from best to worst by the pairs of one family, each with its rank and the ranks that are not excluded.

    Systems with the same score share the better rank; one without a score has none, and stands last. Against a baseline there are
    no ranks and no groups: nothing is said of two other systems.
    """
    values = cube["observed_score"].sel(metric=place.metric, test_size=FULL).values.tolist()
    names = [str(name) for name in cube["system"].values.tolist()]
    scores: dict[str, float | None] = {name: plain(value) for name, value in zip(names, values, strict=True)}
    sign = -1.0 if metric_fact(cube, "higher_is_better", place.metric) is not False else 1.0
    order = sorted(names, key=lambda name: (scores[name] is None, sign * (scores[name] or 0.0), name))
    intervals = _score_intervals(cube, names, place.metric, alpha=alpha)
    if family.baseline is not None:
        return Standing(_against(pairs, order, scores, intervals, family.baseline, place), [])
    found = _relate(pairs, names, scores, alpha=alpha)
    ranks, beats, beaten = rank_intervals(found), found.beats.sum(axis=1).tolist(), found.beats.sum(axis=0).tolist()
    clusters = list(_list_clusters(found, names, place))
    letters, position = letters_of(clusters), {name: own for own, name in enumerate(names)}
    rank, low, high = ([value or None for value in side.tolist()] for side in (ranks.rank, ranks.low, ranks.high))
    board = [
        BoardRow(
            *place,
            rank=rank[own],
            name=name,
            score=scores[name],
            interval=intervals.get(name),
            rank_low=low[own],
            rank_high=high[own],
            beats=beats[own],
            beaten_by=beaten[own],
            letters=letters.get(name),
            against_baseline=None,
        )
        for name, own in ((name, position[name]) for name in order)
    ]
    return Standing(board, clusters)


def _score_intervals(cube: xr.Dataset, names: Sequence[str], metric: str, *, alpha: float) -> dict[str, ScoreInterval]:
    """Return the interval of the score of each system: Wilson's where units score 0 or one other value, else by Student's t."""
    where = {"metric": metric, "test_size": FULL}
    known = [name for name in ("units_right",) if name in cube.variables]  # cubes of earlier versions do not have it
    of = {name: np.asarray(cube[name].sel(where).values) for name in (*known, "observed_score")}
    right, score = of.get("units_right"), of["observed_score"]
    methods: list[Literal["wilson", "jackknife-t", "replicates-t"]] = ["wilson"] * len(names)
    units = int(cube["n_units"].sel(test_size=FULL))
    if right is not None and right.max() > 0:  # where every unit scores 0, the other score is not known
        best = int(right.argmax())
        lows, highs = (end * score[best] * units / right[best] for end in wilson(right, units, alpha=alpha))
    elif "score_se" in cube.variables:
        se, of_replicates = read_score_errors(cube, **where)
        strata = int((cube.attrs.get("strata") or {}).get("count", 1))
        freedom = (effective_units_of(cube, FULL) or units) - strata
        half = se * stdtrit(freedom, 1 - alpha / 2) if freedom >= 1 else np.full(len(se), np.nan)
        # A score that no unit changes has no error that the units could tell; rounding leaves it one of about 1e-16.
        half = np.where(se > 1e-12 * np.abs(score), half, np.nan)
        lows, highs = score - half, score + half
        methods = ["replicates-t" if one else "jackknife-t" for one in of_replicates.tolist()]
    else:
        return {}
    rows = zip(names, methods, lows.tolist(), highs.tolist(), strict=True)
    return {name: ScoreInterval(method, 1 - alpha, lo, hi) for name, method, lo, hi in rows if math.isfinite(hi - lo)}


def _against(
    pairs: PairSet,
    order: Sequence[str],
    scores: Mapping[str, float | None],
    intervals: Mapping[str, ScoreInterval],
    baseline: str,
    place: FamilyKey,
) -> list[BoardRow]:
    """Return systems with their verdict against the baseline, from the system's side: better, worse, or any other."""
    members = pairs.where(pairs.holds("in_family"))
    won = members.where(members.holds("separated"))
    better, worse = (Counter(won.values(side).tolist()) for side in ("system_a", "system_b"))
    sides = (members.values(side).tolist() for side in ("system_a", "system_b"))
    verdicts = {name: word for *names, word in zip(*sides, members.values("verdict").tolist(), strict=True) for name in names}
    board = []
    for name in order:
        verdict = verdicts.get(name) if name != baseline else None
        board.append(
            BoardRow(
                *place,
                rank=None,
                name=name,
                score=scores[name],
                interval=intervals.get(name),
                rank_low=None,
                rank_high=None,
                beats=better[name],
                beaten_by=worse[name],
                letters=None,
                against_baseline="worse" if verdict == "better" and name in worse else verdict,
            )
        )
    return board


def _relate(pairs: PairSet, names: Sequence[str], scores: Mapping[str, float | None], *, alpha: float) -> Separation:
    """Read all pairs of one family as a relation of the systems ``names``, which are in the order of the cube.

    A difference that its row does not believe, whatever its p, separates nobody.
    """
    columns, everything = pairs.columns, slice(None)
    return separate(
        np.stack([columns[side].values for side in ("system_a", "system_b")], axis=1),
        score=np.array([np.nan if scores[name] is None else scores[name] for name in names], np.float64),
        delta=columns["delta"].floats(everything),
        p=np.where(columns["separated"].equal(everything, True), columns["p_adjusted"].floats(everything), 1.0),
        identical=columns["identical"].equal(everything, True),
        alpha=alpha,
    )


def _list_clusters(found: Separation, names: Sequence[str], family: FamilyKey) -> Iterator[ClusterRow]:
    """Yield the groups by every definition of `pipeline.inference.multiple_comparisons.ranks.CLUSTERS`, the best system first."""
    order = found.order.tolist()
    for definition, draw in CLUSTERS.items():
        groups: list[list[str]] | None = None
        reason = None
        if definition == LETTERS and len(order) > MOST_LETTERED:
            reason = f"letters of {len(order):,} systems cannot be read; see the rank intervals"
        else:
            try:
                membership = draw(found)
                groups = [[names[system] for system in order if column[system]] for column in membership.T]
            except ValueError as refusal:  # very intransitive relations would need too many letters
                reason = str(refusal)
        yield ClusterRow(*family, definition, groups, reason)


def letters_of(clusters: Sequence[ClusterRow]) -> dict[str, str]:
    """Write the letters of each system, from the groups of that definition; none where it was refused.

    Examples
    --------
    >>> letters_of([ClusterRow("news", "bleu", "paired-bootstrap", "letters", [["a", "b"], ["b", "c"]], None)])
    {'a': 'a', 'b': 'ab', 'c': 'b'}
    """
    groups = next((row.groups for row in clusters if row.definition == LETTERS), None) or []
    names = list(dict.fromkeys(name for group in groups for name in group))
    membership = np.array([[name in group for group in groups] for name in names], np.bool_).reshape(len(names), len(groups))
    return dict(zip(names, name_letters(membership), strict=True))


def list_systems(cube: xr.Dataset, test_set: str) -> list[SystemRow]:
    """Return a row for each system: its coordinates and its scores by metric."""
    known = {name: cube[name].values.tolist() for name in COORDINATES if name in cube.variables and cube[name].dims == ("system",)}
    metrics = [str(metric) for metric in cube["metric"].values.tolist()]
    scores = {metric: cube["observed_score"].sel(metric=metric, test_size=FULL).values.tolist() for metric in metrics}
    rows = []
    for position, name in enumerate(cube["system"].values.tolist()):
        facts = {key: plain(values[position]) if has_value(values[position]) else None for key, values in known.items()}
        own = plain({metric: values[position] for metric, values in scores.items()})
        rows.append(SystemRow(test_set=test_set, name=str(name), **{"model": None, "group": None, **facts}, scores=own))
    return rows
