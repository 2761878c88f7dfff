"""Cubes with known truth, built from Gaussian laws, in the variables that the analyses and reports read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import xarray as xr
from scipy.special import ndtr

CONVENTIONS = ("one-sided", "two-sided", "below-zero", "at-or-below-zero", "one-sided-plus-one", "two-sided-plus-one")
COUNTS = ("below_zero", "at_zero", "below_delta", "at_delta", "at_twice_delta", "above_twice_delta")
BINS = 240
PAIR = ("metric", "test_size", "pair")
FULL = ("procedure", *PAIR)


def uncorrected(cube: xr.Dataset) -> xr.Dataset:
    """Return a cube whose p-values need no correction for few units: what is adjusted is what was counted."""
    return cube.assign(p_few_units=(FULL, np.full((1, *cube["observed_delta"].shape), np.nan)))


def undecide(cube: xr.Dataset, codes: Sequence[int] | int) -> xr.Dataset:
    """Return a cube whose pairs are not decided, for the reason of each code; 0 is none."""
    meanings = "none few-units rare-losses failures-of-others"
    values = np.broadcast_to(np.asarray(codes, np.int8), (1, *cube["observed_delta"].shape)).copy()
    return cube.assign(undecided=(FULL, values, {"flag_values": [0, 1, 2, 3], "flag_meanings": meanings}))


def build_cube(
    scores: np.ndarray,
    systems: Sequence[str],
    *,
    name: str = "news",
    sizes: Mapping[str, int] | None = None,
    se: np.ndarray | float = 0.5,
    identical: Sequence[tuple[str, str]] = (),
    coords: Mapping[str, Sequence[Any]] | None = None,
    pairs: Sequence[tuple[str, str]] | None = None,
    replicates: int = 1_000_000,
    metric: str = "bleu",
    attrs: Mapping[str, Any] | None = None,
) -> xr.Dataset:
    """Return the cube of one metric.

    scores : (test_size, system) observed scores, in percent
    se : standard error of each pair's difference, (test_size, pair) or one number
    """
    sizes = dict(sizes or {"full": 1000})
    scores = np.broadcast_to(np.asarray(scores, dtype=float), (len(sizes), len(systems)))
    pairs = list(pairs or combinations(systems, 2))
    number = {s: i for i, s in enumerate(systems)}
    a, b = (np.array([number[p[k]] for p in pairs]) for k in (0, 1))
    delta = scores[:, a] - scores[:, b]
    spread = np.broadcast_to(np.asarray(se, dtype=float), delta.shape).copy()
    same = np.array([p in identical or p[::-1] in identical for p in pairs])
    spread[:, same] = 0.0
    delta[:, same] = 0.0
    z = np.divide(np.abs(delta), spread, out=np.zeros_like(delta), where=spread > 0)
    tail = np.where(same, 0.0, ndtr(-z))
    count = np.rint(tail * replicates).astype(np.int64)
    p = np.stack(
        [
            np.where(same, 1.0, count / replicates),
            np.where(same, 1.0, np.minimum(1.0, 2 * count / replicates)),
            np.where(same, 1.0, count / replicates),
            np.where(same, 1.0, count / replicates),
            np.where(same, 1.0, (count + 1) / (replicates + 1)),
            np.where(same, 1.0, np.minimum(1.0, (2 * count + 1) / (replicates + 1))),
        ]
    )
    edges = np.linspace(-12, 12, BINS + 1)
    law = np.diff(ndtr(edges))
    histogram = np.broadcast_to(np.rint(law * replicates).astype(np.int64), (1, 1, *delta.shape, BINS))
    # Systems that differ and score the same have no order: two-sided p is 1 by definition, and there is no one-sided one.
    tied = (delta == 0) & ~same
    p[:, tied] = np.array([np.nan, 1.0, np.nan, np.nan, np.nan, 1.0])[:, None]
    half = 1.96 * np.sqrt(np.maximum(p * (1 - p), 1 / replicates) / replicates)
    stable = np.abs(p - 0.05) > 2 * half
    cell = np.array([count // 2, count - count // 2]).transpose(1, 2, 0)[None, None]
    zero = np.zeros_like(cell)
    counts = {f"count_{key}": cell if key in {"below_zero", "above_twice_delta"} else zero for key in COUNTS}
    data: dict[str, Any] = {
        "observed_score": (("metric", "test_size", "system"), scores[None]),
        "observed_delta": (PAIR, delta[None]),
        "se": (PAIR, spread[None]),
        "discordant": (PAIR, np.where(same, 0, np.array(list(sizes.values()))[:, None] // 5)[None]),
        "identical": (PAIR, np.broadcast_to(same, delta.shape)[None]),
        **{key: ((*FULL, "cell"), value) for key, value in counts.items()},
        "sum_shift": ((*FULL, "cell"), zero + 0.01 * replicates * spread[None, None, ..., None] / 2),
        "count_empty": ((*FULL, "cell"), zero),
        "histogram": ((*FULL, "bin"), histogram),
        "p_value": (("procedure", "convention", *PAIR), p[None, :, None]),
        "p_error": (("procedure", "convention", *PAIR), half[None, :, None]),
        "stable": (("procedure", "convention", *PAIR), stable[None, :, None]),
    }
    names = np.array(list(systems), dtype=object)
    extra = {key: ("system", np.array(list(value), dtype=object)) for key, value in (coords or {}).items()}
    return xr.Dataset(
        data,
        coords={
            "metric": [metric],
            "procedure": ["paired-bootstrap"],
            "convention": list(CONVENTIONS),
            "test_size": list(sizes),
            "n_units": ("test_size", list(sizes.values())),
            "system": names,
            "system_a": ("pair", names[a]),
            "system_b": ("pair", names[b]),
            "a": ("pair", a),
            "b": ("pair", b),
            **extra,
        },
        attrs={
            "study": "synthetic",
            "test_set": name,
            "seed": 7,
            "n_items": sizes["full"],
            "replicates": replicates,
            "alpha": 0.05,
            "higher_is_better": {metric: True},
            "metric_signatures": {metric: "nrefs:1|tok:13a"},
        }
        | dict(attrs or {}),
    )


def gaussian_cube(rng: np.random.Generator, *, systems: int, sizes: Mapping[str, int], sigma: float, spread: float) -> xr.Dataset:
    """Systems whose true scores differ by about ``spread``, all differences with the same unit standard deviation ``sigma``."""
    names = [f"s{i:03d}" for i in range(systems)]
    truth = rng.normal(50, spread, systems)
    n = np.array(list(sizes.values()))[:, None]
    scores = truth + rng.normal(0, sigma / np.sqrt(2), (len(sizes), systems)) / np.sqrt(n)
    return build_cube(scores, names, sizes=sizes, se=sigma / np.sqrt(n))
