"""Draw the pictures of the README: a terminal after `pipeline compare`, and the top of a report.

::

    python docs/images/draw_pictures.py terminal scores.csv       # writes docs/images/terminal.svg
    python docs/images/draw_pictures.py report RUN                # writes docs/images/report.png; needs Chromium

`scores.csv` is the table of docs/comparing.md, RUN the run directory that `./scripts/quickstart` leaves.
"""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape

from PIL import Image

HERE = Path(__file__).resolve().parent
COLUMNS = 100
ROW, ADVANCE, MARGIN = 19, 8.4, 16
"""Pixels from one line to the next, from one character to the next, and around the text."""
MARK = re.compile(r"\x1b\[([\d;]*)m|\x1b\][^\x1b\x07]*(?:\x07|\x1b\\)|\x1b\[[?\d;]*[A-Za-z]")
STYLES = {
    "1": 'font-weight="bold"',
    "2": 'fill="#8b949e"',
    "31": 'fill="#ff7b72"',
    "32": 'fill="#7ee787"',
    "33": 'fill="#e3b341"',
    "34": 'fill="#79c0ff"',
    "35": 'fill="#d2a8ff"',
    "36": 'fill="#76e3ea"',
}
"""What a terminal does for the codes of bold, dim and the six colours."""


def run_in_terminal(command: list[str]) -> str:
    """Return what a command writes to a terminal of a hundred columns."""
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(COLUMNS), "LINES": "50"}
    env.pop("NO_COLOR", None)
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=env) as process:
        os.close(theirs)
        parts = []
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # Linux says so where everybody has closed the other end
                break
            if not part:
                break
            parts.append(part)
    os.close(ours)
    if process.returncode:
        raise SystemExit(b"".join(parts).decode())
    return b"".join(parts).decode().replace("\r\n", "\n")


def draw_lines(lines: list[str]) -> list[str]:
    """Return text elements, one for each piece of one style between wider gaps, each at its own column.

    A style lasts until it is reset, across line ends too. Gaps are made by position and not by blanks, since some programs that
    draw SVG ignore `textLength`.
    """
    drawn, codes = [], list[str]()
    for k, line in enumerate(lines):
        column = 0
        for text, mark in zip(*[iter([*MARK.split(line), None])] * 2, strict=True):
            style = " ".join(STYLES[code] for code in codes if code in STYLES)
            for piece in re.finditer(r"\S+(?: \S+)*", text):
                x, width = MARGIN + (column + piece.start()) * ADVANCE, len(piece[0]) * ADVANCE
                place = f'x="{x:.1f}" y="{MARGIN + 15 + k * ROW}" textLength="{width:.1f}"'
                drawn.append(f"<text {place} {style}>{escape(piece[0])}</text>".replace(" >", ">"))
            column += len(text)
            given = [re.sub("^9", "3", code) for code in (mark or "").split(";") if code]
            codes = [] if mark == "" or "0" in given else [*codes, *given]
    return drawn


def draw_terminal(table: Path, target: Path) -> None:
    """Draw what `pipeline compare` writes about a table."""
    program = Path(sys.executable).with_name("pipeline")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / table.name).write_bytes(table.read_bytes())
        os.chdir(folder)
        printed = run_in_terminal([str(program), "compare", table.name, "-q"])
    lines = [f"\x1b[2m$\x1b[0m pipeline compare {table.name}", *printed.rstrip("\n").split("\n")]
    rows = "\n".join(draw_lines(lines))
    width, height = round(2 * MARGIN + COLUMNS * ADVANCE), 2 * MARGIN + len(lines) * ROW
    target.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">\n'
        f'<rect width="{width}" height="{height}" rx="8" fill="#161b22"/>\n'
        f'<g font-family="ui-monospace, DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" fill="#e6edf3">\n'
        f"{rows}\n</g>\n</svg>\n",
        encoding="utf-8",
    )


def draw_report(run: Path, target: Path) -> None:
    """Take a picture of the top of a run's report, in 256 colours."""
    with tempfile.TemporaryDirectory() as folder:
        taken = Path(folder) / "report.png"
        command = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1280,1400"]
        page = (run / "report" / "index.html").resolve().as_uri()
        subprocess.run(
            [*command, f"--user-data-dir={folder}/profile", f"--screenshot={taken}", page], check=True, capture_output=True
        )
        Image.open(taken).convert("RGB").quantize(256).save(target, optimize=True)


if __name__ == "__main__":
    kind, given = sys.argv[1], Path(sys.argv[2])
    if kind == "terminal":
        draw_terminal(given.resolve(), HERE / "terminal.svg")
    else:
        draw_report(given, HERE / "report.png")
