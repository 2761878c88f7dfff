"""`pipeline init`, which writes a first study of files that are there, and `config`, which shows where each value comes from."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import click

from pipeline.cli.actions import load, print_json
from pipeline.cli.options import (
    cli,
    complete_files,
    complete_names,
    format_option,
    json_option,
    missing_option,
    override_options,
    study_argument,
)
from pipeline.cli.terminal import saying_if_interrupted, tell, width_of

__all__: list[str] = []

_NOTHING_WRITTEN = "nothing was written"
_BASELINE = re.compile(r"(?:.*[-_. ])?(?:base|baseline|control)(?:[-_. ].*)?", re.IGNORECASE)
"""Names of systems that others are meant to be compared with."""


@cli.command()
@click.argument("outputs", nargs=-1, metavar="[OUTPUT]...", shell_complete=complete_files)
@click.option(
    "-r", "--reference", "references", multiple=True, shell_complete=complete_files, help="Reference or gold file; repeatable."
)
@click.option(
    "-m",
    "--metric",
    "metrics",
    multiple=True,
    shell_complete=complete_names("metrics"),
    help="Metric; repeatable. [what is usual for the format]",
)
@format_option
@missing_option
@click.option("--columns", help="What the columns of a table hold: '{system: llm, item: question}'.")
@click.option("--sets", is_flag=True, help="Each table is a test set, with a column for every system.")
@click.option(
    "--baseline", metavar="SYSTEM", help="Compare all others with this system. [one whose name says baseline, else all pairs]"
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("study.yaml"),
    show_default=True,
    help="The study file to write.",
)
@click.option("-y", "--yes", is_flag=True, help="Write the study without asking first.")
def init(
    outputs: tuple[str, ...],
    references: tuple[str, ...],
    metrics: tuple[str, ...],
    format_: str,
    missing: str,
    columns: str | None,
    sets: bool,
    baseline: str | None,
    output: Path,
    yes: bool,
) -> None:
    """Write a commented study, ready to run, from your files.

    Without files it looks at the current folder. Files called ref, gold and the like are what outputs are compared with, and one
    called docs, or a table of segments with a column of documents, says which document each item belongs to. Folders that each
    hold outputs of several systems, or a folder of such folders, are test sets of one study; so are tables of different items,
    with a column for every system, with --sets tables whose items have the same names, and the tasks that a column of one table
    names. A path with {test_set} names the files of several test sets, with {system} or without.

    \b
    Examples:
      pipeline init
      pipeline init hyps/*.txt -r ref.txt -o wmt.yaml
      pipeline init scores.csv --baseline base --yes
      pipeline init news talks
      pipeline init 'out/{test_set}.{system}.txt' -r 'ref/{test_set}.txt'
    """  # noqa: D301 - click reads \b as "keep these lines"
    from pipeline.api import compare_study
    from pipeline.cli.catalogue import schema_text
    from pipeline.errors import UsageError
    from pipeline.report.trust.units import count_units
    from pipeline.store.outputs import refuse_unwritable, write_output
    from pipeline.study.starter import SCHEMA_FILE, ask_across, join_studies, write_starter
    from pipeline.study.writing import UNNAMED_SET
    from pipeline.study.yaml_values import parse_flow
    from pipeline.survey.compare_arguments import parse_columns, parse_named, speaking_of_compare
    from pipeline.survey.folders import expand_folders, find_test_sets
    from pipeline.survey.near_documents import propose_documents
    from pipeline.survey.output_patterns import name_by_patterns
    from pipeline.survey.sets_in_names import find_sets_in_names
    from pipeline.survey.sets_in_tables import find_sets_in_column, find_sets_in_tables
    from pipeline.survey.survey import survey_study

    if output.exists():
        raise UsageError.of("P022", "the file exists already", where=str(output), help="name another with -o, or remove it")
    refuse_unwritable([output])
    with saying_if_interrupted(_NOTHING_WRITTEN), speaking_of_compare(references=references):
        form = parse_flow(format_, "--format")
        forms: dict[str, Any] = {}
        found_sets = find_sets_in_names(outputs, references, base=Path.cwd())
        if not (found_sets or references or sets):
            found_sets = find_test_sets(outputs or (".",), base=Path.cwd())
        if not found_sets:
            files = expand_folders(outputs or (".",), references, base=Path.cwd(), command="init")
            tables = find_sets_in_tables(files, base=Path.cwd(), form=form, columns=parse_columns(columns), asked=sets)
            if not tables:
                forms = find_sets_in_column(files, base=Path.cwd(), form=form, columns=parse_columns(columns))
                told = f"the column '{next(iter(next(iter(forms.values()))['rows']))}' names the test sets" if forms else ""
                tables = dict.fromkeys(forms, files._replace(told=told))
            if sets and not tables:
                raise click.UsageError("--sets takes two tables of scores or more, each of another name, and no reference")
            found_sets = tables or {UNNAMED_SET: files}
        studies = {
            name: propose_documents(
                compare_study(
                    parse_named(files.outputs, base=Path.cwd()),
                    files.references,
                    metrics=[parse_flow(metric, "-m") for metric in metrics],
                    format=forms.get(name, form),
                    missing=missing,
                    columns=parse_columns(columns) or None,
                    baseline=baseline,
                )
            )
            for name, files in found_sets.items()
        }
        loaded = join_studies({name: one.loaded for name, one in studies.items()})
        found = survey_study(loaded.study, loaded.base).inputs.test_sets
    systems = list(dict.fromkeys(output.system for test_set in found for output in test_set.outputs))
    everywhere = [name for name in systems if all(any(o.system == name for o in test_set.outputs) for test_set in found)]
    loaded = ask_across(loaded, len(everywhere))
    guess = baseline or _guess_baseline(everywhere)
    readers = {name: test_set.format.name for name, test_set in loaded.study.test_sets.items()}
    counted = {one.name: count_units(one.n_items, one.n_units, one.unit, readers[one.name]) for one in found}
    chosen = guess and ("named" if baseline else "by its name")
    for line in (
        *dict.fromkeys(files.told for files in found_sets.values()),
        *dict.fromkeys(one.told for one in studies.values()),
        f"format: {', '.join(dict.fromkeys(readers.values()))}",
        f"systems: {_name_all(systems)}",
        f"size: {_list_sizes(counted)}",
        f"metrics: {', '.join(metric.name for metric in loaded.study.metrics)}",
        f"baseline: {guess} ({chosen})" if guess else "baseline: none, so all pairs are compared",
        *dict.fromkeys(f"warning: {warning}" for one in found for warning in one.warnings),
    ):
        if line:
            tell(line)
    if not yes and sys.stdin.isatty():
        with saying_if_interrupted(_NOTHING_WRITTEN):
            click.confirm(f"Write {output}?", default=True, abort=True, err=True)
    loaded = name_by_patterns(loaded)
    text = write_starter(loaded, output, counted=_list_sizes(counted), unit=found[0].unit, systems=systems, baseline=guess)
    write_output(output, text.encode())
    schema = output.parent / SCHEMA_FILE
    if not schema.exists():
        write_output(schema, (schema_text() + "\n").encode())
        tell(f"written: {schema}, from which an editor proposes keys and names")
    tell(f"next: pipeline run {shlex.quote(str(output))}")
    click.echo(str(output))


def _guess_baseline(systems: list[str]) -> str | None:
    """Return the only system that is called a baseline; None where there is none or several.

    Examples
    --------
    >>> _guess_baseline(["base", "new"]), _guess_baseline(["base-1", "base-2", "new"]), _guess_baseline(["database", "new"])
    ('base', None, None)
    """
    named = [system for system in systems if _BASELINE.fullmatch(system)]
    return named[0] if len(named) == 1 else None


def _list_sizes(counted: dict[str, str]) -> str:
    """Say how large test sets are; the only one has no name yet."""
    return ", ".join(size if len(counted) == 1 else f"{name} ({size})" for name, size in counted.items())


def _name_all(systems: list[str]) -> str:
    from pipeline.errors import name_some

    return f"{len(systems)}: {name_some(systems, most=8)}"


@cli.command()
@study_argument
@override_options
@json_option
def config(study: Path, as_json: bool, **overrides: Any) -> None:
    """Show every value of a study and where it comes from.

    The origin is a line of the file, a flag, the preset, or the default. Keys are written as --set takes them.
    """
    from pipeline.errors import visible
    from pipeline.study.origins import list_origins

    values = list_origins(load(study, overrides))
    if as_json:
        print_json({"values": [one._asdict() for one in values]})
        return
    width = width_of(sys.stdout) or shutil.get_terminal_size((110, 24)).columns
    mark = "  # "
    column = min(max(len(one.line) for one in values), max(20, width - len(mark) - max(len(one.origin) for one in values)))
    for one in values:
        line, origin = visible(one.line), visible(one.origin)
        if len(line) <= column:
            click.echo(f"{line:<{column}}{mark}{origin}")
            continue
        key, colon, value = line.partition(": ")
        folded = f"{key}:\n  {value}" if len(line) > width and colon else line
        click.echo(f"{folded}\n{'':<{column}}{mark}{origin}")
