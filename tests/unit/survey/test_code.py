"""What a study would run is listed before any of it is run."""

from __future__ import annotations

import json
from pathlib import Path

from support.studies import run_cli, write_scores, write_study


def hostile(folder: Path) -> Path:
    """A study whose metric, trainer and version command each leave a mark where they are run."""
    (folder / "code").mkdir()
    for name in ("planted_metric", "planted_model"):
        (folder / "code" / f"{name}.py").write_text(f"open({str(folder / 'ran')!r}, 'a').write({name!r})\nclass Thing: pass\n")
    (folder / "train.txt").write_text("a\nb\n" * 10)
    return write_study(
        folder / "study.yaml",
        test_sets={"news": {"format": "labels", "gold": "train.txt"}},
        metrics=[{"name": "planted_metric:Thing", "path": "code"}],
        training={
            "data": {"path": "train.txt", "format": "labels"},
            "resamples": [{"method": "seed", "replicas": 2}],
            "models": {
                "mine": {
                    "trainer": "command",
                    "fit": "cp {train} {model}",
                    "predict": "cat {model} {input} > {output}",
                    "version_command": f"echo version >> {folder / 'ran'}",
                },
                "own": {"trainer": "python", "object": "planted_model:Thing", "path": "code"},
            },
        },
        cluster="cluster.yaml",
    )


def test_a_study_from_somebody_else_is_looked_at_without_running_any_of_it(tmp_path: Path) -> None:
    done = run_cli("check", hostile(tmp_path), "--no-code", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {each["where"]: each["what"] for each in found["code"] if each["own"]} == {
        "metrics": "module planted_metric:Thing in the folder code",
        "training.models.mine.fit": "cp {train} {model}",
        "training.models.mine.predict": "cat {model} {input} > {output}",
        "training.models.mine.version_command": f"echo version >> {tmp_path / 'ran'}",
        "training.models.own.object": "planted_model:Thing",
        "training.models.own.path": "code",
        "cluster": "the cluster class of the profile cluster.yaml",
    }
    assert (found["aligned"], found["test_sets"]) == (False, [])
    assert not (tmp_path / "ran").exists()


def test_the_mark_is_left_where_code_is_run(tmp_path: Path) -> None:
    """The test above would see it."""
    run_cli("check", hostile(tmp_path), own_process=True)
    assert (tmp_path / "ran").exists()


def test_a_study_without_code_of_its_own_is_aligned_all_the_same(tmp_path: Path) -> None:
    write_scores(tmp_path / "scores.csv", ["a", "b"])
    study = write_study(tmp_path / "s.yaml", metrics=["mean"], test_sets={"n": {"format": "scores", "outputs": "scores.csv"}})
    done = run_cli("check", study, "--no-code", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["aligned"], found["code"], found["test_sets"][0]["items"]) == (True, [], 50)
