"""Holds the table of who may import whom; changing it is a design decision."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from packaging.requirements import Requirement

import pipeline

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "pipeline"
REFERENCE_SYSTEMS = ROOT / "workflows" / "reference_systems" / "reference_systems"

ALLOWED = {
    "dataclass": set(),
    "errors": set(),
    "error_codes": set(),
    "error_help": {"error_codes"},
    "amounts": set(),
    "numerics": set(),
    "compiled": set(),
    "interfaces": set(),
    "inputs": {"errors", "amounts"},
    "options": {"errors"},
    "foreign_code": {"errors"},
    "tracebacks": {"errors"},
    "own_code": {"errors", "foreign_code"},
    "plugins": {"errors", "options", "foreign_code"},
    "testing": {"interfaces", "errors", "plugins"},
    "resampling": {"numerics", "compiled"},
    "inference": {"numerics", "compiled", "resampling"},
    "procedures": {"plugins", "errors", "interfaces", "resampling", "inference"},
    "metrics": {"compiled", "own_code", "plugins", "options", "errors", "interfaces"},
    "presets": {"compiled", "plugins", "interfaces", "metrics"},
    "analyses": {
        "plugins",
        "options",
        "errors",
        "interfaces",
        "numerics",
        "inference",
        "procedures",
        "presets",
        "resampling",
    },
    "store": {"errors"},
    "study": {"errors", "amounts", "inputs", "options", "store", "resampling", "procedures", "presets", "analyses"},
    "items": {"plugins", "options", "errors", "inputs", "interfaces", "study", "store"},
    "trainers": {"compiled", "foreign_code", "own_code", "plugins", "options", "errors", "interfaces", "resampling"},
    "cubes": {"errors", "options", "store"},
    "report": {"errors", "options", "interfaces", "numerics", "study", "analyses", "inference", "procedures", "presets", "store"},
    "power_analysis": {"errors", "interfaces", "numerics", "inference", "analyses", "report"},
    "plan": {"errors", "study", "store", "resampling", "procedures"},
    "survey": {
        "plugins",
        "errors",
        "options",
        "inputs",
        "interfaces",
        "study",
        "items",
        "metrics",
        "trainers",
        "resampling",
        "inference",
        "procedures",
        "store",
        "analyses",
        "plan",
    },
    "record": {"errors", "study", "store", "metrics", "cubes", "plan"},
    "tasks": {
        "compiled",
        "plugins",
        "errors",
        "inputs",
        "interfaces",
        "study",
        "items",
        "plan",
        "survey",
        "record",
        "trainers",
        "metrics",
        "resampling",
        "inference",
        "procedures",
        "presets",
        "store",
        "cubes",
        "analyses",
        "report",
    },
    "engine": {"compiled", "plugins", "errors", "amounts", "resampling", "study", "store", "plan", "survey", "record", "tasks"},
    "api": {"errors", "presets", "analyses", "study", "store", "engine", "cubes", "report", "survey", "tasks", "tracebacks"},
    "cli": {
        "amounts",
        "compiled",
        "foreign_code",
        "inputs",
        "plugins",
        "options",
        "errors",
        "error_codes",
        "error_help",
        "presets",
        "study",
        "store",
        "engine",
        "api",
        "report",
        "survey",
        "record",
        "tasks",
        "procedures",
        "power_analysis",
        "tracebacks",
    },
    "__init__": {"api"},
    "__main__": {"cli"},
}
"""What each folder or module may import of ours, besides itself and `dataclass`; it stands below all that it may import."""

ONLY_IN = {
    "zarr": {"cubes"},
    "backports": {"store/zstandard.py"},
    "compression": {"store/zstandard.py"},
    "dask": {"engine/dask.py"},
    "distributed": {"engine/dask.py"},
    "yaml": {"study/yaml_values.py"},
    "click": {"cli"},
    "psutil": {"store/process.py"},
    "cryptography": {"engine/clusters/certificates.py"},
    "nltk": {"metrics"},
    "rapidfuzz": {"metrics"},
    "rouge_score": {"metrics"},
    "xarray": {"cubes", "analyses", "report", "power_analysis", "api.py", "interfaces"},
    "numba": {"compiled"},
    "llvmlite": {"compiled"},
    "sacrebleu": {"metrics", "presets"},
    "sklearn": {"trainers", "items/datasets.py"},
    "matplotlib": {"report/drawing/matplotlib_figures.py", "analyses", "interfaces"},
    "jinja2": {"report"},
    "rich": {"cli", "engine/watching/progress.py", "report"},
}
"""Which outside packages stay in which places."""

LIGHT = {
    "resampling": {"numpy", "scipy"},
    "inference": {"numpy", "scipy"},
    "presets": {"numpy", "sacrebleu"},
    "compiled": {"numpy", "numba", "llvmlite"},
}

PUBLIC = {"interfaces", "compiled", "errors", "options"}
"""What the reference systems may import of ours: what any package of trainers may."""

FAMILIES = {
    "procedures": {"registry"},
    "presets": {"registry"},
    "items/readers": {"registry"},
    "metrics": {"registry", "kernels"},
    "trainers": {"registry", "sampling", "process"},
}
"""Folders whose members never import one another, but for these and for helpers of the family, whose names begin with _."""


def modules() -> list[tuple[str, Path]]:
    return [(path.relative_to(PACKAGE).as_posix(), path) for path in sorted(PACKAGE.rglob("*.py"))]


def reference_systems() -> list[tuple[str, Path]]:
    return [(path.relative_to(REFERENCE_SYSTEMS).as_posix(), path) for path in sorted(REFERENCE_SYSTEMS.rglob("*.py"))]


@cache  # many tests read all modules
def both_imports(path: Path) -> tuple[frozenset[str], frozenset[str]]:
    """What a file imports anywhere in it, and of this what not only a type checker sees."""
    found: dict[bool, set[str]] = {True: set(), False: set()}

    def look(block: Iterable[ast.stmt], is_run: bool) -> None:
        for node in block:  # expressions, of which there are ten times as many, import nothing
            if isinstance(node, ast.Import):
                found[is_run] |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found[is_run] |= {f"{node.module}.{alias.name}" for alias in node.names}
            checked_alone = isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
            look(getattr(node, "body", ()), is_run and not checked_alone)
            for name in ("orelse", "finalbody", "handlers", "cases"):
                look(getattr(node, name, ()), is_run)

    look(ast.parse(path.read_text()).body, True)
    return frozenset(found[True] | found[False]), frozenset(found[True])


def imports(path: Path, *, when_run: bool = False) -> frozenset[str]:
    """What a file imports anywhere in it; ``when_run`` leaves out what only a type checker sees."""
    return both_imports(path)[when_run]


def folder_of(name: str) -> str:
    return name.split("/")[0].removesuffix(".py")


def used_folders(path: Path) -> set[str]:
    return {found.split(".")[1] for found in imports(path) if found.startswith("pipeline.")} - {"__version__"}


def test_folders_stand_in_order() -> None:
    # The table is read from top to bottom: a folder may import only what stands above it, so no two folders import each other.
    above: set[str] = set()
    offenders = []
    for folder, allowed in ALLOWED.items():
        offenders += [f"{folder} may import {other}, which does not stand above it" for other in sorted(allowed - above)]
        above.add(folder)
    assert offenders == []


def test_every_module_imports_only_what_the_table_allows() -> None:
    offenders = [
        f"{name} imports {other}"
        for name, path in modules()
        for other in sorted(used_folders(path) - ALLOWED[folder_of(name)] - {folder_of(name), "dataclass"})
    ]
    assert offenders == []


def test_no_circle_among_files() -> None:
    files = {f"pipeline.{name.removesuffix('.py').replace('/', '.')}".removesuffix(".__init__"): path for name, path in modules()}
    del files["pipeline"]  # it has the version, and loads `api` when asked
    needs = {
        module: {found if found in files else found.rpartition(".")[0] for found in imports(path, when_run=True)} & files.keys()
        for module, path in files.items()
    }
    # Whatever imports nothing of what is left, or is imported by nothing of it, is in no circle.
    while ends := {m for m, others in needs.items() if not others} | needs.keys() - set[str]().union(*needs.values()):
        needs = {module: others - ends for module, others in needs.items() if module not in ends}
    assert {module: sorted(others) for module, others in needs.items()} == {}


def test_frozen_values_are_made_by_our_own_decorator() -> None:
    # Loading a module with one takes several times as long by that of the standard library.
    made = re.compile(r"@dataclass\(frozen=True(, eq=False|, slots=True)?\)")
    theirs = [(name, path) for name, path in modules() if "dataclasses.dataclass" in imports(path, when_run=True)]
    assert [name for name, path in theirs if made.search(path.read_text())] == []


def test_outside_packages_stay_in_their_places() -> None:
    users = {
        package: {name for name, path in modules() if any(found.split(".")[0] == package for found in imports(path))}
        for package in ONLY_IN
    }
    offenders = [f"nobody imports {package}: the table is out of date" for package in ONLY_IN if not users[package]]
    offenders += [
        f"{user} imports {package}"
        for package, places in ONLY_IN.items()
        for user in sorted(users[package])
        if not any(user == place or user.startswith(f"{place}/") for place in places)
    ]
    assert offenders == []


def test_numbers_import_numbers_only() -> None:
    standard = set(sys.stdlib_module_names) | {"pipeline", "__future__"}
    offenders = [
        f"{name} imports {other}"
        for name, path in modules()
        if folder_of(name) in LIGHT
        for other in sorted({found.split(".")[0] for found in imports(path)} - standard - LIGHT[folder_of(name)])
    ]
    assert offenders == []


def test_members_of_a_family_do_not_import_one_another() -> None:
    offenders = []
    for name, path in modules():
        family, _, stem = name.removesuffix(".py").rpartition("/")
        if family not in FAMILIES or stem in FAMILIES[family] or stem.startswith("_"):
            continue
        prefix = "pipeline." + family.replace("/", ".") + "."
        siblings = {found.removeprefix(prefix).split(".")[0] for found in imports(path) if found.startswith(prefix)}
        strays = {sibling for sibling in siblings if not sibling.startswith("_")} - FAMILIES[family]
        offenders += [f"{name} imports {sibling}" for sibling in sorted(strays)]
    assert offenders == []


def test_reference_systems_are_loaded_by_their_entry_points_only() -> None:
    offenders = [
        f"{name} imports {found}"
        for name, path in modules()
        for found in sorted(imports(path))
        if found.split(".")[0] == "reference_systems"
    ]
    assert offenders == []


def test_reference_systems_import_the_public_surface_and_no_sibling_but_helpers() -> None:
    assert reference_systems(), "they have moved"
    offenders = []
    for name, path in reference_systems():
        offenders += [f"{name} imports pipeline.{other}" for other in sorted(used_folders(path) - PUBLIC)]
        offenders += [f"{name} imports pipeline itself" for found in imports(path) if found == "pipeline"]
        outside = {found.split(".")[0] for found in imports(path)} - set(sys.stdlib_module_names)
        offenders += [f"{name} imports {other}" for other in sorted(outside - {"numpy", "scipy", "pipeline", "reference_systems"})]
        siblings = {found.split(".")[1] for found in imports(path) if found.startswith("reference_systems.")}
        if not name.startswith("_"):
            offenders += [f"{name} imports {sibling}" for sibling in sorted(siblings) if not sibling.startswith("_")]
    assert offenders == []


def test_the_reference_systems_ask_for_a_range_of_versions_that_has_this_one() -> None:
    # An unbounded `pipeline` would be met by a package of another kind that has the name, or by interfaces that changed.
    project = tomllib.loads((REFERENCE_SYSTEMS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (needed,) = (Requirement(one) for one in project["dependencies"] if Requirement(one).name == "pipeline")
    assert needed.specifier.contains(pipeline.__version__)
    assert {specifier.operator for specifier in needed.specifier} == {">=", "<"}


def test_no_two_test_modules_have_one_name() -> None:
    # pytest imports them by their bare name: the second would be refused, on a fresh checkout only.
    paths = [path for path in (ROOT / "tests").rglob("*.py") if "fixtures" not in path.parts]  # scripts that made files
    names = [path.name for path in paths if path.name != "conftest.py"]
    assert sorted(name for name in set(names) if names.count(name) > 1) == []


def test_one_kernel_makes_the_rounds_of_philox() -> None:
    assert [name for name, path in modules() if "0xD2511F53" in path.read_text()] == ["resampling/philox.py"]


def test_no_module_grows_past_a_second_idea() -> None:
    long = {name: lines for name, path in [*modules(), *reference_systems()] if (lines := len(path.read_text().splitlines())) > 320}
    assert not long
