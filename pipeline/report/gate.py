"""Does a system fall behind its baseline by more than a margin? This module reads it off a report's document, for a gate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.report.procedures import procedures_of

__all__ = ["systems_that_fail"]


def systems_that_fail(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the systems that are worse than the baseline and not within the margin, by the first procedure of the study.

    What is inconclusive or was not measured does not fail: it is no finding against a system.

    Parameters
    ----------
    document : mapping
        From `pipeline.report.document.build_document`, of a family against a baseline.

    Returns
    -------
    list of dict
        ``test_set``, ``metric``, ``procedure``, ``name`` and ``baseline`` of each; empty where none fails.
    """
    baseline = document["family"]["baseline"]
    if baseline is None:
        raise ValueError("a gate needs a baseline: the family of this report is all pairs")
    judges = procedures_of(document)[:1]
    return [
        {**{key: row[key] for key in ("test_set", "metric", "procedure", "name")}, "baseline": baseline}
        for row in document["leaderboard"]
        if row["procedure"] in judges and row["against_baseline"] == "worse"
    ]
