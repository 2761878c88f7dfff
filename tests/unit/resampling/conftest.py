"""Measures that several modules resample."""

from __future__ import annotations

import numpy as np
import pytest
from support import small_measures as small


@pytest.fixture(scope="session")
def four_measures():
    """Accuracy, a shared denominator, own denominators with a margin, and a general score where lower is better; 40 units."""
    keep = np.array([True, False, True, False, True])
    return [
        small.make_measure(small.accuracy_statistics(40, 5, 1), keep=keep),
        small.make_measure(small.shared_statistics(40, 5, 2), higher=False, margin=2.5),
        small.make_measure(small.own_statistics(40, 5, 3), margin=1.0, keep=keep),
        small.make_measure(small.own_statistics(40, 5, 4, width=3), score=small.root_of_products, form="general", higher=False),
    ]
