"""One run in place of its model: the highest, the median and the lowest by score, and the tests of two such runs.

With one run of each, p depends on which one it happened to be: a low run of the better model beside a high run of the other may
hide what all runs show (Clark and others 2011, P11-2031, Table 2). The median run is the one to look at where outputs are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.replicas.data import Model
from pipeline.analyses.replicas.nulls import Draw, bound_p
from pipeline.resampling.address import count_cells
from pipeline.resampling.observe import TOLERANCE
from pipeline.resampling.replicas.count import count_null
from pipeline.resampling.replicas.outputs import ObservedReplicas, Replicas

__all__ = ["CASES", "NULL", "WHICH", "list_scores", "pick_runs", "rank_runs", "single_rows"]

WHICH = ("high", "median", "low")
CASES = (("high", "low"), ("median", "median"), ("low", "high"), ("high", "high"))
"""Which run of the better and of the worse model are compared: with luck, without, against it, and the best of both."""

NULL = "per-output"
"""Of one run each there is nothing else to swap: this is approximate randomization of two outputs."""


def rank_runs(scores: Sequence[float] | NDArray[np.float64], *, higher_is_better: bool) -> list[int]:
    """Return the places of runs, the best first; equal scores are put in the order of runs.

    Scores are equal within the package's tolerance: that of a run and of a copy of it never decides.

    Examples
    --------
    >>> rank_runs([20.0, 21.0, 19.0, 21.0], higher_is_better=True)
    [1, 3, 0, 2]
    """
    values = np.asarray(scores, np.float64)
    order = np.argsort(-values if higher_is_better else values, kind="stable").tolist()
    apart = [abs(values[a] - values[b]) > TOLERANCE * (abs(values[a]) + abs(values[b])) for a, b in pairwise(order)]
    group = np.concatenate([[0], np.cumsum(apart)]).tolist()
    return [place for _, place in sorted(zip(group, order, strict=True))]


def pick_runs(scores: Sequence[float] | NDArray[np.float64], *, higher_is_better: bool) -> dict[str, int] | None:
    """Return the places of the highest, the median and the lowest run by name; None where a run has no score.

    The best score is the highest, of error rates too. Of an even number of runs the median is the worse of the two in the middle.

    Examples
    --------
    >>> pick_runs([20.0, 21.0, 19.0, 22.0], higher_is_better=True)
    {'high': 3, 'median': 0, 'low': 2}
    """
    if not np.isfinite(np.asarray(scores)).all():
        return None
    order = rank_runs(scores, higher_is_better=higher_is_better)
    return dict(zip(WHICH, (order[0], order[len(order) // 2], order[-1]), strict=True))


def single_rows(replicas: Replicas, models: Sequence[Model], draw: Draw, *, seen: ObservedReplicas) -> Iterator[dict[str, Any]]:
    """Yield what approximate randomization says of single runs of every pair of models, chosen as in `CASES`.

    First the model that all runs favour: its gain is negative where the run of the other is ahead.
    """
    picked = [pick_runs(scores, higher_is_better=replicas.higher_is_better) for scores in seen.by_run]
    ordered = [(b, a) if seen.delta[pair] < 0 else (a, b) for pair, (a, b) in enumerate(replicas.pairs.tolist())]
    told = [pair for pair in ordered if None not in (picked[pair[0]], picked[pair[1]])]
    found = _test(replicas, picked, told, draw)
    for pair in ordered:
        for case in CASES:
            row: dict[str, Any] = {"model_a": models[pair[0]].name, "model_b": models[pair[1]].name}
            for side, place, which in zip("ab", pair, case, strict=True):
                run = None if (own := picked[place]) is None else own[which]
                row[f"which_{side}"] = which
                row[f"run_{side}"] = None if run is None else models[place].runs[run]
                row[f"score_{side}"] = None if run is None else seen.by_run[place][run]
            fields = found.get((*pair, case)) or dict.fromkeys(("delta", "p", "p_bounds"))
            yield {**row, **fields, "reason": None if pair in told else "a run has no score (0/0)"}


def _test(
    replicas: Replicas, picked: Sequence[Mapping[str, int] | None], told: Sequence[tuple[int, int]], draw: Draw
) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Return gain and p of every case of every pair: each chosen run stands as a system of its own, and all share their draws."""
    if not told:
        return {}
    place_of: dict[tuple[int, str], int] = {}
    statistics: list[NDArray[np.int64]] = []
    for place in sorted({place for pair in told for place in pair}):
        for which, run in (picked[place] or {}).items():
            place_of[place, which] = len(statistics)
            statistics.append(replicas.statistics[place][[run]])
    asked = [(a, b, case) for a, b in told for case in CASES]
    pairs = np.array([[place_of[a, case[0]], place_of[b, case[1]]] for a, b, case in asked], np.int64)
    runs = Replicas(tuple(statistics), replicas.score, replicas.form, replicas.higher_is_better, pairs, replicas.follows)
    draws = draw.at(f"{NULL} of single runs", replicas.n_units)
    counts = count_null(NULL, draws, runs, cells=range(count_cells(draw.replicates)), replicates=draw.replicates)
    p = counts.p
    low, high = bound_p(counts, p, counts.delta == 0)  # every replicate reaches |δ| = 0: p is 1 for certain
    return {
        key: {"delta": float(counts.delta[k]), "p": float(p[k]), "p_bounds": {"lo": float(low[k]), "hi": float(high[k])}}
        for k, key in enumerate(asked)
    }


def list_scores(rows: Sequence[Mapping[str, Any]], rising: Mapping[tuple[str, str], bool]) -> list[dict[str, Any]]:
    """Return the score of every run with its place in its model, the best first; ``rising`` where a higher score is better."""
    found = []
    for row in rows:
        if row["kind"] != "model":
            continue
        runs, scores = list(row["scores"]), [np.nan if score is None else score for score in row["scores"].values()]
        named: dict[int, list[str]] = {}
        for which, place in (pick_runs(scores, higher_is_better=rising[row["test_set"], row["metric"]]) or {}).items():
            named.setdefault(place, []).append(which)
        order = rank_runs(scores, higher_is_better=rising[row["test_set"], row["metric"]]) if named else range(len(runs))
        found += [
            {
                **{key: row[key] for key in ("test_set", "metric", "model")},
                "run": runs[place],
                "score": row["scores"][runs[place]],
                "place": number if named else None,
                "which": ", ".join(named.get(place, ())) or None,
            }
            for number, place in enumerate(order, start=1)
        ]
    return found
