"""The rates of a run: measured when it first starts, kept beside it. This module sees to it that a run's grid of blocks stays."""

from __future__ import annotations

from pathlib import Path

from pipeline.errors import PipelineError, StoreError
from pipeline.store.files import read_json, write_json
from pipeline.store.runs import RunDirectory, Store
from pipeline.study.costs import resampling_seconds
from pipeline.study.rates import Rates
from pipeline.tasks.manifest import Manifest

__all__ = ["is_short", "measure_rates", "read_rates", "settle_rates"]

SHORT_SECONDS = 60.0
"""A study that even a slow machine resamples in so little time is not worth a calibration, which takes about a second; on a
machine four times as fast its blocks are still half a second long."""


RUN_SECONDS = 0.4
"""What a run spends on measuring before it starts: enough for the size of blocks. A plan, which tells the time, takes longer."""


def settle_rates(run: RunDirectory, manifest: Manifest, *, block_cells: int | None = None, needed: bool = True) -> Rates:
    """Give the rates that a run's blocks are cut by: those it was first started with, or measured now and kept.

    They are kept if each pass was measured; else a resumed run, which may find what was missing, measures again. Nothing is
    measured unless it is ``needed``, for blocks that are still to be cut.

    Only the holder of the lease may call this: a second one would change the grid under tasks that run.
    """
    kept = read_rates(run)
    if kept is not None:
        return kept
    if not needed or block_cells is not None or is_short(manifest):
        return Rates()
    rates = measure_rates(manifest, run.store, seconds=RUN_SECONDS)
    if _is_complete(rates, manifest):
        write_json(_path(run), rates.to_json())
    return rates


def _is_complete(rates: Rates, manifest: Manifest) -> bool:
    metrics = [metric.name for metric in manifest.inputs.metrics]
    return all(rates.has_pass(procedure, metric) for procedure in manifest.study.resampling.procedures for metric in metrics)


def is_short(manifest: Manifest) -> bool:
    """Say whether a study is so small that its blocks need no calibration."""
    return resampling_seconds(manifest.study, manifest.inputs, Rates()) < SHORT_SECONDS


def measure_rates(manifest: Manifest, store: Store, *, seconds: float = 1.2) -> Rates:
    """Measure on this machine what a study asks, in about so many seconds; a slow machine's rates where that fails.

    Workers of a cluster may be faster or slower: then blocks are shorter or longer than meant, and nothing else changes.
    """
    from pipeline.tasks.calibrate import calibrate  # kernels and metrics, which a coordinator does not need otherwise

    try:
        return calibrate(manifest.study, manifest.inputs, store, seconds=seconds)
    except (PipelineError, OSError) as error:
        # Files may have gone since they were surveyed, or the disk for temporary files is full: tasks will tell.
        return Rates(unknown={"calibration": str(error)})


def read_rates(run: RunDirectory) -> Rates | None:
    """Give the rates a run was first started with; None where there are none, or none that can be read."""
    path = _path(run)
    if not path.is_file():
        return None
    try:
        return Rates.from_json(read_json(path))
    except (StoreError, KeyError, TypeError, AttributeError):
        return None


def _path(run: RunDirectory) -> Path:
    return run.root / "rates.json"
