"""What several commands do. This module turns what was typed into calls, and endings into exit codes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from pipeline.engine.launch import Launch
    from pipeline.store.runs import RunDirectory
    from pipeline.study.load import LoadedStudy

__all__ = ["coordinate", "find", "load", "print_json"]

MOST_PROBLEMS = 10
"""Failures told in full on a terminal, those alike as one."""


def load(study: Path, overrides: dict[str, Any]) -> LoadedStudy:
    """Read a study with what the command line says otherwise."""
    from pipeline.study.load import load_study

    flags = {"replicates": "resampling.replicates", "seed": "seed", "test_sizes": "resampling.test_sizes"}
    given = []
    for flag, key in flags.items():
        value = overrides.get(flag)
        if value is not None:
            given.append(f"{key}=[{value}]" if flag == "test_sizes" else f"{key}={value}")
    return load_study(study, [*given, *overrides.get("settings", ())])


def find(runs: Path, name: str | None) -> RunDirectory:
    """Give the run of that name, the latest where there is none."""
    from pipeline.store.runs import find_run

    return find_run(runs, name)


def coordinate(directory: RunDirectory, launch: Launch, quiet: bool, verify: bool = False) -> None:
    """Run tasks in this process until the run ends, and exit with its code."""
    from pipeline.engine.launch import execute
    from pipeline.engine.progress import show_progress
    from pipeline.errors import join_alike, render_problems

    with show_progress(quiet=quiet) as progress:
        ending = execute(directory, launch, progress=progress, verify=verify)
    if ending.message:
        click.echo(f"{ending.state.lower()}: {ending.message}", err=True)
    if ending.problems:
        told = join_alike(ending.problems)
        click.echo(render_problems(told[:MOST_PROBLEMS]), err=True)
        if len(told) > MOST_PROBLEMS:
            click.echo(f"… and {len(told) - MOST_PROBLEMS} more failures: the report lists them all, `pipeline logs` too", err=True)
    if ending.exit_code:
        sys.exit(ending.exit_code)


def print_json(value: dict[str, Any]) -> None:
    """Print one document."""
    click.echo(json.dumps({"schema_version": 1, **value}, ensure_ascii=False, indent=2))
