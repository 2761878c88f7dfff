"""`pipeline gate`: may this be released? Better, equivalent, inconclusive or worse than a baseline, as an exit code."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from pipeline.cli.actions import load, print_json, print_report_path
from pipeline.cli.answers import (
    INCOMPLETE,
    WORSE,
    choose_window,
    is_github,
    leave_out_others,
    place_of_history,
    refuse_unknown,
    run_what_is_open,
    settings_of,
    tell_github,
)
from pipeline.cli.options import cli, json_option, override_options, place_options, quiet_option, runs_option, study_argument

__all__: list[str] = []

INCONCLUSIVE = 6


@cli.command()
@study_argument
@click.option("--baseline", metavar="SYSTEM", help="What the others are compared with. [the study's]")
@click.option(
    "--baseline-window",
    type=click.IntRange(min=1),
    metavar="W",
    help="Compare the last system by name, such as build-0812, with the W before it; no --baseline then.",
)
@click.option("--candidate", "candidates", multiple=True, metavar="SYSTEM", help="System to judge; repeatable. [all others]")
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
    help="With inconclusive, also fail where neither a difference nor equivalence is shown.",
)
@click.option(
    "--confirm", type=click.IntRange(min=1), default=1, show_default=True, help="How many runs in a row must find a loss."
)
@click.option(
    "--history",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the answers of earlier runs, for --confirm. [RUNS/.history/STUDY]",
)
@click.option("--all-pairs", is_flag=True, help="Correct p for all pairs; needed for models with several runs.")
@click.option("--summary", type=click.Path(dir_okay=False, path_type=Path), help="Write the answers to this file, as Markdown.")
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
    baseline_window: int | None,
    candidates: tuple[str, ...],
    margins: tuple[str, ...],
    fail_on: str,
    confirm: int,
    history: Path | None,
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
    """Fail a build where systems are worse than a baseline.

    \b
    Exit codes:
      0  better, equivalent, or inconclusive
      1  worse, and not shown to be within the margin
      6  inconclusive, with --fail-on inconclusive
      3, 4, 5  it could not be measured: data, failures, nothing to compare
    \b
    Examples:
      pipeline gate study.yaml --baseline released
      pipeline gate study.yaml --baseline released \\
        --margin bleu=0.3 --fail-on inconclusive
      pipeline gate study.yaml --baseline released --confirm 2
      pipeline gate builds.yaml --baseline-window 5
    """  # noqa: D301 - click reads \b as "keep these lines"
    from pipeline.engine.launch import Launch
    from pipeline.record.history import History
    from pipeline.report.document import read_report
    from pipeline.report.history.confirmation import confirm_losses, list_answers
    from pipeline.report.history.gate import conclude_gate, judge_candidates, render_gate
    from pipeline.store.outputs import refuse_unwritable, write_output
    from pipeline.store.seals import read_listed_json

    refuse_unwritable([summary])
    own = tuple(overrides.get("settings", ()))
    overrides["settings"] = (*settings_of(baseline, margins, all_pairs=all_pairs), *own)
    loaded = load(study, overrides)
    if baseline_window is not None:
        if baseline is not None or candidates or all_pairs:
            raise click.UsageError(
                "--baseline-window chooses baselines and candidate itself: no --baseline, --candidate, --all-pairs"
            )
        if confirm > baseline_window:
            raise click.UsageError(
                f"--confirm {confirm} asks for {confirm} builds in succession that are worse than the same earlier one, which the "
                f"window of the last of them must still hold: --baseline-window {confirm} or more"
            )
        *before, last = choose_window(loaded, baseline_window)
        overrides["settings"] = (*settings_of(last, margins, all_pairs=False), *own, *leave_out_others(loaded, (*before, last)))
        loaded = load(study, overrides)
        against, candidates = tuple(before), (last,)
    else:
        named = baseline or loaded.study.resampling.baseline
        if named is None:
            raise click.UsageError(
                "there is no baseline: give --baseline SYSTEM, or the study `resampling: {family: against-baseline, baseline: …}`"
            )
        against = (named,)
    directory, failed, _ = run_what_is_open(
        loaded, runs, Launch("serial" if serial else "local", workers, block_cells), quiet or as_json, named=(*against, *candidates)
    )
    report = read_report(read_listed_json(directory.report / "report.json"))
    if not failed:
        refuse_unknown(report, (*against, *candidates))
    judged = [one for each in against for one in judge_candidates(report, each, candidates)]
    if confirm > 1 and not failed:
        kept, window = History(history or place_of_history(runs, loaded)), baseline_window is not None
        before_this = kept.note_answers(directory.id, list_answers(judged, window=window))
        judged = confirm_losses(judged, before_this, runs=confirm, window=window)
    answer = conclude_gate(judged)
    text = render_gate(judged, run=directory.id)
    if summary is not None:
        write_output(summary, text.encode())
    if as_json:
        print_json({"answer": answer, "run": directory.id, "comparisons": [asdict(one) for one in judged]})
    else:
        click.echo("\n".join([answer, *(f"  {one.say()}" for one in judged)]))
        print_report_path(directory, err=True)
    if is_github(github):
        tell_github(judged, text)
    sys.exit(_code(answer, fail_on, failed))


def _code(answer: str, fail_on: str, failed: int) -> int:
    if answer == "worse":
        return WORSE
    if failed or answer == "could not measure":
        return failed or INCOMPLETE
    return INCONCLUSIVE if answer == "inconclusive" and fail_on == "inconclusive" else 0
