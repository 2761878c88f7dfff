"""The decorator of this package's frozen values: a dataclass whose methods cost nothing until they are called.

``dataclasses.dataclass`` writes the methods of a class as text and compiles them when the class is made, half a millisecond
for a frozen one. A command loads hundreds of such classes and makes values of few, so that this was a sixth of the time to a
first answer. Here the class has the same fields and behaves in the same way, but its methods are closures over the
names of the fields, and its ``__init__`` is compiled when it is first looked up.
"""

from __future__ import annotations

import abc
import builtins
import dataclasses
import inspect
import sys
from collections.abc import Callable
from operator import attrgetter
from reprlib import recursive_repr
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass", "field"]

if TYPE_CHECKING:
    from dataclasses import dataclass, field
else:
    field = dataclasses.field

    def dataclass(cls: type | None = None, /, **options: Any) -> Any:
        """Return the class as a dataclass; without a class, a decorator with these options.

        Parameters
        ----------
        cls
            A class with annotated fields.
        **options
            Those of ``dataclasses.dataclass``. What is frozen, derives from no other dataclass, has plain fields and asks for
            nothing but ``eq`` and ``slots`` is made here, and anything else by the standard library.
        """
        if cls is None:
            return lambda decorated: dataclass(decorated, **options)
        simple = options.get("frozen") and set(options) <= {"frozen", "eq", "slots"} and not _MINE & set(cls.__dict__)
        if not simple or any(map(dataclasses.is_dataclass, cls.__mro__[1:])) or not _has_plain_fields(cls):
            return dataclasses.dataclass(**options)(cls)
        return _make(cls, eq=options.get("eq", True), slots=options.get("slots", False))


class _Made:
    """The default that a signature shows where each value gets a new one."""

    def __repr__(self) -> str:
        return "<factory>"


_MADE = _Made()
_MINE = {"__init__", "__setattr__", "__delattr__", "__getstate__", "__setstate__"}
"""What is made here of a class, which has none of its own."""


def _has_plain_fields(cls: type) -> bool:
    """Tell whether each field is a parameter in its place: none by keyword alone, for ``__post_init__`` alone, or misplaced."""
    some_have_default = False
    for name, kind in inspect.get_annotations(cls).items():
        value = cls.__dict__.get(name, dataclasses.MISSING)
        told = kind if isinstance(kind, str) else repr(kind)
        if "ClassVar" in told:  # not a field, wherever it stands
            continue
        if name == "self" or "InitVar" in told or "KW_ONLY" in told or getattr(value, "kw_only", False) is True:
            return False
        has_default = value is not dataclasses.MISSING
        if isinstance(value, dataclasses.Field):
            has_default = not (value.default is value.default_factory is dataclasses.MISSING)
        if some_have_default and not has_default:
            return False
        some_have_default |= has_default
    return True


class _Init:
    """``__init__`` before its first use: looking it up writes it and puts it into the class, in place of this."""

    def __init__(self, cls: Any) -> None:
        self.cls = cls

    def __get__(self, instance: object, owner: type) -> Any:
        if self.cls.__dict__["__init__"] is self:  # or another thread was faster
            self.cls.__init__ = _write_init(self.cls)
        return self.cls.__dict__["__init__"].__get__(instance, owner)


def _write_init(cls: type) -> Callable[..., None]:
    """Return the ``__init__`` of the fields of a class, which sets them past what refuses changes."""
    known: dict[str, Any] = {"_set": object.__setattr__, "_made": _MADE}
    parameters, lines = ["self"], []
    for each in dataclasses.fields(cls):
        name, value, default = each.name, each.name, ""
        if each.default_factory is not dataclasses.MISSING:
            known[f"_make_{name}"], default = each.default_factory, "=_made"
            value = f"_make_{name}() if {name} is _made else {name}" if each.init else f"_make_{name}()"
        elif each.default is not dataclasses.MISSING:
            known[f"_default_{name}"], default = each.default, f"=_default_{name}"
        if each.init:
            parameters.append(name + default)
        elif each.default is not dataclasses.MISSING:  # what has no slot for it finds it in the class
            value = f"_default_{name}"
        if each.init or default:
            slot = cls.__dict__.get(name)
            if isinstance(slot, MemberDescriptorType):  # in half the time: it is not looked up by its name
                known[f"_set_{name}"] = slot.__set__
                lines.append(f"_set_{name}(self, {value})")
            else:
                lines.append(f"_set(self, {name!r}, {value})")
    lines += ["self.__post_init__()"] if hasattr(cls, "__post_init__") else [] if lines else ["pass"]
    text = f"def make({', '.join(known)}):\n def __init__({', '.join(parameters)}):\n  " + "\n  ".join(lines) + "\n return __init__"
    made: dict[str, Any] = {}
    exec(text, vars(sys.modules.get(cls.__module__, builtins)), made)  # what annotations name is found there
    init: Callable[..., None] = made["make"](**known)
    init.__annotations__ = {each.name: each.type for each in dataclasses.fields(cls) if each.init} | {"return": None}
    init.__qualname__, init.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    return init


def _make(cls: Any, *, eq: bool, slots: bool) -> Any:
    """Return the class with what the standard library would give a frozen dataclass."""
    has = cls.__dict__
    has_hash = "__hash__" in has and not (has["__hash__"] is None and "__eq__" in has)
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
    parameters = made.__dataclass_params__  # classes that derive from this one go by them
    parameters.init = parameters.repr = parameters.frozen = True
    parameters.eq = eq
    own = dataclasses.fields(made)
    made.__init__ = _Init(made)
    made.__setattr__, made.__delattr__ = _refuse_changes(made, {each.name for each in own})
    if slots:
        made.__getstate__, made.__setstate__ = _pickle([each.name for each in own])
    if "__repr__" not in has:
        made.__repr__ = _show([each.name for each in own if each.repr])
    if eq and "__eq__" not in has:
        made.__eq__ = _compare(_values_of([each.name for each in own if each.compare]))
    if eq and not has_hash:
        made.__hash__ = _hash(_values_of([each.name for each in own if (each.compare if each.hash is None else each.hash)]))
    abc.update_abstractmethods(made)
    return made


def _values_of(names: list[str]) -> Callable[[object], tuple[Any, ...]]:
    """Return what gives the values of these fields of an object as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple(getattr(value, name) for name in names)


def _refuse_changes(cls: Any, names: set[str]) -> tuple[Callable[..., None], Callable[..., None]]:
    def __setattr__(self: object, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: object, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return __setattr__, __delattr__


def _pickle(names: list[str]) -> tuple[Callable[[Any], list[Any]], Callable[[Any, list[Any]], None]]:
    """Return what a value with slots is pickled as and made of again: without them, pickling sets its attributes."""

    def __getstate__(self: object) -> list[Any]:
        return [getattr(self, name) for name in names]

    def __setstate__(self: object, state: list[Any]) -> None:
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, value)

    return __getstate__, __setstate__


def _show(names: list[str]) -> Callable[[object], str]:
    @recursive_repr()
    def __repr__(self: object) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return __repr__


def _compare(values: Callable[[object], tuple[Any, ...]]) -> Callable[[object, object], bool]:
    def __eq__(self: object, other: object) -> bool:
        return values(self) == values(other) if type(other) is type(self) else NotImplemented

    return __eq__


def _hash(values: Callable[[object], tuple[Any, ...]]) -> Callable[[object], int]:
    def __hash__(self: object) -> int:
        return hash(values(self))

    return __hash__
