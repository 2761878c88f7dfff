"""Commands that stand in for a batch system: jobs are processes of this machine, each in a group of its own."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

QSUB = """#!/bin/sh
# The script is the last argument; its id is the process that leads its group.
for script; do :; done
copy="$STAND_IN/job.$$"
cp "$script" "$copy"
setsid sh -c 'echo $$ > "$1.pid"; exec bash "$1"' sh "$copy" > "$copy.out" 2> "$copy.err" < /dev/null &
while [ ! -s "$copy.pid" ]; do sleep 0.05; done
echo "$(cat "$copy.pid").stand-in"
"""

QDEL = """#!/bin/sh
for job; do kill -TERM -- "-${job%%.*}" 2> /dev/null; done
exit 0
"""


def install_pbs(folder: Path) -> dict[str, str]:
    """Write ``qsub`` and ``qdel`` into a folder, and return the environment in which they are found."""
    tools, state = folder / "bin", folder / "jobs"
    for place in (tools, state):
        place.mkdir(parents=True)
    for name, text in (("qsub", QSUB), ("qdel", QDEL)):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    return {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "STAND_IN": str(state)}


def jobs_of(folder: Path) -> list[int]:
    """Return the groups of processes that were started as jobs."""
    return [int(path.read_text()) for path in (folder / "jobs").glob("*.pid")]


def end_jobs(folder: Path) -> None:
    """Kill what is left of the jobs."""
    for group in jobs_of(folder):
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
