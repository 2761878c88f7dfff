"""What the figures were measured on: the processor by its name and the versions that matter, never the name of a host."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path
from typing import Any

__all__ = ["describe_machine"]

PACKAGES = ("numpy", "numba", "scipy", "dask", "distributed", "zarr", "sacrebleu")


def describe_machine() -> dict[str, Any]:
    """Return processor, cores and versions."""
    import pipeline

    versions = {name: importlib.metadata.version(name) for name in PACKAGES}
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "versions": {"pipeline": pipeline.__version__, "python": platform.python_version(), **versions},
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()
