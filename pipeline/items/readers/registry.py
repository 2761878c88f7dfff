"""Readers by name. This module makes them and checks their options before anything is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.errors import StudyError
from pipeline.interfaces import Reader
from pipeline.plugins import check_options, import_plugin
from pipeline.study.schema import FormatSpec

__all__ = ["load_reader"]


def load_reader(form: FormatSpec | str | Mapping[str, Any]) -> Reader:
    """Make a reader from a format as a study names it: its name, or the name with the reader's options.

    Raises
    ------
    PluginError
        P301 where no format has this name, P302 where its reader cannot be imported.
    StudyError
        P150 for options the reader does not have, P151 for those it needs and values it refuses.
    """
    if isinstance(form, str):
        name, options = form, {}
    elif isinstance(form, FormatSpec):
        name, options = form.name, form.options
    else:
        name, options = str(form["name"]), {key: value for key, value in form.items() if key != "name"}
    made = import_plugin("readers", name)
    check_options("format", name, made, options)
    try:
        reader: Reader = made(**options)
    except (TypeError, ValueError) as error:
        raise StudyError.of("P151", f"format '{name}': {error}") from error
    return reader
