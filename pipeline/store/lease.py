"""One writer a run. This module grants, keeps alive, takes over and gives back the right to write a run directory.

Leases are files ``lease.1``, ``lease.2``, …; the highest number is the lease in force and its number is the *fence*. A
lease is made complete under another name and linked, which fails where the name exists: of two that reach for the same
number one gets it, on network file systems too. A free or stale lease is never changed or removed by others; it is
outnumbered. So there is no moment at which a crash could leave nobody, or two, in charge.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from pipeline.errors import Problem, RunLocked, StoreError
from pipeline.store.files import make_directory, store_error, temporary_name, write_json
from pipeline.store.process import Process, process_is_gone, this_process

__all__ = ["Holder", "Lease", "hold_lease", "read_holder", "refuse_if_held"]

HEARTBEAT_SECONDS = 5.0
STALE_SECONDS = 60.0


@dataclass(frozen=True)
class Holder:
    """Who has, or last had, a lease.

    ``in_force`` is False once it was given back, once its process is gone, or once its heart has not beaten for a minute.
    """

    fence: int
    process: Process
    since: str
    released: bool
    in_force: bool = True


class Lease:
    """The right to write a run directory, while the ``with`` block of `hold_lease` lasts."""

    def __init__(self, run_dir: Path, holder: Holder) -> None:
        self.run_dir, self.holder = run_dir, holder
        self.fence = holder.fence

    def check(self) -> None:
        """Raise `RunLocked` where another process has taken this lease over; ask before a receipt is written."""
        highest = max(_numbers(self.run_dir), default=0)
        if highest > self.fence:
            other = read_holder(self.run_dir)
            who = f"process {other.process.pid} on {other.process.host}" if other else "another process"
            raise RunLocked(
                Problem(
                    "P802",
                    f"this process no longer holds the run: {who} has taken it over",
                    str(self.run_dir),
                    "nothing is lost; follow the other process with `pipeline status`",
                )
            )


@contextmanager
def hold_lease(
    run_dir: Path | str, *, heartbeat_seconds: float = HEARTBEAT_SECONDS, stale_seconds: float = STALE_SECONDS
) -> Iterator[Lease]:
    """Hold the right to write a run directory, or raise `RunLocked` naming who holds it.

    A lease is stale, and taken over, when its process on this machine is gone (told apart from a later process with the
    same number by its starting time), or, on another machine, when its heart has not beaten for ``stale_seconds``.
    """
    folder = make_directory(run_dir)
    try:
        lease, handle = _acquire(folder, stale_seconds)
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
        os.close(handle)
        _release(lease)


def read_holder(run_dir: Path | str, *, stale_seconds: float = STALE_SECONDS) -> Holder | None:
    """Tell who holds, or last held, the lease of a run; None where nobody ever did."""
    folder = Path(run_dir)
    while numbers := _numbers(folder):
        path = folder / f"lease.{max(numbers)}"
        try:
            content = json.loads(path.read_bytes())
            beat = path.stat().st_mtime
            now = _file_system_time(folder)
            process = Process(**content["process"])
            holder = Holder(content["fence"], process, content["since"], content["released"])
        except FileNotFoundError:
            continue  # outnumbered and swept between the two looks
        except (ValueError, TypeError, KeyError) as error:
            help = "remove this file if no process writes the run"
            raise StoreError(Problem("P705", "the lease of the run is damaged", str(path), help)) from error
        gone = process_is_gone(process)
        # Where the process cannot be seen from here only its heartbeat tells.
        dead = now - beat > stale_seconds if gone is None else gone
        return replace(holder, in_force=not holder.released and not dead)
    return None


def refuse_if_held(run_dir: Path | str) -> None:
    """Raise `RunLocked` where a process holds the lease of a run now; it says nothing of the next moment."""
    holder = read_holder(run_dir)
    if holder is not None and holder.in_force:
        raise _locked(Path(run_dir), holder)


def _acquire(folder: Path, stale_seconds: float) -> tuple[Lease, int]:
    while True:
        last = read_holder(folder, stale_seconds=stale_seconds)
        if last is not None and last.in_force:
            raise _locked(folder, last)
        since = datetime.now(UTC).isoformat(timespec="seconds")
        holder = Holder(last.fence + 1 if last else 1, this_process(), since, released=False)
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
                _lease_path(folder, number).unlink(missing_ok=True)
        return Lease(folder, holder), handle


def _link(folder: Path, holder: Holder) -> int | None:
    temporary = folder / temporary_name()
    handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        os.write(handle, json.dumps(_content(holder)).encode())
        os.fsync(handle)
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
    path = _lease_path(lease.run_dir, lease.fence)
    if path.exists():  # else it was outnumbered and swept, or the whole run was removed
        with suppress(StoreError):
            write_json(path, _content(replace(lease.holder, released=True)))


def _beat(handle: int, stop: threading.Event, seconds: float) -> None:
    while not stop.wait(seconds):
        with suppress(OSError):  # the next beat may succeed; a lease that is lost is told by check()
            os.utime(handle)


def _content(holder: Holder) -> dict[str, object]:
    return {"fence": holder.fence, "process": asdict(holder.process), "since": holder.since, "released": holder.released}


def _lease_path(folder: Path, number: int) -> Path:
    return folder / f"lease.{number}"


def _numbers(folder: Path) -> list[int]:
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    return [int(found[1]) for name in names if (found := re.fullmatch(r"lease\.(\d+)", name))]


def _file_system_time(folder: Path) -> float:
    """Give the time as the file system stamps it: clocks of machines differ, and the heartbeat carries the server's."""
    probe = folder / temporary_name()
    try:
        probe.touch()
        return probe.stat().st_mtime
    except OSError:
        return datetime.now(UTC).timestamp()  # a reader without the right to write
    finally:
        with suppress(OSError):
            probe.unlink()


def _locked(folder: Path, holder: Holder) -> RunLocked:
    process = holder.process
    return RunLocked(
        Problem(
            "P801",
            f"this run is being written by process {process.pid} on {process.host} since {holder.since}",
            str(folder),
            f"follow it with `pipeline status {folder.name}`, stop it with `pipeline cancel {folder.name}`",
        )
    )
