"""Look up readers, metrics, trainers, analyses, procedures and presets by name, among the entry points of what is installed.

Addresses, cells, comparisons, digests and exit codes are never plugins: a study means the same everywhere.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from importlib.metadata import EntryPoint, EntryPoints, PackageNotFoundError, entry_points, version
from typing import Any, TypeVar

from pipeline.errors import PluginError
from pipeline.foreign_code import refuse_foreign_code
from pipeline.options import suggest

__all__ = [
    "PluginValues",
    "check_members",
    "describe_plugin",
    "import_function",
    "import_plugin",
    "in_tree",
    "list_plugins",
]

T = TypeVar("T")

_NEURAL = re.compile(r"(x?comet|bleurt|bert-?score|metricx|gemba|yisi|bartscore|unite|prism)", re.IGNORECASE)
_NOT_COMPUTED = "metrics of neural models are not computed here: export their scores of segments and compare that table, scores.csv"

_WITH_CONTRACT = {"Metric", "Reader", "Trainer"}
"""Families of which `pipeline.testing` has a contract; to look for one would be to import pytest."""

_REFERENCE_SYSTEMS = "pipeline-reference-systems"
_NOT_INSTALLED = (
    f"the learners of the studies in workflows/ are a distribution of their own, {_REFERENCE_SYSTEMS}, which is not installed: "
    "in a checkout, pip install ./workflows/reference_systems"
)


def list_plugins(family: str) -> dict[str, EntryPoint]:
    """Return the installed members of a family (``readers``, ``metrics``, …) by name, sorted; nothing is imported."""
    return {name: points[-1] for name, points in _find(family, tuple(sys.path), entry_points).items()}


@lru_cache(maxsize=32)
def _find(family: str, path: tuple[str, ...], ask: Callable[[], EntryPoints]) -> Mapping[str, tuple[EntryPoint, ...]]:
    """Return the entry points of each name, sorted; ours comes last, and no other package replaces it."""
    found: dict[str, tuple[EntryPoint, ...]] = {}
    for point in sorted(_read(path, ask).select(group=f"pipeline.{family}"), key=lambda one: (one.name, _is_ours(one), one.value)):
        found[point.name] = (*found.get(point.name, ()), point)
    return found


@lru_cache(maxsize=4)
def _read(path: tuple[str, ...], ask: Callable[[], EntryPoints]) -> EntryPoints:
    """Read the entry points of all installed packages, a file each, once a process and path: every task asks twice."""
    return ask()


def _is_ours(point: EntryPoint) -> bool:
    return point.module.partition(".")[0] == __name__.partition(".")[0]


def import_plugin(family: str, name: str) -> Any:
    """Import the class of a member.

    Raises
    ------
    PluginError
        P301 where the family has no member of this name, P302 where it is there but cannot be imported, P313 where two other
        packages bring one of this name, P315 where another package brings it and its code is not to be run.
    """
    known, kind = list_plugins(family), _kind_of(family)
    refuse_unknown(family, name)
    if not _is_ours(known[name]):
        refuse_foreign_code(f"the {kind} '{name}' ({describe_plugin(known[name])})")
        _refuse_rivals(kind, name, _find(family, tuple(sys.path), entry_points)[name])
    try:
        return known[name].load()
    except (Exception, SystemExit) as error:  # foreign code runs on import: any exception means that the plugin is unusable
        raise PluginError.of(
            "P302",
            f"the {kind} '{name}' cannot be loaded: {error}",
            where=known[name].value,
            help="install what it needs, or leave it out of the study",
        ) from error


def describe_plugin(point: EntryPoint) -> str:
    """Return what an entry point names, and the package that brings it."""
    return f"{point.value} of the package {point.dist.name} {point.dist.version}" if point.dist else point.value


def refuse_unknown(family: str, name: str, *, others: Callable[[], Mapping[str, str]] = dict) -> None:
    """Refuse a name that no member of a family has, without importing any.

    Parameters
    ----------
    others : callable, optional
        Returns the names by which others call members, with ours; called where a name is refused.

    Raises
    ------
    PluginError
        P301.
    """
    known = list_plugins(family)
    if name not in known:
        kind, several = _kind_of(family), [part.strip() for part in name.split(",")]
        help_ = suggest(name, known, listed=True, others=others())
        if len(several) > 1 and set(several) <= set(known):
            flags = f"`-m {' -m '.join(several)}` or " if kind == "metric" else ""
            help_ = f"name each separately: {flags}`[{', '.join(several)}]`"
        raise PluginError.of("P301", f"there is no {kind} '{name}'", help=help_, note=_where_else(kind, name))


def _kind_of(family: str) -> str:
    return {"analyses": "analysis", "readers": "format"}.get(family, family.removesuffix("s"))


def _refuse_rivals(kind: str, name: str, points: tuple[EntryPoint, ...]) -> None:
    """Refuse a name that two packages give to different objects: which of them a study means would be chance."""
    if len({point.value for point in points}) > 1:
        told = [f"{point.dist.name} {point.dist.version} ({point.value})" if point.dist else point.value for point in points]
        raise PluginError.of(
            "P313",
            f"{len(points)} installed packages bring the {kind} '{name}': {', '.join(told)}",
            help="uninstall all of them but one, or have one rename its entry point",
        )


def _where_else(kind: str, name: str) -> str | None:
    """Return where members are to be found that are not part of this package; no list of them, which would have to be kept."""
    if kind == "metric" and _NEURAL.match(name):
        return _NOT_COMPUTED
    if kind == "trainer":
        try:
            version(_REFERENCE_SYSTEMS)
        except PackageNotFoundError:
            return _NOT_INSTALLED
    return None


def in_tree(family: str, name: str) -> bool:
    """Return whether a member of a family is one of this package's own."""
    return _is_ours(list_plugins(family)[name])


def import_function(path: str) -> Callable[..., Any]:
    """Return the function that "module:function" names."""
    module, _, function = path.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return found


class PluginValues(Mapping[str, T]):
    """The members of a family whose entry points name values, by name; each is imported when it is asked for.

    A name that is there may still be refused (P302) when its package cannot be imported, or what it names is no such value.

    Parameters
    ----------
    family : str
    kind : type
        Of the values, which have a ``name``.
    place : callable, optional
        Sorts the package's own ones, before which no other stands.

    Examples
    --------
    >>> PluginValues("colours", str).get("blue") is None
    True
    """

    def __init__(self, family: str, kind: type[T], *, place: Callable[[T], tuple[Any, ...]] = lambda value: ()) -> None:
        self._family, self._kind, self._own_place = family, kind, place
        self._known: dict[str, tuple[tuple[EntryPoint, ...], T]] = {}  # the package's own: reports ask for them pair by pair

    def __getitem__(self, name: str) -> T:
        points = _find(self._family, tuple(sys.path), entry_points).get(name)
        if points is None:
            raise KeyError(name)
        known = self._known.get(name)
        if known is not None and known[0] is points:
            return known[1]
        found = import_plugin(self._family, name)
        called = getattr(found, "name", None)
        if not isinstance(found, self._kind) or called != name:
            what = f"names itself '{called}'" if isinstance(found, self._kind) else f"is a {type(found).__name__}"
            raise PluginError.of(
                "P302",
                f"the {self._family.removesuffix('s')} '{name}' {what}",
                where=list_plugins(self._family)[name].value,
                help=f"its entry point names a pipeline.interfaces.{self._kind.__name__} of the same name",
            )
        if _is_ours(points[-1]):
            self._known[name] = points, found
        return found

    def __iter__(self) -> Iterator[str]:
        """Names in the order of catalogues: the package's own, then those of others, at last those that cannot be imported."""
        return iter(sorted(list_plugins(self._family), key=self._place))

    def __len__(self) -> int:
        return len(list_plugins(self._family))

    def __contains__(self, name: object) -> bool:
        return name in list_plugins(self._family)

    def usable(self) -> list[T]:
        """Return all values that can be imported: one whose package is broken stops nobody who does not ask for it."""
        found = []
        for name in self:
            try:
                found.append(self[name])
            except PluginError:
                continue
        return found

    def own(self) -> list[str]:
        """Return the names of the package's own values; no other package is imported."""
        return sorted((name for name in list_plugins(self._family) if in_tree(self._family, name)), key=self._place)

    def _place(self, name: str) -> tuple[Any, ...]:
        try:
            found = self[name]
        except PluginError:
            return 2, (), name
        return int(not in_tree(self._family, name)), self._own_place(found), name


def complete_class(made: Any, base: type) -> Any:
    """Return the class of a plugin with the defaults of the base class of its family.

    What inherits the base class, or is a function that makes objects, is returned as it is. A class that merely has the members is
    combined with the base class for its defaults; `check_members` refuses the objects of one that has not even the others. P302 for
    anything else.
    """
    if not callable(made):
        raise PluginError.of("P302", f"an entry point of the family {base.__name__} names {made!r:.60}, which is not a class")
    if not isinstance(made, type) or issubclass(made, base):
        return made
    own = {name: value for name, value in vars(made).items() if name in base.__annotations__}
    missing = [name for name in getattr(base, "__abstractmethods__", ()) if not hasattr(made, name)]
    return type(made.__name__, (made, base), {"__module__": made.__module__, **own, **dict.fromkeys(missing)})


def check_members(kind: str, name: str, made: Any, base: type) -> None:
    """Refuse an object without the members of the base class of its family.

    Raises
    ------
    PluginError
        P308, with all that are missing.
    """
    # A member without a default is annotated and has no value, or is abstract; `complete_class` leaves None in place of the latter.
    abstract = getattr(base, "__abstractmethods__", ())
    members = [member for member in dict.fromkeys((*base.__annotations__, *vars(base))) if not member.startswith("_")]
    missing = [member for member in members if not hasattr(made, member) or (member in abstract and getattr(made, member) is None)]
    if missing:
        family = base.__name__
        contract = f"; pipeline.testing.{family}Contract tries one" if family in _WITH_CONTRACT else ""
        raise PluginError.of(
            "P308",
            f"the {kind} '{name}' has no {', '.join(missing)}",
            where=f"{type(made).__module__}:{type(made).__qualname__}",
            help=f"see pipeline.interfaces.{family}, which a class may inherit" + contract,
        )
