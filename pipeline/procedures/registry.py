"""Significance tests by name, those of other installed packages too; each is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pipeline.errors import PluginError
from pipeline.interfaces import Procedure
from pipeline.plugins import import_plugin, list_plugins

__all__ = ["PROCEDURES", "default_procedure", "in_tree", "usable_procedures"]

_FAMILY = "procedures"


class _Procedures(Mapping[str, Procedure]):
    """All installed procedures. A name that is there may still be refused (P302) when its package cannot be imported."""

    def __getitem__(self, name: str) -> Procedure:
        if name not in list_plugins(_FAMILY):
            raise KeyError(name)
        found = import_plugin(_FAMILY, name)
        if not isinstance(found, Procedure) or found.name != name:
            what = f"names itself '{found.name}'" if isinstance(found, Procedure) else f"is a {type(found).__name__}"
            raise PluginError.of(
                "P302",
                f"the procedure '{name}' {what}",
                where=list_plugins(_FAMILY)[name].value,
                help="its entry point names a pipeline.interfaces.Procedure of the same name",
            )
        return found

    def __iter__(self) -> Iterator[str]:
        """Names in the order of catalogues: the default, those that draw, those that compute; then those of other packages."""
        return iter(sorted(list_plugins(_FAMILY), key=self._place))

    def __len__(self) -> int:
        return len(list_plugins(_FAMILY))

    def __contains__(self, name: object) -> bool:
        return name in list_plugins(_FAMILY)

    def _place(self, name: str) -> tuple[bool, bool, bool, str]:
        try:
            found = self[name]
        except PluginError:  # it is installed, and what it needs is not
            return True, True, True, name
        return not in_tree(name), not found.default, not found.draws, name


PROCEDURES: Mapping[str, Procedure] = _Procedures()
"""By name."""


def usable_procedures() -> list[Procedure]:
    """Return all procedures that can be imported: one whose package is broken stops nobody who does not ask for it."""
    found = []
    for name in PROCEDURES:
        try:
            found.append(PROCEDURES[name])
        except PluginError:
            continue
    return found


def in_tree(name: str) -> bool:
    """Return whether a procedure is one of this package's own."""
    return list_plugins(_FAMILY)[name].module.partition(".")[0] == __name__.partition(".")[0]


def default_procedure() -> Procedure:
    """Return the procedure of studies that name none."""
    for name in list_plugins(_FAMILY):
        if in_tree(name) and PROCEDURES[name].default:
            return PROCEDURES[name]
    raise PluginError.of("P301", "no procedure is installed", help="install the package again: pip install --no-deps -e .")
