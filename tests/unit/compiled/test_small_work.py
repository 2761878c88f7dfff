"""Kernels in plain Python: which, when, and with all that they call."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.compiled.small_work import FEW_STEPS, FewSoFar, plain_python, suited

OFFSET = 3


@kernel
def kind(x: object) -> str:
    return type(x).__name__  # as Numba could not


@kernel
def part(x: int) -> int:
    return x + OFFSET


@kernel
def whole(x: int) -> int:
    return part(x) * 2 if x > 0 else part(-x)


@kernel
def halve(x: float) -> float:
    return x / 2


@kernel
def invert(values: NDArray[np.float64], out: NDArray[np.float64]) -> None:
    for i in range(len(values)):
        out[i] = values[i] - values[i] * 2 + np.inf * values[i]


def signatures(function: Any) -> int:
    return len(function.signatures)


def test_few_steps_compile_nothing_not_even_what_is_called() -> None:
    assert (suited(whole, steps=FEW_STEPS)(4), suited(whole, steps=0)(-4)) == (14, 7)
    assert signatures(whole) == signatures(part) == 0
    assert suited(whole, steps=FEW_STEPS + 1) is whole
    assert whole(4) == 14
    assert signatures(whole) == 1  # compiled, or found on disk, and what it calls with it


def test_few_steps_that_come_again_and_again_are_compiled() -> None:
    assert [suited(halve, steps=FEW_STEPS)(4.0) for _ in range(17)] == [2.0] * 17
    assert signatures(halve) == 1


def test_plain_python_has_the_name_of_its_kernel_and_is_made_once() -> None:
    assert plain_python(kind).__name__ == "kind"
    assert plain_python(kind)(4) == "int"
    assert plain_python(kind) is plain_python(kind)


def test_plain_python_warns_of_no_number_as_a_kernel_does_not() -> None:
    found, expected = np.empty(3), np.empty(3)
    values = np.array([0.0, np.inf, 1e308])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain_python(invert)(values, found)
        invert(values, expected)
    assert found.tobytes() == expected.tobytes()


def test_little_work_is_little_until_there_was_much_of_it() -> None:
    is_little = FewSoFar(10, 25)
    assert [is_little(number) for number in (10, 11, 10, 5, 0, 1, 10)] == [True, False, True, True, True, False, False]


@pytest.mark.parametrize("at_hand", [False, True])
def test_less_is_little_where_a_kernel_is_at_hand_and_that_is_asked_once(at_hand: bool) -> None:
    asked: list[None] = []
    is_little = FewSoFar(32, 320, at_hand=lambda: asked.append(None) or at_hand)  # type: ignore[func-returns-value]
    assert [is_little(number) for number in (20, 0, 20, 20)] == [True, True, not at_hand, not at_hand]
    assert len(asked) == 1
