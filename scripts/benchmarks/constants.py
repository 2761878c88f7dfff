"""The constants of `pipeline.plan.costs`, measured anew: what a replicate takes by kind of metric, and the counting of an item.

    PYTHONPATH=scripts python -m benchmarks.constants

multiplies by the best form of this processor, or by that of ``PIPELINE_PRODUCT``, as little work would be done in floats. It prints
the rows of `KERNELS` and `METRICS`, what max-T takes (`COLLECT_PRODUCT`), and how fast the machine is beside the one where those
in the package were measured: on a quiet machine whose factor is 1 they can take their place. The processor's time counts, the least
of several.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls
from threadpoolctl import threadpool_limits

from benchmarks.inputs import make_correct, write_texts
from pipeline.engine.forecast import machine_factor
from pipeline.inference.multiple_comparisons.studentised_max_t import studentised_max_t
from pipeline.interfaces import Items, Metric, Statistics
from pipeline.metrics.registry import load_metric
from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import Measure
from pipeline.resampling.observe import observe
from pipeline.resampling.products.byte_product import forms
from pipeline.resampling.products.contract import FORM_VARIABLE
from pipeline.resampling.randomize import randomize
from pipeline.resampling.resample import resample

__all__ = ["measure_extraction", "measure_kernel"]

KINDS = {
    "counts": "accuracy",
    "decimals": "mean",
    "ratio": "ter",
    "bleu": "bleu",
    "chrf": "chrf",
    "nist": "nist",
    "general": "meteor",
}
"""What stands for each kind of metric."""

SIDES: dict[str, Callable[..., object]] = {"systems": resample, "pairs": randomize}

SHAPES = [(2000, 2), (2000, 31), (200, 31)]
"""Units and systems that are run, each with all pairs and with neighbours alone."""

FEW, SECONDS, TIMES = 32, 0.04, 3
AGAIN, AGAIN_UNITS = 999, (200, 2000)
SYSTEMS, ITEMS = 31, 250


def measure_extraction(metric: Metric, gold: Items, outputs: list[Items]) -> tuple[float, list[Statistics]]:
    """Return the seconds of an item's statistics, and those statistics."""
    prepared = metric.prepare(gold)
    metric.extract(prepared, outputs[0])  # imports, compiled code
    found: list[Statistics] = []
    seconds = []
    for output in outputs:
        start = time.process_time()
        found.append(metric.extract(prepared, output))
        seconds.append((time.process_time() - start) / machine_factor())
    return float(np.median(seconds)) / len(gold), found


def measure_kernel(count: Callable[..., object], metric: Metric, statistics: list[Statistics]) -> list[float]:
    """Return the seconds of a draw (replicate and unit), product (and system), score (replicate and system) and pair."""
    rows, seconds = [], []
    whole = np.stack([each.values for each in statistics], axis=1).astype(np.int64)
    for units, systems in SHAPES:
        values = np.resize(whole[:, :systems], (units, systems, whole.shape[2]))  # items again, where there are too few
        every = np.stack(np.triu_indices(systems, 1), axis=1)
        for pairs in [every] if systems == 2 else [every, every[every[:, 1] == every[:, 0] + 1]]:
            taken = _replicate(count, metric, statistics[0].decimals, values, pairs)
            rows.append([units, units * systems, systems, len(pairs)])
            seconds.append(taken)
    scaled = np.array(rows, np.float64) / np.array(seconds)[:, None]
    weight = scaled.max(axis=0)
    found, _ = nnls(scaled / weight, np.ones(len(rows)))
    rates = found / weight
    error = scaled @ rates
    print(f"# foretold over taken: {error.min():.2f} to {error.max():.2f}", file=sys.stderr)
    return [float(rate) for rate in rates]


def _replicate(
    count: Callable[..., object], metric: Metric, decimals: tuple[int, ...], values: NDArray[np.int64], pairs: NDArray[np.int64]
) -> float:
    names = metric.statistics
    follows = tuple(names.index(metric.follows[name]) if name in metric.follows else -1 for name in names)
    keep = np.zeros(values.shape[1], np.bool_)
    measure = Measure(values, metric.scorer(decimals), metric.form, metric.higher_is_better, pairs, keep, follows=follows)
    seen = [observe(measure)]
    draws = Draws(key=1, n_units=len(values), n_draws=len(values))

    def take(replicates: int) -> float:
        machine = machine_factor()  # at the same time: what else runs slows down both
        start = time.process_time()
        count(draws, [measure], cells=range(-(-replicates // 2**14)), replicates=replicates, observed=seen)
        return (time.process_time() - start) / machine

    replicates = 2048
    take(replicates)  # compiled code
    before = min(take(FEW) for _ in range(TIMES))
    while take(replicates) - before < SECONDS and replicates < 2**17:
        replicates *= 2
    return max(float(np.median([take(replicates) for _ in range(TIMES)])) - before, 1e-6) / (replicates - FEW)


def measure_studentised(metric: Metric, statistics: list[Statistics], *, unequal: bool = False) -> tuple[float, float]:
    """Return what max-T takes: the seconds of a pair on a unit of a replicate, and of a pair on a replicate.

    Where denominators are to be ``unequal``, something is added to those of texts, which all have the length of one reference.
    """
    whole = np.stack([each.values for each in statistics], axis=1).astype(np.int64)
    pairs, keep = np.stack(np.triu_indices(whole.shape[1], 1), axis=1), np.zeros(whole.shape[1], np.bool_)
    rng, seconds = np.random.default_rng(2), []
    whole[..., -1] += rng.integers(0, 3, whole.shape[:2]) if unequal else 0
    for units in AGAIN_UNITS:
        values = np.resize(whole, (units, *whole.shape[1:]))
        measure = Measure(values, metric.scorer(statistics[0].decimals), metric.form, metric.higher_is_better, pairs, keep)
        # What the scores are changes no time; all of a replicate defined, no pair is capped.
        scores, floor = rng.random((whole.shape[1], AGAIN)), np.zeros(len(pairs))
        taken = []
        for _ in range(TIMES + 1):  # the first compiles
            machine, start = machine_factor(), time.process_time()
            draws = Draws(key=1, n_units=units, n_draws=units)
            studentised_max_t(measure, observe(measure), draws=draws, scores=scores, floor=floor)
            taken.append((time.process_time() - start) / machine / (len(pairs) * AGAIN))
        seconds.append(float(np.median(taken[1:])))
    product = (seconds[1] - seconds[0]) / (AGAIN_UNITS[1] - AGAIN_UNITS[0])
    return product, max(seconds[0] - product * AGAIN_UNITS[0], 0.0)


def _items(**columns: Sequence[object]) -> Items:
    count = len(next(iter(columns.values())))
    named = {name.replace("__", "."): values for name, values in columns.items()}
    return Items(tuple(map(str, range(count))), named, "made", tuple(range(1, count + 1)))


def _examples() -> Iterator[tuple[str, Items, list[Items]]]:
    """Yield metrics with a gold and outputs: texts of 5 to 44 words, labels, tags of such texts, and scores of six decimals."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_texts(folder, systems=SYSTEMS, items=ITEMS)
        reference, *texts = (
            path.read_text(encoding="utf-8").splitlines()
            for path in [folder / "reference.txt", *sorted((folder / "bleu").iterdir())]
        )
    gold = _items(reference__0=reference)
    for metric in ("bleu", "chrf", "ter", "wer", "cer", "nist", "meteor", "rouge-1", "rouge-2", "rouge-l", "rouge-lsum"):
        yield metric, gold, [_items(text=text) for text in texts]
    correct = make_correct(systems=SYSTEMS, items=ITEMS)
    labels = _items(label=["right"] * ITEMS)
    yield "accuracy", labels, [_items(label=["right" if one else "wrong" for one in row]) for row in correct.T.tolist()]
    tags = [tuple(line.split()) for line in reference]
    wrong = [[("x", *each[1:]) if one else each for one, each in zip(row, tags, strict=True)] for row in correct.T.tolist()]
    yield "tag-accuracy", _items(tag=tags), [_items(tag=row) for row in wrong]
    scores = np.random.default_rng(1).normal(0.8, 0.1, (SYSTEMS, ITEMS)).round(6)
    yield "mean", labels, [_items(score=[str(one) for one in row]) for row in scores.tolist()]


def main() -> None:
    """Measure and print."""
    kind_of = {metric: kind for kind, metric in KINDS.items()}
    os.environ.setdefault(FORM_VARIABLE, next(iter(forms()), "float"))
    with threadpool_limits(1):
        print(f"# products by {os.environ[FORM_VARIABLE]}; machine {machine_factor():.2f}")
        for name, gold, outputs in _examples():
            metric = load_metric(name)
            seconds, statistics = measure_extraction(metric, gold, outputs)
            print(f"# an item of {name}: {seconds:.2g}")
            for procedure, count in SIDES.items() if name in kind_of else ():
                rates = ", ".join(f"{rate:.2g}" for rate in measure_kernel(count, metric, statistics))
                print(f'    ("{procedure}", "{kind_of[name]}"): Kernel({rates}),', flush=True)
            if name in kind_of:
                product, pair = measure_studentised(metric, statistics, unequal=kind_of[name] == "ratio")
                print(f'# COLLECT_PRODUCT "{kind_of[name]}": {product:.2g}, COLLECT_AGAIN {pair:.2g}', flush=True)
        print(f"# machine {machine_factor():.2f}")


if __name__ == "__main__":
    main()
