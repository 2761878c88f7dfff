"""Simulate studies whose answers are known, and compare them with what the functions behind the analyses find."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr, ndtri
from scipy.stats import binom

from pipeline.analyses.size_curve.fits import fit_line
from pipeline.inference.across.correlation import correlate, share_above
from pipeline.inference.across.sign_agreement import SignCounts, expected_agreement
from pipeline.inference.across.typical_error import typical_log_error, welch_test
from pipeline.inference.sample_size.planning import power_of
from pipeline.resampling.replicas.components import variance_components

__all__ = ["TRUTHS", "measure"]

Z = 1.6448536269514722
_SIZES = (100, 200, 400, 800, 1600)
_LARGE = 400
_SHIFT = 1.25
_COMPONENTS = {"system_unit": 0.4, "run": 0.02, "residual": 0.6}
_BINS = ((0.0, 0.01), (0.01, 0.05), (0.05, 0.2))
_MOST = 300
_COVERED = (93.0, 100.0)
_Row = dict[str, Any]


def measure(name: str, *, studies: int, seed: int, say: Callable[[str], None]) -> list[_Row]:
    """Return a record for each number that a truth is about: what is true, what was found, and within which limits it must lie.

    Parameters
    ----------
    name : str
        A key of `TRUTHS`.
    studies, seed : int
    say : callable
    """
    rng = np.random.default_rng([seed, list(TRUTHS).index(name)])
    say(name)
    shared = {"truth": name, "studies": studies, "seed": seed}
    return [shared | row for row in TRUTHS[name](rng, studies)]


def _row(what: str, known: float, found: float, low: float, high: float) -> _Row:
    return {"what": what, "known": known, "found": float(f"{found:.6g}"), "low": low, "high": high}


def _pairs(systems: int) -> NDArray[np.int64]:
    return np.stack(np.triu_indices(systems, 1), axis=1).astype(np.int64)


def _square_root(rng: np.random.Generator, studies: int) -> Iterator[_Row]:
    """Thirty systems, right or wrong on items of varying difficulty; thresholds by standard errors on prefixes."""
    pairs = _pairs(30)
    slopes: dict[str, list[float]] = {"typical": [], "all": [], "large": []}
    for _ in range(studies):
        chance = expit(rng.normal(1, 0.5, (30, 1)) + rng.normal(0, 1.5, _SIZES[-1]))
        right = (rng.random(chance.shape) < chance).astype(np.float64)
        thresholds, typical = [], []
        for size in _SIZES:
            covariance = np.cov(right[:, :size])
            variance = np.diag(covariance)[pairs].sum(axis=1) - 2 * covariance[pairs[:, 0], pairs[:, 1]]
            thresholds.append(float(np.percentile(Z * np.sqrt(variance / size), 95)))
            typical.append(float(np.exp(np.mean(np.log(variance / size)) / 2)))
        large = _SIZES.index(_LARGE)
        for name, sizes, values in (
            ("typical", _SIZES, typical),
            ("all", _SIZES, thresholds),
            ("large", _SIZES[large:], thresholds[large:]),
        ):
            line = fit_line(sizes, values)
            if line is not None:
                slopes[name].append(line.slope)
    yield _row("slope of the typical standard error, 100 to 1600 items", -0.5, float(np.mean(slopes["typical"])), -0.51, -0.49)
    yield _row("slope of the threshold, 400 to 1600 items", -0.5, float(np.mean(slopes["large"])), -0.52, -0.48)
    # At 100 items the upper percentile is also one of the errors of standard errors: the threshold is too large there.
    yield _row("slope of the threshold, 100 to 1600 items", -0.5, float(np.mean(slopes["all"])), -0.53, -0.47)


def _calibration(rng: np.random.Generator, studies: int) -> Iterator[_Row]:
    """Twelve systems, right or wrong on 300 items drawn anew 20 times; shares of right signs against those of the true effects."""
    pairs, units, sets, many = _pairs(12), 300, 20, 20_000
    differences: list[list[float]] = [[] for _ in _BINS]
    for _ in range(studies):
        ability, difficulty = rng.normal(1, 0.15, (12, 1)), rng.normal(0, 1.5, many)
        chance = expit(ability + difficulty)
        truth = chance.mean(axis=1)
        gain = truth[pairs[:, 0]] - truth[pairs[:, 1]]
        # Given the item, answers are independent: P(both right) is the mean of the product of chances.
        both = (chance @ chance.T / many)[pairs[:, 0], pairs[:, 1]]
        deviation = np.sqrt((truth[pairs].sum(axis=1) - 2 * both - gain**2) / units)
        counts = [SignCounts.of(pairs, sets=sets) for _ in _BINS]
        for number in range(sets):
            drawn = chance[:, rng.integers(0, many, units)]
            right = (rng.random(drawn.shape) < drawn).astype(np.float64)
            values = right[pairs[:, 0]] - right[pairs[:, 1]]
            observed = values.mean(axis=1)
            p = ndtr(-np.abs(observed) * np.sqrt(units) / values.std(axis=1))
            for (low, high), own in zip(_BINS, counts, strict=True):
                own.add(number, (p > low) & (p <= high) & (observed != 0), np.sign(observed) == np.sign(gain))
        for (low, high), own, kept in zip(_BINS, counts, differences, strict=True):
            expected = expected_agreement(np.abs(gain) / deviation, low, high)
            if own.observed and expected is not None:
                kept.append(100 * (own.right / own.observed - expected))
    for (low, high), kept in zip(_BINS, differences, strict=True):
        yield _row(
            f"share with the right sign less that expected, points, p in ({low:g}, {high:g}]", 0.0, float(np.mean(kept)), -1, 1
        )


def _domain(rng: np.random.Generator, studies: int) -> Iterator[_Row]:
    """Fifteen systems on three test sets of 400 items, whose deviations are the same, or 1.25 times as large on the third."""
    pairs, seen = _pairs(15), {1.0: 0, _SHIFT: 0}
    for _ in range(studies):
        for shift in seen:
            logs, errors = [], []
            for scale in (1.0, 1.0, shift):
                values = scale * (rng.normal(0, 1, (15, 400)) + rng.normal(0, 1, 400))
                variance = np.var(values[pairs[:, 0]] - values[pairs[:, 1]], axis=1) / 400
                logs.append(float(np.mean(np.log(variance)) / 2))
                errors.append(typical_log_error(values, pairs) or 0.0)
            found = welch_test(logs, errors, [399] * 3)
            seen[shift] += found is not None and found.p <= 0.05
    yield _row("test sets alike: found different at .05, %", 5.0, 100 * seen[1.0] / studies, 0.0, 8.5)
    yield _row(f"a deviation {_SHIFT} times as large: found, %", 100.0, 100 * seen[_SHIFT] / studies, 95.0, 100.0)


def _variances(rng: np.random.Generator, studies: int) -> Iterator[_Row]:
    """Two models of eight runs each on 300 items, with known variances of model by item, run, and remainder."""
    found: dict[str, list[float]] = {name: [] for name in _COMPONENTS}
    deviation = {name: float(np.sqrt(value)) for name, value in _COMPONENTS.items()}
    for _ in range(studies):
        items = rng.normal(0, 1, 300)
        values = [
            items
            + deviation["system_unit"] * rng.normal(0, 1, 300)
            + deviation["run"] * rng.normal(0, 1, (8, 1))
            + deviation["residual"] * rng.normal(0, 1, (8, 300))
            for _ in range(2)
        ]
        components = variance_components(values, np.array([[0, 1]]))
        for name, kept in found.items():
            kept.append(float(getattr(components, name)[0]))
    words = {"system_unit": "model × item", "run": "run", "residual": "remainder"}
    for name, truth in _COMPONENTS.items():
        yield _row(
            f"mean estimate: {words[name]}", truth, float(np.mean(found[name])), round(0.9 * truth, 6), round(1.1 * truth, 6)
        )


def _power(rng: np.random.Generator, studies: int) -> Iterator[_Row]:
    """Numbers of units and shares helped and hurt at random; power against sums over the fewest wins that are significant."""
    # Of m units that differ; m + 1 wins, which cannot be, where even m are not significant.
    fewest = [int(np.argmax(2 * binom.sf(np.arange(m + 2) - 1, m, 0.5) <= 0.05)) for m in range(_MOST + 1)]
    largest = 0.0
    for _ in range(studies):
        units = int(rng.integers(20, _MOST + 1))
        hurt = float(rng.uniform(0, 0.1))
        helped = hurt + float(rng.uniform(0, 0.2))
        m = np.arange(units + 1)
        found = binom.sf(np.array(fewest[: units + 1]) - 1, m, helped / (helped + hurt))
        exact = float(binom.pmf(m, units, helped + hurt) @ found)
        largest = max(largest, abs(power_of(units, helped, hurt) - exact))
    yield _row("largest distance of the power from the sum", 0.0, largest, 0.0, 1e-9)


def _correlations(rng: np.random.Generator, studies: int) -> Iterator[_Row]:
    """Twenty-five runs with Gaussian scores on two test sets, of known correlation and chance that the first is the larger."""
    for truth in (0.0, 0.4, 0.8):
        values, inside = [], 0
        for _ in range(studies):
            x = rng.normal(0, 1, 25)
            found = correlate(x, truth * x + np.sqrt(1 - truth**2) * rng.normal(0, 1, 25))
            if found is not None and found.low is not None and found.high is not None:
                values.append(found.value)
                inside += found.low <= truth <= found.high
        yield _row(
            f"mean correlation, ρ = {truth:g}", truth, float(np.mean(values)), round(truth - 0.05, 6), round(truth + 0.05, 6)
        )
        yield _row(f"interval contains ρ = {truth:g}, %", 95.0, 100 * inside / studies, *_COVERED)
    inside, shift = 0, float(ndtri(0.7) * np.sqrt(2))
    for _ in range(studies):
        share = share_above(rng.normal(shift, 1, 100), rng.normal(0, 1, 100))
        inside += share.low is not None and share.high is not None and share.low <= 0.7 <= share.high
    yield _row("interval contains P(A > B) = .7, %", 95.0, 100 * inside / studies, *_COVERED)


TRUTHS: dict[str, Callable[[np.random.Generator, int], Iterator[_Row]]] = {
    "size law": _square_root,
    "calibration": _calibration,
    "domain shift": _domain,
    "variance components": _variances,
    "power": _power,
    "correlations": _correlations,
}
"""What is simulated, by name."""
