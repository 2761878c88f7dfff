"""Cluster profiles: the ones that come with the project work, and wrong ones say why."""

from __future__ import annotations

import inspect
import pickle
from pathlib import Path

import pytest

from pipeline.errors import StudyError
from pipeline.study.load import load_profile, locate_profile
from pipeline.study.profile import FILLED_IN, PROFILES, list_profiles, name_of_moved


def test_local_needs_no_file() -> None:
    profile = load_profile("local")
    assert (profile.name, profile.cluster, profile.address) == ("local", "distributed.LocalCluster", None)
    assert pickle.loads(pickle.dumps(profile)) == profile


@pytest.mark.parametrize("name", ["local", "scheduler", "slurm"])
def test_profiles_of_the_project_are_sound(name: str) -> None:
    profile = load_profile(PROFILES / f"{name}.yaml")
    assert profile.name == name


def test_the_local_profile_names_arguments_that_the_class_has() -> None:
    from distributed import LocalCluster

    assert set(load_profile(PROFILES / "local.yaml").options) <= set(inspect.signature(LocalCluster).parameters)


def test_the_slurm_profile_makes_a_job_script() -> None:
    jobqueue = pytest.importorskip("dask_jobqueue", reason="dask-jobqueue is not installed")
    profile = load_profile(PROFILES / "slurm.yaml", overrides=["options.interface=lo", "options.queue=debug"])
    job = jobqueue.slurm.SLURMJob("tcp://127.0.0.1:1", "name", **profile.options)
    script = job.job_script()
    assert "#SBATCH -p debug" in script
    assert "--nthreads 1" in script
    assert "--lifetime 55m" in script
    assert "NUMBA_NUM_THREADS=1" in script


def test_a_profile_is_found_beside_the_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "mine.yaml").write_text("scheduler_file: s.json\n")
    monkeypatch.chdir(tmp_path)
    profile = load_profile("mine.yaml", tmp_path / "base")
    assert profile.name == "mine"
    assert profile.scheduler_file == str(tmp_path / "base" / "s.json")


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("cluster: distributed.LocalCluster\naddress: tcp://x:1\n", "P110", "give one of cluster, address and scheduler_file"),
        ("workers: 2\n", "P110", "not none"),
        ("address: tcp://x:1\nworkers: 2\n", "P110", "workers: a scheduler that runs already"),
        ("cluster: distributed.LocalCluster\noptoins: {}\n", "P101", "unknown key 'optoins'"),
        ("cluster: distributed.LocalCluster\nworkers: 0\n", "P104", "workers must be at least 1, not 0"),
        ("cluster: LocalCluster; rm\n", "P104", "cluster"),
        ("", "P107", "empty"),
    ],
)
def test_a_wrong_profile_says_why(tmp_path: Path, text: str, code: str, words: str) -> None:
    (tmp_path / "p.yaml").write_text(text)
    with pytest.raises(StudyError) as raised:
        load_profile(tmp_path / "p.yaml")
    assert raised.value.problems[0].code == code
    assert words in raised.value.problems[0].message


def test_a_profile_that_is_not_there_is_said() -> None:
    with pytest.raises(StudyError, match="P112: there is no cluster profile 'slrum'") as raised:
        load_profile("slrum")
    assert (raised.value.problems[0].help or "").startswith("did you mean 'slurm'?")
    with pytest.raises(StudyError, match="P109"):
        load_profile("mine/none.yaml")


def test_a_profile_of_the_package_is_named_without_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_profile("slurm", tmp_path) == load_profile(PROFILES / "slurm.yaml")
    assert locate_profile("slurm", tmp_path) == "slurm"  # a coordinator in another folder has it as well
    # A file of one's own comes first, wherever it is.
    (tmp_path / "slurm").write_text("address: tls://own:1\n")
    assert load_profile("slurm").address == "tls://own:1"
    assert locate_profile("slurm", tmp_path) == str(tmp_path / "slurm")


def test_every_profile_of_the_package_is_found_by_name_or_must_be_filled_in() -> None:
    for name in list_profiles():
        if name in FILLED_IN:
            with pytest.raises(StudyError, match=r"P112: the profile '.*' does not know your machines"):
                load_profile(name)
        else:
            assert load_profile(name).name == name


@pytest.mark.parametrize(
    ("recorded", "now"),
    [
        ("checkout/cluster/slurm.yaml", "slurm"),
        ("mine/cluster/slurm.yaml", None),  # it may be anything
        ("checkout/cluster/ssh.yaml", None),  # somebody had filled it in
        ("checkout/cluster/own.yaml", None),
        ("checkout/cluster/pbs.yaml", None),  # it is still there
    ],
)
def test_a_profile_of_a_checkout_is_known_by_its_old_path(tmp_path: Path, recorded: str, now: str | None) -> None:
    checkout = tmp_path / "checkout"
    for folder in (checkout / "cluster", checkout / "pipeline" / "study" / "profiles"):
        folder.mkdir(parents=True)
    for name in ("slurm", "ssh", "pbs"):
        (checkout / "pipeline" / "study" / "profiles" / f"{name}.yaml").touch()
    (checkout / "cluster" / "pbs.yaml").touch()
    assert name_of_moved(tmp_path / recorded) == now
    assert name_of_moved(Path("local")) is None
