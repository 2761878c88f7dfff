"""Run the examples of a page as a reader would, block after block.

In one folder: ``python`` blocks share their names, ``sh`` blocks are lines of a shell, whose `pipeline` is called in this process,
and what they print is shown in the ``text`` block that follows.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from click.testing import CliRunner

from pipeline.cli import cli

FENCED = re.compile(r"^```(python|sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CALLED = re.compile(r"\$\((pipeline [^)]*)\)")


def run_examples(
    page: str, folder: Path, *, around: Callable[[], AbstractContextManager[object]] = nullcontext
) -> Iterator[tuple[re.Match[str], str]]:
    """Yield each ``text`` block of a page with what was printed before it; ``around`` is entered for each ``python`` block."""
    names: dict[str, object] = {"__name__": "example"}
    printed = ""
    with contextlib.chdir(folder):
        for block in FENCED.finditer(page):
            kind, text = block.groups()
            if kind == "python":
                out = io.StringIO()
                with contextlib.redirect_stdout(out), around():
                    exec(compile(text, "example", "exec"), names)
                printed += out.getvalue()
            elif kind == "sh":
                printed += "".join(map(run_line, text.splitlines()))
            else:
                yield block, printed
                printed = ""
    assert not printed, f"it is not shown: {printed}"


def run_line(line: str) -> str:
    if line.startswith("pipeline "):
        return call(line)
    whole = CALLED.sub(lambda found: call(found[1]).strip(), line)
    done = subprocess.run(whole, shell=True, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C.UTF-8"})
    assert done.returncode == 0, done.stderr
    return done.stdout


def call(line: str) -> str:
    done = CliRunner().invoke(cli, shlex.split(line)[1:], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def written_anew(page: str, folder: Path) -> str:
    """Return the page with what its examples print."""
    result, end = "", 0
    for block, printed in run_examples(page, folder):
        result += page[end : block.start(2)] + printed
        end = block.end(2)
    return result + page[end:]
