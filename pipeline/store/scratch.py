"""Folders for what nobody needs tomorrow. This module removes them at the end, and later those that a killed process left."""

from __future__ import annotations

import functools
import math
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.store.files import sweep_temporaries, temporary_name

__all__ = ["scratch_directory"]


@contextmanager
def scratch_directory(kind: str) -> Iterator[Path]:
    """Give an empty folder that is removed afterwards, in the place that the system has for such.

    Its name tells whose it is: the first such folder of each process sweeps those whose process on this machine is gone.
    """
    _sweep(tempfile.gettempdir())
    with tempfile.TemporaryDirectory(prefix=f"pipeline-{kind}-", suffix=temporary_name()) as made:
        yield Path(made)


@functools.cache
def _sweep(place: str) -> None:
    # Whatever its age: a training may last for days, and what belongs to another machine is none of ours.
    sweep_temporaries(place, prefix="pipeline-", deep=False, max_age_seconds=math.inf)
