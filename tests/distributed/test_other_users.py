"""Another user of the same machine: can neither have code run by a run, nor read it, nor give it something to run."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.second_user import ASK, INTRUDE, LOOK, OTHER, as_other, needs_root
from support.studies import PAGES, run_cli, text_study

from pipeline.engine.dask import open_executor
from pipeline.study.profile import LOCAL

pytestmark = needs_root


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that everybody can read, as most are; pytest's own are private."""
    folder = Path(tempfile.mkdtemp(prefix="everybody-"))
    folder.chmod(0o755)
    before = os.umask(0o022)
    try:
        yield folder
    finally:
        os.umask(before)
        shutil.rmtree(folder)


def test_another_user_is_turned_away_at_every_port_of_a_run(public: Path) -> None:
    with open_executor(LOCAL, public, prefix="t", workers=1, logs=public / "logs") as executor:
        executor._client.wait_for_workers(1, timeout=60)
        info = executor._client.scheduler_info(n_workers=-1)
        ((worker, facts),) = info["workers"].items()
        addresses = [info["address"], worker, facts["nanny"]]
        assert as_other(INTRUDE, *addresses) == ["refused"] * 6
        # The run goes on, and whoever has its certificate is let in.
        assert executor._client.submit(os.getuid, pure=False).result(timeout=60) == 0


def test_a_finished_run_can_be_read_by_its_owner_alone_and_by_others_once_it_is_opened_to_them(public: Path) -> None:
    study = text_study(public / "s", ("a", "b"), report=PAGES, resampling={"replicates": 200, "test_sizes": ["full"]})
    done = run_cli("run", study, "--workers", "1", "--runs", public / "runs", own_process=True)
    assert done.returncode == 0, done.stderr
    run = Path(done.stdout.strip())
    made = [public / "runs", *(public / "runs").rglob("*")]
    assert len(made) > 50
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in made}
    assert [path for path in made if modes[path] != (0o700 if path.is_dir() else 0o600)] == []
    assert "127.0.0.1" not in (run / "state.json").read_text()
    secrets = [public / "runs", run, run / "state.json", run / "report" / "report.json", public / "runs" / ".store"]
    assert as_other(LOOK, *secrets) == ["refused"] * 5
    # What the documentation tells who wants to show a run.
    subprocess.run(["chmod", "-R", "o+rX", run], check=True)
    subprocess.run(["chmod", "o+x", public / "runs"], check=True)
    seen = as_other(LOOK, run / "report" / "report.md", public / "runs", public / "runs" / ".store")
    assert seen[0].startswith("read")
    assert seen[-2:] == ["refused", "refused"]
    # It stays as it was opened where it is written again.
    again = run_cli("report", run)
    assert again.returncode == 0, again.stderr
    assert all(path.stat().st_mode & 0o004 for path in (run / "report").rglob("*"))


def test_another_user_is_told_whose_runs_these_are(public: Path) -> None:
    study = text_study(public / "s", ("a", "b"), report=PAGES, resampling={"replicates": 200, "test_sizes": ["full"]})
    done = run_cli("run", study, "--serial", "--runs", public / "runs", own_process=True)
    assert done.returncode == 0, done.stderr
    subprocess.run(["chmod", "-R", "o+rX", public / "s"], check=True)
    shutil.copytree(public / "runs", public / "own")
    name = Path(done.stdout.strip()).name
    run = f"{{runs}}/{name}"
    commands = [
        f"{c} --runs {{runs}}" for c in ("list", "gc", f"run {study} --serial", f"plan {study}", f"gate {study} --baseline a")
    ]
    commands += [f"{command} {run}" for command in ("status", "logs", "cancel", "resume", "report")]
    said = as_other(ASK, public / "own", public / "runs", *commands)
    said = said[said.index("as another") + 1 :]
    assert [line for line in said if line.startswith("exit")] == [f"exit 73 of {words}" for words in commands]
    assert [line for line in said if line.startswith("error")] == ["error[P702]: no permission: this belongs to root"] * len(
        commands
    )
    # The owner packs it, and the other user unpacks it in a folder of his own.
    sent, theirs = public / "sent.zip", public / "theirs"
    packed = run_cli("export", run.format(runs=public / "runs"), sent)
    assert packed.returncode == 0, packed.stderr
    sent.chmod(0o644)
    theirs.mkdir()
    os.chown(theirs, OTHER, OTHER)
    asked = [f"import {sent} -o {{runs}}", f"report {run}", f"run {study} --serial --runs {{runs}}/own"]
    said = as_other(ASK, public / "unpacked", theirs, *asked)
    assert [line for line in said if line.startswith("exit")] == [f"exit 0 of {words}" for words in asked]
    assert (theirs / name / "report" / "report.json").stat().st_uid == OTHER
