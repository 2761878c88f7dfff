"""What a command costs includes every process that it started, and what is derived from it is what it says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from benchmarks.arithmetic import fit_line, marginal, spread
from benchmarks.machine import describe_machine, name_blas
from benchmarks.measure import CHOOSES_KERNELS, run_measured

pytestmark = pytest.mark.alone  # holds what is done to the time it takes

BURN = "import time\nwhile time.process_time() < 0.4: pass"


def test_marginal_costs_are_those_of_a_million_replicates_without_what_is_fixed() -> None:
    fixed, each = 5.0, 12e-6
    few, many = (fixed + each * number for number in (100_000, 1_000_000))
    assert marginal(few, many, replicates=(100_000, 1_000_000)) == pytest.approx(12.0)
    assert marginal(few, many, replicates=(100_000, 1_000_000)) == pytest.approx((many - few) * 10 / 9)
    with pytest.raises(ValueError, match="100 and 100"):
        marginal(few, many, replicates=(100, 100))


def test_a_line_is_found_with_its_worst_residual() -> None:
    straight = fit_line([1, 2, 4, 8], [3.5, 6.0, 11.0, 21.0])
    assert (straight["slope"], straight["intercept"]) == (pytest.approx(2.5), pytest.approx(1.0))
    assert straight["worst_residual"] == 0.0
    assert fit_line([1, 2, 4, 8], [1, 4, 16, 64])["worst_residual"] > 0.2


def test_a_spread_has_the_median_in_its_range() -> None:
    assert spread([3.0, 1.0, 8.0]) == {"median": 3.0, "min": 1.0, "max": 8.0}


def test_the_cost_of_a_command_includes_a_process_that_outlives_its_parent() -> None:
    orphan = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {BURN!r}])"
    cost, _ = run_measured([sys.executable, "-c", orphan])
    assert cost.cpu_s >= 0.4
    assert cost.peak_memory_bytes > 2**20


def test_a_command_that_fails_is_no_measurement() -> None:
    with pytest.raises(RuntimeError, match="exit code 3"):
        run_measured([sys.executable, "-c", "import sys; sys.exit(3)"])


def test_the_command_line_refuses_what_it_does_not_know() -> None:
    root = Path(__file__).resolve().parents[2] / "scripts"
    for arguments in (["nothing"], ["--jobs", "J9"], ["--document", "page.md"]):
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks", *arguments], cwd=root, capture_output=True, text=True, check=False
        )
        assert done.returncode == 2, done.stderr


def test_no_library_is_told_to_take_the_kernel_of_an_older_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in CHOOSES_KERNELS:
        monkeypatch.setenv(name, "Haswell")
    _, printed = run_measured([sys.executable, "-c", "import os; print(sorted(os.environ))"])
    assert not [name for name in CHOOSES_KERNELS if f"'{name}'" in printed]
    assert "'OPENBLAS_NUM_THREADS'" in printed


def test_the_machine_is_described_with_its_instructions_and_the_kernel_of_its_products(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIPELINE_PRODUCT", "float")
    found = describe_machine()
    assert found["product"] == "float"
    assert found["processor"]
    assert found["instructions"] == sorted(np.show_config("dicts")["SIMD Extensions"]["found"])
    fresh = {name: value for name, value in os.environ.items() if name not in CHOOSES_KERNELS}
    program = "import json, numpy, threadpoolctl; print(json.dumps(threadpoolctl.threadpool_info()))"
    pools = subprocess.run([sys.executable, "-c", program], env=fresh, capture_output=True, text=True, check=True).stdout
    assert found["blas"] == name_blas(json.loads(pools))


def test_the_blas_named_is_that_of_numpy_also_where_scipy_has_loaded_another_first() -> None:
    scipys = {"user_api": "blas", "internal_api": "openblas", "version": "1", "filepath": "/lib/scipy.libs/libscipy_openblas.so"}
    numpys = {"user_api": "blas", "internal_api": "openblas", "version": "2", "filepath": "/lib/numpy.libs/libscipy_openblas64_.so"}
    assert name_blas([scipys, numpys]) == name_blas([numpys, scipys]) == "openblas 2"
