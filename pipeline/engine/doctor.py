"""Check a machine or a cluster before a long study; each finding says what to do about it."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

from pipeline.dataclass import dataclass
from pipeline.engine.clusters.placement import offer_of_machine
from pipeline.errors import PipelineError
from pipeline.record.versions import PACKAGES
from pipeline.store.files import scratch_directory, temporary_name, write_bytes
from pipeline.study.profile import ClusterProfile

__all__ = ["Finding", "examine_cluster", "examine_machine"]

NETWORK = ("nfs", "cifs", "smb", "lustre", "gpfs", "beegfs", "ceph", "gluster", "fuse.", "9p", "afs", "panfs")
"""How the names of file systems begin that several machines share."""

LEAST_MEMORY, LEAST_DISK, LITTLE_DISK = 1e9, 100e6, 2e9
MOST_DRIFT = 5.0
"""Seconds that two clocks may be apart: a heartbeat counts for a minute."""

ROUNDS = 10

Verdict = Literal["ok", "look", "fail"]


@dataclass(frozen=True)
class Finding:
    """The result of one check.

    ``verdict`` is ``ok``; ``look``, where a study runs but something is not as it might be; or ``fail``, where it would not run.
    """

    topic: str
    verdict: Verdict
    text: str
    fix: str = ""


def examine_machine(runs: Path) -> Iterator[Finding]:
    """Yield the findings on this machine, for runs in this folder; nothing is left there."""
    yield _packages()
    yield _machine()
    place = _existing(runs)
    yield from _folder(place)
    yield _kernels()
    yield _arithmetic()


def _packages() -> Finding:
    found = {name: importlib.metadata.version(name) for name in PACKAGES}
    text = f"Python {platform.python_version()}, " + ", ".join(f"{name} {version}" for name, version in found.items())
    if found["dask"] != found["distributed"]:
        return Finding("packages", "fail", text, "install dask and distributed in one version")
    return Finding("packages", "ok", text)


def _machine() -> Finding:
    offer = offer_of_machine(1)
    cores, memory = offer["cores"], offer["memory"]
    text = f"{cores:.0f} cores, {memory / 1e9:.1f} GB of memory"
    if memory < LEAST_MEMORY * cores:
        return Finding("machine", "look", text, "use fewer workers than cores (--workers): one takes about a gigabyte")
    return Finding("machine", "ok", text)


def _existing(runs: Path) -> Path:
    place = runs.resolve()
    while not place.exists() and place != place.parent:  # a file is no place for runs, nor is anything below it
        place = place.parent
    return place


def _folder(place: Path) -> Iterator[Finding]:
    """Check the folder of runs: its file system, free space, whether the operations of runs work there, and its clock."""
    kind = file_system_of(place)
    shared = kind.startswith(NETWORK)
    where = f"{place} on {kind or 'a file system of unknown kind'}" + (", shared by machines" if shared else "")
    free = shutil.disk_usage(place).free
    if free < LITTLE_DISK:
        few: Verdict = "fail" if free < LEAST_DISK else "look"
        yield Finding("disk", few, f"{free / 1e9:.1f} GB are free at {place}", "make room (`pipeline gc`), or name another --runs")
    else:
        yield Finding("disk", "ok", f"{free / 1e9:.1f} GB are free at {place}")
    try:
        with scratch_directory("doctor", place) as folder:
            write_bytes(folder / "written", b"x")  # under another name, synced, renamed: as every file of a run
            begun = time.time()
            linked = _links(folder / "written")  # as a lease is taken
            (folder / "stamp").touch()
            drift = (folder / "stamp").stat().st_mtime - begun
    except PipelineError as error:
        yield Finding("runs", "fail", f"{where}: {error.problems[0].message}", error.problems[0].help or "")
        return
    except OSError as error:
        yield Finding("runs", "fail", f"{where}: {error.strerror or error}", "name another place with --runs")
        return
    if not linked:
        cause = f"{where}: a file cannot have two names there, by which one process alone gets a run"
        yield Finding("runs", "fail", cause, "name another place with --runs")
        return
    yield Finding("runs", "ok", where)
    if abs(drift) > MOST_DRIFT:
        yield Finding(
            "clock", "look", f"files at {place} are stamped {drift:+.0f} s from this machine's clock", "set the clocks (NTP)"
        )
    else:
        yield Finding("clock", "ok", f"{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime())} UTC, and that of files agrees")


def _links(file: Path) -> bool:
    try:
        os.link(file, file.with_name("linked"))
    except OSError:
        return False
    return True


def file_system_of(place: Path, mounts: Path = Path("/proc/self/mounts")) -> str:
    """Return the kind of file system that a folder is on, as the system names it; nothing where it does not tell."""
    try:
        lines = [line.split(" ") for line in mounts.read_text(encoding="utf-8", errors="replace").splitlines()]
    except OSError:
        return ""
    best, kind = -1, ""
    for fields in lines:
        if len(fields) < 3:
            continue
        point = fields[1].encode().decode("unicode_escape")  # blanks are written \040
        if (place == Path(point) or Path(point) in place.parents) and len(point) >= best:
            best, kind = len(point), fields[2]
    return kind


def _kernels() -> Finding:
    from pipeline.resampling.philox import rounds

    folder = getattr(rounds, "folder", None)
    if folder is None:
        fix = "set NUMBA_CACHE_DIR to a folder that you may write and nobody else"
        return Finding("kernels", "look", "every process compiles for itself, for up to a minute: no place is private", fix)
    return Finding("kernels", "ok", f"kept in {folder}, which nobody else may write")


def _arithmetic() -> Finding:
    import numpy.linalg  # noqa: F401 - loads the library that is asked about
    from threadpoolctl import threadpool_info

    from pipeline.resampling.products.byte_product import forms

    blas = [each for each in threadpool_info() if each.get("user_api") == "blas"]
    names = ", ".join(sorted({f"{each.get('internal_api')} {each.get('version')} ({each.get('architecture')})" for each in blas}))
    usable = forms()
    bytes_ = f"products of bytes by {usable[0]}" if usable else "no instruction for products of bytes: single precision, same bits"
    return Finding("arithmetic", "ok", f"{names or 'a BLAS that does not name itself'}, one thread a task; {bytes_}")


def look_from_worker(token: str) -> dict[str, Any]:
    """Return a worker's view: its versions, its clock, and whether the file that was written here is there."""
    import socket

    path = Path(token)
    seen = path.read_text() if path.is_file() else ""
    try:
        write_bytes(path.with_name("from-worker"), b"x")
        refused = ""
    except PipelineError as error:
        refused = error.problems[0].message
    versions = {name: importlib.metadata.version(name) for name in (*PACKAGES, "pipeline")}
    return {
        "host": socket.gethostname(),
        "python": platform.python_version(),
        "versions": versions,
        "time": time.time(),
        "seen": seen,
        "refused": refused,
        "kernels": _kernels().verdict,
    }


def examine_cluster(profile: ClusterProfile, runs: Path) -> Iterator[Finding]:
    """Start the cluster of a profile with one worker, ask that worker what it sees, and end it again."""
    from pipeline.engine.dask import open_executor

    place = _existing(runs)
    begun = time.monotonic()
    try:
        with scratch_directory("doctor", place) as folder:
            token = folder / "token"
            token.write_text(temporary_name())
            with open_executor(profile, folder, prefix="doctor", workers=_one(profile), logs=folder / "logs") as executor:
                encrypted = executor.is_encrypted
                seen = executor.ask(look_from_worker, str(token))
                started = time.monotonic() - begun
                trip = _round_trip(executor.ask)
            expected = token.read_text()
    except PipelineError as error:
        yield from (Finding("cluster", "fail", problem.message, problem.help or "") for problem in error.problems)
        return
    yield Finding("cluster", "ok", f"{profile.name}: the first worker answered after {started:.1f} s, from {seen['host']}")
    yield _encryption(profile, encrypted=encrypted)
    yield _versions(seen)
    if seen["seen"] != expected or seen["refused"]:
        cause = seen["refused"] or f"it does not see {place} as this machine does"
        yield Finding(
            "shared folder", "fail", f"{seen['host']}: {cause}", "name a folder with --runs that workers have at this path too"
        )
    else:
        yield Finding("shared folder", "ok", f"{seen['host']} reads and writes {place}")
    if seen["kernels"] != "ok":
        fix = "set NUMBA_CACHE_DIR in `environment:` of the profile to a private folder of the workers"
        yield Finding("kernels there", "look", "every worker compiles for itself, for up to a minute", fix)
    slow = trip > 0.1
    fix = "blocks of a second or more make up for it (--block-cells)" if slow else ""
    yield Finding("round trip", "look" if slow else "ok", f"{trip * 1e3:.1f} ms for a task that does nothing", fix)


def _one(profile: ClusterProfile) -> int | None:
    return None if profile.cluster is None or profile.adapt else 1


def _round_trip(ask: Callable[..., Any]) -> float:
    times = []
    for number in range(ROUNDS):
        begun = time.perf_counter()
        ask(abs, number)
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def _encryption(profile: ClusterProfile, *, encrypted: bool) -> Finding:
    if encrypted:
        return Finding("encryption", "ok", "TLS, with certificates that both sides must show")
    fix = "start it with TLS and name it as tls://…; see docs/clusters.md, Who can reach a run"
    return Finding("encryption", "look", f"{profile.name} is not encrypted: whoever reaches its port can run code as you", fix)


def _versions(seen: dict[str, Any]) -> Finding:
    here = {name: importlib.metadata.version(name) for name in seen["versions"]} | {"Python": platform.python_version()}
    there = seen["versions"] | {"Python": seen["python"]}
    others = [f"{name} {there[name]} (here {here[name]})" for name in sorted(here) if here[name] != there[name]]
    if others:
        return Finding("versions", "fail", f"the worker has {', '.join(others)}", "install the same versions on every worker")
    return Finding("versions", "ok", "the worker has the versions of this machine")
