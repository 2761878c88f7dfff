"""Run the studies of natural outputs and write the atlas of standard deviations from their cubes."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from pipeline.api import open_run
from pipeline.power_analysis.atlas import Kin, entries_of, load_atlas, to_json

ROOT = Path(__file__).resolve().parent.parent
STUDIES = ("mmlu-pro", "realsumm", "aligners-hansards-natural", "wmt21-de-en", "wmt22-de-en", "wmt22-en-de", "wmt24-en-de")
OF_PAPERS = {"realsumm": "papers/01-summarisation", "aligners-hansards-natural": "papers/06-alignment"}
"""Tasks whose study is one of the papers', and so has another name."""
ASKED = ("analyses=[]", "report.null_laboratory=false", "report.formats=[json]", "resampling.test_sizes=[full]")
ITEMS = ("mmlu-pro",)
"""Studies whose items are drawn one by one here: a hundred questions of one source say little about a test set of another kind."""
SAID = "quantiles, at 2.5, 5, 10, 25, 50, 75, 90, 95 and 97.5 %, of se times the square root of the number of items"


DONE, TURNED = 0, 7
"""Exit codes of a run that is complete: without analyses, numbers that a study expects of them are not found."""
ATLAS = ROOT / "pipeline" / "power_analysis" / "atlas.json"


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=Path, default=Path("runs"))
    parser.add_argument("studies", nargs="*", metavar="STUDY", help="those to run; entries of the others stay")
    asked = parser.parse_args()
    unknown = [name for name in asked.studies if name not in STUDIES]
    if unknown:
        parser.error(f"no study of the atlas is called {', '.join(unknown)}; there are {', '.join(STUDIES)}")
    found = {name: measure(name, asked.runs) for name in asked.studies or STUDIES}
    ATLAS.write_text(to_json(join(load_atlas(), found), what=SAID, made_by="scripts/atlas"), encoding="utf-8")
    print(ATLAS)


def measure(name: str, runs: Path) -> list[Kin]:
    """Run a study and return its entries; end with what it said where it was not done."""
    study = ROOT / "workflows" / f"{OF_PAPERS.get(name, name)}.yaml"
    asked = (*ASKED, "resampling.unit=item") if name in ITEMS else ASKED
    settings = [word for one in asked for word in ("--set", one)]
    command = [sys.executable, "-m", "pipeline", "run", str(study), "--runs", str(runs), "--quiet", "-b", "20000", *settings]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (DONE, TURNED):
        sys.exit(f"{name}: exit {done.returncode}; the atlas is as it was\n{done.stderr}")
    cubes = [cube.to_dataset() for cube in open_run(done.stdout.strip().splitlines()[0]).values()]
    whole, *parts = [(str(cube.attrs["test_set"]), cube) for cube in cubes]
    entries = list(entries_of(dict([whole]), task=name))
    for test_set, cube in parts:
        entries += entries_of({test_set: cube}, task=f"{name}-{test_set}")
    return entries


def join(known: Sequence[Kin], found: Mapping[str, Sequence[Kin]]) -> list[Kin]:
    """Return the entries that were found by study, and those of the other studies as they are known, in the order of studies."""
    joined: list[Kin] = []
    for name in STUDIES:
        joined += found.get(name, [kin for kin in known if f"{kin.task}-".startswith(f"{name}-")])
    return joined


if __name__ == "__main__":
    main()
