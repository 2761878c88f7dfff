"""What receipts share stands once: in memory, and in the ledger, from which they come back as they were."""

from __future__ import annotations

import pickle
import tracemalloc
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.plans import all_done, made_study, plan_tasks, receipt_of

from pipeline.plan.inputs import Inputs
from pipeline.plan.inventory import BriefInventory, Group, Inventory
from pipeline.plan.open_tasks import plan_study
from pipeline.plan.task import Receipt, pack_mask
from pipeline.record.manifest import ReceiptWriter, list_receipts
from pipeline.resampling.address import CELL
from pipeline.store.ledger import Ledger, read_ledger
from pipeline.study.schema import Study

KEYS = list("abcdefgh")


@given(st.sets(st.sampled_from(KEYS)), st.sets(st.sampled_from(KEYS)), st.integers(0, 2**32))
@settings(deadline=None)
def test_positions_are_those_of_the_pairs_by_name(theirs: set[str], asked: set[str], seed: int) -> None:
    rng = np.random.default_rng(seed)
    systems, wanted = tuple(sorted(theirs)), tuple(sorted(asked))
    pairs, places = list(combinations(systems, 2)), list(combinations(wanted, 2))
    counted, kept = rng.random(len(pairs)) < 0.6, rng.random(len(systems)) < 0.5
    found = Group(systems, pack_mask(counted), pack_mask(kept)).among(wanted)
    stored = [pair for pair, there in zip(pairs, counted, strict=True) if there]
    scored = [key for key, there in zip(systems, kept, strict=True) if there]
    shared = [(i, pair) for i, pair in enumerate(stored) if set(pair) <= asked]
    assert [places[i] for i in found.pairs.tolist()] == [pair for _, pair in shared]
    assert found.source_pairs.tolist() == [i for i, _ in shared]
    assert [wanted[i] for i in found.kept.tolist()] == [key for key in scored if key in asked]
    assert [scored[i] for i in found.source_kept.tolist()] == [key for key in scored if key in asked]


def test_receipts_that_cover_the_same_share_it_in_memory() -> None:
    asked = made_study(sizes=(20,), replicates=200_000)
    inventory = Inventory.of(all_done(asked, block_cells=1))
    column = [r for r in inventory.receipts.values() if r.kind == "resample"]
    assert len(column) == 2 * 13
    assert len({id(r.covers["columns"][0]["systems"]) for r in column}) == 1
    address, systems = column[0].covers["columns"][0]["column"], column[0].covers["columns"][0]["systems"]
    covered = inventory.coverage(address, systems, 200_000)
    assert len(covered) == 13
    assert all(c.pairs is covered[0].pairs for c in covered)


def kept_bytes(inventory: Inventory, many: list[bytes], keys: list[str]) -> int:
    """Return what an inventory keeps of receipts from workers, beyond their keys, which a queue has anyway."""
    tracemalloc.start()
    try:
        for receipt, key in zip(many, keys, strict=True):
            inventory.add(replace(pickle.loads(receipt), key=key))
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("kind", "most"), [(Inventory, 1100), (BriefInventory, 80)])
def test_little_is_kept_in_memory_of_a_task_that_is_done(kind: type[Inventory], most: int) -> None:
    few, many = (all_done(asked_of(cells), block_cells=1) for cells in (10, 400))
    inventory = kind.of(few)
    kept = kept_bytes(inventory, [pickle.dumps(receipt) for receipt in many], [receipt.key for receipt in many])
    assert kept < most * (len(inventory.receipts) - len(few))


def test_a_brief_inventory_plans_as_a_full_one() -> None:
    rng = np.random.default_rng(607)
    receipts = [receipt for receipt in all_done(asked_of(13), block_cells=2) if receipt.kind == "resample"]
    for cells in (5, 13, 30):
        asked = asked_of(cells)
        for _ in range(8):
            some = [receipts[i] for i in rng.permutation(len(receipts))[: rng.integers(len(receipts) + 1)]]
            full, brief = (plan_study(*asked, kind.of(some), run="r").tasks for kind in (Inventory, BriefInventory))
            assert brief == full


def asked_of(cells: int) -> tuple[Study, Inputs]:
    return made_study(sizes=(20,), replicates=cells * CELL)


def plain(receipts: list[Receipt]) -> list[dict[str, object]]:
    return [
        {**r.to_json(), "covers": {**r.covers, "columns": [{**e, "systems": list(e["systems"])} for e in r.covers["columns"]]}}
        for r in receipts
    ]


@pytest.fixture
def receipts() -> list[Receipt]:
    asked = made_study(systems=[f"s{i:03d}" for i in range(200)], sizes=(20,), replicates=10**6, keep_replicates=20_000)
    return [receipt_of(task) for task in plan_tasks(asked, block_cells=1) if task.kind == "resample"]


def write(path: Path, receipts: list[Receipt], *, fence: int = 1) -> int:
    with Ledger(path, fence=fence) as ledger:
        writer = ReceiptWriter(ledger)
        for receipt in receipts:
            writer.append("done", receipt)
    return path.stat().st_size


def test_receipts_come_back_from_a_ledger_as_they_were(receipts: list[Receipt], tmp_path: Path) -> None:
    write(tmp_path / "ledger.jsonl", receipts)
    back = list_receipts(read_ledger(tmp_path / "ledger.jsonl")[0])
    assert plain(list(back.values())) == plain(receipts)


def test_a_ledger_names_systems_once_for_each_group_of_receipts(receipts: list[Receipt], tmp_path: Path) -> None:
    whole = write(tmp_path / "ledger.jsonl", receipts)
    names = len(receipts[0].covers["columns"][0]["systems"]) * 35
    assert len(receipts) == 124
    assert whole < 2 * 1.1 * names + 700 * len(receipts)  # one group with kept scores, one without
    # Each attempt writes its own: it need not have read those of an earlier one.
    again = write(tmp_path / "ledger.jsonl", receipts[:1], fence=2)
    assert again - whole > names


def test_a_ledger_from_before_there_were_groups_is_read(receipts: list[Receipt], tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        for receipt in receipts:
            ledger.append({"event": "done", "receipt": receipt.to_json()})
    assert plain(list(list_receipts(read_ledger(tmp_path / "ledger.jsonl")[0]).values())) == plain(receipts)


def test_a_receipt_whose_group_was_lost_is_work_to_do_again(receipts: list[Receipt], tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    write(path, receipts)
    lines = path.read_bytes().splitlines(keepends=True)
    lost = next(i for i, line in enumerate(lines) if b'"event":"group"' in line)
    path.write_bytes(b"".join(lines[:lost] + lines[lost + 1 :]))  # as P706 says
    back = list_receipts(read_ledger(path)[0])
    assert 0 < len(back) < len(receipts)
    assert set(back) == {r.key for r in receipts if r.covers["first_cell"] >= 2}  # those without kept scores have another


def test_a_receipt_taken_back_is_not_there(receipts: list[Receipt], tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    write(path, receipts[:3])
    with Ledger(path) as ledger:
        ledger.append({"event": "dropped", "key": receipts[1].key, "why": "gone"})
    assert list(list_receipts(read_ledger(path)[0])) == [receipts[0].key, receipts[2].key]
