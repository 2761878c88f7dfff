"""Where the cube of a test set lies. This module names it without loading Zarr."""

from __future__ import annotations

from pipeline.store.addresses import digest

__all__ = ["cube_name"]


def cube_name(test_set: str) -> str:
    """Return the directory name of a test set's cube: a digest, since names may hold anything."""
    return digest(test_set)[:16]
