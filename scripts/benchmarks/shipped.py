"""Run the studies of `workflows/` and tell what collecting and analyses take beside their resampling, in CPU seconds of tasks.

Trainings, which take hours together, can be kept from one call to the next; cells, cubes and reports are always made anew.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import run_measured
from pipeline.record.manifest import list_receipts
from pipeline.store.ledger import read_ledger
from pipeline.store.runs import RunDirectory, list_runs

__all__ = ["BESIDE_SECONDS", "BESIDE_SHARE", "measure_shipped", "shipped_studies"]

BESIDE_SHARE, BESIDE_SECONDS = 0.1, 3.0
"""What cubes and report may take: a share of the seconds of resampling, and so many more."""

STAGES = {
    "train": ("train",),
    "extract": ("extract",),
    "resample": ("resample",),
    "collect": ("shard", "collect"),
    "report": ("report",),
}
KEPT = ("outputs", "models", "logs", "statistics", "frames")
"""What of a store is kept: what trainings and extraction left."""

ROOT = Path(__file__).resolve().parents[2]


def shipped_studies(names: Sequence[str] = ()) -> list[Path]:
    """Return the studies that come with the package, papers' last: those whose names hold one of ``names``, or all."""
    folder = ROOT / "workflows"
    studies = [*sorted(folder.glob("*.yaml")), *sorted((folder / "papers").glob("*.yaml"))]
    return [study for study in studies if not names or any(name in _name(study) for name in names)]


def measure_shipped(studies: Sequence[Path], folder: Path, *, workers: int, say: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    """Yield CPU seconds in tasks by stage, from the receipts of one run of each study; one without data is left out, and said.

    Runs are below ``folder``. Of a study that is there already, from an earlier call, trainings and extraction are not repeated:
    their seconds are those of that call.
    """
    before = folder / ".before"
    shutil.rmtree(before, ignore_errors=True)  # of a call that was stopped
    try:
        for study in studies:
            runs = folder / _name(study)
            forget_what_follows(runs, before / _name(study))
            command = [sys.executable, "-m", "pipeline", "run", str(study), "--runs", str(runs)]
            try:
                _, printed = run_measured([*command, "--workers", str(workers), "--quiet"], cwd=ROOT)
            except RuntimeError as error:
                say(f"{study.stem} is left out: {error}")
                continue
            yield record_shipped(_name(study), RunDirectory(Path(printed.strip())))
    finally:
        shutil.rmtree(before, ignore_errors=True)


def record_shipped(name: str, run: RunDirectory) -> dict[str, Any]:
    """Return what the tasks of a run took by stage, and its analyses within its report, held to what they may take."""
    tasks = cpu_seconds_of_tasks(run)
    taken = {f"{stage}_s": round(sum(tasks.get(kind, 0.0) for kind in kinds), 2) for stage, kinds in STAGES.items()}
    most, beside = BESIDE_SHARE * taken["resample_s"] + BESIDE_SECONDS, taken["collect_s"] + taken["report_s"]
    analyses = cpu_seconds_of_analyses(run)
    held = {"beside_s": round(beside, 2)}
    if analyses is not None:
        asked = sum(analyses.values())
        held |= {"asked_s": round(taken["collect_s"] + asked, 2), "analyses_s": round(asked, 2)}
    targets = {kind: {"at_most": round(most, 2), "met": found <= most} for kind, found in held.items()}
    return {"kind": "shipped", "study": name, **taken, **held, "targets": targets}


def forget_what_follows(runs: Path, aside: Path) -> None:
    """Put aside what a study left beyond its trainings and the counts of its outputs, so that a run makes it again.

    Files are moved and not removed: to make a file takes up to ten times as long where thousands have just been removed.
    """
    for run in list_runs(runs):
        kinds = [kind for kind in run.store.root.iterdir() if kind.name not in KEPT and kind.is_dir()]
        for folder in (run.cubes, run.report, *kinds):
            if folder.is_dir():
                place = aside / folder.relative_to(runs)
                place.parent.mkdir(parents=True, exist_ok=True)
                folder.rename(place)


def cpu_seconds_of_tasks(run: RunDirectory) -> dict[str, float]:
    """Return the CPU seconds in the tasks that a run stands on, by kind; what was done again counts once."""
    seconds: dict[str, float] = {}
    for receipt in list_receipts(read_ledger(run.ledger)[0]).values():
        seconds[receipt.kind] = seconds.get(receipt.kind, 0.0) + receipt.cpu_seconds
    return seconds


def cpu_seconds_of_analyses(run: RunDirectory) -> dict[str, float] | None:
    """Return the CPU seconds of each analysis within the report; None where the report is of a version that did not tell."""
    for receipt in list_receipts(read_ledger(run.ledger)[0]).values():
        if receipt.kind == "report" and "analyses_cpu_seconds" in receipt.covers:
            return dict(receipt.covers["analyses_cpu_seconds"])
    return None


def _name(study: Path) -> str:
    folder = ROOT / "workflows"
    return study.relative_to(folder).with_suffix("").as_posix() if folder in study.parents else study.stem
