"""A real one-node SLURM for the tests that ask for it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.slurm_kit import Slurm, require_slurm, start_slurm, stop_slurm


@pytest.fixture(scope="session")
def slurm() -> Iterator[Slurm]:
    """A SLURM of four CPUs for the whole session; ``monkeypatch.setenv("SLURM_CONF", str(slurm.conf))`` to use it in process."""
    require_slurm()
    with tempfile.TemporaryDirectory(prefix="pipeline-slurm-", ignore_cleanup_errors=True) as name:
        state = Path(name)
        try:
            yield start_slurm(state, cpus=4)
        finally:
            stop_slurm(state)
