"""How much of a traceback people see: where Python calls the package, the line that called and the message, unless they debug."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from types import FrameType
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
            raise _as_it_is(error) from None

    return called


def _as_it_is(error: PipelineError) -> PipelineError:
    """Return another error with all that one has but its traceback; its class is not called, as it may take other arguments."""
    short = type(error).__new__(type(error), *error.args)
    vars(short).update(vars(error))
    return short


def _file_of(frame: FrameType) -> str:
    """Return the file of a frame's code; of code that was made as the program ran, the file of the module it was made for."""
    file = frame.f_code.co_filename
    return str(frame.f_globals.get("__file__", file)) if file == "<string>" else file


def _is_of_others(error: BaseException | None) -> bool:
    """Say whether an error, or one that it was made of, came out of code that is neither this package's nor installed."""
    import sysconfig

    # Not the folder of an environment as a whole, in which people may keep their code.
    installed = map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib", "platlib"))
    ours = (*(os.path.join(folder, "") for folder in (os.path.dirname(__file__), *installed)), "<frozen ")
    while error is not None:
        trace = error.__traceback__
        while trace is not None:
            if not _file_of(trace.tb_frame).startswith(ours):
                return True
            trace = trace.tb_next
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return False
