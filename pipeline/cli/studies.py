"""Commands that take a study file: check, plan, run, submit."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline.cli.actions import coordinate, exit_if_turned, load, print_json, tell_report
from pipeline.cli.advice import complete_advice
from pipeline.cli.options import (
    CommandWithNames,
    cli,
    cluster_option,
    json_option,
    override_options,
    place_options,
    quiet_option,
    runs_option,
    study_argument,
)
from pipeline.cli.terminal import screen_of, tell

if TYPE_CHECKING:
    from pipeline.engine.launch import Launch
    from pipeline.store.runs import RunDirectory
    from pipeline.study.load import LoadedStudy

__all__: list[str] = []


@cli.command()
@study_argument
@override_options
@click.option("--run-code", is_flag=True, help="Also run the study's own code and plugins, where the checks need them.")
@json_option
def check(study: Path, run_code: bool, as_json: bool, **overrides: Any) -> None:
    """Validate a study and its data, and list the code it would run.

    Computes nothing, and runs no code that is not this package's own: no command, no module of the study, no plugin. With
    --run-code modules and plugins are imported and each `version_command` is run, so that they are checked too.
    """
    from pipeline.errors import visible
    from pipeline.foreign_code import no_foreign_code
    from pipeline.report.alignment import format_alignment
    from pipeline.survey.code import list_code
    from pipeline.survey.survey import survey_loaded
    from pipeline.survey.without_code import WithoutCode, set_code_aside

    with no_foreign_code(not run_code):
        loaded = load(study, overrides)
        code = list_code(loaded.study, loaded.base)
        if code and not as_json:  # first of all, since what follows may be an error
            click.echo("code that this study runs:")
            click.echo("".join(visible(f"  {each.where}: {each.kind} {each.what}") + "\n" for each in code))
        looked = WithoutCode(loaded.study, ()) if run_code else set_code_aside(loaded.study)
        test_sets = survey_loaded(loaded, looked.study).inputs.test_sets
    if as_json:
        rows = [
            {
                "test_set": t.name,
                "items": t.n_items,
                "units": t.n_units,
                "unit": t.unit,
                "systems": list(t.alignment),
                "warnings": list(t.warnings),
                "recognised": t.recognised,
            }
            for t in test_sets
        ]
        told = {"code": [asdict(each) for each in code], "code_was_run": run_code, "unchecked": list(looked.unchecked)}
        print_json({"test_sets": rows, **told})
        return
    fit = screen_of(sys.stdout).fit
    for test_set in test_sets:
        planned = sum(output.training is not None for output in test_set.outputs)
        table = (test_set.name, test_set.n_items, test_set.n_units, test_set.alignment, test_set.warnings)
        text = format_alignment(*table, unit=test_set.unit, planned=planned, recognised=test_set.recognised)
        click.echo("\n".join(fit(line) if line.startswith("  warning: ") else line for line in text.splitlines()))
    if looked.unchecked:
        named = ", ".join(looked.unchecked)
        left = f"not checked without running code: {named}; `pipeline check --run-code` runs what checking them needs"
        click.echo(complete_advice(visible(left)))


@cli.command()
@study_argument
@override_options
@place_options
@runs_option
@json_option
def plan(study: Path, workers: int | None, block_cells: int | None, runs: Path, as_json: bool, **overrides: Any) -> None:
    """Show a study's tasks: done, open, time left.

    Measures this machine and stores nothing. Which tasks are done depends on versions of the study's own code, so its modules and
    plugins are imported and each `version_command` is run; `pipeline check` lists them and runs none.
    """
    _show_plan(load(study, overrides), runs, workers, block_cells, as_json)


@cli.command(cls=CommandWithNames)
@study_argument
@override_options
@place_options
@runs_option
@click.option("--serial", is_flag=True, help="Run in this process, without a cluster; same results.")
@quiet_option
def run(study: Path, workers: int | None, block_cells: int | None, runs: Path, serial: bool, quiet: bool, **overrides: Any) -> None:
    """Run a study in the foreground on this machine.

    \b
    Examples:
      pipeline run study.yaml
      pipeline run study.yaml --workers 2 -b 10000 --set resampling.alpha=0.01

    Prints the run directory; the verdict and the path of the report follow on stderr. Running the same study again
    computes nothing twice.
    """  # noqa: D301 - click reads \b as "keep these lines"
    from pipeline.engine.launch import Launch

    _execute(load(study, overrides), runs, Launch("serial" if serial else "local", workers, block_cells), quiet)


@cli.command()
@study_argument
@override_options
@place_options
@runs_option
@cluster_option("local, slurm or another of `pipeline profiles`, or a file of yours. [the study's]")
@click.option("--wait", is_flag=True, help="Wait for the run and exit with its code. Ctrl-C detaches; the run continues.")
@click.option("--dry-run", is_flag=True, help="Show the plan, and the job script or what else would start; start nothing.")
@quiet_option
def submit(
    study: Path,
    workers: int | None,
    block_cells: int | None,
    runs: Path,
    cluster: str | None,
    wait: bool,
    dry_run: bool,
    quiet: bool,
    **overrides: Any,
) -> None:
    """Start a study on a cluster and return at once.

    \b
    Examples:
      pipeline submit study.yaml --cluster slurm
      pipeline submit study.yaml --cluster slurm --workers 20 --wait
    """  # noqa: D301 - click reads \b as "keep these lines"
    from pipeline.engine.launch import Launch, prepare, start_detached
    from pipeline.study.load import locate_profile

    loaded = load(study, overrides)
    profile = locate_profile(cluster or loaded.study.cluster, loaded.base)
    if dry_run:
        run = _show_plan(loaded, runs, workers, block_cells, False, profile)
        _show_start(profile, workers, runs.resolve() / run / "logs")
        return
    launch = Launch(profile, workers, block_cells)
    directory = prepare(loaded, runs, launch)
    if _was_done(directory, quiet):
        return
    pid = start_detached(directory, launch)
    if not quiet:
        click.echo(
            f"coordinator {pid} runs {directory.id}; follow it with: pipeline status {directory.id} --runs {directory.root.parent}",
            err=True,
        )
    if wait:
        _follow(directory, pid, quiet)


def _execute(loaded: LoadedStudy, runs: Path, launch: Launch, quiet: bool) -> None:
    from pipeline.engine.launch import forget_cancel, prepare

    directory = prepare(loaded, runs, launch)
    if _was_done(directory, quiet):
        return
    forget_cancel(directory)
    coordinate(directory, launch, quiet)


def _was_done(directory: RunDirectory, quiet: bool) -> bool:
    """Print the run directory, and say whether the run is complete; then also what it found."""
    from pipeline.engine.launch import is_complete

    click.echo(str(directory.root))
    if not is_complete(directory):
        return False
    if not quiet:
        click.echo(f"{directory.id} is done already", err=True)
        tell_report(directory)
    exit_if_turned(directory)
    return True


def _follow(directory: RunDirectory, pid: int, quiet: bool) -> None:
    from pipeline.engine.watching.progress import show_progress
    from pipeline.engine.watching.watch import follow_run
    from pipeline.errors import visible

    with show_progress(quiet=quiet) as progress:
        facts = follow_run(directory, pid, progress)
    if facts["message"] and (facts["exit_code"] or not quiet):
        click.echo(complete_advice(visible(f"{facts['state'].lower()}: {facts['message']}")), err=True)
    if facts["exit_code"]:
        sys.exit(facts["exit_code"])
    if not quiet:
        tell_report(directory)
    exit_if_turned(directory)


def _show_start(cluster: str, workers: int | None, logs: Path) -> None:
    """Say what the cluster of a study would be started with."""
    from pipeline.engine.dask import preview_start
    from pipeline.study.load import load_profile

    click.echo("\n" + preview_start(load_profile(cluster), workers, logs))


def _show_plan(
    loaded: LoadedStudy, runs: Path, workers: int | None, block_cells: int | None, as_json: bool, cluster: str | None = None
) -> str:
    """Print the plan of a study on its own cluster, or on another, and return the id of its run."""
    from pipeline.engine.preview import format_preview, preview_study

    preview = preview_study(loaded, runs, cluster=cluster, workers=workers, block_cells=block_cells)
    if as_json:
        print_json(preview)
    else:
        for line in format_preview(preview).splitlines():
            tell(line, err=False)
    return str(preview["run"])
