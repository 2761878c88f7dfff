"""Drive a run from its plan to its report, as its only writer: tasks out, receipts in, ledger first.

Done means: the ledger has the receipt, written after the data and fsynced. Everything else here may be lost at any moment.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import replace

from pipeline.engine.executor import Executor, Outcome
from pipeline.engine.forecast import HERE_SECONDS, Outlook, is_small, machine_factor
from pipeline.engine.queue import TaskQueue
from pipeline.engine.signals import StopAsked, StopRequest, grace_of, listen
from pipeline.engine.stock import take_stock
from pipeline.engine.watching.ending import Ending, conclude_run, stopped
from pipeline.engine.watching.heartbeat import beating
from pipeline.engine.watching.state import RunState
from pipeline.engine.watching.watch import await_end
from pipeline.errors import PipelineError, RunLocked, StoreError
from pipeline.plan.costs import TaskCosts
from pipeline.plan.inventory import BriefInventory
from pipeline.plan.open_tasks import Plan, plan_study
from pipeline.plan.task import Failure, Receipt, Task
from pipeline.record.manifest import Manifest, ReceiptWriter, failure_entry, read_manifest
from pipeline.record.versions import versions_here
from pipeline.store.files import sweep_scratch, sweep_temporaries
from pipeline.store.lease import Lease, hold_lease
from pipeline.store.ledger import Ledger, last_fence
from pipeline.store.runs import RunDirectory

__all__ = ["OpenExecutor", "Progress", "coordinate"]

WORKER_LOST_LIMIT = 5
"""A task whose worker died so often is quarantined: it may be what kills them."""

UNEXPECTED_RETRIES = 1
"""A task that failed for no reason of its own is tried once more."""

DAMAGE = frozenset({"P704", "P705", "P710"})
"""Codes of a stored result that is gone or damaged."""

DAMAGE_LIMIT = 3
"""How often damage may be met where nothing damaged is found: then it is the disk."""


PATIENCE = 5
"""How many times as long as little work should take it may take here, before workers are started for the rest."""

Progress = Callable[[RunState], None]
OpenExecutor = Callable[[StopRequest], AbstractContextManager[Executor]]


def coordinate(
    run: RunDirectory,
    open_executor: OpenExecutor,
    *,
    progress: Progress = lambda state: None,
    block_cells: int | None = None,
    workers: int = 1,
    verify: bool = False,
    open_here: OpenExecutor | None = None,
) -> Ending:
    """Run all open tasks of a run.

    Parameters
    ----------
    run : RunDirectory
        A run whose `plan.json` is there.
    open_executor : callable
        Gives a context manager of the executor; called only if anything is open, with what knows whether a stop is asked.
    progress : callable
        Called with the state after every step.
    block_cells : int, optional
        Cells of a resample task; by default the plan's choice.
    workers : int
        For which number of workers the plan cuts blocks.
    verify : bool
        Read every stored result first and compute damaged ones again.
    open_here : callable, optional
        Called in place of ``open_executor`` where what is open is so little that this process does it sooner.

    Returns
    -------
    Ending
        State, exit code, message.

    Raises
    ------
    RunLocked
        Another process writes this run (P801), has taken it over, or somebody has removed this one's lease (P802).
    """
    await_end(run)
    with hold_lease(run.root, above=last_fence(run.ledger)) as lease, Ledger(run.ledger, fence=lease.fence) as ledger:
        manifest = read_manifest(run)
        state = RunState(run, study=manifest.study.study, fence=lease.fence)
        coordinator = Coordinator(run, manifest, lease, ledger, state, progress, block_cells, workers)
        stop = StopRequest(run.cancel)
        try:
            with listen(stop):
                ending = coordinator.drive(open_executor, stop, verify=verify, open_here=open_here)
            lease.check()  # whoever took it over meanwhile writes the state, and hears what was asked
        except RunLocked:
            raise  # the state is another's now
        except PipelineError as error:
            ending = Ending("FAILED", error.exit_code, "; ".join(p.message for p in error.problems))
            _try_to_end(state, lease, ending)
            raise
        except BaseException as error:
            _try_to_end(state, lease, Ending("FAILED", 70, f"{type(error).__name__}: {error}"))
            raise
        state.end(ending.state, ending.exit_code, ending.message)
        # Asked and answered: only the one who holds the lease may take the question away.
        with suppress(OSError):  # the next one that starts does it, or says why it cannot
            run.cancel.unlink(missing_ok=True)
        progress(state)
        return ending


def _try_to_end(state: RunState, lease: Lease, ending: Ending) -> None:
    with suppress(StoreError, OSError, RunLocked):  # a full disk, as the error says that brought us here; or it is another's
        lease.check()
        state.end(ending.state, ending.exit_code, ending.message)


class Coordinator:
    """The loop: fill the window, take outcomes, write receipts, plan again where something failed."""

    def __init__(
        self,
        run: RunDirectory,
        manifest: Manifest,
        lease: Lease,
        ledger: Ledger,
        state: RunState,
        progress: Progress,
        block_cells: int | None,
        workers: int,
    ) -> None:
        self.run, self.manifest, self.lease, self.ledger, self.state = run, manifest, lease, ledger, state
        self.receipts = ReceiptWriter(ledger)
        self.progress, self.block_cells, self.workers = progress, block_cells, workers
        self.machine = machine_factor()
        self.outlook = Outlook(TaskCosts(manifest.study, manifest.inputs, machine=self.machine).seconds)
        self.inventory = BriefInventory()
        self.attempts: Counter[str] = Counter()
        self.fruitless = 0
        self.running: dict[str, Task] = {}
        self.queue = TaskQueue((), done=())
        self.done: Counter[str] = Counter()
        self.stale = False

    def drive(
        self, open_executor: OpenExecutor, stop: StopRequest, *, verify: bool, open_here: OpenExecutor | None = None
    ) -> Ending:
        """Run the open tasks and return how the run ended; once a stop is asked for, return within seconds."""
        try:
            return self._drive(open_executor, stop, open_here, verify=verify)
        except StopAsked:
            return stopped(stop)
        finally:
            # What workers left that were ended amid a task: nobody may come after them who would remove it.
            sweep_scratch()
            self._sweep_stores()

    def _drive(self, open_executor: OpenExecutor, stop: StopRequest, open_here: OpenExecutor | None, *, verify: bool) -> Ending:
        self.ledger.append({"event": "started", "versions": versions_here()})
        self.state.event("started", f"attempt {self.lease.fence}")
        if self.ledger.torn:
            self.state.event("torn", "the last line of the ledger was torn and is dropped")
        # Before stock is taken, which may last: what an earlier attempt wrote is no longer so.
        self.state.write(at_once=True)
        self._sweep_stores()
        with stop.interrupting():
            self.inventory = take_stock(self.run, self.manifest, self.ledger, self.receipts, self.state, verify=verify)
            plan = self._plan()
        if plan.tasks and not stop.wanted:
            del plan  # the queue lets go of a task that it gives out; a plan would keep all of them until the last has ended
            if open_here is not None and self._is_small():
                foretold = max(self.machine * HERE_SECONDS, self.outlook.seconds(1) or 0.0)
                with open_here(stop) as executor:
                    if not self._loop(executor, stop, until=time.monotonic() + PATIENCE * foretold):
                        return stopped(stop)
                if len(self.queue):
                    self.state.event("handed over", f"{len(self.queue)} tasks take longer than was foretold: workers do the rest")
            if len(self.queue):
                with open_executor(stop) as executor:
                    if not self._loop(executor, stop):
                        return stopped(stop)
            plan = self._plan()
        if stop.wanted and plan.tasks:
            return stopped(stop)
        return conclude_run(plan, self.inventory)

    def _is_small(self) -> bool:
        return is_small(self.manifest.study, self.outlook, machine=self.machine, workers=self.workers)

    def _sweep_stores(self) -> None:
        sweep_temporaries(self.run.root)
        sweep_temporaries(self.run.store.root)

    def _plan(self) -> Plan:
        plan = plan_study(
            self.manifest.study,
            self.manifest.inputs,
            self.inventory,
            run=self.run.id,
            block_cells=self.block_cells,
            workers=self.workers,
        )
        self.queue = TaskQueue(plan.tasks, done=self.inventory.receipts.keys(), running=self.running.keys())
        self.outlook.plan(plan.tasks)
        self.done = Counter(str(receipt.kind) for receipt in self.inventory.receipts.values())
        self.stale = False
        self._show()
        return plan

    def _loop(self, executor: Executor, stop: StopRequest, *, until: float | None = None) -> bool:
        """Say whether all that is open has ended; if not, a stop was asked. Nothing more is started after ``until``."""
        deadline: float | None = None
        while True:
            if until is not None and time.monotonic() > until and not self.running and not stop.wanted:
                return True
            if stop.wanted and deadline is None:
                deadline = time.monotonic() + grace_of(task.kind for task in self.running.values())
                self.state.facts["state"] = "DRAINING"
                self.state.event("draining", f"{len(self.running)} tasks may end")
            if deadline is None:
                self._fill(executor)
            if not self.running:
                if deadline is None and len(self.queue):
                    raise RuntimeError(f"{len(self.queue)} tasks wait for results that no task makes")
                return not len(self.queue)
            engine = self.state.facts["engine"] = executor.describe()
            idle = engine.get("workers") == 0  # nobody does anything that could be waited for
            if deadline is not None and (stop.urgent or idle or time.monotonic() > deadline):
                return False
            try:
                with beating(self._show):
                    outcomes = executor.wait(0.5 if deadline is None else min(0.5, max(0.0, deadline - time.monotonic())))
            except StopAsked:  # what ran in this process is given up
                return False
            for outcome in outcomes:
                self._take(outcome)
            if self.stale:
                # Once for all that failed together: a plan of a large study takes seconds.
                self._plan()
            self._show()

    def _fill(self, executor: Executor) -> None:
        free = executor.free()
        while free > 0 and (task := self.queue.take()) is not None:
            self.running[task.key] = task
            executor.submit(task, f"{self.lease.fence}.{self.attempts[task.key]}")
            free -= 1

    def _take(self, outcome: Outcome) -> None:
        self.lease.check()
        task = outcome.task
        # The key is the queue's own string: what came from a worker brings one that would be kept as long as the run lasts.
        result = replace(outcome.result, key=task.key, attempts=self.attempts[task.key] + 1)
        del self.running[task.key]
        if isinstance(result, Receipt):
            self.receipts.append("done", result)
            self.inventory.add(result)
            self.queue.finish(result.key)
            self.outlook.finish(task, result)
            self.done[result.kind] += 1
        else:
            self._take_failure(task, result)

    def _take_failure(self, task: Task, failure: Failure) -> None:
        self.attempts[task.key] += 1
        self.state.event("failed", failure.reason, label=task.label, attempt=self.attempts[task.key], traceback=failure.traceback)
        # What no receipt covers (a frame) is not found here: the task would meet it for ever.
        damaged = {problem.code for problem in failure.problems} & DAMAGE and self.attempts[task.key] <= DAMAGE_LIMIT
        if damaged and self._mend():
            return
        if failure.exit_code == StoreError.exit_code:
            raise StoreError(*failure.problems)
        if self.attempts[task.key] <= _retries(task, failure):
            self.queue.give_back(task)
            return
        self.ledger.append(failure_entry(failure))
        self.inventory.fail(failure)
        self.stale = True

    def _mend(self) -> bool:
        """Check everything that is stored, so that damaged results are computed again; False once that has not helped."""
        before = set(self.inventory.receipts)
        failures = self.inventory.failures
        self.inventory = take_stock(self.run, self.manifest, self.ledger, self.receipts, self.state, verify=True)
        self.inventory.failures.update(failures)
        if before <= set(self.inventory.receipts) and not len(self.queue):
            self.fruitless += 1
        self._plan()
        return self.fruitless < DAMAGE_LIMIT

    def _show(self, since: float = 0.0) -> None:
        """Write where the run stands; ``since`` are the seconds that what runs has taken since a task ended last."""
        self.lease.check()  # whoever took it over writes the state now
        left = self.outlook.seconds(self.workers)
        self.state.count(self.done, self.outlook.open, None if left is None else max(left - since, 0.0))
        self.state.facts["failed"] = len(self.inventory.failures)
        self.state.write()
        self.progress(self.state)


def _retries(task: Task, failure: Failure) -> int:
    if failure.worker_lost:
        return WORKER_LOST_LIMIT
    if failure.exit_code == 70:
        return max(UNEXPECTED_RETRIES, task.retries)
    return task.retries
