"""The training task: sampled training items → model → outputs.

Beside the outputs a training leaves a record: its log, the most memory it held, and what is known of its failure.
"""

from __future__ import annotations

import math
import os
import re
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.dataclass import dataclass
from pipeline.errors import PipelineError, StoreError, TaskError
from pipeline.interfaces import Trainer, TrainingItems
from pipeline.items.training import count_instances, lend_items, load_training_items, number_units
from pipeline.plan.task import Receipt, Task, TrainSpec
from pipeline.store.bundle import write_bundle
from pipeline.store.files import scratch_directory, write_bytes
from pipeline.store.models import has_model
from pipeline.store.runs import STORE_NAME, Store
from pipeline.tasks.kept_models import KEPT, KeptModel, forget_kept, keep_fitted, kept_model
from pipeline.tasks.predicted import Predicted, load_predicted, pack_member
from pipeline.trainers.registry import make_trainer
from pipeline.trainers.sampling import Rule, Sample, TrainingSet, draw_sample, training_seed

__all__ = ["draw_rule", "printable", "train", "training_set"]

_PROCESS = Path("/proc/self")
_SCRATCH = re.compile(r"[^\s'\"]*/pipeline-train-[^/\s'\"]+(/work(?![^/\s'\"]))?")
_MOST_SHOWN = 2000
"""Characters of what foreign code says of itself: the log has all of it."""


@contextmanager
def _work_directory() -> Iterator[Path]:
    """Yield a folder that is removed afterwards; a trainer that made it the current one is moved back, and its process with it."""
    before = os.getcwd()
    with scratch_directory("train") as made:
        try:
            yield made
        finally:
            os.chdir(before)


def _keep_log(store: Store, task: Task, text: str) -> str:
    """Keep what a training printed, in place of what an earlier attempt did; give the file's place in the store, or nothing."""
    path = store.path("logs", task.key, ".txt")
    if text:
        write_bytes(path, text.encode("utf-8", "backslashreplace"))
        return store.relative(path)
    path.unlink(missing_ok=True)
    return ""


def _keep_failure(error: PipelineError, store: Store, task: Task, *, printed: str = "", status: int | None = None) -> None:
    """Complete the error of a training, from within its ``except``: whose it is, its log, its exit status, its memory.

    Parameters
    ----------
    error : PipelineError
        Its problems say where they are; ``log`` and ``exit_status``, where it has them, are those of a command.
    printed : str
        What the training had printed before. Where nothing was printed at all the traceback is kept.
    status : int, optional
        An exit status that is known otherwise.
    """
    error.problems = tuple(
        replace(one, where=one.where or task.label, note=one.note and _unplaced(one.note)) for one in error.problems
    )
    told = "\n".join(filter(None, [printed, str(getattr(error, "log", ""))]))
    facts: dict[str, Any] = {"exit_status": getattr(error, "exit_status", status), "memory_bytes": _peak_memory()}
    # A store that is full is met again by the ledger, and said there.
    with suppress(StoreError):
        facts["log"] = _keep_log(store, task, told or traceback.format_exc())
    error.facts = facts


def _unplaced(note: str) -> str:
    """Return what was printed without the names of temporary folders, which differ between trainings that fail alike.

    Examples
    --------
    >>> _unplaced("can't open file '/scratch/pipeline-train-x7.tmp-1/work/tagger.py'")
    "can't open file '{workdir}/tagger.py'"
    """
    return _SCRATCH.sub(lambda found: "{workdir}" if found[1] else "…", note)


def printable(said: object) -> str:
    r"""Return what foreign code says, an error or a note, so that it can be shown, stored and sent: it may hold anything.

    Examples
    --------
    >>> printable(ValueError("no\x1b[31m \ud800")), printable("a note")
    ('ValueError: no\\x1b[31m \\ud800', 'a note')
    """
    try:
        text = f"{type(said).__name__}: {said}" if isinstance(said, BaseException) else str(said)
    except Exception:  # an error that cannot say what is wrong
        text = f"{type(said).__name__} (which cannot be printed)"
    shown = text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"
    return "".join(sign if sign.isprintable() or sign == "\n" else repr(sign)[1:-1] for sign in shown)


def _told_by_model(model: object) -> dict[str, Any]:
    """Return the notes of a model; of a program outside, which this process cannot measure, what its training took."""
    notes = getattr(model, "notes", ())
    told: dict[str, Any] = {"notes": [printable(note) for note in ([notes] if isinstance(notes, str) else notes)]}
    for name, attribute in (("fit_seconds", "seconds"), ("fit_memory_bytes", "memory_bytes")):
        value = getattr(model, attribute, None)
        if isinstance(value, (int, float)) and 0 < value < math.inf:
            told[name] = float(value) if isinstance(value, float) else int(value)
    return told


def _log_of(model: object) -> str:
    """Return what a model says that was printed when it was made; it may be unable to say so."""
    with suppress(Exception):
        return str(getattr(model, "log", "") or "")
    return ""


def _forget_peak() -> None:
    """Let `_peak_memory` begin anew, where the system can: a worker runs many trainings."""
    with suppress(OSError):
        (_PROCESS / "clear_refs").write_text("5")  # resets the high-water mark and nothing else


def _peak_memory() -> int:
    """Return the most bytes this process has held since `_forget_peak`; 0 where the system does not tell."""
    with suppress(OSError):
        for line in (_PROCESS / "status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


def train(task: Task, runs: Path) -> Receipt:
    """Fit a model to its sample, predict every test set and store the outputs.

    Raises
    ------
    TaskError
        P404 this worker has other versions than the study was planned with; P410 the training failed, P420 to P425 its outputs are
        not what was asked: the other systems go on.
    """
    spec = task.spec
    assert isinstance(spec, TrainSpec)
    store = Store(runs / STORE_NAME)
    data = load_training_items(spec.data, spec.base, spec.data_digest)
    rule = draw_rule(spec)
    drawn_from = training_set(spec.data, data, spec.data_digest, rule)
    sample = draw_sample(rule, drawn_from, seed=spec.seed, replica=spec.replica)
    seed = training_seed(rule, seed=spec.seed, data=drawn_from.data, model=spec.model, replica=spec.replica)
    test_sets = {gold: load_predicted(test_set, spec.base, gold) for gold, test_set in spec.test_sets.items()}
    trainer = make_trainer(spec.trainer, spec.options, Path(spec.base))
    signature = trainer.signature
    if spec.signature and signature != spec.signature:
        raise TaskError.of(
            "P404",
            f"this worker trains with {signature}, the study was planned with {spec.signature}",
            where=task.label,
            help="install the same versions on every worker, then `pipeline resume`",
        )
    job = _Job(task, spec, trainer, data, sample, seed, test_sets)
    _forget_peak()
    with kept_model(store, spec, trainer) as kept:
        made = None if kept is None else _predict_by_kept(job, kept, store)
    made = made or _fit_and_predict(job, store)
    log = _keep_log(store, task, made.log)
    path = store.path("outputs", task.key, ".zip")
    checksum = write_bundle(path, made.members)
    covers = {"model": spec.model, **_told(rule, sample), "memory_bytes": _peak_memory(), **made.said, "log": log}
    if has_model(store, spec.identity):
        covers["kept_model"] = spec.identity  # what a run names is not cleared up
    return Receipt("train", task.key, task.label, store.relative(path), checksum, 0.0, "", covers)


@dataclass(frozen=True)
class _Job:
    """One training with all it needs."""

    task: Task
    spec: TrainSpec
    trainer: Trainer
    data: TrainingItems
    sample: Sample
    seed: int
    test_sets: Mapping[str, Predicted]


class _Made(NamedTuple):
    """What a training made: the outputs by the digest of their gold, what is told of the model, what was printed."""

    members: dict[str, bytes]
    said: dict[str, Any]
    log: str


def _predict_by_kept(job: _Job, kept: KeptModel, store: Store) -> _Made | None:
    """Predict by a model that was kept; None where that fails, and then it is fitted again."""
    try:
        with _work_directory() as workdir:
            model = kept.load(workdir)
            members, said = _predict_all(job, model), _told_by_model(model)
    except (Exception, SystemExit):  # a trainer is foreign code, and what it kept may be of another version or need its old place
        forget_kept(store, job.spec)
        return None
    return _Made(members, {**said, "notes": [*said["notes"], KEPT]}, _log_of(model))


def _fit_and_predict(job: _Job, store: Store) -> _Made:
    task, trainer, model = job.task, job.trainer, None
    try:
        with _work_directory() as workdir:
            model = trainer.fit(lend_items(job.data), job.sample.items, seed=job.seed, workdir=workdir)
            notes = keep_fitted(store, job.spec, trainer, model)  # before it predicts, which may change it
            members, said = _predict_all(job, model), _told_by_model(model)
    except PipelineError as error:
        _keep_failure(error, store, task, printed=_log_of(model))
        raise
    except (Exception, SystemExit) as error:  # a trainer is foreign code: whatever it raises is the failure of this system alone
        failed = TaskError.of(
            "P410",
            f"the training failed: {printable(error)}",
            where=task.label,
            help="the rest of the study goes on without this system; `retries:` of the model tries again",
        )
        status = error.code if isinstance(error, SystemExit) and isinstance(error.code, int) else None
        _keep_failure(failed, store, task, printed=_log_of(model), status=status)
        raise failed from error
    return _Made(members, {**said, "notes": [*said["notes"], *notes]}, _log_of(model))


def _predict_all(job: _Job, model: Any) -> dict[str, bytes]:
    """Return what a model predicts for every test set, checked and packed."""
    members = {}
    for gold, test_set in job.test_sets.items():
        outputs = job.trainer.predict(model, lend_items(test_set.items))
        members[gold] = pack_member(test_set, outputs, name=str(job.spec.test_sets[gold]["name"]), where=job.task.label)
    return members


def draw_rule(spec: TrainSpec) -> Rule:
    """Return how the training set of a task is drawn."""
    # Only a bootstrap is drawn by its fraction; that of other methods is for people and coordinates.
    fraction = spec.fraction if spec.method == "bootstrap" else 1.0
    return Rule(spec.method, fraction, **spec.rule)


def training_set(data: Mapping[str, Any], items: TrainingItems, digest: str, rule: Rule) -> TrainingSet:
    """Return what samples are drawn from: an embedded data set is called by its name, others by what they hold."""
    name = str(data.get("dataset") or digest)
    return _training_set(name, rule.unit, rule.instances, _Kept(items))


class _Kept:
    """Items that are equal where they are the same object: what hangs on them is counted once a process."""

    def __init__(self, items: TrainingItems) -> None:
        self.items = items

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Kept) and other.items is self.items

    def __hash__(self) -> int:
        return id(self.items)


@lru_cache(maxsize=4)
def _training_set(name: str, unit: str, instances: str, kept: _Kept) -> TrainingSet:
    return TrainingSet(name, number_units(kept.items, unit), count_instances(kept.items, instances))


def _told(rule: Rule, sample: Sample) -> dict[str, Any]:
    """Return what is told of a sample."""
    return {"items": len(sample.items), "unit": rule.unit, "counted": rule.instances, **sample.counts}
