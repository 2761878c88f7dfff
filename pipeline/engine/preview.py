"""Preview a study: the tasks of its plan, and the time, memory and disk that they take. Computes no result."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pipeline.engine.clusters.placement import expected_workers
from pipeline.engine.forecast import forecast_study
from pipeline.engine.stock import adoptable_receipts, sound_receipts
from pipeline.engine.watching.progress import format_seconds
from pipeline.plan.inputs import Inputs
from pipeline.plan.inventory import Inventory
from pipeline.plan.methods import count_for_max_t, list_methods
from pipeline.plan.task import Task, TrainSpec
from pipeline.record.manifest import Manifest
from pipeline.store.models import has_model
from pipeline.store.runs import RunDirectory
from pipeline.study.grouping import DOCUMENT, ITEM
from pipeline.study.load import LoadedStudy, load_profile, locate_profile
from pipeline.study.schema import Study
from pipeline.survey.survey import survey_loaded
from pipeline.survey.training import list_kept
from pipeline.survey.warnings import warn_of_max_t

__all__ = ["format_preview", "preview_study"]


def preview_study(
    loaded: LoadedStudy, runs: Path, *, cluster: str | None = None, workers: int | None = None, block_cells: int | None = None
) -> dict[str, Any]:
    """Return the tasks of a study by kind, how many other runs have done already, and what the rest should take.

    Parameters
    ----------
    loaded : LoadedStudy
    runs : Path
        The folder of runs.
    cluster : str, optional
        A profile in place of the study's.
    workers : int, optional
        In place of what the cluster has; on this machine one a core.
    block_cells : int, optional
        Cells of a resample task, in place of the plan's choice.
    """
    begin = time.perf_counter()
    survey = survey_loaded(loaded)
    inputs = survey.inputs
    manifest = Manifest(survey.study, inputs, tuple(loaded.overrides))
    run = RunDirectory(runs.resolve() / manifest.run_id)
    own = sound_receipts(run)
    receipts = {**own, **adoptable_receipts(run, manifest, own)}
    place = locate_profile(cluster or loaded.study.cluster, loaded.base)
    local, number = place == "local", expected_workers(load_profile(place), workers)
    forecast = forecast_study(
        manifest,
        run.id,
        Inventory.of(receipts.values()),
        workers=number,
        block_cells=block_cells,
        local=local,
        before=time.perf_counter() - begin,
        may_be_here=local and workers is None,
    )
    total = Counter(task.kind for task in forecast.everything.tasks)
    open_ = Counter(task.kind for task in forecast.left.tasks)
    b = loaded.study.resampling.replicates
    alpha = loaded.study.resampling.alpha
    counted = count_for_max_t(survey.study, inputs.test_sets)
    blocks = forecast.block_seconds
    methods = _methods(survey.study, inputs)
    return {
        "run": run.id,
        "study": loaded.study.study,
        "systems": len({output.system for t in inputs.test_sets for output in t.outputs}),
        "test_sets": [
            {
                "name": t.name,
                "items": t.n_items,
                "units": t.n_units,
                "unit": t.unit,
                "systems": len(t.outputs),
                "notes": list(warn_of_max_t(survey.study, systems=len(t.outputs), units=t.n_units)),
            }
            for t in inputs.test_sets
        ],
        "metrics": [metric.signature for metric in inputs.metrics],
        "replicates": b,
        "method": loaded.study.resampling.method,
        "methods": methods,
        "preset": loaded.study.preset,
        "deviations": list(loaded.study.deviations),
        "stages": [{"stage": kind, "tasks": total[kind], "open": open_[kind]} for kind in total],
        "trainings": _trainings(loaded, run, forecast.everything.tasks, forecast.left.tasks),
        "workers": 0 if forecast.here else number,
        "time": asdict(forecast.estimate),
        "block_seconds": {"shortest": blocks[0], "longest": blocks[1]} if blocks else None,
        "memory_bytes": forecast.footprint.memory,
        "disk_bytes": forecast.footprint.disk,
        "replicates_of_max_t": counted,
        "several_runs": _several_runs(inputs.coordinates),
        "monte_carlo_error": math.sqrt(alpha * (1 - alpha) / (counted or b)),
        "smallest_p": 1 / (counted + 1) if counted else 1 / b,
        "alpha": alpha,
    }


def _several_runs(coordinates: Mapping[str, Mapping[str, str]]) -> bool:
    """Tell whether a model has several runs: verdicts are then about models, if its runs are scored on a test set."""
    models = [known["model"] for known in coordinates.values() if known.get("model") and known.get("replica")]
    return len(set(models)) < len(models)


def _trainings(loaded: LoadedStudy, run: RunDirectory, everything: Iterable[Task], left: Iterable[Task]) -> list[dict[str, Any]]:
    """Return the trainings of each base model: all, those open, and of these the ones whose model is kept and only predicts."""
    specs, waiting = ([task.spec for task in tasks if isinstance(task.spec, TrainSpec)] for tasks in (everything, left))
    total, open_ = (Counter(spec.model for spec in found) for found in (specs, waiting))
    able = list_kept(loaded.study, loaded.base)
    kept = Counter(spec.model for spec in waiting if spec.model in able and has_model(run.store, spec.identity))
    return [
        {"model": model, "tasks": total[model], "open": open_[model], "kept": kept[model], "keeps_models": model in able}
        for model in total
    ]


def _training_line(told: Mapping[str, Any]) -> str:
    line = f"  {told['model']}: {told['tasks']} trainings, {told['open']} open"
    if told["kept"]:
        whose = "their models are" if told["kept"] == told["open"] else f"the models of {told['kept']} are"
        return f"{line}; {whose} kept, and only predict"
    if told["open"] and not told["keeps_models"]:
        return f"{line}; its models are not kept: another test set trains again"
    return line


def _methods(study: Study, inputs: Inputs) -> list[dict[str, Any]]:
    """Return how the p-values of each metric and procedure that draws are found on each test set, and why."""
    return [
        {"test_set": test_set.name, "metric": metric.name, "procedure": procedure, **asdict(method)}
        for test_set in inputs.test_sets
        for metric, procedure, method in list_methods(study, test_set, inputs.metrics)
        if procedure in study.resampling.drawn
    ]


def format_preview(preview: Mapping[str, Any]) -> str:
    """Return a preview as a table for a terminal."""
    lines = [f"study {preview['study']}   {preview['systems']} systems   b = {preview['replicates']:,}   run {preview['run']}"]
    for t in preview["test_sets"]:
        lines.append(f"  {t['name']}: {t['systems']} systems, {_count(t)}")
        lines.extend(f"    note: {note}" for note in t["notes"])
    if preview["preset"]:
        lines.append(f"  preset {preview['preset']}" + ("" if preview["deviations"] else ", as it is"))
        lines.extend(f"    {line}" for line in preview["deviations"])
    lines.append(f"{'stage':<10}{'tasks':>8}{'open':>8}")
    lines.extend(f"{s['stage']:<10}{s['tasks']:>8}{s['open']:>8}" for s in preview["stages"])
    lines.extend(map(_training_line, preview["trainings"]))
    lines.extend(_time_lines(preview["time"], preview["workers"]))
    blocks = preview["block_seconds"]
    if blocks:
        rate = preview["time"]["tasks_a_second"]["resample"]
        lines.append(f"blocks: {blocks['shortest']:.1f} to {blocks['longest']:.1f} s, {rate:.2g} a second")
        each = " a worker" if preview["workers"] else ""
        lines.append(f"memory: about {_size(preview['memory_bytes'])}{each}   disk: about {_size(preview['disk_bytes'])}")
    methods = preview["methods"]
    if preview["method"] != "monte-carlo":
        lines.extend(_method_lines(methods))
    counted = preview["replicates_of_max_t"]
    if counted:
        of = f"the first {counted:,} replicates, whatever b is" if counted < preview["replicates"] else "all replicates"
        which = "p of single runs" if preview["several_runs"] else "p adjusted, which decides, and p beside it"
        lines.append(f"{which}: counted by max-T on {of}")
    if preview["several_runs"]:
        lines.append("p of models, which decides: computed from their runs, not counted")
    if counted or not methods or not all(method["exact"] for method in methods):
        lines.append(
            f"Monte-Carlo error at p = {preview['alpha']:g}: ±{preview['monte_carlo_error']:.1g} (1 se)   "
            f"smallest p that can be counted: {preview['smallest_p']:.1g}"
        )
    return "\n".join(lines)


def _method_lines(methods: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Say which p-values are exact and which are counted, and why: test sets of which the same holds together."""
    together: dict[str, list[str]] = {}
    for method in methods:
        drawn = f"{method['replicates']:,} replicates"
        how = f"exact, beside {drawn}" if method["exact"] else f"counted on {drawn}"
        together.setdefault(f"{method['metric']} by {method['procedure']}: {how} ({method['why']})", []).append(method["test_set"])
    for told, names in together.items():
        yield f"p-values of {told}" + (f" on {', '.join(names)}" if len(together) > 1 else "")


def _count(test_set: Mapping[str, Any]) -> str:
    """Return how many items a test set has, and in how many units where items are not drawn one by one."""
    unit, items = test_set["unit"], f"{test_set['items']:,} items"
    if unit == ITEM:
        return items
    return f"{items} in {test_set['units']:,} " + (f"{unit}s" if unit == DOCUMENT else f"units ({unit})")


def _time_lines(told: Mapping[str, Any], workers: int) -> list[str]:
    if not told["stages"]:
        return ["time: nothing is left to do"]
    on = f"on {workers} worker{'s' if workers > 1 else ''}" if workers else "in one process, without workers"
    parts = {"start": told["start"], **told["stages"]}
    shares = ", ".join(f"{name} {'unknown' if seconds is None else format_seconds(seconds)}" for name, seconds in parts.items())
    known = (
        f"about {format_seconds(told['seconds'])}"
        if told["seconds"] is not None
        else f"at least {format_seconds(told['at_least'])}"
    )
    return [f"time: {known} {on} ({shares})", *(f"  {name}: {why}" for name, why in told["unknown"].items())]


def _size(number: float) -> str:
    """Return a number of bytes for people.

    Examples
    --------
    >>> [_size(n) for n in (0, 3_500_000, 2e9)]
    ['0 MB', '4 MB', '2.0 GB']
    """
    return f"{number / 1e9:.1f} GB" if number >= 1e9 else f"{number / 1e6:.0f} MB"
