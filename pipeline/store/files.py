"""Files that are either whole or absent, and readable by their owner alone.

What is made here can be read by nobody else, whatever the umask says: folders have the mode 0700 and files 0600. What exists
keeps its mode, also where it is replaced, so that a run that was shared on purpose stays shared. What hinders a write is an error
that says so (`store_error`).

`scratch_directory` is for what nobody needs tomorrow: it is removed at the end, and what a killed process left is swept later.
"""

from __future__ import annotations

import errno
import functools
import hashlib
import json
import math
import os
import re
import secrets
import shutil
import socket
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from pipeline.errors import Problem, StoreError
from pipeline.store.process import machine_name
from pipeline.store.syncing import sync_directory, sync_file

__all__ = [
    "damaged_file",
    "exchanging",
    "free_space",
    "make_directory",
    "make_tree_private",
    "open_private",
    "other_owner",
    "read_json",
    "replacing",
    "scratch_directory",
    "store_error",
    "sweep_scratch",
    "sweep_temporaries",
    "temporary_name",
    "write_bytes",
    "write_json",
    "write_public",
]

FOLDER_MODE = 0o700
FILE_MODE = 0o600

RECOMPUTE = "`pipeline resume` computes it again"

_FULL = {errno.ENOSPC, errno.EDQUOT}
_REFUSED = {errno.EROFS, errno.EACCES, errno.EPERM}
_TEMPORARY = re.compile(r"\.tmp-([0-9a-f]{8})-(\d+)-[0-9a-f]{16}$")


def store_error(error: OSError, path: Path | str, *, lost: str = RECOMPUTE) -> StoreError:
    """Explain why a path could not be written or read, with what to do about it; ``lost`` is what to do where it is missing."""
    where = str(path)
    if error.errno in _FULL:
        cause = "the quota is used up" if error.errno == errno.EDQUOT else "the disk is full"
        help = "free some space, or name another place with --runs; then `pipeline resume` continues where it stopped"
        return StoreError(Problem("P701", f"{cause}: {free_space(path)}", where, help, "what was written before is kept"))
    if error.errno in _REFUSED:
        if error.errno != errno.EROFS and (owner := other_owner(path)):
            return StoreError(
                Problem("P702", f"no permission: this belongs to {owner}", where, "name a folder of your own with --runs")
            )
        cause = "the file system is read-only" if error.errno == errno.EROFS else "no permission"
        help = "make the directory writable for this user, or name another place with --runs"
        return StoreError(Problem("P702", f"cannot write: {cause}", where, help))
    if isinstance(error, FileNotFoundError):
        return StoreError(Problem("P704", "a stored file is not there", where, lost))
    if isinstance(error, IsADirectoryError):
        help = f"remove the folder `{where}`, then `pipeline resume` continues"
        return StoreError(Problem("P703", "there is a folder where a file should be", where, help))
    return StoreError(Problem("P703", f"input or output failed: {error.strerror or error}", where, "check the file system"))


def other_owner(path: Path | str) -> str | None:
    """Return the name or number of the user whose folder stands in the way; None where it is this one's, or cannot be told."""
    for folder in (Path(path).absolute(), *Path(path).absolute().parents):
        with suppress(OSError):
            owner = folder.stat().st_uid
            return None if owner == os.geteuid() else _name_of(owner)
    return None


def _name_of(user: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return f"user {user}"


def temporary_name() -> str:
    """Return a file name that nobody else uses and that tells `sweep_temporaries` who made it."""
    return f".tmp-{_host()}-{os.getpid()}-{secrets.token_hex(8)}"


@contextmanager
def replacing(path: Path | str, *, private: bool = True) -> Iterator[BinaryIO]:
    """Open a file that appears under its name, whole and on disk, only if the block ends without an error.

    A new file, and a folder that is missing, is for its owner alone, or as the umask says; a file that is replaced keeps its mode.
    """
    try:
        with exchanging(path, private=private) as file:
            yield file
    except OSError as error:
        raise store_error(error, path) from error


@contextmanager
def exchanging(path: Path | str, *, private: bool) -> Iterator[BinaryIO]:
    """Do as `replacing` does, and raise what the system says where it cannot."""
    final = Path(path)
    temporary = final.parent / temporary_name()
    try:
        _make_folders(final.parent, FOLDER_MODE if private else 0o777)
        with open(temporary, "xb", opener=open_private if private else None) as file:
            yield file
            file.flush()
            sync_file(file.fileno(), final)
        _keep_mode(final, temporary)
        os.replace(temporary, final)
        sync_directory(final.parent)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def write_bytes(path: Path | str, data: bytes) -> None:
    """Write bytes atomically."""
    with replacing(path) as file:
        file.write(data)


def write_public(path: Path | str, data: bytes) -> None:
    """Write bytes atomically that other programs of this machine may read, such as one that watches it."""
    with replacing(path) as file:
        file.write(data)
        os.fchmod(file.fileno(), 0o644)


def write_json(path: Path | str, value: Any) -> None:
    """Write a value as indented JSON, keys in their given order, atomically."""
    text = json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False) + "\n"
    # A lone surrogate (an undecodable file name) stays readable as an escape.
    write_bytes(path, text.encode("utf-8", "backslashreplace"))


def read_json(path: Path | str, *, help: str = RECOMPUTE) -> Any:
    """Read a JSON file that the store wrote; StoreError where it is absent or damaged, with this help."""
    try:
        return json.loads(Path(path).read_bytes())
    except OSError as error:
        raise store_error(error, path, lost=help) from error
    except (ValueError, RecursionError) as error:
        raise damaged_file(path, error, help=help) from error


def damaged_file(path: Path | str, error: Exception, *, help: str = RECOMPUTE) -> StoreError:
    """Return the error of a stored file that does not hold what was written."""
    return StoreError(Problem("P705", f"a stored file is damaged: {error}", str(path), help))


def make_directory(path: Path | str) -> Path:
    """Make a directory and its parents where they are missing."""
    try:
        _make_folders(Path(path))
    except (FileNotFoundError, FileExistsError, NotADirectoryError) as error:
        # No file of ours is amiss: there is no place for a folder here.
        cause = f"cannot make the folder: {(error.strerror or str(error)).lower()}"
        raise StoreError(Problem("P702", cause, str(path), "name another place with --runs")) from error
    except OSError as error:
        raise store_error(error, path) from error
    return Path(path)


def open_private(path: Path | str, flags: int) -> int:
    """Open a file that, if it is made by this, nobody else can read: the ``opener`` of `open`."""
    return os.open(path, flags, FILE_MODE)


def make_tree_private(folder: Path | str, *, like: Path | str) -> None:
    """Make a tree private to its owner, or give it the same modes as ``like`` where that exists."""
    mode = FOLDER_MODE
    with suppress(FileNotFoundError):
        mode = stat.S_IMODE(os.lstat(like).st_mode)
    for place, _, names in os.walk(folder):
        os.chmod(place, mode)
        for name in names:
            os.chmod(os.path.join(place, name), mode & 0o666)


def _make_folders(folder: Path, mode: int = FOLDER_MODE) -> None:
    # Not Path.mkdir(parents=True): the mode would be that of the last folder only.
    missing = [folder]
    while not (above := missing[-1].parent).exists() and above != missing[-1]:
        missing.append(above)
    for part in reversed(missing):
        part.mkdir(mode, exist_ok=True)


def _keep_mode(final: Path, temporary: Path) -> None:
    with suppress(FileNotFoundError):
        found = os.lstat(final)
        if stat.S_ISREG(found.st_mode) and stat.S_IMODE(found.st_mode) != stat.S_IMODE(os.lstat(temporary).st_mode):
            os.chmod(temporary, stat.S_IMODE(found.st_mode))


def sweep_temporaries(directory: Path | str, *, prefix: str = "", deep: bool = True, max_age_seconds: float = 86_400.0) -> int:
    """Remove what killed writers left anywhere below a directory and return how many there were.

    With a ``prefix`` only what has a name that starts so; unless ``deep`` only what stands in the directory itself.

    A temporary file or directory goes when its process on this machine is gone, or when it is older than ``max_age_seconds``;
    what a living process writes stays, and so does what this user may not remove. Only names are read, so that a whole store
    may be swept each time a run starts.
    """
    swept = 0
    for folder, folders, names in os.walk(directory):
        for name in [name for name in (*folders, *names) if ".tmp-" in name and name.startswith(prefix)]:
            found = _TEMPORARY.search(name)
            path = Path(folder, name)
            if found is None or not _is_abandoned(path, found[1], int(found[2]), max_age_seconds):
                continue
            if name in folders:
                folders.remove(name)
                shutil.rmtree(path, ignore_errors=True)
            else:
                with suppress(OSError):  # another sweep was here first, or it is another user's
                    path.unlink()
            swept += not path.exists()
        if not deep:
            break
    return swept


def _is_abandoned(path: Path, host: str, pid: int, max_age_seconds: float) -> bool:
    if host == _host():
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        except (PermissionError, OverflowError):  # alive, or a name that somebody made up
            return False
        if pid == os.getpid():
            return False
    try:
        return time.time() - path.stat().st_mtime > max_age_seconds
    except OSError:
        return False


@functools.cache
def _host() -> str:
    # A number tells a process only within one space of numbers: containers that share a host name have their own.
    return hashlib.sha256(f"{socket.gethostname()} {machine_name()}".encode()).hexdigest()[:8]


def free_space(path: Path | str) -> str:
    """Say how many bytes are free where a path is, or would be."""
    for folder in [Path(path), *Path(path).absolute().parents]:
        with suppress(OSError):
            return f"{shutil.disk_usage(folder).free:,} bytes are free"
    return "free space unknown"


@contextmanager
def scratch_directory(kind: str, place: Path | None = None) -> Iterator[Path]:
    """Yield an empty folder for this user alone that is removed afterwards, where the system has such or in another place.

    Its name tells whose it is: the first such folder of each process sweeps those whose process on this machine is gone.
    """
    within = tempfile.gettempdir() if place is None else str(make_directory(place))
    _sweep(within)
    made = tempfile.mkdtemp(prefix=f"pipeline-{kind}-", suffix=temporary_name(), dir=within)
    maker = os.getpid()
    try:
        yield Path(made)
    finally:
        if os.getpid() == maker:  # a process that is forked meanwhile ends as well, and the folder is not its own
            _remove_tree(made)


def _remove_tree(folder: str) -> None:
    """Remove a folder, even where threads of a task that was given up, or a process that is just dying, still write into it."""
    for _ in range(20):
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.exists(folder):
            break
        time.sleep(0.05)


def sweep_scratch(place: str | None = None) -> int:
    """Remove the scratch folders of processes of this machine that are gone, and return how many there were."""
    # Whatever its age: a training may last for days, and what belongs to another machine is none of ours.
    return sweep_temporaries(place or tempfile.gettempdir(), prefix="pipeline-", deep=False, max_age_seconds=math.inf)


_sweep = functools.cache(sweep_scratch)
