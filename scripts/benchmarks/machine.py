"""What the figures were measured on: processor, instructions, BLAS kernel and the versions that matter, never the name of a host.

    python -m benchmarks.machine

prints it as JSON. It is asked in a process like those that are measured: libraries choose their kernels when they are loaded.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import sys
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

from benchmarks.measure import run_measured

__all__ = ["describe_machine", "name_blas"]

PACKAGES = ("numpy", "numba", "scipy", "dask", "distributed", "zarr", "sacrebleu")


def describe_machine() -> dict[str, Any]:
    """Return processor, cores, instructions, the BLAS kernel of NumPy's products, our own form of them, and versions."""
    _, printed = run_measured([sys.executable, "-m", "benchmarks.machine"])
    return dict(json.loads(printed))


def _describe() -> dict[str, Any]:
    import pipeline
    from pipeline.resampling.products.byte_product import forms
    from pipeline.resampling.products.contract import FORM_VARIABLE

    np.ones((2, 2)) @ np.ones((2, 2))
    versions = {name: importlib.metadata.version(name) for name in PACKAGES}
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "instructions": sorted(np.show_config("dicts")["SIMD Extensions"]["found"]),
        "blas": name_blas(threadpool_info()),
        "product": os.environ.get(FORM_VARIABLE) or next(iter(forms()), "float"),
        "versions": {"pipeline": pipeline.__version__, "python": platform.python_version(), **versions},
    }


def name_blas(pools: list[dict[str, Any]]) -> str:
    """Name the library of NumPy's matrix products and the processor that its kernel is for.

    A process that has loaded SciPy may have a second one: NumPy's lies in one of its own folders.

    Examples
    --------
    >>> name_blas([{"user_api": "blas", "internal_api": "openblas", "version": "0.3.31", "architecture": "SkylakeX"}])
    'openblas 0.3.31, kernel SkylakeX'
    """
    for pool in sorted(pools, key=lambda pool: "numpy" not in Path(pool.get("filepath", "")).parent.as_posix()):
        if pool["user_api"] == "blas":
            kernel = f", kernel {pool['architecture']}" if pool.get("architecture") else ""
            return f"{pool['internal_api']} {pool.get('version') or ''}".strip() + kernel
    return str(np.show_config("dicts")["Build Dependencies"]["blas"]["name"])


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    found = dict(reversed([[side.strip() for side in line.split(":", 1)] for line in lines if ":" in line]))
    named = found.get("model name") or platform.processor() or platform.machine()
    # A name alone may stand for several generations.
    return f"{named} (family {found['cpu family']}, model {found['model']})" if "cpu family" in found else named


if __name__ == "__main__":
    print(json.dumps(_describe()))
