"""What a study would do. This module counts the open tasks of a plan and says what is done already; it computes nothing."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.engine.launch import run_id
from pipeline.engine.stock import adoptable_receipts
from pipeline.store.ledger import read_ledger
from pipeline.store.runs import RunDirectory
from pipeline.study.inventory import Inventory
from pipeline.study.load import LoadedStudy
from pipeline.study.plan import plan_study
from pipeline.tasks.manifest import Manifest, receipts_of
from pipeline.tasks.survey import survey_study

__all__ = ["format_preview", "preview_study"]


def preview_study(loaded: LoadedStudy, runs: Path, *, workers: int | None = None, block_cells: int | None = None) -> dict[str, Any]:
    """Give the tasks of a study by kind, and how many other runs have done already."""
    inputs = survey_study(loaded.study, loaded.base).inputs
    manifest = Manifest(loaded.study, inputs, tuple(loaded.overrides))
    run = RunDirectory(runs.resolve() / run_id(manifest))
    own = receipts_of(read_ledger(run.ledger)[0])
    receipts = {**own, **adoptable_receipts(run, manifest, own)}
    options: dict[str, Any] = {"run": run.id, "block_cells": block_cells, "workers": workers or 1}
    everything = plan_study(loaded.study, inputs, Inventory(), **options)
    left = plan_study(loaded.study, inputs, Inventory.of(receipts.values()), **options)
    total, open_ = Counter(t.kind for t in everything.tasks), Counter(t.kind for t in left.tasks)
    b = loaded.study.resampling.replicates
    alpha = loaded.study.resampling.alpha
    return {
        "run": run.id,
        "study": loaded.study.study,
        "systems": len({output.system for t in inputs.test_sets for output in t.outputs}),
        "test_sets": [
            {"name": t.name, "items": t.n_items, "units": t.n_units, "systems": len(t.outputs)} for t in inputs.test_sets
        ],
        "metrics": [metric.signature for metric in inputs.metrics],
        "replicates": b,
        "stages": [{"stage": kind, "tasks": total[kind], "open": open_[kind]} for kind in total],
        "monte_carlo_error": math.sqrt(alpha * (1 - alpha) / b),
        "smallest_p": 1 / b,
        "alpha": alpha,
    }


def format_preview(preview: Mapping[str, Any]) -> str:
    """Give a preview as a table for a terminal."""
    lines = [f"study {preview['study']}   {preview['systems']} systems   b = {preview['replicates']:,}   run {preview['run']}"]
    lines.extend(f"  {t['name']}: {t['systems']} systems, {t['items']} items in {t['units']} units" for t in preview["test_sets"])
    lines.append(f"{'stage':<10}{'tasks':>8}{'open':>8}")
    lines.extend(f"{s['stage']:<10}{s['tasks']:>8}{s['open']:>8}" for s in preview["stages"])
    lines.append(
        f"Monte-Carlo error at p = {preview['alpha']:g}: ±{preview['monte_carlo_error']:.1g} (1 se)   "
        f"smallest p that can be seen: {preview['smallest_p']:.1g}"
    )
    return "\n".join(lines)
