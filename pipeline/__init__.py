"""Significance and variance of system evaluations at scale."""

from __future__ import annotations

from typing import Any

__all__ = ["__version__", "compare", "open_history", "open_run", "run", "submit"]

__version__ = "0.1.0"


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    # The notebook interface loads xarray; `pipeline --help` must not.
    if name in __all__:
        from pipeline import api

        return getattr(api, name)
    raise AttributeError(f"module 'pipeline' has no attribute {name!r}")
