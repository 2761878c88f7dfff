"""The null laboratory of runs: which are split, at which address, and the rows of every test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.analyses.replicas.data import group_runs, load_replicas
from pipeline.analyses.type_one.as_is import compare_runs, read_p
from pipeline.analyses.type_one.options import TypeOneOptions
from pipeline.analyses.type_one.rows import describe, nothing
from pipeline.analyses.type_one.runs import RunPool, ask_runs, ask_single_runs, choose_pools
from pipeline.interfaces import ScoredStatistics
from pipeline.interfaces.analyses import FULL
from pipeline.procedures.registry import PROCEDURES
from pipeline.resampling.address import draw_key
from pipeline.resampling.draws import Draws
from pipeline.resampling.replicas.nulls import NULLS
from pipeline.resampling.replicas.splits import count_splits, split_runs

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["RUN_NOTES", "RunLaboratory"]

RUN_NOTES = (
    "Of models with several runs, null data sets are made of whole runs too: those of one model in two halves, and those of two "
    "models mixed and parted again. The two groups do not differ as models. Where the two models do, that difference is one more "
    "thing that the mixed runs differ in: a null that takes run effects to be absent then rejects all the more. Of a procedure "
    "that compares two outputs, one run of either group is taken, with the study's own p.",
    "With few runs all ways to part them are taken: the rate is then that of these runs, and has no interval. Where ways are "
    "drawn, the interval is of the rate over all ways to part these runs. Other runs may have another.",
)

_PRODUCTS = 25  # a product of these nulls takes as long as so many of the laboratory of two outputs
_FEWEST = 20


class RunLaboratory:
    """Null data sets made of the runs of one test set and metric.

    Parameters
    ----------
    test_set, metric : str
    cube : xarray.Dataset
    scored : ScoredStatistics
    options : TypeOneOptions
    """

    def __init__(self, test_set: str, metric: str, cube: xr.Dataset, scored: ScoredStatistics, options: TypeOneOptions) -> None:
        self._where = {"test_set": test_set, "metric": metric, "test_size": FULL}
        self._cube, self._scored, self._options = cube, scored, options
        self._models = group_runs(cube, model=options.model, replica=options.replica) if options.run_nulls else []
        self._p = read_p(cube, metric) if self._models else {}

    def list_pools(self) -> list[RunPool]:
        """Return what is parted, in the order in which it is done; nothing without several runs of a model."""
        if all(len(model.runs) < 2 for model in self._models):
            return []
        none = np.zeros((0, 2), np.int64)
        replicas = load_replicas(self._scored, self._models, none, unit=str(self._cube.attrs.get("unit", "item")))
        return [] if replicas is None else choose_pools(self._models, replicas, self._options.pairs)

    def compare_as_they_are(self) -> Iterator[dict[str, Any]]:
        """Return what the study's own p say of two runs of one model."""
        return compare_runs(self._where, self._models, self._p)

    def part(self, pool: RunPool, left: float) -> tuple[list[dict[str, Any]], float]:
        """Return the rows of a pool and what they cost; fewer data sets where more are beyond the budget that is left."""
        options, runs = self._options, len(pool.systems)
        ways = count_splits(runs, *pool.sizes)
        # Of a hundred runs there are 5e28: in JSON a float says as much.
        what = {**self._where, **pool.describe(), "arrangements": ways if ways < 2**31 else float(f"{ways:.3g}")}
        of_one = float(_PRODUCTS) * options.replicates * sum(pool.sizes) * pool.statistics[0].size
        nulls = min(options.run_nulls, ways)
        within = int(min(left // of_one, nulls))
        if within < nulls and within < _FEWEST:
            return [nothing(what, f"beyond the budget of {options.budget:.3g} products")], 0.0
        splits = split_runs(self._draws("splits", pool), runs, first=pool.sizes[0], second=pool.sizes[1], most=within)
        units = pool.statistics.shape[1]
        draws = {null.name: self._draws(null.name, None, units) for null in NULLS}
        tests = ask_runs(pool, self._scored, draws, splits, replicates=options.replicates)
        conventions = {procedure: PROCEDURES[procedure].verdict for procedure in self._p}
        tests += ask_single_runs(pool, self._p, conventions, self._draws("picks", pool), splits)
        if splits.enumerated:
            what["remark"] = "all ways to part these runs"
        return [describe(what, test, every=splits.enumerated) for test in tests], of_one * len(splits)

    def _draws(self, rule: str, pool: RunPool | None, units: int | None = None) -> Draws:
        """Return an address; what is drawn of a pool knows its models by name, and no others."""
        named = f"{rule} of {' and '.join(pool.models)}" if pool is not None else rule
        key = draw_key(
            seed=int(self._cube.attrs.get("seed", 0)),
            purpose="null-laboratory-runs",
            test_set=str(self._where["test_set"]),
            size=FULL,
            rule=named,
        )
        size = units if units is not None else 1
        return Draws(key, size, size)
