"""What there is, one line each: procedures, presets, metrics, formats, analyses. This module lists and computes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from pipeline.cli.actions import print_json
from pipeline.cli.group import cli
from pipeline.cli.options import json_option

__all__ = ["WHEN", "page_of"]

WHEN: Mapping[str, str] = {
    "paired-bootstrap": "for an interval, a margin, or a metric whose denominators differ",
    "approximate-randomization": "with few units or few that differ, where the denominators are the same",
    "exact-bootstrap": "for a bootstrap p without Monte-Carlo error, where the denominators are the same",
    "exact-sign-flip": "whenever it can be computed and few units differ",
    "mcnemar": "for 0/1 scores with few discordant units",
    "mcnemar-mid-p": "where mcnemar is too cautious and a level that is met on average will do",
    "sign": "where only the direction of a unit's difference means something",
    "paired-t": "to check another one: every reader knows it",
    "wilcoxon": "where differences have long tails; it is no test of the mean",
}
"""When to prefer a procedure; as its page and docs/procedures.md have it."""


def page_of(procedure: str) -> str:
    """Give the path of a procedure's page in the documentation; the mid-p is on McNemar's."""
    return f"docs/procedures/{procedure.removesuffix('-mid-p')}.md"


@cli.command()
@json_option
def procedures(as_json: bool) -> None:
    """List the significance tests: what each tests, when to prefer it, and its page in the documentation."""
    from pipeline.report.procedures import WORDS
    from pipeline.study.procedures import PROCEDURES

    rows = [{"name": name, "null": WORDS[name].null, "when": WHEN[name], "page": page_of(name)} for name in PROCEDURES]
    lines = [f"null: {row['null']}; prefer it {row['when']}; {row['page']}" for row in rows]
    _show("procedures", rows, lines, as_json)


@cli.command()
@json_option
def presets(as_json: bool) -> None:
    """List the published procedures and tools whose settings and numbers can be asked for.

    With --json also where each number misleads; docs/presets.md has it in a table.
    """
    from pipeline.presets.table import PRESETS

    rows = [
        {
            "name": preset.name,
            "procedures": [rule.procedure for rule in preset.rules if not rule.analysis],
            "rules": [f"{rule.procedure}, {rule.convention}" for rule in preset.rules],
            "analysis": next((rule.analysis for rule in preset.rules if rule.analysis), None),
            "replicates": preset.replicates,
            "null": preset.null,
            "misleads": preset.misleads,
            "reference": preset.reference,
        }
        for preset in PRESETS.values()
    ]
    lines = [
        f"{'; '.join(rule.procedure + ', ' + rule.convention for rule in preset.rules)}; null: {preset.null}; "
        f"b = {preset.replicates:,}; {preset.reference}"
        for preset in PRESETS.values()
    ]
    _show("presets", rows, lines, as_json)


@cli.command()
@json_option
def metrics(as_json: bool) -> None:
    """List the metrics, those of other installed packages too."""
    _show_family("metrics", "metrics", as_json)


@cli.command()
@json_option
def formats(as_json: bool) -> None:
    """List the formats that outputs can have."""
    _show_family("formats", "readers", as_json)


@cli.command()
@json_option
def analyses(as_json: bool) -> None:
    """List the questions that can be asked of the numbers."""
    _show_family("analyses", "analyses", as_json)


def _show_family(title: str, family: str, as_json: bool) -> None:
    """List the members of a family by the first line of what they say of themselves."""
    import inspect

    from pipeline.errors import PluginError
    from pipeline.plugins import import_plugin, list_plugins

    rows = []
    for name in list_plugins(family):
        try:
            says = inspect.getdoc(import_plugin(family, name)) or ""
        except PluginError as error:
            says = error.problems[0].message  # it is installed, and what it needs is not
        rows.append({"name": name, "description": says.split("\n", 1)[0].replace("``", "`")})
    _show(title, rows, [row["description"] for row in rows], as_json)


def _show(title: str, rows: Sequence[Mapping[str, object]], lines: Sequence[str], as_json: bool) -> None:
    if as_json:
        print_json({title: list(rows)})
        return
    width = max((len(str(row["name"])) for row in rows), default=0)
    for row, line in zip(rows, lines, strict=True):
        click.echo(f"{row['name']!s:<{width}}  {line}")
