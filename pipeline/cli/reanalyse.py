"""`pipeline reanalyse`: a study again at every slot, what changed since the last, and one α for all slots of a period."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline.cli.actions import load, print_json, print_report_path
from pipeline.cli.answers import (
    INCOMPLETE,
    Ran,
    is_github,
    place_of_history,
    refuse_unknown,
    run_what_is_open,
    settings_of,
    tell_github,
)
from pipeline.cli.options import cli, json_option, override_options, place_options, quiet_option, runs_option, study_argument
from pipeline.cli.terminal import link_to

if TYPE_CHECKING:
    from pipeline.engine.launch import Launch
    from pipeline.record.history import History
    from pipeline.report.history.account import Asked
    from pipeline.study.load import LoadedStudy

    _LooksType = click.ParamType[int | None]
else:
    _LooksType = click.ParamType  # generic from click 8.2 on only

__all__: list[str] = []

LOOKS = 30
NOT_MEASURED = "could not measure: slot {slot} spends nothing, and may be asked for again"


class _Looks(_LooksType):
    """A number of looks, or `endless`."""

    name = "looks"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | None:
        if value == "endless":
            return None
        if not str(value).isdecimal() or not 1 <= int(value) <= 100_000:
            self.fail(f"{value!r} is neither a number of looks, such as 30, nor `endless`.", param, ctx)
        return int(value)


@cli.command()
@study_argument
@click.option("--slot", metavar="NAME", help="Name of this time, such as 2026-11-26 or build-812. [the date in UTC]")
@click.option("--history", type=click.Path(file_okay=False, path_type=Path), help="Folder of the slots. [RUNS/.history/STUDY]")
@click.option(
    "--looks", type=_Looks(), default=str(LOOKS), show_default=True, help="Looks that share one α, in equal parts; or `endless`."
)
@click.option("--baseline", metavar="SYSTEM", help="Answer as a gate does: exit 1 where a system is worse than this one.")
@click.option("--candidate", "candidates", multiple=True, metavar="SYSTEM", help="System to judge; repeatable. [all others]")
@click.option(
    "--margin", "margins", multiple=True, metavar="METRIC=POINTS", help="The largest loss that does not matter; repeatable."
)
@click.option(
    "--confirm", type=click.IntRange(min=1), default=1, show_default=True, help="How many looks in a row must find a loss."
)
@click.option("--all-pairs", is_flag=True, help="Correct p for all pairs; needed for models with several runs.")
@click.option(
    "--summary", type=click.Path(dir_okay=False, path_type=Path), help="Also write the account to this file, as Markdown."
)
@click.option("--github/--no-github", default=None, help="Annotations and a job summary for GitHub. [inside a workflow]")
@click.option("--serial", is_flag=True, help="Run in this process, without a cluster; same results.")
@override_options
@place_options
@runs_option
@json_option
@quiet_option
def reanalyse(
    study: Path,
    slot: str | None,
    history: Path | None,
    looks: int | None,
    baseline: str | None,
    candidates: tuple[str, ...],
    margins: tuple[str, ...],
    confirm: int,
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
    """Analyse a study again and report what changed since the last time.

    For cron and other schedulers. A slot that is done is not repeated, and only what is new is computed. The chance of any
    false difference in all slots of a period together is at most α, where each p holds its level.

    \b
    Exit codes:
      0  done, or the slot was done before
      1  with --baseline: a system is worse, at the level of this look
      3, 4, 5  it could not be measured; nothing is spent, ask again;
               4 also where some comparisons could, and the slot is done
    \b
    Examples:
      pipeline reanalyse study.yaml
      pipeline reanalyse study.yaml --slot 2026-11-26 --looks endless
      pipeline reanalyse study.yaml --baseline released --confirm 2
    """  # noqa: D301 - click reads \b as "keep these lines"
    from pipeline.engine.launch import Launch
    from pipeline.record.history import History, is_slot_name
    from pipeline.report.history.account import Asked, refuse_other_plan
    from pipeline.report.history.gate import Judged
    from pipeline.report.layout.markdown import unescape
    from pipeline.store.outputs import refuse_unwritable, write_output
    from pipeline.store.runs import RunDirectory

    name = slot or datetime.now(UTC).date().isoformat()
    if not is_slot_name(name):
        raise click.UsageError(f"--slot {name!r}: letters, digits and . _ + - only, and it begins with a letter or digit")
    if candidates and baseline is None:
        raise click.UsageError("--candidate says what is compared with --baseline SYSTEM, which is missing")
    refuse_unwritable([summary])
    overrides["settings"] = (*settings_of(baseline, margins, all_pairs=all_pairs), *overrides.get("settings", ()))
    loaded = load(study, overrides)
    kept = History(history or place_of_history(runs, loaded))
    with kept.writing(), _shown(kept, runs):
        accounts = kept.accounts()
        account = next((one for one in accounts if one["slot"] == name), None)
        done_before = account is not None
        if account is None:
            _refuse_other_study(loaded, accounts, kept)
            refuse_other_plan(accounts, looks=looks, alpha=loaded.study.resampling.alpha)
            launch = Launch("serial" if serial else "local", workers, block_cells)
            ran = _measure(kept, name, loaded, runs, launch, quiet or as_json)
            account = _conclude(kept, name, ran, Asked(looks, baseline, candidates, confirm), accounts)
    text = (kept.root / "slots" / name / "account.md").read_text(encoding="utf-8")
    if summary is not None:
        write_output(summary, text.encode())
    if as_json:
        print_json({**account, "done_before": done_before})
    else:
        if done_before:
            click.echo(f"slot {name} is done already; nothing was done again")
        # A pipe goes on getting Markdown, for a summary or a mail.
        click.echo(unescape(text) if sys.stdout.isatty() else text, nl=False)
        print_report_path(RunDirectory(runs.resolve() / account["run"]), err=True)
        click.echo(f"history: {link_to(kept.page, sys.stderr)}", err=True)
    if account["comparisons"] and is_github(github) and not done_before:
        tell_github([Judged(**one) for one in account["comparisons"]], text)
    sys.exit(account["exit_code"])


@contextmanager
def _shown(kept: History, runs: Path) -> Iterator[None]:
    """Write the page of the history once its slot is there, or is known as missed; a disk that is full takes only the page."""
    from pipeline.errors import StoreError
    from pipeline.report.history.page import render_history
    from pipeline.store.files import write_bytes
    from pipeline.store.runs import RunDirectory

    try:
        yield
    finally:
        with suppress(StoreError):
            accounts, missed = kept.accounts(), kept.missed()
            found = {account["run"]: RunDirectory(runs.resolve() / account["run"]).page for account in accounts}
            pages = {run: os.path.relpath(page, kept.root.resolve()) for run, page in found.items() if page is not None}
            if accounts or missed:
                study = accounts[-1]["study"] if accounts else kept.root.name
                write_bytes(kept.page, render_history(study, accounts, missed, pages).encode())


def _refuse_other_study(loaded: LoadedStudy, accounts: list[dict[str, Any]], kept: History) -> None:
    from pipeline.errors import StudyError

    if accounts and accounts[-1]["study"] != loaded.study.study:
        raise StudyError.of(
            "P740",
            f"this history is of the study {accounts[-1]['study']!r}, not of {loaded.study.study!r}",
            where=str(kept.root),
            help="name another folder with --history, or leave it out: each study then has its own",
        )


def _measure(kept: History, slot: str, loaded: LoadedStudy, runs: Path, launch: Launch, quiet: bool) -> Ran:
    """Run what is open; a slot that cannot be measured is noted, and the command ends with the code of what was wrong."""
    from pipeline.errors import DataError

    try:
        ran = run_what_is_open(loaded, runs, launch, quiet)
    except DataError as error:
        kept.miss(slot, exit_code=error.exit_code, why="; ".join(problem.message for problem in error.problems[:3]))
        click.echo(NOT_MEASURED.format(slot=slot), err=True)
        raise
    except SystemExit as error:
        kept.miss(slot, exit_code=int(error.code or 0), why="the run did not end well")
        click.echo(NOT_MEASURED.format(slot=slot), err=True)
        raise
    if ran.failed:
        kept.miss(slot, exit_code=ran.failed, why="some tasks failed")
        click.echo(NOT_MEASURED.format(slot=slot), err=True)
        sys.exit(ran.failed)
    return ran


def _conclude(kept: History, slot: str, ran: Ran, asked: Asked, accounts: list[dict[str, Any]]) -> dict[str, Any]:
    """Read the run's report at the level of this look, and add the slot to the history."""
    from pipeline.record.manifest import read_manifest
    from pipeline.record.parts import digest_inputs, digest_settings
    from pipeline.report.document import read_report
    from pipeline.report.history.account import Measured, account_for
    from pipeline.report.history.slot_text import describe_slot
    from pipeline.store.seals import read_listed_json

    report = read_report(read_listed_json(ran.directory.report / "report.json"))
    manifest = read_manifest(ran.directory)
    inputs, settings = digest_inputs(manifest), digest_settings(manifest)
    measured = Measured(manifest.study.study, ran.directory.id, ran.tasks, inputs, settings)
    if asked.baseline is not None:
        refuse_unknown(report, (asked.baseline, *asked.candidates))
    account, judged = account_for(slot, report, measured, asked, accounts)
    if {one.answer for one in judged} == {"could not measure"}:  # nothing was seen of what was asked
        kept.miss(slot, exit_code=INCOMPLETE, why="no comparison with the baseline could be measured")
        click.echo("\n".join([NOT_MEASURED.format(slot=slot), *(f"  {one.say()}" for one in judged)]), err=True)
        sys.exit(INCOMPLETE)
    kept.add(account, describe_slot(account, judged))
    return account
