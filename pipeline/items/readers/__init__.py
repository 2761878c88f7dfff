"""Readers: one module for each family of file formats."""

from __future__ import annotations

from pipeline.items.readers._tables import is_number
from pipeline.items.readers.registry import load_reader

__all__ = ["is_number", "load_reader"]
