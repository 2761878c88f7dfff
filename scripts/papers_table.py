"""Run the studies of papers and write what they expect and find as a page."""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from papers_index import write_index

ROOT = Path(__file__).resolve().parent.parent
STUDIES = ROOT / "workflows" / "papers"
PAGE = ROOT / "docs" / "papers.md"
LONG = (
    "02-parsing-chinese",
    "04-parsing-trained",
    "04b-parsing-natural",
    "07-constituency",
    "09-domains",
    "11-calibration-transfer",
    "15d-optimizer-metrics",
    "16-chunkers",
    "16b-chunkers-domains",
    "16c-chunkers-atis",
)
"""Studies that take more than a minute of a core."""

DONE, TURNED = 0, 7
"""Exit codes of runs that are complete."""

HEAD = """# Papers, figure by figure

What five papers found, and what this package finds on public data. Every study of `workflows/papers/` is run by one command, and
compares its results with the numbers that it [expects](expectations.md). This page is written by

```
./scripts/fetch_data --all --from FOLDER
./scripts/papers
```

First come the figures and tables of the papers, each with our number, then what the papers find in general, then numbers that were
computed independently of this package. After that each study has a section with all of its numbers. In those tables:

- *need not* agree: the data are not the paper's. Its number is shown beside ours with the reason for the difference;
- *recomputed independently*: the paper has no such number for these data. Another program found it, so the row checks this package;
- *arithmetic*: the number follows from the settings of the study, or holds for any data;
- *ours* is followed by its 95 % interval, if there is one;
- CPU seconds were measured on two cores that were shared with other work: they can be twice those of an idle machine.

The report of a run has its figures in `report/figures/`, by the names in the tables below.

Not here: base noun phrases of ATIS as Krymolowski had them, for only its trees are public (16b and 16c make phrases of the trees);
Clark and others' pool of 300 runs of a translation system, for which 150 runs of each of two taggers stand in (15c). Larger
samples of trained systems than those for Figs. 5 and 8 and Table 1 of Berg-Kirkpatrick and others are in
`workflows/parsers-ewt.yaml`, `grammars-treebank.yaml` and `taggers-brown.yaml`.
"""


class Done(NamedTuple):
    """What one study gave."""

    name: str
    title: str
    code: int
    seconds: float
    rows: list[dict[str, str]]
    signatures: list[str]
    said: str
    resumed: bool = False
    """Whether an earlier run had done a part, which the seconds leave out."""


def start(path: Path, runs: Path) -> subprocess.CompletedProcess[str]:
    """Run a study in a process of its own, whose time can be told."""
    command = [sys.executable, "-m", "pipeline", "run", str(path), "--runs", str(runs)]
    return subprocess.run(command, capture_output=True, text=True)


def run(path: Path, runs: Path) -> Done:
    """Run a study and read what it expected and found."""
    import time

    title = path.read_text("utf-8").partition("\n")[0].removeprefix("# ")
    resumed = any(runs.glob(f"{path.stem}-*"))
    begun = os.times()
    started = time.time()
    done = start(path, runs)
    spent = os.times()
    seconds = spent.children_user + spent.children_system - begun.children_user - begun.children_system
    rows: list[dict[str, str]] = []
    signatures: list[str] = []
    root = Path(done.stdout.strip().splitlines()[0]) if done.stdout.strip() else None
    if root is not None and (root / "report" / "report.json").is_file():
        document: Mapping[str, Any] = json.loads((root / "report" / "report.json").read_bytes())
        signatures = [row["line"] for row in document["signature"]]
        table = root / "report" / "tables" / "expectations.csv"
        if table.is_file():
            with table.open(encoding="utf-8", newline="") as file:
                rows = list(csv.DictReader(file))
    print(f"{path.stem}: exit {done.returncode}, {seconds:.0f} CPU-s, {time.time() - started:.0f} s", file=sys.stderr)
    return Done(path.stem, title, done.returncode, seconds, rows, signatures, done.stderr, resumed)


def write(done: Sequence[Done], page: str = "") -> str:
    """Return the page: the sections of these studies, and those that `page` has of others."""
    there = {path.stem for path in STUDIES.glob("*.yaml")}
    kept = {name: text for name, text in sections_of(page).items() if name in there}
    sections = kept | {one.name: section(one) for one in done}
    body = "".join(sections[name] for name in sorted(sections))
    return HEAD + write_index(numbers_of(body)) + body


def sections_of(page: str) -> dict[str, str]:
    """Return the sections of a page by their names."""
    return {name: f"\n## {name}\n{rest}" for name, _, rest in (part.partition("\n") for part in page.split("\n## ")[1:])}


def numbers_of(page: str) -> dict[tuple[str, str], str]:
    """Return what was found, as a page prints it, by study and name."""
    found = {}
    for study, text in sections_of(page).items():
        for line in [line for line in text.splitlines() if line.startswith("| ")][1:]:
            name, _, ours, *_ = (cell.strip().replace("¦", "\\|") for cell in line[2:].replace("\\|", "¦").split(" | "))
            found[study, name] = ours
    return found


def section(one: Done) -> str:
    """Return what the page says of a study."""
    spent = f"{one.seconds:.0f} CPU seconds" + " after what an earlier run had done" * one.resumed
    parts = [f"\n## {one.name}\n\n{one.title}\n\n`workflows/papers/{one.name}.yaml`, {spent}.\n"]
    if one.rows:
        parts.append("\n| what | expected | ours | agrees | source | reason |\n|---|---|---:|---|---|---|\n")
        parts += [row_of(row) for row in one.rows]
    shown = one.signatures[:2]
    more = f" and {len(one.signatures) - 2} more" if len(one.signatures) > 2 else ""
    parts.append("\n" + "".join(f"`{line}`{more if line == shown[-1] else ''}  \n" for line in shown))
    return "".join(parts)


def row_of(row: Mapping[str, str]) -> str:
    """Return a line of the table."""
    if row["low"] and row["high"]:
        limits = "" if row["low"] == row["high"] else f" [{float(row['low']):g}, {float(row['high']):g}]"
    else:
        limits = "".join(f" {sign} {float(row[key]):g}" for key, sign in (("low", "≥"), ("high", "≤")) if row[key])
    expected = f"{float(row['value']):g}" if row["value"] else ""
    agrees = "yes" if row["agrees"] == "True" else "need not" if row["need_not"] == "True" else "no"
    if row["found"] != "True":
        agrees = "not found"
    ours = f"{float(row['ours']):.4g}" if row["ours"] else "–"
    if row.get("interval.lo"):
        ours += f" [{float(row['interval.lo']):.4g}, {float(row['interval.hi']):.4g}]"
    cells = (row["name"], f"{expected}{limits}".strip(), ours, agrees, row["source"], row["differs"] or row["reason"])
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def main() -> int:
    """Run, write, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=Path, default=ROOT / "runs")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("studies", nargs="*", metavar="NN")
    asked = parser.parse_args()
    paths = sorted(STUDIES.glob("*.yaml"))
    for name in asked.studies:
        if not any(path.stem.startswith(name) for path in paths):
            parser.error(f"no study begins with {name}; there are {', '.join(path.stem for path in paths)}")
    if asked.studies:
        paths = [path for path in paths if any(path.stem.startswith(name) for name in asked.studies)]
    if asked.small:
        paths = [path for path in paths if path.stem not in LONG]
    done = [run(path, asked.runs) for path in paths]
    for one in done:
        if one.code != DONE:
            print(f"\n{one.name}: exit {one.code}\n{one.said[-2000:]}", file=sys.stderr)
    broken = [one.name for one in done if one.code not in (DONE, TURNED)]
    if broken:
        print(f"{PAGE} is left as it is: not done are {', '.join(broken)}", file=sys.stderr)
    elif not asked.small:
        page = PAGE.read_text(encoding="utf-8") if asked.studies and PAGE.is_file() else ""
        PAGE.write_text(write(done, page), encoding="utf-8")
        print(PAGE)
    return 0 if done and all(one.code == DONE for one in done) else 1


if __name__ == "__main__":
    sys.exit(main())
