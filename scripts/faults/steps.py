"""Steps that most faults have in common: a run that is amid its work, and what is done once it was struck."""

from __future__ import annotations

import signal
import time

from faults.episode import Ended, Episode
from faults.processes import Command

__all__ = ["running", "settle"]


_UNHEARD = {-number for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL)}
"""Exit codes of a process that was ended by a signal before it could listen, or by one that nobody hears."""


def running(episode: Episode) -> Command:
    """Start the run and let it come somewhere: now and then while it still starts, else amid its tasks."""
    command = episode.start_run()
    if episode.rng.random() < 0.2:
        time.sleep(episode.rng.uniform(1.5, 4.0))
    else:
        episode.wait_for_tasks(episode.rng.uniform(0.02, 0.95))
    return command


def settle(episode: Episode, command: Ended, allowed: set[int]) -> None:
    """Wait for a command that was struck, and do what it says unless it ended well.

    A signal that comes while Python still imports ends it by that signal, and a kill does so at any time. Where there is no run
    yet there is nothing to lose and nobody to give advice: the study is started once more.
    """
    code = episode.end(command, allowed, unbegun=allowed | _UNHEARD)
    if code in _UNHEARD and not episode.run.is_dir():
        episode.end(episode.start_run(), {0})
    elif code != 0:
        episode.follow_advice(command.said)
