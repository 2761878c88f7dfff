"""Kernels that run as the plain Python they are written in, where there is too little to do to compile or load them for it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar, cast

import numpy as np

from pipeline.compiled.decorator import Kernel

__all__ = ["FEW_STEPS", "FewSoFar", "is_at_hand", "plain_python", "suited"]

Function = TypeVar("Function", bound=Callable[..., Any])

FEW_STEPS = 2**16
"""Steps of a loop that Python takes in less time, some 50 ms, than the smallest kernel takes to compile, or a large one to load."""


_IN_ALL = 2**20
"""Steps of one kernel in a process that Python takes in less time, some .8 s, than most take to compile."""


def suited(function: Function, *, steps: int) -> Function:
    """Return a kernel, or what runs the same in plain Python where that is to take few steps, and took few so far.

    Only for kernels whose bits are the same in both: a test runs them beside each other. What differs is that numbers of an array
    keep their type in Python, so that a small integer overflows and a float32 stays one.
    """
    return cast(Function, functools.partial(_run_suited, function, steps)) if steps <= FEW_STEPS else function


def _run_suited(function: Callable[..., Any], steps: int, *arguments: Any) -> Any:
    return (plain_python(function) if _work_of(function).is_little(steps, arguments) else function)(*arguments)


class _WorkOf:
    """What a kernel was asked for as plain Python so far: where it is on disk, loading it takes less than some calls of that."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._arguments: tuple[Any, ...] = ()
        self._few = FewSoFar(FEW_STEPS, _IN_ALL, at_hand=lambda: is_at_hand(function, *self._arguments))

    def is_little(self, steps: int, arguments: tuple[Any, ...]) -> bool:
        """Count so many more steps, on these arguments."""
        self._arguments = arguments
        try:
            return self._few(steps)
        finally:
            self._arguments = ()  # arrays are not kept for it


@functools.cache
def _work_of(function: Callable[..., Any]) -> _WorkOf:
    return _WorkOf(function)


class FewSoFar:
    """Tells whether what is given is little, at a time and in all so far: little work that comes again and again is not.

    Parameters
    ----------
    at_once, in_all : int
        The most that is little.
    at_hand : callable, optional
        Says whether a kernel can be had without compiling it. It is asked once, after a sixteenth of ``in_all``: if it can, no more
        than that is little.
    """

    def __init__(self, at_once: int, in_all: int, *, at_hand: Callable[[], bool] | None = None) -> None:
        self._at_once, self._left, self._at_hand = at_once, in_all, at_hand
        self._asked_at = in_all - in_all // 16

    def __call__(self, number: int) -> bool:
        """Count so many more steps."""
        if number > self._at_once:
            return False
        self._left -= number
        at_hand = self._at_hand  # another thread may set it to None meanwhile
        if at_hand is not None and self._left < self._asked_at:
            self._left = -1 if at_hand() else self._left
            self._at_hand = None
        return self._left >= 0


def is_at_hand(function: Callable[..., Any], *arguments: Any) -> bool:
    """Tell whether a kernel is compiled for the types of these arguments, here or on disk."""
    return isinstance(function, Kernel) and function.is_at_hand(*arguments)


@functools.cache
def plain_python(function: Function) -> Function:
    """Return a kernel in plain Python, with all kernels that it calls; it warns of no number, as a kernel does not."""
    plain = _plain(function, {})

    @functools.wraps(plain)
    def run(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return plain(*arguments)

    return cast(Function, run)


def _plain(function: Any, made: dict[int, FunctionType]) -> FunctionType:
    """Return a function whose globals have plain functions in place of kernels."""
    plain: FunctionType = function.__wrapped__
    if id(plain) not in made:
        known = dict(plain.__globals__)
        made[id(plain)] = FunctionType(plain.__code__, known, plain.__name__, plain.__defaults__, plain.__closure__)
        for name in plain.__code__.co_names:
            if isinstance(known.get(name), Kernel):
                known[name] = _plain(known[name], made)
    return made[id(plain)]
