"""What trainings take. This module asks the ledgers of earlier runs, and fits once what they do not know.

A training is foreign code and may take hours: it is fitted in a process that can be ended, twice a model and sample size, since the
first time it also imports. What ends within the limit is known, the rest is not.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from statistics import median

from pydantic import ValidationError

from pipeline.errors import StoreError
from pipeline.plan.task import Failure, Task, TrainSpec
from pipeline.plan.trainings import trainings_of
from pipeline.record.manifest import read_manifest, receipts_of
from pipeline.store.ledger import read_ledger
from pipeline.store.runs import RunDirectory, iterate_ledgers

__all__ = ["past_trainings", "time_trainings"]

START_SECONDS = 10.0
"""What the process may take to start: it imports what trains."""


def past_trainings(runs: Path, tasks: list[Task]) -> dict[str, dict[str, float]]:
    """Return the median seconds of the same model with the same options on samples of the same size, by model and fraction."""
    asked = {_what(task.spec): task.spec for task in tasks if isinstance(task.spec, TrainSpec)}
    taken: dict[str, list[float]] = {}
    if asked:
        for path in iterate_ledgers(runs):
            for what, seconds in _trainings(path):
                taken.setdefault(what, []).append(seconds)
    known: dict[str, dict[str, float]] = {}
    for what, spec in asked.items():
        if what in taken:
            known.setdefault(spec.model, {})[f"{spec.fraction:g}"] = median(taken[what])
    return known


def _trainings(ledger: Path) -> Iterator[tuple[str, float]]:
    try:
        manifest = read_manifest(RunDirectory(ledger.parent))
        receipts = receipts_of(read_ledger(ledger)[0]).values()
        made = trainings_of(manifest.study, manifest.inputs.training_data or "", manifest.inputs.trainers, {})
    except (StoreError, ValidationError, TypeError, KeyError):
        return  # a neighbour that is damaged, or of another version, only tells nothing
    for receipt in receipts:
        task = made.get(receipt.label.removeprefix("train ")) if receipt.kind == "train" else None
        if task is not None:
            assert isinstance(task.spec, TrainSpec)
            yield _what(task.spec), receipt.seconds


def _what(spec: TrainSpec) -> str:
    return repr((spec.trainer, sorted(spec.options.items()), sorted(spec.data.items()), spec.method, spec.fraction))


def time_trainings(tasks: Iterable[Task], *, seconds: float = 4.0) -> tuple[dict[str, dict[str, float]], dict[str, str]]:
    """Time a training for each model and fraction, the smallest first, within about so many seconds, of which each has its share.

    Returns
    -------
    known : dict of str to dict of str to float
        Seconds by model and fraction.
    unknown : dict of str to str
        Why nothing is known of a model.
    """
    chosen: dict[tuple[str, float], Task] = {}
    for task in tasks:
        if isinstance(task.spec, TrainSpec):
            chosen.setdefault((task.spec.model, task.spec.fraction), task)
    # One of each model before a second of any.
    order = sorted(chosen, key=lambda which: (which[1], which[0]))
    known: dict[str, dict[str, float]] = {}
    failed: dict[str, str] = {}
    for line in _lines([chosen[which] for which in order], seconds) if order else ():
        if "seconds" in line:
            known.setdefault(str(line["model"]), {})[f"{line['fraction']:g}"] = float(str(line["seconds"]))
        else:
            failed[str(line["model"])] = str(line["failed"])
    late = f"a single training did not end within {seconds:g} s"
    return known, {model: failed.get(model, late) for model, _ in order if model not in known}


def _lines(tasks: list[Task], seconds: float) -> list[Mapping[str, object]]:
    """Run this module in a process of its own and give what it printed until it ended or was ended."""
    with tempfile.TemporaryDirectory(prefix="pipeline-trainings-") as scratch:
        asked, told = Path(scratch) / "tasks", Path(scratch) / "told"
        asked.write_text(json.dumps([[task.key, task.label, asdict(task.spec)] for task in tasks]), encoding="utf-8")
        told.touch()
        command = [sys.executable, "-m", __name__, str(asked), str(told), str(seconds)]
        # A group of its own, and temporary files in our folder: whatever a training has started or left goes with it.
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, "TMPDIR": scratch},
        )
        try:
            with suppress(subprocess.TimeoutExpired):  # what it told until then counts
                process.wait(START_SECONDS + seconds)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        whole = told.read_text(encoding="utf-8").rpartition("\n")[0]
        return [json.loads(line) for line in whole.splitlines()]


def _time_all(asked: Path, told: Path, seconds: float) -> None:
    waiting = [Task("train", key, label, TrainSpec(**spec)) for key, label, spec in json.loads(asked.read_text(encoding="utf-8"))]
    _prepare(waiting)
    end = time.monotonic() + seconds
    # Each has its share of the time, so that one that takes hours leaves the others theirs; those that need more get as much again.
    for _ in range(2):
        late = []
        for number, task in enumerate(waiting):
            share = (end - time.monotonic()) / (len(waiting) - number)
            if share > 0 and not _time_one(task, told, share):
                late.append(task)
        waiting = late
        end += seconds


def _prepare(tasks: list[Task]) -> None:
    """Import trainers and read data, which the processes that train then have in common."""
    from pipeline.items.training import load_training_items
    from pipeline.tasks.predicted import load_predicted
    from pipeline.trainers.registry import make_trainer

    for spec in {task.spec.model: task.spec for task in tasks if isinstance(task.spec, TrainSpec)}.values():
        with suppress(Exception):  # foreign code; what is wrong with it is said where the training meets it
            make_trainer(spec.trainer, spec.options, Path(spec.base))
            load_training_items(spec.data, spec.base, spec.data_digest)
            for gold, test_set in spec.test_sets.items():
                load_predicted(test_set, spec.base, gold)


def _time_one(task: Task, told: Path, seconds: float) -> bool:
    """Time a training in a process of its own; say whether it ended within so many seconds."""
    child = os.fork()
    if not child:
        try:
            _tell(task, told)
        finally:
            os._exit(0)
    end = time.monotonic() + seconds
    before = told.stat().st_size
    while not os.waitpid(child, os.WNOHANG)[0]:
        if time.monotonic() > end:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            break
        time.sleep(0.005)
    return told.stat().st_size > before


def _tell(task: Task, told: Path) -> None:
    """Train twice, and tell after each what it took: the first time it also imports."""
    from pipeline.tasks.run import run_task

    spec = task.spec
    assert isinstance(spec, TrainSpec)
    with tempfile.TemporaryDirectory(prefix="pipeline-train-") as runs:
        for _ in range(2):
            before, start = _processor(), time.perf_counter()
            result = run_task(task, runs)
            processor, taken = _processor() - before, time.perf_counter() - start
            line: dict[str, object] = {"model": spec.model, "fraction": spec.fraction}
            if isinstance(result, Failure):
                line["failed"] = result.reason
            else:
                # Other work on the machine makes it longer; but a training that waits for something else does so in the run.
                line["seconds"] = processor if processor > taken / 2 else taken
            with told.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            if isinstance(result, Failure):
                return


def _processor() -> float:
    """Return the processor's seconds of this process and of those it has started and awaited."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


if __name__ == "__main__":
    _time_all(Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]))
