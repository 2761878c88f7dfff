"""`pipeline gate`: may this be released? Better, equivalent, inconclusive or worse than a baseline, as an exit code."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline.cli.actions import load, print_json, print_report_path
from pipeline.cli.options import cli, json_option, override_options, place_options, quiet_option, runs_option, study_argument

if TYPE_CHECKING:
    from pipeline.engine.launch import Launch
    from pipeline.report.gate import Judged
    from pipeline.store.runs import RunDirectory
    from pipeline.study.load import LoadedStudy

__all__: list[str] = []

WORSE, INCONCLUSIVE = 1, 6
INCOMPLETE = 4


@cli.command()
@study_argument
@click.option("--baseline", metavar="SYSTEM", help="What the others are compared with. [the study's]")
@click.option("--candidate", "candidates", multiple=True, metavar="SYSTEM", help="What is judged; repeatable. [all others]")
@click.option(
    "--margin",
    "margins",
    multiple=True,
    metavar="METRIC=POINTS",
    help="The largest loss that does not matter, by metric; repeatable.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["worse", "inconclusive"]),
    default="worse",
    show_default=True,
    help="inconclusive: also where neither a difference nor equivalence is shown.",
)
@click.option("--all-pairs", is_flag=True, help="Correct p for all pairs; needed for models with several runs.")
@click.option("--summary", type=click.Path(dir_okay=False, path_type=Path), help="Write the answers there, as Markdown.")
@click.option("--github/--no-github", default=None, help="Annotations and a job summary for GitHub. [inside a workflow]")
@click.option("--serial", is_flag=True, help="Run in this process, without a cluster; same results.")
@override_options
@place_options
@runs_option
@json_option
@quiet_option
def gate(
    study: Path,
    baseline: str | None,
    candidates: tuple[str, ...],
    margins: tuple[str, ...],
    fail_on: str,
    all_pairs: bool,
    summary: Path | None,
    github: bool | None,
    serial: bool,
    workers: int | None,
    block_cells: int | None,
    runs: Path,
    as_json: bool,
    quiet: bool,
    **overrides: Any,
) -> None:
    """Say whether systems are worse than a baseline, for a build.

    \b
    Exit codes:
      0  better, equivalent, or inconclusive
      1  worse, and not within the margin
      6  inconclusive, with --fail-on inconclusive
      3, 4, 5  it could not be measured: data, failures, nothing to compare
    \b
    Examples:
      pipeline gate study.yaml --baseline released
      pipeline gate study.yaml --baseline released \\
        --margin bleu=0.3 --fail-on inconclusive
    """  # noqa: D301 - click reads \b as "keep these lines"
    from pipeline.engine.launch import Launch
    from pipeline.report.document import read_report
    from pipeline.report.gate import conclude_gate, judge_candidates, render_gate
    from pipeline.store.files import read_json, write_bytes

    settings = [f"resampling.margin.{metric}={points}" for metric, points in map(_parse_margin, margins)]
    if baseline is not None and not all_pairs:
        settings += ["resampling.family=against-baseline", f"resampling.baseline={json.dumps(baseline)}"]
    overrides["settings"] = (*settings, *overrides.get("settings", ()))
    loaded = load(study, overrides)
    against = baseline or loaded.study.resampling.baseline
    if against is None:
        raise click.UsageError(
            "against what? Give --baseline SYSTEM, or the study `resampling: {family: against-baseline, baseline: …}`"
        )
    directory, failed = _run(loaded, runs, Launch("serial" if serial else "local", workers, block_cells), quiet or as_json)
    report = read_report(read_json(directory.report / "report.json"))
    known = {row.name for row in report.systems} | {row.model for row in report.models}
    unknown = [name for name in (against, *candidates) if name not in known]
    if unknown and not failed:
        from pipeline.options import suggest

        meant = suggest(unknown[0], sorted(known)) or ""
        there = meant if meant.startswith("did you mean") else f"it has {_some(sorted(known))}"
        raise click.UsageError(f"the study has no {unknown[0]!r}; {there}")
    judged = judge_candidates(report, against, candidates)
    answer = conclude_gate(judged)
    text = render_gate(judged, run=directory.id)
    if summary is not None:
        write_bytes(summary, text.encode())
    if as_json:
        print_json({"answer": answer, "run": directory.id, "comparisons": [asdict(one) for one in judged]})
    else:
        click.echo("\n".join([answer, *(f"  {one.say()}" for one in judged)]))
        print_report_path(directory, err=True)
    if github if github is not None else os.environ.get("GITHUB_ACTIONS") == "true":
        _tell_github(judged, text)
    sys.exit(_code(answer, fail_on, failed))


def _code(answer: str, fail_on: str, failed: int) -> int:
    if answer == "worse":
        return WORSE
    if failed or answer == "could not measure":
        return failed or INCOMPLETE
    return INCONCLUSIVE if answer == "inconclusive" and fail_on == "inconclusive" else 0


def _parse_margin(text: str) -> tuple[str, float]:
    metric, _, points = text.rpartition("=")
    try:
        value = float(points)
    except ValueError:
        value = float("nan")
    if not metric or not value > 0:
        raise click.UsageError(f"--margin {text}: a metric and points above 0, such as bleu=0.3")
    return metric, value


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:10]) + (" …" if len(names) > 10 else "")


def _run(loaded: LoadedStudy, runs: Path, launch: Launch, quiet: bool) -> tuple[RunDirectory, int]:
    """Run what is open; return the run and its exit code where some of it failed and the rest has a report."""
    from pipeline.engine.launch import execute, forget_cancel, is_complete, prepare
    from pipeline.engine.progress import show_progress
    from pipeline.errors import render_problems

    directory = prepare(loaded, runs, launch)
    if is_complete(directory):
        return directory, 0
    forget_cancel(directory)
    with show_progress(quiet=quiet) as progress:
        ending = execute(directory, launch, progress=progress)
    if ending.exit_code and (ending.exit_code != INCOMPLETE or not (directory.report / "report.json").is_file()):
        click.echo(f"could not measure: {ending.message}", err=True)
        sys.exit(ending.exit_code)
    if ending.problems:
        click.echo(render_problems(ending.problems[:10]), err=True)
    return directory, ending.exit_code


def _tell_github(judged: Sequence[Judged], text: str) -> None:
    """Print annotations, on stderr, and append the answers to the job's summary where there is one."""
    from pipeline.report.gate import render_annotations

    click.echo("\n".join(render_annotations(judged)), err=True)
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(text)
