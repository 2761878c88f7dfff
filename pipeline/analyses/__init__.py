"""Questions asked of the cubes: each analysis takes them by test set and gives rows of plain values."""

from __future__ import annotations

from pipeline.analyses.registry import load_analysis

__all__ = ["load_analysis"]
