"""`compare` without ``runs`` keeps its cubes in memory and imports little; what it answers is what a kept run says."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
import xarray as xr

import pipeline
from pipeline.analyses.registry import analyses_of_compare, are_own
from pipeline.cubes.plain import PlainCube
from pipeline.cubes.reading import open_cubes
from pipeline.plugins import list_plugins

HEAVY = ("dask", "distributed", "jinja2", "matplotlib", "pandas", "pyarrow", "scipy.optimize", "scipy.stats", "xarray", "zarr")

SAID_OF_A_RUN = ("run_id", "warnings", "study", "all_pairs")
"""These may speak of the run that is kept, and of its files."""


def write_outputs(folder: Path) -> dict[str, list[str]]:
    words = ["the", "cat", "sat", "on", "a", "mat", "while", "dogs", "ran", "far", "away", "from", "home"]
    lines = {
        name: [" ".join(words[(k * step + j) % len(words)] for j in range(3 + k % 7)) for k in range(60)]
        for name, step in {"one": 5, "other": 7, "reference": 5}.items()
    }
    lines["one"][::4] = lines["other"][::4]
    for name, text in lines.items():
        (folder / f"{name}.txt").write_text("\n".join(text) + "\n")
    rows = [f"q{k},{int(k % 3 > 0)},{int(k % 4 > 0)},{int(k % 11 > 0)}" for k in range(200)]
    (folder / "scores.csv").write_text("\n".join(["item,old,new,large", *rows]) + "\n")
    rows = [f"q{k},{k % 7 / 8},{k % 5 / 4 + 0.125},{k % 3}" for k in range(90)]
    (folder / "decimals.csv").write_text("\n".join(["item,old,new,large", *rows]) + "\n")
    return {
        "text": ["one.txt", "other.txt", "-r", "reference.txt"],
        "both": ["one.txt", "other.txt", "-r", "reference.txt", "-m", "bleu", "-m", "ter"],
        "table": ["scores.csv"],
        "decimals": ["decimals.csv"],
    }


@pytest.mark.parametrize("what", ["text", "table"])
def test_compare_imports_and_compiles_only_what_it_uses(tmp_path: Path, what: str) -> None:
    arguments = write_outputs(tmp_path)[what]
    code = (
        "import sys; from pipeline.cli import main\n"
        f"sys.argv = ['pipeline', 'compare', '-b', '1000', *{arguments!r}]\n"
        "try:\n    main()\nexcept SystemExit as ended:\n    assert not ended.code, ended.code\n"
        f"print([name for name in {(*HEAVY, 'numba')!r} if name in sys.modules], file=sys.stderr)\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kept")}
    for imported in ("['numba']", "[]"):  # where its kernel is on disk, it needs no Numba
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, env=environment)
        assert done.returncode == 0, done.stderr
        assert "verdict" in done.stdout
        assert done.stderr.splitlines()[-1] == imported
    compiled = {path.name.partition(".py")[0] for path in (tmp_path / "kept").rglob("*.nbc")}
    # Of all else there is too little for a kernel.
    assert compiled == {"draws._fill_weights", "packed_sums._add"}


@pytest.mark.parametrize(
    ("options", "files"),
    [
        ({}, ("one.txt", "other.txt")),
        ({"metrics": ["bleu", "chrf"], "replicates": 3000}, ("one.txt", "other.txt")),
        ({"preset": "sacrebleu-bs"}, ("one.txt", "other.txt")),
        ({"procedures": ["approximate-randomization", "exact-sign-flip"], "replicates": 3000}, ("scores.csv",)),
        ({}, ("scores.csv",)),
        ({}, ("decimals.csv",)),
    ],
)
def test_the_answer_is_that_of_a_run_that_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], files: tuple[str, ...]
) -> None:
    write_outputs(tmp_path)
    monkeypatch.chdir(tmp_path)
    references = ["reference.txt"] if files[0].endswith("txt") else []
    at_once, kept = (pipeline.compare(list(files), references, runs=runs, **options) for runs in (None, tmp_path / "runs"))
    assert {name for name in at_once if at_once[name] != kept[name]} <= set(SAID_OF_A_RUN)
    assert at_once["pairs"]


@pytest.mark.parametrize("own", [True, False])
def test_analyses_of_other_packages_get_cubes_of_xarray(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: bool) -> None:
    write_outputs(tmp_path)
    seen = []
    for name in ("read_cubes", "open_cubes"):
        monkeypatch.setattr(f"pipeline.tasks.report.{name}", lambda path: seen.append(open_cubes(path)) or seen[-1])
    for module in ("analyses.registry", "tasks.report"):
        monkeypatch.setattr(f"pipeline.{module}.are_own", lambda names: own)
    pipeline.compare([tmp_path / "scores.csv"], replicates=1000)
    assert [type(cube) for cubes in seen for cube in cubes.values()] == [PlainCube if own else xr.Dataset]


def test_own_analyses_are_told_from_those_of_other_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    assert are_own(analyses_of_compare())
    theirs = EntryPoint("theirs", "other_package:Theirs", "pipeline.analyses")
    known = list_plugins("analyses")
    monkeypatch.setattr("pipeline.plugins.list_plugins", lambda family: known | {"theirs": theirs})
    assert not are_own([*analyses_of_compare(), "theirs"])


def test_no_file_of_a_comparison_is_held_when_its_folder_is_gone(tmp_path: Path) -> None:
    table = tmp_path / "scores.csv"
    table.write_text("item,one,two\n" + "".join(f"q{k},{k % 7},{k % 5}\n" for k in range(60)))
    pipeline.compare(table, replicates=3000)
    assert "pipeline-compare-" not in Path("/proc/self/maps").read_text()
