"""What the package brings along when it is imported."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("dask", "distributed", "xarray", "zarr", "pandas", "matplotlib", "sklearn", "scipy.stats")


def test_resampling_and_inference_load_no_cubes_and_no_cluster():
    code = (
        "import sys, pipeline.resampling.resample, pipeline.inference.p_values; "
        "import pipeline.inference.multiple_comparisons.multiplicity; "
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
