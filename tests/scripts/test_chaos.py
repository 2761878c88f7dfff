"""`scripts/chaos` sees what must not happen: other bits, work done twice, anything left behind, messages that lead nowhere."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from faults import __main__ as campaign
from faults.episode import Episode, Reference, digest_results
from faults.kinds import KINDS, Kind, missing
from faults.processes import MARK, living
from faults.steps import settle

from pipeline.cli.main import _AGAIN
from pipeline.errors import RunLocked
from pipeline.store.lease import STALE_SECONDS, refuse_if_held
from pipeline.tasks.kept_models import KEPT

RUN = "given-0"


def write_run(runs: Path, *, keys: tuple[str, ...] = ("a", "b")) -> Path:
    run = runs / RUN
    (run / "cubes.zarr").mkdir(parents=True)
    (run / "cubes.zarr" / "0").write_bytes(b"counts")
    (run / "report").mkdir()
    (run / "report" / "report.json").write_text('{"p": 0.5, "trainings": [{"seconds": 1.5}]}')
    lines = [json.dumps({"event": "done", "receipt": {"key": key}}) + "\n" for key in keys]
    (run / "ledger.jsonl").write_text("".join(lines))
    return run


@pytest.fixture
def episode(tmp_path: Path) -> Episode:
    """An episode whose run came out as the undisturbed one."""
    study = tmp_path / "reference" / "study" / "study.yaml"
    study.parent.mkdir(parents=True)
    study.write_text("schema: 1\n")
    run = write_run(tmp_path / "reference" / "runs")
    (tmp_path / "episode").mkdir()
    reference = Reference(study, tmp_path / "reference" / "runs", RUN, digest_results(run))
    made = Episode(tmp_path / "episode", reference, random.Random(1))
    write_run(made.runs)
    return made


def complaints(episode: Episode, *, counted_once: bool = True) -> str:
    episode.finish(counted_once=counted_once)
    return "\n".join(episode.complaints)


def test_a_run_with_the_bits_of_the_undisturbed_one_is_fine_whatever_its_trainings_took(episode: Episode) -> None:
    training = {"seconds": 9.5, "attempts": 2, "notes": [KEPT]}  # its worker was killed once the model was there
    (episode.run / "report" / "report.json").write_text(json.dumps({"p": 0.5, "trainings": [training]}))
    assert complaints(episode) == ""


def test_another_note_of_a_training_is_seen(episode: Episode) -> None:
    training = {"seconds": 1.5, "notes": [f"{KEPT} once"]}
    (episode.run / "report" / "report.json").write_text(json.dumps({"p": 0.5, "trainings": [training]}))
    assert "1 of 2 files differ" in complaints(episode)


@pytest.mark.parametrize("name", ["cubes.zarr/0", "report/report.json"])
@pytest.mark.parametrize("how", ["other", "gone", "more"])
def test_other_bits_are_seen(episode: Episode, name: str, how: str) -> None:
    path = episode.run / name
    if how == "gone":
        path.unlink()
    elif how == "more":
        (episode.run / "cubes.zarr" / "1").write_bytes(b"")
    else:
        path.write_bytes(path.read_bytes().replace(b"0.5", b"0.6").replace(b"counts", b"count5"))
    assert "differ from the undisturbed run" in complaints(episode)


def test_a_task_that_is_done_twice_is_seen_unless_its_result_was_damaged(episode: Episode) -> None:
    shutil.rmtree(episode.run)
    write_run(episode.runs, keys=("a", "b", "a"))
    assert complaints(episode, counted_once=False) == ""
    assert complaints(episode) == "1 tasks were done twice, a first"


def test_what_is_left_behind_is_seen_and_processes_are_ended(episode: Episode) -> None:
    (episode.temporary / "pipeline-train-x").mkdir()
    (episode.run / ".tmp-00000000-1-0000000000000000").touch()
    episode.patience = 0.2
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], env=episode.environment) as left:
        told = complaints(episode)
    assert f"process {left.pid} is left" in told
    assert left.returncode == -signal.SIGKILL
    assert "pipeline-train-x" in told
    assert ".tmp-00000000-1" in told


def test_processes_are_those_of_the_episode_alone(episode: Episode) -> None:
    code = "import time; print(flush=True); time.sleep(60)"
    for mark, found in ((episode.mark, True), ("another", False)):
        environment = {**episode.environment, MARK: mark}
        with subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            assert (process.pid in [one.pid for one in living(episode.mark)]) is found
            process.kill()


def test_advice_that_leads_nowhere_is_seen(episode: Episode) -> None:
    episode.rounds = 1
    episode.follow_advice("error[P705]: a stored file is damaged\n   = help: `pipeline resume no-such-run` computes it again")
    assert episode.history[0] == "pipeline resume no-such-run  -> 66"
    assert episode.complaints[0].startswith("exit code 66")
    assert episode.complaints[-1].startswith("still no result after 1 rounds of advice")


def test_the_same_command_is_given_again_where_a_message_says_so(episode: Episode) -> None:
    episode.end(episode.start("--version"), {0})
    episode.follow_advice(f"interrupted: {_AGAIN}")
    assert episode.history == ["pipeline --version  -> 0"] * 2
    assert episode.complaints == []


def test_who_is_killed_before_there_is_a_run_is_started_once_more(episode: Episode, monkeypatch: pytest.MonkeyPatch) -> None:
    class Killed:
        said = ""

        def wait(self, seconds: float) -> int:
            return -signal.SIGKILL

    shutil.rmtree(episode.run)
    monkeypatch.setattr(Episode, "start_run", lambda self: self.start("--version"))
    episode.history.append("pipeline run")
    settle(episode, Killed(), {0, -signal.SIGKILL})
    assert episode.history == ["pipeline run  -> -9", "pipeline --version  -> 0"]
    assert episode.complaints == []


def test_it_is_waited_where_a_message_says_so(episode: Episode, monkeypatch: pytest.MonkeyPatch) -> None:
    (episode.run / "lease.1").write_bytes(b"\0")  # it names no process, and was touched just now
    with pytest.raises(RunLocked) as locked:
        refuse_if_held(episode.run)
    (problem,) = locked.value.problems
    slept: list[float] = []
    real = time.sleep  # by which a command is awaited too
    monkeypatch.setattr(time, "sleep", lambda seconds: slept.append(seconds) if seconds > 10 else real(seconds))
    episode.rounds = 1
    episode.follow_advice(f"error: {problem.message}\n   = help: {problem.help}")
    assert slept == [STALE_SECONDS + 1]
    assert episode.history[0] == f"waited {STALE_SECONDS:.0f} s"
    assert episode.history[1].startswith(f"pipeline resume {RUN}")


def test_an_error_of_the_package_itself_is_never_explained_by_a_fault(episode: Episode) -> None:
    class Ended:
        said = "error[P999]: something of ours broke"

        def wait(self, seconds: float) -> int:
            return 70

    episode.history.append("pipeline run")
    episode.end(Ended(), {0, 70})  # type: ignore[arg-type]  # a command is what can be waited for
    assert episode.complaints == ["took the fault for one of its own: error[P999]: something of ours broke"]


def test_every_kind_can_be_done_here_or_says_what_is_missing() -> None:
    needs = {name: kind.needs for name, kind in KINDS.items() if kind.needs}
    slurm = dict.fromkeys(("scancel-worker", "scancel-coordinator", "walltime"), "slurm")
    assert needs == {"full-disk": "root", "read-only-disk": "root", "cut-network": "namespaces", **slurm}
    assert all(missing(kind) is None for kind in KINDS.values() if not kind.needs)


def test_a_fault_that_cannot_be_made_is_a_complaint_and_the_next_one_follows(
    episode: Episode, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(one: Episode) -> None:
        raise OSError(28, "No space left on device")

    def nothing(one: Episode) -> None:
        write_run(one.runs)

    kinds = {"full": Kind(full), "nothing": Kind(nothing)}
    monkeypatch.setattr(campaign, "KINDS", kinds)
    monkeypatch.setattr(campaign, "_make_reference", lambda name, folder: episode.reference)
    assert campaign.main(["--faults", "4", "--keep", str(tmp_path / "kept")]) == 1
    told = capsys.readouterr().out
    assert told.count("! the fault could not be made: OSError: [Errno 28] No space left on device") == 2
    assert "| `full` | 2 | 2 |" in told
    assert "| `nothing` | 2 | 0 |" in told


def test_a_campaign_that_is_told_to_end_ends_after_the_fault_that_is_on_its_way(
    episode: Episode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def be_told(episode: Episode) -> None:
        write_run(episode.runs)
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(campaign, "KINDS", {"told": Kind(be_told)})
    monkeypatch.setattr(campaign, "_make_reference", lambda name, folder: episode.reference)
    before = signal.getsignal(signal.SIGTERM)
    assert campaign.main(["--faults", "4", "--keep", str(tmp_path / "kept")]) == 0
    assert "| `told` | 1 | 0 |" in capsys.readouterr().out
    assert signal.getsignal(signal.SIGTERM) is before
