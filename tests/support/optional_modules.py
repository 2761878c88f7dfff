"""Modules that some tests need: without them they skip, or fail where a variable of the environment requires them."""

from __future__ import annotations

import importlib
import os
from typing import Any

import pytest

__all__ = ["import_needed"]


def import_needed(module: str, *, required_by: str, reason: str) -> Any:
    """Return a module; without it skip what asks, with this reason, or raise ImportError if the variable is set."""
    if os.environ.get(required_by, "0") not in ("", "0"):
        return importlib.import_module(module)
    return pytest.importorskip(module, reason=reason)
