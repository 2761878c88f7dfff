"""Receipts as a ledger holds them. This module writes what many receipts share once and names it by digest, and reads it back.

A receipt of a thousand systems is 36 kB of names, the same in hundreds of receipts. They stand in an entry of their own, a *group*,
before the first receipt that needs them. A receipt whose group is not there counts as not written: its work is done again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pipeline.plan.inventory import Group
from pipeline.plan.task import Receipt
from pipeline.store.ledger import Ledger

__all__ = ["ReceiptWriter", "receipts_of"]


class ReceiptWriter:
    """Writes receipts into an open ledger.

    Groups are written again by each attempt: what an earlier one wrote need not be known.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._names: dict[Group, str] = {}

    def append(self, event: Literal["done", "reused"], receipt: Receipt) -> None:
        """Write a receipt, and before it the groups it is the first to name; when this returns it is on disk."""
        value = {**vars(receipt)}
        if "columns" in receipt.covers:
            columns = [{"column": entry["column"], "group": self._name(entry)} for entry in receipt.covers["columns"]]
            value["covers"] = {**receipt.covers, "columns": columns}
        self._ledger.append({"event": event, "receipt": value})

    def _name(self, entry: Mapping[str, Any]) -> str:
        group = Group.of(entry)
        if group not in self._names:
            self._ledger.append({"event": "group", "name": group.name, **group.to_json()})
            self._names[group] = group.name
        return self._names[group]


def receipts_of(entries: Iterable[Mapping[str, Any]]) -> dict[str, Receipt]:
    """Return the receipts that stand in ledger entries; a later ``dropped`` takes one back."""
    receipts: dict[str, Receipt] = {}
    current: dict[tuple[str, str], str] = {}
    groups: dict[str, Group] = {}
    for entry in entries:
        if entry["event"] == "group":
            groups[entry["name"]] = Group.of(entry)
        elif entry["event"] in {"done", "reused"}:
            receipt = _read(entry["receipt"], groups)
            if receipt is None:
                continue
            receipts[receipt.key] = receipt
            if receipt.kind in {"collect", "report"}:
                # A test set has one cube, a run one report: a later one has taken the place of the earlier.
                place = (receipt.kind, str(receipt.covers.get("test_set", "")))
                if current.get(place, receipt.key) != receipt.key:
                    receipts.pop(current[place], None)
                current[place] = receipt.key
        elif entry["event"] == "dropped":
            receipts.pop(entry["key"], None)
    return receipts


def _read(value: Mapping[str, Any], groups: Mapping[str, Group]) -> Receipt | None:
    covers = value.get("covers", {})
    if "columns" not in covers:
        return Receipt.from_json(value)
    columns = []
    for entry in covers["columns"]:
        if "group" not in entry:  # written before there were groups
            columns.append(entry)
        elif entry["group"] in groups:
            columns.append({"column": entry["column"], **groups[entry["group"]].to_json()})
        else:
            return None
    return Receipt.from_json({**value, "covers": {**covers, "columns": columns}})
