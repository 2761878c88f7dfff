"""Help pages that fit a narrow terminal: lines that are written out, such as examples, are broken so that they can be copied."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

import click

__all__ = ["Command", "Context"]

_TWO_COLUMNS = re.compile(r"( *)(\S+(?: \S+)*)( {2,})(\S.*)")
_WORD = re.compile(r"""(?:'[^']*'|"[^"]*"|\S)+""")
"""What a shell takes for one word."""


class _HelpPage(click.HelpFormatter):
    """Writes a help page as click does, and breaks what click leaves as it is."""

    def write_text(self, text: str) -> None:
        r"""Write paragraphs; those that begin with ``\b`` keep their lines as far as these fit."""
        width, kept = self.width - self.current_indent, False
        lines: list[str] = []
        for line in text.split("\n"):
            kept = line.strip() == "\b" or (kept and bool(line.strip()))
            lines += fit(line, width) if kept else [line]
        super().write_text("\n".join(lines))


class Context(click.Context):
    """What a command is called in; its help fits the terminal."""

    formatter_class = _HelpPage


class Command(click.Command):
    """A command whose help fits the terminal."""

    context_class = Context


def fit(line: str, width: int) -> Iterator[str]:
    r"""Yield the lines of a line that is written out, none wider than this where words allow.

    Examples
    --------
    >>> print(*fit("  pipeline compare a.txt b.txt -r ref.txt --exclude 'human *'", 34), sep="\n")
      pipeline compare a.txt b.txt \
        -r ref.txt --exclude 'human *'
    >>> print(*fit("  3, 4  it could not be measured", 24), sep="\n")
      3, 4  it could not be
            measured
    >>> print(*fit("  pipeline explain P203    items do not align", 34), sep="\n")
      pipeline explain P203
          items do not align
    """
    if len(line) <= width:
        yield line
        return
    before = " " * (len(line) - len(line.lstrip()))
    columns = _TWO_COLUMNS.fullmatch(line)
    if columns and columns.start(4) <= width // 2:
        yield from _wrap(columns[4], width, line[: columns.start(4)], " " * columns.start(4))
    elif columns:
        yield from fit(before + columns[2], width)
        yield from _wrap(columns[4], width, f"{before}    ", f"{before}    ")
    elif line.startswith(f"{before}pipeline "):
        yield from _break_command(_WORD.findall(line), before, width)
    else:
        yield from _wrap(line.strip(), width, before, before)


def _wrap(text: str, width: int, first: str, below: str) -> list[str]:
    return textwrap.wrap(text, width, initial_indent=first, subsequent_indent=below, break_long_words=False, break_on_hyphens=False)


def _break_command(words: list[str], before: str, width: int) -> Iterator[str]:
    """Yield a command over several lines as a shell reads it: an option stays with its value where that has room."""
    line = before + words[0]
    for place, word in enumerate(words[1:], start=1):
        follows = words[place + 1] if place + 1 < len(words) else ""
        together = f"{word} {follows}" if word.startswith("-") and follows and not follows.startswith("-") else word
        ends = place + (together is not word) == len(words) - 1
        if len(line) + 1 + len(together) + (0 if ends else 2) > width:
            yield f"{line} \\"
            line = f"{before}  {word}"
        else:
            line += f" {word}"
    yield line
