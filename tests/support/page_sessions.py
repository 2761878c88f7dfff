"""Run the sessions of a page as a reader would, block after block, in one folder.

``python`` blocks are run. A block of any language after a line with a name in backticks is a file. A ``console`` block has lines of
a shell after ``$``, each followed by all that it prints, as a terminal shows it, except:

- progress, which a terminal shows as bars, is left out;
- the folder in which the page is run is ``…``, and so is the digest in the name of a run.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from glob import glob
from pathlib import Path
from unittest import mock

from pipeline.cli import main

FENCED = re.compile(r"(?:^`([\w./-]+)`\n\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROGRESS = re.compile(r"^[\w-]+-[0-9a-f]{12}  (?:running|completed|incomplete)  .*\n", re.MULTILINE)
DIGEST = re.compile(r"(?<=[\w])-[0-9a-f]{12}\b")


def run_sessions(page: str, folder: Path) -> Iterator[tuple[re.Match[str], str]]:
    """Yield each ``console`` block of a page with what it is when it is run."""
    names: dict[str, object] = {"__name__": "example"}
    with contextlib.chdir(folder):
        for block in FENCED.finditer(page):
            file, kind, text = block.groups()
            if file:
                Path(file).parent.mkdir(parents=True, exist_ok=True)
                Path(file).write_text(text, encoding="utf-8")
            elif kind == "python":
                exec(compile(text, "example", "exec"), names)
            elif kind == "console":
                yield block, run_session(text, folder)


def run_session(session: str, folder: Path) -> str:
    """Return the lines of a session that begin with ``$``, each with what it prints."""
    result, code = "", 0
    for line in re.findall(r"^\$ (.*)$", session, re.MULTILINE):
        printed, code = call(line) if line.startswith("pipeline ") else run_line(line, code)
        shown = DIGEST.sub("-…", PROGRESS.sub("", printed.replace(str(folder.resolve()), "…")))
        result += f"$ {line}\n{shown.rstrip()}\n" if shown.strip() else f"$ {line}\n"
    return result


def call(line: str) -> tuple[str, int]:
    """Return what a command of this package prints, in this process, and its exit code."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    words = [found for word in shlex.split(line) for found in (sorted(glob(word)) if "*" in word else [word])]
    with (
        mock.patch.object(sys, "argv", words),
        mock.patch.object(sys, "stdin", io.StringIO()),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out),
    ):
        try:
            main()
        except SystemExit as ended:
            code = int(ended.code or 0)
        else:
            code = 0
    out.seek(0)
    return out.read(), code


def run_line(line: str, code: int) -> tuple[str, int]:
    """Return what a line of a shell prints, and its exit code; ``code`` is that of the line before."""
    command = ["sh", "-c", f"(exit {code}); {line}"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False)
    return done.stdout, done.returncode


def written_anew(page: str, folder: Path) -> str:
    """Return the page with what its sessions print."""
    result, end = "", 0
    for block, shown in run_sessions(page, folder):
        result += page[end : block.start(3)] + shown
        end = block.end(3)
    return result + page[end:]
