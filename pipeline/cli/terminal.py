"""What a terminal can show: its width, colours and links; and how lines and problems are written for it."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from pipeline.cli.advice import complete_advice

if TYPE_CHECKING:
    from pipeline.errors import Problem
    from pipeline.report.layout.terminal import Screen

__all__ = [
    "fold",
    "has_colour",
    "link_to",
    "prose",
    "saying_if_interrupted",
    "saying_why_it_takes_long",
    "screen_of",
    "show_problems",
    "tell",
    "width_of",
]

NARROWEST = 20
"""Columns: of a terminal that says it has fewer, the lines are longer than that."""


def width_of(stream: TextIO | None) -> int | None:
    """Return the columns of a terminal; None where a stream is none, or is closed, so that no line is broken."""
    if stream is None or not stream.isatty():
        return None
    if os.environ.get("COLUMNS", "").isdecimal():
        return max(NARROWEST, shutil.get_terminal_size().columns)
    try:  # of this stream: the other one may go into a file
        return max(NARROWEST, os.get_terminal_size(stream.fileno()).columns or 80)
    except OSError:
        return shutil.get_terminal_size().columns


def has_colour(stream: TextIO | None) -> bool:
    """Say whether colours are wanted: on a terminal that has them, unless NO_COLOR is set, and where FORCE_COLOR is."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream is not None and stream.isatty() and os.environ.get("TERM", "dumb") not in {"dumb", ""}


def screen_of(stream: TextIO | None) -> Screen:
    """Return what the tables and sentences of a report are written for."""
    from pipeline.report.layout.terminal import Screen

    return Screen(width_of(stream), has_colour(stream))


def tell(line: str, *, err: bool = True) -> None:
    """Print a line of prose, broken between words on a terminal."""
    click.echo(prose(line, sys.stderr if err else sys.stdout), err=err)


def prose(line: str, stream: TextIO, indent: str = "  ") -> str:
    """Return a line of prose as `tell` prints it; ``indent`` begins the lines that follow the first."""
    return _fill(complete_advice(line), width_of(stream), indent)


@contextmanager
def saying_if_interrupted(words: str) -> Iterator[None]:
    """Have the border of the command line say after ``interrupted:`` what is kept and what to do, if this block is interrupted."""
    from pipeline.engine.signals import StopAsked

    try:
        yield
    except (KeyboardInterrupt, click.Abort, StopAsked) as error:
        error.add_note(words)
        raise


@contextmanager
def saying_why_it_takes_long(*, quiet: bool = False) -> Iterator[None]:
    """Say once, on a terminal, that kernels are being compiled, if that takes longer than a second."""
    from pipeline.compiled.notice import hearing_of_compilation

    began, said = 0.0, quiet or not sys.stderr.isatty()

    def hear() -> None:
        nonlocal began, said
        now = time.monotonic()
        began = began or now
        if not said and now - began > 1:
            said = True
            line = "compiling for this machine, which is done once and takes up to half a minute"
            print(_fill(line, width_of(sys.stderr), "  "), file=sys.stderr)  # bars that are drawn there make room for it

    with hearing_of_compilation(hear):
        yield


def show_problems(problems: Iterable[Problem]) -> None:
    """Print problems on stderr: on a terminal their lines fit, and their kind is in colour."""
    from pipeline.errors import render_problems

    width, colour = width_of(sys.stderr), has_colour(sys.stderr)
    lines = []
    for line in complete_advice(render_problems(problems)).split("\n"):
        found = _HEAD.match(line)
        indent = " " * (len(found[0]) if found and line.startswith(" ") else 2)
        filled = line if "-->" in line[:6] else _fill(line, width, indent)  # a place is one word, to be copied or clicked on
        if found and colour:
            code = _COLOURS.get(found[1][:4].strip(), "1")
            filled = f"\x1b[{code}m{filled[: found.end()]}\x1b[0m{filled[found.end() :]}"
        lines.append(filled)
    click.echo("\n".join(lines), err=True, color=colour or None)


def fold(line: str, width: int | None, indent: str = "  ") -> str:
    """Break a line at its double spaces, so that it fits a terminal of this width.

    Examples
    --------
    >>> print(fold("a-run  running  train 1/2  extract 0/4", 24))
    a-run  running
      train 1/2  extract 0/4
    """
    lines: list[str] = []
    for part in line.split("  "):
        if lines and (width is None or len(lines[-1]) + 2 + len(part) <= width):
            lines[-1] += f"  {part}"
        else:
            lines.append(f"{indent}{part}" if lines else part)
    return "\n".join(lines)


_HEAD = re.compile(r" *(error\[\w+\]:|-->|= help:|= note:)")
_COLOURS = {"erro": "1;31", "-->": "34", "= he": "32"}


def _fill(line: str, width: int | None, indent: str) -> str:
    if width is None:
        return line
    from pipeline.report.layout.view import fill

    return fill(line, width, indent)


def link_to(path: Path, stream: TextIO | None) -> str:
    """Return a path that can be clicked on where a stream is a terminal that knows links (OSC 8), else the path."""
    if stream is None or not stream.isatty() or os.environ.get("TERM", "dumb") in {"dumb", "linux"}:
        return str(path)
    return f"\x1b]8;;{path.absolute().as_uri()}\x1b\\{path}\x1b]8;;\x1b\\"
