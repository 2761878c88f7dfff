"""Folders of real data as tests look into them, without the package."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any


def expected(data: Path, name: str) -> Any:
    """Return what was counted elsewhere."""
    return json.loads((data / name / "expected.json").read_text())


def lines_of(path: Path) -> list[str]:
    """Return the lines of a compressed file."""
    return gzip.decompress(path.read_bytes()).decode().split("\n")[:-1]
