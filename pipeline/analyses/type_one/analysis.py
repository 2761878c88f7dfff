"""Does the test hold its level on this study's own data? Make null data sets of it, and count what is rejected.

Of a few pairs the two outputs of each unit are put in an order drawn at random, a few thousand times: the two sides of such a data
set do not differ, whatever the systems are, and are as hard, as long and as discordant as the real ones. Every test is asked of
each of them, as the study asks it. Where items are drawn although their documents are known, outputs of whole documents are swapped
too; where models have several runs, null data sets are made of whole runs too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from pipeline.analyses.type_one.figures import list_figures, list_quantiles
from pipeline.analyses.type_one.models import RUN_NOTES, RunLaboratory
from pipeline.analyses.type_one.options import TypeOneOptions
from pipeline.analyses.type_one.own_p import OwnP, own_rules, say_own
from pipeline.analyses.type_one.p_by_p import draw_p_by_p, list_p_by_p, show_p_by_p
from pipeline.analyses.type_one.pairs import BY_DOCUMENT, RULES, SWAPPED, NullPair, PairData, baseline_of, choose_pairs, load_pair
from pipeline.analyses.type_one.rows import PROBABILITIES, describe, nothing
from pipeline.analyses.type_one.runs import MIXED, SPLIT
from pipeline.analyses.type_one.tables import make_tables
from pipeline.analyses.type_one.tests import ask_nulls
from pipeline.analyses.type_one.words import check_level, check_runs
from pipeline.dataclass import dataclass, field
from pipeline.interfaces import Analysis, Finding, ScoredStatistics
from pipeline.interfaces.analyses import FULL
from pipeline.options import read_options
from pipeline.resampling.address import draw_key
from pipeline.resampling.draws import Draws
from pipeline.resampling.null_laboratory import NullSwaps
from pipeline.resampling.strata import StratifiedDraws, stratified_key
from pipeline.resampling.swaps import KeptSwaps

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["TypeOne"]

NOTES = (
    "Null data sets are the study's own: of each unit the outputs of the two systems in an order drawn at random. They do not "
    "differ by construction; rejected means p ≤ level, read as “they differ”, whichever is ahead.",
    "Pairs are {pairs}, those with the {rules} discordant units; intervals are 95 % Clopper-Pearson. What is found "
    "holds for outputs like these; a one-sided p is read as most people read it, with the side chosen after looking.",
    "Whether the swaps themselves are a fair null where lengths or denominators of the two systems differ is another question: "
    "in these data sets both sides have the same lengths on average.",
)
DOCUMENT_NOTES = (
    "Items are drawn although they stand in documents. Here all outputs of a document change sides, or none: what its items have "
    "in common stays together, and the tests of items are asked as before.",
)


@dataclass(frozen=True, eq=False)
class TypeOne(Analysis):
    """How often each test rejects null data sets made of the study's own outputs."""

    name: ClassVar[str] = "type-one"
    statistics: Mapping[str, Mapping[str, ScoredStatistics]] = field(default_factory=dict)

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options that are unknown or of no use."""
        read_options(TypeOneOptions, options, analysis=self.name)

    def with_statistics(self, statistics: Mapping[str, Mapping[str, ScoredStatistics]]) -> TypeOne:
        """Return the analysis that has the statistics of items."""
        return TypeOne(statistics)

    def find(self, cubes: Mapping[str, xr.Dataset], options: Mapping[str, Any]) -> Finding:
        """Return a row for each test set, metric, pair and test, or one with the reason why there is none."""
        chosen = read_options(TypeOneOptions, options, analysis=self.name)
        places = [(name, str(metric)) for name, cube in cubes.items() for metric in cube["metric"].values.tolist()]
        waiting = {place: self._pairs(*place, cubes[place[0]], chosen) for place in places}
        made: dict[tuple[str, str], list[dict[str, Any]]] = {place: [] for place in places}
        left, kept = chosen.budget, KeptSwaps()
        for turn in range(chosen.pairs):  # one pair of every test set and metric before a second of any
            for place in places:
                for candidate in waiting[place][turn : turn + 1]:
                    rows, cost = self._rows(*place, cubes[place[0]], candidate, chosen, left, kept)
                    made[place] += rows
                    left -= cost
        left = self._part_runs(places, cubes, chosen, made, left)
        found = [row for place in places for row in made[place]]
        swapped = _notes(cubes, chosen)
        designs = {row["design"] for row in found}
        notes = swapped + (DOCUMENT_NOTES if BY_DOCUMENT in designs else ())
        notes += RUN_NOTES if designs - {SWAPPED, BY_DOCUMENT} else ()
        tables = {SWAPPED: swapped, BY_DOCUMENT: DOCUMENT_NOTES, SPLIT: RUN_NOTES, MIXED: RUN_NOTES}
        both = [row for name, cube in cubes.items() for row in list_p_by_p(name, cube)]
        return Finding(
            self.name,
            tuple(found),
            notes,
            {"probabilities": PROBABILITIES},
            tables=(*make_tables(found, tables), *show_p_by_p(cubes, both)),
            figures=(*draw_p_by_p(cubes, both), *list_figures(found)),
            csv={
                "type_one": [{key: value for key, value in row.items() if key != "quantiles"} for row in found],
                "type_one_quantiles": list_quantiles(found),
                "type_one_p": both,
            },
            checks=tuple(filter(None, (check_level(found), check_runs(found)))),
        )

    def _part_runs(
        self,
        places: Sequence[tuple[str, str]],
        cubes: Mapping[str, xr.Dataset],
        options: TypeOneOptions,
        made: Mapping[tuple[str, str], list[dict[str, Any]]],
        left: float,
    ) -> float:
        """Add the rows of null data sets made of runs; give what is left of the budget."""
        for test_set, metric in places:
            scored = self.statistics.get(test_set, {}).get(metric)
            if scored is None:
                continue
            laboratory = RunLaboratory(test_set, metric, cubes[test_set], scored, options)
            for pool in laboratory.list_pools():
                rows, cost = laboratory.part(pool, left)
                made[test_set, metric].extend(rows)
                left -= cost
            made[test_set, metric].extend(laboratory.compare_as_they_are())
        return left

    def _pairs(self, test_set: str, metric: str, cube: xr.Dataset, options: TypeOneOptions) -> list[NullPair | str]:
        """Choose pairs, or say why there is none."""
        scored = self.statistics.get(test_set, {}).get(metric)
        if scored is None:
            return ["the statistics of its items are not at hand"]
        pairs = choose_pairs(cube, metric, options.pairs, higher_is_better=scored.higher_is_better)
        baseline = baseline_of(cube)
        who = "no two neighbours in rank differ" if baseline is None else f"no system differs from {baseline}"
        return [*pairs] or [f"{who} on any unit"]

    def _rows(
        self,
        test_set: str,
        metric: str,
        cube: xr.Dataset,
        pair: NullPair | str,
        options: TypeOneOptions,
        left: float,
        kept: KeptSwaps,
    ) -> tuple[list[dict[str, Any]], float]:
        """Return the rows of a pair and what they cost, or one row with the reason."""
        where: dict[str, Any] = {"test_set": test_set, "metric": metric, "test_size": FULL, "design": SWAPPED}
        if isinstance(pair, str):
            return [nothing(where, pair)], 0.0
        where |= _names(pair)
        scored = self.statistics[test_set][metric]
        # A weight, a swap and a difference meet for each statistic of each discordant unit.
        cost = float(options.nulls) * options.replicates * pair.discordant * scored.data.sizes["statistic"]
        beyond = f"beyond the budget of {options.budget:.3g} products"
        if cost > left:
            return [nothing(where, beyond)], 0.0
        data = load_pair(scored, pair, cube)
        if isinstance(data, str):
            return [nothing(where, data)], 0.0
        where["units"] = len(data.outputs.statistics)
        rows = _ask(where, data, scored, cube, options, kept)
        if data.document is None:
            return rows, cost
        by_document = where | {"design": BY_DOCUMENT}
        if 2 * cost > left:
            return [*rows, nothing(by_document, beyond)], cost
        return rows + _ask(by_document, data, scored, cube, options, kept), 2 * cost


def _ask(
    where: Mapping[str, Any],
    data: PairData,
    scored: ScoredStatistics,
    cube: xr.Dataset,
    options: TypeOneOptions,
    kept: KeptSwaps,
) -> list[dict[str, Any]]:
    """Ask every test of the null data sets of a pair, made as ``where`` says."""
    units, group = len(data.outputs.statistics), data.document if where["design"] == BY_DOCUMENT else None
    address: dict[str, Any] = {"seed": int(cube.attrs.get("seed", 0)), "purpose": "null-laboratory"}
    address |= {"test_set": where["test_set"], "size": FULL}

    def draws(rule: str, count: int) -> Draws:
        return Draws(draw_key(**address, rule=rule), count, count)

    resamples: Draws | StratifiedDraws = draws("resamples", units)
    if data.stratum is not None:
        resamples = StratifiedDraws(stratified_key(**address, rule="resamples", stratum=data.stratum), data.stratum)
    nulls = NullSwaps(draws("nulls", units), kept=kept)
    if group is not None:
        nulls = NullSwaps(draws("nulls by document", int(group.max()) + 1), group, kept)
    asked: dict[str, Any] = {"resamples": resamples, "swaps": draws("swaps", units)}
    asked |= {"count": options.nulls, "replicates": options.replicates}
    rules = own_rules(cube)
    asked["own"] = OwnP(rules, nulls=options.nulls, replicates=options.replicates) if rules else None
    return [describe(where, test) for test in ask_nulls(data.outputs, scored, _procedures(cube), nulls=nulls, **asked)]


def _notes(cubes: Mapping[str, xr.Dataset], options: TypeOneOptions) -> tuple[str, ...]:
    baselines = sorted({baseline for cube in cubes.values() if (baseline := baseline_of(cube)) is not None})
    pairs = f"those of {' and '.join(baselines)} with another system" if baselines else "neighbours in rank"
    told = tuple(note.format(pairs=pairs, rules=", ".join(RULES[: options.pairs])) for note in NOTES)
    return told + say_own(list(cubes.values()))


def _procedures(cube: xr.Dataset) -> Sequence[str]:
    return [str(name) for name in cube["procedure"].values.tolist()]


def _names(pair: NullPair) -> dict[str, Any]:
    return {"pair": f"{pair.first} / {pair.second}", "system_a": pair.first, "system_b": pair.second, "chosen": pair.rule,
            "discordant": pair.discordant}  # fmt: skip
