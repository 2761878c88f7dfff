"""Chunks sealed with checksums: every read is checked against what was written.

Zarr reads a missing chunk as the fill value, and accepts any chunk that somebody else has written. Both would be numbers that
nobody computed, so each array has a list of its chunks (``checksums.json``, which Zarr does not read).
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path

from pipeline.cubes.chunk_files import FilesInFolder
from pipeline.cubes.zarr_files import ZarrGroup
from pipeline.errors import Problem, StoreError
from pipeline.store.addresses import canonical_json
from pipeline.store.files import store_error

__all__ = ["META", "damaged", "group_is_sound", "read_seal", "seal", "verify_group"]

SEAL = "checksums.json"
META = "zarr.json"
GROUP = f"../{META}"
"""Where an array's list has the checksum of its group's attributes."""

REBUILD = "`pipeline resume RUN` builds the cube again from the stored results"


def seal(group: ZarrGroup) -> None:
    """Write the checksums of every array of a group in files, and of the groups below it, with that of its group's attributes.

    They are computed from what was to be written, not from what is read back, so the loss of a part on disk is noticed.
    """
    assert isinstance(group.files, FilesInFolder)
    group.finish()
    written = group.files.checksums
    lists: dict[str, dict[str, int]] = {array: {} for array in group.list_arrays()}
    for path, checksum in written.items():
        array, _, part = path.rpartition("/")
        if array in lists:
            lists[array][part] = checksum
    for array, sums in lists.items():
        above = array.rpartition("/")[0]
        # A group has no list of its own: Zarr would warn of a file there that it does not know.
        sums[GROUP] = written[f"{above}/{META}" if above else META]
        group.files.write(f"{array}/{SEAL}", canonical_json(sums))


def read_seal(array: Path) -> dict[str, int] | None:
    """Return the checksums of an array's files; None if there is no list."""
    try:
        seal = json.loads((array / SEAL).read_bytes())
        if not isinstance(seal, dict):
            raise ValueError("no mapping")
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return None
    except OSError as error:
        raise store_error(error, array / SEAL) from error
    except ValueError as error:
        raise StoreError(damaged(array.parent, array.name, SEAL, missing=False)) from error
    return seal


def group_is_sound(group: Path, description: bytes) -> bool:
    """Say whether a group's description is the one that was written; lists of earlier versions do not tell."""
    for seal in sorted(group.glob(f"*/{SEAL}"))[:1]:
        sums = read_seal(seal.parent) or {}
        return sums.get(GROUP, zlib.crc32(description)) == zlib.crc32(description)
    return True


def verify_group(group: Path, arrays: list[str]) -> list[Problem]:
    """List every chunk of these arrays that is missing or differs from what was written."""
    problems: list[Problem] = []
    for name in arrays:
        try:
            sums = read_seal(group / name)
        except StoreError as error:
            problems += error.problems
            continue
        if sums is None:
            problems.append(damaged(group, name, SEAL, missing=True))
            continue
        for key, expected in sums.items():
            path = group / name / key
            if not path.is_file():
                problems.append(damaged(group, name, key, missing=True))
            elif zlib.crc32(path.read_bytes()) != expected:
                problems.append(damaged(group, name, key, missing=False))
    return problems


def damaged(group: Path, array: str, part: str, *, missing: bool) -> Problem:
    """Say which chunk of which variable of which test set cannot be trusted."""
    is_chunk = part.startswith(("c.", "c/"))  # earlier versions made a folder for each place of a chunk
    what = f"chunk {part[2:]}" if is_chunk else f"the file {part}"
    state = "missing" if missing else "damaged"
    message = f"{what} of the variable {array!r} is {state} in the cube of the {_owner(group)}"
    return Problem("P707", message, str(group / array / part), REBUILD)


def _owner(group: Path) -> str:
    for folder in (group, *group.parents[:2]):
        try:
            attributes = json.loads((folder / META).read_bytes())["attributes"]
        except (OSError, ValueError, KeyError):
            continue
        for key, kind in (("test_set", "test set"), ("slot", "slot")):
            if key in attributes:
                return f"{kind} {attributes[key]!r}"
    return f"test set {group.name!r}"
