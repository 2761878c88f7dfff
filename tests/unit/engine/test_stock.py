"""Stock is taken of a ledger one receipt at a time, whatever its length, and says of each what a reading of the whole says."""

from __future__ import annotations

import gc
import random
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from support.plans import all_done, made_study
from support.studies import text_study

from pipeline.engine import stock
from pipeline.engine.launch import Launch, prepare
from pipeline.engine.stock import take_stock
from pipeline.engine.watching.state import RunState
from pipeline.engine.watching.work import list_tasks
from pipeline.errors import Problem
from pipeline.plan.task import Failure, Receipt
from pipeline.record.known_runs import forget_runs
from pipeline.record.manifest import (
    ReceiptWriter,
    failure_entry,
    iterate_receipts,
    list_receipts,
    read_inventory,
    read_manifest,
)
from pipeline.resampling.address import CELL
from pipeline.store.ledger import Ledger, read_ledger
from pipeline.store.runs import RunDirectory
from pipeline.study.load import load_study


def receipt(key: str, kind: Any = "extract", **covers: Any) -> Receipt:
    return Receipt(kind, key, key, f"items/{key}.arrays", "c", 1.0, "w", covers)


@pytest.mark.parametrize("seed", range(4))
def test_receipts_one_by_one_are_those_that_stand_at_the_end(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    path = tmp_path / "ledger.jsonl"
    with Ledger(path) as ledger:
        writer = ReceiptWriter(ledger)
        for number in range(60):
            key = f"k{rng.randrange(12)}"
            if rng.random() < 0.2:
                ledger.append({"event": "dropped", "key": key, "why": "on purpose"})
            elif rng.random() < 0.3:
                writer.append("done", receipt(f"c{number}", "collect", test_set=rng.choice("ab")))
            else:
                writer.append("done", receipt(key, note=number))
        ledger.append({"event": "done", "receipt": receipt("out").to_json() | {"file": "../../elsewhere"}})
    found = list(iterate_receipts(path))
    assert {one.key: one for one in found} == list_receipts(read_ledger(path)[0])
    assert len({one.key for one in found}) == len(found) > 5


def test_stock_is_taken_without_all_receipts_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = text_study(tmp_path / "study", ("a", "b"), resampling={"replicates": 2000, "keep_replicates": 0})
    run = prepare(load_study(study), tmp_path / "runs", Launch("serial"))
    forget_runs()  # of another test in this process
    held = []

    def look(one: Receipt, store: Any) -> bool:
        if one.key in {"k20", "k39"}:
            held.append(sum(type(each) is Receipt and each.kind == "resample" for each in gc.get_objects()))
        return not one.key.endswith("3")

    with Ledger(run.ledger, fence=1) as ledger:
        writer = ReceiptWriter(ledger)
        for number in range(40):
            writer.append("done", receipt(f"k{number}", "resample", replicates=1, first_cell=0, stop_cell=1, columns=[]))
        monkeypatch.setattr(stock, "result_exists", look)
        gc.collect()
        found = take_stock(run, read_manifest(run), ledger, writer, RunState(run, study="s", fence=1), verify=False)
    gone = {"k3", "k13", "k23", "k33"}
    assert set(found.receipts) == {f"k{number}" for number in range(40)} - gone
    assert {entry["key"] for entry in read_ledger(run.ledger)[0] if entry["event"] == "dropped"} == gone
    # Beside the one at hand those that are gone, and one for all of their kind.
    assert max(held) <= len(gone) + 2


def test_what_a_run_has_done_is_told_without_its_ledger_in_memory(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    some = all_done(made_study(systems=[f"s{k:02d}" for k in range(40)], sizes=(20,), replicates=10 * CELL, keep_replicates=0))
    covers = next(one.covers for one in some if one.kind == "resample")
    with Ledger(run.ledger) as ledger:
        writer = ReceiptWriter(ledger)
        for number in range(300):
            writer.append("done", receipt(f"{number:032x}", "resample", **covers))
    for told, most in ((list_tasks, 1500), (read_inventory, 2000)):
        tracemalloc.start()
        try:
            assert told(run)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 300 * most, told.__name__


def test_what_another_run_did_and_what_failed_is_told_as_it_was_in_the_end(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    failed = [Failure(key, key, 4, (Problem("P410", "failed"),)) for key in ("early", "late", "done")]
    with Ledger(run.ledger) as ledger:
        writer = ReceiptWriter(ledger)
        ledger.append(failure_entry(failed[0]))
        ledger.append({"event": "started"})
        ledger.append(failure_entry(failed[1]))
        ledger.append(failure_entry(failed[2]))
        writer.append("reused", receipt("theirs"))
        writer.append("reused", receipt("done"))
        writer.append("done", receipt("done"))
    told = {task["label"]: task["state"] for task in list_tasks(run)}
    assert told == {"theirs": "reused", "done": "done", "late": "failed"}
    assert set(read_inventory(run).failures) == {"late"}
