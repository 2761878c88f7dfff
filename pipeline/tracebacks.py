"""How much of a traceback people see: where Python calls the package, the line that called and the message, unless they debug."""

from __future__ import annotations

import copy
import functools
import os
import sys
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from pipeline.errors import PipelineError

__all__ = ["is_debugging", "shortened"]

P = ParamSpec("P")
R = TypeVar("R")


def is_debugging() -> bool:
    """Say whether every traceback is shown in full: with ``pipeline --debug``, or where ``PIPELINE_DEBUG`` is set."""
    return "--debug" in sys.argv or bool(os.environ.get("PIPELINE_DEBUG"))


def shortened(call: Callable[P, R]) -> Callable[P, R]:
    """Return a function whose errors show the line that called it and their message, not what they came through in here.

    The error as it was raised, with every frame, is the ``__context__`` of what is shown. Faults of ours, and errors that other
    people's code has a part in, such as a metric of a notebook, are raised as they are.
    """

    @functools.wraps(call)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return call(*args, **kwargs)
        except PipelineError as error:
            if is_debugging() or type(error) is PipelineError or _is_of_others(error):
                raise
            short = copy.copy(error)
            short.facts = error.facts
            raise short from None

    return called


def _is_of_others(error: BaseException | None) -> bool:
    """Say whether an error, or one that it was made of, came out of code that is neither this package's nor installed."""
    import sysconfig

    ours = (os.path.dirname(__file__), *sysconfig.get_paths().values(), "<frozen")
    while error is not None:
        trace = error.__traceback__
        while trace is not None:
            if not trace.tb_frame.f_code.co_filename.startswith(ours):
                return True
            trace = trace.tb_next
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return False
