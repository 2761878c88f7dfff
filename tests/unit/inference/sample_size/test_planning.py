"""p, power and units needed of right and wrong answers against sums over all outcomes, and answers that are known."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy.stats import binomtest, multinomial

from pipeline.inference.sample_size.planning import MOST_UNITS, bootstrap_p, mcnemar_p, power_of, smallest_gain, units_needed


@pytest.mark.parametrize(
    ("helped", "hurt", "units", "p"),
    [(4, 3, 10, 0.421732332), (2, 0, 100, 0.132620), (7, 2, 100, 0.0584), (10, 7, 500, 0.271736), (5, 0, 100, 0.0059)],
)
def test_known_answers(helped: int, hurt: int, units: int, p: float) -> None:
    digits = len(f"{p:g}") - 2
    assert bootstrap_p(helped, hurt, units) == pytest.approx(p, abs=0.51 * 10.0**-digits)


def all_outcomes(units: int, helped: float, hurt: float):
    """(helped, hurt, chance) of every outcome of n units."""
    shares = [helped, hurt, 1 - helped - hurt]
    for a in range(units + 1):
        for b in range(units + 1 - a):
            yield a, b, float(multinomial.pmf([a, b, units - a - b], units, shares))


@pytest.mark.parametrize(("helped", "hurt", "units"), [(3, 1, 12), (0, 2, 9), (6, 6, 12), (5, 0, 5)])
def test_the_plug_in_p_is_the_sum_over_all_resamples(helped: int, hurt: int, units: int) -> None:
    expected = sum(chance for a, b, chance in all_outcomes(units, helped / units, hurt / units) if a <= b)
    assert bootstrap_p(helped, hurt, units) == pytest.approx(expected, abs=1e-12)
    assert bootstrap_p(0, 0, units) == 1.0


@pytest.mark.parametrize(("helped", "hurt", "units"), [(200, 20, 500), (40, 0, 60), (90, 3, 200)])
def test_a_p_of_many_zeros_is_that_of_exact_fractions(helped: int, hurt: int, units: int) -> None:
    """Of whole numbers, with nothing rounded: the coefficients of (helped x + same + hurt / x)^n at x⁰ and below."""
    ways, same = [1], units - helped - hurt
    for _ in range(units):
        grown = [0] * (len(ways) + 2)
        for place, many in enumerate(ways):
            grown[place] += hurt * many
            grown[place + 1] += same * many
            grown[place + 2] += helped * many
        ways = grown
    expected = Fraction(sum(ways[: units + 1]), units**units)
    assert bootstrap_p(helped, hurt, units) == pytest.approx(float(expected), rel=1e-9, abs=0)
    assert expected < 1e-15  # where one less a chance would have nothing left


@pytest.mark.parametrize(("helped", "hurt"), [(7, 2), (2, 7), (12, 0), (5, 5), (30, 17)])
def test_mcnemar_is_the_binomial_test(helped: int, hurt: int) -> None:
    assert mcnemar_p(helped, hurt) == pytest.approx(binomtest(helped, helped + hurt).pvalue)


@pytest.mark.parametrize(
    ("helped", "hurt", "units"), [(0.4, 0.1, 25), (0.3, 0.0, 20), (0.2, 0.2, 30), (1.0, 0.0, 8), (0.05, 0.3, 25)]
)
def test_power_is_the_sum_over_all_outcomes_that_are_significant(helped: float, hurt: float, units: int) -> None:
    expected = sum(chance for a, b, chance in all_outcomes(units, helped, hurt) if a > b and mcnemar_p(a, b) <= 0.05)
    assert power_of(units, helped, hurt) == pytest.approx(expected, abs=1e-9)


def test_power_of_many_units_is_that_of_binomial_sums_one_by_one() -> None:
    """300 units: the sum over m of binomials in whole numbers."""
    units, helped, hurt = 300, 0.06, 0.03
    total = 0.0
    for m in range(units + 1):
        few = comb(units, m) * (helped + hurt) ** m * (1 - helped - hurt) ** (units - m)
        wins = np.arange(m + 1)
        significant = [k for k in wins.tolist() if 2 * k > m and mcnemar_p(k, m - k) <= 0.05]
        share = helped / (helped + hurt)
        total += few * sum(comb(m, k) * share**k * (1 - share) ** (m - k) for k in significant)
    assert power_of(units, helped, hurt) == pytest.approx(total, abs=1e-9)


@pytest.mark.parametrize(("helped", "hurt"), [(0.3, 0.1), (0.5, 0.0), (0.2, 0.05), (0.9, 0.05), (0.12, 0.02)])
def test_from_the_units_needed_on_the_power_stays(helped: float, hurt: float) -> None:
    needed = units_needed(helped, hurt)
    assert needed is not None
    reached = [power_of(units, helped, hurt) >= 0.8 for units in range(1, 3 * needed + 50)]
    last = max(units for units, enough in enumerate(reached, start=1) if not enough)
    assert needed == last + 1


@pytest.mark.parametrize(
    ("helped", "hurt", "alpha", "power", "needed"),
    [
        (0.7, 0.3, 0.05, 0.2, 15),
        (0.6, 0.4, 0.05, 0.8, 210),  # all units differ, so that nothing evens out the steps
        (0.6, 0.39, 0.05, 0.8, None),
        (0.6, 0.4, 0.2, 0.05, 7),
        (0.6, 0.4, 0.2, 0.9, 179),
        (0.7, 0.3, 0.05, 0.99, 117),
        (0.3, 0.1, 0.05, 0.05, None),
        (0.1, 0.02, 0.001, 0.3, None),
        (1.0, 0.0, 0.05, 0.999, 6),
        (0.02, 0.0, 0.05, 0.001, None),  # no step falls
    ],
)
def test_the_units_needed_are_those_after_the_last_number_that_lacks_the_power(
    helped: float, hurt: float, alpha: float, power: float, needed: int | None
) -> None:
    found = units_needed(helped, hurt, alpha=alpha, power=power)
    assert found is not None
    lacking = [units for units in range(1, 2 * found + 50) if power_of(units, helped, hurt, alpha=alpha) < power]
    assert found == max(lacking) + 1
    assert needed in (found, None)


def test_of_many_units_too_the_power_stays_from_the_units_needed_on() -> None:
    needed = units_needed(0.015, 0.01)
    assert needed is not None
    near = [power_of(units, 0.015, 0.01) for units in range(needed - 40, needed + 200)]
    assert near[39] < 0.8
    assert min(near[40:]) >= 0.8


def test_what_cannot_be_found_needs_no_number_of_units() -> None:
    assert units_needed(0.1, 0.1) is None
    assert units_needed(0.1, 0.2) is None
    assert units_needed(0.0011, 0.001) is None
    assert power_of(MOST_UNITS, 0.0011, 0.001) < 0.8
    assert smallest_gain(5, 0.0) is None  # five units: no p is below .0625


@pytest.mark.parametrize(("units", "hurt"), [(100, 0.0), (500, 0.02), (2000, 0.1)])
def test_the_smallest_gain_is_where_the_power_reaches_what_is_asked(units: int, hurt: float) -> None:
    gain = smallest_gain(units, hurt, power=0.9)
    assert gain is not None
    assert power_of(units, hurt + gain, hurt) >= 0.9 > power_of(units, hurt + gain - 1e-6, hurt)


@pytest.mark.parametrize("units", [0, MOST_UNITS + 1])
def test_no_units_and_too_many_are_refused(units: int) -> None:
    with pytest.raises(ValueError, match="units between 1 and"):
        power_of(units, 0.1, 0.05)
