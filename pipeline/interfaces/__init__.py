"""What a plugin meets: the values that cross the borders and the protocols of each family.

This folder imports nothing of the package. Readers, trainers, metrics and analyses import it, and never one another.
"""

from pipeline.interfaces.analyses import (
    Analysis,
    Check,
    Column,
    Finding,
    Headline,
    ScoredStatistics,
    Section,
    Table,
    TakesStatistics,
)
from pipeline.interfaces.figures import Figure, Mark
from pipeline.interfaces.items import FileSample, Items, Reader, Recognised, usual_column
from pipeline.interfaces.metrics import Metric, ScoreFunction, Statistics
from pipeline.interfaces.presets import Preset, PresetData, PresetNumbers, PresetRule
from pipeline.interfaces.procedures import Method, Procedure
from pipeline.interfaces.training import KeepsModels, Trainer, TrainingItems

__all__ = [
    "Analysis",
    "Check",
    "Column",
    "Figure",
    "FileSample",
    "Finding",
    "Headline",
    "Items",
    "KeepsModels",
    "Mark",
    "Method",
    "Metric",
    "Preset",
    "PresetData",
    "PresetNumbers",
    "PresetRule",
    "Procedure",
    "Reader",
    "Recognised",
    "ScoreFunction",
    "ScoredStatistics",
    "Section",
    "Statistics",
    "Table",
    "TakesStatistics",
    "Trainer",
    "TrainingItems",
    "usual_column",
]
