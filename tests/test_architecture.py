"""Holds the table of who may import whom; changing it is a design decision."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "pipeline"

ALLOWED = {
    "errors": set(),
    "amounts": set(),
    "inputs": {"errors", "amounts"},
    "compiled": set(),
    "plugins": {"errors"},
    "interfaces": set(),
    "testing": {"interfaces", "errors", "plugins"},
    "resampling": {"compiled"},
    "inference": {"compiled", "resampling"},
    "presets": {"compiled", "resampling", "inference"},
    "store": {"errors"},
    "study": {"errors", "amounts", "inputs", "store", "resampling"},
    "items": {"plugins", "errors", "inputs", "interfaces", "study"},
    "plan": {"errors", "study", "store", "resampling"},
    "survey": {
        "errors",
        "inputs",
        "interfaces",
        "study",
        "items",
        "plan",
        "trainers",
        "metrics",
        "resampling",
        "inference",
        "store",
        "analyses",
        "tasks",
    },
    "metrics": {"compiled", "plugins", "errors", "interfaces"},
    "trainers": {"compiled", "plugins", "errors", "interfaces", "resampling"},
    "cubes": {"errors", "store"},
    "analyses": {"plugins", "errors", "interfaces", "inference", "resampling"},
    "report": {"errors", "interfaces", "study", "analyses", "inference", "store"},
    "tasks": {
        "errors",
        "inputs",
        "interfaces",
        "study",
        "items",
        "plan",
        "survey",
        "trainers",
        "metrics",
        "resampling",
        "inference",
        "presets",
        "store",
        "cubes",
        "analyses",
        "report",
    },
    "engine": {"errors", "amounts", "study", "store", "plan", "survey", "tasks"},
    "api": {"errors", "study", "store", "engine", "cubes", "report", "survey", "tasks"},
    "cli": {"plugins", "errors", "presets", "study", "store", "engine", "api", "report", "survey", "tasks"},
    "__init__": {"api"},
    "__main__": {"cli"},
}
"""What each folder or module may import of ours, besides itself."""

ONLY_IN = {
    "zarr": {"cubes"},
    "dask": {"engine/dask.py"},
    "distributed": {"engine/dask.py"},
    "yaml": {"study/yaml_values.py"},
    "click": {"cli"},
    "cryptography": {"engine/certificates.py"},
    "nltk": {"metrics"},
    "rapidfuzz": {"metrics"},
    "rouge_score": {"metrics"},
    "xarray": {"cubes", "analyses", "report", "api.py", "interfaces"},
    "numba": {"compiled", "resampling/bitplanes.py"},
    "sacrebleu": {"metrics"},
    "sklearn": {"trainers", "items/datasets.py"},
    "matplotlib": {"report"},
    "jinja2": {"report"},
    "rich": {"cli", "engine/progress.py", "report"},
}
"""Which outside packages stay in which places."""

LIGHT = {
    "resampling": {"numpy", "scipy", "numba"},
    "inference": {"numpy", "scipy"},
    "presets": {"numpy"},
    "compiled": {"numpy", "numba"},
}

FAMILIES = {
    "items/readers": {"registry"},
    "metrics": {"registry", "kernels"},
    "trainers": {"registry", "sampling", "process"},
    "trainers/reference": set(),
}
"""Folders whose members never import one another, but for these and for helpers of the family, whose names begin with _."""


def modules() -> list[tuple[str, Path]]:
    return [(path.relative_to(PACKAGE).as_posix(), path) for path in sorted(PACKAGE.rglob("*.py"))]


@cache  # a dozen tests read all modules
def imports(path: Path) -> frozenset[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(found)


def folder_of(name: str) -> str:
    return name.split("/")[0].removesuffix(".py")


@pytest.mark.parametrize(("name", "path"), modules(), ids=lambda value: value if isinstance(value, str) else "")
def test_a_module_imports_only_what_the_table_allows(name: str, path: Path) -> None:
    own = folder_of(name)
    used = {found.split(".")[1] for found in imports(path) if found.startswith("pipeline.")}
    assert used <= ALLOWED[own] | {own, "__version__"}, f"{name} imports {sorted(used - ALLOWED[own] - {own})}"


@pytest.mark.parametrize("package", sorted(ONLY_IN))
def test_an_outside_package_stays_in_its_place(package: str) -> None:
    users = {name for name, path in modules() if any(found.split(".")[0] == package for found in imports(path))}
    assert users, f"nobody imports {package}: the table is out of date"
    strays = {user for user in users if not any(user == place or user.startswith(f"{place}/") for place in ONLY_IN[package])}
    assert not strays


@pytest.mark.parametrize("folder", sorted(LIGHT))
def test_numbers_import_numbers_only(folder: str) -> None:
    standard = set(sys.stdlib_module_names) | {"pipeline", "__future__"}
    for name, path in modules():
        if folder_of(name) == folder:
            outside = {found.split(".")[0] for found in imports(path)} - standard
            assert outside <= LIGHT[folder], name


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_members_of_a_family_do_not_import_one_another(family: str) -> None:
    prefix = "pipeline." + family.replace("/", ".") + "."
    for name, path in modules():
        folder, _, stem = name.removesuffix(".py").rpartition("/")
        if folder != family or stem in FAMILIES[family] or stem.startswith("_"):
            continue
        siblings = {found.removeprefix(prefix).split(".")[0] for found in imports(path) if found.startswith(prefix)}
        assert {sibling for sibling in siblings if not sibling.startswith("_")} <= FAMILIES[family], name


def test_reference_systems_are_loaded_by_their_entry_points_only() -> None:
    reference = "pipeline.trainers.reference"
    for name, path in modules():
        if not name.startswith("trainers/reference/"):
            assert not [found for found in imports(path) if found == reference or found.startswith(f"{reference}.")], name


def test_resampling_loads_neither_dask_nor_xarray_nor_zarr() -> None:
    code = (
        "import sys, pipeline.resampling.resample, pipeline.inference.p_values;"
        "print([m for m in ('dask', 'distributed', 'xarray', 'zarr', 'pandas', 'scipy.stats') if m in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"


def test_the_command_line_starts_without_heavy_packages() -> None:
    code = (
        "import sys, pipeline.cli;"
        "print([m for m in ('numpy', 'dask', 'xarray', 'zarr', 'numba', 'pydantic', 'rich', 'scipy') if m in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"


def test_no_two_test_modules_have_one_name() -> None:
    # pytest imports them by their bare name: the second would be refused, on a fresh checkout only.
    paths = [path for path in (ROOT / "tests").rglob("*.py") if "fixtures" not in path.parts]  # scripts that made files
    names = [path.name for path in paths if path.name != "conftest.py"]
    assert sorted(name for name in set(names) if names.count(name) > 1) == []


def test_no_module_grows_past_a_second_idea() -> None:
    long = {name: lines for name, path in modules() if (lines := len(path.read_text().splitlines())) > 320}
    assert not long
