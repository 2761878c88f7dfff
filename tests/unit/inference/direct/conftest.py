"""Real scores for tests that draw nothing."""

from __future__ import annotations

import pytest
from support.mmlu_data import read_mmlu


@pytest.fixture(scope="session")
def mmlu(data_dir):
    return read_mmlu(data_dir, models=8, items=600)
