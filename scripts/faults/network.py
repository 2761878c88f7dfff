"""A network that is cut for a minute between a coordinator and its workers, each in a network namespace of its own."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from faults.episode import Episode
from faults.processes import command_line, end, living
from faults.steps import settle

__all__ = ["cut_network", "has_namespaces"]

CUT_SECONDS = 60.0

_HERE, _THERE = "192.0.2.1", "192.0.2.2"
"""Addresses that are reserved for documentation: nothing else has them."""


def has_namespaces() -> bool:
    """Say whether network namespaces can be made here."""
    return os.geteuid() == 0 and shutil.which("ip") is not None


def cut_network(episode: Episode) -> None:
    """Cut the network between the scheduler and its workers amid a run: whoever keeps workers alive starts them again."""
    place = f"chaos-{os.getpid()}"
    with _namespaces(place) as (near, far):
        shared = episode.folder / "scheduler.json"
        inside = ["ip", "netns", "exec"]
        file = shlex.quote(str(shared))
        scheduler = [*inside, near, sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", _HERE, "--port", "0"]
        # What systemd or a batch system does: a worker that has lost its scheduler ends, and another one is started.
        one = f"{shlex.quote(sys.executable)} -m distributed.cli.dask_worker --scheduler-file {file} --nthreads 1"
        worker = f"while :; do {one}; done"
        commands = [
            [*scheduler, "--no-dashboard", "--scheduler-file", str(shared)],
            [*inside, far, "sh", "-c", worker],
            [*inside, far, "sh", "-c", worker],
        ]
        log = open(episode.folder / "dask.txt", "wb")  # noqa: SIM115  # it is for processes that outlive this line
        started = [
            subprocess.Popen(
                command, env=episode.environment, cwd=episode.temporary, stdout=log, stderr=log, start_new_session=True
            )
            for command in commands
        ]
        log.close()
        try:
            profile = episode.folder / "profile.yaml"
            profile.write_text(json.dumps({"name": "cut", "scheduler_file": str(shared), "start_seconds": 120}), encoding="utf-8")
            inner = ["submit", episode.study, "--cluster", profile, "--block-cells", 1, "--wait", "-q"]
            command = episode.start(*inner, within=[*inside, near])
            episode.wait_for_tasks(episode.rng.uniform(0.05, 0.6))
            _ip("-n", near, "link", "set", "near", "down")
            time.sleep(CUT_SECONDS)
            _ip("-n", near, "link", "set", "near", "up")
            settle(episode, command, {0})
        finally:
            for process in started:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            # Workers have groups of their own.
            for left in living(episode.mark):
                if re.search("distributed|spawn", command_line(left)):
                    end(left)
            for path in Path(episode.temporary).glob("dask-*"):
                shutil.rmtree(path, ignore_errors=True)


@contextmanager
def _namespaces(place: str) -> Iterator[tuple[str, str]]:
    """Yield the names of two network namespaces with a cable between them."""
    near, far = f"{place}-near", f"{place}-far"
    try:
        for name in (near, far):
            _ip("netns", "add", name)
            _ip("-n", name, "link", "set", "lo", "up")
        _ip("-n", near, "link", "add", "near", "type", "veth", "peer", "name", "far", "netns", far)
        for name, device, address in ((near, "near", _HERE), (far, "far", _THERE)):
            _ip("-n", name, "address", "add", f"{address}/24", "dev", device)
            _ip("-n", name, "link", "set", device, "up")
        yield near, far
    finally:
        for name in (near, far):
            subprocess.run(["ip", "netns", "delete", name], check=False, stderr=subprocess.DEVNULL)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)
