"""Does the test hold its level on this study's own data? This module makes null data sets of it, and counts what is rejected.

Of a few pairs of neighbouring rank the two outputs of each unit are put in an order drawn at random, a few thousand times: the two
sides of such a data set do not differ, whatever the systems are, and are as hard, as long and as discordant as the real ones. Every
test is asked of each of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.analysis.options import read_options
from pipeline.analysis.type_one_pairs import RULES, NullPair, choose_pairs, load_pair
from pipeline.analysis.type_one_tables import make_tables
from pipeline.analysis.type_one_tests import LEVELS, Tested, ask_nulls
from pipeline.inference.p_values import clopper_pearson
from pipeline.interfaces import Finding, ScoredStatistics
from pipeline.resampling.address import draw_key
from pipeline.resampling.draws import Draws

__all__ = ["PROBABILITIES", "TypeOne", "TypeOneOptions", "interval"]

PROBABILITIES = (0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.975, 0.99)
"""At which quantiles of p are given: where the test has its level they are these numbers."""

_LEVEL = 0.95
NOTES = (
    "Null data sets are the study's own: of each unit the outputs of the two systems in an order drawn at random. They do not "
    "differ by construction; rejected means p ≤ level, read as “they differ”, whichever is ahead.",
    "Pairs are neighbours in rank, those with the {rules} discordant units; intervals are 95 % Clopper-Pearson. What is found "
    "holds for outputs like these; a one-sided p is read as most people read it, with the side chosen after looking.",
    "Whether the swaps themselves are a fair null where lengths or denominators of the two systems differ is another question: "
    "in these data sets both sides have the same lengths on average.",
)


@dataclass(frozen=True)
class TypeOneOptions:
    """Options: ``nulls`` and ``pairs`` of each test set and metric, ``replicates`` of each bootstrap, a ``budget`` of products."""

    nulls: int = 2000
    pairs: int = 3
    replicates: int = 499
    budget: float = 2e11

    def __post_init__(self) -> None:
        if not 100 <= self.nulls <= 100_000:
            raise ValueError(f"nulls {self.nulls} must be between 100 and 100000")
        if not 1 <= self.pairs <= len(RULES):
            raise ValueError(f"pairs {self.pairs} must be between 1 and {len(RULES)}")
        if not 99 <= self.replicates <= 100_000:
            raise ValueError(f"replicates {self.replicates} must be between 99 and 100000")
        if not self.budget > 0:
            raise ValueError(f"budget {self.budget} must be above 0")


@dataclass(frozen=True, eq=False)
class TypeOne:
    """How often each test rejects null data sets made of the study's own outputs."""

    name: ClassVar[str] = "type-one"
    statistics: Mapping[str, Mapping[str, ScoredStatistics]] = field(default_factory=dict)

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options that are unknown or of no use."""
        read_options(TypeOneOptions, options, analysis=self.name)

    def with_statistics(self, statistics: Mapping[str, Mapping[str, ScoredStatistics]]) -> TypeOne:
        """Give the analysis that has the statistics of items."""
        return TypeOne(statistics)

    def find(self, cubes: Mapping[str, xr.Dataset], options: Mapping[str, Any]) -> Finding:
        """Give a row for each test set, metric, pair and test, or one with the reason why there is none."""
        chosen = read_options(TypeOneOptions, options, analysis=self.name)
        places = [(name, str(metric)) for name, cube in cubes.items() for metric in cube["metric"].values.tolist()]
        waiting = {place: self._pairs(*place, cubes[place[0]], chosen) for place in places}
        made: dict[tuple[str, str], list[dict[str, Any]]] = {place: [] for place in places}
        left = chosen.budget
        for turn in range(chosen.pairs):  # one pair of every test set and metric before a second of any
            for place in places:
                for candidate in waiting[place][turn : turn + 1]:
                    rows, cost = self._rows(*place, cubes[place[0]], candidate, chosen, left)
                    made[place] += rows
                    left -= cost
        found = [row for place in places for row in made[place]]
        notes = tuple(note.format(rules=", ".join(RULES[: chosen.pairs])) for note in NOTES)
        return Finding(self.name, tuple(found), notes, {"probabilities": PROBABILITIES}, tuple(make_tables(found, notes)))

    def _pairs(self, test_set: str, metric: str, cube: xr.Dataset, options: TypeOneOptions) -> list[NullPair | str]:
        """Choose pairs, or say why there is none."""
        scored = self.statistics.get(test_set, {}).get(metric)
        if scored is None:
            return ["the statistics of its items are not at hand"]
        pairs = choose_pairs(cube, metric, options.pairs, higher_is_better=scored.higher_is_better)
        return [*pairs] or ["no two neighbours in rank differ on any unit"]

    def _rows(
        self, test_set: str, metric: str, cube: xr.Dataset, pair: NullPair | str, options: TypeOneOptions, left: float
    ) -> tuple[list[dict[str, Any]], float]:
        """Give the rows of a pair and what they cost, or one row with the reason."""
        where: dict[str, Any] = {"test_set": test_set, "metric": metric, "test_size": "full"}
        if isinstance(pair, str):
            return [_nothing(where, pair)], 0.0
        where |= _names(pair)
        scored = self.statistics[test_set][metric]
        # A weight, a swap and a difference meet for each statistic of each discordant unit.
        cost = float(options.nulls) * options.replicates * pair.discordant * scored.data.sizes["statistic"]
        if cost > left:
            return [_nothing(where, f"beyond the budget of {options.budget:.3g} products")], 0.0
        outputs = load_pair(scored, pair, unit=str(cube.attrs.get("unit", "item")))
        if outputs is None:
            why = "these cubes, of an earlier version, do not know the units of items: `pipeline run` makes them anew"
            return [_nothing(where, why)], 0.0
        units, seed = len(outputs.statistics), int(cube.attrs.get("seed", 0))
        draws = {
            rule: Draws(draw_key(seed=seed, purpose="null-laboratory", test_set=test_set, size="full", rule=rule), units, units)
            for rule in ("nulls", "swaps", "resamples")
        }
        tests = ask_nulls(outputs, scored, _procedures(cube), draws, nulls=options.nulls, replicates=options.replicates)
        return [{**where, "units": units, **_describe(test)} for test in tests], cost


def _procedures(cube: xr.Dataset) -> Sequence[str]:
    return [str(name) for name in cube["procedure"].values.tolist()]


def _names(pair: NullPair) -> dict[str, Any]:
    return {"pair": f"{pair.first} / {pair.second}", "system_a": pair.first, "system_b": pair.second, "chosen": pair.rule,
            "discordant": pair.discordant}  # fmt: skip


def _nothing(where: Mapping[str, Any], reason: str) -> dict[str, Any]:
    empty = dict.fromkeys(("pair", "system_a", "system_b", "chosen", "discordant", "units", *_FIELDS))
    return {**empty, **where, "reason": reason}


_FIELDS = (
    "procedure", "convention", "in_study", "decides", "nulls", "replicates", "reference", "says", "quantiles", "reason",
    *(f"{what}_{level}" for level in ("01", "05", "10") for what in ("rejected", "rate", "interval")),
)  # fmt: skip


def _describe(test: Tested) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(_FIELDS)
    row |= {
        "procedure": test.procedure,
        "convention": test.convention,
        "in_study": test.in_study,
        "decides": test.decides,
        "replicates": test.replicates,
        "reference": test.reference,
        "reason": test.reason,
    }
    if test.p is None:
        return row
    p = np.where(np.isnan(test.p), 1.0, test.p)  # without a p nothing is rejected
    row["nulls"] = len(p)
    row["quantiles"] = np.quantile(p, PROBABILITIES, method="inverted_cdf").tolist()
    for level in LEVELS:
        label, hits = f"{100 * level:02.0f}", int(np.count_nonzero(p <= level + 1e-12))
        low, high = interval(hits, len(p), test.reference, _LEVEL)
        row |= {f"rejected_{label}": hits, f"rate_{label}": hits / len(p), f"interval_{label}": {"lo": low, "hi": high}}
    row["says"] = _judge(row["interval_05"])
    return row


def interval(hits: int, nulls: int, reference: int | None, level: float) -> tuple[float, float]:
    """Give the Clopper-Pearson interval of a rate.

    Where all p-values share a law of so many draws, its error is in them too: the variance of the rate is that of fewer trials.
    """
    share = 1.0 if reference is None else reference / (reference + nulls)
    counts: NDArray[Any] = np.array([hits, nulls]) * share
    lo, hi = clopper_pearson(counts[:1], counts[1:], level)
    return float(lo[0]), float(hi[0])


def _judge(found: Mapping[str, float]) -> str:
    if found["lo"] > 0.05:
        return "liberal"
    return "conservative" if found["hi"] < 0.05 else "as it should"
