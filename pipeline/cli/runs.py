"""Commands that take a run: status, logs, cancel, resume, list, report. They find it by its files; no server is needed."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline.cli.actions import coordinate, find, open_page, print_json, refuse_turned, tell_findings
from pipeline.cli.advice import complete_advice
from pipeline.cli.options import cli, cluster_option, json_option, place_options, quiet_option, run_argument, runs_option
from pipeline.cli.terminal import fold, prose, tell, width_of

if TYPE_CHECKING:
    from pipeline.store.runs import RunDirectory

__all__: list[str] = []


@cli.command()
@run_argument
@runs_option
@json_option
@click.option("--tasks", is_flag=True, help="With --json: time, memory and attempts of each task.")
@click.option(
    "--watch", is_flag=True, help="Look again until the run ends; with --json a line each time. Ctrl-C ends the watch alone."
)
@click.option("--every", type=click.FloatRange(min=0.1), default=2.0, help="Seconds between two looks. [2]")
@click.option(
    "--prometheus",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the state to this file too, for the textfile collector of Prometheus.",
)
def status(run: str | None, runs: Path, as_json: bool, tasks: bool, watch: bool, every: float, prometheus: Path | None) -> None:
    """Show how far a run is, read from its files."""
    from pipeline.engine.watching.watch import read_status, watch_status
    from pipeline.store.files import write_public

    if tasks and not as_json:
        raise click.UsageError("--tasks goes with --json: the line that is printed has no tasks")
    directory, shown = find(runs, run), ""
    for facts in watch_status(directory, every) if watch else [read_status(directory)]:
        if as_json or prometheus:
            from pipeline.engine.watching.work import (  # only here: they load what plans need
                format_metrics,
                list_tasks,
                summarise_work,
            )

            each = list_tasks(directory) if tasks else None
            facts = {**facts, "work": summarise_work(directory, each)} | ({"tasks": each} if tasks else {})
        if prometheus:
            write_public(prometheus, format_metrics(facts).encode())
        if as_json:
            print_json(facts, indent=None if watch else 2)
        elif (text := _describe(facts)) != shown:
            _show(text, above=shown if watch else None)
            shown = text
    if watch and not as_json and sys.stdout.isatty():
        click.echo()  # the cursor is behind the last state


def _describe(facts: dict[str, Any]) -> str:
    from pipeline.engine.watching.progress import format_line
    from pipeline.errors import visible

    lines = [fold(format_line(facts), width_of(sys.stdout))]
    lines += [f"  {prose(visible(str(line)), sys.stdout)}" for line in (facts.get("message"), facts.get("advice")) if line]
    if "report" in facts:
        lines.append(f"  report: {visible(str(facts['report']))}")  # one word, to be copied or clicked on
    return "\n".join(lines)


def _show(text: str, *, above: str | None) -> None:
    """Print a state; where it is watched on a terminal, in place of the one ``above``, of which the cursor is behind the end."""
    if above is None or not sys.stdout.isatty():
        click.echo(text)
    else:
        lines = above.count("\n")
        click.echo("\r" + (f"\x1b[{lines}A" if lines else "") + f"\x1b[J{text}", nl=False)


@cli.command()
@run_argument
@runs_option
@click.option("-f", "--follow", is_flag=True, help="Keep printing until the run ends.")
def logs(run: str | None, runs: Path, follow: bool) -> None:
    """Show what happened in a run."""
    from pipeline.engine.watching.watch import follow_events
    from pipeline.errors import visible

    for line in follow_events(find(runs, run), follow=follow):
        click.echo(visible(line))


@cli.command()
@run_argument
@runs_option
def cancel(run: str | None, runs: Path) -> None:
    """Stop a run; `pipeline resume` continues it."""
    from pipeline.engine.watching.watch import cancel_run

    click.echo(complete_advice(cancel_run(find(runs, run))), err=True)


@cli.command()
@run_argument
@runs_option
@place_options
@cluster_option("local, slurm or another of `pipeline profiles`, or a file of yours. [the run's]")
@click.option("--serial", is_flag=True, help="Run in this process, without a cluster.")
@click.option("--detach", is_flag=True, help="Return once it has started, as `submit` does.")
@quiet_option
def resume(
    run: str | None,
    runs: Path,
    workers: int | None,
    block_cells: int | None,
    cluster: str | None,
    serial: bool,
    detach: bool,
    quiet: bool,
) -> None:
    """Continue a run: compute what is missing or damaged.

    Everything stored is checked first; what is intact is not computed again.
    """
    from pipeline.engine.launch import Launch, forget_cancel, read_launch, start_detached
    from pipeline.engine.restore import restore_plan
    from pipeline.engine.watching.watch import await_end
    from pipeline.store.lease import refuse_if_held

    directory = find(runs, run)
    before = read_launch(directory)
    if before is None:
        click.echo("launch.json cannot be read: this machine's cores are used, unless options say otherwise", err=True)
        before = Launch()
    launch = Launch(
        "serial" if serial else _locate(directory, cluster, before.cluster, asks_for_workers=workers is not None),
        workers or before.workers,
        block_cells or before.block_cells,
    )
    click.echo(str(directory.root))
    await_end(directory)
    refuse_if_held(directory.root)
    if restore_plan(directory):
        click.echo("plan.json could not be read: it is written again from study.yaml", err=True)
    if detach:
        start_detached(directory, launch, verify=True)
        return
    forget_cancel(directory)
    coordinate(directory, launch, quiet, verify=True)


def _locate(run: RunDirectory, cluster: str | None, before: str, *, asks_for_workers: bool) -> str:
    """Return where a run goes on: on the cluster that is named, else where it was before; workers are never without a cluster."""
    from pipeline.errors import StudyError
    from pipeline.study.load import locate_profile
    from pipeline.study.profile import name_of_moved

    if cluster:
        return locate_profile(cluster, Path.cwd())
    if before == "serial":
        return "local" if asks_for_workers else before
    moved = name_of_moved(Path(before))
    if moved is not None:
        click.echo(f"{before} now comes with the package: the profile {moved} is used", err=True)
        return moved
    try:
        return locate_profile(before, run.root)
    except StudyError as error:
        help = f"put it there again, or name another one: `pipeline resume {run.id} --cluster local`"
        gone = {"P109", "P112"}
        raise StudyError(*(replace(p, help=help) if p.code in gone else p for p in error.problems)) from error


@cli.command("list")
@runs_option
@json_option
def list_(runs: Path, as_json: bool) -> None:
    """List the runs, latest last."""
    from pipeline.engine.watching.progress import format_line
    from pipeline.engine.watching.watch import read_status
    from pipeline.store.runs import list_runs

    found = [read_status(run) for run in list_runs(runs)]
    if as_json:
        print_json({"runs": found})
        return
    if not found:
        tell(f"there are no runs in {runs}: `pipeline run STUDY` starts one")
    for facts in found:
        click.echo(fold(format_line(facts), width_of(sys.stdout)))
        if "report" in facts:
            click.echo(f"  report: {facts['report']}")


@cli.command()
@run_argument
@runs_option
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Override for the report only: resampling.alpha, .family, .baseline, .intervals; analyses; systems.relation; report",
)
@click.option(
    "-o", "--output", type=click.Path(file_okay=False, path_type=Path), help="Write to another folder. [the run's report/]"
)
@click.option("--open", "opened", is_flag=True, help="Open its page in a browser.")
def report(run: str | None, runs: Path, settings: tuple[str, ...], output: Path | None, opened: bool) -> None:
    """Rewrite the report from the cubes; compute nothing.

    Prints the path of the page; the verdict goes to stderr.
    """
    from pipeline.record.manifest import read_manifest
    from pipeline.report.write import write_report
    from pipeline.store.lease import hold_lease
    from pipeline.store.ledger import last_fence
    from pipeline.study.load import override_study
    from pipeline.study.report_overrides import refuse_other_numbers
    from pipeline.tasks.report import gather

    directory = find(runs, run)
    study = None
    if settings:
        asked = read_manifest(directory).study
        study = override_study(asked, settings)
        refuse_other_numbers(asked, study)
    target = output or directory.report
    own = target.resolve() == directory.report.resolve()
    # Whoever writes into the run holds its lease: two reports at once would mix.
    with hold_lease(directory.root, above=last_fence(directory.ledger)) if own else nullcontext():
        page = write_report(gather(directory, study=study), target, replaces=own)
    tell_findings(target)
    click.echo(str(page))
    if opened and not page.is_file():
        click.echo("there is no page to open: `report.formats` of the study has no html", err=True)
    elif opened and not open_page(page):
        click.echo("no browser can be opened here; the page is at the path above", err=True)
    refuse_turned(directory, target, study or read_manifest(directory).study)


@cli.command("coordinate", hidden=True)
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("--verify", is_flag=True)
def coordinate_(directory: Path, verify: bool) -> None:
    """Run the coordinator of a submitted run; `submit` and `resume --detach` start this."""
    from pipeline.engine.launch import Launch, read_launch
    from pipeline.store.runs import RunDirectory

    found = RunDirectory(directory)
    coordinate(found, read_launch(found) or Launch(), quiet=False, verify=verify)
