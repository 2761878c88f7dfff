"""What trainings take. This module asks the ledgers of earlier runs, and fits once what they do not know.

A training is foreign code and may take hours: it is fitted in a process that can be ended, once a model and sample size. What
ends within the limit is known, the rest is not.
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
from pipeline.store.ledger import read_ledger
from pipeline.store.runs import RunDirectory, iterate_ledgers
from pipeline.study.task import Failure, Task, TrainSpec
from pipeline.study.trainings import trainings_of
from pipeline.tasks.manifest import read_manifest
from pipeline.tasks.receipts import receipts_of

__all__ = ["past_trainings", "time_trainings"]

START_SECONDS = 10.0
"""What the process may take to start: it imports what trains."""


def past_trainings(runs: Path, tasks: list[Task]) -> dict[str, dict[str, float]]:
    """Give the median seconds of the same model with the same options on samples of the same size, by model and fraction."""
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
    """Time one training for each model and fraction, the smallest first, within a limit of about so many seconds.

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
    from pipeline.tasks.run import run_task

    tasks = [Task("train", key, label, TrainSpec(**spec)) for key, label, spec in json.loads(asked.read_text(encoding="utf-8"))]
    with tempfile.TemporaryDirectory(prefix="pipeline-train-") as runs:
        run_task(tasks[0], runs)  # imports
        begin = time.perf_counter()
        for task in tasks:
            spec = task.spec
            assert isinstance(spec, TrainSpec)
            if time.perf_counter() - begin > seconds:
                return
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


def _processor() -> float:
    """Give the processor's seconds of this process and of those it has started and awaited."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


if __name__ == "__main__":
    _time_all(Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]))
