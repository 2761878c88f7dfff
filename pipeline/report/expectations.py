"""Known answers beside ours: each expectation of a study is looked up in the table that the report writes."""

from __future__ import annotations

import csv
import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.interfaces import Check, Column, Finding, Section, Table
from pipeline.report.layout.files import Files
from pipeline.report.selection import Selected, select_numbers
from pipeline.study.expectations import Expectation
from pipeline.study.schema import Study

__all__ = ["ANALYSIS", "Turned", "digest_of", "judge_expectations", "list_turned"]

ANALYSIS = "expectations"
"""The name of the finding."""
SECTION = Section("known-answers", "Known answers", after="leaderboard")

_COLUMNS = (
    Column("name", "what"),
    Column("expected", "expected", "written"),
    Column("ours", "ours", "number"),
    Column("interval", "95 % interval", "interval"),
    Column("agrees", "agrees"),
    Column("source", "source"),
    Column("remark", "remark"),
)
_CAPTION = (
    "What the study expects of its own results (`expect`), such as a paper's numbers. Where it says that ours need not agree, a "
    "difference is shown and nothing turns. A row that is not in the results is always reported."
)


class Turned(NamedTuple):
    """An expectation that is no longer met: its name, and why it is not found where the results have no such row."""

    name: str
    lacking: str | None = None


def judge_expectations(
    expected: Sequence[Expectation], tables: Files, *, interval_of: Mapping[str, str] | None = None, study: str = ""
) -> Finding:
    """Return a row for each expectation: what was expected, what was found, and whether it agrees.

    An expectation has turned where its number does not agree, or has no value, and nothing says that it need not; and wherever the
    results have no such row, whatever it says: a number that need not agree is there to be shown.

    Parameters
    ----------
    expected : sequence of Expectation
    tables : Files
        Of the report.
    interval_of : mapping of str to str, optional
        By table of an analysis, the column whose interval its plain ``interval`` is: beside another number it would mislead.
    study : str
        The digest of the study that the report is made for, as `digest_of` gives it: it stands in every row of the table.
    """
    found = select_numbers(expected, tables, interval_of or {})
    rows = [_judge(one, ours) | {"study": study} for one, ours in zip(expected, found, strict=True)]
    turned = [row for row in rows if row["turned"]]
    shown = tuple(_shown(row) for row in rows)
    if turned:
        lacking = [row for row in turned if not row["found"]]
        others = [row for row in turned if row["found"]]
        detail = ""
        if others:
            count = f"{len(others)} of {len(rows)} {'do' if len(others) > 1 else 'does'} not agree"
            detail = f"{count}: " + "; ".join(_tell(row) for row in others) + "."
        if lacking:
            count = f"{len(lacking)} of {len(rows)} {'are' if len(lacking) > 1 else 'is'} not found in the results"
            detail += " " * bool(detail) + f"{count}: " + "; ".join(f"{row['name']}: {row['reason']}" for row in lacking) + "."
    else:
        detail = f"All {len(rows)} agree, or need not." if any(row["need_not"] for row in rows) else f"All {len(rows)} agree."
    odd = [row for row in rows if row["ours"] is not None and row["reason"] and not row["turned"]]
    detail += "".join(f" Of {row['name']}, {row['reason']}." for row in odd)
    return Finding(
        ANALYSIS,
        tuple(rows),
        tables=(Table("Expected and found", {}, _COLUMNS, _CAPTION, SECTION.key, shown),),
        sections=(SECTION,),
        csv={"expectations": rows},
        checks=(Check("Known answers", "check" if turned else "ok", detail),),
    )


def list_turned(report: Path, study: Study, judge_anew: Callable[[], Finding]) -> list[Turned]:
    """Return the expectations of a study that are no longer met.

    What the report says of them is believed where it was made for this very study. It may have been made with other settings since,
    as by ``pipeline report --set``, and then its tables are others too.

    Parameters
    ----------
    report : Path
        The report's directory.
    study : Study
        Whose expectations are meant.
    judge_anew : callable
        Makes the report of the study again and gives the finding.
    """
    if not study.expect:
        return []
    rows = _read_judged(report / "tables" / f"{ANALYSIS}.csv")
    if [row["study"] for row in rows] != [digest_of(study)] * len(study.expect):
        return [Turned(row["name"], None if row["found"] else row["reason"]) for row in judge_anew().rows if row["turned"]]
    return [Turned(row["name"], None if row["found"] == "True" else row["reason"]) for row in rows if row["turned"] == "True"]


def digest_of(study: Study) -> str:
    """Return a digest that identifies a study with its settings."""
    return hashlib.sha256(study.model_dump_json(by_alias=True).encode()).hexdigest()[:16]


def _read_judged(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table of expectations; none where there is no such table, or where it is damaged."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, ValueError, csv.Error):
        return []
    return rows if all(row.keys() >= {"name", "turned", "found", "reason", "study"} for row in rows) else []


def _question(one: Expectation) -> dict[str, Any]:
    low, high = one.limits
    return {
        "name": one.label(),
        "table": one.table,
        "where": "; ".join(f"{key} {value}" for key, value in one.where.items()) or None,
        "column": one.column,
        "value": one.value,
        "low": low if math.isfinite(low) else None,
        "high": high if math.isfinite(high) else None,
        "need_not": one.differs is not None,
    }


def _judge(one: Expectation, found: Selected) -> dict[str, Any]:
    agrees = None if found.number is None else one.agrees(found.number)
    return {
        **_question(one),
        "ours": found.number,
        "interval": found.interval,
        "agrees": agrees,
        "found": found.found,
        "turned": not found.found or (not agrees and one.differs is None),
        "source": one.source,
        "differs": one.differs,
        "reason": found.reason,
    }


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    remark = row["reason"] or row["differs"]
    return {**row, "expected": _describe(row), "agrees": _answer(row), "remark": remark}


def _answer(row: Mapping[str, Any]) -> str:
    """Return the word for whether a number agrees."""
    if not row["found"]:
        return "not found"
    if row["agrees"]:
        return "yes"
    return "need not" if row["need_not"] else "no"


def _describe(row: Mapping[str, Any]) -> str:
    low, high, value = row["low"], row["high"], row["value"]
    if low is None and high is None:
        return f"{value:g}"
    limits = f"[{low:g}, {high:g}]" if low is not None and high is not None else f"≥ {low:g}" if high is None else f"≤ {high:g}"
    return limits if value is None else f"{value:g} {limits}"


def _tell(row: Mapping[str, Any]) -> str:
    found = row["reason"] if row["ours"] is None else f"{row['ours']:.6g}"
    return f"{row['name']}: expected {_describe(row)}, found {found}"
