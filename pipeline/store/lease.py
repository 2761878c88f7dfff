"""One writer for each run: acquire, keep alive, take over and release the right to write a run directory.

Leases are files ``lease.1``, ``lease.2``, …; the highest number is the lease in force and its number is the *fence*. A
lease is made complete under another name and linked, which fails where the name exists: of two that reach for the same
number one gets it, on network file systems too. A free or stale lease is never changed or removed by others; it is
outnumbered. So there is no moment at which a crash could leave nobody, or two, in charge. Where a person removes a lease its
holder finds that before it writes again, and the ledger's fences keep the number from being given twice. A lease that is
damaged names no process: its heartbeat alone decides.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path

from pipeline.dataclass import dataclass
from pipeline.errors import Problem, RunLocked, StoreError
from pipeline.store.files import FILE_MODE, make_directory, store_error, temporary_name, write_json
from pipeline.store.process import Process, process_is_gone, this_process
from pipeline.store.syncing import sync_file

__all__ = ["Holder", "Lease", "hold_lease", "read_holder", "refuse_if_held"]

HEARTBEAT_SECONDS = 5.0
STALE_SECONDS = 60.0


@dataclass(frozen=True)
class Holder:
    """The process that holds, or last held, a lease.

    ``in_force`` is False once it was given back, once its process is gone, or once its heart has not beaten for a minute.
    ``process`` is None where the lease is damaged and cannot say whose it is.
    """

    fence: int
    process: Process | None
    since: str
    released: bool
    in_force: bool = True


class Lease:
    """The right to write a run directory, while the ``with`` block of `hold_lease` lasts."""

    def __init__(self, run_dir: Path, holder: Holder, handle: int) -> None:
        self.run_dir, self.holder = run_dir, holder
        self.fence = holder.fence
        self._handle = handle

    def check(self) -> None:
        """Raise `RunLocked` where this lease was taken over or removed; ask before a receipt is written."""
        if max(_numbers(self.run_dir), default=0) > self.fence:
            other = read_holder(self.run_dir)
            who = _name(other) if other else "another process"
            what, help = f"{who} has taken it over", "nothing is lost; follow the other process with `pipeline status`"
        elif not self.is_in_place():
            what = f"its lease, {_lease_path(self.run_dir, self.fence).name}, was removed or replaced"
            help = f"nothing is lost; `pipeline resume {self.run_dir.name}` continues it"
        else:
            return
        raise RunLocked(Problem("P802", f"this process no longer holds the run: {what}", str(self.run_dir), help))

    def is_in_place(self) -> bool:
        """Say whether the file of this lease is the one that was made for it."""
        try:
            made, found = os.fstat(self._handle), os.stat(_lease_path(self.run_dir, self.fence))
        except OSError as error:
            if error.errno in {errno.ENOENT, errno.ESTALE}:
                return False
            raise store_error(error, self.run_dir) from error
        return (made.st_dev, made.st_ino) == (found.st_dev, found.st_ino)


@contextmanager
def hold_lease(
    run_dir: Path | str,
    *,
    above: int = 0,
    heartbeat_seconds: float = HEARTBEAT_SECONDS,
    stale_seconds: float = STALE_SECONDS,
) -> Iterator[Lease]:
    """Hold the right to write a run directory, or raise `RunLocked` naming who holds it.

    A lease is stale, and taken over, when its process on this machine is gone (told apart from a later process with the
    same number by its starting time), or, on another machine or where it is damaged, when its heart has not beaten for
    ``stale_seconds``. Its number is above that of every lease before, and ``above`` what else is known to have been given.
    """
    folder = make_directory(run_dir)
    try:
        lease, handle = _acquire(folder, above, stale_seconds)
    except OSError as error:
        raise store_error(error, folder) from error
    stop = threading.Event()
    beat = threading.Thread(target=_beat, args=(handle, stop, heartbeat_seconds), name="lease", daemon=True)
    beat.start()
    try:
        yield lease
    finally:
        stop.set()
        beat.join()
        _release(lease)
        os.close(handle)


def read_holder(run_dir: Path | str, *, stale_seconds: float = STALE_SECONDS) -> Holder | None:
    """Return the process that holds, or last held, the lease of a run; None where there was none."""
    folder = Path(run_dir)
    while numbers := _numbers(folder):
        path = _lease_path(folder, max(numbers))
        try:
            # The name itself: what it may point to is no lease. Nor is a pipe, at which reading would wait for ever.
            entry = path.lstat()
            now, beat = _file_system_time(folder), entry.st_mtime
            process, since, released = _read(path) if stat.S_ISREG(entry.st_mode) else (None, "", False)
        except FileNotFoundError:
            continue  # outnumbered and swept between the two looks
        except OSError as error:
            raise store_error(error, path) from error
        gone = None if process is None else process_is_gone(process)
        # Where the process cannot be seen from here only its heartbeat tells.
        dead = now - beat > stale_seconds if gone is None else gone
        return Holder(max(numbers), process, since, released, in_force=not released and not dead)
    return None


def _read(path: Path) -> tuple[Process | None, str, bool]:
    """Return the holder of a lease, since when, and whether it was released; no process where the file is damaged."""
    try:
        content = json.loads(path.read_bytes())
        process = Process(**content["process"])
        since, released = content["since"], content["released"]
    except FileNotFoundError:
        raise
    except (OSError, ValueError, TypeError, KeyError):
        return None, "", False
    texts = (process.host, process.machine, process.started, since)
    if not (all(isinstance(text, str) for text in texts) and type(process.pid) is int and isinstance(released, bool)):
        return None, "", False
    return process, since, released


def refuse_if_held(run_dir: Path | str) -> None:
    """Raise `RunLocked` where a process holds the lease of a run now; it says nothing of the next moment."""
    holder = read_holder(run_dir)
    if holder is not None and holder.in_force:
        raise _locked(Path(run_dir), holder)


def _acquire(folder: Path, above: int, stale_seconds: float) -> tuple[Lease, int]:
    while True:
        last = read_holder(folder, stale_seconds=stale_seconds)
        if last is not None and last.in_force:
            raise _locked(folder, last)
        since = datetime.now(UTC).isoformat(timespec="seconds")
        holder = Holder(max(last.fence if last else 0, above) + 1, this_process(), since, released=False)
        handle = _link(folder, holder)
        if handle is None:
            continue
        numbers = _numbers(folder)
        if max(numbers) > holder.fence:
            # Others came and went since the look above, and this number was free again.
            os.close(handle)
            _lease_path(folder, holder.fence).unlink(missing_ok=True)
            continue
        for number in numbers:
            if number < holder.fence:
                with suppress(OSError):  # gone already, or nothing that can be removed: it is outnumbered all the same
                    _lease_path(folder, number).unlink()
        return Lease(folder, holder, handle), handle


def _link(folder: Path, holder: Holder) -> int | None:
    temporary = folder / temporary_name()
    handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, FILE_MODE)
    try:
        os.write(handle, json.dumps(_content(holder)).encode())
        sync_file(handle, temporary)
        os.link(temporary, _lease_path(folder, holder.fence))
    except FileExistsError:
        os.close(handle)
        return None
    except BaseException:
        os.close(handle)
        raise
    finally:
        temporary.unlink(missing_ok=True)
    return handle


def _release(lease: Lease) -> None:
    # The file stays, marked: its number must never be given twice. A full disk leaves a lease that its dead process frees.
    with suppress(StoreError):
        if lease.is_in_place():  # else it was outnumbered and swept, or removed by somebody, alone or with the whole run
            write_json(_lease_path(lease.run_dir, lease.fence), _content(replace(lease.holder, released=True)))


def _beat(handle: int, stop: threading.Event, seconds: float) -> None:
    while not stop.wait(seconds):
        with suppress(OSError):  # the next beat may succeed; a lease that is lost is told by check()
            os.utime(handle)


def _content(holder: Holder) -> dict[str, object]:
    assert holder.process is not None
    return {"fence": holder.fence, "process": asdict(holder.process), "since": holder.since, "released": holder.released}


def _lease_path(folder: Path, number: int) -> Path:
    return folder / f"lease.{number}"


def _numbers(folder: Path) -> list[int]:
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    return [int(found[1]) for name in names if (found := re.fullmatch(r"lease\.([1-9][0-9]{0,17})", name))]


def _file_system_time(folder: Path) -> float:
    """Return the time as the file system stamps it: clocks of machines differ, and the heartbeat carries the server's."""
    probe = folder / temporary_name()
    try:
        probe.touch(FILE_MODE)
        return probe.stat().st_mtime
    except OSError:
        return datetime.now(UTC).timestamp()  # a reader without the right to write
    finally:
        with suppress(OSError):
            probe.unlink()


def _name(holder: Holder) -> str:
    process = holder.process
    return f"process {process.pid} on {process.host}" if process else "a process that its damaged lease does not name"


def _locked(folder: Path, holder: Holder) -> RunLocked:
    if holder.process is None:
        message = (
            f"another process may be writing this run: its lease is damaged, and was touched in the last {STALE_SECONDS:.0f} s"
        )
        help = f"wait that long: if no process writes the run, `pipeline resume {folder.name}` then takes it over"
        return RunLocked(Problem("P801", message, str(_lease_path(folder, holder.fence)), help))
    return RunLocked(
        Problem(
            "P801",
            f"this run is being written by {_name(holder)} since {holder.since}",
            str(folder),
            f"follow it with `pipeline status {folder.name}`, stop it with `pipeline cancel {folder.name}`",
        )
    )
