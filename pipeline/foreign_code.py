"""Whether this process may run code that is not this package's own: commands and modules of a study, and plugins.

`pipeline check` says what a study would run before anybody has to trust it. What it looks at is chosen so that no such code is
needed; every door through which such code is reached asks here all the same, so that one that was overlooked is a message.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pipeline.errors import PluginError

__all__ = ["no_foreign_code", "refuse_foreign_code"]

_state = {"refused": False}
"""Of the whole process: what a thread runs is run as well."""


@contextmanager
def no_foreign_code(active: bool = True) -> Iterator[None]:
    """Run none of it in this block; ``active=False`` changes nothing."""
    before = _state["refused"]
    _state["refused"] = before or active
    try:
        yield
    finally:
        _state["refused"] = before


def refuse_foreign_code(what: str) -> None:
    """Refuse to run something where nothing of its kind is run.

    Parameters
    ----------
    what : str
        The subject of the message.

    Raises
    ------
    PluginError
        P315.
    """
    if _state["refused"]:
        raise PluginError.of(
            "P315",
            f"{what} is not this package's own code, and is not run by this command",
            help="if you trust it, run it too: `pipeline check --run-code`",
        )
