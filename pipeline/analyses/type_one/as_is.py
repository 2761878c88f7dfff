"""How often one run beats another of its model, as they are. This share is not the level of a test.

Riezler and Maxwell (2005, W05-0908, 4.3 and Table 2) compared variants of one system that they took to be equal, and called what
was significant an error. Two outputs that are there do differ, by luck or not, and a test of these two may well say so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.analyses.replicas.data import Model
from pipeline.analyses.type_one.rows import describe
from pipeline.analyses.type_one.tests import Tested
from pipeline.interfaces.analyses import FULL
from pipeline.procedures.registry import PROCEDURES

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["AS_THEY_ARE", "compare_runs", "read_p"]

AS_THEY_ARE = "replicas as they are"


def read_p(cube: xr.Dataset, metric: str) -> dict[str, dict[frozenset[str], float]]:
    """Return the study's own p by procedure and pair of systems, in the convention that verdicts use."""
    if "p_value" not in cube:
        return {}
    pairs = [frozenset(map(str, pair)) for pair in zip(cube["system_a"].values, cube["system_b"].values, strict=True)]
    found = {}
    for procedure in map(str, cube["procedure"].values.tolist()):
        at = {"procedure": procedure, "convention": PROCEDURES[procedure].verdict, "metric": metric, "test_size": FULL}
        found[procedure] = dict(zip(pairs, cube["p_value"].sel(at).values.tolist(), strict=True))
    return found


def compare_runs(
    where: Mapping[str, Any], models: Sequence[Model], p: Mapping[str, Mapping[frozenset[str], float]]
) -> Iterator[dict[str, Any]]:
    """Yield a row for each procedure of the study: all pairs of runs of one model, of all models together."""
    several = [model for model in models if len(model.runs) > 1]
    pairs = [frozenset(pair) for model in several for pair in combinations(model.systems, 2)]
    if not pairs:
        return
    names = several[0].name if len(several) == 1 else f"{len(several)} models"
    runs = sum(len(model.runs) for model in several)
    what = {
        "design": AS_THEY_ARE,
        "pair": f"{names}: {runs} runs, {len(pairs)} pairs of runs of one model",
        "arrangements": len(pairs),
        "remark": "how often one run beats another of the same model: two outputs that are there do differ, so this is no level",
    }
    for procedure, known in p.items():
        held = [known[pair] for pair in pairs if pair in known]
        test = Tested(
            procedure,
            PROCEDURES[procedure].verdict,
            in_study=True,
            decides=False,
            p=np.array(held) if len(held) == len(pairs) else None,
            reason=None if len(held) == len(pairs) else "the study does not compare these runs with each other",
        )
        yield describe({**where, **what}, test, every=True)
