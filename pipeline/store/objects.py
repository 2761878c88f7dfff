"""Object stores: send runs to them, and fetch runs and inputs from them.

A run is computed on a file system: its ledger and its lease rely on what only one has. What is finished may be sent anywhere.
Accounts, regions and endpoints are those of the environment (``AWS_ACCESS_KEY_ID``, ``AWS_REGION``, ``AWS_ENDPOINT_URL``, …), as
obstore reads them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.errors import DataError, StoreError
from pipeline.store.files import store_error

__all__ = ["SCHEMES", "StoredObject", "fetch_object", "is_object", "list_objects", "send_file", "send_files"]

SCHEMES = ("s3", "gs", "az", "abfs")
_OBJECT = re.compile(rf"({'|'.join(SCHEMES)})://[^/]+/.+")


class StoredObject(NamedTuple):
    """An object below a folder of a store: its name there, its size, and the mark that changes with its content."""

    name: str
    size: int
    mark: str


def is_object(place: str) -> bool:
    """Say whether a place is one in an object store, such as ``s3://bucket/runs/first.zip``."""
    return _OBJECT.fullmatch(place) is not None


def send_file(file: Path, url: str) -> None:
    """Send a file to an object.

    Raises
    ------
    StoreError
        P735 obstore is not installed; P736 the object store refuses, or is not there.
    """
    folder, _, name = url.rpartition("/")
    send_files(file.parent, {file.name: name}, folder)


def send_files(root: Path, names: dict[str, str], url: str) -> None:
    """Send files below a folder, each to the object of the name it is given below ``url``; raises as `send_file` does."""
    obstore, failures = _library()
    try:
        store = obstore.store.from_url(url)
        for name, target in names.items():
            with open(root / name, "rb") as file:
                obstore.put(store, target, file)
    except OSError as error:
        raise store_error(error, error.filename or root) from error
    except failures as error:
        raise _refused(url, error) from error


def list_objects(url: str, name: str | None = None) -> list[StoredObject]:
    """Return what is below a folder of a store, sorted by name; with ``name`` that object alone, if it is there.

    Raises as `send_file` does.
    """
    obstore, failures = _library()
    try:
        store = obstore.store.from_url(url)
        if name is None:
            found = [each for page in obstore.list(store) for each in page]
        else:
            found = [{**obstore.head(store, name), "path": name}]
    except FileNotFoundError:
        return []
    except failures as error:
        raise _refused(url, error) from error
    # Few stores have no mark of the content: the time of the last change stands for it then.
    objects = [StoredObject(one["path"], one["size"], str(one["e_tag"] or one["last_modified"])) for one in found]
    return sorted(objects)


def fetch_object(url: str, file: Path, *, most: float, what: str = "the archive", mark: str = "") -> None:
    """Write an object into a file that is not there yet, unless it is larger than ``most`` bytes, or has another mark by now.

    Raises
    ------
    DataError
        P201 there is no such object; P732 it is too large.
    StoreError
        As `send_file` does.
    """
    obstore, failures = _library()
    folder, _, name = url.rpartition("/")
    try:
        found = obstore.get(obstore.store.from_url(folder), name)
        if found.meta["size"] > most:
            raise _too_large(url, what, found.meta["size"])
        if mark and mark != str(found.meta["e_tag"] or found.meta["last_modified"]):
            message = "the object was replaced while this command listed and fetched it"
            raise StoreError.of("P736", message, where=url, help="give the command again")
        with open(file, "xb") as out:
            for part in found.stream():
                out.write(part)
    except FileNotFoundError as error:  # of which obstore's own is a kind
        raise DataError.of("P201", "there is no such object", where=url, help="check the address") from error
    except OSError as error:
        raise store_error(error, error.filename or file) from error
    except failures as error:
        raise _refused(url, error) from error


def _too_large(url: str, what: str, size: int) -> DataError:
    if what == "the archive":
        message, help = f"the archive has {size:,} bytes, more than the run may have", "--max-size says how large a run may be"
        return _data_error("P732", message, url, help)
    help = "check that it is what it should be; if it is, set PIPELINE_MAX_INPUT to a larger size, such as 64GiB"
    return _data_error("P286", f"{what} has {size:,} bytes, more than an input may have", url, help)


def _data_error(code: str, message: str, where: str, help: str) -> DataError:
    error = DataError.of(code, message, where=where, help=help)
    assert isinstance(error, DataError)
    return error


def _library() -> tuple[Any, type[Exception]]:
    try:
        import obstore
        import obstore.store
        from obstore.exceptions import BaseError
    except ImportError as error:
        raise StoreError.of(
            "P735",
            f"object stores need a package that is not installed: {error.name}",
            help="`pip install 'pipeline[objects]'`, or use files: export to one, name inputs that are files",
        ) from error
    return obstore, BaseError


def _refused(url: str, error: Exception) -> StoreError:
    said = " ".join(str(error).split())[:400]
    refused = StoreError.of(
        "P736",
        f"the object store says: {said}",
        where=url,
        help="check the address, the account and its rights; AWS_ENDPOINT_URL names a store that is not Amazon's",
    )
    assert isinstance(refused, StoreError)
    return refused
