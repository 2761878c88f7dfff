"""Take stock of a run: read ledgers, adopt what other runs have stored, and drop what is damaged."""

from __future__ import annotations

from collections.abc import Container, Iterable
from pathlib import Path

from pipeline.engine.watching.state import RunState
from pipeline.errors import StoreError
from pipeline.plan.inventory import BriefInventory, Inventory
from pipeline.plan.open_tasks import wanted_addresses
from pipeline.plan.task import Receipt
from pipeline.record.manifest import (
    Manifest,
    ReceiptWriter,
    damaged_cubes,
    damaged_results,
    iterate_receipts,
    list_receipts,
    result_exists,
)
from pipeline.store.files import read_json
from pipeline.store.ledger import Ledger, iterate_ledger
from pipeline.store.runs import RunDirectory, iterate_ledgers
from pipeline.store.seals import damaged_file_of

__all__ = ["adoptable_receipts", "sound_receipts", "take_stock"]


GONE = "its result is gone", "the cube has its chunks"
"""Why a result is not there, of a shard the second."""


def take_stock(
    run: RunDirectory, manifest: Manifest, ledger: Ledger, receipts: ReceiptWriter, state: RunState, *, verify: bool
) -> BriefInventory:
    """Return what is done: the run's own receipts, and those of other runs that this one can use.

    Adopted receipts are written into this run's ledger, so that it stands alone. Receipts whose result is gone, or damaged
    where ``verify`` asks to read all, are dropped from it: their tasks are open again.
    """
    inventory = BriefInventory()
    for receipt, why in _add_sound(inventory, run, iterate_receipts(run.ledger), verify=verify):
        ledger.append({"event": "dropped", "key": receipt.key, "why": why})
        state.event("dropped", why, label=receipt.label)
    adopted = adoptable_receipts(run, manifest, inventory.receipts.keys())
    damaged = {receipt.key for receipt, _ in damaged_results(adopted.values(), run.store)} if adopted else set()
    for key, receipt in adopted.items():
        if key not in damaged:
            receipts.append("reused", receipt)
            inventory.add(receipt)
    return inventory


def sound_receipts(run: RunDirectory) -> dict[str, Receipt]:
    """Return the run's own receipts whose results are there: what `take_stock` keeps of them, for those who may write nothing."""
    own = list_receipts(iterate_ledger(run.ledger))
    gone = {receipt.key for receipt, _ in _add_sound(Inventory(), run, own.values(), verify=False)}
    return {key: receipt for key, receipt in own.items() if key not in gone}


def _add_sound(inventory: Inventory, run: RunDirectory, known: Iterable[Receipt], *, verify: bool) -> list[tuple[Receipt, str]]:
    """Add the receipts whose results are there to an inventory, one at a time, and return the others with what is wrong."""
    made: list[Receipt] = []
    gone: list[tuple[Receipt, str]] = []
    damaged: list[tuple[Receipt, str]] = []
    for receipt in known:
        if receipt.kind in {"collect", "report"}:
            made.append(receipt)
        elif not result_exists(receipt, run.store):
            gone.append((receipt, GONE[receipt.kind == "shard"]))
        elif verify and (found := damaged_results([receipt], run.store)):
            damaged += found
        else:
            inventory.add(receipt)
    if damaged:
        # The cubes may have been folded from the damaged bytes.
        unsound = [(receipt, "it was made from a damaged result") for receipt in made]
    else:
        unsound = _unsound_cubes(run, made, verify=verify)
    dropped = {receipt.key for receipt, _ in unsound}
    for receipt in made:
        if receipt.key not in dropped:
            inventory.add(receipt)
    return [*gone, *damaged, *unsound]


def _unsound_cubes(run: RunDirectory, made: list[Receipt], *, verify: bool) -> list[tuple[Receipt, str]]:
    collected = [receipt for receipt in made if receipt.kind == "collect"]
    reported = [receipt for receipt in made if receipt.kind == "report"]
    why = damaged_cubes(run, [str(r.covers["test_set"]) for r in collected], verify=verify) if collected else ""
    if why:
        return [(receipt, why) for receipt in collected + reported]
    if not reported:
        return []
    if not (run.report / "report.json").is_file():
        return [(receipt, "the report is gone") for receipt in reported]
    # `pipeline report` may have written another one since: what is listed beside it counts, not a receipt.
    if damaged := damaged_file_of(run.report, verify=verify):
        return [(receipt, f"the report's {damaged} is gone or damaged") for receipt in reported]
    if verify and not _is_readable(run.report / "report.json"):
        return [(receipt, "the report is damaged") for receipt in reported]
    return []


def _is_readable(document: Path) -> bool:
    """Say whether a file holds a document: an earlier version listed no digests."""
    try:
        return isinstance(read_json(document), dict)
    except StoreError:
        return False


def adoptable_receipts(run: RunDirectory, manifest: Manifest, own: Container[str]) -> dict[str, Receipt]:
    """Return what other runs in the same folder have done and this study can use."""
    keys, columns = wanted_addresses(manifest.study, manifest.inputs)
    found: dict[str, Receipt] = {}
    for path in iterate_ledgers(run.root.parent):
        if path == run.ledger:
            continue
        try:
            for receipt in iterate_receipts(path):
                if receipt.key in own or receipt.key in found or not result_exists(receipt, run.store):
                    continue
                if receipt.key in keys or (receipt.kind == "resample" and _shares_pairs(receipt, keys, columns)):
                    found[receipt.key] = receipt
        except (StoreError, TypeError, KeyError):
            # A neighbour's ledger that is damaged, or of another version, is its own trouble: this run only computes more.
            continue
    return found


def _shares_pairs(receipt: Receipt, keys: set[str], columns: set[str]) -> bool:
    return any(entry["column"] in columns and len(keys.intersection(entry["systems"])) > 1 for entry in receipt.covers["columns"])
