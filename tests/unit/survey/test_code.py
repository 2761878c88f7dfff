"""What a study would run is listed before any of it is run."""

from __future__ import annotations

import inspect
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from support.studies import run_cli, write_scores, write_study

from pipeline.errors import PluginError
from pipeline.foreign_code import no_foreign_code
from pipeline.own_code import import_object
from pipeline.plugins import import_plugin
from pipeline.study.load import study_from_value
from pipeline.survey.code import list_code
from pipeline.trainers.named_code import list_named_code
from pipeline.trainers.registry import make_trainer


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
                    "path": "code",
                },
                "own": {"trainer": "python", "object": "planted_model:Thing", "path": "code", "options": {"args": "rm -r ."}},
                "shelf": {
                    "trainer": "sklearn",
                    "steps": [{"estimator": "sklearn.preprocessing.StandardScaler"}, {"estimator": "planted_model.Thing"}],
                },
            },
        },
        cluster="cluster.yaml",
    )


def listed(found: dict[str, Any]) -> dict[str, str]:
    # The readers of the reference systems are asked too what files they know, where they are installed.
    others = (each for each in found["code"] if "pipeline-reference-systems" not in each["what"])
    return {each["where"]: f"{each['kind']} {each['what']}" for each in others}


def test_a_hostile_study_is_listed_and_aligned_and_none_of_it_runs(tmp_path: Path) -> None:
    (tmp_path / "cluster.yaml").write_text(
        "cluster: planted_cluster.Cluster\noptions: {job_script_prologue: [touch x], token: abc}\n"
    )
    done = run_cli("check", hostile(tmp_path), "--json", own_process=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert listed(found) == {
        "metrics": "module planted_metric:Thing in the folder code",
        "training.models.mine.fit": 'command cp {train} {model}, run with path="code"',
        "training.models.mine.predict": 'command cat {model} {input} > {output}, run with path="code"',
        "training.models.mine.version_command": f'command echo version >> {tmp_path / "ran"}, run with path="code"',
        "training.models.own.object": 'module planted_model:Thing in the folder code, called with args="rm -r ."',
        "training.models.shelf.steps[1].estimator": "module planted_model.Thing",
        "cluster": "cluster planted_cluster.Cluster of the profile cluster.yaml, "
        'called with options={"job_script_prologue": ["touch x"], "token": "(not shown)"}',
    }
    assert found["unchecked"] == [
        "the version of the model mine",
        "the model own",
        "the model shelf",
        "the metric planted_metric:Thing",
    ]
    assert found["code_was_run"] is False
    assert [(each["test_set"], each["items"]) for each in found["test_sets"]] == [("news", 20)]
    assert not (tmp_path / "ran").exists()


def test_what_is_not_checked_is_one_line_with_the_option_that_checks_it(tmp_path: Path) -> None:
    done = run_cli("check", hostile(tmp_path))
    assert done.stdout.startswith("code that this study runs:\n  metrics: module planted_metric:Thing in the folder code\n")
    assert "news: 20 items, 6 systems to be trained" in done.stdout
    assert done.stdout.splitlines()[-1] == (
        "not checked without running code: the version of the model mine, the model own, the model shelf, the metric "
        f"planted_metric:Thing; `pipeline check {tmp_path / 'study.yaml'} --run-code` runs what checking them needs"
    )


def test_the_list_comes_before_what_is_wrong_with_the_files(tmp_path: Path) -> None:
    study = hostile(tmp_path)
    (tmp_path / "train.txt").unlink()
    done = run_cli("check", study)
    assert (done.returncode, "planted_metric:Thing" in done.stdout, "P201" in done.stderr) == (3, True, True), done.stderr


@pytest.mark.parametrize("arguments", [("check", "--run-code"), ("plan",)])
def test_the_mark_is_left_where_code_is_run(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """The tests above would see it; and plan does it, as its help says: what is done depends on versions of the code."""
    command, *options = arguments
    run_cli(command, hostile(tmp_path), *options, own_process=True)
    assert (tmp_path / "ran").exists()
    assert "version_command" in " ".join(run_cli(command, "--help").stdout.split())


def test_options_of_a_command_are_checked_without_running_it(tmp_path: Path) -> None:
    study = hostile(tmp_path)
    study.write_text(study.read_text().replace("{model} {input}", "{modle} {input}"))
    done = run_cli("check", study)
    assert (done.returncode, "P151" in done.stderr) == (2, True), done.stderr


def test_a_study_without_code_of_its_own_is_checked_whole(tmp_path: Path) -> None:
    write_scores(tmp_path / "scores.csv", ["a", "b"])
    study = write_study(tmp_path / "s.yaml", metrics=["mean"], test_sets={"n": {"format": "scores", "outputs": "scores.csv"}})
    done = run_cli("check", study, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["unchecked"], found["code"], found["test_sets"][0]["items"]) == ([], [], 50)


def plant(folder: Path, monkeypatch: pytest.MonkeyPatch, *families: str) -> None:
    """Install a package that leaves a mark where it is imported, and brings a member named ``planted`` of each family."""
    (folder / "planted_plugin.py").write_text(f"open({str(folder / 'ran')!r}, 'a').write('plugin')\nclass Thing: pass\n")
    monkeypatch.syspath_prepend(str(folder))
    info = folder / "gardeners-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: gardeners\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("".join(f"[pipeline.{each}]\nplanted = planted_plugin:Thing\n" for each in families))


def test_plugins_are_listed_and_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(tmp_path, monkeypatch, "metrics", "readers", "analyses", "procedures", "presets")
    write_scores(tmp_path / "scores.csv", ["a", "b"])
    study = write_study(
        tmp_path / "s.yaml",
        metrics=["mean", {"name": "other", "metric": "planted", "depth": 3}],
        analyses=["planted"],
        test_sets={
            "auto": {"format": "auto", "outputs": "scores.csv"},
            "read": {"format": "planted", "outputs": "scores.csv"},
        },
    )
    done = run_cli("check", study, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert listed(found) == {
        "metrics": 'plugin planted_plugin:Thing of the package gardeners 1.0, called with metric="planted", depth=3',
        "test_sets.auto.format": "plugin planted_plugin:Thing of the package gardeners 1.0",
        "test_sets.read.format": "plugin planted_plugin:Thing of the package gardeners 1.0",
        "analyses": "plugin planted_plugin:Thing of the package gardeners 1.0",
    }
    assert found["unchecked"] == ["test_sets.read.format (planted)", "the metric other", "the analysis planted"]
    assert [each["test_set"] for each in found["test_sets"]] == ["auto"]
    assert not (tmp_path / "ran").exists()


def test_trainers_and_readers_of_training_data_are_plugins_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(tmp_path, monkeypatch, "trainers", "readers")
    (tmp_path / "train.txt").write_text("a\nb\n" * 10)

    def check(data_format: str, trainer: str) -> dict[str, Any]:
        study = write_study(
            tmp_path / "s.yaml",
            test_sets={"news": {"format": "labels", "gold": "train.txt"}},
            metrics=["accuracy"],
            training={
                "data": {"path": "train.txt", "format": data_format},
                "resamples": [{"method": "seed", "replicas": 2}],
                "models": {"mine": {"trainer": trainer, "predict": "{input} {output}"}},
            },
        )
        done = run_cli("check", study, "--json")
        assert done.returncode == 0, done.stderr
        return dict(json.loads(done.stdout))

    found = check("labels", "planted")
    assert found["unchecked"] == ["the model mine"]
    assert listed(found)["training.models.mine"].endswith('gardeners 1.0, called with predict="{input} {output}"')
    assert [each["items"] for each in found["test_sets"]] == [20]
    found = check("planted", "command")
    assert found["unchecked"] == ["training.data.format (planted)", "test_sets.news"]
    assert (found["test_sets"], (tmp_path / "ran").exists()) == ([], False)


HARMLESS = {"command": {"limits", "environment", "path", "suffix", "gives", "same_bits", "version"}, "python": {"options", "path"}}
"""Options of trainers that are no code by themselves, though code may be called with them."""
DECLARED = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]["entry-points"]


@pytest.mark.parametrize("name", DECLARED["pipeline.trainers"])
def test_every_option_of_a_trainer_is_listed_or_is_known_to_name_no_code(name: str) -> None:
    harmless = HARMLESS.get(name, {"options"})
    for option in set(inspect.signature(import_plugin("trainers", name)).parameters) - harmless:
        given = [{"estimator": "mine.Thing"}] if option == "steps" else "mine:Thing"
        (code,) = list_named_code(name, {option: given})
        assert (code.option.partition("[")[0], code.kind != "trainer") == (option, True)


def test_members_of_every_family_of_plugins_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    families = {group.partition(".")[2] for group in DECLARED if group.startswith("pipeline.")}
    plant(tmp_path, monkeypatch, *families)
    value = {
        "schema": 1,
        "study": "s",
        "metrics": ["planted"],
        "analyses": [{"name": "planted"}],
        "test_sets": {"n": {"format": "planted", "outputs": "scores.csv"}},
        "training": {
            "data": {"path": "train.txt", "format": "labels"},
            "resamples": [{"method": "seed", "replicas": 2}],
            "models": {"mine": {"trainer": "planted"}},
        },
    }
    study = study_from_value(value, base=tmp_path).study
    resampling = study.resampling.model_copy(update={"procedures": ("planted",)})
    asked = study.model_copy(update={"resampling": resampling, "preset": "planted"})
    places = {"metrics", "test_sets.n.format", "training.models.mine", "analyses", "resampling.procedures", "preset"}
    found = list_code(asked, tmp_path)
    assert {code.where for code in found} == places
    assert len(places) == len(families)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("asked", [{"preset": "planted"}, {"resampling": {"procedures": ["planted"]}}])
def test_a_study_that_cannot_be_read_without_a_plugin_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: dict[str, Any]
) -> None:
    plant(tmp_path, monkeypatch, "procedures", "presets")
    write_scores(tmp_path / "scores.csv", ["a", "b"])
    sets = {"n": {"format": "scores", "outputs": "scores.csv"}}
    done = run_cli("check", write_study(tmp_path / "s.yaml", metrics=["mean"], test_sets=sets, **asked))
    assert done.returncode == 2
    for part in ("P315", "planted_plugin:Thing", "--run-code"):
        assert part in done.stderr
    assert not (tmp_path / "ran").exists()


def test_doors_to_foreign_code_are_closed_even_where_one_is_overlooked(tmp_path: Path) -> None:
    with no_foreign_code():
        for open_ in (
            lambda: import_object("planted_model:Thing", tmp_path),
            lambda: make_trainer("sklearn", {"estimator": "planted_model.Thing"}, tmp_path),
            lambda: make_trainer("command", {"predict": "{input} {output}", "version_command": "true"}, tmp_path).signature,
        ):
            with pytest.raises(PluginError) as refused:
                open_()
            assert refused.value.problems[0].code == "P315"
