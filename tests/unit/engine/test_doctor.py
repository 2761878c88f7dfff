"""The doctor says what keeps a study from running, and what to do about it."""

from __future__ import annotations

import errno
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.studies import run_cli

from pipeline.engine import doctor
from pipeline.engine.doctor import Finding, examine_cluster, examine_machine, file_system_of
from pipeline.study.load import load_profile
from pipeline.study.profile import LOCAL


def by_topic(findings: Iterator[Finding]) -> dict[str, Finding]:
    found = {finding.topic: finding for finding in findings}
    assert [f for f in found.values() if (f.verdict == "ok") == bool(f.fix)] == [], "what is not ok has a fix, and only that"
    return found


def test_a_sound_machine_is_ok_and_nothing_is_left_there(tmp_path: Path) -> None:
    done = run_cli("doctor", "--json", "--runs", tmp_path / "runs")
    assert done.returncode == 0, done.stderr
    findings = {each["topic"]: each for each in json.loads(done.stdout)["findings"]}
    assert set(findings) == {"packages", "machine", "disk", "runs", "clock", "kernels", "arithmetic"}
    assert {each["verdict"] for each in findings.values()} <= {"ok", "look"}
    assert "numpy" in findings["packages"]["text"]
    assert list(tmp_path.iterdir()) == []


def test_a_place_where_files_cannot_be_written_fails_with_exit_code_69() -> None:
    done = run_cli("doctor", "--runs", "/proc/runs")
    assert done.returncode == 69
    assert "fail  runs: /proc on proc" in done.stdout
    assert "error[P620]" in done.stderr


def test_a_place_where_nothing_can_be_synced_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", broken)
    found = by_topic(examine_machine(tmp_path))["runs"]
    assert found.verdict == "fail"
    assert "input or output failed" in found.text


def test_a_file_system_without_links_a_full_disk_and_a_clock_that_is_off_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    with monkeypatch.context() as patch:
        patch.setattr(os, "link", refuse)
        assert by_topic(examine_machine(tmp_path))["runs"].verdict == "fail"
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 10**9, 10**6))  # type: ignore[attr-defined]
        assert by_topic(examine_machine(tmp_path))["disk"].verdict == "fail"
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() - 100)
    assert "+100 s" in by_topic(examine_machine(tmp_path))["clock"].text


def test_the_kind_of_a_file_system_is_that_of_the_innermost_mount(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text("/dev/a / ext4 rw 0 0\nserver:/x /home nfs4 rw 0 0\ntmpfs /home/a\\040b tmpfs rw 0 0\n")
    kinds = [file_system_of(Path(place), mounts) for place in ("/var", "/home/me", "/home/a b/c", "/homes")]
    assert kinds == ["ext4", "nfs4", "tmpfs", "ext4"]


def test_a_local_cluster_is_started_asked_and_ended(tmp_path: Path) -> None:
    found = by_topic(examine_cluster(LOCAL, tmp_path))
    assert {topic: each.verdict for topic, each in found.items() if topic != "round trip"} == {
        "cluster": "ok",
        "encryption": "ok",
        "versions": "ok",
        "shared folder": "ok",
    }
    assert "round trip" in found
    assert list(tmp_path.iterdir()) == []


def test_a_cluster_that_cannot_be_started_says_why(tmp_path: Path) -> None:
    (tmp_path / "profile.yaml").write_text("cluster: distributed.NoSuchCluster\n")
    found = by_topic(examine_cluster(load_profile(str(tmp_path / "profile.yaml")), tmp_path))
    assert found["cluster"].verdict == "fail"
    assert "NoSuchCluster" in found["cluster"].text


def test_a_worker_with_other_versions_or_another_folder_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Elsewhere:
        is_encrypted = False

        def ask(self, function: Any, *arguments: Any) -> Any:
            if function is not doctor.look_from_worker:
                return function(*arguments)
            seen = doctor.look_from_worker("/nowhere/token")
            seen["versions"]["numpy"] = "1.0"
            return {**seen, "host": "node7"}

    @contextmanager
    def open_elsewhere(*_: object, **__: object) -> Iterator[Elsewhere]:
        yield Elsewhere()

    monkeypatch.setattr("pipeline.engine.dask.open_executor", open_elsewhere)
    found = by_topic(examine_cluster(LOCAL, tmp_path))
    assert {topic: found[topic].verdict for topic in ("versions", "shared folder", "encryption")} == {
        "versions": "fail",
        "shared folder": "fail",
        "encryption": "look",
    }
    assert "numpy 1.0" in found["versions"].text
    assert "node7" in found["shared folder"].text
