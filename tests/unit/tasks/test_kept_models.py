"""Another test set is predicted by the models that were fitted before: nothing is trained, and no bit is another."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from support import taggers
from support.studies import files_of, ledger, write_study

from pipeline.api import run
from pipeline.engine.preview import format_preview, preview_study
from pipeline.store.garbage import find_garbage
from pipeline.store.runs import RunDirectory
from pipeline.study.load import load_study
from pipeline.tasks.kept_models import KEPT

COUNTED = """\
echo fitted >> {path}/fitted
sort {train} > {model}
pwd > place
chmod a-w {model}
"""
MODELS: dict[str, dict[str, Any]] = {
    "hmm": {"trainer": "hmm-tagger"},
    "outside": {
        "trainer": "command",
        "path": ".",
        "fit": COUNTED,
        # Its outputs hang on the model, the sample and the seed.
        "predict": """test -s place
cat {model} {train} | wc -c > size
n=$(( $(cat size) + {seed} ))
if [ $(( n % 2 )) -eq 0 ]; then tag=NOUN; else tag=VERB; fi
sed "s#/_#/$tag#g" {input} > {output}""",
    },
}


def study(folder: Path, test_sets: tuple[str, ...], *, models: dict[str, Any] = MODELS, replicas: int = 2, **training: Any) -> Path:
    for name, sentences, seed in (("train", 60, 1), ("test", 40, 2), ("other", 30, 3)):
        if not (folder / f"{name}.txt").is_file():
            taggers.write_tagged(folder / f"{name}.txt", sentences=sentences, seed=seed)
    resamples = [{"method": "bootstrap", "fraction": 0.5, "replicas": replicas}]
    return write_study(
        folder / "study.yaml",
        test_sets={name: {"format": "tagged", "gold": f"{name}.txt"} for name in test_sets},
        training={"data": {"path": "train.txt", "format": "tagged"}, "resamples": resamples, "models": models, **training},
        metrics=["tag-accuracy"],
        resampling={"replicates": 300, "keep_replicates": 0, "test_sizes": ["full"]},
        analyses=["thresholds"],
        report={"formats": ["json"], "null_laboratory": False},
    )


def trained(made: RunDirectory) -> dict[str, dict[str, Any]]:
    done = [entry["receipt"] for entry in ledger(made.root) if entry["event"] == "done"]
    return {receipt["label"].removeprefix("train "): receipt for receipt in done if receipt["kind"] == "train"}


def outputs(folder: Path, made: RunDirectory) -> dict[str, bytes]:
    return {name: (folder / ".store" / receipt["file"]).read_bytes() for name, receipt in trained(made).items()}


def fitted(folder: Path) -> int:
    return (folder / "fitted").read_text().count("fitted")


def run_in(folder: Path, file: Path) -> RunDirectory:
    return run(file, runs=folder / "runs", serial=True)


def plan(folder: Path, file: Path) -> str:
    return format_preview(preview_study(load_study(file, []), folder / "runs"))


def test_another_test_set_trains_nothing_and_predicts_what_a_training_would(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    folder = tmp_path / "one"
    first = run_in(folder, study(folder, ("test",)))
    assert fitted(folder) == 2
    assert len(files_of(folder / "runs" / ".store" / "models")) == 4
    both = study(folder, ("test", "other"))
    assert "hmm: 2 trainings, 2 open; their models are kept, and only predict" in plan(folder, both)
    second = run_in(folder, both)
    assert second.id != first.id
    assert fitted(folder) == 2
    for receipt in trained(second).values():
        assert KEPT in receipt["covers"]["notes"]
    told = [covers["covers"].get("fit_memory_bytes") for name, covers in sorted(trained(second).items()) if "outside" in name]
    assert told == [
        covers["covers"].get("fit_memory_bytes") for name, covers in sorted(trained(first).items()) if "outside" in name
    ]
    # The same from the beginning, in a place where nothing is kept.
    (tmp_path / "two").mkdir()
    alone = study(tmp_path / "two", ("test", "other"), keep_models=0)
    fresh = run_in(tmp_path / "two", alone)
    assert not (tmp_path / "two" / "runs" / ".store" / "models").exists()
    assert outputs(folder / "runs", second) == outputs(tmp_path / "two" / "runs", fresh)
    assert len({*outputs(folder / "runs", second).values()}) > 2
    assert fitted(tmp_path / "two") == 2


def test_models_are_named_by_their_run_and_their_room_is_no_part_of_it(tmp_path: Path) -> None:
    first = run_in(tmp_path, study(tmp_path, ("test",), models={"hmm": MODELS["hmm"]}))
    models = list((tmp_path / "runs" / ".store" / "models").rglob("*.zip"))
    for path in models:
        os.utime(path, (1000, 1000))
    assert len(models) == 2
    assert not find_garbage(tmp_path / "runs").files, "the run names its models"
    file = study(tmp_path, ("test",), models={"hmm": MODELS["hmm"]}, keep_models="1 MB")
    assert run_in(tmp_path, file).id == first.id
    assert load_study(file, []).study.training.keep_models == 1e6  # type: ignore[union-attr]


def test_a_damaged_model_is_trained_again_and_kept_again(tmp_path: Path) -> None:
    run_in(tmp_path, study(tmp_path, ("test",)))
    models = sorted((tmp_path / "runs" / ".store" / "models").rglob("*.zip"))
    for path in models:
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    made = run_in(tmp_path, study(tmp_path, ("test", "other")))
    assert fitted(tmp_path) == 4
    assert all(KEPT not in receipt["covers"]["notes"] for receipt in trained(made).values())
    assert sorted((tmp_path / "runs" / ".store" / "models").rglob("*.zip")) == models


def test_a_kept_model_that_fails_is_trained_again(tmp_path: Path) -> None:
    needs_its_place = {**MODELS["outside"], "predict": 'test "$(cat place)" = "$(pwd)"\n' + MODELS["outside"]["predict"]}
    models = {"outside": needs_its_place, "hmm": MODELS["hmm"]}
    run_in(tmp_path, study(tmp_path, ("test",), models=models))
    made = run_in(tmp_path, study(tmp_path, ("test", "other"), models=models))
    assert fitted(tmp_path) == 4
    assert {name: KEPT in receipt["covers"]["notes"] for name, receipt in trained(made).items()} == {
        f"{model}/bootstrap-0.5/{k}": model == "hmm" for model in models for k in range(2)
    }


def test_little_room_keeps_the_last(tmp_path: Path) -> None:
    large = {
        "outside": {
            **MODELS["outside"],
            "fit": MODELS["outside"]["fit"].replace("sort {train}", "head -c 20000 /dev/urandom | cat - {train}"),
        }
    }
    run_in(tmp_path, study(tmp_path, ("test",), models=large, replicas=3, keep_models="50 kB"))
    kept = [path.stat().st_size for path in (tmp_path / "runs" / ".store" / "models").rglob("*.zip")]
    assert len(kept) == 2
    assert 40_000 < sum(kept) <= 50_000
    told = plan(tmp_path, study(tmp_path, ("other",), models=large, replicas=3, keep_models="50 kB"))
    assert "outside: 3 trainings, 3 open; the models of 2 are kept, and only predict" in told


@pytest.fixture
def objects(tmp_path: Path) -> Path:
    (tmp_path / "suffixes.py").write_text(
        "class Nouns:\n"
        "    takes, gives = ('word', 'tag'), ('tag',)\n"
        "    def fit(self, items, sample, *, seed, workdir):\n        return seed\n"
        "    def predict(self, model, items):\n"
        "        return {'tag': [('NOUN',) * len(words) for words in items.columns['word']]}\n"
    )
    return tmp_path


def test_an_object_is_trained_again_and_the_plan_says_so(objects: Path) -> None:
    models = {"nouns": {"trainer": "python", "object": "suffixes:Nouns", "path": "."}, "hmm": MODELS["hmm"]}
    told = plan(objects, study(objects, ("test",), models=models))
    assert "nouns: 2 trainings, 2 open; its models are not kept: another test set trains again" in told
    assert "hmm: 2 trainings, 2 open\n" in told
    run_in(objects, study(objects, ("test",), models=models))
    again = json.dumps(trained(run_in(objects, study(objects, ("other",), models=models))))
    assert again.count(KEPT) == 2


def test_a_model_that_cannot_be_saved_is_good_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from reference_systems.hmm_tagger import HmmTaggerTrainer

    def refuse(*_: object) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(HmmTaggerTrainer, "save_model", refuse)
    made = run_in(tmp_path, study(tmp_path, ("test",), models={"hmm": MODELS["hmm"]}))
    notes = [receipt["covers"]["notes"] for receipt in trained(made).values()]
    assert notes == [["the model could not be kept, so another test set will need another training: RuntimeError"]] * 2
