"""Name the outputs of a study by a pattern in place of a long list; apart from folders, whose readers need not load studies."""

from __future__ import annotations

import json

from pipeline.items.discover import as_pattern
from pipeline.study.load import LoadedStudy, study_from_value

__all__ = ["name_by_patterns"]

FEWEST = 4
"""Outputs from which on a pattern is easier to read than a list."""


def name_by_patterns(loaded: LoadedStudy) -> LoadedStudy:
    """Return a study with a pattern in place of each long list of outputs that it finds under the same names, and no others."""
    value = json.loads(loaded.text)
    for test_set in value["test_sets"].values():
        outputs = test_set.get("outputs")
        if isinstance(outputs, dict) and len(outputs) >= FEWEST:
            test_set["outputs"] = as_pattern(outputs, base=loaded.base) or outputs
    return study_from_value(value, base=loaded.base)
