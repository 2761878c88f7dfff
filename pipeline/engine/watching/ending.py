"""How a run ended: its state, its exit code, and a message."""

from __future__ import annotations

from typing import NamedTuple

from pipeline.engine.signals import StopRequest
from pipeline.errors import Interrupted, Problem, name_some
from pipeline.plan.inventory import Inventory
from pipeline.plan.open_tasks import Plan

__all__ = ["Ending", "conclude_run", "stopped"]

_RESUME = "`pipeline resume` continues it"


class Ending(NamedTuple):
    """How a run ended; ``problems`` are for people to read in full, ``advice`` for whoever stopped it: `status` has its own."""

    state: str
    exit_code: int
    message: str
    problems: tuple[Problem, ...] = ()
    advice: str = ""

    @property
    def told(self) -> str:
        """The message, and what to do."""
        return "; ".join(filter(None, (self.message, self.advice)))


def stopped(stop: StopRequest) -> Ending:
    """Return the ending of a run that was asked to stop."""
    if stop.cancelled:
        return Ending("CANCELLED", Interrupted.exit_code, "cancelled", advice=_RESUME)
    code = 130 if stop.interrupted else Interrupted.exit_code
    return Ending("INTERRUPTED", code, "stopped on request", advice=_RESUME)


def conclude_run(plan: Plan, inventory: Inventory) -> Ending:
    """Return the ending of a run in which nothing is left to do: complete, without some systems, or failed.

    Parameters
    ----------
    plan : Plan
        Made when the last task had ended.
    inventory : Inventory
        What is done and what failed.
    """
    failures = list(inventory.failures.values())
    problems = tuple(problem for failure in failures for problem in failure.problems)
    last = [f for f in failures if f.label == "report" or f.label.startswith("collect ")]
    if last:
        return Ending("FAILED", last[0].exit_code, last[0].reason, problems)
    if plan.report is None or plan.report not in inventory.receipts:
        message = "; ".join(f.reason for f in failures) or "fewer than two systems are left"
        return Ending("FAILED", 4, message, problems)
    if plan.absent or failures:
        names = sorted({a.system for a in plan.absent if a.system}) or [f.label for f in failures]
        return Ending("INCOMPLETE", 4, f"done without {name_some(names, 8)}", problems)
    return Ending("COMPLETED", 0, "")
