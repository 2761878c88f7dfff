"""Advice of messages as cases: what is wrong, what the message says, and what a reader does about it, to the letter."""

from support.advice_of_compares import COMPARES
from support.advice_of_formats import FORMATS
from support.advice_of_items import ITEMS
from support.advice_of_studies import STUDIES

__all__ = ["TABLES"]

TABLES = (COMPARES, FORMATS, ITEMS, STUDIES)
"""Cases by the module whose help they follow."""
