"""Transforms are SciPy's, bit for bit, and come without the packages around them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.fft

from pipeline.numerics import fourier

REAL = np.random.default_rng(0).normal(size=4095)
COMPLEX = REAL + 1j * REAL[::-1]
ROWS = COMPLEX.reshape(-1, 45)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("fft", (COMPLEX,)),
        ("ifft", (COMPLEX,)),
        ("rfft", (REAL,)),
        ("irfft", (COMPLEX[:2048], 4095)),
        ("fft", (ROWS,)),
        ("ifft", (ROWS,)),
    ],
)
def test_a_transform_has_the_bits_of_scipy(
    name: str, given: tuple[Any, ...], compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not compiled:  # a version of SciPy that is built differently
        monkeypatch.setattr(fourier, "_find_transforms", lambda: None)
    found, expected = getattr(fourier, name)(*given), getattr(scipy.fft, name)(*given)
    assert (found.dtype, found.tobytes()) == (expected.dtype, expected.tobytes())


@pytest.mark.parametrize("real", [True, False])
def test_lengths_are_those_of_scipy(real: bool) -> None:
    assert [fourier.next_fast_len(n, real) for n in range(1, 999)] == [scipy.fft.next_fast_len(n, real) for n in range(1, 999)]


def test_what_is_no_plain_row_of_numbers_is_left_to_scipy() -> None:
    few = REAL[:8].astype(np.float32).reshape(2, 4)
    assert fourier.rfft(few).tobytes() == scipy.fft.rfft(few).tobytes()  # type: ignore[arg-type]


@pytest.mark.parametrize("there", ["scipy.fft._pocketfft.pypocketfft", "scipy.fft._duccfft.pyduccfft"])
def test_transforms_are_found_in_either_of_two_libraries(there: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """SciPy has the second from 1.18 on."""
    monkeypatch.setattr(fourier, "load_alone", lambda name, needed: name if name == there else None)
    assert fourier._find_transforms() == there  # type: ignore[comparison-overlap]


def test_transforms_are_found_without_the_package_whichever_is_imported_first() -> None:
    code = (
        "import sys, numpy, pipeline.numerics.fourier as ours; ours.rfft(numpy.ones(8)); "
        "alone = 'scipy.special' not in sys.modules; import scipy.fft; print(alone, scipy.fft.rfft(numpy.ones(4)).real.tolist())"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert printed == "True [4.0, 0.0, 0.0]"


def test_nothing_else_imports_the_package() -> None:
    package = Path(fourier.__file__).parents[1]
    imported = re.compile(r"(from|import) scipy\.fft|from scipy import fft")
    assert [path.name for path in package.rglob("*.py") if imported.search(path.read_text("utf-8"))] == []
