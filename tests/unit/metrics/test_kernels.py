"""Elementary functions are accurate and the same everywhere; ratios round once."""

from __future__ import annotations

import math
import random
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from pipeline.metrics.kernels import apply_kernel, exp, log, score_ratio


def ulps(value: float, exact: Decimal) -> float:
    return abs(float((Decimal(value) - exact) / Decimal(math.ulp(float(exact)))))


def test_exp_is_within_one_unit_in_the_last_place():
    draw = random.Random(20120712)
    points = [draw.uniform(*bounds) for bounds in ((-1, 0), (-40, 0), (-700, 700), (-1e-8, 1e-8)) for _ in range(2000)]
    with localcontext() as context:
        context.prec = 50
        assert max(ulps(exp(x), Decimal(x).exp()) for x in points) < 0.85


def test_log_is_within_one_unit_in_the_last_place():
    draw = random.Random(20120712)
    points = [draw.uniform(0, 2) for _ in range(500)] + [draw.uniform(0.99, 1.01) for _ in range(500)]
    points += [10 ** draw.uniform(-307, 307) for _ in range(500)]
    with localcontext() as context:
        context.prec = 50
        assert max(ulps(log(x), Decimal(x).ln()) for x in points if x != 1.0) < 1.0


@pytest.mark.parametrize(
    ("function", "at", "value"),
    [
        (exp, 0.0, 1.0),
        (exp, -1000.0, 0.0),
        (exp, 1000.0, math.inf),
        (log, 1.0, 0.0),
        (log, 0.0, -math.inf),
        (log, math.inf, math.inf),
    ],
)
def test_limits_are_exact(function, at, value):
    assert function(at) == value


@pytest.mark.parametrize(("function", "at"), [(exp, math.nan), (log, math.nan), (log, -1.0)])
def test_what_is_undefined_is_nan(function, at):
    assert math.isnan(function(at))


@pytest.mark.golden
def test_the_bits_of_exp_and_log_are_fixed():
    assert exp(-0.0068).hex() == math.exp(-0.0068).hex() == "0x1.fc87bbe2ab02cp-1"
    assert log(0.3).hex() == math.log(0.3).hex() == "-0x1.34378fcbda721p+0"


def test_a_ratio_is_the_correctly_rounded_quotient():
    draw = random.Random(7)
    pairs = [(draw.randrange(2**40), draw.randrange(1, 2**40)) for _ in range(500)]
    scores = score_ratio(np.array(pairs).T, decimals=(2, 5), factor=1.0)
    assert scores.tolist() == [float(Fraction(a, 10**2) / Fraction(b, 10**5)) for a, b in pairs]


def test_a_denominator_of_zero_gives_nan():
    assert np.isnan(score_ratio(np.array([[0.0, 1.0], [0.0, 0.0]]), decimals=(0, 0), factor=1.0)).all()


def test_another_number_of_statistics_is_refused_with_both_numbers():
    with pytest.raises(ValueError, match=r"2 statistics.*\(3, 4\)"):
        apply_kernel(lambda *_: None, np.zeros((3, 4)), 2)
