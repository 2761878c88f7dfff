"""Solvers are SciPy's, bit for bit, and come without the package around them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.optimize

from pipeline.numerics import solvers

both_ways = pytest.mark.parametrize("compiled", [True, False])


def without_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where SciPy is built differently."""
    monkeypatch.setattr(solvers, "load_alone", lambda *_: None)


@both_ways
@pytest.mark.parametrize("given", [{}, {"xtol": 1e-6, "rtol": 1e-5}])
def test_a_root_has_the_bits_of_scipy(compiled: bool, given: dict[str, float], monkeypatch: pytest.MonkeyPatch) -> None:
    if not compiled:
        without_compiled(monkeypatch)
    for offset in np.random.default_rng(1).random(20).tolist():
        function = lambda x, offset=offset: float(np.expm1(x) - offset)  # noqa: E731
        assert solvers.find_root(function, -1.0, 2.0, **given) == scipy.optimize.brentq(function, -1.0, 2.0, **given)


@both_ways
def test_an_increasing_fit_has_the_bits_of_scipy(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not compiled:
        without_compiled(monkeypatch)
    rng = np.random.default_rng(2)
    for size in (1, 2, 50):
        values, weights = rng.random(size), rng.integers(1, 9, size)
        fitted, blocks = solvers.fit_increasing(values, weights)
        expected = scipy.optimize.isotonic_regression(values, weights=weights)
        assert (fitted.tolist(), blocks.tolist()) == (expected.x.tolist(), expected.blocks.tolist())


def raise_its_own(_: float) -> float:
    raise KeyError("its own")


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda x: 1.0 + x * x, ValueError, "different signs"),
        (lambda x: float("nan"), ValueError, "nan"),
        (raise_its_own, KeyError, "its own"),
    ],
)
def test_a_function_without_a_root_is_an_error(function: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        solvers.find_root(function, 0.0, 1.0)


def test_weights_of_another_length_or_of_nothing_are_refused() -> None:
    for weights in ([1.0], [1.0, 0.0]):
        with pytest.raises(ValueError, match="weights"):
            solvers.fit_increasing([1.0, 2.0], weights)


def test_solvers_are_found_without_the_package() -> None:
    code = (
        "import sys, pipeline.numerics.solvers as ours; ours.find_root(lambda x: x, -1.0, 2.0); "
        "ours.fit_increasing([2.0, 1.0], [1, 1]); "
        "alone = 'scipy.special' not in sys.modules; import scipy.optimize; "
        "print(alone, scipy.optimize.brentq(lambda x: x - 1, 0.0, 3.0))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert printed == "True 1.0"


def test_nothing_else_imports_the_package() -> None:
    package = Path(solvers.__file__).parents[1]
    imported = re.compile(r"(from|import) scipy\.optimize|from scipy import optimize")
    assert [path.name for path in package.rglob("*.py") if imported.search(path.read_text("utf-8"))] == []
