"""Render the tables of docs/units.md from counted rejections, and write them between their marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from markdown_tables import fill_marked, render_table
from scipy.special import ndtr, ndtri

from pipeline.inference.p_values import clopper_pearson
from pipeline.inference.unit_diagnostics.few_units import expected_rejection
from pipeline.inference.unit_diagnostics.units import effective_units
from unit_nulls.simulate import FEW, LEVEL, MANY, Scenario

__all__ = ["TABLES", "fill_tables", "many_table"]


def _share(record: Mapping[str, Any], name: str) -> str:
    hits, trials = np.array([record["rejected"][name]]), np.array([record["trials"]])
    lo, hi = clopper_pearson(hits, trials, 0.95)
    return f"{100 * hits[0] / trials[0]:.1f} [{100 * lo[0]:.1f}, {100 * hi[0]:.1f}]"


def _of(records: Sequence[Mapping[str, Any]], scenarios: Sequence[Scenario]) -> list[tuple[Scenario, Mapping[str, Any]]]:
    by_name = {(record["name"], record["correlation"]): record for record in records}
    return [(scenario, by_name[scenario.name, scenario.correlation]) for scenario in scenarios]


def many_table(records: Sequence[Mapping[str, Any]]) -> str:
    """50 documents of 10 items: what resampling of items forgets."""
    rows = []
    for scenario, record in _of(records, MANY):
        effect = 1 + (scenario.sizes[0] - 1) * scenario.correlation
        gaussian = 2 * ndtr(ndtri(LEVEL / 2) / np.sqrt(effect))
        rows.append(
            (f"{scenario.correlation:.2f}", f"{effect:.2f}", f"{record['design_effect']:.2f}", _share(record, "items"),
             f"{100 * gaussian:.1f}", _share(record, "documents"), _share(record, "corrected"))
        )  # fmt: skip
    head = ("ICC", "1 + 9 ICC", "design effect found", "items, % [95 %]", "items, computed", "documents", "documents, corrected")
    return render_table(head, rows)


def few_table(records: Sequence[Mapping[str, Any]]) -> str:
    """Few documents: what the bootstrap of them rejects, and what is left after the correction."""
    rows = []
    for scenario, record in _of(records, FEW):
        units = effective_units(np.array(scenario.sizes))
        computed = expected_rejection(units)
        assert computed is not None
        rows.append(
            (
                scenario.name,
                f"{scenario.correlation:.2f}",
                f"{units:.1f}",
                _share(record, "documents"),
                f"{100 * computed:.1f}",
                _share(record, "corrected"),
            )
        )
    return render_table(("documents", "ICC", "effective", "rejected, % [95 %]", "expected", "corrected"), rows)


TABLES = {"many": many_table, "few": few_table}


def fill_tables(text: str, records: Sequence[Mapping[str, Any]]) -> str:
    """Return a document with the table of each ``<!-- units: NAME -->`` … ``<!-- end -->`` written anew."""
    return fill_marked(text, "units", lambda name: TABLES[name](records))
