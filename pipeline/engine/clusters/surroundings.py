"""Make what one cluster needs, certificates and a folder for temporary files, and remove it with the cluster."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from pipeline.dataclass import dataclass, field
from pipeline.engine.clusters.certificates import make_certificate
from pipeline.engine.clusters.cluster import Kind, find_class
from pipeline.store.files import scratch_directory, temporary_name
from pipeline.study.profile import ClusterProfile

__all__ = ["Surroundings", "surround"]


@dataclass(frozen=True)
class Surroundings:
    """The certificates and folders of a cluster.

    Parameters
    ----------
    kind : str, optional
        ``local``, ``batch`` or ``other``; None for a scheduler that runs already.
    certificates : mapping of str to str
        What everybody of the cluster shows, and wants to be shown, by the names that `distributed.Security` has for it; nothing
        where the profile's own are in force.
    config : mapping
        Dask's configuration while the cluster runs.
    """

    kind: Kind | None = None
    certificates: Mapping[str, str] = field(default_factory=dict, repr=False)
    config: Mapping[str, Any] = field(default_factory=dict, repr=False)


@contextmanager
def surround(profile: ClusterProfile, logs: Path, place: str | None) -> Iterator[Surroundings]:
    """Make the surroundings of a profile's cluster; nothing where the profile names a scheduler that runs already.

    Parameters
    ----------
    profile : ClusterProfile
        Its class may make workers of this machine, jobs, or something else.
    logs : Path
        A folder of the run that workers can read, whatever their machine.
    place : str, optional
        Where temporary files of this machine go, in place of the system's folder for them.
    """
    if profile.cluster is None:
        yield Surroundings()
        return
    _, kind = find_class(profile)
    if kind == "local":
        place = profile.options.get("local_directory") or place
    with ExitStack() as stack:
        # Dask's own would be /tmp/dask-scratch-space, for everybody, and modules are imported from there: whoever makes it first
        # has code run.
        within = None if place is None else Path(os.path.expanduser(os.path.expandvars(place)))
        config: dict[str, Any] = {"temporary-directory": str(stack.enter_context(scratch_directory("dask", within)))}
        certificates: dict[str, str] = {}
        if "distributed.comm.tls.ca-file" in profile.config:
            config["distributed.comm.require-encryption"] = True
        elif kind == "local":
            certificates = make_certificate().settings()  # they stay in memory
        else:
            folder = logs / temporary_name()  # a name that the next start removes, should this process be killed
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            written = make_certificate().write(folder)
            certificates = written.settings()
            if kind == "other":
                config |= {
                    "distributed.comm.require-encryption": True,
                    "distributed.comm.default-scheme": "tls",
                    **written.config(),
                }
        yield Surroundings(kind, certificates, config)
