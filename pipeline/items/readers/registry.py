"""Make readers by name, and check their options before anything is read."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any, Protocol, cast

from pipeline.errors import PluginError, StudyError
from pipeline.interfaces import Reader
from pipeline.options import check_options
from pipeline.plugins import check_members, complete_class, import_plugin, list_plugins

__all__ = ["fits_outputs", "import_reader", "known_endings", "load_reader"]

_ENDING = re.compile(r"(\.[a-z][a-z0-9_-]*)+")
"""A dot and a letter: what begins with a digit would cut the version off a model's name."""


class Format(Protocol):
    """A format as a study has it: the name of its reader, and the reader's options."""

    @property
    def name(self) -> str:
        """That of the reader."""

    @property
    def options(self) -> Mapping[str, Any]:
        """What the reader is to know of the files."""


def load_reader(form: Format | str | Mapping[str, Any]) -> Reader:
    """Make a reader from a format as a study names it: its name, or the name with the reader's options.

    Raises
    ------
    PluginError
        P301 where no format has this name, P302 where its reader cannot be imported, P308 where it is no reader.
    StudyError
        P150 for options the reader does not have, P151 for those it needs and values it refuses.
    """
    if isinstance(form, str):
        name, options = form, dict[str, Any]()
    elif isinstance(form, Mapping):
        name, options = str(form["name"]), {key: value for key, value in form.items() if key != "name"}
    else:
        name, options = form.name, dict(form.options)
    made = import_reader(name)
    check_options("format", name, made, options)
    try:
        reader = made(**options)
    except (TypeError, ValueError) as error:
        raise StudyError.of("P151", f"format '{name}': {error}") from error
    check_members("format", name, reader, Reader)
    return reader


def import_reader(name: str) -> type[Reader]:
    """Return the class of a reader.

    Raises
    ------
    PluginError
        P301 where no format has this name, P302 where its reader cannot be imported.
    """
    return cast(type[Reader], complete_class(import_plugin("readers", name), Reader))


def fits_outputs(reader: Reader) -> bool:
    """Return whether a reader needs the gold to tell which items an output has."""
    return type(reader).fit is not Reader.fit


def known_endings() -> tuple[str, ...]:
    """Return the endings of file names that installed readers know, in lower case, sorted.

    They are the same whichever format is read, so that a file's name is too.
    """
    return _endings_of(tuple(list_plugins("readers")))


@functools.lru_cache(maxsize=1)
def _endings_of(readers: tuple[str, ...]) -> tuple[str, ...]:
    """Return the endings that some readers know: of a hundred files each is asked for them."""
    found: set[str] = set()
    for name in readers:
        try:
            made = import_reader(name)
        except PluginError:
            continue  # it is installed, and what it needs is not
        found.update(ending for ending in made.endings if _ENDING.fullmatch(ending))
    return tuple(sorted(found))
