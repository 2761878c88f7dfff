"""Pairs without a gain have an order of their own making: no name, address or version turns their counts round."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.studies import write_study

from pipeline.api import open_run, run
from pipeline.plan import comparisons as columns


def tied_study(folder: Path, names: tuple[str, str]) -> Path:
    folder.mkdir()
    for name, scores in zip(names, ([3, 1, 1, 1, 5, 2], [1, 3, 5, 2, 1, 1]), strict=True):
        (folder / f"{name}.csv").write_text("item,score\n" + "".join(f"i{i},{score}\n" for i, score in enumerate(scores)))
    test_sets = {"bench": {"format": "scores", "outputs": "{system}.csv"}}
    resampling = {"replicates": 3000, "keep_replicates": 0}
    return write_study(folder / "study.yaml", test_sets=test_sets, metrics=["mean"], resampling=resampling)


@pytest.mark.slow
def test_no_name_and_no_address_turns_a_tied_pair_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    # Other versions give other addresses, and so other orders of the statistics in a task.
    for version in range(4):
        monkeypatch.setattr(columns, "EXTRACT_VERSION", 1000 + version)
        for number, names in enumerate((("a", "b"), ("b", "a"))):
            study = tied_study(tmp_path / f"{version}-{number}", names)
            cube = open_run(run(study, runs=tmp_path / f"runs-{version}-{number}", serial=True).root)["bench"]
            assert cube["observed_delta"].values.item() == 0.0
            found.append([cube[f"count_{side}"].values.sum() for side in ("below_zero", "above_twice_delta")])
    assert found[0][0] != found[0][1]  # an order shows
    np.testing.assert_array_equal(found, [found[0]] * len(found))
