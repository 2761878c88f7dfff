"""Asks the cubes and writes the report. This module is the last task of a run, and what `pipeline report` runs again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pipeline.analyses.registry import load_analysis
from pipeline.cubes.reading import open_cubes
from pipeline.errors import StoreError
from pipeline.interfaces import Finding, TakesStatistics
from pipeline.plan.inputs import MetricInputs
from pipeline.plan.open_tasks import plan_study
from pipeline.plan.task import Receipt, ReportSpec, Task
from pipeline.record.manifest import read_inventory, read_manifest
from pipeline.report.input import ReportInput
from pipeline.report.write import write_report
from pipeline.store.files import read_json
from pipeline.store.runs import RunDirectory
from pipeline.study.schema import Study
from pipeline.survey.checks import refuse_baseline
from pipeline.tasks.report_inputs import list_trainings, rounding_warnings, scored_statistics

__all__ = ["gather", "report"]


def report(task: Task, runs: Path) -> Receipt:
    """Run the study's analyses on its cubes and write the report."""
    spec = task.spec
    assert isinstance(spec, ReportSpec)
    run = RunDirectory(runs / spec.run)
    write_report(gather(run), run.report)
    return Receipt("report", task.key, task.label, run.report.name, "", 0.0, "", {})


def gather(run: RunDirectory, *, study: Study | None = None) -> ReportInput:
    """Return everything a report is made of; ``study`` replaces the run's own for another level, family or format."""
    manifest = read_manifest(run)
    asked = study or manifest.study
    # Always the one that machines read: it is what a finished run is known by.
    formats = tuple(dict.fromkeys((*asked.report.formats, "json")))
    asked = asked.model_copy(update={"report": asked.report.model_copy(update={"formats": formats})})
    if study is not None:
        refuse_baseline(study.resampling.baseline, manifest.inputs.test_sets)
    inventory = read_inventory(run)
    # Analyses and verdicts read the level and the relation off the cube: another study asks them anew.
    asked_anew = {"alpha": asked.resampling.alpha, "relation": asked.systems.relation or ""}
    asked_anew["asked_baseline"] = asked.resampling.family_baseline or ""  # beside the baseline that the cube was adjusted for
    collected = {str(r.covers["test_set"]) for r in inventory.receipts.values() if r.kind == "collect"}
    cubes = {name: cube.assign_attrs(asked_anew) for name, cube in open_cubes(run.cubes).items() if name in collected}
    plan = plan_study(manifest.study, manifest.inputs, inventory, run=run.id)
    failures: list[Mapping[str, Any]] = [
        {"label": failure.label, "exit_code": failure.exit_code, "problems": [asdict(p) for p in failure.problems]}
        for failure in inventory.failures.values()
    ]
    failures.extend({"label": f"{a.system} on {a.test_set}", "system": a.system, "reason": a.reason} for a in plan.absent)
    alignment = [{"test_set": t.name, **row} for t in manifest.inputs.test_sets for row in t.alignment]
    warnings = [f"{t.name}: {warning}" for t in manifest.inputs.test_sets for warning in t.warnings]
    warnings += rounding_warnings(manifest, inventory)
    return ReportInput(
        study=asked,
        cubes=cubes,
        findings=tuple(_findings(asked, cubes, run, manifest.inputs.metrics)),
        alignment=alignment,
        warnings=warnings,
        failures=failures,
        trainings=tuple(list_trainings(manifest, inventory)),
        versions=_versions(run),
        run_id=run.id,
        recognised={t.name: t.recognised for t in manifest.inputs.test_sets if t.recognised},
        unit_reasons={t.name: t.unit_reason for t in manifest.inputs.test_sets if t.unit_reason},
    )


def _versions(run: RunDirectory) -> dict[str, str]:
    """Return the versions that the run was made with; none where they cannot be read: no number depends on them."""
    try:
        versions = read_json(run.versions)
    except StoreError:
        return {}
    sound = isinstance(versions, dict) and all(isinstance(version, str) for version in versions.values())
    return versions if sound else {}


def _findings(study: Study, cubes: Mapping[str, Any], run: RunDirectory, metrics: Sequence[MetricInputs]) -> list[Finding]:
    findings = []
    for spec in study.asked_analyses:
        options = dict(spec.options)
        analysis = load_analysis(spec.name, options)
        if isinstance(analysis, TakesStatistics):
            analysis = analysis.with_statistics(scored_statistics(run.cubes, cubes, metrics))
        findings.append(analysis.find(cubes, options))
    return findings
