"""Files of a command's model, brought into a folder to be kept and back."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["load_files", "save_files"]

_FILES, _TOLD = "files", "told.json"


def save_files(sources: Iterable[Path], folder: Path, told: Mapping[str, Any]) -> None:
    """Put those files and folders that exist into a folder, with the facts to keep about them."""
    place = folder / _FILES
    place.mkdir()
    for source in sources:
        if source.is_dir():
            shutil.copytree(source, place / source.name, symlinks=True, copy_function=_link)
        elif source.exists():
            _link(source, place / source.name)
    (folder / _TOLD).write_text(json.dumps(told), encoding="utf-8")


def load_files(folder: Path, place: Path) -> dict[str, Any]:
    """Copy what `save_files` brought into ``place``, and give what was told."""
    shutil.copytree(folder / _FILES, place, dirs_exist_ok=True)
    told: dict[str, Any] = json.loads((folder / _TOLD).read_text(encoding="utf-8"))
    return told


def _link(source: str | Path, target: str | Path) -> None:
    """Give a file a second name, without another copy where the system can."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
