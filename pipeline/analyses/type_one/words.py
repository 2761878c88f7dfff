"""How many null data sets of the study's own outputs the study's tests reject: a line for "How far to trust it"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pipeline.analyses.type_one.pairs import BY_DOCUMENT, SWAPPED
from pipeline.analyses.type_one.rows import interval
from pipeline.analyses.type_one.runs import MIXED, SPLIT
from pipeline.interfaces import Check
from pipeline.interfaces.wording import name_metric
from pipeline.procedures.registry import PROCEDURES

__all__ = ["check_level", "check_runs"]

_CHECK = "Calibration of the test"
_RUNS = "Null data sets made of runs"
_ALPHA = 0.05


def check_level(rows: Sequence[Mapping[str, Any]]) -> Check:
    """Return what was found of the level of the tests that decide.

    It asks for a check where a rate is above .05 by more than chance, all rates together but for one report in twenty. Where items
    are drawn although their documents are known, swaps of single items destroy what the items of a document have in common: then
    it is fine only if swaps of whole documents say so too. The p of a procedure is asked as it is counted or computed; where
    another one decides, the line says so.
    """
    rows = [row for row in rows if row["design"] in (SWAPPED, BY_DOCUMENT)]  # verdicts are of systems: runs of models decide none
    # A preset's own p that is not asked is no test that was left out.
    rows = [row for row in rows if row["decides"] is not False or row["rate_05"] is not None]
    rated = [row for row in rows if row["decides"] and row["rate_05"] is not None]
    if not rated:
        why = "; ".join(dict.fromkeys(row["reason"] for row in rows if row["reason"])) or "there is no pair of systems"
        return Check(_CHECK, "not checked", f"No null data sets of this study's own outputs: {why}.")
    alike, together = ([row for row in rated if row["design"] == design] for design in (SWAPPED, BY_DOCUMENT))
    told = [f"{_count(alike)}, this study's own outputs swapped at random: at .05 {_rates(alike)}."] if alike else []
    clustered = {row["test_set"] for row in rows if row["design"] == BY_DOCUMENT}
    if clustered:
        told.append("Items were taken as independent there; see Items in documents.")
        told.append(
            f"With the outputs of whole documents swapped ({_count(together)}): {_rates(together)}."
            if together
            else "Outputs of whole documents were not swapped."
        )
    left = sum(row["rate_05"] is None for row in rows)
    if left:
        told.append(f"{left:,} more {'was' if left == 1 else 'were'} not made or tested: the findings say why.")
    told += _name_others(rated)
    unknown = {_place(row) for row in together} != {_place(row) for row in alike if row["test_set"] in clustered}
    liberal = any(_is_liberal(row, len(rated)) for row in rated)
    return Check(_CHECK, "check" if liberal or unknown else "ok", " ".join(told))


_RECOMMENDED = "quasi-f"
_FEWEST_WAYS = 20  # of fewer ways to part runs a rate of .05 is none or one of them


def check_runs(rows: Sequence[Mapping[str, Any]]) -> Check | None:
    """Return what was found on null data sets made of runs; None where no model has several.

    A procedure of the study compares two single outputs. That it rejects more than its level here is no fault of the procedure: it
    says that what is found of two runs must not be said of their models.
    """
    made = [row for row in rows if row["design"] in (SPLIT, MIXED) and row["rate_05"] is not None]
    single = [row for row in made if row["in_study"]]
    if not single:
        return None
    if max(row["nulls"] for row in made) < _FEWEST_WAYS:
        few = "Runs can be parted in fewer than {:,} ways: rates of .05 cannot be told from as few null data sets."
        return Check(_RUNS, "not checked", few.format(_FEWEST_WAYS))
    told = [f"{_rates_of_runs(single)} of null data sets in which one run stands for its model."]
    models = [row for row in made if row["procedure"] == _RECOMMENDED]
    if models:
        told.append(f"{_rates_of_runs(models)} of those in which models have several runs each.")
    misleading = any(_exceeds(row, len(single)) for row in single)
    if misleading:
        told.append("A verdict on two single runs is not a verdict on their models.")
    liberal = any(_exceeds(row, len(models)) for row in models)
    return Check(_RUNS, "check" if misleading or liberal else "ok", " ".join(told))


def _exceeds(row: Mapping[str, Any], rates: int) -> bool:
    """Say whether a rate is above its level; where all ways to part runs were taken it is so by more than one of them."""
    if row["interval_05"] is not None:
        return _is_liberal(row, rates)
    return bool(row["nulls"] >= _FEWEST_WAYS and (row["rejected_05"] - 1) / row["nulls"] > _ALPHA)


def _rates_of_runs(rows: Sequence[Mapping[str, Any]]) -> str:
    told = []
    for name in dict.fromkeys(row["procedure"] for row in rows):
        rates = [row["rate_05"] for row in rows if row["procedure"] == name]
        low, high = _percent(min(rates)), _percent(max(rates))
        told.append(f"at .05 {name} rejects {low if low == high else f'{low} to {high}'} %")
    return "; ".join(told)[0].upper() + "; ".join(told)[1:]


def _place(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[key] for key in ("test_set", "metric", "pair", "procedure"))


def _count(rated: Sequence[Mapping[str, Any]]) -> str:
    nulls = sorted({row["nulls"] for row in rated})
    places = {_place(row)[:-1] for row in rated}
    count = f"{nulls[0]:,}" if len(nulls) == 1 else f"{nulls[0]:,} to {nulls[-1]:,}"
    return f"{count} null data sets of {'a pair' if len(places) == 1 else f'each of {len(places)} pairs'}"


def _rates(rated: Sequence[Mapping[str, Any]]) -> str:
    names = dict.fromkeys(row["procedure"] for row in rated)
    return "; ".join(_describe(name, [row for row in rated if row["procedure"] == name]) for name in names)


def _name_others(rated: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Name the procedures whose verdicts use a different p from the one that null data sets were asked with."""
    for procedure in dict.fromkeys(row["procedure"] for row in rated):
        reading = PROCEDURES.get(procedure)
        if reading is not None and reading.few_units:
            how = "studentised or corrected for few units" if reading.keeps_scores else "corrected for few units"
            yield f"Verdicts of {procedure} use a different p, {how}: docs/levels.md has its levels."


def _name_p(procedure: str) -> str:
    reading = PROCEDURES.get(procedure)
    if reading is None or not reading.few_units:
        return procedure
    return f"the {'counted' if reading.draws else 'uncorrected'} p of {procedure}"


def _describe(procedure: str, rows: Sequence[Mapping[str, Any]]) -> str:
    name = _name_p(procedure)
    least, most = (choose(rows, key=lambda row: row["rate_05"]) for choose in (min, max))
    found = most["interval_05"]
    worst = f"{_percent(most['rate_05'])} % [{_percent(found['lo'])}, {_percent(found['hi'])}]"
    if len(rows) == 1:
        return f"{name} rejects {worst}"
    where = f"{most['test_set']}, {name_metric(most['metric'])}, {most['pair']}"
    low, high = _percent(least["rate_05"]), _percent(most["rate_05"])
    if low == high:
        return f"{name} rejects {worst}, alike on all of them"
    return f"{name} rejects {low} to {high} %, most {worst} of {where}"


def _is_liberal(row: Mapping[str, Any], rates: int) -> bool:
    low, _ = interval(row["rejected_05"], row["nulls"], row["reference"], 1 - 0.05 / rates)
    return low > _ALPHA


def _percent(rate: float) -> str:
    return f"{100 * rate:.1f}"
