"""What each data error means. This module is the table behind an error P2xx; a cause has one code."""

from __future__ import annotations

__all__ = ["CODES"]

CODES: dict[str, str] = {
    "P201": "a file is not there",
    "P202": "a file cannot be read: no permission, or not a file",
    "P203": "items do not align: a system has another number of lines than the others or the gold",
    "P204": "a line is not UTF-8",
    "P205": "a file is empty",
    "P206": "a compressed file is damaged, or nothing installed can decompress it",
    "P207": "no file matches the pattern of the outputs",
    "P208": "a system name occurs twice",
    "P209": "an item occurs twice",
    "P210": "a score is not a finite number",
    "P211": "a table lacks a column, or has one twice",
    "P212": "a row of a table is malformed",
    "P213": "a test set has fewer than two units: resampling one unit always gives the same test set",
    "P214": "lines are shifted: dropping or filling the last ones would pair the wrong items",
    "P215": "references, gold or documents have different numbers of lines",
    "P216": "a system lacks items",
    "P217": "a system has items that the gold does not know",
    "P218": "a test set has no items that all systems have",
    "P219": "the outputs are not named in a way that can be followed",
    "P220": "an output changed after it was surveyed",
    "P221": "a system name is empty or holds characters that do not print",
    "P222": "an item has no document, or no other group that units or strata are made of, or two",
    "P223": "no column of a test set has the name that units or strata are to be made of",
    "P224": "a unit lies in several strata",
    "P225": "a metric needs references or gold labels that the test set does not have",
    "P226": "a metric needs a column that the outputs do not have",
    "P227": "numbers are too large to be added exactly",
    "P228": "a denominator is negative",
    "P229": "every unit is alone in its stratum: resampling always gives the same test set",
    "P290": "there are fewer than two systems",
}
