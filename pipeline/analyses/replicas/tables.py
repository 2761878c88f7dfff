"""How findings about replicas are shown: the columns of six tables per metric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pipeline.interfaces import Column, Table
from pipeline.interfaces.wording import name_metric

__all__ = ["make_tables"]

_MODELS = (
    Column("model", "model"),
    Column("runs", "runs", "count"),
    Column("score", "mean score", "score"),
    Column("s_dev", "spread over runs, development set", "score"),
    Column("s_test", "spread over runs", "score"),
    Column("s_sel", "spread over test sets", "score"),
    Column("high", "high run"),
    Column("median", "median run"),
    Column("low", "low run"),
    Column("warning", "remark"),
    Column("reason", "why not compared"),
)
_TESTS = (
    Column("model_a", "better"),
    Column("model_b", "worse"),
    Column("delta", "gain", "score"),
    Column("null", "null"),
    Column("se", "se", "score"),
    Column("df", "df", "number"),
    Column("interval", "interval", "interval"),
    Column("p", "p", "p"),
    Column("p_bounds", "95 % bounds of p", "p-interval"),
    Column("floor", "smallest p", "p"),
    Column("holm", "Holm", "p"),
    Column("said", "remark"),
)
_MULTEVAL = Column("multeval", "multeval", "p")
_VARIANCES = (
    Column("model_a", "better"),
    Column("model_b", "worse"),
    Column("variance_unit", "σ² unit", "number"),
    Column("variance_system_unit", "σ² S×unit", "number"),
    Column("variance_run", "σ² run", "number"),
    Column("run_degrees", "df of σ² run", "count"),
    Column("variance_residual", "σ² e", "number"),
    Column("variance", "Var δ", "number"),
    Column("in_words", "{more_runs} more runs or {more_units} more units?"),
    Column("warning", "remark"),
    Column("reason", "why not"),
)
_SINGLE = (
    Column("model_a", "better"),
    Column("model_b", "worse"),
    Column("which_a", "run of the better"),
    Column("run_a", "its name"),
    Column("score_a", "its score", "score"),
    Column("which_b", "run of the worse"),
    Column("run_b", "name"),
    Column("score_b", "score", "score"),
    Column("delta", "gain", "score"),
    Column("p", "p", "p"),
    Column("p_bounds", "95 % bounds of p", "p-interval"),
    Column("reason", "why there is no p"),
)
_GAINS = (
    Column("model_a", "better"),
    Column("model_b", "worse"),
    Column("runs_each", "runs each", "count"),
    Column("gain_low", "gain, 2.5 %", "score"),
    Column("gain_median", "median", "score"),
    Column("gain_high", "97.5 %", "score"),
    Column("against", "share against", "p"),
    Column("gains", "gains", "count"),
    Column("reason", "why not"),
)
_SUBSETS = (
    Column("model_a", "better"),
    Column("model_b", "worse"),
    Column("null", "null"),
    Column("runs_each", "runs each", "count"),
    Column("pool_a", "pool of the better", "count"),
    Column("pool_b", "of the worse", "count"),
    Column("p_low", "p, 2.5 %", "p"),
    Column("p_median", "median", "p"),
    Column("p_high", "97.5 %", "p"),
    Column("rejected", "share p ≤ α", "p"),
    Column("rejected_against", "against the better", "p"),
    Column("reason", "why not"),
)


def make_tables(rows: Sequence[Mapping[str, Any]], notes: Mapping[str, str]) -> Iterator[Table]:
    """Yield the tables of every test set and metric; a column that says nothing in any of its rows is left out.

    Parameters
    ----------
    rows : sequence of mapping
    notes : mapping of str to str
        Captions by kind of row.
    """
    for test_set, metric in dict.fromkeys((row["test_set"], row["metric"]) for row in rows):
        where = {"test_set": test_set, "metric": metric}
        own = [row for row in rows if row["test_set"] == test_set and row["metric"] == metric]
        shown = (
            ("replicas", "model", _MODELS),
            ("models against each other", "test", (*_TESTS[:11], _MULTEVAL, *_TESTS[11:])),
            ("more runs or more units?", "pair", _VARIANCES),
            ("one run of each", "single", _SINGLE),
            ("the gain by number of runs", "gains", _GAINS),
            ("p by number of runs", "subset", _SUBSETS),
            ("replicas", "none", (Column("reason", "remark"),)),
        )
        for title, kind, columns in shown:
            of_kind = [row for row in own if row["kind"] == kind]
            if not of_kind:
                continue
            caption, at = notes.get(kind, ""), {"kind": kind, **where}
            rewritten = tuple(map(_with_remark, of_kind)) if kind == "test" else None
            if rewritten is not None:  # the same of every pair, and too much for a table as wide as a page
                nulls = {row["null"]: row["null_in_words"] for row in of_kind}
                caption = " ".join([*(f"{null}: {words}." for null, words in nulls.items() if words), caption]).rstrip()
            used = tuple(_headed(c, of_kind[0]) for c in columns if any(row[c.key] is not None for row in rewritten or of_kind))
            yield Table(f"{test_set} · {name_metric(metric)} · {title}", at, used, caption, rows=rewritten)


def _with_remark(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a test with everything that is said of it in one cell."""
    said = [str(row[key]) for key in ("note", "warning", "reason") if row[key] is not None]
    return {**row, "said": "; ".join(said) or None}


def _headed(column: Column, row: Mapping[str, Any]) -> Column:
    return Column(column.key, column.head.format(**row), column.form)
