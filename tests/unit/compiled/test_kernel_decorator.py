"""The decorator of kernels: what it compiles, and when."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core.caching import NullCache

from pipeline.compiled import kernel

pytestmark = pytest.mark.usefixtures("kept")


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the package's folder nor the home may be written."""
    monkeypatch.setattr("numba.core.caching.CacheImpl._locator_classes", [])


@pytest.mark.usefixtures("nowhere")
def test_without_a_place_to_keep_them_kernels_work_and_say_so_once() -> None:
    def triple(x: int) -> int:
        return x * 3

    first: Any = kernel(triple)
    with pytest.warns(RuntimeWarning, match=r"cannot cache function.*triple.*NUMBA_CACHE_DIR"):
        assert first(2) == 6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kernel(triple)(2) == 6
    assert isinstance(first._cache, NullCache)


def test_a_signature_is_compiled_once_for_all_integers_and_when_it_is_first_called() -> None:
    @kernel(signature="int64(int64, int64)")
    def subtract(a: int, b: int) -> int:
        return a - b

    @kernel
    def call_it(small: Any) -> Any:
        return subtract(5, small) + subtract(7, small)

    found: Any = subtract
    assert not found.signatures
    assert call_it(np.int32(2)) == 8
    assert len(found.signatures) == 1
    assert subtract(5, np.int8(2)) == 3
    assert len(found.signatures) == 1
    assert subtract(5, 2.7) == 3  # type: ignore[arg-type]


def test_without_a_signature_every_constant_of_a_caller_is_a_type() -> None:
    @kernel
    def subtract(a: int, b: int) -> int:
        return a - b

    @kernel
    def call_it(small: Any) -> Any:
        return subtract(5, small) + subtract(7, small)

    assert call_it(np.int32(2)) == 8
    assert len(subtract.signatures) == 2  # type: ignore[attr-defined]


def test_kernels_run_beside_other_threads() -> None:
    @kernel
    def same(x: int) -> int:
        return x

    assert same.targetoptions["nogil"] is True  # type: ignore[attr-defined]


def test_a_kernel_is_kept_where_python_has_no_abi_flags(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("sys.abiflags", raising=False)  # as on Windows

    @kernel
    def same(x: int) -> int:
        return x

    assert same(3) == 3
    assert len(list(kept.rglob("*.nbc"))) == 1


def test_options_of_numba_pass_through_and_what_is_inlined_is_kept_with_its_caller(code: Any, kept: Path) -> None:
    part = "from pipeline.compiled import kernel\n@kernel(inline='always')\ndef change(x):\n    return x + 1\n"
    caller = "from pipeline.compiled import kernel\nfrom part import change\n@kernel\ndef call(x):\n    return change(x) * 10\n"
    code.write(caller=caller, part=part)
    assert [code.call(4), code.call(4)] == [(50, 0), (50, 1)]
    code.write(part=part.replace("+ 1", "+ 2"))
    assert code.call(4) == (60, 0)


def test_a_kernel_that_is_not_called_costs_nothing() -> None:
    code = (
        "import pickle, numba, pipeline.resampling.exact.batch as batch\n"
        "assert not hasattr(batch._common, '__array__') and pickle.loads(pickle.dumps(batch._common)) is batch._common\n"
        "assert batch._common.__name__ == '_common' and batch._common.__doc__.startswith('Return the greatest')\n"
        "before, numba.njit = numba.njit, None\n"
        "import pipeline.resampling.standard_errors.leverage\n"
        "numba.njit = before\n"
        "assert batch._common(12, 18) == 6\n"
        "assert ('_compiled' in vars(batch._common), '_compiled' in vars(batch._empty_law)) == (True, False)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_kernel_that_is_not_jitted_is_the_plain_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba.core.config.DISABLE_JIT", True)

    @kernel
    def typed(x: int) -> str:
        return type(x).__name__

    assert typed(2) == "int"
