"""Fixtures that every test may use: the real data, and kernels on one thread."""

from __future__ import annotations

import functools
import gc
import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from _pytest.doctest import DoctestModule
from threadpoolctl import LibController, ThreadpoolController, threadpool_limits

# Tests share two cores with the workers they start. A library reads these variables when it is loaded; where a plugin of pytest
# loaded it before this file, as Zarr's plugin loads NumPy's, it is told below. The threads of a BLAS spin while they wait.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
threadpool_limits(int(os.environ["OPENBLAS_NUM_THREADS"]), user_api="blas")

ROOT = Path(__file__).resolve().parents[1]

pytest.register_assert_rewrite("support")


# Ten thousand tests are only ever added to while they are collected: looking for garbage in them takes a quarter of that time.
gc.disable()


class ExamplesOfModules:
    """Has pytest look for examples in modules with a prompt alone: looking in all others takes a third of the collection."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
        found = yield
        if file_path.suffix != ".py" or b">>> " in file_path.read_bytes():
            return found
        return [collector for collector in found if not isinstance(collector, DoctestModule)]


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(ExamplesOfModules())  # this file's own hooks are called for the folder of tests alone


def pytest_collection_finish() -> None:
    """Look for garbage again, but not among the tests."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Keep the tests of a file in one process, for its fixtures, and those of SLURM too: there is one on a machine."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        # Groups named by marks (`--dist loadgroup`) are lost: pytest 9 keeps ids where xdist 3.8 does not look for them.
        def _split_scope(self, nodeid: str) -> str:
            path = nodeid.split("::", 1)[0]
            return "slurm" if "slurm" in path else path

    return ByFile(config, log)


def find_data() -> Path | None:
    """Return the folder of real data sets, or None."""
    candidates = [os.environ.get("PIPELINE_DATA"), str(ROOT.parent / "shared" / "data")]
    return next((Path(c) for c in candidates if c and Path(c).is_dir()), None)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real data sets; skips, saying so, where there is none."""
    found = find_data()
    if found is None:
        pytest.skip("no real data: set PIPELINE_DATA to the folder of data sets")
    return found


@pytest.fixture(scope="module")
def files_in_memory() -> Iterator[None]:
    """Keep temporary files in memory where there is a file system for that: for tests of many runs.

    pytest's own ``tmp_path`` stays where it is.
    """
    with pytest.MonkeyPatch.context() as patch:
        if os.access("/dev/shm", os.W_OK):
            patch.setattr(tempfile, "tempdir", "/dev/shm")
        yield


@pytest.fixture(scope="module")
def few_nulls() -> Iterator[None]:
    """Have the null laboratory make 100 data sets of a pair, and not 2000: it takes most of a small comparison."""
    from pipeline.analyses.type_one.options import TypeOneOptions

    few = {"nulls": 100, "replicates": 99, "run_nulls": 20}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TypeOneOptions.__init__, "__defaults__", tuple(few.get(f.name, f.default) for f in fields(TypeOneOptions)))
        yield


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one MiB; skips, saying so, where this user may not mount one."""
    mount = tmp_path / "disk"
    mount.mkdir()
    try:
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", mount], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        pytest.skip("no mount command: a full disk cannot be tried")
    if done.returncode:
        pytest.skip(f"may not mount a small disk: {done.stderr.strip()}")
    try:
        yield mount
    finally:
        subprocess.run(["umount", "-l", mount], check=True)  # at once, though a process that is just ending may still use it


@pytest.fixture(scope="session", autouse=True)
def nothing_synced() -> Iterator[None]:
    """Sync no file of a test's own process to disk: no test cuts the power, and a slow disk would make each run of a study slow.

    Processes that a test starts sync as ever.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def nothing_found_out_twice() -> Iterator[None]:
    """Find out once in a process what every small run finds out for itself: some hundredths of the CPU time of their tests.

    These are the speed of the machine, the versions of packages, and, for each task, which of hundreds of loaded libraries have
    threads: that again once something was imported.
    """
    from pipeline.engine import forecast

    look, measure = ThreadpoolController._load_libraries, forecast._yardstick_seconds
    found: dict[int, list[LibController]] = {}

    def look_once(pools: ThreadpoolController) -> None:
        if (imported := len(sys.modules)) not in found:
            look(pools)
            found.clear()
            found[imported] = pools.lib_controllers
        pools.lib_controllers = [*found[imported]]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ThreadpoolController, "_load_libraries", look_once)
        patch.setattr(forecast, "_yardstick_seconds", functools.cache(lambda: min(measure() for _ in range(5))))
        patch.setattr(importlib.metadata, "version", functools.cache(importlib.metadata.version))
        yield


@pytest.fixture(scope="session", autouse=True)
def reports_held_to_their_schema() -> Iterator[None]:
    """Every report that a test writes in this process is what the published types say, with nothing lost and nothing added."""
    from support.synthetic_reports import hold_to_schema

    from pipeline.report import write

    encode = write.encode_report

    def encode_held(report: Any) -> bytes:
        content = encode(report)
        hold_to_schema(json.loads(content))
        return content

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write, "encode_report", encode_held)
        yield
