import numpy as np
import pytest
import xarray as xr
from support.synthetic_cubes import build_cube

from pipeline.analyses.calibration_transfer import CalibrationTransfer
from pipeline.interfaces import ScoredStatistics


def bins_of(finding):
    return {r["p_high"]: r for r in finding.rows if r["kind"] == "bin"}


def base_and_other():
    # Gains on the base in units of se: a-b 1, a-c 2, a-d 3, b-c 1, b-d 2, c-d 1
    base = build_cube(np.array([53.0, 52.0, 51.0, 50.0]), list("abcd"), se=1.0)
    # Elsewhere: d first, a and b tied, c last; other order of systems and of names within a pair.
    pairs = [("d", "c"), ("d", "b"), ("c", "b"), ("d", "a"), ("b", "a"), ("c", "a")]
    other = build_cube(np.array([60.0, 40.0, 50.0, 50.0]), list("dcba"), pairs=pairs, name="other")
    return {"news": base, "other": other}


def test_shares_by_hand_with_other_orders_of_pairs():
    rows = bins_of(CalibrationTransfer().find(base_and_other(), {"bins": [0.005, 0.05]}))
    # p(3) = .00135: a-d, reversed there. p(2) = .0228: a-c kept, b-d reversed. p(1) = .159: a-b tied, b-c kept, c-d reversed.
    assert [(rows[h]["pairs"], rows[h]["same_sign"], rows[h]["ties"]) for h in (0.005, 0.05, 1.0)] == [
        (1, 0, 0),
        (2, 1, 0),
        (3, 1, 1),
    ]
    assert [rows[h]["share"] for h in (0.005, 0.05, 1.0)] == [0.0, 0.5, 0.5]
    assert rows[1.0]["systems"] == 3


def test_a_bin_is_open_below_and_closed_above():
    cubes = base_and_other()
    p = float(cubes["news"]["p_value"].sel(convention="one-sided").values.ravel()[1])  # a-c
    rows = bins_of(CalibrationTransfer().find(cubes, {"bins": [0.001, p]}))
    assert rows[p]["pairs"] == 3


def test_a_system_absent_on_the_other_set_is_counted_not_guessed():
    cubes = base_and_other()
    cubes["other"] = build_cube(np.array([60.0, 40.0, 50.0]), list("dcb"), name="other")
    rows = bins_of(CalibrationTransfer().find(cubes, {"bins": [0.05]}))
    assert (rows[0.05]["pairs"], rows[0.05]["unmatched_pairs"]) == (1, 2)


def with_items(**items):
    """Statistics of no use but for the names of their items."""

    def of(names):
        data = xr.Dataset(coords={"item": np.array(names, dtype=object)})
        return {"bleu": ScoredStatistics(data, lambda sums: sums[0], "general", higher_is_better=True)}

    return CalibrationTransfer().with_statistics({name: of(names) for name, names in items.items()})


def test_another_test_set_of_the_same_items_is_told():
    finding = with_items(news=["q1", "q2", "q3"], other=["q2", "q3", "q4", "q5"]).find(base_and_other(), {})
    assert {row["shared_items"] for row in finding.rows} == {2}
    (note,) = [note for note in finding.notes if "in common" in note]
    assert note.startswith("other has 2 of its 4 items in common with news, by their names")
    assert all(note in table.caption for table in finding.tables)


@pytest.mark.parametrize(
    ("items", "shared"),
    [
        ({"news": ["q1"], "other": ["q2"]}, 0),
        ({"news": ["1", "2"], "other": ["1", "2", "3"]}, None),  # mere line numbers
        ({"news": ["7", "1"], "other": ["1", "2"]}, None),
        ({"news": ["q1"]}, None),
        ({}, None),
    ],
)
def test_items_that_are_others_or_have_no_names_are_not_called_shared(items, shared):
    finding = with_items(**items).find(base_and_other(), {})
    assert {row["shared_items"] for row in finding.rows} == {shared}
    assert not any("in common" in note for note in finding.notes)


def test_one_test_set_gives_null_with_the_reason():
    (row,) = CalibrationTransfer().find({"news": base_and_other()["news"]}, {}).rows
    assert row["share"] is None
    assert "one test set" in row["reason"]


def test_a_misspelt_test_set_is_a_row_with_the_reason_not_a_crash():
    (row,) = CalibrationTransfer().find(base_and_other(), {"against": "othr"}).rows
    assert "did you mean 'other'" in row["reason"]


def test_identical_pairs_are_in_no_bin():
    cubes = base_and_other()
    cubes["news"] = build_cube(np.array([53.0, 53.0, 51.0, 50.0]), list("abcd"), se=1.0, identical=[("a", "b")])
    # a-c, a-d and c-d: a = b is no pair, and b's other pairs are those of a once more.
    assert sum(r["pairs"] for r in bins_of(CalibrationTransfer().find(cubes, {})).values()) == 3


@pytest.mark.statistical
def test_an_unrelated_test_set_keeps_half_of_the_signs():
    """40 systems shuffled: the share of kept signs is within 6 sd (about .055 each) of ½; false alarm below 1e-6."""
    rng = np.random.default_rng(np.random.SeedSequence().entropy)
    names = [f"s{i}" for i in range(40)]
    cubes = {
        "news": build_cube(rng.normal(50, 1, 40), names),
        "other": build_cube(rng.normal(50, 1, 40), names, name="other"),
    }
    rows = [r for r in CalibrationTransfer().find(cubes, {"bins": [1.0]}).rows if r["kind"] == "bin"]
    (row,) = rows
    assert row["pairs"] == 780
    assert row["share"] == pytest.approx(0.5, abs=0.34)
    assert row["interval"]["lo"] < row["share"] < row["interval"]["hi"]
    # The interval knows that there are 40 systems: it is far wider than that of 780 independent pairs (.07).
    assert row["interval"]["hi"] - row["interval"]["lo"] > 0.12
