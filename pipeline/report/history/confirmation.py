"""Gate answers that need more than one run's verdict: the level of a look, and earlier runs with the same answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pipeline.report.history.gate import Answer, Judged
from pipeline.report.values import format_level

__all__ = ["answers_before", "confirm_losses", "hold_to_level", "list_answers"]


def list_answers(judged: Sequence[Judged], *, window: bool = False) -> dict[str, Answer]:
    """Return each answer by test set, metric, candidate and baseline, as a history keeps them.

    With ``window`` the candidate is the last build, which has another name every time: it is left out.
    """
    return {_name(one, window): one.answer for one in judged}


def hold_to_level(judged: Sequence[Judged], level: float) -> list[Judged]:
    """Return the answers, with those left open whose p is above the level of this look."""
    return [_held(replace(one, level=level), level) for one in judged]


def _held(one: Judged, level: float) -> Judged:
    if one.answer not in {"better", "worse", "equivalent"} or (one.answer == "equivalent" and one.p_equivalence is None):
        return one  # identical outputs are equivalent without a test
    p, what = (one.p_equivalence, "p of equivalence") if one.answer == "equivalent" else (one.p, "p")
    if p is not None and p <= level:
        return one
    why = f"{one.answer} by itself, but {what} is above {format_level(level)}, which this look may spend"
    return replace(one, answer="inconclusive", why=why)


def confirm_losses(
    judged: Sequence[Judged], earlier: Sequence[Mapping[str, str]], *, runs: int, window: bool = False
) -> list[Judged]:
    """Return the answers, with those losses left open that too few runs in succession have found.

    Parameters
    ----------
    judged : sequence of Judged
        Of this run.
    earlier : sequence of mapping
        What `list_answers` returned of the runs before, the latest last, before anything was confirmed.
    runs : int
        How many runs must say it, this one among them.
    window : bool
        Whether the candidate is the last build, as for `list_answers`: builds in succession must then be worse than the same
        earlier one.
    """
    confirmed = []
    for one in judged:
        before = 0
        while one.answer == "worse" and before < len(earlier) and earlier[-1 - before].get(_name(one, window)) == "worse":
            before += 1
        if one.answer == "worse" and before + 1 < runs:
            one = replace(
                one, answer="inconclusive", why=f"worse in {before + 1} of the {runs} runs in succession that are asked for"
            )
        confirmed.append(one)
    return confirmed


def _name(one: Judged, window: bool) -> str:
    return json.dumps([one.test_set, one.metric, None if window else one.candidate, one.baseline], ensure_ascii=False)


def answers_before(accounts: Sequence[Mapping[str, Any]], run: str) -> list[Mapping[str, str]]:
    """Return the answers of other runs, each where it was last: a run that comes back stands between what came before and after."""
    earlier: dict[str, Mapping[str, str]] = {}
    for one in accounts:
        earlier.pop(one["run"], None)
        earlier[one["run"]] = one["answers"]
    return [answers for before, answers in earlier.items() if before != run]
