"""The bits of every count, p-value and cube are the same on every Python: digests of the values of a small study."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.studies import text_study, write_scores, write_study

from pipeline.api import run
from pipeline.cubes.reading import open_cubes
from pipeline.resampling.products.byte_product import forms
from pipeline.resampling.products.contract import FORM_VARIABLE

GOLDEN = Path(__file__).with_name("cube_bits.json")

PLAIN: dict[str, Any] = {"intervals": ["symmetric", "basic", "percentile"], "tails": "none"}
"""Additions and order alone: quantiles of Gaussian and t and transforms belong to the libraries, and their
last bits to their versions. Max-T asks of them only whether a replicate reaches t."""

DERIVED = {"log10_p", "p_few_units", "p_adjusted"}
"""The logarithm and Student's law are the libraries'; so is what decides where units are few."""


def digests(directory: Path) -> dict[str, str]:
    """Return a digest of the values of every variable of every cube of a run."""
    found: dict[str, str] = {}
    for test_set, cube in open_cubes(directory / "cubes.zarr").items():
        for name in sorted(set(cube.variables) - DERIVED):
            values = cube[name].values
            data: Any = json.dumps(values.tolist()) if values.dtype.kind in "OUT" else np.ascontiguousarray(values).tobytes().hex()
            found[f"{test_set}/{name}"] = hashlib.sha256(f"{values.shape} {data}".encode()).hexdigest()[:16]
    return found


def text_digests(folder: Path) -> dict[str, str]:
    resampling = {"replicates": 40_000, "keep_replicates": 20_000, "test_sizes": [20, "full"], **PLAIN}
    study = text_study(folder / "text", metrics=["bleu", "chrf", "ter"], resampling=resampling)
    return digests(run(study, runs=folder / "runs", serial=True).root)


def score_digests(folder: Path) -> dict[str, str]:
    write_scores(folder / "scores" / "scores.csv", ["a", "b", "c", "d"])
    test_sets = {"bench": {"format": "scores", "outputs": "scores.csv"}}
    resampling = {"replicates": 20_000, "keep_replicates": 100, "margin": {"mean": 0.2}, **PLAIN}
    study = write_study(folder / "scores" / "study.yaml", test_sets=test_sets, metrics=["mean"], resampling=resampling)
    return digests(run(study, runs=folder / "runs", serial=True).root)


def swap_digests(folder: Path) -> dict[str, str]:
    write_scores(folder / "swaps" / "scores.csv", ["a", "b", "c", "d"])
    test_sets = {"bench": {"format": "scores", "outputs": "scores.csv"}}
    resampling = {"replicates": 20_000, "procedures": ["approximate-randomization"], **PLAIN}
    study = write_study(folder / "swaps" / "study.yaml", test_sets=test_sets, metrics=["mean"], resampling=resampling)
    return digests(run(study, runs=folder / "runs", serial=True).root)


MAKERS = {"text": text_digests, "scores": score_digests, "swaps": swap_digests}


@pytest.mark.golden
@pytest.mark.parametrize("name", sorted(MAKERS))
def test_a_small_study_has_the_bits_it_always_had(name: str, tmp_path: Path) -> None:
    """To write the file anew, after a change that is meant: ``PYTHONPATH=tests python tests/golden/test_cube_bits.py``."""
    found = MAKERS[name](tmp_path)
    expected = json.loads(GOLDEN.read_text())[name]
    changed = sorted(key for key in expected | found if expected.get(key) != found.get(key))
    assert not changed


@pytest.mark.golden
@pytest.mark.parametrize("form", ["float", *forms()])
def test_no_bit_depends_on_the_form_of_the_product(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FORM_VARIABLE, form)
    assert score_digests(tmp_path) == json.loads(GOLDEN.read_text())["scores"]


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as scratch:
        golden = {name: make(Path(scratch)) for name, make in MAKERS.items()}
    GOLDEN.write_text(json.dumps(golden, indent=1, ensure_ascii=False) + "\n")
