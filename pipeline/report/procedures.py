"""The procedures of a document, and how titles name them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["name_procedure", "procedures_of"]


def procedures_of(document: Mapping[str, Any]) -> list[str]:
    """Return the procedures of a document in the study's order."""
    return list(dict.fromkeys(row["procedure"] for row in document["signature"]))


def name_procedure(document: Mapping[str, Any], procedure: str) -> str:
    """Return what a title must add to say whose numbers are shown: nothing where there is one procedure."""
    return f", {procedure}" if len(procedures_of(document)) > 1 else ""
