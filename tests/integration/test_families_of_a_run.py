"""A family from the study file to the report: what is adjusted, what decides, and what is not said of pairs outside it."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from click.testing import CliRunner
from support.studies import PAGES, write_study

from pipeline.api import run
from pipeline.cli.main import cli
from pipeline.cubes.reading import open_cubes
from pipeline.errors import StudyError
from pipeline.inference.multiple_comparisons.multiplicity import holm
from pipeline.inference.multiple_comparisons.ranks import CLUSTERS, rank_intervals, separate
from pipeline.inference.multiple_comparisons.studentised_max_t import StudentisedMaxT, critical_maximum, studentised_max_t
from pipeline.inference.p_values import clopper_pearson
from pipeline.inference.unit_diagnostics.few_units import evidence_floor
from pipeline.report.pairs.pair_fields import read_columns
from pipeline.report.pairs.pair_rows import list_pairs
from pipeline.report.rows import FamilyKey
from pipeline.resampling.address import draw_key
from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import Measure
from pipeline.resampling.observe import observe

ITEMS, REPLICATES = 120, 4000
WHERE = {"metric": "mean", "test_size": "full"}
TEST = {**WHERE, "procedure": "paired-bootstrap"}
NAMES = ("base", "copy", "good", "better", "near")


def study_of(folder: Path, **resampling: Any) -> Path:
    rng = np.random.default_rng(8)
    base = rng.random(ITEMS) < 0.4
    scores = {
        "base": base,
        "copy": base,
        "good": base | (rng.random(ITEMS) < 0.2),
        "better": base | (rng.random(ITEMS) < 0.5),
        "near": np.where(np.isin(np.arange(ITEMS), [*np.flatnonzero(~base)[:8], *np.flatnonzero(base)[:2]]), ~base, base),
    }
    rows = ["item," + ",".join(scores), *(f"i{i}," + ",".join(str(int(s[i])) for s in scores.values()) for i in range(ITEMS))]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "scores.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    asked = {"replicates": REPLICATES, "keep_replicates": REPLICATES, "tails": "none", **resampling}
    test_sets = {"bench": {"format": "scores", "outputs": "scores.csv"}}
    return write_study(folder / "study.yaml", test_sets=test_sets, metrics=["mean"], resampling=asked, report=PAGES)


def finished(folder: Path, **resampling: Any) -> tuple[xr.Dataset, dict[str, Any], Path]:
    root = run(study_of(folder, **resampling), runs=folder / "runs", serial=True).root
    (cube,) = open_cubes(root / "cubes.zarr").values()
    return cube, json.loads((root / "report" / "report.json").read_text(encoding="utf-8")), root


@pytest.fixture(scope="module")
def everybody(tmp_path_factory: pytest.TempPathFactory) -> tuple[xr.Dataset, dict[str, Any], Path]:
    return finished(tmp_path_factory.mktemp("all"), intervals=["percentile", "simultaneous", "symmetric"])


@pytest.fixture(scope="module")
def against(tmp_path_factory: pytest.TempPathFactory) -> tuple[xr.Dataset, dict[str, Any], Path]:
    asked = {"intervals": ["symmetric", "simultaneous"], "procedures": ["paired-bootstrap", "exact-sign-flip"]}
    return finished(tmp_path_factory.mktemp("one"), family="against-baseline", baseline="base", **asked)


def counted(cube: xr.Dataset, chosen: np.ndarray, folder: Path) -> StudentisedMaxT:
    """Max-T of some pairs, from the file, the address of the draws, and the scores that the cube keeps."""
    table = np.loadtxt(folder / "scores.csv", delimiter=",", skiprows=1, usecols=range(1, 6), dtype=np.int64)
    pairs = np.stack([cube["a"].values, cube["b"].values], axis=1)
    statistics = np.stack([table, np.ones_like(table)], axis=2)
    measure = Measure(statistics, lambda sums: sums[0] / sums[1], "ratio", True, pairs, np.ones(5, bool))
    draws = Draws(draw_key(seed=7, purpose="paired-bootstrap", test_set="bench", size="full", rule="prefix"), ITEMS, ITEMS)
    floor = evidence_floor(*(cube[name].sel(WHERE).values for name in ("discordant", "p_sign_flip")))
    scores = cube["score"].sel(WHERE).values
    return studentised_max_t(measure, observe(measure), draws=draws, scores=scores, floor=floor, member=chosen)


def row_of(report: dict[str, Any], a: str, b: str) -> dict[str, Any]:
    rows = [row for row in report["pairs"] if row["procedure"] == "paired-bootstrap"]
    return next(row for row in rows if {row["system_a"], row["system_b"]} == {a, b})


def test_a_baseline_s_family_is_adjusted_for_its_own_pairs_alone(against) -> None:
    cube, _, root = against
    inside = (cube["system_a"].values == "base") | (cube["system_b"].values == "base")
    assert inside.sum() == 4  # its copy's pairs are with the same outputs, and are outside
    assert np.isnan(cube["p_by_adjustment"].values[..., ~inside]).all()
    p = cube["p_value"].sel(**TEST, convention="two-sided-plus-one").values
    adjusted = cube["p_by_adjustment"].sel(**TEST, convention="two-sided-plus-one")
    np.testing.assert_allclose(adjusted.sel(adjustment="holm").values[inside], holm(p[inside]))
    expected = counted(cube, inside, root.parent.parent)
    np.testing.assert_array_equal(adjusted.sel(adjustment="max-t").values, expected.p)
    b = cube["max_t_replicates"].sel(TEST).values
    assert set(b[inside & (cube["identical"].sel(WHERE).values == 0)]) == {REPLICATES}
    assert set(b[~inside]) == {-1}
    words = cube["interval_reason"].attrs["flag_meanings"].split()
    why = cube["interval_reason"].sel(**TEST, interval_method="simultaneous").values
    distinct = ~cube["identical"].sel(WHERE).values
    assert {words[code] for code in why[~inside & distinct].tolist()} == {"not-in-the-family"}


def test_a_report_says_nothing_of_pairs_outside_and_gives_no_ranks(against) -> None:
    _, report, root = against
    outside = [row for row in report["pairs"] if "base" not in {row["system_a"], row["system_b"]}]
    assert len(outside) == 2 * 6
    for row in outside:
        assert row["verdict"] is None
        assert not row["separated"]
        assert row["stable"] is None
        assert {row["p_adjusted"], *row["adjustment"]["others"].values()} == {None}
        assert row["p"] is not None or row["procedure"] != "paired-bootstrap"
        assert "not in the family" in row["note"]
    assert report["clusters"] == []
    assert all(row["rank"] is None and row["rank_low"] is None for row in report["leaderboard"])
    assert {"clusters", "leaderboard.rank"} <= set(report["reasons"])
    assert all("|family:against-baseline(base,4)|" in row["line"] for row in report["signature"])
    standing = {row["name"]: row["against_baseline"] for row in report["leaderboard"] if row["procedure"] == "paired-bootstrap"}
    assert standing == {"base": None, "copy": "identical", "good": "better", "better": "better", "near": "not separated"}
    (verdict,) = report["verdict"]
    assert verdict["sentences"][0].startswith("Of 4 systems compared with base")
    assert "2 are better and none is worse (max-T over 4 pairs" in verdict["sentences"][0]
    page = (root / "report" / "report.md").read_text(encoding="utf-8")
    assert "| system | score | 95 % interval | than base |" in page
    assert "We compared all systems with base by" in page


def test_max_t_decides_where_scores_are_kept_and_its_own_bounds_tell_whether_it_is_stable(everybody) -> None:
    cube, report, root = everybody
    expected = counted(cube, np.ones(cube.sizes["pair"], np.bool_), root.parent.parent)
    hits = np.rint(expected.p * (REPLICATES + 1)).astype(np.int64) - 1
    lo, hi = clopper_pearson(np.minimum(hits, REPLICATES), np.full(10, REPLICATES), 1 - 0.01 / 10)
    ends = zip(cube["system_a"].values.tolist(), cube["system_b"].values.tolist(), strict=True)
    floor = np.array([row_of(report, a, b)["p_floor"] or 0.0 for a, b in ends])
    stable = (np.maximum(hi, floor) <= 0.05) | (np.maximum(lo, floor) > 0.05)
    for pair, (a, b) in enumerate(zip(cube["system_a"].values.tolist(), cube["system_b"].values.tolist(), strict=True)):
        row = row_of(report, a, b)
        assert row["adjustment"]["by"] == "max_t"
        assert row["p_adjusted"] == row["adjustment"]["others"]["max_t"] == max(expected.p[pair], row["p_floor"])
        if not row["identical"]:
            assert row["separated"] == (row["p_adjusted"] <= 0.05)
            assert row["stable"] == stable[pair]
    assert {row["separated"] for row in report["pairs"]} == {True, False}
    assert any("(max-T over 10 pairs" in sentence for sentence in report["verdict"][0]["sentences"])


def test_too_few_kept_scores_leave_the_verdict_to_holm(tmp_path: Path) -> None:
    _, report, _ = finished(tmp_path, keep_replicates=18)
    assert {row["adjustment"]["by"] for row in report["pairs"]} == {"holm"}
    tested = [row for row in report["pairs"] if not row["identical"]]
    assert all(row["separated"] == (row["p_adjusted"] <= 0.05) for row in tested)
    assert all(row["p_adjusted"] == row["adjustment"]["others"]["holm"] >= row["p_few_units"] for row in tested)
    assert any("(Holm over 10 pairs" in sentence for sentence in report["verdict"][0]["sentences"])


def test_ranks_and_groups_are_those_of_the_pairs_that_are_separated(everybody) -> None:
    cube, report, root = everybody
    rows = [row_of(report, a, b) for a, b in zip(cube["system_a"].values.tolist(), cube["system_b"].values.tolist(), strict=True)]
    found = separate(
        np.stack([cube["a"].values, cube["b"].values], axis=1),
        score=cube["observed_score"].sel(WHERE).values,
        delta=cube["observed_delta"].sel(WHERE).values,
        p=np.array([0.0 if row["separated"] else 1.0 for row in rows]),
        identical=cube["identical"].sel(WHERE).values,
        alpha=0.05,
    )
    ranks = rank_intervals(found)
    for position, name in enumerate(NAMES):
        (row,) = (row for row in report["leaderboard"] if row["name"] == name)
        assert (row["rank"], row["rank_low"], row["rank_high"]) == (ranks.rank[position], ranks.low[position], ranks.high[position])
        assert (row["beats"], row["beaten_by"]) == (found.beats[position].sum(), found.beats[:, position].sum())
    groups = {row["definition"]: row["groups"] for row in report["clusters"]}
    assert list(groups) == list(CLUSTERS)
    for definition, draw in CLUSTERS.items():
        members = [{NAMES[system] for system in np.flatnonzero(column)} for column in draw(found).T]
        assert [set(group) for group in groups[definition]] == members
    letters = {row["name"]: row["letters"] for row in report["leaderboard"]}
    for row in rows:
        assert bool(set(letters[row["system_a"]]) & set(letters[row["system_b"]])) != row["separated"]
    assert "| letters |" in (root / "report" / "report.md").read_text(encoding="utf-8")
    assert (root / "report" / "tables" / "clusters.csv").read_text(encoding="utf-8").count("\n") == 1 + len(CLUSTERS)


def test_the_interval_of_the_decision_stands_beside_the_verdict_and_the_study_s_own_among_the_others(everybody) -> None:
    cube, report, root = everybody
    c = critical_maximum(cube["max_t_largest"].sel(metric="mean", test_size="full", procedure="paired-bootstrap").values, 0.05)
    at = {"metric": "mean", "test_size": "full", "procedure": "paired-bootstrap"}
    names = [frozenset(pair) for pair in zip(cube["system_a"].values, cube["system_b"].values, strict=True)]
    free = 0
    for row in report["pairs"]:
        if row["identical"]:
            assert row["interval"] is None
            continue
        pair = names.index(frozenset((row["system_a"], row["system_b"])))
        se = float(cube["max_t_se"].sel(at).values[pair])
        few = 0 < row["discordant"] < 20 and np.isfinite(cube["gain_of_a_win"].sel(metric="mean", test_size="full").values[pair])
        assert row["interval"]["method"] == ("tango" if few else "max-t")
        if not few:
            assert row["interval"]["hi"] == pytest.approx(row["delta"] + c * se)
            assert row["interval"]["lo"] in (0.0, pytest.approx(row["delta"] - c * se))
            free += row["interval"]["lo"] != 0
        own = row["intervals"]["percentile"]
        p = cube["p_value"].sel(**TEST, convention="below-zero").values[pair]
        assert (own["lo"] >= 0) == (p < 0.025)  # ties at 0 are not in this p: an end there is outside
    assert free
    page = (root / "report" / "report.md").read_text(encoding="utf-8")
    assert "The interval belongs to p adjusted, and is held to the verdict" in page
    assert "Intervals by other methods are in tables/pairs.csv." in page


def test_few_discordant_units_have_their_exact_p_without_asking(everybody, against) -> None:
    for _, report, root in (everybody, against):
        row = row_of(report, "base", "near")
        assert (row["discordant"], row["few_discordant"]) == (10, True)
        wins = (10 + round(abs(row["delta"]) * ITEMS)) // 2
        tail = sum(float(np.prod(np.arange(11 - k, 11)) / np.prod(np.arange(1, k + 1))) for k in range(wins, 11))
        assert row["p_exact"] == pytest.approx(min(1.0, 2 * tail / 2**10))
        assert "at least that of the exact test of all swaps, " in row["note"]
        assert "| exact |" in (root / "report" / "report.md").read_text(encoding="utf-8")


def test_p_of_a_pair_is_of_the_replicates_that_decide_and_never_above_its_adjusted_p(everybody, against) -> None:
    for _, report, _ in (everybody, against):
        rows = [row for row in report["pairs"] if row["p_adjusted"] is not None and not row["identical"]]
        assert all(row["p"] <= row["p_adjusted"] for row in rows)
        assert any(row["p"] < row["p_adjusted"] for row in rows)
        assert any(row["p"] != row["p_raw"]["two_sided_plus_one"] for row in rows)
    p = {(row["system_a"], row["system_b"]): row["p"] for row in everybody[1]["pairs"]}
    outside = [row for row in against[1]["pairs"] if not row["in_family"] and row["procedure"] == "paired-bootstrap"]
    assert len(outside) == 6
    assert all(p[row["system_a"], row["system_b"]] == row["p"] for row in outside)


@pytest.mark.parametrize("version", [2, 3])
def test_a_cube_of_an_older_version_is_decided_by_holm_and_says_so(everybody, version) -> None:
    """Its max-T was another one, under the name of the one that decides now."""
    cube, report, _ = everybody
    where = {"metric": "mean", "test_size": "full", "procedure": "paired-bootstrap"}
    now = read_columns(cube, **where, alpha=0.05, margin=None)
    old = read_columns(cube.assign_attrs(schema_version=version), **where, alpha=0.05, margin=None)
    assert (now.adjusted_by, old.adjusted_by) == ("max_t", "holm")
    assert set(old.take("adjustment.others.max_t")) == {None}
    assert old.take("p_adjusted") == old.take("adjustment.others.holm") != now.take("p_adjusted")
    place = FamilyKey("bench", "mean", "paired-bootstrap")
    rows = list_pairs(cube.assign_attrs(schema_version=version), place, alpha=0.05, unit="item")
    assert all("an older version wrote the cube" in row.adjustment.reason for row in rows)
    assert {row["adjustment"]["reason"] for row in report["pairs"]} == {None}


def test_the_chance_of_any_false_finding_is_told_three_ways(everybody, against) -> None:
    _, report, root = everybody
    (family,) = report["experiment_wise"]
    with (root / "report" / "tables" / "experiment_wise.csv").open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    for told, column in ((family, ""), (family["shared"], "shared.")):
        assert all(row[column + name] == str(value) for name, value in told.items() if name != "shared")
    assert family["independent"] == pytest.approx(1 - 0.95 ** family["tests"])
    assert (family["tests"], family["systems"]) == (6, 4)  # of five systems one is a copy
    assert 0.05 < family["shared"]["lo"] < family["shared"]["share"] < family["shared"]["hi"] < family["exchangeable"]
    assert family["shared"]["replicates"] == REPLICATES
    (line,) = (row["detail"] for row in report["trust"] if row["check"] == "Without adjustment")
    assert "0.26 if the 6 tests were independent" in line
    assert {row["exchangeable"] for row in against[1]["experiment_wise"]} == {None}


def test_an_unknown_baseline_is_refused_with_the_name_that_was_meant(tmp_path: Path) -> None:
    study = study_of(tmp_path, family="against-baseline", baseline="bse")
    with pytest.raises(StudyError) as refused:
        run(study, runs=tmp_path / "runs", serial=True)
    (problem,) = refused.value.problems
    assert (problem.code, problem.help) == ("P115", "did you mean 'base'?")


@pytest.mark.parametrize("asked", [{"baseline": "base"}, {"family": "against-baseline"}])
def test_a_baseline_and_its_family_go_together(tmp_path: Path, asked: dict[str, str]) -> None:
    with pytest.raises(StudyError) as refused:
        run(study_of(tmp_path, **asked), runs=tmp_path / "runs", serial=True)
    assert [problem.code for problem in refused.value.problems] == ["P110"]


def test_a_report_can_be_asked_for_another_family_which_holm_adjusts(everybody, tmp_path: Path) -> None:
    _, _, root = everybody
    ask = ["report", str(root), "--set", "resampling.family=against-baseline", "--set"]
    done = CliRunner().invoke(cli, [*ask, "resampling.baseline=good", "-o", str(tmp_path)])
    assert done.exit_code == 0, done.output
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    inside = [row for row in report["pairs"] if row["in_family"]]
    assert all("good" in {row["system_a"], row["system_b"]} for row in inside)
    own = np.array([max(row["p"], row["p_few_units"] or 0.0, row["p_floor"]) for row in inside])
    assert sorted(row["p_adjusted"] for row in inside) == sorted(row["adjustment"]["others"]["holm"] for row in inside)
    assert sorted(row["p_adjusted"] for row in inside) == pytest.approx(sorted(holm(own)))
    assert {(row["adjustment"]["by"], row["adjustment"]["others"]["max_t"]) for row in inside} == {("holm", None)}
    assert "another family" in inside[0]["adjustment"]["reason"]
    refused = CliRunner().invoke(cli, [*ask, "resampling.baseline=god"])
    assert refused.exit_code != 0
