"""Functions that only kernels can call: code of one's own in the middle of theirs, written when Numba compiles a kernel with it.

Until then neither Numba nor LLVM is imported.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, cast

__all__ = ["Intrinsic", "intrinsic", "written_by"]


class Intrinsic:
    """A function that only kernels can call, of which Numba makes its own object when it meets it.

    Parameters
    ----------
    define : function
        What `numba.extending.intrinsic` takes: of the types of arguments, the signature and what writes the code.
    """

    def __init__(self, define: Callable[..., Any]) -> None:
        functools.update_wrapper(cast(Any, self), define)
        self._define = define

    @functools.cached_property
    def _numba_type_(self) -> Any:
        """What Numba takes it for where a kernel calls it."""
        from numba.core.registry import cpu_target
        from numba.extending import intrinsic as define

        made, known = define(self._define), cpu_target.typing_context
        known.refresh()  # in the middle of compiling: it has looked for new ones before
        return known.resolve_value_type(made)


def intrinsic(define: Callable[..., Any]) -> Any:
    """Return an `Intrinsic`, whose arguments are those of a call."""
    return Intrinsic(define)


def written_by(write: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Return what Numba calls to have code written: ``write(builder, arguments)``, which gives None or the result."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        found = write(builder, given)
        return context.get_dummy_value() if found is None else found

    return generate
