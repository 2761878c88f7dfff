"""What is still to be trained is sampled as the gold with mistakes that a metric can count, whatever the format."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.store.runs import Store
from pipeline.study.load import study_from_value
from pipeline.survey.survey import survey_study
from pipeline.tasks.sample_outputs import sample_outputs

TREES = ["(S (NP (NN fog)) (VP (VBZ lifts)))", "(S (NP (DT the) (JJ red) (NN boat)) (VP (VBZ leaves) (ADVP (RB now))))"]
TAGGED = ["fog/NN lifts/VBZ", "the/DT red/JJ boat/NN leaves/VBZ now/RB"]


@pytest.mark.parametrize(
    ("form", "lines", "trainer", "metric", "right"),
    [("brackets", TREES, "pcfg", "bracket-f1", 1.0), ("tagged", TAGGED, "hmm-tagger", "tag-accuracy", 0.9)],
)
def test_outputs_to_come_are_counted(tmp_path: Path, form: str, lines: list[str], trainer: str, metric: str, right: float) -> None:
    (tmp_path / "gold").write_text("\n".join(lines * 60) + "\n")
    value = {
        "schema": 1,
        "study": "to come",
        "test_sets": {"t": {"format": form, "gold": "gold"}},
        "training": {
            "data": {"path": "gold", "format": form},
            "resamples": [{"method": "bootstrap", "replicas": 2}],
            "models": {"m": {"trainer": trainer}},
        },
        "metrics": [metric],
    }
    survey = survey_study(study_from_value(value, base=tmp_path).study, tmp_path)
    store = Store(tmp_path / "store")
    survey.store_frames(store)
    inputs = survey.inputs
    sample = sample_outputs(survey.study, inputs, inputs.test_sets[0], inputs.metrics[0], store, seconds=0.2, most=64)
    correct, of = sample.statistics[0].values.sum(axis=0)
    share = correct * (2 if metric == "bracket-f1" else 1) / of
    assert share == 1.0 if right == 1.0 else right - 0.15 < share < 1.0
