"""`pipeline explain`: what an error code or an exit code means, and what to do."""

from __future__ import annotations

import re
import sys
import textwrap
from typing import Any

import click

from pipeline.cli.actions import print_json
from pipeline.cli.options import cli, json_option
from pipeline.cli.terminal import width_of

__all__: list[str] = []

_MOST_WIDTH = 100
"""Columns of a line of text that is easy to read."""


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    from pipeline.error_codes import CODES

    return [code for code in CODES if code.startswith(incomplete.upper())]


@cli.command()
@click.argument("code", required=False, shell_complete=_complete)
@json_option
def explain(code: str | None, as_json: bool) -> None:
    """Explain an error code or an exit code, or list them all.

    \b
    Examples:
      pipeline explain P203      items do not align: what to do about it
      pipeline explain 69        the exit code, and the errors that end with it
      pipeline explain           all of them
    """  # noqa: D301 - click reads \b as "keep these lines"
    if code is None:
        _list_all(as_json)
        return
    name = _name(code)
    if name.isdigit():
        _explain_exit(int(name), as_json)
    else:
        _explain_error(name, as_json)


def _name(code: str) -> str:
    """Return a code as the tables have it, however it was typed or copied: `p203` or `error[P203]:`."""
    from pipeline.error_codes import CODES
    from pipeline.error_help import EXIT_CODES
    from pipeline.errors import UsageError
    from pipeline.options import suggest

    copied = re.fullmatch(r"(?:error)?\[?(\w+)\]?:?", code.strip())
    name = copied[1].upper() if copied else code
    known = {*CODES, *map(str, EXIT_CODES)}
    if name in known:
        return name
    begun = [one for one in CODES if one.startswith(name)]
    raise UsageError.of(
        "P006",
        f"{code!r} is neither an error code nor an exit code",
        help=f"there are: {_ranges(begun)}" if begun else suggest(name, known, otherwise="`pipeline explain` lists them all"),
    )


def _facts(code: str) -> dict[str, Any]:
    from pipeline.error_codes import CODES
    from pipeline.error_help import family_of, help_of

    known = CODES[code]
    return {"code": code, "meaning": known.meaning, "exit_code": known.exit, "about": family_of(code).title, "help": help_of(code)}


def _explain_error(code: str, as_json: bool) -> None:
    from pipeline.error_codes import CODES
    from pipeline.error_help import EXIT_CODES, family_of, help_of

    if as_json:
        print_json(_facts(code))
        return
    known = CODES[code]
    ending = "that of the run" if known.exit is None else f"{known.exit}, {EXIT_CODES[known.exit].meaning}"
    _echo(f"{code}: {known.meaning}")
    _echo("")
    _echo(f"about:      {family_of(code).title}", indent=12)
    _echo(f"exit code:  {ending}", indent=12)
    _echo(f"what to do: {help_of(code)}", indent=12)


def _explain_exit(status: int, as_json: bool) -> None:
    from pipeline.error_codes import CODES
    from pipeline.error_help import EXIT_CODES

    ending = EXIT_CODES[status]
    codes = [code for code, known in CODES.items() if known.exit == status]
    if as_json:
        print_json({"exit_code": status, "meaning": ending.meaning, "help": ending.help, "codes": codes})
        return
    _echo(f"exit code {status}: {ending.meaning}")
    _echo("")
    _echo(f"what to do: {ending.help}", indent=12)
    if codes:
        _echo(f"errors:     {_ranges(codes)}; `pipeline explain CODE` says more", indent=12)


def _ranges(codes: list[str]) -> str:
    """Return codes that stand one after the other in the table as ranges.

    Examples
    --------
    >>> _ranges(["P101", "P102", "P103", "P301"])
    'P101–P103, P301'
    """
    from pipeline.error_codes import CODES

    order = list(CODES)
    runs: list[list[str]] = []
    for code in codes:
        if runs and order.index(code) == order.index(runs[-1][-1]) + 1:
            runs[-1].append(code)
        else:
            runs.append([code])
    return ", ".join(run[0] if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)


def _list_all(as_json: bool) -> None:
    from pipeline.error_codes import CODES
    from pipeline.error_help import EXIT_CODES, FAMILIES, family_of

    if as_json:
        endings = [{"exit_code": status, **ending._asdict()} for status, ending in EXIT_CODES.items()]
        print_json({"codes": [_facts(code) for code in CODES], "exit_codes": endings})
        return
    for family in FAMILIES:
        _echo(family.title)
        for code, known in CODES.items():
            if family_of(code) is family:
                _echo(f"  {code}  {known.meaning}", indent=8)
        _echo("")
    _echo("Exit codes")
    for status, ending in EXIT_CODES.items():
        _echo(f"  {status:>4}  {ending.meaning}", indent=8)


def _echo(text: str, *, indent: int = 0) -> None:
    """Print a paragraph, on a terminal in lines that fit; elsewhere as one, for other programs."""
    width = width_of(sys.stdout)
    if width is not None:
        text = textwrap.fill(
            text,
            min(width, _MOST_WIDTH),
            subsequent_indent=" " * indent,
            break_long_words=False,
            break_on_hyphens=False,
            drop_whitespace=True,
        )
    click.echo(text)
