"""What commands share that answer as a gate does: their options in the study's words, the run, annotations, exit codes."""

from __future__ import annotations

import glob
import json
import os
import re
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from pipeline.cli.advice import complete_advice
from pipeline.cli.terminal import show_problems

if TYPE_CHECKING:
    from pipeline.engine.launch import Launch
    from pipeline.report.document import Report
    from pipeline.report.history.gate import Judged
    from pipeline.store.runs import RunDirectory
    from pipeline.study.load import LoadedStudy

__all__ = [
    "INCOMPLETE",
    "WORSE",
    "Ran",
    "is_github",
    "place_of_history",
    "refuse_unknown",
    "run_what_is_open",
    "settings_of",
    "tell_github",
]

WORSE, INCOMPLETE = 1, 4


def settings_of(baseline: str | None, margins: Sequence[str], *, all_pairs: bool) -> list[str]:
    """Return what margins and a baseline change of a study, as ``--set`` takes it."""
    settings = [f"resampling.margin.{metric}={points}" for metric, points in map(_parse_margin, margins)]
    if baseline is not None and not all_pairs:
        settings += ["resampling.family=against-baseline", f"resampling.baseline={json.dumps(baseline)}"]
    return settings


def _parse_margin(text: str) -> tuple[str, float]:
    metric, _, points = text.rpartition("=")
    try:
        value = float(points)
    except ValueError:
        value = float("nan")
    if not metric or not value > 0:
        raise click.UsageError(f"--margin {text}: a metric and points above 0, such as bleu=0.3")
    return metric, value


def place_of_history(runs: Path, loaded: LoadedStudy) -> Path:
    """Return the default folder of a study's history: beside its runs."""
    return runs / ".history" / loaded.study.slug


def choose_window(loaded: LoadedStudy, before: int) -> list[str]:
    """Return the last systems of a study by name, where numbers count as such: build-9 comes before build-10.

    The candidate is the last of them. It must have been run on every test set that any of them was.
    """
    names = _systems_of(loaded)
    ordered = sorted(names, key=lambda name: ([int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", name)], name))
    if len(ordered) < 2:
        raise click.UsageError(f"--baseline-window compares the last system with those before it; the study has {len(ordered)}")
    return ordered[-before - 1 :]


def leave_out_others(loaded: LoadedStudy, kept: Sequence[str]) -> list[str]:
    """Return the setting by which a study has these systems alone."""
    others = [glob.escape(name) for name in _systems_of(loaded) if name not in kept]
    return [f"systems.exclude={json.dumps([*loaded.study.systems.exclude, *others])}"]


def _systems_of(loaded: LoadedStudy) -> list[str]:
    from pipeline.survey.survey import survey_loaded

    test_sets = survey_loaded(loaded).inputs.test_sets
    return list(dict.fromkeys(output.system for test_set in test_sets for output in test_set.outputs))


class Ran(NamedTuple):
    """A run, its exit code where some of it failed and the rest has a report, and how many tasks that took now."""

    directory: RunDirectory
    failed: int
    tasks: int


def _in_words_of_options(prepare: Callable[[], RunDirectory]) -> RunDirectory:
    """Return a run; what is wrong with a baseline is said to be wrong with its option, which became a setting of the study."""
    from pipeline.errors import StudyError

    try:
        return prepare()
    except StudyError as error:
        where = [
            "--baseline" if (one.where or "").startswith('--set resampling.baseline="') else one.where for one in error.problems
        ]
        raise StudyError(*(replace(one, where=at) for one, at in zip(error.problems, where, strict=True))) from error


def run_what_is_open(loaded: LoadedStudy, runs: Path, launch: Launch, quiet: bool, *, named: Sequence[str] = ()) -> Ran:
    """Run what is open of a study that has all systems or models that are named, or exit where it ends without a report."""
    from pipeline.engine.launch import execute, forget_cancel, is_complete, prepare
    from pipeline.engine.watching.progress import show_progress

    directory = _in_words_of_options(partial(prepare, loaded, runs, launch))
    _refuse_absent(directory, named)
    if is_complete(directory):
        return Ran(directory, 0, 0)
    before = _count_done(directory)
    forget_cancel(directory)
    with show_progress(quiet=quiet) as progress:
        ending = execute(directory, launch, progress=progress)
    if ending.exit_code and (ending.exit_code != INCOMPLETE or not (directory.report / "report.json").is_file()):
        click.echo(complete_advice(f"could not measure: {ending.told}"), err=True)
        sys.exit(ending.exit_code)
    if ending.problems:
        show_problems(ending.problems[:10])
    return Ran(directory, ending.exit_code, _count_done(directory) - before)


def _count_done(directory: RunDirectory) -> int:
    from pipeline.store.ledger import iterate_ledger

    return sum(entry["event"] == "done" for entry in iterate_ledger(directory.ledger))


def refuse_unknown(report: Report, names: Sequence[str]) -> None:
    """Raise a usage error where the report has no system or model of one of these names."""
    _refuse_others({row.name for row in report.systems} | {row.model for row in report.models}, names)


def _refuse_absent(directory: RunDirectory, names: Sequence[str]) -> None:
    """Raise the same before anything is computed, by what the run is planned with."""
    if not names:
        return
    from pipeline.record.manifest import read_manifest

    inputs = read_manifest(directory).inputs
    systems = {output.system for test_set in inputs.test_sets for output in test_set.outputs}
    _refuse_others(systems | {known["model"] for known in inputs.coordinates.values() if "model" in known}, names)


def _refuse_others(known: Collection[str], names: Sequence[str]) -> None:
    unknown = [name for name in names if name not in known]
    if unknown:
        from pipeline.errors import name_some
        from pipeline.options import suggest

        meant = suggest(unknown[0], sorted(known)) or ""
        there = meant if meant.startswith("did you mean") else f"it has {name_some(sorted(known), 10)}"
        raise click.UsageError(f"the study has no {unknown[0]!r}; {there}")


def is_github(asked: bool | None) -> bool:
    """Say whether annotations are wanted: by default, inside a workflow of GitHub."""
    return asked if asked is not None else os.environ.get("GITHUB_ACTIONS") == "true"


def tell_github(judged: Sequence[Judged], text: str) -> None:
    """Print annotations, on stderr, and append the answers to the job's summary where there is one."""
    from pipeline.report.history.gate import render_annotations

    click.echo("\n".join(render_annotations(judged)), err=True)
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(text)
