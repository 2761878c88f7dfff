"""The rates of a run: measured when it first starts, kept beside it. This module sees to it that a run's grid of blocks stays."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from pipeline.engine.signals import StopAsked, StopRequest
from pipeline.errors import PipelineError, StoreError
from pipeline.plan.costs import resampling_seconds
from pipeline.plan.rates import Rates
from pipeline.record.manifest import Manifest
from pipeline.store.files import make_directory, read_json, temporary_name, write_json
from pipeline.store.runs import RunDirectory, Store

__all__ = ["is_short", "measure_rates", "read_rates", "settle_rates"]

SHORT_SECONDS = 120.0
"""A study that even a slow machine resamples in so little time is not worth a calibration: its blocks are cut for machines from
that one to one four times as fast, and on a faster one all of them together are soon done."""


def settle_rates(
    run: RunDirectory,
    manifest: Manifest,
    *,
    block_cells: int | None = None,
    needed: bool = True,
    stop: StopRequest | None = None,
) -> Rates:
    """Return the rates that a run's blocks are cut by: those it was first started with, or measured now and kept.

    They are kept if each pass was measured; else a resumed run, which may find what was missing, measures again. Nothing is
    measured unless it is ``needed``, for blocks that are still to be cut. A ``stop`` that is asked meanwhile ends it at once.

    Only the holder of the lease may call this: a second one would change the grid under tasks that run.
    """
    kept = read_rates(run, manifest)
    if kept is not None:
        return kept
    if not needed or block_cells is not None or is_short(manifest):
        return Rates()
    stop = stop or StopRequest(run.cancel)
    # A name that the next start takes away, should this process be killed.
    scratch = make_directory(run.root / temporary_name())
    try:
        with stop.interrupting():
            rates = measure_rates(manifest, run.store, scratch, for_blocks=True, check=stop.check)
    except StopAsked:
        return Rates()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if _is_complete(rates, manifest):
        write_json(_path(run), rates.to_json())
    return rates


def _is_complete(rates: Rates, manifest: Manifest) -> bool:
    metrics = [metric.name for metric in manifest.inputs.metrics]
    return all(rates.has_pass(procedure, metric) for procedure in manifest.study.resampling.drawn for metric in metrics)


def is_short(manifest: Manifest) -> bool:
    """Say whether a study is so small that its blocks need no calibration."""
    return resampling_seconds(manifest.study, manifest.inputs, Rates()) < SHORT_SECONDS


def measure_rates(
    manifest: Manifest, store: Store, scratch: Path, *, for_blocks: bool = False, check: Callable[[], None] = lambda: None
) -> Rates:
    """Measure on this machine what a study asks; a slow machine's rates where that fails.

    Workers of a cluster may be faster or slower: then blocks are shorter or longer than meant, and nothing else changes.

    Parameters
    ----------
    manifest, store
        What is asked, and where the frames of its test sets are.
    scratch : Path
        A folder for temporary files, which the caller removes.
    for_blocks : bool
        Measure only what blocks are cut by, in a quarter of the time.
    check : callable
        Called now and then; what it raises ends the calibration.
    """
    # Kernels and metrics, which a coordinator does not need otherwise.
    from pipeline.tasks.calibrate import FOR_BLOCKS, FOR_TIMES, calibrate

    effort = FOR_BLOCKS if for_blocks else FOR_TIMES
    try:
        return calibrate(manifest.study, manifest.inputs, store, scratch, effort=effort, check=check)
    except (PipelineError, OSError) as error:
        # Files may have gone since they were surveyed, or the disk for temporary files is full: tasks will tell.
        return Rates(unknown={"calibration": str(error)})


def read_rates(run: RunDirectory, manifest: Manifest) -> Rates | None:
    """Return the rates a run was first started with; None where there are none, or none that can be read and are whole."""
    try:
        rates = Rates.from_json(read_json(_path(run)))
    except (StoreError, RecursionError):  # it is not there, or damaged
        return None
    return rates if rates is not None and _is_complete(rates, manifest) else None


def _path(run: RunDirectory) -> Path:
    return run.root / "rates.json"
