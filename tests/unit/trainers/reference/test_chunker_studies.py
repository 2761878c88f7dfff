"""The studies of chunkers in workflows/, made small: the same file with few replicas, on a corpus of a little grammar."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
import yaml

from pipeline.api import run
from pipeline.items.readers.columns import ColumnsReader

WORKFLOWS = Path(__file__).resolve().parents[4] / "workflows"
PHRASES = (
    (("DT", "B-NP"), ("NN", "I-NP")),
    (("JJ", "B-NP"), ("NNS", "I-NP")),
    (("DT", "B-NP"), ("JJ", "I-NP"), ("NN", "I-NP")),
    (("PRP", "B-NP"),),
    (("VBG", "B-NP"), ("NN", "I-NP")),
)
SMALLER = {
    "bootstrap": [{"method": "quota", "instances": "chunks:NP", "replicas": 2}],
    "folds": [{"method": "cross-validation", "folds": 3, "repeats": 1}, {"method": "cross-validation", "folds": 2, "repeats": 1}],
}


def write_corpus(path, sentences, seed):
    rng = random.Random(seed)
    texts = []
    for _ in range(sentences):
        parts = [*rng.choice(PHRASES), (rng.choice(("VBD", "VBG")), "B-VP"), *rng.choice(PHRASES)]
        texts.append(parts + ([("IN", "B-PP"), *rng.choice(PHRASES)] if rng.random() < 0.5 else []))
    tags, chunks = (tuple(tuple(token[k] for token in text) for text in texts) for k in (0, 1))
    words = tuple(tuple(tag.lower() for tag in sentence) for sentence in tags)
    path.parent.mkdir(parents=True, exist_ok=True)
    ColumnsReader().write(path, {"word": words, "tag": tags, "chunk": chunks}, tuple(str(k) for k in range(1, sentences + 1)))


@pytest.fixture
def corpora(tmp_path, monkeypatch):
    write_corpus(tmp_path / "data" / "conll2000" / "train.txt.gz", 60, seed=1)
    write_corpus(tmp_path / "data" / "conll2000" / "test.txt.gz", 200, seed=2)
    write_corpus(tmp_path / "data" / "twitter-chunks" / "test.txt.gz", 40, seed=3)
    monkeypatch.setenv("PIPELINE_DATA", str(tmp_path / "data"))


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALLER)
def test_the_study_of_chunkers_runs_from_training_to_report(name, corpora, tmp_path):
    study = yaml.safe_load((WORKFLOWS / f"chunkers-{name}.yaml").read_text(encoding="utf-8"))
    study["training"]["resamples"] = SMALLER[name]
    study["resampling"]["replicates"] = 200
    study["report"] = {"formats": ["json"], "null_laboratory": False}
    path = tmp_path / "study.yaml"
    path.write_text(yaml.safe_dump(study), encoding="utf-8")
    done = run(path, runs=tmp_path / "runs", serial=True)
    report = json.loads(next(done.root.glob("report/report.json")).read_text(encoding="utf-8"))
    (finding,) = (finding for finding in report["findings"] if finding["analysis"] == "replicas")
    rows = [row for row in finding["rows"] if row["kind"] == "model"]
    assert {row["test_set"] for row in rows} == {"wsj20", "wsj20a", "wsj20b", "twitter"}
    # Replicas of a chunker are apart by the way their samples were drawn: 3 folds and 2 folds are not one distribution.
    runs = sorted((row["model"].split(" ")[0], row["runs"]) for row in rows if row["test_set"] == "wsj20")
    assert runs == sorted((model, n) for model in ("mbsl1", "mbsl3", "snow") for n in ((2,) if name == "bootstrap" else (2, 3)))
    assert all(row["score"] > 80 for row in rows)
