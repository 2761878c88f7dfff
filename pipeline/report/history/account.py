"""The account of a slot: what a report shows at the level of this look, what changed since the slot before, and a gate's answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from pipeline.interfaces.wording import call_metrics
from pipeline.report.document import Report
from pipeline.report.history.confirmation import answers_before, confirm_losses, hold_to_level, list_answers
from pipeline.report.history.gate import Judged, conclude_gate, judge_candidates
from pipeline.report.history.slot_text import list_limits
from pipeline.report.history.slots import Look, SlotFound, level_of, list_changes, next_look, read_slot

__all__ = ["Asked", "Measured", "account_for", "refuse_other_plan"]

_EXIT_CODES = {"worse": 1, "could not measure": 4}


class Asked(NamedTuple):
    """The settings of a slot beside its study."""

    looks: int | None
    baseline: str | None
    candidates: tuple[str, ...]
    confirm: int


class Measured(NamedTuple):
    """A run that has ended: its study, its id, the number of tasks done for this slot, and digests of its inputs."""

    study: str
    run: str
    tasks: int
    inputs: Mapping[str, str]
    settings: Mapping[str, str]


def refuse_other_plan(accounts: Sequence[Mapping[str, Any]], *, looks: int | None, alpha: float) -> None:
    """Raise StudyError (P741) where a period has begun that shares out another α, or in another way: known before anything runs."""
    next_look(_spent(accounts), looks=looks, alpha=alpha)


def account_for(
    slot: str, report: Report, measured: Measured, asked: Asked, accounts: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, Any], list[Judged]]:
    """Return the account of a slot as plain values, and the judged comparisons that it has.

    Parameters
    ----------
    slot : str
        Its name.
    report : Report
        Of the run.
    measured, asked
        The run, and what is asked of it.
    accounts : sequence of mappings
        Of the slots before, in order.
    """
    with call_metrics(report.titles):
        return _account_for(slot, report, measured, asked, accounts)


def _account_for(
    slot: str, report: Report, measured: Measured, asked: Asked, accounts: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, Any], list[Judged]]:
    last = accounts[-1] if accounts else None
    seen = next((one for one in accounts if one["run"] == measured.run), None)
    # The same run has been looked at: what it may claim was settled then, and nothing is spent.
    look = Look(**seen["look"]) if seen else next_look(_spent(accounts), looks=asked.looks, alpha=report.alpha)
    level = level_of(look, report)
    found = read_slot(report, level, inputs=measured.inputs, settings=measured.settings)
    judged: list[Judged] = []
    if asked.baseline is not None:
        judged = hold_to_level(judge_candidates(report, asked.baseline, asked.candidates), level)
    answers = list_answers(judged)
    judged = confirm_losses(judged, answers_before(accounts, measured.run), runs=asked.confirm)
    answer = conclude_gate(judged) if judged else None
    account: dict[str, Any] = {
        "study": measured.study,
        "slot": slot,
        "number": 1 + (last["number"] if last else 0),
        "run": measured.run,
        "tasks": measured.tasks,
        "spends": seen is None,
        "look": look._asdict(),
        "level": level,
        "before": last["slot"] if last else None,
        "changes": [c._asdict() for c in list_changes(SlotFound.from_json(last["found"]), found)] if last else [],
        "notes": list_limits(report, level),
        "answer": answer,
        "answers": answers,
        "comparisons": [asdict(one) for one in judged],
        "exit_code": _EXIT_CODES.get(answer or "", 0),
        "found": found.to_json(),
    }
    return account, judged


def _spent(accounts: Sequence[Mapping[str, Any]]) -> Look | None:
    return next((Look(**one["look"]) for one in reversed(accounts) if one["spends"]), None)
