"""Object stores: where a run is sent to, and what is fetched from there.

A run is computed on a file system: its ledger and its lease rely on what only one has. What is finished may be sent anywhere.
Accounts, regions and endpoints are those of the environment (``AWS_ACCESS_KEY_ID``, ``AWS_REGION``, ``AWS_ENDPOINT_URL``, …), as
obstore reads them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pipeline.errors import DataError, StoreError
from pipeline.store.files import store_error

__all__ = ["SCHEMES", "fetch_object", "is_object", "send_file", "send_files"]

SCHEMES = ("s3", "gs", "az", "abfs")
_OBJECT = re.compile(rf"({'|'.join(SCHEMES)})://[^/]+/.+")


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


def fetch_object(url: str, file: Path, *, most: float) -> None:
    """Write an object into a file that is not there yet, unless it is larger than ``most`` bytes.

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
            message = f"the archive has {found.meta['size']:,} bytes, more than the run may have"
            raise DataError.of("P732", message, where=url, help="--max-size says how large a run may be")
        with open(file, "xb") as out:
            for part in found.stream():
                out.write(part)
    except FileNotFoundError as error:  # of which obstore's own is a kind
        raise DataError.of("P201", "there is no such object", where=url, help="check the address") from error
    except OSError as error:
        raise store_error(error, error.filename or file) from error
    except failures as error:
        raise _refused(url, error) from error


def _library() -> tuple[Any, type[Exception]]:
    try:
        import obstore
        import obstore.store
        from obstore.exceptions import BaseError
    except ImportError as error:
        raise StoreError.of(
            "P735",
            f"object stores need a package that is not installed: {error.name}",
            help="`pip install 'pipeline[objects]'`, or export to a file and send that",
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
