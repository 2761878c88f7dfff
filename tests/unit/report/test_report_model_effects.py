"""What models that are not separated could have shown: with few discordant units, across families, and which numbers are enough."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pipeline.analyses.replicas.models import ModelGains
from pipeline.analyses.replicas.variance import Variances
from pipeline.report.models.model_detectable import add_model_effects, describe_model_effects
from pipeline.report.models.models import judge_all
from pipeline.resampling.replicas.components import Components


def gains(
    delta: float, *, claim="methods", run=0.0, system_unit=1.0, e=4.0, runs=3, units=100, discordant=80, undecided=0
) -> ModelGains:
    """Two models whose components are known, and stand for what was observed."""
    parts = [np.array([value]) for value in (1.0, system_unit, run, e)]
    known = Variances(Components(*parts, np.array([2 * runs - 2])), np.array([[runs, runs]]), units, np.array([False]))
    se, degrees = known.law(new_runs=claim == "methods")
    p = 2 * stats.t.sf(delta / se, degrees)
    word = "run" if claim == "methods" else "sample"
    return ModelGains(
        "quiz",
        "mean",
        claim,
        word,
        "item",
        ("a", "b"),
        (runs, runs),
        (np.full(runs, delta), np.zeros(runs)),
        True,
        np.array([[0, 1]]),
        np.array([delta]),
        se,
        degrees,
        p,
        np.zeros(1),
        np.array([discordant]),
        np.array([undecided], np.int8),
        np.array([False]),
        ("",),
        known,
    )


def effects(*given: ModelGains, across=False):
    judged = add_model_effects(judge_all(given, alpha=0.05, across=across), given, alpha=0.05, across=across)
    return [row for of in judged for row in of.pairs]


def test_without_new_runs_the_law_is_that_of_means_over_runs():
    se, degrees = gains(0.1, claim="systems").variances.law(more_runs=3, more_units=100, new_runs=False)
    assert (se[0] ** 2, degrees[0]) == (pytest.approx(2 * (1.0 + 4.0 / 6) / 200), 199)


def test_degrees_of_freedom_are_those_of_the_mean_squares_with_more_runs_and_units():
    (se,), (degrees,) = gains(0.1, run=0.5).variances.law(more_runs=2, more_units=100)
    e, run, by_unit = 4.0 / 200 / 5, (0.5 + 4.0 / 200) / 5, 2 * 1.0 / 200 + 2 * 4.0 / 200 / 5  # five runs, 200 units
    variance = by_unit + 2 * (run - e)
    assert se == pytest.approx(np.sqrt(variance))
    assert degrees == pytest.approx(variance**2 / (by_unit**2 / 199 + 2 * (run**2 / 4 + e**2 / (4 * 199))))


def test_runs_that_are_half_of_the_noise_and_units_that_are_the_rest_need_more_of_either():
    (row,) = effects(gains(0.35, run=0.01, system_unit=0.3, e=4.0))
    effect = row.minimum_detectable_effect
    assert row.verdict == "not separated"
    assert effect.gain > 0.35
    for name in ("more_runs", "more_units"):
        enough = getattr(effect, f"{name}_needed")
        known = gains(0.35, run=0.01, system_unit=0.3, e=4.0).variances
        for more, found in ((enough - 1, False), (enough, True)):
            (se,), (degrees,) = known.law(**{name: more})
            assert (stats.nct.sf(stats.t.isf(0.025, degrees), degrees, 0.35 / se) >= 0.8) == found
    told = describe_model_effects([row], 3, "item")
    assert told.endswith(
        f"a true gain of 0.350 needs about {effect.more_runs_needed:,} more runs of each model or about "
        f"{effect.more_units_needed:,} more items."
    )


def test_what_more_of_one_kind_cannot_do_is_said():
    by_runs, by_units = effects(gains(0.3, run=1.0, system_unit=0.0, e=0.1))[0], effects(gains(0.1, system_unit=4.0, e=0.1))[0]
    assert by_runs.minimum_detectable_effect.more_units_needed is None
    assert by_units.minimum_detectable_effect.more_runs_needed is None
    assert "more runs of each model, and no number of items alone is enough." in describe_model_effects([by_runs], 3, "item")
    assert "more items, and no number of runs alone is enough." in describe_model_effects([by_units], 3, "item")
    both = effects(gains(0.1, run=4.0, system_unit=50.0, e=0.1))[0]
    assert "no number of runs alone, or of items alone, shows a true gain of 0.100." in describe_model_effects([both], 3, "item")
    (sampled,) = effects(gains(0.15, claim="systems", system_unit=0.1, e=4.0))
    assert "more samples of each item or about" in describe_model_effects([sampled], 3, "item")


def test_models_that_differ_on_few_units_could_have_shown_no_gain():
    (row,) = effects(gains(0.4, discordant=2))
    effect = row.minimum_detectable_effect
    assert effects(gains(0.4))[0].minimum_detectable_effect.more_units_needed < 200
    assert effect.more_runs_needed is None
    assert (effect.gain, effect.reason) == (None, "with 2 discordant units no exact p is below 0.5")
    assert effect.more_units_needed == 200  # six discordant units, of 300
    assert describe_model_effects([row], 3, "item").startswith("No gain could have been shown: with 2 discordant units")


def test_the_level_is_over_all_pairs_that_are_left_where_holm_is():
    given = (gains(0.1), gains(0.2), gains(5.0))
    alone, together = effects(*given), effects(*given, across=True)
    assert [row.minimum_detectable_effect.level for row in alone] == [0.05, 0.05, 0.05]
    assert [row.minimum_detectable_effect.level for row in together] == [0.025, 0.025, 0.025]
    assert together[2].verdict == "better"
    assert together[2].minimum_detectable_effect.more_runs_needed is None  # nothing is asked of what is shown


@pytest.mark.parametrize(
    ("undecided", "why", "more"), [(1, "graded scores get no verdict from fewer than 20 units", 6), (2, "large losses", None)]
)
def test_models_that_are_not_decided_could_have_shown_no_gain_however_many_runs_they_have(undecided, why, more):
    (row,) = effects(gains(3.0, units=14, discordant=14, undecided=undecided))
    effect = row.minimum_detectable_effect
    assert (row.verdict, effect.gain, effect.more_runs_needed, effect.more_units_needed) == ("not decided", None, None, more)
    assert why in effect.reason
    assert why in describe_model_effects([row], 2, "item")
    assert describe_model_effects([row, row], 2, "item").startswith("None of these pairs could have shown a gain: ")
