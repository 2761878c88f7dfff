"""Runs from end to end, with a small null laboratory: what it counts is tested in tests/unit/analyses."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module", autouse=True)
def small_laboratory(few_nulls: None) -> None:
    """Before the runs that the tests of a module share."""
