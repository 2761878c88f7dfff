"""The command line. This module parses, calls one thing, prints, and exits; what it calls is imported inside each command."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from pipeline.engine.launch import Launch
    from pipeline.store.runs import RunDirectory
    from pipeline.study.load import LoadedStudy

__all__ = ["main"]

F = TypeVar("F", bound=Callable[..., Any])

EXAMPLES = """\b
Examples:
  pipeline compare baseline.txt new.txt -r reference.txt -m bleu -m chrf
  pipeline run study.yaml                     on this machine's cores
  pipeline submit study.yaml --cluster cluster/slurm.yaml --wait
  pipeline status                             the latest run
"""


class Group(click.Group):
    """Commands in the order a newcomer meets them, not by the alphabet."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Give the commands in the order of this file."""
        return list(self.commands)


@click.group(
    cls=Group,
    help=EXAMPLES + "\nWhich differences between systems are real, which gains can be believed, how large a test set must be.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.option("--debug", is_flag=True, help="Show tracebacks.")
@click.version_option(package_name="pipeline", message="%(package)s %(version)s")
@click.pass_context
def cli(ctx: click.Context, debug: bool) -> None:
    """Hold what all commands share."""
    ctx.obj = {"debug": debug}


def _combine(*options: Callable[[F], F]) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


runs_option = click.option(
    "--runs",
    type=click.Path(file_okay=False, path_type=Path),
    envvar="PIPELINE_RUNS",
    default=Path("runs"),
    help="Folder of runs. [PIPELINE_RUNS, else ./runs]",
)
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
quiet_option = click.option("-q", "--quiet", is_flag=True, help="No progress.")
study_argument = click.argument("study", type=click.Path(path_type=Path))
run_argument = click.argument("run", required=False)
override_options: Callable[[F], F] = _combine(
    click.option("-b", "--replicates", help="Number of replicates."),
    click.option("--seed", help="Seed of all draws."),
    click.option("--test-sizes", help="Test sizes, for example 100,200,full."),
    click.option(
        "--set", "settings", multiple=True, metavar="KEY=VALUE", help="Any value of the study, for example resampling.alpha=0.01."
    ),
)
place_options: Callable[[F], F] = _combine(
    click.option("--workers", type=click.IntRange(min=1), help="Worker processes. [one a core, or the profile's]"),
    click.option("--block-cells", type=click.IntRange(min=1), help="Cells of 16384 replicates in a task; changes no number."),
)


@cli.command()
@click.argument("outputs", nargs=-1, required=True)
@click.option(
    "-r", "--reference", "references", multiple=True, help="A reference, or the gold file; several for several references."
)
@click.option("-m", "--metric", "metrics", multiple=True, help="Metrics. [bleu; accuracy for labels; mean for scores]")
@click.option(
    "--procedure",
    "procedures",
    multiple=True,
    default=("paired-bootstrap",),
    show_default=True,
    help="paired-bootstrap, approximate-randomization, or both; verdicts are those of the first.",
)
@click.option("--format", "format_", default="text", show_default=True, help="text, labels or scores.")
@click.option("--documents", help="File with a document name a line: documents are resampled, not segments.")
@click.option("-b", "--replicates", type=click.IntRange(min=1), default=100_000, show_default=True, help="Number of replicates.")
@click.option("--seed", type=int, default=20120712, show_default=True, help="Seed of all draws.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Level of decisions.")
@click.option("--runs", type=click.Path(file_okay=False, path_type=Path), help="Keep the run in this folder. [nothing is kept]")
@json_option
@quiet_option
def compare(
    outputs: tuple[str, ...],
    references: tuple[str, ...],
    metrics: tuple[str, ...],
    procedures: tuple[str, ...],
    format_: str,
    documents: str | None,
    replicates: int,
    seed: int,
    alpha: float,
    runs: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Compare outputs, without a study file; any number of systems.

    \b
    Examples:
      pipeline compare baseline.txt new.txt -r reference.txt
      pipeline compare runs/*.txt -r ref.A.txt -r ref.B.txt -m bleu -m chrf --json
      pipeline compare scores.csv --format scores --procedure approximate-randomization
    """  # noqa: D301 - click reads \b as "keep these lines"
    from pipeline.api import compare as compare_outputs
    from pipeline.api import name_outputs
    from pipeline.engine.progress import show_progress
    from pipeline.report.summary import summarise

    named = {"*": outputs[0]} if len(outputs) == 1 and format_ == "scores" else name_outputs(outputs)
    with show_progress(quiet=quiet, patience=5.0) as progress:
        document = compare_outputs(
            named,
            references,
            metrics=metrics,
            procedures=procedures,
            format=format_,
            documents=documents,
            replicates=replicates,
            seed=seed,
            alpha=alpha,
            runs=runs,
            progress=progress,
        )
    click.echo(json.dumps(document, ensure_ascii=False, indent=2) if as_json else summarise(document))


@cli.command()
@study_argument
@override_options
@json_option
def check(study: Path, as_json: bool, **overrides: Any) -> None:
    """Validate a study and align its items; compute nothing."""
    from pipeline.report.summary import format_alignment
    from pipeline.tasks.survey import survey_study

    loaded = _load(study, overrides)
    inputs = survey_study(loaded.study, loaded.base).inputs
    if as_json:
        rows = [
            {"test_set": t.name, "items": t.n_items, "units": t.n_units, "systems": list(t.alignment), "warnings": list(t.warnings)}
            for t in inputs.test_sets
        ]
        _print_json({"test_sets": rows})
        return
    for test_set in inputs.test_sets:
        planned = sum(output.training is not None for output in test_set.outputs)
        table = (test_set.name, test_set.n_items, test_set.n_units, test_set.alignment, test_set.warnings)
        click.echo(format_alignment(*table, planned=planned))


@cli.command()
@study_argument
@override_options
@place_options
@runs_option
@json_option
def plan(study: Path, workers: int | None, block_cells: int | None, runs: Path, as_json: bool, **overrides: Any) -> None:
    """Show the tasks of a study, what is done and open, and what the rest takes; measures this machine and stores nothing."""
    _show_plan(_load(study, overrides), runs, workers, block_cells, as_json)


@cli.command()
@study_argument
@override_options
@place_options
@runs_option
@click.option("--serial", is_flag=True, help="In this process, without a cluster; the same bits.")
@quiet_option
def run(study: Path, workers: int | None, block_cells: int | None, runs: Path, serial: bool, quiet: bool, **overrides: Any) -> None:
    """Run a study in the foreground, on this machine's cores.

    \b
    Examples:
      pipeline run study.yaml
      pipeline run study.yaml --workers 2 -b 10000 --set resampling.alpha=0.01

    Prints the run directory. The same study again is the same run: done at once.
    """  # noqa: D301 - click reads \b as "keep these lines"
    from pipeline.engine.launch import Launch

    _execute(_load(study, overrides), runs, Launch("serial" if serial else "local", workers, block_cells), quiet)


@cli.command()
@study_argument
@override_options
@place_options
@runs_option
@click.option("--cluster", help="local, or a profile: cluster/slurm.yaml. [the study's]")
@click.option("--wait", is_flag=True, help="Follow the run; its exit code is this command's. Ctrl-C lets go, the run goes on.")
@click.option("--dry-run", is_flag=True, help="Show the plan; start nothing.")
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
      pipeline submit study.yaml --cluster cluster/slurm.yaml
      pipeline submit study.yaml --cluster cluster/slurm.yaml --workers 20 --wait
    """  # noqa: D301 - click reads \b as "keep these lines"
    from pipeline.engine.launch import Launch, is_complete, prepare, start_detached
    from pipeline.study.load import locate_profile

    loaded = _load(study, overrides)
    if dry_run:
        _show_plan(loaded, runs, workers, block_cells, False)
        return
    profile = locate_profile(cluster or loaded.study.cluster, loaded.base)
    launch = Launch(profile, workers, block_cells)
    directory = prepare(loaded, runs, launch)
    click.echo(str(directory.root))
    if is_complete(directory):
        return
    pid = start_detached(directory, launch)
    if not quiet:
        click.echo(
            f"coordinator {pid} runs {directory.id}; follow it with: pipeline status {directory.id} --runs {directory.root.parent}",
            err=True,
        )
    if wait:
        _follow(directory, pid, quiet)


@cli.command()
@run_argument
@runs_option
@json_option
def status(run: str | None, runs: Path, as_json: bool) -> None:
    """Show where a run stands, from its files; no server is needed."""
    from pipeline.engine.progress import format_line
    from pipeline.engine.watch import read_status

    facts = read_status(_find(runs, run))
    if as_json:
        _print_json(facts)
    else:
        click.echo(format_line(facts))
        for line in (facts.get("message"), facts.get("advice")):
            if line:
                click.echo(f"  {line}")


@cli.command()
@run_argument
@runs_option
@click.option("-f", "--follow", is_flag=True, help="Go on until the run ends.")
def logs(run: str | None, runs: Path, follow: bool) -> None:
    """Show what happened in a run."""
    from pipeline.engine.watch import follow_events

    for line in follow_events(_find(runs, run), follow=follow):
        click.echo(line)


@cli.command()
@run_argument
@runs_option
def cancel(run: str | None, runs: Path) -> None:
    """Stop a run; what is done is kept, and `pipeline resume` goes on."""
    from pipeline.engine.watch import cancel_run

    click.echo(cancel_run(_find(runs, run)), err=True)


@cli.command()
@run_argument
@runs_option
@place_options
@click.option("--serial", is_flag=True, help="In this process, without a cluster.")
@click.option("--detach", is_flag=True, help="Return at once, as `submit` does.")
@quiet_option
def resume(
    run: str | None, runs: Path, workers: int | None, block_cells: int | None, serial: bool, detach: bool, quiet: bool
) -> None:
    """Go on with a run: check what is stored, compute what is missing or damaged, and nothing else."""
    from pipeline.engine.launch import Launch, forget_cancel, read_launch, start_detached

    directory = _find(runs, run)
    before = read_launch(directory)
    launch = Launch("serial" if serial else before.cluster, workers or before.workers, block_cells or before.block_cells)
    click.echo(str(directory.root))
    if detach:
        start_detached(directory, launch, verify=True)
        return
    forget_cancel(directory)
    _coordinate(directory, launch, quiet, verify=True)


@cli.command("list")
@runs_option
@json_option
def list_(runs: Path, as_json: bool) -> None:
    """List the runs, the latest last."""
    from pipeline.engine.progress import format_line
    from pipeline.engine.watch import read_status
    from pipeline.store.runs import list_runs

    found = [read_status(run) for run in list_runs(runs)]
    if as_json:
        _print_json({"runs": found})
        return
    for facts in found:
        click.echo(format_line(facts))


@cli.command()
@run_argument
@runs_option
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Another value for the report alone: resampling.alpha, analyses, systems.relation.",
)
@click.option("-o", "--output", type=click.Path(file_okay=False, path_type=Path), help="Another folder. [the run's report/]")
def report(run: str | None, runs: Path, settings: tuple[str, ...], output: Path | None) -> None:
    """Write the report again from the cubes, without recomputing."""
    from pipeline.report.write import write_report
    from pipeline.study.load import override_study
    from pipeline.tasks.manifest import read_manifest
    from pipeline.tasks.report import gather

    directory = _find(runs, run)
    study = override_study(read_manifest(directory).study, settings) if settings else None
    target = output or directory.report
    write_report(gather(directory, study=study), target)
    click.echo(str(target / "index.html"))


@cli.command(hidden=True)
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("--verify", is_flag=True)
def coordinate(directory: Path, verify: bool) -> None:
    """Run the coordinator of a submitted run; `submit` and `resume --detach` start this."""
    from pipeline.engine.launch import read_launch
    from pipeline.store.runs import RunDirectory

    found = RunDirectory(directory)
    _coordinate(found, read_launch(found), quiet=False, verify=verify)


def _load(study: Path, overrides: dict[str, Any]) -> LoadedStudy:
    from pipeline.study.load import load_study

    flags = {"replicates": "resampling.replicates", "seed": "seed", "test_sizes": "resampling.test_sizes"}
    given = []
    for flag, key in flags.items():
        value = overrides.get(flag)
        if value is not None:
            given.append(f"{key}=[{value}]" if flag == "test_sizes" else f"{key}={value}")
    return load_study(study, [*given, *overrides.get("settings", ())])


def _find(runs: Path, name: str | None) -> RunDirectory:
    from pipeline.store.runs import find_run

    return find_run(runs, name)


def _execute(loaded: LoadedStudy, runs: Path, launch: Launch, quiet: bool) -> None:
    from pipeline.engine.launch import forget_cancel, is_complete, prepare

    directory = prepare(loaded, runs, launch)
    click.echo(str(directory.root))
    if is_complete(directory):
        if not quiet:
            click.echo(f"{directory.id} is done already", err=True)
        return
    forget_cancel(directory)
    _coordinate(directory, launch, quiet)


def _coordinate(directory: RunDirectory, launch: Launch, quiet: bool, verify: bool = False) -> None:
    from pipeline.engine.launch import execute
    from pipeline.engine.progress import show_progress
    from pipeline.errors import render_problems

    with show_progress(quiet=quiet) as progress:
        ending = execute(directory, launch, progress=progress, verify=verify)
    if ending.message:
        click.echo(f"{ending.state.lower()}: {ending.message}", err=True)
    if ending.problems:
        click.echo(render_problems(dict.fromkeys(ending.problems)), err=True)
    if ending.exit_code:
        sys.exit(ending.exit_code)


def _follow(directory: RunDirectory, pid: int, quiet: bool) -> None:
    from pipeline.engine.progress import show_progress
    from pipeline.engine.watch import follow_run

    with show_progress(quiet=quiet) as progress:
        facts = follow_run(directory, pid, progress)
    if facts["message"] and not quiet:
        click.echo(f"{facts['state'].lower()}: {facts['message']}", err=True)
    if facts["exit_code"]:
        sys.exit(facts["exit_code"])


def _show_plan(loaded: LoadedStudy, runs: Path, workers: int | None, block_cells: int | None, as_json: bool) -> None:
    from pipeline.engine.preview import format_preview, preview_study

    preview = preview_study(loaded, runs, workers=workers, block_cells=block_cells)
    if as_json:
        _print_json(preview)
    else:
        click.echo(format_preview(preview))


def _print_json(value: dict[str, Any]) -> None:
    click.echo(json.dumps({"schema_version": 1, **value}, ensure_ascii=False, indent=2))


def main() -> None:
    """Run the command line; every ending has its exit code."""
    import traceback

    from pipeline.errors import PipelineError, render_problems

    debug = "--debug" in sys.argv or bool(os.environ.get("PIPELINE_DEBUG"))
    try:
        code = cli.main(standalone_mode=False)
    except PipelineError as error:
        if debug:
            traceback.print_exc()
        click.echo(render_problems(error.problems), err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output has gone: nothing more to say, and nothing went wrong.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:  # the outermost border: a fault of ours has an exit code of its own, never 1
        if debug:
            traceback.print_exc()
        text = f"error[P999]: something of ours broke: {type(error).__name__}: {error}\n   = help: `--debug` shows the traceback"
        click.echo(text, err=True)
        sys.exit(70)
    sys.exit(code if isinstance(code, int) else 0)
