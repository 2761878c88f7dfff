"""Inputs in object stores: each is brought once, into a folder beside the study, and read there like any file.

.objects/<mark>/data/<name>     the objects of one place as they were when they were listed; never changed
.objects/<mark>/files.txt       their SHA-256, which is looked at each time
.objects/<mark>/marks.json      the marks by which the store tells that they are the same

An object that changes gives another folder, so that a run which reads the earlier content goes on reading it. What did not change
is taken from the folders there are.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from pipeline.errors import DataError, StoreError
from pipeline.inputs import largest_input
from pipeline.items.discover import pattern_of_names
from pipeline.store.addresses import digest
from pipeline.store.brought import DATA, FOLDER
from pipeline.store.files import make_directory, make_tree_private, store_error, sweep_temporaries, temporary_name, write_bytes
from pipeline.store.objects import StoredObject, fetch_object, is_object, list_objects
from pipeline.store.seals import damaged_file_of, read_list, read_sealed, sha256_of, write_list, write_sealed
from pipeline.study.schema import Study
from pipeline.study.sets import TestSet

__all__ = ["bring_objects"]

_MARKS = "marks.json"
_WILD = re.compile(r"[*?{]")


def bring_objects(study: Study, base: Path) -> Study:
    """Return a study that names files in place of objects: those of test sets, of training data and of the table of systems.

    Raises
    ------
    DataError
        P201, P207 there is no such object; P286 it is too large.
    StoreError
        P735, P736 as `pipeline.store.objects.send_file`; P701 and its like where nothing can be written beside the study.
    """
    changed: dict[str, Any] = {}
    test_sets = {name: _bring_test_set(spec, base) for name, spec in study.test_sets.items()}
    if test_sets != study.test_sets:
        changed["test_sets"] = test_sets
    if isinstance(study.systems.table, str) and is_object(study.systems.table):
        changed["systems"] = study.systems.model_copy(update={"table": _bring(study.systems.table, base)})
    data = study.training.data if study.training else None
    found = {key: _bring(value, base) for key in ("path", "gold") if _names_object(value := getattr(data, key, None))}
    if study.training and data and found:
        changed["training"] = study.training.model_copy(update={"data": data.model_copy(update=found)})
    return study.model_copy(update=changed) if changed else study


def _bring_test_set(spec: TestSet, base: Path) -> TestSet:
    keys = ("references", "gold", "outputs", "documents")
    found = {key: _bring(value, base) for key in keys if _names_object(value := getattr(spec, key))}
    return spec.model_copy(update=found) if found else spec


def _names_object(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_names_object, value.values()))
    return is_object(value) if isinstance(value, str) else isinstance(value, tuple) and any(map(_names_object, value))


def _bring(value: Any, base: Path) -> Any:
    if isinstance(value, Mapping):
        return {name: _bring(one, base) for name, one in value.items()}
    if isinstance(value, tuple):
        return tuple(_bring(one, base) for one in value)
    return _bring_one(value, base) if is_object(value) else value


def _bring_one(address: str, base: Path) -> str:
    """Bring the objects of an address, a pattern or one name, and return the same of the files."""
    wild = _WILD.search(address)
    # A `?` or a brace may be in the name of an object; of a pattern the folder begins where all names agree.
    place, _, rest = address[: wild.start() if wild else None].rpartition("/")
    rest += address[wild.start() :] if wild else ""
    objects = list_objects(place, None if wild else rest)
    if wild:
        named = pattern_of_names(rest)
        objects = [one for one in objects if named.fullmatch(one.name)]
    if not objects:
        code, what = ("P207", "no object matches the pattern") if wild else ("P201", "there is no such object")
        raise DataError.of(code, what, where=address, help="check the address")
    for one in objects:
        if not _is_plain(one.name):
            raise DataError.of("P201", f"an object has a name that no file can have: {one.name!r}", where=place, help="rename it")
    return str(_folder_of(place, objects, _root_of(base)) / DATA / rest)


def _root_of(base: Path) -> Path:
    """Return the folder beside the study, made where it is missing."""
    try:
        return make_directory(base / FOLDER)
    except StoreError as error:
        help = "copy the study into a folder that this user may write: what is in object stores is kept beside it"
        raise StoreError(*(replace(problem, help=help) for problem in error.problems)) from error


def _is_plain(name: str) -> bool:
    """Say whether a file below a folder can have the name: an object may have any."""
    parts = PurePosixPath(name).parts
    return "/".join(parts) == name and ".." not in parts and name.isprintable() and all(len(part) < 240 for part in parts)


def _folder_of(place: str, objects: Sequence[StoredObject], root: Path) -> Path:
    """Return the folder that holds these objects as they are, made unless it is there and sound."""
    final = root / digest([place, [list(one) for one in objects]])[:20]
    if final.is_dir():
        # `gc` leaves what was in use a moment ago: looking through it takes a while, and no run names it yet.
        with suppress(OSError):  # a disk that is only read; or `gc` was quicker, and it is brought again
            os.utime(final)
        if not damaged_file_of(final, verify=True):
            return final
    temporary = root / temporary_name()
    try:
        write_bytes(root / ".gitignore", b"*\n")
        sweep_temporaries(root, deep=False)  # of a process that was killed while it fetched or removed gigabytes
        make_directory(temporary)
        known = _known(root, place)
        digests: dict[str, str] = {}
        for one in objects:
            file = temporary / DATA / one.name
            file.parent.mkdir(parents=True, exist_ok=True)
            if not _take(known.get((one.name, one.size, one.mark)), file):
                fetch_object(f"{place}/{one.name}", file, most=largest_input(), what="the object", mark=one.mark)
            digests[f"{DATA}/{one.name}"] = sha256_of(file)
        write_sealed(temporary / _MARKS, {"place": place, "objects": [list(one) for one in objects]})
        write_list(temporary, digests)
        make_tree_private(temporary, like=temporary)
        shutil.rmtree(final, ignore_errors=True)
        try:
            os.rename(temporary, final)
        except OSError:
            if not final.is_dir() or damaged_file_of(final, verify=True):  # else another process was quicker
                raise
    except OSError as error:
        raise store_error(error, error.filename or final) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return final


def _known(root: Path, place: str) -> dict[tuple[str, int, str], tuple[Path, str]]:
    """Return the files of a place that were brought before, each with its digest."""
    known: dict[tuple[str, int, str], tuple[Path, str]] = {}
    for folder in root.iterdir():
        with suppress(StoreError, KeyError, TypeError, ValueError):
            marks: dict[str, Any] = read_sealed(folder / _MARKS)
            if marks["place"] == place:
                listed = read_list(folder)
                for name, size, mark in marks["objects"]:
                    known[name, size, mark] = folder / DATA / name, listed[f"{DATA}/{name}"]
    return known


def _take(known: tuple[Path, str] | None, file: Path) -> bool:
    """Say whether a file that is here already could be taken."""
    if known is None:
        return False
    with suppress(OSError, StoreError):
        if sha256_of(known[0]) == known[1]:
            os.link(known[0], file)
            return True
    return False
