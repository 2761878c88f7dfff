"""The studies of trained systems in workflows/, made small: the same files with few replicas, on corpora of a little grammar."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import pytest
import yaml
from support.many_trainings import trained
from support.small_language import (
    make_sentences,
    write_bitext,
    write_brackets,
    write_chunks,
    write_heads,
    write_links,
    write_tagged,
)

from pipeline.api import run

WORKFLOWS = Path(__file__).resolve().parents[3] / "workflows"
GENRES = (
    "adventure", "belles_lettres", "editorial", "fiction", "government", "hobbies", "humor", "learned", "lore", "mystery",
    "religion", "reviews", "romance", "science_fiction",
)  # fmt: skip
BOOTSTRAP = [{"method": "bootstrap", "fraction": 1.0, "replicas": 2}, {"method": "bootstrap", "fraction": 0.5, "replicas": 1}]


class Small(NamedTuple):
    """What a workflow is made small by, and what is known of its systems beforehand."""

    corpora: Mapping[str, tuple[Callable[..., None], int, int]]
    """Under the folder of data: what writes the file, of how many sentences, from which seed."""
    models: tuple[str, ...]
    test_sets: tuple[str, ...]
    scores: Mapping[str, tuple[float, float]]
    """Of each metric, between which means over the test sets every system is; on the far side is whoever has learnt nothing.

    On these corpora the commonest chunk of each tag gives a recall of 79 to 88, the commonest tag of each word an accuracy of 81,
    the commonest place of the head by the tags around 82 to 85, the subject and base phrases alone an F1 of 77, and the links of
    the diagonal an error rate of 14.
    """
    resamples: list[dict[str, Any]] = BOOTSTRAP
    replicas: int = 3
    items: Mapping[str, str] = {}
    """Items of test sets, and of the training data, in place of those of the workflow."""
    options: Mapping[str, Any] = {}
    """Options that all its models are given."""


CHUNKS = {
    "conll2000/train.txt.gz": (write_chunks, 60, 0),
    "conll2000/test.txt.gz": (write_chunks, 200, 1),
    "twitter-chunks/test.txt.gz": (write_chunks, 40, 2),
}
CHUNKERS = ("mbsl1", "mbsl3", "snow")
CHUNK_SETS = ("wsj20", "wsj20a", "wsj20b", "twitter")
FOLDS = [{"method": "cross-validation", "folds": 3, "repeats": 1}, {"method": "cross-validation", "folds": 2, "repeats": 1}]
SMALL = {
    "chunkers-bootstrap": Small(
        CHUNKS,
        CHUNKERS,
        CHUNK_SETS,
        {"chunk-recall": (90, 100)},
        [{"method": "quota", "instances": "chunks:NP", "replicas": 2}],
        2,
    ),
    "chunkers-folds": Small(CHUNKS, CHUNKERS, CHUNK_SETS, {"chunk-recall": (90, 100)}, FOLDS, 5),
    "taggers-brown": Small(
        {f"brown/{genre}.tagged.txt.gz": (write_tagged, 180, seed) for seed, genre in enumerate(("news", *GENRES))},
        ("perceptron", "perceptron-once", "trigrams"),
        ("news", *(genre.replace("_", "-") for genre in GENRES)),
        {"tag-accuracy": (84, 99)},
        items={"training": "1-140", "news": "141-180"} | {genre.replace("_", "-"): "1-20" for genre in GENRES},
    ),
    "parsers-ewt": Small(
        {
            "ud-english-ewt/train.conllu.gz": (write_heads, 60, 0),
            "ud-english-ewt/test.conllu.gz": (write_heads, 120, 1),
            "ud-english-atis/test.conllu.gz": (write_heads, 110, 2),
        },
        ("graph", "transition", "ensemble"),
        ("ewt", "atis"),
        {"uas": (87, 97), "las": (86, 97)},
        items={"training": "1-20, 31-60"},
        options={"bits": 16},  # of 4 million weights all are averaged, written and read again, a few thousand of which were learnt
    ),
    "aligners-hansards": Small(
        {
            "align-enfr-hansards/bitext.src-tgt.txt.gz": (write_bitext, 120, 0),
            "align-enfr-hansards/gold.txt.gz": (write_links, 120, 0),
        },
        ("ibm1", "fast", "hmm"),
        ("hansards",),
        {"aer": (1, 12)},
    ),
    "grammars-treebank": Small(
        {"treebank-wsj-sample/wsj.mrg.txt.gz": (write_brackets, 180, 0)},
        ("plain", "markov", "latent"),
        ("wsj",),
        {"bracket-f1": (82, 99)},
        items={"training": "1-60", "wsj": "61-180"},
    ),
}


def test_every_workflow_that_trains_has_a_small_one() -> None:
    trained = [path.stem for path in WORKFLOWS.glob("*.yaml") if "training" in yaml.safe_load(path.read_text(encoding="utf-8"))]
    assert sorted(trained) == sorted([*SMALL, "quickstart"])  # the quickstart is small itself and runs whole, elsewhere


def made_small(name: str, folder: Path, *, replicates: int) -> Path:
    """Write a workflow's study with few replicas, and the corpora that it reads."""
    small = SMALL[name]
    for path, (write, sentences, seed) in small.corpora.items():
        write(folder / "data" / path, make_sentences(sentences, seed=seed))
    study = yaml.safe_load((WORKFLOWS / f"{name}.yaml").read_text(encoding="utf-8"))
    study["training"]["resamples"] = small.resamples
    for model in study["training"]["models"].values():
        model |= small.options
    for place, items in small.items.items():
        (study["training"]["data"] if place == "training" else study["test_sets"][place])["items"] = items
    study["resampling"] |= {"replicates": replicates, "keep_replicates": min(300, study["resampling"]["keep_replicates"])}
    study["resampling"]["test_sizes"] = [size for size in study["resampling"]["test_sizes"] if size == "full" or size <= 100]
    study["report"] = {"formats": ["json"], "null_laboratory": False}
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(study), encoding="utf-8")
    return path


SLOW = ("chunkers-bootstrap", "taggers-brown")


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in SMALL])
def test_a_workflow_runs_from_training_to_report(name, tmp_path, monkeypatch):
    monkeypatch.setenv("PIPELINE_DATA", str(tmp_path / "data"))
    small = SMALL[name]
    study = made_small(name, tmp_path, replicates=300)
    asked = yaml.safe_load(study.read_text(encoding="utf-8"))
    done = run(study, runs=tmp_path / "runs", serial=True)
    report = json.loads(next(done.root.glob("report/report.json")).read_text(encoding="utf-8"))

    assert Counter(row["model"] for row in report["trainings"]) == dict.fromkeys(small.models, small.replicas)
    assert {row["status"] for row in report["trainings"]} == {"done"}
    systems = {row["system"] for row in report["trainings"]}
    assert {(row["test_set"], row["name"]) for row in report["systems"]} == {(t, s) for t in small.test_sets for s in systems}
    for metric, (least, most) in small.scores.items():
        scores = {name: fmean(row["scores"][metric] for row in report["systems"] if row["name"] == name) for name in systems}
        assert least <= min(scores.values()) < max(scores.values()) <= most, (metric, scores)
    assert {next(iter(one)) if isinstance(one, dict) else one for one in asked["analyses"]} == {*report["notes"]}
    assert all(finding["rows"] for finding in report["findings"])
    found = {finding["analysis"]: finding["rows"] for finding in report["findings"]}
    everywhere = {(test_set, metric) for test_set in small.test_sets for metric in small.scores}
    for analysis, expected in (("thresholds", everywhere), ("size-curve", everywhere)):
        if analysis in report["notes"]:
            assert {(row["test_set"], row["metric"]) for row in found[analysis]} == expected
    if "calibration-transfer" in report["notes"]:
        others = {(small.test_sets[0], other) for other in small.test_sets[1:]}
        assert {(row["test_set"], row["against"]) for row in found["calibration-transfer"]} == others

    if "replicas" in report["notes"]:
        # Replicas of a chunker are apart by the way their samples were drawn: 3 folds and 2 folds are not one distribution.
        (finding,) = (finding for finding in report["findings"] if finding["analysis"] == "replicas")
        rows = [row for row in finding["rows"] if row["kind"] == "model"]
        assert {row["test_set"] for row in rows} == {*small.test_sets}
        runs = sorted((row["model"].split(" ")[0], row["runs"]) for row in rows if row["test_set"] == small.test_sets[0])
        assert runs == sorted((model, n) for model in small.models for n in ((2, 3) if small.resamples is FOLDS else (2,)))

    assert sorted(trained(done.root)) == sorted(systems)
    other = run(made_small(name, tmp_path, replicates=200), runs=tmp_path / "runs", serial=True)
    assert other.root != done.root
    assert trained(other.root) == []  # another study of the same models
