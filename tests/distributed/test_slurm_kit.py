"""The SLURM kit: jobs run, nothing listens to the outside, nothing stays behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from support.slurm_kit import KIT, require_slurm, start_slurm, stop_slurm

DAEMONS = ("slurmctld", "slurmd", "munged")

pytestmark = pytest.mark.slurm


def pids(state: Path) -> dict[str, int]:
    return {name: int((state / f"{name}.pid").read_text()) for name in DAEMONS}


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture
def own_state():
    """A directory with a space in its name, whose SLURM is stopped whatever happens.

    Its path is short, as paths of sockets must be; those of ``tmp_path`` may be too long.
    """
    require_slurm()
    with tempfile.TemporaryDirectory(prefix="pipeline-slurm-", ignore_cleanup_errors=True) as name:
        state = Path(name) / "of one's own"
        try:
            yield state
        finally:
            stop_slurm(state)


def test_a_batch_job_runs_on_this_host(slurm, tmp_path):
    out = tmp_path / "out"
    slurm.run("sbatch", "--wait", f"--output={out}", "--wrap", "hostname")
    assert out.read_text().strip() == socket.gethostname().split(".")[0]


def test_a_job_that_fails_is_told_by_the_exit_code_of_sbatch(slurm):
    with pytest.raises(AssertionError, match="sbatch"):
        slurm.run("sbatch", "--wait", "--output=/dev/null", "--wrap", "exit 3")


def test_the_daemons_listen_on_the_loopback_interface_only(slurm):
    ports = [
        line.partition("=")[2] for line in slurm.conf.read_text().splitlines() if line.startswith(("SlurmctldPort", "SlurmdPort"))
    ]
    listening = {}  # port → addresses in the kernel's hexadecimal
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        local, state = line.split()[1], line.split()[3]
        if state == "0A":
            listening.setdefault(str(int(local[9:], 16)), set()).add(local[:8])
    assert len(ports) == 2
    assert [listening.get(port) for port in ports] == [{"0100007F"}, {"0100007F"}]


def test_up_twice_starts_nothing_anew(slurm):
    before = pids(slurm.state)
    again = subprocess.run(
        [KIT / "up", slurm.state], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, timeout=60
    )
    assert again.stdout == f"export SLURM_CONF={slurm.conf}\n"
    assert pids(slurm.state) == before


def test_down_ends_the_jobs_and_the_daemons_it_started_and_no_others(slurm, own_state):
    other = start_slurm(own_state, cpus=1)
    mark = own_state / "job.pid"
    other.run("sbatch", "--output=/dev/null", "--wrap", f'echo $$ > "{mark}"; exec sleep 600')
    deadline = time.monotonic() + 30
    while not (mark.exists() and mark.read_text().strip()):
        assert time.monotonic() < deadline, "the job does not start"
        time.sleep(0.1)
    ended = [*pids(own_state).values(), int(mark.read_text())]
    stop_slurm(own_state)
    assert [pid for pid in ended if is_alive(pid)] == []
    assert all(is_alive(pid) for pid in pids(slurm.state).values())
    slurm.run("sinfo")


def test_a_stale_pid_file_does_not_end_a_stranger(own_state):
    own_state.mkdir()
    with subprocess.Popen(["sleep", "600"]) as stranger:
        (own_state / "slurmctld.pid").write_text(f"{stranger.pid}\n")
        stop_slurm(own_state)
        alive = stranger.poll() is None
        stranger.kill()
    assert alive


def test_up_mends_what_a_kill_left_behind(own_state):
    start_slurm(own_state, cpus=1)
    os.kill(pids(own_state)["slurmctld"], signal.SIGKILL)
    mended = start_slurm(own_state, cpus=1)
    mended.run("sbatch", "--wait", "--output=/dev/null", "--wrap", "true")
