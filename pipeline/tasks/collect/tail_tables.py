"""Computed p-values beside those that rest on fewer than ten replicates, within a budget."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.cubes.declarations import METHODS, TAIL_REASONS
from pipeline.cubes.layout import CubeLayout
from pipeline.cubes.variables import CHUNKS
from pipeline.inference.direct.scores import why_no_numerators
from pipeline.inference.direct.tails import TAIL_DRAWS, bootstrap_tails, choose_tails
from pipeline.interfaces.analyses import FULL
from pipeline.resampling.address import draw_key
from pipeline.resampling.exact.budget import tails_budget
from pipeline.tasks.collect.cube_slice import Part

__all__ = ["chunks", "tail_table"]

CHUNK_PAIRS = CHUNKS["pair"]
"""Pairs that are folded, and whose tails are chosen, at a time."""

_EXACT = METHODS.index("exact")

_TAIL_REASON = {name: np.int8(code) for code, name in enumerate(TAIL_REASONS)}


def chunks(pairs: int, *, at_once: int = 1) -> Iterator[slice]:
    """Yield the rows of a part by chunks of the cube, ``at_once`` of them together: parts begin with a chunk."""
    for first in range(0, pairs, at_once * CHUNK_PAIRS):
        yield slice(first, min(first + at_once * CHUNK_PAIRS, pairs))


def tail_table(
    part: Part, layout: CubeLayout, fixed: NDArray[np.bool_], few: NDArray[np.bool_], defined: NDArray[np.int64], *, how: str
) -> dict[str, NDArray[Any]]:
    """Compute p-values of pairs of which any rests on fewer than ten replicates.

    They are shown beside the counted ones and never replace them: choosing between the two by the count would be a selection, and a
    p-value that is sometimes counted and sometimes computed belongs to no convention. A missing tail has a reason; p-values that
    are ``fixed`` by definition, or missing, have no tail.
    """
    tilt = how == "tilted"
    asked = np.asarray(few.any(axis=0)) & ~fixed
    reason = np.where(
        fixed, _TAIL_REASON["by-definition"], np.where(asked, _TAIL_REASON["none"], _TAIL_REASON["enough-replicates"])
    )
    if how == "none" or part.measure.stratum is not None:  # the tails are those of units drawn all alike
        reason[asked] = _TAIL_REASON["not-asked" if how == "none" else "within-strata"]
        return {"tail_reason": reason}
    if not tilt:
        without_law = asked & (why_no_numerators(part.measure) != 0)
        asked &= ~without_law
        chosen = _within_budget(part, layout, asked)
        reason[without_law], reason[asked & ~chosen] = _TAIL_REASON["no-exact-law"], _TAIL_REASON["beyond-the-budget"]
        asked = chosen
    if not asked.any():
        return {"tail_reason": reason}
    key = draw_key(seed=layout.seed, purpose="tails", test_set=layout.test_set, size=part.size.label, rule="tilted")
    # Where only exact laws are asked for, nothing is drawn for pairs whose integers turn out too large for one.
    draws = TAIL_DRAWS if tilt else 0
    tails = bootstrap_tails(part.measure, part.observed, asked=asked, key=key, defined=defined / layout.replicates, draws=draws)
    # A bound of a transform is no tail: with integers that do not fit it is left out unless tilting was asked for.
    # A chance of exactly 0 is known too, though it has no logarithm: such an event cannot occur.
    known = np.isfinite(tails.p) & (tilt | (tails.method == _EXACT))
    reason[asked & ~known.any(axis=0)] = _TAIL_REASON["out-of-reach" if tilt else "no-exact-law"]
    return {
        "tail_reason": reason,
        "tail_p": np.where(known, tails.p, np.nan),
        "tail_log10_p": np.where(known & np.isfinite(tails.log10_p), tails.log10_p, np.nan),
        "tail_p_error": np.where(known, (tails.hi - tails.lo) / 2, np.nan),
        "tail_method": np.where(known, tails.method, -1).astype(np.int8),
        "tail_label": np.where(known, tails.label, -1).astype(np.int8),
    }


def _within_budget(part: Part, layout: CubeLayout, asked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Choose the pairs whose exact tails are computed; each chunk has a share of the budget, so tasks do not matter."""
    points = tails_budget(replicates=layout.replicates, pairs=len(layout.pairs), is_full=part.size.label == FULL)
    chosen = np.zeros(len(asked), np.bool_)
    for rows in chunks(len(asked)):
        some = np.zeros(len(asked), np.bool_)
        some[rows] = asked[rows]
        share = points * (rows.stop - rows.start) // len(layout.pairs)
        chosen |= choose_tails(part.measure, part.observed, asked=some, points=share)
    return chosen
