"""Known answers beside ours: each expectation of a study is read off the very table that the report writes."""

from __future__ import annotations

import csv
import io
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.interfaces import Check, Column, Finding, Section, Table
from pipeline.options import suggest
from pipeline.report.files import Files
from pipeline.study.schema import Expectation

__all__ = ["ANALYSIS", "judge_expectations", "list_turned"]

ANALYSIS = "expectations"
"""What the finding is called."""
SECTION = Section("known-answers", "Known answers", after="leaderboard")

_Row = Mapping[str, Any]

_COMPARED = re.compile(r"\s*(<=|>=|<|>|≤|≥)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*")
_OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    **{"<=": operator.le, "≤": operator.le, ">=": operator.ge, "≥": operator.ge, "<": operator.lt, ">": operator.gt}
}
_COLUMNS = (
    Column("name", "what"),
    Column("expected", "expected", "written"),
    Column("ours", "ours", "number"),
    Column("interval", "95 % interval", "interval"),
    Column("agrees", "agrees"),
    Column("source", "source"),
    Column("remark", "remark"),
)
_INTERVAL_OF = {"leaderboard": "score", "pairs": "delta"}
"""Of the report's own tables, the column whose interval the plain ``interval`` is."""

_CAPTION = (
    "What the study expects of its own results (`expect`), such as a paper's numbers. Where it says that ours need not agree, a "
    "difference is shown and nothing turns."
)


def judge_expectations(expected: Sequence[Expectation], tables: Files, *, interval_of: Mapping[str, str] | None = None) -> Finding:
    """Return a row for each expectation: what was expected, what was found, and whether it agrees.

    An expectation has turned where its number does not agree, or cannot be found, and nothing says that it need not.

    Parameters
    ----------
    expected : sequence of Expectation
    tables : Files
        Of the report.
    interval_of : mapping of str to str, optional
        By table of an analysis, the column whose interval its plain ``interval`` is: beside another number it would mislead.
    """
    read: dict[str, list[_Row]] = {}
    rows = [_judge(one, tables, read, _INTERVAL_OF | dict(interval_of or {})) for one in expected]
    turned = [row for row in rows if row["turned"]]
    shown = tuple(_shown(row) for row in rows)
    if turned:
        detail = f"{len(turned)} of {len(rows)} do not agree: " + "; ".join(_tell(row) for row in turned) + "."
    else:
        detail = f"All {len(rows)} agree, or need not." if any(row["need_not"] for row in rows) else f"All {len(rows)} agree."
    detail += "".join(f" Of {row['name']}, {row['reason']}." for row in rows if row["agrees"] and row["reason"])
    return Finding(
        ANALYSIS,
        tuple(rows),
        tables=(Table("Expected and found", {}, _COLUMNS, _CAPTION, SECTION.key, shown),),
        sections=(SECTION,),
        csv={"expectations": rows},
        checks=(Check("Known answers", "check" if turned else "ok", detail),),
    )


def list_turned(report: Path) -> list[str]:
    """Return the names of the expectations that have turned, from a report's directory."""
    path = report / "tables" / f"{ANALYSIS}.csv"
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [row["name"] for row in csv.DictReader(file) if row["turned"] == "True"]


def _judge(one: Expectation, tables: Files, read: dict[str, list[_Row]], interval_of: Mapping[str, str]) -> dict[str, Any]:
    ours, interval, reason = _look_up(one, tables, read, interval_of)
    low, high = one.limits
    # A limit is written with a few digits: what is equal to it but for rounding agrees.
    slack = 1e-12 * max(abs(ours or 0.0), 1.0)
    agrees = None if ours is None or not (math.isfinite(low) or math.isfinite(high)) else low - slack <= ours <= high + slack
    return {
        "name": one.label(),
        "table": one.table,
        "column": one.column,
        "value": one.value,
        "low": low if math.isfinite(low) else None,
        "high": high if math.isfinite(high) else None,
        "ours": ours,
        "interval": interval,
        "agrees": agrees,
        "need_not": one.differs is not None,
        "turned": not agrees and one.differs is None,
        "source": one.source,
        "differs": one.differs,
        "reason": reason,
    }


def _look_up(
    one: Expectation, tables: Files, read: dict[str, list[_Row]], interval_of: Mapping[str, str]
) -> tuple[float | None, dict[str, Any] | None, str | None]:
    """Return the number, an interval that stands beside it, and why there is none."""
    names = [name.removesuffix(".csv") for name in tables if name.endswith(".csv")]
    if one.table not in names:
        meant = suggest(one.table, names)
        return None, None, f"there is no table {one.table!r}" + (f"; {meant}" if meant else "")
    if one.table not in read:
        read[one.table] = _read(tables, f"{one.table}.csv")
    rows = read[one.table]
    columns = list(rows[0]) if rows else []
    unknown = [key for key in (*one.where, *([one.column] if one.column else ())) if key not in columns]
    if rows and unknown:
        meant = suggest(unknown[0], columns)
        return None, None, f"the table {one.table} has no column {unknown[0]!r}" + (f"; {meant}" if meant else "")
    left = [row for row in rows if all(_holds(row.get(key), wanted) for key, wanted in one.where.items())]
    if one.count:
        return float(len(left)), None, None if left else _told_nowhere(one.where, rows)
    if len(left) != 1:
        return None, None, f"{len(left) or 'no'} rows of {len(rows)} are left, one is needed" + _differing(left)
    value = left[0].get(str(one.column))
    if value is None or isinstance(value, str):
        why = left[0].get("reason")
        return None, None, f"{one.column} has no number there" + (f": {why}" if why else "")
    column = str(one.column)
    interval = _interval_at(left[0], f"{column}_interval")
    if interval is None and interval_of.get(one.table) == column:
        interval = _interval_at(left[0], "interval")
    return float(value), interval, None


def _told_nowhere(where: Mapping[str, Any], rows: Sequence[_Row]) -> str | None:
    """Say which words of a selection no row has at all: there may be none such, or they may be misspelt."""
    told = []
    for key, wanted in where.items():
        words = sorted({str(row[key]) for row in rows if isinstance(row.get(key), str)})
        if isinstance(wanted, str) and not _COMPARED.fullmatch(wanted) and wanted not in words and words:
            meant = suggest(wanted, words)
            told.append(f"no row has the {key} {wanted!r}" + (f"; {meant}" if meant else ""))
    return "; ".join(told) or None


def _differing(rows: Sequence[Mapping[str, Any]]) -> str:
    """Say by which columns of words rows that are left differ."""
    if len(rows) < 2:
        return ""
    words = [key for key in rows[0] if len({str(row.get(key)) for row in rows}) > 1 and isinstance(rows[0][key], str)]
    return f"; they differ in {', '.join(words[:4])}" if words else ""


def _interval_at(row: Mapping[str, Any], prefix: str) -> dict[str, Any] | None:
    low, high = row.get(f"{prefix}.lo"), row.get(f"{prefix}.hi")
    return None if low is None or high is None else {"lo": low, "hi": high}


def _read(tables: Files, name: str) -> list[_Row]:
    """Return the rows of a table with its numbers as such."""
    text = b"".join(tables.stream(name)).decode()
    return [{key: _value(cell) for key, cell in row.items()} for row in csv.DictReader(io.StringIO(text))]


def _value(cell: str) -> Any:
    if cell in ("", "True", "False"):
        return {"": None, "True": True, "False": False}[cell]
    try:
        return float(cell)
    except ValueError:
        return cell


def _holds(cell: Any, wanted: Any) -> bool:
    if isinstance(wanted, str):
        compared = _COMPARED.fullmatch(wanted)
        if compared is None:
            return bool(cell == _value(wanted))
        number = isinstance(cell, int | float) and not isinstance(cell, bool)
        return number and bool(_OPERATORS[compared[1]](float(cell), float(compared[2])))
    if isinstance(wanted, bool) or isinstance(cell, bool) or cell is None:
        return bool(cell is wanted)
    return isinstance(cell, float) and math.isclose(cell, float(wanted), rel_tol=1e-12, abs_tol=1e-12)


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    remark = row["reason"] or row["differs"]
    agrees = "–" if row["agrees"] is None else "yes" if row["agrees"] else "need not" if row["need_not"] else "no"
    return {**row, "expected": _describe(row), "agrees": agrees, "remark": remark}


def _describe(row: Mapping[str, Any]) -> str:
    low, high, value = row["low"], row["high"], row["value"]
    if low is None and high is None:
        return f"{value:g}"
    limits = f"[{low:g}, {high:g}]" if low is not None and high is not None else f"≥ {low:g}" if high is None else f"≤ {high:g}"
    return limits if value is None else f"{value:g} {limits}"


def _tell(row: Mapping[str, Any]) -> str:
    found = row["reason"] if row["ours"] is None else f"{row['ours']:.6g}"
    return f"{row['name']}: expected {_describe(row)}, found {found}"
