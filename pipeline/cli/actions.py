"""What several commands do: turn what was typed into calls, and endings into exit codes."""

from __future__ import annotations

import json
import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline.cli.terminal import link_to, saying_why_it_takes_long, screen_of, show_problems, tell

if TYPE_CHECKING:
    from pipeline.engine.launch import Launch
    from pipeline.store.runs import RunDirectory
    from pipeline.study.load import LoadedStudy
    from pipeline.study.schema import Study

__all__ = [
    "coordinate",
    "exit_if_turned",
    "find",
    "load",
    "open_page",
    "print_json",
    "print_report_path",
    "refuse_turned",
    "tell_findings",
    "tell_report",
]

MOST_PROBLEMS = 10
"""Failures told in full on a terminal, those alike as one."""

MOST_BYTES = 100_000_000
"""Of a report.json that is read for its verdict: a larger one has pairs by the hundred thousand, and takes seconds."""

MOST_ROWS = 20
"""Verdicts that the end of a run lists."""


def load(study: Path, overrides: dict[str, Any]) -> LoadedStudy:
    """Read a study with the overrides of the command line."""
    from pipeline.study.load import load_study

    flags = {"replicates": "resampling.replicates", "seed": "seed", "test_sizes": "resampling.test_sizes"}
    given = []
    for flag, key in flags.items():
        value = overrides.get(flag)
        if value is not None:
            given.append(f"{key}=[{value}]" if flag == "test_sizes" else f"{key}={value}")
    return load_study(study, [*given, *overrides.get("settings", ())])


def find(runs: Path, name: str | None) -> RunDirectory:
    """Return the run of that name, the latest where there is none."""
    from pipeline.store.runs import find_run

    return find_run(runs, name)


def coordinate(directory: RunDirectory, launch: Launch, quiet: bool, verify: bool = False) -> None:
    """Run tasks in this process until the run ends, and exit with its code."""
    from pipeline.engine.launch import execute
    from pipeline.engine.watching.progress import show_progress
    from pipeline.errors import join_alike, visible

    begun = time.time()
    with saying_why_it_takes_long(quiet=quiet), show_progress(quiet=quiet) as progress:
        ending = execute(directory, launch, progress=progress, verify=verify)
    if ending.told:
        tell(visible(f"{ending.state.lower()}: {ending.told}"))
    if ending.problems:
        told = join_alike(ending.problems)
        show_problems(told[:MOST_PROBLEMS])
        if len(told) > MOST_PROBLEMS:
            tell(f"… and {len(told) - MOST_PROBLEMS} more failures: the report lists them all, `pipeline logs` too")
    # A run that is incomplete may have the report of an earlier attempt.
    page = directory.page
    if not quiet and page is not None and (not ending.exit_code or page.stat().st_mtime >= begun):
        tell_report(directory)
    if ending.exit_code:
        sys.exit(ending.exit_code)
    exit_if_turned(directory)


def refuse_turned(directory: RunDirectory, report: Path, study: Study) -> None:
    """Raise P451 where known answers of a study do not agree with a report of its run."""
    from pipeline.errors import AnswerTurned, Problem
    from pipeline.report.expectations import list_turned

    turned = list_turned(report, study, partial(_judge_anew, directory, study))
    others = [one.name for one in turned if one.lacking is None]
    lacking = [f"{one.name}: {one.lacking}" for one in turned if one.lacking is not None]
    of, where = "of the study's known answers", str(report / "tables" / "expectations.csv")
    problems = []
    if others:
        said = f"{len(others)} {of} {'do' if len(others) > 1 else 'does'} not agree: {'; '.join(others)}"
        help = "the run is complete; if the new number is right, change `expect` in the study, or say there why it `differs`"
        problems.append(Problem("P451", said, where, help))
    if lacking:
        said = f"{len(lacking)} {of} {'are' if len(lacking) > 1 else 'is'} not in the results: {'; '.join(lacking)}"
        help = "the run is complete; correct the table, `where` or column in `expect`, or leave the expectation out"
        problems.append(Problem("P451", said, where, help))
    if problems:
        raise AnswerTurned(*problems)


def _judge_anew(directory: RunDirectory, study: Study) -> Any:
    """Make the report of a run again, write nothing, and return how its known answers fare."""
    from pipeline.report.build import build_report
    from pipeline.tasks.report import gather

    found = build_report(gather(directory, study=study)).held_to
    assert found is not None  # a study that expects nothing is not asked
    return found


def exit_if_turned(directory: RunDirectory) -> None:
    """Raise P451 where the study's known answers do not agree with the run's report."""
    from pipeline.record.manifest import read_manifest

    refuse_turned(directory, directory.report, read_manifest(directory).study)


def tell_report(directory: RunDirectory) -> None:
    """Say on stderr what a run found, what is not in order, and where its report is; nothing where there is no report."""
    tell_findings(directory.report)
    print_report_path(directory, err=True)


def tell_findings(report: Path) -> None:
    """Say on stderr what a report found and what is not in order, from its folder; nothing where it has no report.json."""
    from pipeline.report.document import SCHEMA_VERSION, read_checks, read_leads, read_report, read_titles, read_verdicts
    from pipeline.report.layout.overview import are_many, look_over
    from pipeline.report.layout.summary import conclude, list_doubts, show_overview, tint

    path = report / "report.json"
    if path.is_file() and path.stat().st_size <= MOST_BYTES:
        document = json.loads(path.read_bytes())
        screen = screen_of(sys.stderr)
        verdicts, leads = read_verdicts(document), read_leads(document)
        many = are_many(verdicts) and document["schema_version"] == SCHEMA_VERSION
        overview = look_over(read_report(document)) if many else None
        said = leads if overview is not None else conclude(verdicts, titles=read_titles(document), leads=leads)
        found = [screen.paint(screen.fit(line), "bold") for line in said]
        found += [] if overview is None else [*show_overview(overview, screen, most=MOST_ROWS), ""]
        for line in (*found, *(tint(line, screen) for line in list_doubts(read_checks(document)))):
            click.echo(line, err=True, color=screen.colour or None)


def print_report_path(directory: RunDirectory, *, err: bool) -> None:
    """Say where the report of a run is, on stderr or on stdout; nothing where there is none."""
    page = directory.page
    if page is not None:
        click.echo(f"report: {link_to(page, sys.stderr if err else sys.stdout)}", err=err)


def open_page(page: Path) -> bool:
    """Show a page in a browser, and return whether there is one; its absence is no error."""
    import webbrowser

    shown = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    if sys.platform.startswith("linux") and not any(os.environ.get(name) for name in shown):
        return False  # only a browser of the terminal could be found, which would take the terminal over
    try:
        return webbrowser.open(page.absolute().as_uri())
    except webbrowser.Error:
        return False


def print_json(value: dict[str, Any], *, indent: int | None = 2) -> None:
    """Print one document; on one line where it has no ``indent``."""
    click.echo(json.dumps({"schema_version": 1, **value}, ensure_ascii=False, indent=indent))
