"""A calibration counts a few items, and all where these lack a label that the metric wants; what the study refuses, it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.errors import DataError
from pipeline.store.runs import Store
from pipeline.study.load import study_from_value
from pipeline.survey.survey import survey_study
from pipeline.tasks.sample_outputs import FIRST_ITEMS, Sample, sample_outputs


def sampled(folder: Path, labels: list[str]) -> Sample:
    gold = ["rare" if k == 1 else "ab"[k % 2] for k in range(300)]
    (folder / "gold").write_text("\n".join(gold) + "\n")
    (folder / "north").write_text("\n".join(gold[::-1]) + "\n")
    (folder / "south").write_text("\n".join(gold) + "\n")
    test_set = {"format": "labels", "gold": "gold", "outputs": {"north": "north", "south": "south"}}
    metric = {"name": "f1", "average": "macro", "labels": labels}
    value = {"schema": 1, "study": "rare", "test_sets": {"animals": test_set}, "metrics": [metric]}
    loaded = study_from_value(value, base=folder)
    survey = survey_study(loaded.study, folder)
    store = Store(folder / "store")
    survey.store_frames(store)
    inputs = survey.inputs
    return sample_outputs(survey.study, inputs, inputs.test_sets[0], inputs.metrics[0], store, seconds=1e-6, most=32)


def test_items_that_have_all_labels_are_few_and_where_they_lack_one_they_are_all(tmp_path: Path) -> None:
    assert len(sampled(tmp_path, ["a", "b"]).statistics[0].values) == FIRST_ITEMS
    assert len(sampled(tmp_path, ["a", "rare"]).statistics[0].values) == 300


def test_what_no_item_has_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the label 'owl'; it has"):
        sampled(tmp_path, ["a", "owl"])
