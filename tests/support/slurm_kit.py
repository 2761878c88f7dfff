"""Start and stop the one-node SLURM of `cluster/slurm-test`, for its fixture and its own tests."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

KIT = Path(__file__).resolve().parents[2] / "cluster" / "slurm-test"


@dataclass(frozen=True)
class Slurm:
    """A running SLURM: where its configuration lies, and the environment in which commands reach it."""

    state: Path
    conf: Path
    environment: dict[str, str]

    def run(self, *command: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        """Run a command that speaks to this SLURM, and fail with what it said."""
        result = subprocess.run(
            command, env=self.environment, cwd=self.state, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout
        )
        assert result.returncode == 0, f"{command}: {result.stderr}"
        return result


def require_slurm() -> None:
    """Skip where SLURM is not installed; fail where it was promised."""
    places = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
    missing = [program for program in ("slurmctld", "slurmd", "munged", "sbatch") if shutil.which(program, path=places) is None]
    if not missing:
        return
    says = f"no SLURM: {', '.join(missing)} not installed (apt-get install --no-install-recommends slurm-wlm munge)"
    if os.environ.get("PIPELINE_REQUIRE_SLURM", "0") not in ("", "0"):
        pytest.fail(f"{says}, and PIPELINE_REQUIRE_SLURM is set")
    pytest.skip(says)


def start_slurm(state: Path, *, cpus: int) -> Slurm:
    """Start the kit's SLURM in this directory."""
    subprocess.run([KIT / "up", state, str(cpus)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True, timeout=90)
    conf = state / "slurm.conf"
    return Slurm(state, conf, os.environ | {"SLURM_CONF": str(conf)})


def stop_slurm(state: Path) -> None:
    """Stop it again, with every job."""
    subprocess.run([KIT / "down", state], stdin=subprocess.DEVNULL, check=True, timeout=90)
