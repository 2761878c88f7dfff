"""Where a study runs: the shape of a cluster profile, which `load` fills from a file, and the files that come with the package."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, model_validator

from pipeline.study.frozen import Frozen

__all__ = ["COORDINATOR", "FILLED_IN", "LOCAL", "PROFILES", "ClusterProfile", "list_profiles", "name_of_moved"]

PROFILES = Path(__file__).parent / "profiles"
"""The profiles that come with the package, a file each."""

COORDINATOR = PROFILES / "coordinator.sbatch"
"""The script of a job of SLURM that runs the coordinator of a study."""

FILLED_IN = ("scheduler", "ssh")
"""Those that must be filled in first: the address of a scheduler, the names of machines."""


def list_profiles() -> list[str]:
    """Return the names of the profiles that come with the package."""
    return sorted(path.stem for path in PROFILES.glob("*.yaml"))


def name_of_moved(path: Path) -> str | None:
    """Return the name of a profile whose file lay in the folder ``cluster`` of a checkout and lies in its package now.

    None for a file that is there, one of another folder, and one that people had to fill in.
    """
    now = path.parent.parent.joinpath("pipeline", "study", PROFILES.name, path.name)
    if path.parent.name != "cluster" or path.exists() or path.stem in FILLED_IN or path.stem not in list_profiles():
        return None
    return path.stem if now.is_file() else None


class ClusterProfile(Frozen):
    """A cluster: a `distributed` Cluster class and its options, or a scheduler that runs already."""

    name: str = Field(min_length=1, description="What the profile is called in messages; the file's name by default.")
    cluster: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z_][\w.]*\.[A-Za-z_]\w*$",
        description="Path of a class, for example dask_jobqueue.SLURMCluster.",
    )
    address: str | None = Field(default=None, description="Address of a running scheduler, for example tls://host:8786.")
    scheduler_file: str | None = Field(default=None, description="File in which a running scheduler wrote its address.")
    options: Mapping[str, Any] = Field(default={}, description="Arguments of the class, by its own names.")
    workers: Annotated[int, Field(ge=1)] | None = Field(default=None, description="How many workers; cores for local, 1 else.")
    adapt: Mapping[str, Any] | None = Field(default=None, description="Arguments of the cluster's adapt(), in place of workers.")
    config: Mapping[str, Any] = Field(default={}, description="Dask configuration, dotted keys.")
    environment: Mapping[str, str] = Field(default={}, description="Environment variables of the workers.")
    start_seconds: float = Field(default=120.0, gt=0.0, description="How long to wait for the first worker.")

    @model_validator(mode="after")
    def _is_one_thing(self) -> ClusterProfile:
        given = [key for key in ("cluster", "address", "scheduler_file") if getattr(self, key) is not None]
        if len(given) != 1:
            raise ValueError(f"give one of cluster, address and scheduler_file, not {' and '.join(given) or 'none'}")
        unused = [key for key in ("options", "adapt", "workers") if getattr(self, key)] if self.cluster is None else []
        if unused:
            raise ValueError(f"{', '.join(unused)}: a scheduler that runs already has the workers it has")
        return self


LOCAL = ClusterProfile(name="local", cluster="distributed.LocalCluster")
"""This machine's cores: one process each, nothing to be reached from outside; see `pipeline profiles local`."""
