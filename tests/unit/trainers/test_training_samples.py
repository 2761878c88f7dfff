"""Resampled training sets: who shares a sample, who does not, and that its bits never change."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest

from pipeline.trainers.sampling import distinct_share, draw_sample, sample_size, training_seed

ADDRESS = {"seed": 20120712, "data": "digits", "method": "bootstrap", "fraction": 0.5, "replica": 3}


def test_every_base_model_is_trained_on_the_same_sample():
    # A sample is a function of its address, and the address has no place for a model or a trainer.
    np.testing.assert_array_equal(draw_sample(**ADDRESS, n_items=905), draw_sample(**ADDRESS, n_items=905))
    assert set(inspect.signature(draw_sample).parameters) == {*ADDRESS, "n_items"}


@pytest.mark.parametrize("other", [{"seed": 1}, {"fraction": 0.25}, {"replica": 4}, {"data": "letters"}])
def test_another_seed_fraction_replica_or_data_set_gives_another_sample(other):
    # 226 positions agree by chance with probability 905**-226.
    one, two = draw_sample(**ADDRESS, n_items=905), draw_sample(**ADDRESS | other, n_items=905)
    assert not np.array_equal(one[:226], two[:226])


def test_a_replica_is_the_same_whether_or_not_others_are_asked_for():
    alone = draw_sample(**ADDRESS, n_items=905)
    among = [draw_sample(**ADDRESS | {"replica": replica}, n_items=905) for replica in range(6)]
    np.testing.assert_array_equal(among[3], alone)


@pytest.mark.parametrize(("fraction", "size"), [(1.0, 905), (0.5, 453), (0.25, 226), (1e-6, 1)])
def test_a_fraction_draws_that_share_of_the_training_set_halves_rounded_up(fraction, size):
    sample = draw_sample(**ADDRESS | {"fraction": fraction}, n_items=905)
    assert len(sample) == sample_size(fraction, 905) == size
    assert sample.dtype == np.int64
    assert sample.min() >= 0
    assert sample.max() < 905


@pytest.mark.statistical
@pytest.mark.parametrize(("fraction", "share"), [(1.0, 0.632), (0.5, 0.393), (0.25, 0.221)])
def test_a_bootstrap_sample_holds_63_39_and_22_percent_of_the_items(fraction, share):
    # A draw changes the share by at most 1/n, so by McDiarmid |share − E| > t has chance below 2·exp(−2·t²·n²/m);
    # t below makes that 1e-6. E is 1 − (1 − 1/n)^m, within 1e-3 of the figures in the name.
    n = 20_000
    m = sample_size(fraction, n)
    bound = math.sqrt(math.log(2e6) * m / 2) / n
    expected = 1 - (1 - 1 / n) ** m
    assert expected == pytest.approx(share, abs=1e-3)
    observed = distinct_share(draw_sample(**ADDRESS | {"fraction": fraction}, n_items=n), n)
    assert abs(observed - expected) < bound


@pytest.mark.golden
def test_the_first_positions_of_a_sample_are_these_on_every_python():
    sample = draw_sample(seed=20120712, data="digits", method="bootstrap", fraction=1.0, replica=0, n_items=905)
    assert sample[:8].tolist() == [135, 20, 653, 721, 401, 758, 606, 482]
    assert int(sample.sum()) == 409649


@pytest.mark.golden
def test_the_seed_of_a_training_is_this_on_every_python():
    assert training_seed(**ADDRESS, model="forest") == 1509584540


@pytest.mark.parametrize("other", [{"seed": 1}, {"fraction": 1.0}, {"replica": 4}, {"data": "letters"}, {"model": "tree"}])
def test_every_training_has_a_seed_of_its_own(other):
    address = ADDRESS | {"model": "forest"}
    assert training_seed(**address) != training_seed(**address | other)


def test_a_training_seed_fits_the_random_state_of_an_estimator():
    seeds = [training_seed(**ADDRESS | {"replica": replica}, model="<b>/日本") for replica in range(200)]
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert len(set(seeds)) == 200  # 200 of 2**31 collide with chance 1e-5; the address is fixed
    assert max(seeds) >= 2**30


@pytest.mark.parametrize("wrong", [{"method": "jackknife"}, {"fraction": 0.0}, {"fraction": 1.5}, {"replica": -1}])
def test_what_cannot_be_drawn_is_refused_with_the_value(wrong):
    with pytest.raises(ValueError, match=str(next(iter(wrong.values())))):
        draw_sample(**ADDRESS | wrong, n_items=905)
