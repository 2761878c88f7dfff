"""What a variable of a cube is. This module has the declaration, and no variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Variable"]


@dataclass(frozen=True)
class Variable:
    """One declared variable.

    ``fill`` stands where nothing was written. ``chunks`` overrides `CHUNKS` for single dimensions.
    """

    name: str
    dims: tuple[str, ...]
    dtype: str
    fill: Any
    units: str
    description: str
    reference: str = ""
    chunks: Mapping[str, int] = field(default_factory=dict)
    flags: tuple[str, ...] = ()

    @property
    def attributes(self) -> dict[str, Any]:
        """What is stored beside the numbers."""
        attributes: dict[str, Any] = {"units": self.units, "description": self.description}
        if self.reference:
            attributes["reference"] = self.reference
        if self.flags:
            attributes |= {"flag_values": list(range(len(self.flags))), "flag_meanings": " ".join(self.flags)}
        return attributes
