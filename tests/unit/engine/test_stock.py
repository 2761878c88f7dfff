"""Stock is taken of a ledger one receipt at a time, whatever its length, and says of each what a reading of the whole says."""

from __future__ import annotations

import gc
import random
from pathlib import Path
from typing import Any

import pytest
from support.studies import text_study

from pipeline.engine import stock
from pipeline.engine.launch import Launch, prepare
from pipeline.engine.stock import take_stock
from pipeline.engine.watching.state import RunState
from pipeline.plan.task import Receipt
from pipeline.record.manifest import ReceiptWriter, iterate_receipts, list_receipts, read_manifest
from pipeline.store.ledger import Ledger, read_ledger
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
