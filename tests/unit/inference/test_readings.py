"""What is read off the counts of each procedure: formulas, and no number where there is no meaning."""

from __future__ import annotations

from itertools import product

import numpy as np

from pipeline.inference.multiple_comparisons.multiplicity import benjamini_hochberg, holm
from pipeline.inference.p_values import CONVENTIONS, PValues, p_values
from pipeline.procedures.registry import PROCEDURES


def swapped(differences: list[int]) -> tuple[list[int], int]:
    """Count all sign-flips of unit differences as a randomization does: δ° against −δ, 0 and δ."""
    delta = sum(differences)
    assert delta >= 0
    found = [sum(s * d for s, d in zip(signs, differences, strict=True)) for signs in product((1, -1), repeat=len(differences))]
    counts = [
        sum(x < -delta for x in found),
        sum(x == -delta for x in found),
        sum(x < 0 for x in found),
        sum(x == 0 for x in found),
        sum(x == delta for x in found),
        sum(x > delta for x in found),
    ]
    return counts, len(found)


def read(counts: list[int], b: int, *, delta: float = 1.0, identical: bool = False) -> PValues:
    reading = PROCEDURES["approximate-randomization"]
    return p_values(
        np.array([[*counts, -1, -1]]),
        np.array([b]),
        delta=np.array([delta]),
        identical=np.array([identical]),
        sums=np.array([[-25.0, 9.0, 30.0]]),
        conventions=reading.conventions,
        bias=reading.centred_at_gain,
    )


def by_name(values: np.ndarray) -> dict[str, float]:
    return {name: value for name, value in zip(CONVENTIONS, values[:, 0].tolist(), strict=True) if value == value}


def test_two_sided_p_counts_both_tails_with_their_ties_and_one_sided_p_the_gains_beyond_alone() -> None:
    # 8 wins and 4 losses: 2 · P(X ≥ 8) and P(X ≥ 9), X of 12 with ½.
    counts, b = swapped([1] * 8 + [-1] * 4)
    found = by_name(read(counts, b, delta=4).p)
    assert found == {"one-sided": 299 / 4096, "two-sided": 1588 / 4096, "two-sided-plus-one": 1589 / 4097}


def test_conventions_without_meaning_have_no_number_anywhere() -> None:
    found = read([400, 100, 5000, 0, 100, 400], 10_000)
    missing = [CONVENTIONS.index(name) for name in ("below-zero", "at-or-below-zero", "one-sided-plus-one")]
    for values in (found.p, found.log10_p, found.lo, found.hi, found.p_error):
        assert np.isnan(values[missing]).all()
        assert np.isfinite(np.delete(values, missing, axis=0)).all()
    assert all(np.isnan(bound[missing]).all() for bound in found.bounds(0.99))
    assert np.isnan(found.bias).all()


def test_identical_and_tied_systems_have_the_p_of_their_definition_and_nothing_else() -> None:
    same = by_name(read([0, 100, 0, 100, 100, 0], 100, delta=0.0, identical=True).p)
    assert same == {"one-sided": 1.0, "two-sided": 1.0, "two-sided-plus-one": 1.0}
    assert by_name(read([40, 20, 40, 20, 20, 40], 100, delta=0.0).p) == {"two-sided": 1.0, "two-sided-plus-one": 1.0}


def test_the_bootstrap_reads_all_as_it_did() -> None:
    counts, reading = np.array([[1, 20, 400, 50, 3000, 40000, -1, -1]]), PROCEDURES["paired-bootstrap"]
    asked = (counts, np.array([100_000]))
    given = {"delta": np.ones(1), "identical": np.zeros(1, bool), "sums": np.array([[-5.0, 1.0, 1.0]])}
    plain = p_values(*asked, **given)
    found = p_values(*asked, **given, conventions=reading.conventions, bias=reading.centred_at_gain)
    for name in ("p", "log10_p", "lo", "hi", "p_error", "bias"):
        assert getattr(plain, name).tobytes() == getattr(found, name).tobytes()


def test_a_family_without_any_p_stays_without() -> None:
    nothing = np.full(3, np.nan)
    assert np.isnan(holm(nothing)).all()
    assert np.isnan(benjamini_hochberg(nothing)).all()
