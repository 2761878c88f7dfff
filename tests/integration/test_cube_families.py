"""What a cube says of families, read off its kept scores once more by other means."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from support.studies import ODD_NAMES, write_study, write_text_outputs

from pipeline.api import open_run, run

METHODS = ["symmetric", "basic", "percentile", "simultaneous"]
KEPT = 3000


@pytest.fixture(scope="module")
def cube(tmp_path_factory: pytest.TempPathFactory) -> xr.Dataset:
    folder = tmp_path_factory.mktemp("families")
    resampling = {"replicates": 20_000, "keep_replicates": KEPT, "intervals": METHODS, "alpha": 0.1}
    outputs = write_text_outputs(folder / "data", ODD_NAMES)
    # Not the better ones first: gains of both signs.
    shuffled = {name: outputs[name] for name in [ODD_NAMES[place] for place in (3, 0, 5, 2, 1, 4)]}
    test_sets = {"made": {"format": "text", "references": ["data/ref.txt"], "outputs": shuffled}}
    study = write_study(folder / "study.yaml", test_sets=test_sets, metrics=["bleu", "ter"], resampling=resampling)
    return next(iter(open_run(run(study, runs=folder / "runs", serial=True).root).values()))


def gains(cube: xr.Dataset, metric: str) -> np.ndarray:
    """Return (pair, replicate) gains of system_a over system_b, > 0 where it is better."""
    score = cube["score"].sel(metric=metric, test_size="full").values
    sign = 1.0 if cube.attrs["higher_is_better"][metric] else -1.0
    return sign * (score[cube["a"].values] - score[cube["b"].values])


@pytest.mark.parametrize("metric", ["bleu", "ter"])
def test_intervals_are_quantiles_of_kept_gains(cube: xr.Dataset, metric: str) -> None:
    where = {"metric": metric, "test_size": "full", "procedure": "paired-bootstrap"}
    found = cube["interval"].sel(**where)
    delta, star = cube["observed_delta"].sel(metric=metric, test_size="full").values, gains(cube, metric)
    assert star.shape == (len(delta), KEPT)
    assert (delta > 0).any()
    assert (delta < 0).any()
    lo, hi = np.quantile(star, [0.05, 0.95], axis=1)
    half = np.quantile(np.abs(star - delta[:, None]), 0.9, axis=1)
    expected = {"percentile": (lo, hi), "basic": (2 * delta - hi, 2 * delta - lo), "symmetric": (delta - half, delta + half)}
    for method, (low, high) in expected.items():
        np.testing.assert_allclose(found.sel(interval_method=method, bound="lower"), low, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(found.sel(interval_method=method, bound="upper"), high, rtol=1e-9, atol=1e-9)
    se = cube["max_t_se"].sel(where).values
    largest = np.sort(cube["max_t_largest"].sel(where).values)
    c = largest[len(largest) - int(0.1 * (len(largest) + 1))]
    np.testing.assert_allclose(found.sel(interval_method="simultaneous", bound="upper"), delta + c * se, rtol=1e-12)


@pytest.mark.parametrize("metric", ["bleu", "ter"])
def test_max_t_is_of_two_sided_p_alone_and_says_of_how_many_replicates(cube: xr.Dataset, metric: str) -> None:
    where = {"metric": metric, "test_size": "full", "procedure": "paired-bootstrap"}
    found, b = cube["p_by_adjustment"].sel(**where, adjustment="max-t"), cube["max_t_replicates"].sel(where).values
    p = found.sel(convention="two-sided-plus-one").values
    assert set(b.tolist()) == {KEPT}
    np.testing.assert_allclose(p * (KEPT + 1), np.rint(p * (KEPT + 1)))
    assert np.isnan(found.sel(convention="one-sided").values).all()
    plain = cube["p_value"].sel(**where, convention="two-sided-plus-one").values
    assert (p >= plain - 0.05).all()
    assert len(set(p.tolist())) > 5
