"""`pipeline compare`: two outputs or more, without a study file."""

from __future__ import annotations

import json
import os
import shlex
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import click

from pipeline.cli.actions import print_report_path
from pipeline.cli.options import (
    COUNT,
    CommandWithNames,
    cli,
    complete_files,
    complete_names,
    format_option,
    missing_option,
    quiet_option,
)
from pipeline.cli.terminal import saying_if_interrupted, saying_why_it_takes_long, screen_of, tell

__all__: list[str] = []

_TYPED = "pipeline.compare.typed"
"""Where click keeps the command as it was given, for pages."""
_NOTHING_KEPT = "nothing is kept; with `--runs DIR` the same command, given again, continues where it stopped"
_CONTINUES = "give the same command again; it continues where it stopped"

_FILE = click.Path(dir_okay=False, path_type=Path)


class _Compare(CommandWithNames):
    """`--json` prints; with a file behind an equals sign it writes: without the sign an output would be taken for that file."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_TYPED] = shlex.join(["pipeline", "compare", *args])
        meant = list(args)
        for place, (option, value) in enumerate(pairwise(args)):
            if option == "--json" and value == "-":  # what other programs call standard output
                meant[place + 1] = "--json"
            elif option == "--json" and value.endswith(".json") and not os.path.exists(value):
                raise click.UsageError(f"`--json` takes no file; `--json={value}` writes the document to it", ctx)
        meant = [f"--json-file{arg[6:]}" if arg.startswith("--json=") and arg != "--json=-" else arg for arg in meant]
        return super().parse_args(ctx, ["--json" if arg == "--json=-" else arg for arg in meant])


@cli.command(cls=_Compare, kinds=("procedures", "presets", "metrics", "formats"))
@click.argument("outputs", nargs=-1, required=True, metavar="OUTPUT...", shell_complete=complete_files)
@click.option(
    "-r",
    "--reference",
    "references",
    multiple=True,
    shell_complete=complete_files,
    help="Reference or gold file; repeat for several references.",
)
@click.option(
    "-m",
    "--metric",
    "metrics",
    multiple=True,
    shell_complete=complete_names("metrics"),
    help="Metric, or name of a score in the files; repeatable. [bleu for text, accuracy for labels, every score of a harness, …]",
)
@click.option(
    "--procedure",
    "procedures",
    multiple=True,
    shell_complete=complete_names("procedures"),
    help="A test of `pipeline procedures`; repeatable, the first decides. [paired-bootstrap, or the preset's]",
)
@click.option(
    "--preset",
    shell_complete=complete_names("presets"),
    help="Use a tool's or paper's settings (see `pipeline presets`) and also print its p-value.",
)
@format_option
@missing_option
@click.option(
    "--documents",
    shell_complete=complete_files,
    help="File with the document name of each item, one per line; documents are then resampled, not items.",
)
@click.option("--unit", help="What is resampled: item, document, or a column. [documents where the files mark them, else items]")
@click.option("--columns", help="What the columns of a table hold: '{system: llm, item: question, replica: seed}'.")
@click.option(
    "--filter",
    "filters",
    multiple=True,
    metavar="COLUMN=VALUE",
    help="Keep only items with this value; repeatable. Values of one column are alternatives; several columns must all match.",
)
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Leave these systems out: a name, or a pattern such as 'ref*'.")
@click.option(
    "-b", "--replicates", type=COUNT, help="Number of replicates; max-T counts p on the first 9999. [100000, or the preset's]"
)
@click.option("--seed", type=int, help="Seed of all random draws. [20120712, or the preset's]")
@click.option(
    "--across-families",
    type=click.Choice(["none", "holm", "benjamini-bogomolov"]),
    default="none",
    show_default=True,
    help="How p is corrected for the number of metrics.",
)
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Significance level.")
@click.option("--baseline", metavar="SYSTEM", help="Compare all others with this system only. [all pairs]")
@click.option("--html", "page", type=_FILE, help="Write the report with its figures to this one file.")
@click.option("--md", "markdown", type=_FILE, help="Write verdict and tables to this file, as Markdown.")
@click.option("--latex", type=_FILE, help="Write the tables to this file, as LaTeX (booktabs).")
@click.option("--save-study", type=_FILE, help="Write the study file of this comparison, to change and run again.")
@click.option(
    "--runs",
    type=click.Path(file_okay=False, readable=False, path_type=Path),
    help="Keep the run in this folder. [nothing is kept]",
)
@click.option("--json-file", type=_FILE, hidden=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout; --json=FILE writes it there.")
@quiet_option
def compare(
    outputs: tuple[str, ...],
    references: tuple[str, ...],
    metrics: tuple[str, ...],
    procedures: tuple[str, ...],
    preset: str | None,
    format_: str,
    missing: str,
    documents: str | None,
    unit: str | None,
    columns: str | None,
    filters: tuple[str, ...],
    exclude: tuple[str, ...],
    replicates: int | None,
    seed: int | None,
    across_families: str,
    alpha: float,
    baseline: str | None,
    page: Path | None,
    markdown: Path | None,
    latex: Path | None,
    save_study: Path | None,
    runs: Path | None,
    json_file: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Compare any number of outputs without a study file.

    Systems are named after their files, without known endings and without what all file names share, or by NAME=OUTPUT. A folder
    stands for its outputs and its file called ref or gold; the results of a harness stand for the samples of all models. A path
    with {system} and {replica} names all runs of several models, and compares the models.

    \b
    Examples:
      pipeline compare baseline.txt new.txt -r reference.txt
      pipeline compare runs/*.txt -r ref.A.txt -r ref.B.txt -m bleu -m chrf --json
      pipeline compare 'hyps/{system}.seed{replica}.txt' -r reference.txt
      pipeline compare ours=runs/17/out.txt base=runs/9/out.txt -r reference.txt
      pipeline compare scores.csv --baseline base --latex t.tex --html r.html
      pipeline compare scores.csv --filter domain=news --exclude 'human*'
      pipeline compare scores.csv --procedure approximate-randomization
      pipeline compare a.conll b.conll -r gold.conll \\
        --format columns -m chunk-recall
      pipeline compare old.txt new.txt -r ref.txt -m bleu --preset sacrebleu-bs
      pipeline compare runs/*/samples_gsm8k_*.jsonl -m exact_match \\
        --format '{name: lm-eval, filter: strict-match}'
    """  # noqa: D301 - click reads \b as "keep these lines"
    from pipeline.api import compare as compare_outputs
    from pipeline.engine.watching.progress import show_progress
    from pipeline.store.outputs import refuse_unwritable, write_output
    from pipeline.study.yaml_values import parse_flow
    from pipeline.survey.compare import find_format, usual_metrics
    from pipeline.survey.compare_arguments import (
        files_of,
        parse_columns,
        parse_filters,
        parse_named,
        refuse_settings,
        speaking_of_compare,
    )
    from pipeline.survey.folders import expand_folders

    refuse_unwritable((page, markdown, latex, json_file, save_study))
    with speaking_of_compare(references=references):
        refuse_settings(preset, procedures, replicates)
        form = parse_flow(format_, "--format")
        named, kept = parse_columns(columns), parse_filters(filters)
        files = expand_folders(outputs, references, base=Path.cwd())
        systems = parse_named(files.outputs, base=Path.cwd())
        each = files_of(systems, base=Path.cwd())
        found = find_format(form, list(each.values()), files.references, base=Path.cwd(), columns=named)
        asked: list[Any] = [parse_flow(metric, "-m") for metric in metrics]
        told = [files.told, found.told]
        if not asked:
            usual = usual_metrics(found, each, base=Path.cwd())
            asked = usual.metrics
            told.append(usual.told)
    for line in filter(None, told):
        if not quiet:
            tell(line)
    with (
        saying_if_interrupted(_CONTINUES if runs else _NOTHING_KEPT),
        saying_why_it_takes_long(quiet=quiet),
        show_progress(quiet=quiet, patience=5.0) as progress,
    ):
        document = compare_outputs(
            systems,
            files.references,
            metrics=asked,
            procedures=procedures,
            preset=preset,
            format=form,
            missing=missing,
            documents=documents,
            unit=unit,
            columns=named,
            filter=kept,
            exclude=exclude,
            replicates=replicates,
            seed=seed,
            across_families=across_families,
            alpha=alpha,
            baseline=baseline,
            runs=runs,
            page=page,
            save_study=save_study,
            command=click.get_current_context().meta[_TYPED],
            progress=progress,
        )
    from pipeline.report.layout.summary import summarise  # only now: a refusal should not wait for what draws results
    from pipeline.store.runs import RunDirectory

    if as_json:
        click.echo(_as_json(document))
    else:
        rest = "are in the report" if runs else "are not shown: `--json` prints them all, `--runs DIR` keeps a report"
        if not runs and document["all_pairs"]["rule"] is not None:
            rest = "are not shown: `--runs DIR` keeps a report with tables of all pairs"
        screen = screen_of(sys.stdout)
        click.echo(summarise(document.report, rest=rest, screen=screen), color=screen.colour or None)
    for path, render in (
        (markdown, document.to_markdown),
        (latex, document.to_latex),
        (json_file, lambda: f"{_as_json(document)}\n"),
    ):
        if path is not None:
            write_output(path, render().encode())
    for path in (page, markdown, latex, json_file, save_study):
        if path is not None and not quiet:
            click.echo(f"written: {path}", err=True)
    if runs and not (as_json and quiet):
        print_report_path(RunDirectory(runs.absolute() / document["run_id"]), err=as_json)


def _as_json(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2)
