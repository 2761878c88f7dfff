"""Summarise what the tasks of a run have taken, by stage or one by one, from its ledger; the same for Prometheus."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pipeline.engine.watching.state import STAGES
from pipeline.errors import StoreError
from pipeline.plan.task import Receipt
from pipeline.record.manifest import iterate_receipts, read_standing
from pipeline.store.runs import RunDirectory

__all__ = ["format_metrics", "list_tasks", "summarise_work"]

STATES = (
    "PENDING",
    "RUNNING",
    "DRAINING",
    "COMPLETED",
    "INCOMPLETE",
    "FAILED",
    "CANCELLED",
    "INTERRUPTED",
    "LOST",
    "UNKNOWN",
)
"""All that a run may be in: a series of each, so that a state that is left goes to 0."""


def list_tasks(run: RunDirectory) -> list[dict[str, Any]]:
    """Return what each task took that is done or has failed for good, in the order of the ledger; StoreError where it is damaged.

    ``reused`` says that another run did it, and that its time was spent there.
    """
    standing = read_standing(run.ledger)
    rows = [_row(receipt, reused=receipt.key in standing.reused) for receipt in iterate_receipts(run.ledger, standing)]
    failed = [
        {
            "stage": None,  # which a failure does not tell
            "label": failure.label,
            "state": "failed",
            "seconds": failure.seconds,
            "cpu_seconds": None,  # which it does not tell either
            "peak_memory_bytes": failure.peak_memory_bytes,
            "attempts": failure.attempts,
            "worker": "",
        }
        for failure in standing.failures
    ]
    return [*rows, *failed]


def _row(receipt: Receipt, *, reused: bool) -> dict[str, Any]:
    return {
        "stage": receipt.kind,
        "label": receipt.label,
        "state": "reused" if reused else "done",
        "seconds": receipt.seconds,
        "cpu_seconds": receipt.cpu_seconds,
        "peak_memory_bytes": receipt.peak_memory_bytes,
        "attempts": receipt.attempts,
        "worker": receipt.worker,
    }


def summarise_work(run: RunDirectory, tasks: Sequence[Mapping[str, Any]] | None = None) -> dict[str, dict[str, Any]]:
    """Return for each stage how many tasks are done, what they took, and how many had to be tried again.

    Nothing where the ledger cannot be read: what is wrong with it is said by `pipeline resume`.
    """
    try:
        tasks = list_tasks(run) if tasks is None else tasks
    except (StoreError, KeyError, TypeError):
        return {}
    return {stage: summary for stage in STAGES if (summary := _summary([t for t in tasks if t["stage"] == stage]))}


def _summary(tasks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    own = [task for task in tasks if task["state"] == "done"]
    if not tasks:
        return {}
    seconds = [task["seconds"] for task in own] or [0.0]
    return {
        "done": len(own),
        "reused": sum(task["state"] == "reused" for task in tasks),
        "retried": sum(task["attempts"] > 1 for task in own),
        "retries": sum(task["attempts"] - 1 for task in own),
        "seconds": round(sum(seconds), 4),
        "cpu_seconds": round(sum(task["cpu_seconds"] for task in own), 4),
        "median_seconds": round(statistics.median(seconds), 4),
        "longest_seconds": max(seconds),
        "peak_memory_bytes": max((task["peak_memory_bytes"] for task in own), default=0),
    }


def format_metrics(facts: Mapping[str, Any]) -> str:
    """Return a run's status in the text format of Prometheus, for the textfile collector of its node exporter."""
    lines: list[str] = []
    run = {"run": str(facts["run"]), "study": str(facts.get("study", ""))}

    def metric(name: str, help: str, samples: Iterator[tuple[dict[str, str], float]]) -> None:
        lines.extend((f"# HELP pipeline_{name} {help}", f"# TYPE pipeline_{name} gauge"))
        for labels, value in samples:
            text = ",".join(f'{key}="{_escape(label)}"' for key, label in {**run, **labels}.items())
            lines.append(f"pipeline_{name}{{{text}}} {value:.12g}")

    stages, work = facts.get("stages") or {}, facts.get("work") or {}
    metric("run_state", "1 for the state the run is in.", (({"state": s}, float(facts["state"] == s)) for s in STATES))
    metric("run_elapsed_seconds", "Since this attempt began.", iter([({}, float(facts.get("elapsed_seconds") or 0.0))]))
    metric("tasks_total", "Tasks of the plan.", (({"stage": s}, float(c["total"])) for s, c in stages.items()))
    metric("tasks_done", "Tasks that are done.", (({"stage": s}, float(c["done"])) for s, c in stages.items()))
    metric("tasks_failed", "Tasks that have failed for good.", iter([({}, float(facts.get("failed") or 0))]))
    metric("task_retries", "Attempts beyond the first.", (({"stage": s}, float(w["retries"])) for s, w in work.items()))
    metric("task_seconds", "Time that tasks took, added up.", (({"stage": s}, float(w["seconds"])) for s, w in work.items()))
    memory = (({"stage": s}, float(w["peak_memory_bytes"])) for s, w in work.items())
    metric("task_peak_memory_bytes", "The most that a worker held.", memory)
    workers = (facts.get("engine") or {}).get("workers")
    if workers is not None:
        metric("workers", "Workers that are there.", iter([({}, float(workers))]))
    return "\n".join(lines) + "\n"


def _escape(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
