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
)
"""Studies that take more than a minute of a core."""

DONE, TURNED = 0, 7
"""Exit codes of runs that are complete."""

HEAD = """# Papers, figure by figure

What published studies found, and what this package finds on public data. Each study of `workflows/papers/` runs with one
command and holds itself to the numbers that it [expects](expectations.md). Made by

```
./scripts/fetch_data --all --from FOLDER
./scripts/papers
```

- *Need not*: the paper's data are others, so its number is shown and not held to.
- *Recomputed independently*: the paper prints no such number of these data; the row checks this package, not the paper.
- *Arithmetic*: the number follows from the study's own settings, or holds of any data; the row checks this package alone.
- *Ours* has its 95 % interval behind it where there is one.
- Figs. 5 and 8 of Berg-Kirkpatrick and others are small here; `workflows/parsers-ewt.yaml` and `grammars-treebank.yaml` have larger
  samples.
- The systems of Fig. 6 (translation) are stand-ins that learn from 337 pairs of sentences.
- Figures are in `report/figures/` of each run. Of Berg-Kirkpatrick and others: `confidence` (Figs. 2 to 8), `size-confidence` and
  `size-curve` (9 and 10), `domain-confidence` (11), `calibration-map` (Table 1). Of Riezler and Maxwell: `sensitivity` (Table 1),
  `p-by-p` (Table 2). Of Clark and others: `run-scores` and `run-gains` (Figs. 1 and 2), `run-p` (Table 2). Of Krymolowski:
  `distributions` and `test-sets` (Tables 4 and 5).
- The shapes that the papers find, and where their numbers are. Pairs of one family reach confidence at smaller gains: 01 to 04, 06,
  06b and 07, as a ratio of standard errors at the same gain, its p, or both; not in 05. Thresholds fall as 1/√n: 02 and 08.
  Randomization is more conservative than the bootstrap of Riezler and Maxwell: 13. Scores of runs vary more on the test set than on
  what was optimised: 15c. Recall varies more out of domain than on as many phrases in domain: not found, 16b.
- What is not here: of Berg-Kirkpatrick and others Table 1 of trained systems (`workflows/taggers-brown.yaml`); of Clark and others
  what a pool of 300 runs of a translation system shows, for which taggers stand in; of Krymolowski chunkers trained on the Wall
  Street Journal and tested on ATIS, because trees of ATIS are public and its base noun phrases are not: 16b makes them from the
  trees of both domains; the figures of Jansen's post, which `pipeline power --charts` draws.
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


def run(path: Path, runs: Path) -> Done:
    """Run a study and read what it expected and found."""
    import time

    title = path.read_text("utf-8").partition("\n")[0].removeprefix("# ")
    resumed = any(runs.glob(f"{path.stem}-*"))
    begun = os.times()
    started = time.time()
    command = [sys.executable, "-m", "pipeline", "run", str(path), "--runs", str(runs)]
    done = subprocess.run(command, capture_output=True, text=True)
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
    kept = {name: f"\n## {name}\n{rest}" for name, _, rest in (part.partition("\n") for part in page.split("\n## ")[1:])}
    there = {path.stem for path in STUDIES.glob("*.yaml")}
    sections = {name: text for name, text in kept.items() if name in there} | {one.name: section(one) for one in done}
    return HEAD + "".join(sections[name] for name in sorted(sections))


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
