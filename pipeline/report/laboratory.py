"""What the null laboratory says of this report's tests. This module writes the line of the trust section that it belongs to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.analysis.type_one import TypeOne, interval

__all__ = ["describe_laboratory"]

_CHECK = "Calibration of the test"
_ALPHA = 0.05


def describe_laboratory(document: Mapping[str, Any]) -> dict[str, str]:
    """Give the check: how many null data sets of the study's own outputs the tests of its verdicts reject at .05.

    It asks to look where a rate is above .05 by more than chance, all rates together but for one report in twenty.
    """
    rows = [row for finding in document["findings"] if finding["analysis"] == TypeOne.name for row in finding["rows"]]
    rated = [row for row in rows if row["decides"] and row["rate_05"] is not None]
    if not rated:
        why = (
            "; ".join(dict.fromkeys(row["reason"] for row in rows if row["reason"]))
            or f"the analysis {TypeOne.name} was not asked for"
        )
        return {"check": _CHECK, "status": "not checked", "detail": f"No null data sets of this study's own outputs: {why}."}
    nulls = sorted({row["nulls"] for row in rated})
    places = {(row["test_set"], row["metric"], row["pair"]) for row in rated}
    count = f"{nulls[0]:,}" if len(nulls) == 1 else f"{nulls[0]:,} to {nulls[-1]:,}"
    pairs = "a pair" if len(places) == 1 else f"each of {len(places)} pairs"
    told = [
        _describe(name, [row for row in rated if row["procedure"] == name])
        for name in dict.fromkeys(row["procedure"] for row in rated)
    ]
    detail = f"{count} null data sets of {pairs}, this study's own outputs swapped at random: at .05 {'; '.join(told)}."
    left = sum(row["rate_05"] is None for row in rows)
    if left:
        detail += f" {left:,} more {'was' if left == 1 else 'were'} not made or tested: the findings say why."
    status = "look" if any(_is_liberal(row, len(rated)) for row in rated) else "fine"
    return {"check": _CHECK, "status": status, "detail": detail}


def _describe(procedure: str, rows: Sequence[Mapping[str, Any]]) -> str:
    least, most = (choose(rows, key=lambda row: row["rate_05"]) for choose in (min, max))
    found = most["interval_05"]
    worst = f"{_percent(most['rate_05'])} % [{_percent(found['lo'])}, {_percent(found['hi'])}]"
    if len(rows) == 1:
        return f"{procedure} rejects {worst}"
    where = f"{most['test_set']}, {most['metric']}, {most['pair']}"
    return f"{procedure} rejects {_percent(least['rate_05'])} to {worst} (most: {where})"


def _is_liberal(row: Mapping[str, Any], rates: int) -> bool:
    low, _ = interval(row["rejected_05"], row["nulls"], row["reference"], 1 - 0.05 / rates)
    return low > _ALPHA


def _percent(rate: float) -> str:
    return f"{100 * rate:.1f}"
