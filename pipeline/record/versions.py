"""The versions of packages that a run was made with, as the first attempt at it wrote them into the ledger.

A report repeats them. In a file of their own a bit that flips would be another version; a line of the ledger has its checksum.
"""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Mapping
from typing import Any

from pipeline.errors import StoreError
from pipeline.store.files import read_json
from pipeline.store.ledger import first_entry
from pipeline.store.runs import RunDirectory

__all__ = ["PACKAGES", "read_versions", "versions_here"]

PACKAGES = ("dask", "distributed", "numba", "numpy", "sacrebleu", "scikit-learn", "scipy", "xarray", "zarr")
"""Packages whose version may change a number."""


def versions_here() -> dict[str, str]:
    """Return the versions of this package, of Python, and of the packages that matter, in this process."""
    import pipeline

    packages = {name: importlib.metadata.version(name) for name in PACKAGES}
    return {"pipeline": pipeline.__version__, "python": platform.python_version(), **packages}


def read_versions(run: RunDirectory) -> dict[str, str]:
    """Return the versions that a run was made with; none where that is not known: no number depends on them."""
    entry = first_entry(run.ledger, "started")
    versions: Any = entry.get("versions") if entry else None
    if versions is None:  # earlier versions of this package wrote a file
        try:
            versions = read_json(run.versions)
        except StoreError:
            return {}
    sound = isinstance(versions, Mapping) and all(isinstance(version, str) for version in versions.values())
    return dict(versions) if sound else {}
