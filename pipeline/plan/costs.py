"""Estimate the seconds that a task takes on one core, from constants that were measured once on one machine.

`scripts/benchmarks/constants.py` measures those of kernels and metrics anew. A plan multiplies them by how slow plain Python
is here (`pipeline.engine.forecast`); blocks are cut by them as they are, so that a study has the same blocks everywhere. No number
in a result depends on any of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from pipeline.plan.comparisons import list_sizes
from pipeline.plan.inputs import Inputs, MetricInputs, TestSetInputs
from pipeline.plan.methods import law_seconds, list_methods
from pipeline.plan.task import CollectSpec, ComparisonSpec, ExtractSpec, ResampleSpec, ShardSpec, Task, TrainSpec
from pipeline.procedures.registry import PROCEDURES
from pipeline.resampling.address import CELL, cell_bounds, count_cells
from pipeline.resampling.exact.budget import OF_TAILS, POINT_SECONDS, tails_budget
from pipeline.resampling.standard_errors.studentise_budget import products, replicates_within
from pipeline.study.schema import Study

__all__ = ["TaskCosts", "block_seconds", "count_pairs"]


class Kernel(NamedTuple):
    """Seconds of a replicate: of each unit (drawn once for all metrics), unit and system, system, and pair."""

    draw: float
    product: float
    score: float
    pair: float


KERNELS: Mapping[tuple[str, str], Kernel] = {
    ("systems", "counts"): Kernel(9e-10, 2.5e-12, 1e-08, 4e-10),
    ("systems", "decimals"): Kernel(9e-10, 6e-11, 5e-09, 9e-10),
    ("systems", "ratio"): Kernel(8.5e-10, 8e-12, 1e-08, 9e-10),
    ("systems", "bleu"): Kernel(8.5e-10, 2.4e-11, 1.5e-08, 9e-10),
    ("systems", "chrf"): Kernel(8.5e-10, 3e-11, 3e-08, 9e-10),
    ("systems", "nist"): Kernel(8.5e-10, 2e-11, 5e-08, 9e-10),
    ("systems", "general"): Kernel(9e-10, 5.6e-11, 1e-08, 1.2e-09),
    ("pairs", "counts"): Kernel(6e-11, 5e-13, 3e-09, 4.3e-10),
    ("pairs", "decimals"): Kernel(6e-11, 3e-11, 3e-09, 1.2e-09),
    ("pairs", "ratio"): Kernel(1.1e-10, 2e-12, 4e-09, 5e-10),
    ("pairs", "bleu"): Kernel(1.1e-10, 1e-11, 1e-08, 6e-09),
    ("pairs", "chrf"): Kernel(1.1e-10, 2e-11, 3e-08, 3.5e-08),
    ("pairs", "nist"): Kernel(1.1e-10, 1.2e-11, 4e-08, 5e-08),
    ("pairs", "general"): Kernel(6e-11, 3.6e-11, 8e-09, 8e-09),
}
"""By what a replicate scores, systems (on redrawn test sets) or pairs (after swaps), and by kind of metric.

Products are those in bytes, in between what a processor with AMX takes and one with VNNI: BLEU's and those of counts are fitted to
the blocks of the jobs in docs/performance.json, by both forms, and are off by a factor of 1.6 at most. Blocks are cut by them, so
that there is one constant for every machine.

Kinds are ratios with one denominator, of counts or of decimals; other ratios; and what is not a ratio.
"""

METRICS: Mapping[str, tuple[str, float]] = {
    "accuracy": ("counts", 2e-07),
    "aer": ("general", 1.5e-05),
    "average-precision": ("decimals", 2e-05),
    "bleu": ("bleu", 6.5e-05),
    "bracket-f1": ("ratio", 5e-05),
    "bracket-precision": ("ratio", 5e-05),
    "bracket-recall": ("counts", 5e-05),
    "cer": ("ratio", 6.4e-06),
    "chrf": ("chrf", 0.0002),
    "chunk-f1": ("ratio", 1e-05),
    "chunk-precision": ("ratio", 1e-05),
    "chunk-recall": ("counts", 1e-05),
    "f1": ("ratio", 1e-06),
    "las": ("counts", 1e-05),
    "mean": ("decimals", 1e-06),
    "meteor": ("general", 0.00028),
    "ndcg": ("decimals", 2e-05),
    "nist": ("nist", 0.00013),
    "precision": ("ratio", 1e-06),
    "precision-at": ("counts", 1e-05),
    "ratio": ("ratio", 2e-06),
    "recall": ("counts", 1e-06),
    "reciprocal-rank": ("decimals", 1e-05),
    "rouge-1": ("decimals", 5.7e-05),
    "rouge-2": ("decimals", 5.2e-05),
    "rouge-l": ("decimals", 0.00015),
    "rouge-lsum": ("decimals", 0.00013),
    "tag-accuracy": ("counts", 2e-06),
    "ter": ("ratio", 0.00033),
    "uas": ("counts", 1e-05),
    "wer": ("ratio", 3.6e-06),
    "win-rate": ("counts", 1e-06),
}
"""The kind of a metric, and the seconds of an item of some 25 words; round numbers are estimates.

Of those that are not here extraction is not foretold.
"""

SETUP, SETUP_SYSTEM, SETUP_PAIR = 0.01, 5e-8, 1e-6
"""A metric of a resample task before its first replicate; a unit and system of it; a pair."""

STORE_CELL = 6e-7
"""A pair's counts in a cell, on their way to the disk."""

EXTRACT_FILES = 0.005
"""Output, receipt and file of an extraction."""

COLLECT_CUBE, COLLECT_SYSTEM, COLLECT_SLICE, COLLECT_PAIR, COLLECT_CELL, COLLECT_SCORE = 0.08, 1.3e-3, 0.04, 1.6e-5, 1.1e-6, 2.5e-8
"""Of a cube; statistics of a system; a metric, procedure and test size (a slice); a pair of it; its cell; a kept score of it."""

COLLECT_FAMILY, SHARD = 4e-6, 0.1
"""A pair of a slice that is corrected with all others; a shard of a cube before its first pair."""

COLLECT_READ = 1.5e-9
"""A pair on a kept replicate: intervals and max-T."""

COLLECT_PRODUCT: Mapping[str, float] = {"counts": 2.5e-12, "decimals": 2.5e-11, "ratio": 5.2e-11, "general": 1e-11}
"""A pair on a unit of a replicate that max-T or bootstrap-t draws again, by kind of metric; other kinds as ``general``."""

COLLECT_IN_STRATA: Mapping[str, float] = {"ratio": 2.8e-10, "general": 1.3e-10}
"""The same within strata, where units are gone through one by one: of ratios of any kind, and of other metrics."""

COLLECT_AGAIN = 8e-9
"""A pair on such a replicate."""

ONE_DENOMINATOR = frozenset({"cer", "ter", "wer"})
"""Ratios whose denominator is that of the reference, the same for all systems: max-T takes them as counts."""

REPORT_ALL, REPORT_SLICE, REPORT_SLICE_PAIR, REPORT_PAIR = 0.5, 0.08, 1.5e-5, 1.4e-4
"""A report; a slice; a pair of it; a pair at full size. Slices are told twice where a relation splits the pairs."""


def block_seconds(procedure: str, metrics: Sequence[MetricInputs], *, units: int, systems: int, pairs: int) -> tuple[float, float]:
    """Return the seconds of a resample task before its first replicate, and of each replicate of all metrics on shared draws."""
    kernels = [_kernel_of(procedure, metric) for metric in metrics]
    setup = len(metrics) * (SETUP + SETUP_SYSTEM * units * systems + SETUP_PAIR * pairs)
    own = sum(one.product * units * systems + one.score * systems + one.pair * pairs for one in kernels)
    return setup, max((one.draw for one in kernels), default=0.0) * units + own


def _kernel_of(procedure: str, metric: MetricInputs) -> Kernel:
    return KERNELS["systems" if PROCEDURES[procedure].keeps_scores else "pairs", _kernel_kind(metric)]


def _kernel_kind(metric: MetricInputs) -> str:
    return METRICS.get(_kind_of(metric.name, metric.options), ("ratio" if metric.form == "ratio" else "general", 0.0))[0]


def _kind_of(name: str, options: Mapping[str, object]) -> str:
    """Return the kind of a metric, which a study may give another name."""
    return str(options.get("metric", name))


class _ColumnCosts(NamedTuple):
    """Seconds before the first replicate, of a replicate with its draws, and of these; and how many pairs there are."""

    setup: float
    each: float
    draw: float
    pairs: int


class TaskCosts:
    """The seconds that each task of a study should take on one core.

    Parameters
    ----------
    machine : float
        How long plain Python takes here, as a multiple of the machine where the constants were measured.
    """

    def __init__(self, study: Study, inputs: Inputs, *, machine: float = 1.0) -> None:
        self.study, self.inputs, self.machine = study, inputs, machine
        self._test_sets = {test_set.name: test_set for test_set in inputs.test_sets}
        self._metrics = {metric.name: metric for metric in inputs.metrics}
        # By the columns themselves, which all blocks of a range of cells share: there may be tens of thousands of blocks.
        self._of_columns: dict[tuple[int, str, int], tuple[tuple[ComparisonSpec, ...], list[_ColumnCosts]]] = {}

    def seconds(self, task: Task) -> float | None:
        """Return the seconds of a task; None for trainings and extractions by a metric that has no constants."""
        spec = task.spec
        if isinstance(spec, TrainSpec):
            return None
        if isinstance(spec, ExtractSpec):
            known = METRICS.get(_kind_of(spec.metric, spec.options))
            return None if known is None else self.machine * (EXTRACT_FILES + known[1] * self._test_sets[spec.test_set].n_items)
        if isinstance(spec, ResampleSpec):
            return self.machine * self._resample_seconds(spec)
        if isinstance(spec, CollectSpec):
            return self.machine * self._collect_seconds(self._test_sets[spec.test_set], sharded=bool(spec.shards))
        if isinstance(spec, ShardSpec):
            test_set = self._test_sets[spec.test_set]
            share = (spec.stop_pair - spec.first_pair) / count_pairs(test_set)
            return self.machine * (SHARD + share * self.pair_seconds(test_set) / self._parts(test_set))
        return self.machine * (REPORT_ALL + sum(self._report_seconds(t) for t in self.inputs.test_sets))

    def _resample_seconds(self, spec: ResampleSpec) -> float:
        replicates = cell_bounds(spec.stop_cell - 1, spec.replicates)[1] - spec.first_cell * CELL
        drawn, total = 0.0, 0.0
        for column in self._columns(spec):
            drawn = max(drawn, column.draw)
            counted = replicates * (column.each - column.draw)
            total += column.setup + counted + STORE_CELL * column.pairs * (spec.stop_cell - spec.first_cell)
        return total + replicates * drawn

    def _columns(self, spec: ResampleSpec) -> list[_ColumnCosts]:
        """Return the costs of each column: each on its own systems and pairs, all on the same draws."""
        place = (id(spec.columns), spec.procedure, spec.n_units)
        if place not in self._of_columns:
            found = []
            for column in spec.columns:
                systems, pairs = len(column.systems), _count_pairs(column.pairs, len(column.systems))
                metric = self._metrics[column.metric]
                setup, each = block_seconds(spec.procedure, [metric], units=spec.n_units, systems=systems, pairs=pairs)
                draw = _kernel_of(spec.procedure, metric).draw * spec.n_units
                found.append(_ColumnCosts(setup, each, draw, pairs))
            self._of_columns[place] = spec.columns, found  # the columns too: while they are held no others have their id
        return self._of_columns[place][1]

    def _collect_seconds(self, test_set: TestSetInputs, *, sharded: bool) -> float:
        pairs, systems = count_pairs(test_set), len(test_set.outputs)
        total = COLLECT_CUBE + COLLECT_SYSTEM * systems * len(self.inputs.metrics) + self._again(test_set)
        total += self._slices(test_set) * (COLLECT_SLICE + COLLECT_FAMILY * pairs)
        return total + (0.0 if sharded else self.pair_seconds(test_set))

    def pair_seconds(self, test_set: TestSetInputs) -> float:
        """Return the seconds of the work that shards divide: results of single pairs, and kept scores."""
        pairs, systems = count_pairs(test_set), len(test_set.outputs)
        kept = self.study.resampling.scores_kept * (COLLECT_SCORE * systems + COLLECT_READ * pairs)
        total = 0.0
        for metric, _, method in list_methods(self.study, test_set, self.inputs.metrics):
            law = law_seconds(metric, test_set) if method.exact else 0.0
            total += kept + pairs * (COLLECT_PAIR + COLLECT_CELL * count_cells(method.replicates) + law)
        return total * len(list_sizes(self.study, test_set)) + self._tails(test_set)

    def _tails(self, test_set: TestSetInputs) -> float:
        """Return the seconds of exact tails; at most, as only some pairs have one."""
        resampling = self.study.resampling
        if resampling.tails == "none" or resampling.strata is not None:
            return 0.0
        methods = list_methods(self.study, test_set, self.inputs.metrics)
        with_tails = {m.name: m for m, by, method in methods if PROCEDURES[by].has_tails and m.form == "ratio" and not method.exact}
        pairs = count_pairs(test_set)
        points = min(
            tails_budget(replicates=resampling.replicates, pairs=pairs, is_full=True),
            pairs * (8 * test_set.n_units + 2 * OF_TAILS.points),
        )
        return sum(
            pairs * law_seconds(metric, test_set)  # for scores such as 0 and 1 it takes next to no time
            if _kernel_kind(metric) == "counts" and metric.denominators == "items"
            else POINT_SECONDS * points
            for metric in with_tails.values()
        )

    def _again(self, test_set: TestSetInputs) -> float:
        """Return the seconds of max-T at the full size, and of bootstrap-t of ratios at every one."""
        resampling, systems = self.study.resampling, len(test_set.outputs)
        drawn = {"systems": systems, "kept": resampling.scores_kept}
        judged = replicates_within(**drawn, units=test_set.n_units) is None
        asked = any(name.endswith("studentised") for name in resampling.intervals)
        total = 0.0
        for metric in self.inputs.metrics:
            shared = _kind_of(metric.name, metric.options) in ONE_DENOMINATOR
            kind = "counts" if shared else _kernel_kind(metric)
            for size in list_sizes(self.study, test_set):
                gone_through = (judged and size.label == "full") or (asked and metric.form == "ratio")
                each = COLLECT_PRODUCT.get(kind, COLLECT_PRODUCT["general"])
                if resampling.strata is not None:
                    each = COLLECT_IN_STRATA["ratio" if metric.form == "ratio" else "general"]
                each = each * size.n_units + COLLECT_AGAIN
                total += gone_through * each * products(**drawn, units=1)
        return total

    def _report_seconds(self, test_set: TestSetInputs) -> float:
        sizes = len(list_sizes(self.study, test_set))
        pairs, times = count_pairs(test_set), 2 if self.study.systems.relation else 1
        slices = self._slices(test_set)
        return slices * (times * (REPORT_SLICE + REPORT_SLICE_PAIR * pairs) + REPORT_PAIR * pairs / sizes)

    def _parts(self, test_set: TestSetInputs) -> int:
        return len(list_sizes(self.study, test_set)) * len(self.inputs.metrics)

    def _slices(self, test_set: TestSetInputs) -> int:
        return self._parts(test_set) * len(self.study.resampling.procedures)


def count_pairs(test_set: TestSetInputs) -> int:
    """Return how many pairs of systems a test set has."""
    systems = len(test_set.outputs)
    return systems * (systems - 1) // 2


@lru_cache(maxsize=64)
def _count_pairs(mask: str, systems: int) -> int:
    # All blocks of a test size have one mask: unpacking half a million bits for each would take longer than planning.
    return int(ComparisonSpec("", "", {}, None, ("",) * systems, mask, "").pair_mask().sum())
