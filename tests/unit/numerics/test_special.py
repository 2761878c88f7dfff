"""SciPy's functions are found without the package that they are in, and are the same."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.numerics import special

WRAPPERS = "scipy._lib._array_api"
"""What `scipy.special` spends nearly all its time on when it is imported."""


def _run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_the_functions_are_those_of_scipy_whichever_is_imported_first() -> None:
    first, then = "import pipeline.numerics.special as ours", "import scipy.special as theirs"
    same = "print(all(getattr(ours, name) is getattr(theirs, name) for name in ours.__all__), theirs.__spec__.name)"
    assert _run("; ".join((first, then, same))) == "True scipy.special"
    assert _run("; ".join((then, first, same))) == "True scipy.special"


def test_the_functions_are_found_without_wrappers_for_other_libraries() -> None:
    assert _run(f"import sys, pipeline.numerics.special; print([{WRAPPERS!r} in sys.modules, 'scipy.special' in sys.modules])") == (
        "[False, False]"
    )


@pytest.mark.parametrize(
    ("version", "first"), [("1.17.1", "scipy.special"), ("1.18.0", "scipy.linalg"), ("2.0.0rc1", "scipy.linalg")]
)
def test_what_the_functions_import_of_linear_algebra_is_found_first(
    version: str, first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[str] = []
    for name in [name for name in sys.modules if name.startswith("scipy.special")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr("scipy.__version__", version)
    monkeypatch.setattr(special, "load_alone", lambda name, needed=(): loaded.append(name) or special)
    special._find_functions()
    assert loaded[0].startswith(first)


def test_the_package_is_imported_where_this_version_is_built_differently(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("scipy.special")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(special, "load_alone", lambda name, needed=(): None)
    monkeypatch.setattr(special, "import_module", lambda name: name)
    assert special._find_functions() == "scipy.special"


@pytest.mark.parametrize("answer", [special.ndtri(0.975), special.stdtrit(1e9, 0.975)])
def test_they_compute(answer: float) -> None:
    assert answer == pytest.approx(1.959964, abs=1e-6)


def test_nothing_else_imports_the_package_around_them() -> None:
    package = Path(special.__file__).parents[1]
    imported = re.compile(r"(from|import) scipy\.special|from scipy import special")
    assert [path.name for path in package.rglob("*.py") if imported.search(path.read_text("utf-8"))] == ["special.py"]
