"""A run as one file, to send or keep: pack what a reader of the run needs, and unpack archives from untrusted sources.

An archive is a zip file with one folder, the run's id: report, cubes, study, plan and ledger, in sorted order, with one time
stamp, so that the same run gives the same bytes. Results of the store, leases, logs and how it was launched are left out.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import IO

from pipeline.errors import DataError, RunNotFound, StoreError
from pipeline.store.files import (
    make_directory,
    open_private,
    replacing,
    scratch_directory,
    store_error,
    sweep_temporaries,
    temporary_name,
)
from pipeline.store.lease import refuse_if_held
from pipeline.store.objects import fetch_object, send_file, send_files
from pipeline.store.runs import STORE_NAME, RunDirectory

__all__ = ["LARGEST", "fetch_run", "pack_run", "send_run", "unpack_run"]

FORMAT = {"format": "pipeline run", "schema_version": 1}
HEAD = "archive.json"
FILES = ("ledger.jsonl", "origin.json", "plan.json", "state.json", "study.yaml", "versions.json")
FOLDERS = ("cubes.zarr", "report")

LARGEST = 20e9
"""Bytes that an archive may unpack to, unless more is asked for: cubes of a thousand systems take a few gigabytes."""

MOST_FILES = 1_000_000
RATIO = 200
"""How many times its size an archive may unpack to beyond `FREE`: reports shrink twentyfold, cubes are compressed already."""

FREE = 64 << 20
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the first that zip can say
_UNIX, _MODE = 3, (stat.S_IFREG | 0o600) << 16
_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,199}")
_PART = re.compile(r"[^\x00-\x1f\x7f\\/:]{1,255}")
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)


def pack_run(run: RunDirectory, file: Path) -> int:
    """Write a run as one file, the same bytes for the same run, and return their number.

    Raises
    ------
    RunNotFound
        P503 the run has neither cubes nor a report.
    RunLocked
        P801 a process writes the run.
    StoreError
        A file cannot be read or written.
    """
    _refuse_unfinished(run)
    sweep_temporaries(file.parent, deep=False)  # an export that was killed left gigabytes beside its file
    try:
        with replacing(file) as target, zipfile.ZipFile(target, "w") as archive:
            _add(archive, run.id, HEAD, json.dumps(FORMAT).encode())
            for name in _members(run.root):
                with open(run.root / name, "rb") as source:
                    _add(archive, run.id, name, source)
            refuse_if_held(run.root)  # what began meanwhile may have changed what was read
    except OSError as error:
        raise store_error(error, error.filename or file) from error
    return file.stat().st_size


def send_run(run: RunDirectory, url: str) -> int:
    """Send a run to an object store, packed where the address ends in ``.zip``, else file by file; give how many bytes.

    Raises
    ------
    RunNotFound, RunLocked, StoreError
        As `pack_run` and `pipeline.store.objects.send_files` do.
    """
    if url.endswith(".zip"):
        with scratch_directory("export") as folder:
            size = pack_run(run, folder / "run.zip")
            send_file(folder / "run.zip", url)
        return size
    _refuse_unfinished(run)
    names = _members(run.root)
    send_files(run.root, {name: f"{run.id}/{name}" for name in names}, url.rstrip("/"))
    refuse_if_held(run.root)
    return sum((run.root / name).stat().st_size for name in names)


def fetch_run(url: str, folder: Path, *, most: float = LARGEST) -> RunDirectory:
    """Unpack an archive that is in an object store; raises as `unpack_run` and `pipeline.store.objects.fetch_object` do."""
    with scratch_directory("import") as scratch:
        fetch_object(url, scratch / "run.zip", most=most)
        return unpack_run(scratch / "run.zip", folder, most=most)


def _refuse_unfinished(run: RunDirectory) -> None:
    refuse_if_held(run.root)
    if not run.cubes.is_dir() and not run.report.is_dir():
        help = f"`pipeline resume {run.id}` computes them"
        raise RunNotFound.of("P503", f"{run.id} has neither cubes nor a report yet", where=str(run.root), help=help)


def _add(archive: zipfile.ZipFile, run: str, name: str, content: bytes | IO[bytes]) -> None:
    entry = zipfile.ZipInfo(f"{run}/{name}", _EPOCH)
    # As one system writes it: else the bytes would tell which one did.
    entry.create_system, entry.external_attr, entry.compress_type = _UNIX, _MODE, zipfile.ZIP_DEFLATED
    if isinstance(content, bytes):
        archive.writestr(entry, content)
        return
    entry.file_size = os.fstat(content.fileno()).st_size
    with archive.open(entry, "w") as member:
        shutil.copyfileobj(content, member, 1 << 20)


def _members(root: Path) -> list[str]:
    found = [name for name in FILES if (root / name).is_file()]
    for top in FOLDERS:
        for folder, folders, names in os.walk(root / top):
            folders[:] = [name for name in folders if ".tmp-" not in name]
            regular = [name for name in names if ".tmp-" not in name and stat.S_ISREG(os.lstat(Path(folder, name)).st_mode)]
            found += [Path(folder, name).relative_to(root).as_posix() for name in regular]
    return sorted(found)


def unpack_run(file: Path, folder: Path, *, most: float = LARGEST) -> RunDirectory:
    """Unpack an archive into a folder for such, and return the run.

    Nothing of it can be written elsewhere, nor be anything but a file that a run has. It is unpacked under another name first.

    Raises
    ------
    DataError
        P730 it is not an archive of a run, or damaged; P731 it has what no archive has; P732 it would take too much room.
    StoreError
        P733 the run is there already, or the folder has runs that were computed here, which would rely on what the archive says.
    """
    try:
        with open(file, "rb") as source, zipfile.ZipFile(source) as archive:
            stored = os.fstat(source.fileno()).st_size
            run, entries = _check(file, archive, stored, most)
            target = folder / run
            _refuse_place(folder, target)
            temporary = make_directory(folder) / temporary_name()
            sweep_temporaries(folder, deep=False)
            try:
                for name, entry in entries:
                    path = temporary / name
                    make_directory(path.parent)
                    with archive.open(entry) as member, open(path, "xb", opener=open_private) as out:
                        shutil.copyfileobj(member, out, 1 << 20)
                os.rename(temporary, target)
            finally:
                shutil.rmtree(temporary, ignore_errors=True)
    except _BROKEN as error:
        raise _no_archive(file, str(error)) from error
    except FileNotFoundError as error:
        raise DataError.of("P201", "there is no such file", where=str(file), help="check the path") from error
    except OSError as error:
        raise store_error(error, error.filename or folder) from error
    return RunDirectory(target.resolve())


def _check(file: Path, archive: zipfile.ZipFile, stored: int, most: float) -> tuple[str, list[tuple[str, zipfile.ZipInfo]]]:
    """Return the run's id and its parts; nothing is written before everything has been checked."""
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    size = sum(entry.file_size for entry in entries)
    if size > most or len(entries) > MOST_FILES or (size > FREE and size > RATIO * stored) or _overlaps(entries, stored):
        raise DataError.of(
            "P732",
            f"the archive would unpack to {size:,} bytes in {len(entries):,} files, out of {stored:,} bytes",
            where=str(file),
            help=f"check where it comes from; --max-size says how large a run may be, and no run is packed more than {RATIO} times",
        )
    run = entries[0].filename.partition("/")[0] if entries else ""
    found: dict[str, zipfile.ZipInfo] = {}
    for entry in entries:
        name = _place_of(entry, run)
        if name is None or name in found or not _ID.fullmatch(run):
            raise DataError.of(
                "P731",
                f"the archive has what no archive of a run has: {entry.filename[:200]!r}",
                where=str(file),
                help="nothing was unpacked; ask for an archive that `pipeline export` has written",
            )
        found[name] = entry
    head = found.pop(HEAD, None)
    if head is None or head.file_size > 1000 or json.loads(archive.read(head)) != FORMAT or "plan.json" not in found:
        raise _no_archive(file, "it was not written by `pipeline export`, or by a later version")
    return run, sorted(found.items())


def _overlaps(entries: list[zipfile.ZipInfo], stored: int) -> bool:
    """Say whether members overlap in the file, by which a few kilobytes could unpack to a petabyte."""
    return sum(entry.compress_size for entry in entries) > stored


def _place_of(entry: zipfile.ZipInfo, run: str) -> str | None:
    """Return where a member belongs in the run; None where it has no place there."""
    kind = stat.S_IFMT(entry.external_attr >> 16)
    parts = entry.filename.split("/")
    if kind not in (0, stat.S_IFREG) or entry.flag_bits & 1 or parts[0] != run or len(parts) < 2:
        return None
    inner = parts[1:]
    if not all(_PART.fullmatch(part) and part not in {".", ".."} and ".tmp-" not in part for part in inner):
        return None
    known = inner[0] in FOLDERS if len(inner) > 1 else inner[0] in (*FILES, HEAD)
    return str(PurePosixPath(*inner)) if known else None


def _refuse_place(folder: Path, target: Path) -> None:
    if (folder / STORE_NAME).exists():
        cause = f"{folder} has runs that were computed here: they would take over what the archive says is done"
    elif os.path.lexists(target):
        cause = "the run is there already"
    else:
        return
    raise StoreError.of("P733", cause, where=str(target), help="name another folder with --output")


def _no_archive(file: Path, why: str) -> DataError:
    error = DataError.of(
        "P730",
        f"it is not an archive of a run, or damaged: {why}",
        where=str(file),
        help="`pipeline export RUN FILE` writes one; if it was sent, ask for it again",
    )
    assert isinstance(error, DataError)
    return error
