"""Folders for what nobody needs tomorrow. This module removes them at the end, and later those that a killed process left."""

from __future__ import annotations

import functools
import math
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.store.files import make_directory, sweep_temporaries, temporary_name

__all__ = ["scratch_directory"]


@contextmanager
def scratch_directory(kind: str, place: Path | None = None) -> Iterator[Path]:
    """Yield an empty folder for this user alone that is removed afterwards, where the system has such or in another place.

    Its name tells whose it is: the first such folder of each process sweeps those whose process on this machine is gone.
    """
    within = tempfile.gettempdir() if place is None else str(make_directory(place))
    _sweep(within)
    # What a process that is just dying still writes there must not spoil what is done.
    with tempfile.TemporaryDirectory(
        prefix=f"pipeline-{kind}-", suffix=temporary_name(), dir=within, ignore_cleanup_errors=True
    ) as made:
        yield Path(made)


@functools.cache
def _sweep(place: str) -> None:
    # Whatever its age: a training may last for days, and what belongs to another machine is none of ours.
    sweep_temporaries(place, prefix="pipeline-", deep=False, max_age_seconds=math.inf)
