"""The null laboratory finds levels that are known, calls a liberal test liberal, and says why it has nothing to say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray
from scipy.stats import binom

from pipeline.analyses.type_one.analysis import TypeOne
from pipeline.analyses.type_one.pairs import BY_DOCUMENT, SWAPPED, choose_pairs
from pipeline.analyses.type_one.rows import interval
from pipeline.analyses.type_one.words import check_level
from pipeline.inference.convention_levels import null_p, null_rejection
from pipeline.interfaces import ScoredStatistics

FALSE_ALARM = 1e-6


def share(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return 100 * sums[0] / sums[1]


def binary(units: int, *discordant: int) -> NDArray[np.int64]:
    """(system, unit, 2): each system differs from the one before in so many units, and is right in all but one more of them."""
    right = np.zeros((1 + len(discordant), units), np.int64)
    for place, number in enumerate(discordant, start=1):
        right[place] = right[place - 1]
        chosen = np.random.default_rng(place).permutation(units)[:number]
        right[place, chosen] = 1 - right[place, chosen]
    return np.stack([right, np.ones_like(right)], axis=2)


def gaussian(units: int, *, scale: float = 1000) -> NDArray[np.int64]:
    numerators = np.rint(scale * np.random.default_rng(6).normal(size=(2, units))).astype(np.int64)
    return np.stack([numerators, np.ones_like(numerators)], axis=2)


def build(
    statistics: NDArray[np.int64],
    procedures: tuple[str, ...] = ("paired-bootstrap",),
    *,
    form: str = "ratio",
    unit: NDArray[np.int64] | None = None,
    stratum: NDArray[np.int64] | None = None,
    document: NDArray[np.int64] | None = None,
    **attrs: Any,
) -> tuple[dict[str, xr.Dataset], dict[str, dict[str, ScoredStatistics]]]:
    """Return the part of a cube that the analysis reads, and the statistics beside it."""
    systems = [f"s{number}" for number in range(len(statistics))]
    pairs = np.stack(np.triu_indices(len(systems), 1), axis=1)
    units = np.arange(statistics.shape[1]) if unit is None else unit
    summed = np.zeros((len(systems), units.max() + 1, statistics.shape[2]), np.int64)
    np.add.at(summed, (slice(None), units), statistics)
    discordant = (summed[pairs[:, 0]] != summed[pairs[:, 1]]).any(axis=2).sum(axis=1)
    cube = xr.Dataset(
        {
            "observed_score": (("metric", "test_size", "system"), share(summed.sum(axis=1).T)[None, None]),
            "discordant": (("metric", "test_size", "pair"), discordant[None, None]),
        },
        coords={
            "metric": ["accuracy"],
            "test_size": ["full"],
            "system": systems,
            "procedure": list(procedures),
            "system_a": ("pair", [systems[a] for a, _ in pairs]),
            "system_b": ("pair", [systems[b] for _, b in pairs]),
        },
        attrs={"seed": 5, "unit": "item" if unit is None else "document", **attrs},
    )
    of_items = {"unit": unit, "stratum": stratum, "document": document}
    coords = {"system": systems, **{name: ("item", values) for name, values in of_items.items() if values is not None}}
    data = xr.Dataset({"statistics": (("system", "item", "statistic"), statistics)}, coords=coords)
    return {"news": cube}, {"news": {"accuracy": ScoredStatistics(data, share, form, True)}}


def find(built: tuple[Any, Any], **options: Any) -> list[dict[str, Any]]:
    cubes, statistics = built
    return [dict(row) for row in TypeOne().with_statistics(statistics).find(cubes, options).rows]


def only(rows: list[dict[str, Any]], procedure: str, convention: str | None = None) -> dict[str, Any]:
    (row,) = [r for r in rows if r["procedure"] == procedure and convention in (None, r["convention"])]
    return row


def assert_rate(row: dict[str, Any], rate: float) -> None:
    assert binom.sf(row["rejected_05"] - 1, row["nulls"], rate) > FALSE_ALARM / 2, row
    assert binom.cdf(row["rejected_05"], row["nulls"], rate) > FALSE_ALARM / 2, row


@pytest.mark.statistical
def test_levels_that_are_known_are_found() -> None:
    m, n = 14, 60
    rows = find(build(binary(n, m), ("paired-bootstrap", "exact-bootstrap", "mcnemar", "exact-sign-flip")), nulls=4000)
    # Every null has m discordant units, each a win with probability ½. False alarm 1e-6 each.
    careful = null_rejection("approximate-randomization", discordant=m, units=n)
    for name in ("mcnemar", "exact-sign-flip", "approximate-randomization"):
        assert_rate(only(rows, name), careful)
    assert_rate(only(rows, "exact-bootstrap"), null_rejection("two-sided", discordant=m, units=n))
    # Of b = 499 replicates up to 24 may count; of a null without a gain all do.
    chances = binom.pmf(np.arange(m + 1), m, 0.5)
    counted = sum(
        chance * binom.cdf(24, 499, null_p("two-sided", wins=max(w, m - w), losses=min(w, m - w), units=n))
        for w, chance in enumerate(chances)
        if 2 * w != m
    )
    assert_rate(only(rows, "paired-bootstrap", "two-sided-plus-one"), float(counted))
    assert only(rows, "mcnemar")["says"] == "conservative"


@pytest.mark.statistical
def test_a_liberal_test_is_called_liberal() -> None:
    # With 20 Gaussian units the bootstrap rejects 7.1 %; that 10 000 nulls do not show it has a chance below 1e-6.
    rows = find(build(gaussian(20), ("paired-bootstrap", "paired-t")), nulls=10_000)
    bootstrap = only(rows, "paired-bootstrap", "two-sided-plus-one")
    assert bootstrap["says"] == "liberal"
    assert bootstrap["decides"]
    assert 0.06 < bootstrap["rate_05"] < 0.085
    assert only(rows, "paired-bootstrap", "one-sided")["rate_05"] > 0.11
    assert 0.035 < only(rows, "paired-t")["rate_05"] < 0.065


def test_the_randomization_is_shown_beside_a_study_that_did_not_ask_for_it() -> None:
    rows = find(build(binary(50, 20)), nulls=100)
    swaps = only(rows, "approximate-randomization")
    assert (swaps["in_study"], swaps["decides"]) == (False, False)
    assert [r["convention"] for r in rows if r["decides"]] == ["two-sided-plus-one"]
    assert 0 < swaps["quantiles"][2] <= swaps["quantiles"][-1] <= 1


def test_the_same_study_has_the_same_numbers_again() -> None:
    one, two = (find(build(binary(50, 20, 10)), nulls=300) for _ in range(2))
    assert one == two
    cubes, statistics = build(binary(50, 20, 10))
    other = TypeOne().with_statistics(statistics).find({"news": cubes["news"].assign_attrs(seed=6)}, {"nulls": 300})
    assert [row["rejected_05"] for row in other.rows] != [row["rejected_05"] for row in one]


def test_pairs_are_neighbours_with_the_fewest_the_most_and_the_median_discordant_units() -> None:
    scores = {"a": 50.0, "b": 49.0, "c": 48.0, "copy": 48.0, "d": 40.0, "e": 30.0}
    between = {("a", "b"): 7, ("b", "c"): 3, ("c", "copy"): 0, ("copy", "d"): 30, ("d", "e"): 9, ("a", "e"): 1}
    names = list(scores)
    pairs = [(x, y) for i, x in enumerate(names) for y in names[i + 1 :]]
    cube = xr.Dataset(
        {
            "observed_score": (("metric", "test_size", "system"), np.array(list(scores.values()))[None, None]),
            "discordant": (("metric", "test_size", "pair"), np.array([between.get(pair, 50) for pair in pairs])[None, None]),
        },
        coords={"metric": ["m"], "test_size": ["full"], "system": names, "system_a": ("pair", [p[0] for p in pairs]),
                "system_b": ("pair", [p[1] for p in pairs])},
    )  # fmt: skip
    chosen = [(pair.first, pair.second, pair.rule) for pair in choose_pairs(cube, "m", 3)]
    assert chosen == [("b", "c", "fewest"), ("copy", "d", "most"), ("a", "b", "median")]
    assert [pair.rule for pair in choose_pairs(cube, "m", 1)] == ["fewest"]
    turned = choose_pairs(cube.isel(system=slice(None, None, -1)), "m", 3)
    assert [(pair.first, pair.second, pair.rule) for pair in turned] == chosen  # the order of systems does not matter


def test_items_are_summed_by_unit() -> None:
    unit = np.repeat(np.arange(30), 4)
    rows = find(build(binary(120, 60), unit=unit), nulls=100)
    assert {row["units"] for row in rows} == {30}
    assert all(0 < row["discordant"] <= 30 for row in rows)


@pytest.mark.statistical
def test_draws_are_within_the_strata_of_the_study() -> None:
    # Of two units a stratum knows half of their variance: 2Φ(−1.96 √½) = 16.6 %, and more as it is estimated. False alarm 1e-6.
    built = build(gaussian(200), stratum=np.arange(200) // 2, strata={"column": "genre", "count": 100})
    row = only(find(built), "paired-bootstrap", "two-sided-plus-one")
    assert (row["decides"], row["says"]) == (True, "liberal")
    assert binom.sf(row["rejected_05"] - 1, row["nulls"], 0.189) > FALSE_ALARM / 2
    assert binom.cdf(row["rejected_05"], row["nulls"], 0.189) > FALSE_ALARM / 2
    # Swaps are of units, whatever stratum they are in.
    swaps = only(find(built), "approximate-randomization")
    assert binom.sf(swaps["rejected_05"] - 1, swaps["nulls"], 0.05) > FALSE_ALARM


def of_documents(documents: int, items: int) -> NDArray[np.int64]:
    """Two systems whose difference is that of the document, and noise of a quarter of its size."""
    rng = np.random.default_rng(8)
    values = rng.normal(size=(2, documents, 1)) + 0.25 * rng.normal(size=(2, documents, items))
    numerators = np.rint(1000 * values).astype(np.int64).reshape(2, -1)
    return np.stack([numerators, np.ones_like(numerators)], axis=2)


@pytest.mark.statistical
def test_where_items_stand_in_documents_whole_documents_are_swapped_too() -> None:
    document = np.repeat(np.arange(40), 6)
    rows = find(build(of_documents(40, 6), document=document, clusters={"column": "document", "count": 40}), nulls=1000)
    designs = {design: [row for row in rows if row["design"] == design] for design in (SWAPPED, BY_DOCUMENT)}
    items, documents = (only(designs[design], "paired-bootstrap", "two-sided-plus-one") for design in (SWAPPED, BY_DOCUMENT))
    # Items of a document add up to six times the variance that a test of items takes it for: 2Φ(−1.96/√6) = 42 %.
    assert items["rate_05"] < 0.08
    assert documents["rate_05"] > 0.33
    assert (documents["decides"], documents["says"]) == (True, "liberal")
    assert only(designs[BY_DOCUMENT], "approximate-randomization")["rate_05"] > 0.33
    told = check_level(rows)
    assert told.status == "check"
    finding = TypeOne().with_statistics(build(of_documents(40, 6), document=document)[1])
    tables = finding.find(build(of_documents(40, 6), document=document)[0], {"nulls": 100}).tables
    assert [table.title for table in tables] == [
        "news · accuracy · null laboratory",
        "news · accuracy · null laboratory, outputs of a document swapped",
    ]


def test_pairs_against_a_baseline_are_pairs_of_the_baseline() -> None:
    rows = find(build(binary(50, 20, 10, 5), asked_baseline="s1"), nulls=100)
    assert rows
    assert all("s1" in (row["system_a"], row["system_b"]) for row in rows)
    assert {row["chosen"] for row in rows} == {"fewest", "most", "median"}
    (row,) = find(build(binary(50, 0), asked_baseline="s1"))
    assert row["reason"] == "no system differs from s1 on any unit"


@pytest.mark.parametrize("lacking", [{"strata": {"count": 3}}, {"clusters": {"column": "document"}}])
def test_cubes_that_do_not_know_strata_or_documents_of_items_are_not_asked(lacking: dict[str, Any]) -> None:
    (row,) = find(build(binary(50, 20), **lacking))
    assert row["rate_05"] is None
    assert "earlier version" in row["reason"]


@pytest.mark.parametrize(
    ("built", "options", "reason"),
    [
        ((build(binary(50, 20))[0], {}), {}, "not at hand"),
        (build(binary(50, 0)), {}, "no two neighbours"),
        (build(binary(50, 20)), {"budget": 1000.0}, "budget"),
    ],
)
def test_where_nothing_is_made_the_reason_is_told(built: Any, options: dict[str, Any], reason: str) -> None:
    (row,) = find(built, **options)
    assert reason in row["reason"]
    assert row["rate_05"] is None


def test_what_is_beyond_the_budget_is_named_and_every_place_has_a_pair_first() -> None:
    cubes, statistics = build(binary(50, 20, 10, 5))
    cubes["other"], statistics["other"] = cubes["news"], statistics["news"]
    # Of either place the pairs cost 10 (five units, two statistics), 40 and 20, in this order, times nulls and replicates.
    rows = TypeOne().with_statistics(statistics).find(cubes, {"nulls": 100, "budget": 100.0 * 499 * 45}).rows
    made = {(row["test_set"], row["chosen"]) for row in rows if row["rate_05"] is not None}
    assert made == {("news", "fewest"), ("other", "fewest"), ("news", "median")}
    assert len({(row["test_set"], row["chosen"]) for row in rows if "budget" in (row["reason"] or "")}) == 3


def test_an_exact_law_that_takes_long_is_left_out_with_words() -> None:
    row = only(find(build(gaussian(40), ("exact-sign-flip",)), nulls=100), "exact-sign-flip")
    assert row["rate_05"] is None
    assert "take too long" in row["reason"]


def test_an_exact_law_of_few_units_on_a_wide_lattice_takes_long_and_that_of_their_swaps_does_not() -> None:
    """Two thousand laws of a tenth of a second each made a report of fourteen decimal scores take minutes."""
    found = find(build(gaussian(12, scale=1e6), ("exact-bootstrap", "exact-sign-flip")), nulls=100)
    law, swaps = only(found, "exact-bootstrap"), only(found, "exact-sign-flip")
    assert law["rate_05"] is None
    assert "take too long" in law["reason"]
    assert swaps["rate_05"] is not None


def test_a_test_without_a_p_says_why() -> None:
    row = only(find(build(gaussian(40), ("mcnemar",)), nulls=100), "mcnemar")
    assert (row["rate_05"], row["reason"]) == (None, "the scores of units are not of two values")


def test_the_interval_knows_of_a_law_that_all_nulls_share() -> None:
    alone, shared = interval(100, 2000, None, 0.95), interval(100, 2000, 2000, 0.95)
    widths = [high - low for low, high in (alone, shared)]
    assert widths[1] / widths[0] == pytest.approx(np.sqrt(2), rel=0.03)
