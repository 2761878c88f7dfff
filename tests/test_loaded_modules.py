"""What a program loads, and what it can do before it has loaded more: a start is mostly imports."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

IMPORT_ALL = """
import importlib, pkgutil
def import_all(*names):
    for name in names:
        package = importlib.import_module(f"pipeline.{name}")
        for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            importlib.import_module(module.name)
"""


def loaded(program: str, *names: str, cwd: Path | None = None) -> list[str]:
    """Return which of some modules a new Python has after a program, which must not fail."""
    told = f"{IMPORT_ALL}\n{program}\nimport sys\nprint(*(name for name in {names!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_what_is_loaded_is_told() -> None:
    assert loaded("import json, csv", "json", "numpy", "csv") == ["json", "csv"]


def test_resampling_loads_neither_dask_nor_xarray_nor_zarr() -> None:
    program = (
        "import pipeline.resampling.resample, pipeline.inference.p_values, pipeline.inference.multiple_comparisons.multiplicity"
    )
    heavy = ("dask", "distributed", "xarray", "zarr", "pandas", "matplotlib", "sklearn", "scipy.stats")
    assert loaded(program, *heavy, "numpy") == ["numpy"]


def test_modules_with_kernels_are_imported_without_what_compiles_them() -> None:
    program = """
import pipeline.compiled.loops
import_all("analyses", "inference", "metrics", "presets", "procedures", "resampling")
"""
    kernels = "pipeline.resampling.products.byte_product"
    assert loaded(program, "numba", "llvmlite", kernels) == [kernels]


def test_the_command_line_starts_without_heavy_packages() -> None:
    heavy = ("numpy", "dask", "xarray", "zarr", "numba", "pydantic", "rich", "scipy")
    assert loaded("import pipeline.cli", *heavy, "click") == ["click"]


def test_a_command_looks_for_cycles_of_objects_seldom_and_not_when_it_ends() -> None:
    program = """
import atexit, gc, sys
from pipeline.cli import main
atexit.register(lambda: print(gc.get_threshold()[0], gc.get_freeze_count() > 1000))  # after what the command registers
sys.argv = ["pipeline", "--version"]
main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "200000 True"


@pytest.mark.parametrize(("given", "meant"), [(None, "1"), ("2", "2")])
def test_a_command_starts_no_threads_of_blas_unless_it_is_told_how_many(given: str | None, meant: str) -> None:
    program = """
import atexit, os, sys
from pipeline.cli import main
atexit.register(lambda: print(os.environ["OPENBLAS_NUM_THREADS"]))
assert "numpy" not in sys.modules  # by which OpenBLAS is loaded, and looks for it
sys.argv = ["pipeline", "--version"]
main()
"""
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    environment |= {} if given is None else {"OPENBLAS_NUM_THREADS": given}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == meant


@pytest.mark.parametrize(
    ("outputs", "code_of_error"), [(["one.txt", "other.txt", "-r", "reference.txt"], "P301"), (["table.csv"], "P226")]
)
def test_an_unknown_metric_is_told_before_heavy_packages_are_imported(
    tmp_path: Path, outputs: list[str], code_of_error: str
) -> None:
    for name in ("one", "other", "reference"):
        (tmp_path / f"{name}.txt").write_text("a b\n")
    (tmp_path / "table.csv").write_text("item,one,other\nq1,1,0\nq2,0,1\n")
    program = f"""
from click.testing import CliRunner
from pipeline.cli.options import cli
from pipeline.cli import compare
from pipeline.errors import PipelineError
found = CliRunner().invoke(cli, ["compare", *{outputs!r}, "-m", "acuracy"]).exception
assert isinstance(found, PipelineError), found
assert [one.code for one in found.problems] == ["{code_of_error}"]
"""
    heavy = ("numpy", "numba", "scipy", "sacrebleu", "xarray", "zarr", "dask", "pandas", "pydantic")
    assert loaded(program, *heavy, cwd=tmp_path) == []


def test_what_a_comparison_imports_has_neither_wrappers_of_scipy_nor_its_transforms() -> None:
    # They take a fifth of a second, and the functions that a comparison needs are found without them. Nothing is computed here:
    # where a kernel is not on disk yet, Numba imports more of SciPy to compile it.
    program = """
import pipeline.report.build, pipeline.tasks.collect.task, pipeline.tasks.report
import_all("analyses", "inference", "resampling")
"""
    wrappers = ("scipy._lib._array_api", "scipy.fft", "numpy.f2py", "xarray", "zarr", "pandas")
    assert loaded(program, *wrappers, "pipeline.numerics.special") == ["pipeline.numerics.special"]


def test_the_values_of_procedures_and_presets_are_read_without_what_computes_them() -> None:
    # A module may compute too: it imports Numba and SciPy within the function.
    program = """
from pipeline.procedures.registry import PROCEDURES
from pipeline.presets.registry import PRESETS
assert PROCEDURES.usable() and PRESETS.usable()
"""
    assert loaded(program, "numba", "scipy", "sacrebleu", "xarray") == []


def test_which_analyses_are_asked_unnamed_is_known_without_importing_one() -> None:
    program = """
import sys
from pipeline.analyses.registry import analyses_of_compare, default_analyses, null_laboratories
from pipeline.plugins import in_tree
asked = {*analyses_of_compare(runs=True), *default_analyses(), *null_laboratories()}
assert asked and all(in_tree("analyses", name) for name in asked)
assert not [name for name in sys.modules if name.endswith(".analysis")]
"""
    assert loaded(program, "pipeline.analyses.registry") == ["pipeline.analyses.registry"]


def test_matplotlib_is_loaded_by_the_first_figure_that_asks_for_it() -> None:
    # Analyses and interfaces name its types; axes are handed to them by the report.
    program = """
import pipeline.report.drawing.figures, pipeline.report.layout.pages
import_all("analyses", "interfaces")
"""
    analysis = "pipeline.analyses.size_curve.analysis"
    assert loaded(program, "matplotlib", analysis) == [analysis]
