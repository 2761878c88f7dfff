"""Presets by name, including those of other installed packages; each is imported when it is needed."""

from __future__ import annotations

from pipeline.interfaces import Preset
from pipeline.plugins import PluginValues

__all__ = ["PRESETS"]

PRESETS = PluginValues("presets", Preset)
"""By name. A preset's own number is in a column with that name."""
