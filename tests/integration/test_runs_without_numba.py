"""A run whose kernels are on disk imports no Numba: a fifth of a second, and more for each kernel that Numba loads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

SYSTEMS, ITEMS = 14, 400


def write_study(folder: Path, metric: str) -> None:
    rng = np.random.Generator(np.random.Philox(7))
    right = rng.random((ITEMS, SYSTEMS)) < rng.uniform(0.5, 0.9, SYSTEMS)
    names = [f"s{k}" for k in range(SYSTEMS)]
    if metric == "bleu":
        words = [f"w{k}" for k in range(30)]
        gold = [[words[j] for j in rng.integers(0, 30, 9)] for _ in range(ITEMS)]
        wrong, given = "no", "format: text\n    references: [gold.txt]"
    else:
        gold, wrong, given = [[label] for label in rng.choice(["yes", "maybe"], ITEMS)], "no", "format: labels\n    gold: gold.txt"
    (folder / "gold.txt").write_text("\n".join(map(" ".join, gold)) + "\n")
    for k, name in enumerate(names):
        own = [line if right[i, k] else [*line[:5], wrong, *line[6:]][-len(line) :] for i, line in enumerate(gold)]
        (folder / f"{name}.txt").write_text("\n".join(map(" ".join, own)) + "\n")
    inputs = f"{given}\n    outputs: {{{', '.join(f'{name}: {name}.txt' for name in names)}}}"
    study = (
        f"schema: 1\nstudy: {metric}\ntest_sets:\n  made:\n    {inputs}\nmetrics: [{metric}]\nresampling:\n  replicates: 20000\n"
    )
    (folder / "study.yaml").write_text(study)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere kernels are loaded by Numba")
@pytest.mark.parametrize("metric", ["bleu", "accuracy"])
def test_a_run_of_many_systems_imports_no_numba_again(tmp_path: Path, metric: str) -> None:
    write_study(tmp_path, metric)
    code = (
        "import sys; from pipeline.cli import main\n"
        "try:\n    main()\nexcept SystemExit as ended:\n    assert not ended.code, ended.code\n"
        "from pipeline.compiled.bare import BareKernel\n"
        "import gc\n"
        "loaded = sorted(each.__name__ for each in gc.get_objects() if type(each) is BareKernel and each._runs)\n"
        "print('numba' in sys.modules, *loaded, file=sys.stderr)\n"
    )
    told = []
    for seed in ("1", "2"):
        command = [sys.executable, "-c", code, "run", "study.yaml", "--runs", f"runs{seed}", "--seed", seed, "--quiet", "--serial"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        told.append(done.stderr.splitlines()[-1].split())
    assert told[1][0] == "False"
    assert told[1][1:] == told[0][1:]
    assert len(told[1]) > 5
