"""The report task: the cubes are asked and the report is written.

It is the last task of a run, and what `pipeline report` runs again. Besides cubes a report is made of the statistics of items
with the metric that scores them, warnings about numbers that were rounded differently, and a row for each training.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from pipeline.analyses.registry import accept_finding, are_own, load_analysis
from pipeline.analyses.replicas.models import ModelGains, compare_models
from pipeline.analyses.single_runs import find_run, say_single_runs
from pipeline.cubes.reading import open_cubes, open_statistics
from pipeline.cubes.stored import read_cubes, read_statistics
from pipeline.errors import StoreError, name_some
from pipeline.interfaces import Finding, ScoredStatistics, TakesStatistics
from pipeline.interfaces.wording import call_metrics, name_metric, write_p_at
from pipeline.items.outputs import HAVE_IDENTICAL_OUTPUTS
from pipeline.metrics.registry import load_metric
from pipeline.plan.comparisons import statistics_key
from pipeline.plan.inputs import MetricInputs, TestSetInputs
from pipeline.plan.inventory import Inventory
from pipeline.plan.open_tasks import plan_study, plan_trainings, present_outputs
from pipeline.plan.task import Failure as TaskFailure
from pipeline.plan.task import Receipt, ReportSpec, Task, TrainSpec
from pipeline.record.manifest import Manifest, iterate_receipts, read_inventory, read_manifest
from pipeline.record.versions import read_versions
from pipeline.report.facts import AbsentSystem, FailedTask, Failure, ProblemRow, TrainingRow
from pipeline.report.input import ReportInput
from pipeline.report.item_scores import ItemScores
from pipeline.report.write import write_report
from pipeline.store.runs import RunDirectory
from pipeline.study.schema import MetricSpec, Study
from pipeline.survey.checks import refuse_baseline
from pipeline.tasks.item_scores import read_item_scores
from pipeline.tasks.provenance import read_provenance

__all__ = ["gather", "report", "rewrite_report", "scored_statistics"]


def scored_statistics(
    cubes: Path, test_sets: Iterable[str], metrics: Sequence[MetricSpec | MetricInputs], *, plain: bool = False
) -> dict[str, dict[str, ScoredStatistics]]:
    """Return the statistics of items by test set and metric; they are read when they are used.

    Analyses may not import metrics: what a metric knows of its sums is handed to them here.

    Parameters
    ----------
    cubes : Path
        The run's ``cubes.zarr``.
    test_sets : iterable of str
        Those that were collected.
    metrics : sequence of MetricSpec or MetricInputs
        Those of the study, or of its survey, which knows where one of the user's own is.
    plain : bool, optional
        Read them without xarray: the package's own analyses need no more.
    """
    found: dict[str, dict[str, ScoredStatistics]] = {}
    for test_set in test_sets:
        stored = read_statistics(cubes, test_set) if plain else open_statistics(cubes, test_set)
        of_metric = found[test_set] = {}
        for spec in metrics:
            if spec.name in stored:
                data, metric = stored[spec.name], load_metric(spec.name, spec.options)
                score = metric.scorer(tuple(int(places) for places in data["decimals"].values.tolist()))
                of_metric[spec.name] = ScoredStatistics(data, score, metric.form, metric.higher_is_better)
    return found


def _rounding_warnings(manifest: Manifest, inventory: Inventory) -> Iterator[str]:
    """Yield a warning for each test set and metric where one number of two systems may have become two integers.

    Numbers of a file are integers of so many decimals. Where their sum would be too large some decimals are left out, as many as
    the file's own largest number asks for.
    """
    for test_set in manifest.inputs.test_sets:
        present, _ = present_outputs(manifest.study, manifest.inputs, test_set, inventory)
        for metric in manifest.inputs.metrics:
            missing = manifest.study.test_sets[test_set.name].missing
            scales: dict[tuple[int, ...], list[str]] = {}
            rounded: dict[tuple[int, ...], float] = {}
            for output in present:
                receipt = inventory.receipts.get(statistics_key(test_set, missing, metric, output))
                if receipt is None or "decimals" not in receipt.covers:
                    continue
                decimals, error = tuple(receipt.covers["decimals"]), float(receipt.covers["rounding_error"])
                scales.setdefault(decimals, []).append(output.system)
                if error:
                    rounded[decimals] = max(error, rounded.get(decimals, 0.0))
            # What was not rounded is exact on any finer scale, and on no coarser one.
            finest = tuple(map(max, zip(*scales, strict=True)))
            if any(decimals < most for scale in rounded for decimals, most in zip(scale, finest, strict=True)):
                apart = sum(sorted(rounded.values())[-2:])
                told = "; ".join(f"{max(scale)} of {name_some(systems)}" for scale, systems in sorted(scales.items()))
                yield (
                    f"{test_set.name}: {name_metric(metric.name)}: numbers were rounded to different decimals ({told}): two that "
                    f"are equal may be apart by up to {apart:.2g}; fewer decimals in the files make them one"
                )


def _list_trainings(manifest: Manifest, inventory: Inventory) -> Iterator[TrainingRow]:
    """Yield a row for each training of a study, in its order: what it is, what it took, how it ended."""
    for system, task in plan_trainings(manifest.study, manifest.inputs).items():
        spec = task.spec
        assert isinstance(spec, TrainSpec)
        ended = inventory.receipts.get(task.key) or inventory.failures.get(task.key)
        covers = ended.covers if isinstance(ended, Receipt) else {}
        facts = ended.facts if isinstance(ended, TaskFailure) else covers
        done = isinstance(ended, Receipt)
        yield TrainingRow(
            system=system,
            model=spec.model,
            sample=spec.method,
            fraction=round(spec.fraction, 6),
            replica=spec.replica,
            items=covers.get("items"),
            units=covers.get("units"),
            distinct=covers.get("distinct"),
            seconds=ended.seconds or None if ended is not None else None,
            peak_memory_bytes=_peak_memory(ended, facts) if ended is not None else None,
            status="open" if ended is None else "done" if done else "failed",
            exit_status=0 if done else facts.get("exit_status"),
            attempts=ended.attempts if ended is not None else 0,
            reason=ended.reason if isinstance(ended, TaskFailure) else None,
            notes=[str(note) for note in covers.get("notes", ())],
            log=facts.get("log") or None,
        )


def _peak_memory(ended: Receipt | TaskFailure, facts: Mapping[str, Any]) -> int | None:
    """Return the most that a training held: a command holds its memory itself; of a worker the mark of this training, or of all."""
    known = (facts.get(name) for name in ("fit_memory_bytes", "memory_bytes"))
    return next((int(found) for found in known if found), ended.peak_memory_bytes) or None


def report(task: Task, runs: Path) -> Receipt:
    """Run the study's analyses on its cubes and write the report."""
    spec = task.spec
    assert isinstance(spec, ReportSpec)
    run = RunDirectory(runs / spec.run)
    for receipt in iterate_receipts(run.ledger):
        if receipt.kind == "shard":  # the cubes, which are done, have their chunks
            (run.store.root / receipt.file).unlink(missing_ok=True)
    spent: dict[str, float] = {}
    write_report(gather(run, spent=spent), run.report, replaces=True)
    return Receipt("report", task.key, task.label, run.report.name, "", 0.0, "", {"analyses_cpu_seconds": spent})


def rewrite_report(run: RunDirectory) -> None:
    """Write the report of a run again, in place of the one that is there."""
    write_report(gather(run), run.report, replaces=True)


def gather(run: RunDirectory, *, study: Study | None = None, spent: dict[str, float] | None = None) -> ReportInput:
    """Return everything a report is made of; ``study`` replaces the run's own for another level, family or format.

    ``spent`` receives the CPU seconds that each analysis took.
    """
    manifest = read_manifest(run)
    titles = {metric.name: metric.title for metric in manifest.inputs.metrics}
    with call_metrics(titles), write_p_at((study or manifest.study).resampling.alpha):
        return replace(_gather(run, manifest, study, {} if spent is None else spent), titles=titles)


def _gather(run: RunDirectory, manifest: Manifest, study: Study | None, spent: dict[str, float]) -> ReportInput:
    asked = study or manifest.study
    # Always the one that machines read: it is what a finished run is known by.
    formats = tuple(dict.fromkeys((*asked.report.formats, "json")))
    asked = asked.model_copy(update={"report": asked.report.model_copy(update={"formats": formats})})
    if study is not None:
        refuse_baseline(study.resampling.baseline, manifest.inputs.test_sets, manifest.inputs.coordinates)
    inventory = read_inventory(run)
    # Analyses and verdicts read the level and the relation off the cube: another study asks them anew.
    asked_anew = {"alpha": asked.resampling.alpha, "relation": asked.systems.relation or ""}
    asked_anew["asked_baseline"] = asked.resampling.family_baseline or ""  # beside the baseline that the cube was adjusted for
    collected = {str(r.covers["test_set"]) for r in inventory.receipts.values() if r.kind == "collect"}
    stored = (read_cubes if _is_plain(asked) else open_cubes)(run.cubes)
    cubes = {
        # The cube's own intervals stay at the level of the run.
        name: cube.assign_attrs(asked_anew, alpha_of_intervals=cube.attrs["alpha"])
        for name, cube in _in_order(stored, manifest.inputs.test_sets)
        if name in collected
    }
    plan = plan_study(manifest.study, manifest.inputs, inventory, run=run.id)
    failures: list[Failure] = [
        FailedTask(failure.label, failure.exit_code, [ProblemRow(**asdict(problem)) for problem in failure.problems])
        for failure in inventory.failures.values()
    ]
    failures.extend(AbsentSystem(f"{a.system} on {a.test_set}", a.system, a.reason) for a in plan.absent)
    alignment = [{"test_set": t.name, **row} for t in manifest.inputs.test_sets for row in t.alignment]
    # Of identical outputs the check of that name says all there is to say.
    several = len(manifest.inputs.test_sets) > 1  # the only one need not be named
    told = (f"{t.name}: {warning}" if several else warning for t in manifest.inputs.test_sets for warning in t.warnings)
    warnings = [warning for warning in told if not warning.endswith(HAVE_IDENTICAL_OUTPUTS)]
    warnings += _rounding_warnings(manifest, inventory)
    return ReportInput(
        study=asked,
        cubes=cubes,
        findings=tuple(_findings(asked, cubes, run, manifest.inputs.metrics, spent)),
        items=tuple(_items(asked, cubes, run, manifest.inputs.metrics)),
        models=tuple(_models(asked, cubes, run, manifest.inputs.metrics)),
        alignment=alignment,
        warnings=warnings,
        failures=failures,
        trainings=tuple(_list_trainings(manifest, inventory)),
        versions=read_versions(run),
        run_id=run.id,
        recognised={t.name: t.recognised for t in manifest.inputs.test_sets if t.recognised},
        unit_reasons={t.name: t.unit_reason for t in manifest.inputs.test_sets if t.unit_reason},
        provenance=read_provenance(run, manifest),
    )


def _in_order(cubes: Mapping[str, Any], test_sets: Sequence[TestSetInputs]) -> Iterator[tuple[str, Any]]:
    """Yield cubes in the study's order of test sets: readers of a report look for the order that they wrote."""
    return ((t.name, cubes[t.name]) for t in test_sets if t.name in cubes)


def _is_plain(study: Study) -> bool:
    """Say whether cubes may be read without xarray: an analysis of another package gets the Datasets that it is promised."""
    return are_own(spec.name for spec in study.asked_analyses)


def _models(study: Study, cubes: Mapping[str, Any], run: RunDirectory, metrics: Sequence[MetricInputs]) -> Iterator[ModelGains]:
    """Yield what runs say of their models, by test set and metric, where there are several of each."""
    about = study.report.verdict_about
    if about == "runs" or not any({"model", "replica"} <= set(cube.variables) for cube in cubes.values()):
        return
    for test_set, of_metric in scored_statistics(run.cubes, cubes, metrics, plain=_is_plain(study)).items():
        for metric, scored in of_metric.items():
            claim = None if about == "auto" else about
            found = compare_models(cubes[test_set], scored, test_set=test_set, metric=metric, claim=claim)
            if found is not None:
                yield found


def _items(study: Study, cubes: Mapping[str, Any], run: RunDirectory, metrics: Sequence[MetricInputs]) -> Iterator[ItemScores]:
    """Yield what single items do for systems; of other formats than the page none shows it."""
    if "html" not in study.report.formats:
        return
    try:
        yield from read_item_scores(cubes, scored_statistics(run.cubes, cubes, metrics, plain=_is_plain(study)))
    except StoreError:
        return  # an archive of a run may lack them: all that a report must have is told without


def _findings(
    study: Study, cubes: Mapping[str, Any], run: RunDirectory, metrics: Sequence[MetricInputs], spent: dict[str, float]
) -> list[Finding]:
    findings = []
    run_of_model = find_run(cubes.values())
    for spec in study.asked_analyses:
        start = time.process_time()
        options = dict(spec.options)
        analysis = load_analysis(spec.name, options)
        if isinstance(analysis, TakesStatistics):
            analysis = analysis.with_statistics(scored_statistics(run.cubes, cubes, metrics, plain=_is_plain(study)))
        found = accept_finding(spec.name, analysis.find(cubes, options))
        findings.append(say_single_runs(found, run_of_model) if run_of_model and analysis.of_single_runs else found)
        spent[spec.name] = round(spent.get(spec.name, 0.0) + time.process_time() - start, 4)
    return findings
