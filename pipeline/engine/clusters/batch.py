"""The arguments of a cluster whose workers are batch jobs: those of the profile, those of the site, and those that we add."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pipeline.amounts import parse_bytes
from pipeline.engine.clusters.placement import declare

__all__ = ["batch_options"]

SCRATCH = "$PIPELINE_SCRATCH"


def batch_options(
    factory: Any, given: Mapping[str, Any], environment: Mapping[str, str], logs: Path, configured: Callable[[str, Any], Any]
) -> dict[str, Any]:
    """Return the arguments of a cluster of jobs: those of the profile, those of the site, and what is needed besides.

    Parameters
    ----------
    factory : type
        A class of dask-jobqueue.
    given : mapping
        The profile's options.
    environment : mapping of str to str
        Environment variables of the workers.
    logs : Path
        A folder for their logs.
    configured : callable
        Gives what the site's configuration of Dask has under a name, or else the second argument.
    """
    name = given.get("config_name") or getattr(getattr(factory, "job_cls", None), "config_name", None)

    def option(key: str, default: Any = None) -> Any:
        """Return the profile's value, or else the site's, which an option of ours would hide."""
        return given[key] if key in given else configured(f"jobqueue.{name}.{key.replace('_', '-')}", default) or default

    scheduler = option("scheduler_options", {})
    # By default the dashboard of a batch cluster listens on every interface, without a password.
    pages = {} if "dashboard_address" in scheduler else {"dashboard_address": "127.0.0.1:0", "dashboard": False}
    exports = [f"export {variable}={shlex.quote(value)}" for variable, value in environment.items()]
    arguments = [str(argument) for argument in option("worker_extra_args", ())]
    if pages and not any(argument in {"--dashboard", "--no-dashboard", "--dashboard-address"} for argument in arguments):
        arguments.append("--no-dashboard")
        exports.append("export DASK_DISTRIBUTED__WORKER__HTTP__ROUTES='[]'")
    return {
        "python": sys.executable,
        "log_directory": str(logs),
        **given,
        "scheduler_options": {**pages, **scheduler},
        "job_script_prologue": [*exports, *option("job_script_prologue", ()), *_make_scratch(option("local_directory"))],
        "local_directory": SCRATCH,
        "worker_extra_args": [*arguments, *_declared(given, arguments)],
    }


def _make_scratch(place: str | None) -> list[str]:
    """Return the lines of a job that make a folder of its own for temporary files, and remove it.

    Dask's own is called the same for everybody, and its workers import modules from it: whoever makes it first has code run.
    """
    folder = f'"{place}"' if place else '"${TMPDIR:-/tmp}"'
    # Not $(…), which HTCondor takes for a variable of its own.
    lines = [f"PIPELINE_SCRATCH=`mktemp -d {folder}/pipeline-dask-XXXXXXXX` || exit 1", "trap 'rm -rf \"$PIPELINE_SCRATCH\"' EXIT"]
    return [f"(umask 077; mkdir -p {folder})", *lines] if place else lines


def _declared(options: Mapping[str, Any], arguments: list[str]) -> list[str]:
    """Return the arguments that declare what each worker of a job has, unless the profile does so itself."""
    if any(argument.startswith("--resources") for argument in arguments):
        return []
    processes = int(options.get("processes") or 1)
    offer: dict[str, float] = {}
    if options.get("cores"):
        offer["cores"] = float(max(1, int(options["cores"]) // processes))
    if options.get("memory"):
        offer["memory"] = parse_bytes(str(options["memory"])) // processes
    return ["--resources", declare(offer)] if offer else []
