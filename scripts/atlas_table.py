"""Run the studies of natural outputs and write the atlas of standard deviations from their cubes."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from pipeline.api import open_run
from pipeline.planning.atlas import entries_of, to_json

ROOT = Path(__file__).resolve().parent.parent
STUDIES = ("mmlu-pro", "realsumm", "aligners-hansards-natural", "wmt21-de-en", "wmt22-de-en", "wmt22-en-de", "wmt24-en-de")
OF_PAPERS = {"realsumm": "papers/01-summarisation", "aligners-hansards-natural": "papers/06-alignment"}
"""Tasks whose study is one of the papers', and so has another name."""
ASKED = ("analyses=[]", "report.null_laboratory=false", "report.formats=[json]", "resampling.test_sizes=[full]")
ITEMS = ("mmlu-pro",)
"""Studies whose items are drawn one by one here: a hundred questions of one source say little about a test set of another kind."""
SAID = "quantiles, at 2.5, 5, 10, 25, 50, 75, 90, 95 and 97.5 %, of se times the square root of the number of items"


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=Path, default=Path("runs"))
    parser.add_argument("studies", nargs="*", default=STUDIES)
    arguments = parser.parse_args()
    entries = []
    for name in arguments.studies:
        command = [
            sys.executable,
            "-m",
            "pipeline",
            "run",
            ROOT / "workflows" / f"{OF_PAPERS.get(name, name)}.yaml",
            "--runs",
            arguments.runs,
            "--quiet",
        ]
        asked = (*ASKED, "resampling.unit=item") if name in ITEMS else ASKED
        settings = [word for one in asked for word in ("--set", one)]
        printed = subprocess.run([*command, "-b", "20000", *settings], capture_output=True, text=True, check=True).stdout
        cubes = open_run(printed.strip())
        whole, *parts = cubes.items()
        entries += entries_of(dict([whole]), task=name)
        for test_set, cube in parts:
            entries += entries_of({test_set: cube}, task=f"{name}-{test_set}")
    path = ROOT / "pipeline" / "planning" / "atlas.json"
    path.write_text(to_json(entries, what=SAID, made_by="scripts/atlas"), encoding="utf-8")
    print(path)


if __name__ == "__main__":
    main()
