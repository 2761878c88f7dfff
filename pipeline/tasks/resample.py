"""The resampling task: statistics in, the counts of a block of cells out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import DataError, TaskError
from pipeline.interfaces import Metric, Statistics
from pipeline.items.stored import load_frame, strata_of
from pipeline.metrics._lattice import MOST_ADDED
from pipeline.metrics.registry import load_metric
from pipeline.plan.task import ComparisonSpec, Receipt, ResampleSpec, Task, triangle, unpack_mask
from pipeline.plugins import import_function
from pipeline.procedures.registry import PROCEDURES, usable_procedures
from pipeline.resampling.address import CELL, draw_key
from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import Measure, Observed, PairCounts, sum_by_unit
from pipeline.resampling.observe import observe
from pipeline.resampling.resample import resample
from pipeline.resampling.strata import StratifiedDraws, stratified_key
from pipeline.store.addresses import canonical_json
from pipeline.store.array_files import write_arrays
from pipeline.store.runs import STORE_NAME, Store
from pipeline.tasks.cell_files import pack_counts
from pipeline.tasks.extract import load_statistics

__all__ = [
    "count_resamples",
    "count_swaps",
    "forget",
    "load_measure",
    "make_draws",
    "resample_block",
    "unit_statistics",
]


def count_resamples(
    spec: ResampleSpec, draws: Draws | StratifiedDraws, measures: Sequence[Measure], observed: Sequence[Observed]
) -> list[PairCounts]:
    """Count test sets that are redrawn."""
    # A kept cell is kept whole: what a later study asks of it is then there.
    keep = spec.stop_cell * CELL if any(measure.keep.any() for measure in measures) else 0
    cells = range(spec.first_cell, spec.stop_cell)
    return resample(draws, measures, cells=cells, replicates=spec.replicates, keep_replicates=keep, observed=observed)


def count_swaps(
    spec: ResampleSpec, draws: Draws | StratifiedDraws, measures: Sequence[Measure], observed: Sequence[Observed]
) -> list[PairCounts]:
    """Count outputs that are swapped unit by unit."""
    if isinstance(draws, StratifiedDraws):
        raise ValueError("swaps are of units, whatever stratum these are in: they are planned without strata")
    from pipeline.resampling.randomize import randomize  # compiled code that a bootstrap does not load

    cells = range(spec.first_cell, spec.stop_cell)
    return randomize(draws, measures, cells=cells, replicates=spec.replicates, observed=observed)


def resample_block(task: Task, runs: Path) -> Receipt:
    """Draw a block of cells once, and count every pair of every metric asked on it."""
    spec = task.spec
    assert isinstance(spec, ResampleSpec)
    procedure = PROCEDURES.get(spec.procedure)
    if procedure is None or not procedure.draws:
        there = [known.name for known in usable_procedures() if known.draws]
        raise TaskError.of(
            "P405",
            f"this version cannot count the procedure {spec.procedure!r}",
            where=task.label,
            help=f"it has: {', '.join(there)}; workers and coordinator need the same version of the package",
        )
    store = Store(runs / STORE_NAME)
    draws = _draws(store, spec)
    measures, observed = zip(*(_measure(store, spec, column) for column in spec.columns), strict=True)
    counted: list[PairCounts] = import_function(procedure.counter)(spec, draws, measures, observed)
    arrays = {name: array for slot, counts in enumerate(counted) for name, array in pack_counts(slot, counts).items()}
    path = store.path("cells", task.key, ".arrays")
    checksum = write_arrays(path, arrays)
    covers = {
        "replicates": spec.replicates,
        "first_cell": spec.first_cell,
        "stop_cell": spec.stop_cell,
        "columns": [{"column": c.column, "systems": list(c.systems), "pairs": c.pairs, "kept": c.kept} for c in spec.columns],
    }
    return Receipt("resample", task.key, task.label, store.relative(path), checksum, 0.0, "", covers)


def _draws(store: Store, spec: ResampleSpec) -> Draws | StratifiedDraws:
    return make_draws(
        seed=spec.seed,
        procedure=spec.procedure,
        test_set=spec.test_set,
        size=spec.size,
        rule=spec.rule,
        n_units=spec.n_units,
        stratum=strata_of(store, spec.strata, spec.n_units),
    )


def make_draws(
    *, seed: int, procedure: str, test_set: str, size: str, rule: str, n_units: int, stratum: NDArray[np.int64] | None
) -> Draws | StratifiedDraws:
    """Return the stream of a procedure on one test size: whoever asks for it draws the same replicates."""
    address: dict[str, Any] = {"seed": seed, "purpose": procedure, "test_set": test_set, "size": size, "rule": rule}
    if stratum is not None:
        return StratifiedDraws(stratified_key(**address, stratum=stratum), stratum)
    return Draws(key=draw_key(**address), n_units=n_units, n_draws=n_units)


def _measure(store: Store, spec: ResampleSpec, column: ComparisonSpec) -> tuple[Measure, Observed]:
    options = canonical_json(dict(column.options))
    at_hand = _of_size(store, spec.frame, spec.strata, spec.n_units)
    asked = (column.systems, column.metric, options, column.pairs)
    if asked not in at_hand:
        at_hand[asked] = _observe(store, spec.frame, spec.strata, spec.n_units, *asked)
    measure, observed = at_hand[asked]
    return replace(measure, keep=column.kept_mask(), margin=column.margin), observed


@lru_cache(maxsize=2)
def _of_size(
    store: Store, frame: str, strata: str, n_units: int
) -> dict[tuple[tuple[str, ...], str, bytes, str], tuple[Measure, Observed]]:
    """Return what the blocks of a test size have in common, as far as it is known: blocks come size by size.

    Of many pairs it takes as long as a cell, and of a thousand systems tens of megabytes a size.
    """
    return {}


def _observe(
    store: Store, frame: str, strata: str, n_units: int, systems: tuple[str, ...], metric: str, options: bytes, mask: str
) -> tuple[Measure, Observed]:
    """Load and score a metric on a test size."""
    first, second = triangle(len(systems))
    asked = unpack_mask(mask, len(first))
    pairs = np.stack([first[asked], second[asked]], axis=1)
    measure = load_measure(
        store,
        frame=frame,
        strata=strata,
        n_units=n_units,
        systems=systems,
        metric=metric,
        options=json.loads(options),
        margin=None,
        pairs=_order_by_content(unit_statistics(store, frame, systems)[0][:n_units], pairs),
        keep=np.zeros(len(systems), np.bool_),
    )
    return measure, observe(measure)


def _order_by_content(statistics: NDArray[np.int64], pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return each pair in the order of its statistics.

    It is the order of pairs without a gain, which no score decides: neither names nor addresses may.
    """
    content = [statistics[:, system].astype(">i8").tobytes() for system in range(statistics.shape[1])]
    rank = np.empty(len(content), np.int64)
    rank[sorted(range(len(content)), key=content.__getitem__)] = np.arange(len(content))
    return np.where((rank[pairs[:, 0]] > rank[pairs[:, 1]])[:, None], pairs[:, ::-1], pairs)


def load_measure(
    store: Store,
    *,
    frame: str,
    strata: str = "",
    n_units: int,
    systems: tuple[str, ...],
    metric: str,
    options: dict[str, Any],
    margin: float | None,
    pairs: NDArray[np.int64],
    keep: NDArray[np.bool_],
) -> Measure:
    """Load one metric on the first ``n_units`` units for the kernels, with the strata that are stored under an address, if any."""
    statistics, decimals = unit_statistics(store, frame, systems)
    definition = _metric(metric, canonical_json(options))
    return Measure(
        statistics=statistics[:n_units],
        score=definition.scorer(decimals),
        form=definition.form,
        higher_is_better=definition.higher_is_better,
        pairs=pairs,
        keep=keep,
        margin=margin,
        follows=_follows(definition),
        stratum=strata_of(store, strata, n_units),
    )


def _follows(metric: Metric) -> tuple[int, ...]:
    """Give, for each statistic of a metric, the position of the one it follows, or −1."""
    return tuple(metric.statistics.index(metric.follows[name]) if name in metric.follows else -1 for name in metric.statistics)


@lru_cache(maxsize=8)
def _metric(name: str, options: bytes) -> Any:
    return load_metric(name, json.loads(options))


@lru_cache(maxsize=8)
def unit_statistics(store: Store, frame: str, systems: tuple[str, ...]) -> tuple[NDArray[np.int64], tuple[int, ...]]:
    """Return (unit, system, statistic) int64 sums on one decimal lattice for all systems, and its decimals.

    A finer lattice that another system brings multiplies numerators and denominators by the same power of ten, so that it
    changes no score.
    """
    loaded = [load_statistics(store, key) for key in systems]
    decimals = tuple(int(d) for d in np.max([s.decimals for s in loaded], axis=0))
    _refuse_inexact(systems, loaded, decimals)
    unit_of_item = np.asarray(load_frame(store, frame).unit_of_item, np.int64)
    n_units = int(unit_of_item.max()) + 1
    units = np.zeros((n_units, len(systems), len(decimals)), np.int64)
    for position, statistics in enumerate(loaded):
        factor = np.array([10 ** (d - own) for d, own in zip(decimals, statistics.decimals, strict=True)], np.int64)
        units[:, position] = sum_by_unit(statistics.values * factor, unit_of_item)
    units.flags.writeable = False
    return units, decimals


def forget(*, statistics: bool) -> None:
    """Let go of what is kept for further blocks; of ``statistics`` and metrics too, which cubes are made of."""
    _of_size.cache_clear()
    if statistics:
        _metric.cache_clear()
        unit_statistics.cache_clear()


def _refuse_inexact(systems: tuple[str, ...], loaded: list[Statistics], decimals: tuple[int, ...]) -> None:
    """Refuse systems whose numbers cannot be added exactly on one lattice: one is too large for the decimals of another."""
    for key, statistics in zip(systems, loaded, strict=True):
        for place, (joint, own) in enumerate(zip(decimals, statistics.decimals, strict=True)):
            # As much as a resample can have, which may draw the largest again and again.
            total = len(statistics.values) * int(np.abs(statistics.values[:, place]).max(initial=0)) * 10 ** (joint - own)
            if total >= MOST_ADDED:
                finest = next(k for k, s in zip(systems, loaded, strict=True) if s.decimals[place] == joint)
                raise DataError.of(
                    "P237",
                    "scores of two systems cannot be added exactly together: "
                    f"one has sums up to {total // 10**joint:g}, another {joint} decimals",
                    where=f"statistics {key} and {finest}",
                    help="give the scores with fewer decimals, or compare these systems in studies of their own",
                )
