"""The catalogues: procedures, presets, metrics, formats, analyses and profiles, a line each; all names in the schema of studies."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from pipeline.cli.actions import print_json
from pipeline.cli.options import KINDS, cli, complete_names, complete_profiles, json_option
from pipeline.cli.terminal import prose, width_of
from pipeline.errors import UsageError
from pipeline.options import meant

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["member_page", "schema_text"]


_TWO_COLUMNS = 72
"""Columns of a terminal that has room for names beside what is said of them."""


def _complete_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Let the shell complete the names that a command lists."""
    return complete_names(KINDS[ctx.info_name or ""])(ctx, param, incomplete)


names_argument = click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=_complete_names)


@cli.command()
@names_argument
@json_option
def procedures(names: tuple[str, ...], as_json: bool) -> None:
    """List the significance tests and when to prefer each.

    --json adds the formula of the p that verdicts use.
    """
    from pipeline.errors import PluginError
    from pipeline.procedures.registry import PROCEDURES, other_names

    rows: list[dict[str, Any]] = []
    lines = []
    for name in PROCEDURES:
        try:
            found = PROCEDURES[name]
        except PluginError as error:  # it is installed, and what it needs is not
            rows.append({"name": name, "null": None, "when": None, "also_called": [], "formula": None, "page": None})
            lines.append(error.problems[0].message)
            continue
        row = {"name": name, "null": found.null, "when": found.when, "also_called": list(found.also_called)}
        rows.append({**row, "formula": found.formula, "page": found.page})
        also = [f"also called {', '.join(found.also_called)}"] if found.also_called else []
        lines.append("; ".join([f"null: {found.null}", f"prefer it {found.when}", *also, *filter(None, [found.page])]))
    _show("procedures", rows, lines, names, as_json, others=other_names())


@cli.command()
@names_argument
@json_option
def presets(names: tuple[str, ...], as_json: bool) -> None:
    """List the tools and papers that a study can follow.

    --json adds where each number misleads; docs/presets.md has the table.
    """
    from pipeline.errors import PluginError
    from pipeline.presets.registry import PRESETS

    rows: list[dict[str, Any]] = []
    lines = []
    for name in PRESETS:
        try:
            preset = PRESETS[name]
        except PluginError as error:  # it is installed, and what it needs is not
            rows.append({"name": name})
            lines.append(error.problems[0].message)
            continue
        rules = [f"{rule.procedure}, {rule.convention}" for rule in preset.rules]
        rows.append(
            {
                "name": name,
                "procedures": preset.procedures,
                "rules": rules,
                "identical": [rule.identical for rule in preset.rules],
                "analysis": next((rule.analysis for rule in preset.rules if rule.analysis), None),
                "replicates": preset.replicates,
                "null": preset.null,
                "misleads": preset.misleads,
                "reference": preset.reference,
            }
        )
        lines.append(f"{'; '.join(rules)}; null: {preset.null}; b = {preset.replicates:,}; {preset.reference}")
    _show("presets", rows, lines, names, as_json)


def member_page(family: str, point: EntryPoint) -> str | None:
    """Return the path of the page of a format or a metric in the documentation; None of another package's, which has its own.

    A format has its page by its name, a metric shares that of its module.
    """
    if point.module.partition(".")[0] != "pipeline":
        return None
    if family == "readers":
        return f"docs/formats/{point.name}.md"
    return f"docs/metrics/{point.module.rpartition('.')[2].replace('_', '-')}.md"


@cli.command()
@names_argument
@json_option
def metrics(names: tuple[str, ...], as_json: bool) -> None:
    """List the installed metrics and their options.

    --json adds the defaults of options, the options that are required (`needs`), form and direction where options do not change
    them, and the page in the documentation.
    """
    rows = _members("metrics")
    found = [{**_says(row), **_declared(row, "form", "higher_is_better"), **_takes("metrics", row)} for row in rows]
    _show("metrics", found, [f"{_told(row)}{_options(row)}" for row in found], names, as_json)


@cli.command()
@names_argument
@json_option
def formats(names: tuple[str, ...], as_json: bool) -> None:
    """List the formats of outputs and their options.

    --json adds the defaults of options, what outputs are compared with, the endings of file names, and the page in the
    documentation.
    """
    found = [
        {
            **_says(row),
            **_declared(row, "compares_with", "endings"),
            "metric": _declared(row, "usual_metric")["usual_metric"],
            **_takes("readers", row),
        }
        for row in _members("readers")
    ]
    lines = [f"{_told(row)}{_options(row)}{'; with ' + row['metric'] if row['metric'] else ''}" for row in found]
    _show("formats", found, lines, names, as_json)


@cli.command()
@names_argument
@json_option
def analyses(names: tuple[str, ...], as_json: bool) -> None:
    """List the analyses that a study can ask for."""
    rows = [_says(row) for row in _members("analyses")]
    _show("analyses", rows, [row["description"] for row in rows], names, as_json)


@cli.command()
@click.argument("name", required=False, shell_complete=complete_profiles)
@click.option("--coordinator", is_flag=True, help="Print the script of a SLURM job that runs the coordinator of a study.")
@json_option
def profiles(name: str | None, coordinator: bool, as_json: bool) -> None:
    """List the clusters that --cluster knows by name.

    With a name, print its file, which you can change and name instead:

    \b
      pipeline profiles slurm > mine.yaml
      pipeline submit study.yaml --cluster mine.yaml

    Where long processes on the login node are not allowed, the coordinator can be a job too:

    \b
      pipeline profiles --coordinator > coordinator.sbatch
      sbatch coordinator.sbatch study.yaml --cluster slurm
    """  # noqa: D301 - click reads \b as "keep these lines"
    from pipeline.study.profile import COORDINATOR, PROFILES, list_profiles

    if coordinator:
        if name is not None or as_json:
            raise click.UsageError("--coordinator prints one script: leave out NAME and --json")
        click.echo(COORDINATOR.read_text(encoding="utf-8"), nl=False)
        return
    texts = {one: (PROFILES / f"{one}.yaml").read_text(encoding="utf-8") for one in list_profiles()}
    if name in texts and not as_json:
        click.echo(texts[name], nl=False)
        return
    rows = [{"name": one, "description": text.partition("\n")[0].removeprefix("# "), "file": text} for one, text in texts.items()]
    _show("profiles", rows, [row["description"] for row in rows], [name] if name else [], as_json)


@cli.command()
def schema() -> None:
    """Print the JSON Schema of study files, for editors.

    It suggests the names of everything that is installed: procedures, presets, metrics, formats, analyses and trainers.

    \b
    Example:
      pipeline schema > study.schema.json
    and as the first line of study.yaml, for editors with a YAML language server:
      # yaml-language-server: $schema=study.schema.json
    """  # noqa: D301 - click reads \b as "keep these lines"
    click.echo(schema_text())


def schema_text() -> str:
    """Return the JSON Schema of study files, with the names of all that is installed."""
    import json

    from pipeline.plugins import list_plugins
    from pipeline.study.json_schema import study_json_schema

    families = ("procedures", "presets", "metrics", "readers", "analyses", "trainers")
    names = {family: list(list_plugins(family)) for family in families}
    names["readers"].append("auto")
    return json.dumps(study_json_schema(names), ensure_ascii=False, indent=2)


def _members(family: str) -> list[dict[str, Any]]:
    """Return the members of a family by name: the entry point, the class, and why it is None where it cannot be imported."""
    from pipeline.errors import PluginError
    from pipeline.plugins import import_plugin, list_plugins

    rows = []
    for name, point in list_plugins(family).items():
        made, lacks = None, ""
        try:
            made = import_plugin(family, name)
        except PluginError as error:
            lacks = error.problems[0].message  # it is installed, and what it needs is not
        rows.append({"name": name, "point": point, "made": made, "lacks": lacks})
    return rows


def _says(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the name of a member and the first line of what it says of itself."""
    import inspect

    says = row["lacks"] if row["made"] is None else inspect.getdoc(row["made"]) or ""
    return {"name": row["name"], "description": says.split("\n", 1)[0].replace("``", "`")}


def _declared(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return what the class of a member declares; None where it depends on options."""
    found = {name: getattr(row["made"], name, None) for name in names}
    return {name: _plain(value) if isinstance(value, str | bool | tuple) else None for name, value in found.items()}


def _takes(family: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a member, those that must be given, and its page."""
    import inspect

    parameters = inspect.signature(row["made"]).parameters.values() if row["made"] is not None else ()
    named = [one for one in parameters if one.kind in {one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD}]
    return {
        "options": {one.name: None if one.default is one.empty else _plain(one.default) for one in named},
        "needs": [one.name for one in named if one.default is one.empty],
        "page": member_page(family, row["point"]),
    }


def _plain(value: Any) -> Any:
    """Return a default as JSON has it; other packages may have any."""
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)


def _told(row: Mapping[str, Any]) -> str:
    """Return the description so that a line can go on behind it."""
    return str(row["description"]).removesuffix(".")


def _options(row: Mapping[str, Any]) -> str:
    return f"; options: {', '.join(row['options'])}" if row["options"] else ""


def _show(
    title: str,
    rows: Sequence[Mapping[str, object]],
    lines: Sequence[str],
    names: Sequence[str],
    as_json: bool,
    *,
    others: Mapping[str, str] | None = None,
) -> None:
    """Print the rows of these names, or all: a line each, or one document."""
    known = [str(row["name"]) for row in rows]
    unknown = next((name for name in names if name not in known), None)
    if unknown is not None:
        help_ = meant(unknown, known, others=others) or f"`pipeline {title}` lists them all"
        raise UsageError.of("P005", f"`pipeline {title}` lists no {unknown!r}", help=help_)
    kept = [(row, line) for row, line in zip(rows, lines, strict=True) if not names or row["name"] in names]
    if as_json:
        print_json({title: [row for row, _ in kept]})
        return
    width = max((len(str(row["name"])) for row, _ in kept), default=0)
    narrow = (width_of(sys.stdout) or _TWO_COLUMNS) < _TWO_COLUMNS
    for row, line in kept:
        if narrow:
            click.echo(f"{row['name']}\n{prose(f'    {line}', sys.stdout, '    ')}")
        else:
            click.echo(prose(f"{row['name']!s:<{width}}  {line}", sys.stdout, " " * (width + 2)))
