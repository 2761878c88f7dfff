"""Which pairs cannot be decided: few units with heavy tails, units worth too few, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.cubes.declarations import UNDECIDED as FLAGS
from pipeline.inference.undecided import FEWEST_EFFECTIVE, HEAVY_TAILS, UNDECIDED, UnitShape, explain_undecided, find_undecided


def shape(units: float | None, kurtosis: float, discordant: int = 40) -> UnitShape:
    return UnitShape(units, np.array([discordant]), np.zeros(1), np.array([kurtosis]))


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (shape(40.0, HEAVY_TAILS + 1), "few units with heavy tails"),
        (shape(40.0, HEAVY_TAILS - 1), ""),
        (shape(400.0, 100.0), ""),
        (shape(None, 100.0), ""),
        (shape(40.0, 100.0, discordant=19), ""),
        (shape(40.0, np.nan), ""),
        (shape(FEWEST_EFFECTIVE - 0.1, 3.0), "too few effective units"),
    ],
)
def test_the_shape_of_the_units_tells_who_is_not_decided(given: UnitShape, reason: str) -> None:
    (code,) = find_undecided(given)
    assert UNDECIDED[code] == reason


def test_every_reason_has_a_flag_in_cubes_and_an_explanation() -> None:
    assert ("none", *(reason.replace(" ", "-") for reason in UNDECIDED[1:])) == FLAGS
    assert all("n = 20" in explain_undecided(reason, units=20) for reason in UNDECIDED[1:])
