"""Signals and deaths while the study runs, and second coordinators."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable

from faults.episode import Episode
from faults.processes import send, workers_of
from faults.steps import running, settle

__all__ = [
    "cancel",
    "kill_all_workers",
    "kill_worker",
    "send_to_run",
    "start_second",
    "stop_coordinator",
    "stop_worker",
    "terminate_worker",
]


_SETTLE = 1.5
"""Seconds for which a process is stopped."""


def kill_worker(episode: Episode) -> None:
    command = running(episode)
    workers = workers_of(command.pid)
    if workers:
        send(episode.rng.choice(workers), signal.SIGKILL)
    settle(episode, command, {0})


def kill_all_workers(episode: Episode) -> None:
    command = running(episode)
    for worker in workers_of(command.pid):
        send(worker, signal.SIGKILL)
    settle(episode, command, {0})


def stop_worker(episode: Episode) -> None:
    command = running(episode)
    workers = workers_of(command.pid)
    if workers:
        worker = episode.rng.choice(workers)
        send(worker, signal.SIGSTOP)
        time.sleep(_SETTLE)
        send(worker, signal.SIGCONT)
    settle(episode, command, {0})


def stop_coordinator(episode: Episode) -> None:
    command = running(episode)
    send(command.pid, signal.SIGSTOP)
    time.sleep(_SETTLE)
    send(command.pid, signal.SIGCONT)
    settle(episode, command, {0})


def send_to_run(number: signal.Signals, allowed: set[int], *, group: bool = False, times: int = 1) -> Callable[[Episode], None]:
    def strike(episode: Episode) -> None:
        command = running(episode)
        for _ in range(times):
            send(command.pid, number, group=group)
            time.sleep(0.3)
        settle(episode, command, allowed)

    return strike


def terminate_worker(episode: Episode) -> None:
    command = running(episode)
    workers = workers_of(command.pid)
    if workers:
        send(episode.rng.choice(workers), signal.SIGTERM)
    settle(episode, command, {0})


def cancel(episode: Episode) -> None:
    command = running(episode)
    begun = episode.run.is_dir()
    asked = episode.start("cancel", episode.run.name)
    # Before the run has a folder there is nothing to cancel (66), and it is not one that is running.
    if episode.end(asked, {0} if begun else {0, 66}) == 0:
        settle(episode, command, {0, 75})
    else:
        settle(episode, command, {0})


def start_second(command_line: tuple[str, ...]) -> Callable[[Episode], None]:
    """Start a second coordinator while the first one runs: one of the two does the work, the other says so."""

    def strike(episode: Episode) -> None:
        first = running(episode)
        if not episode.run.is_dir():
            settle(episode, first, {0})
            return
        second = episode.start(*command_line, episode.study if command_line[0] == "run" else episode.run.name, "-q")
        codes = {episode.end(second, {0, 74, 75}), episode.end(first, {0, 74, 75})}
        if 0 not in codes:
            episode.follow_advice(first.said)

    return strike
