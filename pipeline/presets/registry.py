"""Presets by name, those of other installed packages too; each is imported when it is asked for."""

from __future__ import annotations

from pipeline.interfaces import Preset
from pipeline.plugins import PluginValues

__all__ = ["PRESETS"]

PRESETS = PluginValues("presets", Preset)
"""By name. A preset's own number stands in a column of that name."""
