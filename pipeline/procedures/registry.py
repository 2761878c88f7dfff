"""Significance tests by name, those of other installed packages too; each is imported when it is asked for."""

from __future__ import annotations

from pipeline.errors import PluginError
from pipeline.interfaces import Procedure
from pipeline.plugins import PluginValues, import_function, in_tree

__all__ = [
    "PROCEDURES",
    "check_procedure",
    "default_procedure",
    "exact_limit",
    "formula_of",
    "other_names",
    "usable_procedures",
]

PROCEDURES = PluginValues("procedures", Procedure, place=lambda known: (not known.default, not known.draws))
"""By name: the default, those that draw, those that compute; then those of other packages."""


def usable_procedures() -> list[Procedure]:
    """Return all procedures that can be imported."""
    return PROCEDURES.usable()


def other_names() -> dict[str, str]:
    """Return by what names others call our procedures, each with ours; no other package is imported."""
    return {also: name for name in PROCEDURES.own() for also in PROCEDURES[name].also_called}


def exact_limit(procedure: str) -> Procedure | None:
    """Return what computes the p-values that infinitely many replicates of a procedure would give; None where nothing does."""
    return next((known for known in usable_procedures() if known.limit_of == procedure), None)


def formula_of(procedure: str, *, exact: bool) -> str:
    """Return the formula of the p that verdicts by a procedure use, that of its limit where p is exact."""
    limit = exact_limit(procedure) if exact else None
    return (limit or PROCEDURES[procedure]).formula


def check_procedure(name: str) -> None:
    """Refuse a procedure of another package whose code cannot be imported, before anything is computed by it.

    Raises
    ------
    PluginError
        P302, with what its value names.
    """
    known = PROCEDURES[name]
    for path in () if in_tree("procedures", name) else filter(None, (known.compute, known.counter)):
        try:
            import_function(path)
        except (Exception, SystemExit) as error:  # foreign code runs on import: any exception means that the plugin is unusable
            message = f"the procedure '{name}' cannot be loaded: it names {path!r}, and that cannot be imported: {error}"
            raise PluginError.of("P302", message, help='name its code as "module:function"') from error


def default_procedure() -> Procedure:
    """Return the procedure of studies that name none."""
    for name in PROCEDURES.own():
        if PROCEDURES[name].default:
            return PROCEDURES[name]
    raise PluginError.of("P301", "no procedure is installed", help="install the package again: pip install --no-deps -e .")
