"""Significance tests by name, those of other installed packages too; each is imported when it is asked for."""

from __future__ import annotations

from pipeline.errors import PluginError
from pipeline.interfaces import Procedure
from pipeline.plugins import PluginValues

__all__ = ["PROCEDURES", "default_procedure", "usable_procedures"]

PROCEDURES = PluginValues("procedures", Procedure, place=lambda known: (not known.default, not known.draws))
"""By name: the default, those that draw, those that compute; then those of other packages."""


def usable_procedures() -> list[Procedure]:
    """Return all procedures that can be imported."""
    return PROCEDURES.usable()


def default_procedure() -> Procedure:
    """Return the procedure of studies that name none."""
    for name in PROCEDURES.own():
        if PROCEDURES[name].default:
            return PROCEDURES[name]
    raise PluginError.of("P301", "no procedure is installed", help="install the package again: pip install --no-deps -e .")
