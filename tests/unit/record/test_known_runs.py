"""What a process has read of a run says what a reading of the whole says, and is read again where it may not."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from support.studies import run_cli, text_study, write_study

from pipeline.engine.launch import Launch, prepare
from pipeline.errors import Problem
from pipeline.plan.task import CollectSpec, Failure, Receipt, Task
from pipeline.record import known_runs
from pipeline.record.known_runs import forget_runs, read_run
from pipeline.record.manifest import ReceiptWriter, failure_entry, read_inventory, read_manifest
from pipeline.store.ledger import Ledger
from pipeline.store.runs import RunDirectory
from pipeline.study.load import load_study
from pipeline.tasks import run as worker


def receipt(key: str, kind: Any = "extract", **covers: Any) -> Receipt:
    return Receipt(kind, key, key, f"items/{key}.arrays", "c", 1.0, "w", covers)


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    forget_runs()
    study = text_study(tmp_path / "study", ("a", "b"), resampling={"replicates": 2000, "keep_replicates": 0})
    return prepare(load_study(study), tmp_path / "runs", Launch("serial"))


@pytest.fixture
def whole(run: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which files were read whole."""
    read: list[str] = []
    for name, function in (("read_manifest", read_manifest), ("read_inventory", read_inventory)):
        monkeypatch.setattr(known_runs, name, lambda run, name=name, of=function: (read.append(name), of(run))[1])
    return read


def test_what_was_read_is_not_read_again_when_a_cube_is_done(run: RunDirectory, whole: list[str]) -> None:
    with Ledger(run.ledger, fence=1) as ledger:
        writer = ReceiptWriter(ledger)
        writer.append("done", receipt("first"))
        for test_set in "abc":
            writer.append("done", receipt(f"shard of {test_set}", "shard"))
            manifest, inventory = read_run(run)
            writer.append("done", receipt(f"cube of {test_set}", "collect", test_set=test_set))
        assert manifest == read_manifest(run)
        assert {"first", "shard of c", "cube of b"} <= set(inventory.receipts)
    assert whole == ["read_manifest", "read_inventory"]


@pytest.mark.parametrize("seed", range(3))
def test_it_says_what_the_whole_says_whatever_is_written(run: RunDirectory, seed: int) -> None:
    rng = random.Random(seed)
    failure = Failure("k1", "k1", 4, (Problem("P410", "failed"),))
    with Ledger(run.ledger, fence=1) as ledger:
        writer = ReceiptWriter(ledger)
        for number in range(40):
            entry = rng.choice([{"event": "started"}, failure_entry(failure), {"event": "dropped", "key": f"k{rng.randrange(4)}"}])
            if rng.random() < 0.3:
                ledger.append(entry)
            elif rng.random() < 0.5:
                writer.append("done", receipt(f"k{rng.randrange(4)}"))
            elif rng.random() < 0.5:
                writer.append("done", receipt(f"s{rng.randrange(8)}", "shard", first_cell=number))
            else:
                cube = rng.randrange(8)
                writer.append("done", receipt(f"c{cube}", "collect", test_set="abcd"[cube % 4]))
            if rng.random() < 0.6:
                found, expected = read_run(run)[1], read_inventory(run)
                assert (found.receipts, found.failures) == (expected.receipts, expected.failures)


def test_threads_of_a_worker_change_no_inventory_of_each_other(run: RunDirectory) -> None:
    Ledger(run.ledger, fence=1).close()
    with ThreadPoolExecutor(1) as pool:
        theirs = pool.submit(read_run, run).result()[1]
        assert read_run(run)[1] is not theirs
        assert pool.submit(read_run, run).result()[1] is theirs


def test_another_ledger_or_plan_of_that_name_is_read(run: RunDirectory, whole: list[str]) -> None:
    read_run(run)
    run.plan.write_bytes(run.plan.read_bytes())
    run.ledger.unlink(missing_ok=True)
    with Ledger(run.ledger, fence=1) as ledger:
        for key in ("one", "two"):
            ReceiptWriter(ledger).append("done", receipt(key))
        assert set(read_run(run)[1].receipts) == {"one", "two"}
    run.ledger.write_bytes(run.ledger.read_bytes().replace(b"one", b"uno"))  # as long, and damaged
    with pytest.raises(Exception, match="damaged"):
        read_run(run)
    assert whole == ["read_manifest", "read_inventory"] * 2 + ["read_inventory"]


def test_a_report_has_the_room(run: RunDirectory, whole: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    Ledger(run.ledger, fence=1).close()
    monkeypatch.setattr(worker, "_function", lambda kind: lambda task, runs: receipt("done"))
    for kind in ("collect", "shard", "report"):
        read_run(run)
        worker.run_task(Task(kind, kind, kind, CollectSpec(run.id, "a")), str(run.root.parent))
    read_run(run)
    assert whole == ["read_manifest", "read_inventory"] * 2


def test_the_cubes_of_a_run_are_made_from_one_reading_of_its_ledger(tmp_path: Path, whole: list[str]) -> None:
    forget_runs()
    for number in range(3):
        rows = "\n".join(f"{item},{(item + number) % 3},{item % 2}" for item in range(20))
        (tmp_path / f"{number}.csv").write_text(f"item,a,b\n{rows}\n")
    test_sets = {f"set {number}": {"format": "scores", "outputs": f"{number}.csv"} for number in range(3)}
    study = write_study(tmp_path / "study.yaml", test_sets=test_sets, metrics=["mean"], resampling={"replicates": 500})
    done = run_cli("run", study, "--runs", tmp_path / "runs")
    assert done.returncode == 0, done.stderr
    run = RunDirectory(Path(done.stdout.strip()))
    collected = [one for one in read_inventory(run).receipts.values() if one.kind == "collect"]
    assert len(collected) == 3
    assert whole == ["read_manifest", "read_inventory"]
