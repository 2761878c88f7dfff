"""Count how often the package's own procedures reject true nulls.

Trials of a batch are independent data sets that share their draws; each batch has a key of its own, and so has each procedure. What
trials of a batch have in common is then the Monte-Carlo error of p, .007 at .05 with 1000 replicates: with ten trials a batch it
widens the standard error of a rate by half a per cent at most, and the intervals leave it out. Presets draw anew for each trial.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from levels_table.families import FAMILY_RULES, family_errors
from levels_table.nulls import Null, expected_scores, make
from pipeline.inference.conventions import riezler_maxwell
from pipeline.inference.p_values import CONVENTIONS, clopper_pearson, p_values
from pipeline.presets.sacrebleu_paired import paired_bootstrap, paired_randomization
from pipeline.procedures.direct import direct_tests
from pipeline.procedures.registry import PROCEDURES
from pipeline.resampling.address import draw_key
from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import Measure, Observed
from pipeline.resampling.observe import observe
from pipeline.resampling.randomize import randomize
from pipeline.resampling.resample import resample

__all__ = ["ALPHAS", "Case", "interval", "measure_rates"]

ALPHAS = (0.01, 0.05, 0.10)
_PRESETS = ("sacrebleu-bs", "sacrebleu-ar")
_BATCH = 10  # trials on the same draws
_SLACK = 1e-12  # p at the level counts as rejected; floats of hits/b may miss it by a rounding error

_P = dict[str, NDArray[np.float64]]


@dataclass(frozen=True)
class Case:
    """A null, and the rules that meet it; those of ``slow`` meet fewer trials."""

    key: str
    null: Null
    rules: tuple[str, ...]
    slow: tuple[str, ...] = ()


def interval(hits: int, trials: int) -> tuple[float, float]:
    """Return the 95 % Clopper-Pearson interval of a rate."""
    lo, hi = clopper_pearson(np.array([hits]), np.array([trials]), 0.95)
    return float(lo[0]), float(hi[0])


def measure_rates(
    case: Case, *, trials: int, slow_trials: int, replicates: int, seed: int, say: Callable[[str], None] = lambda _: None
) -> list[dict[str, Any]]:
    """Return a record of each rule: trials, and how many were rejected at each of `ALPHAS`."""
    every = (*case.rules, *case.slow)
    rejected, made = {rule: np.zeros(len(ALPHAS), np.int64) for rule in every}, dict.fromkeys(every, 0)
    for batch, first in enumerate(range(0, trials, _BATCH)):
        size = min(_BATCH, trials - first)
        measure = make(case.null, size, np.random.default_rng([seed, batch, *case.key.encode()]))
        rules = case.rules + (case.slow if first < slow_trials else ())
        found = _test(case.null, measure, rules, replicates=replicates, seed=seed, place=f"{case.key} {batch}", first=first)
        for rule, p in found.items():
            with np.errstate(invalid="ignore"):  # without a p nothing is rejected
                rejected[rule] += np.array([np.count_nonzero(p <= alpha + _SLACK) for alpha in ALPHAS])
            made[rule] += len(p)
        if not (batch + 1) % 500:
            say(f"{case.null.name}: {first + _BATCH} trials")
    return [
        {"case": case.key, "rule": rule, "trials": made[rule], "replicates": replicates, "seed": seed, "rejected": hits.tolist()}
        for rule, hits in rejected.items()
    ]


def _test(null: Null, measure: Measure, rules: tuple[str, ...], *, replicates: int, seed: int, place: str, first: int) -> _P:
    """Return the p-values of a batch by every rule."""
    seen, found = observe(measure), dict[str, NDArray[np.float64]]()
    bootstrapped = {*CONVENTIONS, "riezler-maxwell", *FAMILY_RULES} & set(rules)
    if bootstrapped:
        draws = _draws(measure, seed, "paired-bootstrap", place)
        found |= _bootstrap(measure, seen, bootstrapped, replicates, draws, expected_scores(null))
    if any(rule.startswith("approximate-randomization") for rule in rules):
        swapped = _swaps(measure, seen, replicates, _draws(measure, seed, "approximate-randomization", place))
        found |= {rule: p for rule, p in swapped.items() if rule in rules}
    direct = [rule for rule in rules if rule in PROCEDURES and not PROCEDURES[rule].draws]
    found |= {name: result.two_sided for name, result in direct_tests(direct, measure, seen).items()}
    for rule in set(rules) & set(_PRESETS):
        # A seed of its own for each trial, where the tool has one for all.
        p = [_preset(rule, measure, pair, seed * 10**6 + first + pair + 1, replicates) for pair in range(len(measure.pairs))]
        found[rule] = np.array(p)
    return found


def _draws(measure: Measure, seed: int, purpose: str, place: str) -> Draws:
    units = len(measure.statistics)
    return Draws(draw_key(seed=seed, purpose=purpose, test_set=place, size="full", rule="prefix"), units, units)


def _bootstrap(measure: Measure, seen: Observed, rules: set[str], b: int, draws: Draws, expected: NDArray[np.float64]) -> _P:
    (counted,) = resample(draws, [measure], cells=range(1), replicates=b, keep_replicates=b, observed=[seen])
    defined = b - counted.empty[:, 0].astype(np.int64)
    read = p_values(counted.counts[:, 0], defined, delta=seen.delta, identical=seen.identical, sums=counted.sums[:, 0])
    found = {rule: read.p[CONVENTIONS.index(rule)] for rule in rules & set(CONVENTIONS)}
    if "riezler-maxwell" in rules:
        folded = riezler_maxwell(counted.score, measure.pairs, score=seen.score, delta=seen.delta, identical=seen.identical)
        found["riezler-maxwell"] = folded.p
    if of_families := set(FAMILY_RULES) & rules:
        plain = read.p[CONVENTIONS.index("two-sided-plus-one")]
        found |= family_errors(of_families, measure, seen, counted.score, plain=plain, expected=expected, levels=ALPHAS)
    return found


def _swaps(measure: Measure, seen: Observed, b: int, draws: Draws) -> _P:
    (counted,) = randomize(draws, [measure], cells=range(1), replicates=b, observed=[seen])
    defined = b - counted.empty[:, 0].astype(np.int64)
    below, _, _, _, _, above = counted.counts[:, 0, :6].T.astype(np.int64)
    read = p_values(counted.counts[:, 0], defined, delta=seen.delta, identical=seen.identical, sums=counted.sums[:, 0])
    strict = np.where(seen.delta == 0, 1.0, (below + above + 1) / (defined + 1))
    return {
        "approximate-randomization": read.p[CONVENTIONS.index("two-sided-plus-one")],
        "approximate-randomization, strict": strict,
    }


def _preset(rule: str, measure: Measure, pair: int, seed: int, b: int) -> float:
    statistics = measure.statistics[:, measure.pairs[pair]]
    if rule == "sacrebleu-bs":
        return float(paired_bootstrap(statistics, score=_row, replicates=b, seed=seed).p[1])
    return float(paired_randomization(statistics, score=_row, trials=b, seed=seed).p[1])


def _row(sums: Any) -> Any:
    return 100.0 * sums[0] / sums[1]
