"""Compiled modules of SciPy without the packages that they are in, whose imports take tenths of a second for what we never call."""

from __future__ import annotations

import functools
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType

import scipy

__all__ = ["load_alone"]


@functools.cache
def load_alone(name: str, needed: tuple[str, ...] = ()) -> ModuleType | None:
    """Return a compiled module by its full name; None where this version of SciPy is built differently.

    The package finds it in `sys.modules` when it is imported after all, so that there is one of it.

    Parameters
    ----------
    name : str
    needed : tuple of str
        What it must have.
    """
    if name not in sys.modules:
        folders = name.split(".")[1:-1]
        spec = PathFinder.find_spec(name, [str(Path(scipy.__file__).parent.joinpath(*folders))])
        if spec is None or spec.loader is None:
            return None
        try:
            module = module_from_spec(spec)
            spec.loader.exec_module(module)
        except ImportError:
            return None
        sys.modules.setdefault(name, module)  # it may have imported its package, and that another one of itself
    found = sys.modules[name]
    return found if all(hasattr(found, each) for each in needed) else None
