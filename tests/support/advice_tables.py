"""Advice of messages as cases: what is wrong, what the message says, and what a reader does about it, to the letter."""

from support.advice_of_commands import COMMANDS
from support.advice_of_compares import COMPARES
from support.advice_of_files import FILES
from support.advice_of_formats import FORMATS
from support.advice_of_items import ITEMS
from support.advice_of_odd_files import ODD_FILES
from support.advice_of_studies import STUDIES
from support.advice_of_tool_files import TOOL_FILES
from support.advice_of_trainings import TRAININGS
from support.advice_of_warnings import AGREEMENTS

__all__ = ["OF_STUDIES", "TABLES"]

_HELPS = (FILES, FORMATS, ITEMS, ODD_FILES, STUDIES, TOOL_FILES, TRAININGS)

OF_STUDIES = (AGREEMENTS, *_HELPS)
"""Cases of studies, by the module whose help they follow."""

TABLES = (COMMANDS, COMPARES, *_HELPS)
"""All cases of helps that `list_advices` finds."""
