"""Transforms of exact laws on a ring, whose frequencies are mostly left out, against all of them."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.resampling.exact.factors import Factors
from pipeline.resampling.exact.ring import multiply_whole

VANISHED = 160.0


def random_law(rng: np.random.Generator) -> Factors:
    """Return a law of some factors, from two atoms side by side to a dozen far apart, drawn once or thousands of times."""
    parts = []
    for _ in range(rng.integers(1, 4)):
        width = int(rng.choice([2, 5, 40, 1000]))
        atoms = np.sort(rng.choice(width, rng.integers(1, min(width, 12) + 1), replace=False))
        parts.append(
            (atoms - atoms[0], rng.dirichlet(np.full(len(atoms), rng.choice([0.1, 1.0, 10.0]))), rng.choice([1, 3, 30, 200, 5000]))
        )
    atoms, chances, powers = zip(*parts, strict=True)
    starts = np.cumsum([0, *map(len, atoms)])
    return Factors(np.concatenate(atoms), np.concatenate(chances), np.zeros(starts[-1], np.bool_), starts, np.array(powers))


@pytest.mark.parametrize("seed", range(40))
def test_no_frequency_is_left_out_that_has_not_vanished(seed: int) -> None:
    rng = np.random.default_rng(seed)
    law, points = random_law(rng), int(rng.choice([1, 2, 17, 100, 999, 4096]))
    found = np.ones(points // 2 + 1, np.complex128)
    multiply_whole(found, points, law, law.chances, np.arange(len(law.powers)))

    frequencies, expected, stays = np.arange(points // 2 + 1), 1.0, True
    for j, power in enumerate(law.powers):
        own = slice(law.starts[j], law.starts[j + 1])
        turns = np.outer(frequencies, law.atoms[own]) % points
        transform = np.exp(-2j * np.pi * turns / points) @ law.chances[own]
        stays = stays & (np.abs(transform) ** 2 > np.exp(-VANISHED / power) * (1 + 1e-9))
        expected = expected * transform**power
    stays = stays & (np.abs(expected) ** 2 > np.exp(-VANISHED) * (1 + 1e-9))
    assert stays[0]
    assert np.all(found[stays] != 0)
    np.testing.assert_allclose(found[stays], expected[stays], rtol=1e-9)
    assert np.all(np.abs(found[~stays]) ** 2 <= np.exp(-VANISHED) * (1 + 1e-6))
