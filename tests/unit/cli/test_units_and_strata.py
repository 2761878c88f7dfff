"""A study with documents and domains, run as a user runs it: units, strata, what is told of both, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.studies import ledger, run_cli, write_study

from pipeline.api import open_run, run
from pipeline.errors import DataError, StudyError
from pipeline.inference.intervals.replicate_intervals import intervals
from pipeline.resampling.measures import COUNTS
from pipeline.resampling.strata import StratifiedDraws, draw_stratified_weights, stratified_key
from pipeline.study.load import load_study
from pipeline.survey.survey import survey_study

SYSTEMS = ("north", "south", "west")
PROCEDURES = ["paired-bootstrap", "approximate-randomization"]
DOCUMENTS, ITEMS = 24, 120
DOMAINS = {"news": 14, "speech": 9, "letter": 1}
BASE: dict[str, Any] = {"replicates": 20_000, "keep_replicates": 20_000, "procedures": PROCEDURES, "test_sizes": [12, "full"]}


def domain_of_document() -> list[str]:
    names = [name for name, count in DOMAINS.items() for _ in range(count)]
    return [names[k] for k in np.random.default_rng(3).permutation(DOCUMENTS)]


def write_data(folder: Path) -> None:
    """Write scores with an effect of each document on the difference, and of each domain; and a table of the items."""
    rng = np.random.default_rng(11)
    document = np.sort(np.arange(ITEMS) % DOCUMENTS)
    domains = domain_of_document()
    own = rng.normal(size=(DOCUMENTS, len(SYSTEMS)))[document]
    shift = np.array([4.0 * (domains[d] == "speech") for d in document])[:, None] * np.arange(len(SYSTEMS))
    scores = 50 + 3 * own + shift + rng.normal(size=(ITEMS, len(SYSTEMS)))
    folder.mkdir(parents=True, exist_ok=True)
    rows = ["item," + ",".join(SYSTEMS), *(f"i{i}," + ",".join(f"{x:.1f}" for x in row) for i, row in enumerate(scores))]
    (folder / "scores.csv").write_text("\n".join(rows) + "\n")
    table = ["item\tdoc\tdomain\tspeaker", *(f"i{i}\td{d}\t{domains[d]}\t{'ab'[i % 2]}" for i, d in enumerate(document))]
    (folder / "items.tsv").write_text("\n".join(table[:1] + table[:0:-1]) + "\n")  # in another order: they have names


def study(folder: Path, name: str = "study.yaml", **resampling: Any) -> Path:
    write_data(folder)
    test_set = {"format": "scores", "outputs": "scores.csv", "documents": "items.tsv", "columns": {"document": "doc"}}
    return write_study(
        folder / name, test_sets={"bench": test_set}, metrics=["mean"], analyses=["thresholds"], resampling={**BASE, **resampling}
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Items, documents and documents within domains, in one folder of runs."""
    folder = tmp_path_factory.mktemp("units")
    asked: dict[str, dict[str, Any]] = {
        "items": {"unit": "item"},
        "documents": {"unit": "document"},
        "strata": {"unit": "document", "strata": "domain"},
    }
    return {
        name: run(study(folder / name, **resampling), runs=folder / "runs", serial=True).root for name, resampling in asked.items()
    }


def cube_of(run_directory: Path) -> Any:
    return open_run(run_directory)["bench"]


def report_of(run_directory: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run_directory / "report" / "report.json").read_text())
    return found


def trust_of(run_directory: Path) -> dict[str, dict[str, str]]:
    return {row["check"]: row for row in report_of(run_directory)["trust"]}


def units_of(folder: Path, n: int) -> tuple[Any, Any, Any]:
    """Return numerators (unit, system) in tenths, numbers of items and strata of the first documents."""
    table = [line.split(",") for line in (folder / "scores.csv").read_text().splitlines()[1:]]
    scores = np.array([[round(10 * float(x)) for x in row[1:]] for row in table])
    document = np.sort(np.arange(ITEMS) % DOCUMENTS)
    names = domain_of_document()[:n]
    order = list(dict.fromkeys(names))  # numbered by first appearance, whatever they are called
    stratum = np.array([order.index(name) for name in names], np.int64)
    return np.stack([scores[document == d].sum(axis=0) for d in range(n)]), np.bincount(document)[:n], stratum


def totals(cube: Any, name: str, procedure: str, size: str = "full") -> list[int]:
    return cube[f"count_{name}"].sel(procedure=procedure, metric="mean", test_size=size).sum("cell").values.tolist()


def test_a_stratified_study_has_the_counts_of_the_definition(runs: dict[str, Path]) -> None:
    """Weights of documents drawn within domains, scored here: the counts of the first size and of the full one."""
    cube = cube_of(runs["strata"])
    folder = runs["strata"].parents[1] / "strata"
    for label, n in (("12", 12), ("full", DOCUMENTS)):
        numerators, sizes, stratum = units_of(folder, n)
        key = stratified_key(seed=7, purpose=PROCEDURES[0], test_set="bench", size=label, rule="prefix", stratum=stratum)
        weights = draw_stratified_weights(StratifiedDraws(key, stratum), 0, 20_000).astype(np.int64)
        for pair, (a, b) in enumerate(zip(cube["a"].values.tolist(), cube["b"].values.tolist(), strict=True)):
            whole = int(numerators[:, a].sum() - numerators[:, b].sum())
            sign = -1 if whole < 0 else 1
            gain, words = sign * (weights @ (numerators[:, a] - numerators[:, b])), weights @ sizes
            assert totals(cube, "below_zero", PROCEDURES[0], label)[pair] == np.sum(gain < 0)
            above = gain * int(sizes.sum()) > 2 * sign * whole * words
            assert totals(cube, "above_twice_delta", PROCEDURES[0], label)[pair] == np.sum(above)


@pytest.mark.slow
def test_strata_narrow_the_error_where_the_gain_differs_between_them(runs: dict[str, Path]) -> None:
    within, plain = (cube_of(runs[name])["se"].sel(test_size="full", metric="mean").values for name in ("strata", "documents"))
    assert np.all(within < 0.9 * plain)
    widths = [
        cube_of(runs[name])["interval"].sel(test_size="full", metric="mean", procedure=PROCEDURES[0]).diff("bound").values
        for name in ("strata", "documents")
    ]
    assert np.all(widths[0] < widths[1])


def test_bca_is_corrected_by_the_skewness_within_strata(runs: dict[str, Path]) -> None:
    """The interval of the cube, from its own scores and counts, and an acceleration computed here."""
    cube = cube_of(runs["strata"]).sel(metric="mean", test_size="full")
    numerators, sizes, stratum = units_of(runs["strata"].parents[1] / "strata", DOCUMENTS)
    without = (numerators.sum(axis=0) - numerators) / 10 / (sizes.sum() - sizes)[:, None]
    pairs = np.stack([cube["a"].values, cube["b"].values], axis=1)
    d = without[:, pairs[:, 0]] - without[:, pairs[:, 1]]
    u = np.stack([d[stratum == h].mean(axis=0) for h in range(3)])[stratum] - d
    given = {"delta": cube["observed_delta"].values, "identical": cube["identical"].values, "se": cube["se"].values}
    counts = np.stack([cube[f"count_{name}"].sel(procedure=PROCEDURES[0]).sum("cell").values for name in COUNTS], axis=1)
    expected = intervals(
        cube["score"].values,
        pairs,
        **given,
        methods=["bca"],
        acceleration=(u**3).sum(axis=0) / (6 * (u**2).sum(axis=0) ** 1.5),
        counts=counts,
        defined=np.full(len(pairs), BASE["replicates"]),
    )["bca"]
    found = cube["interval"].sel(procedure=PROCEDURES[0], interval_method="bca").values
    assert found == pytest.approx(np.stack([expected.lo, expected.hi], axis=1), rel=1e-9)


def test_swaps_know_no_strata_and_are_counted_once_for_both(runs: dict[str, Path]) -> None:
    one, other = cube_of(runs["documents"]), cube_of(runs["strata"])
    for name in ("below_zero", "at_twice_delta", "above_twice_delta"):
        assert totals(one, name, PROCEDURES[1]) == totals(other, name, PROCEDURES[1])
    assert totals(one, "below_zero", PROCEDURES[0]) != totals(other, "below_zero", PROCEDURES[0])


def test_a_study_that_adds_strata_counts_the_bootstrap_anew_and_nothing_else(tmp_path: Path) -> None:
    plain = study(tmp_path, unit="document")
    first = run(plain, runs=tmp_path / "runs", serial=True)
    again = run(study(tmp_path, "more.yaml", unit="document", strata="domain"), runs=tmp_path / "runs", serial=True)
    assert first.root != again.root
    done = [entry["receipt"] for entry in ledger(again.root) if entry["event"] == "done"]
    labels = [receipt["label"] for receipt in done if receipt["kind"] in ("extract", "resample")]
    assert labels
    assert all("paired-bootstrap" in label for label in labels)


@pytest.mark.parametrize("options", [("--workers", "2", "--block-cells", "1"), ("--serial", "--block-cells", "50")])
@pytest.mark.slow
def test_workers_and_blocks_change_no_bit(runs: dict[str, Path], tmp_path: Path, options: tuple[str, ...]) -> None:
    path = study(tmp_path, unit="document", strata="domain")
    done = run_cli("run", path, "--runs", tmp_path / "runs", "--quiet", *options, own_process="--workers" in options)
    assert done.returncode == 0, done.stderr
    found, expected = cube_of(Path(done.stdout.strip())), cube_of(runs["strata"])
    for name in expected.data_vars:
        assert found[name].values.tobytes() == expected[name].values.tobytes(), name


def test_design_effects_stand_where_items_are_known_to_stand_together(runs: dict[str, Path]) -> None:
    items, documents = (cube_of(runs[name]) for name in ("items", "documents"))
    for name in ("design_effect", "intra_cluster_correlation"):
        one, other = (cube[name].sel(metric="mean", test_size="full").values for cube in (items, documents))
        assert np.array_equal(one, other)  # the same items in the same documents, whatever is drawn
    effect = documents["design_effect"].sel(metric="mean", test_size="full").values
    ratio = (
        documents["se"].sel(metric="mean", test_size="full").values / items["se"].sel(metric="mean", test_size="full").values
    ) ** 2
    assert effect == pytest.approx(ratio, rel=0.05)  # what drawing documents does to the variance
    assert np.all(effect > 2)
    assert documents.attrs["clusters"] == {"column": "document", "count": DOCUMENTS, "effective": DOCUMENTS}


def test_the_report_tells_what_drawing_documents_would_do(runs: dict[str, Path]) -> None:
    told = trust_of(runs["items"])["Items in documents"]
    assert told["status"] == "check"
    assert "24 documents" in told["detail"]
    assert "set `resampling.unit: document`" in told["detail"]
    assert "Few effective units: there are 24" in told["detail"]
    rows = report_of(runs["items"])["pairs"]
    effects = [row["design_effect"] for row in rows if row["procedure"] == PROCEDURES[0]]
    assert f"by {np.median(effects):.2f} (median of 3 pairs), at most by {max(effects):.2f}" in told["detail"]
    assert all(0 < row["intra_cluster_correlation"] < 1 for row in rows)
    there = trust_of(runs["documents"])
    assert "Items in documents" not in there
    assert there["Design effect"]["status"] == "ok"


def test_the_report_tells_of_strata(runs: dict[str, Path]) -> None:
    document = report_of(runs["strata"])
    told = trust_of(runs["strata"])["Strata"]
    assert told["status"] == "check"  # one document is alone in its domain
    assert "documents are drawn within 3 strata of domain (1 to 14 each); 1 alone in theirs never vary" in told["detail"]
    assert document["test_sets"][0]["strata"] == {"column": "domain", "count": 3, "smallest": 1, "largest": 14, "alone": 1}
    assert "|unit:document|strata:domain|" in document["signature"][0]["line"]
    assert document["test_sets"][0]["expected_rejection"] == pytest.approx(0.0810, abs=1e-4)  # 2 P(t > 1.96 √(21/24)), 21 degrees
    assert any("1 of 24 units are alone in their stratum of domain" in warning for warning in document["warnings"])
    plain = report_of(runs["documents"])
    assert plain["test_sets"][0]["strata"] is None
    assert "strata" not in plain["signature"][0]["line"]


# --- what is refused


def survey(folder: Path, **resampling: Any) -> Any:
    loaded = load_study(study(folder, **resampling))
    return survey_study(loaded.study, loaded.base)


def problem_of(folder: Path, **resampling: Any) -> Any:
    with pytest.raises(DataError) as caught:
        survey(folder, **resampling)
    return caught.value.problems[0]


def test_any_column_of_the_items_is_a_unit(tmp_path: Path) -> None:
    (test_set,) = survey(tmp_path, unit="speaker").inputs.test_sets
    assert (test_set.n_units, test_set.strata, test_set.documents) == (2, "", "")
    (test_set,) = survey(tmp_path, unit="item", strata="doc").inputs.test_sets
    assert test_set.n_units == ITEMS
    assert test_set.strata
    assert test_set.documents == test_set.strata  # the same grouping: the address is its content


def test_an_unknown_column_is_refused_with_those_there_are(tmp_path: Path) -> None:
    problem = problem_of(tmp_path, strata="domian")
    assert problem.code == "P223"
    assert "'item', 'doc', 'domain', 'speaker'" in problem.message
    assert problem.help == "did you mean 'domain'?"


def test_a_unit_in_two_strata_is_refused_by_name(tmp_path: Path) -> None:
    problem = problem_of(tmp_path, unit="document", strata="speaker")
    assert problem.code == "P224"
    assert "the document 'd0' lies in two strata: its speaker is 'a' and 'b'" in problem.message


def test_strata_of_single_units_are_refused_also_at_a_smaller_size(tmp_path: Path) -> None:
    assert problem_of(tmp_path, unit="item", strata="item_id", test_sizes=["full"]).code == "P223"
    path = tmp_path / "one"
    write_data(path)
    text = (path / "items.tsv").read_text().splitlines()
    lines = [text[0] + "\tlone", *(f"{line}\tx{k // 2}" for k, line in enumerate(reversed(text[1:])))]
    (path / "items.tsv").write_text("\n".join(lines) + "\n")
    loaded = load_study(_written(path, unit="item", strata="lone", test_sizes=["full"]))
    assert survey_study(loaded.study, loaded.base).inputs.test_sets[0].strata
    alone = [text[0] + "\tlone", *(f"{line}\t{min(k, 12)}" for k, line in enumerate(reversed(text[1:])))]
    (path / "items.tsv").write_text("\n".join(alone) + "\n")
    loaded = load_study(_written(path, unit="item", strata="lone"))
    with pytest.raises(DataError) as caught:
        survey_study(loaded.study, loaded.base)
    assert caught.value.problems[0].code == "P229"


def _written(folder: Path, **resampling: Any) -> Path:
    test_set = {"format": "scores", "outputs": "scores.csv", "documents": "items.tsv", "columns": {"document": "doc"}}
    return write_study(folder / "study.yaml", test_sets={"bench": test_set}, metrics=["mean"], resampling={**BASE, **resampling})


@pytest.mark.parametrize(
    ("resampling", "words"),
    [
        ({"strata": "document", "unit": "document"}, "every stratum would be one document"),
        ({"strata": "item"}, "makes no strata"),
        ({"unit": "system"}, "groups no items"),
        ({"strata": "domain", "procedures": ["paired-bootstrap", "exact-bootstrap"]}, "exact-bootstrap does not know strata"),
        (
            {"strata": "domain", "procedures": ["paired-t"]},
            "there are paired-bootstrap, approximate-randomization, exact-sign-flip",
        ),
    ],
)
def test_what_does_not_go_together_is_refused_before_a_file_is_read(tmp_path: Path, resampling: dict[str, Any], words: str) -> None:
    with pytest.raises(StudyError, match=words):
        load_study(study(tmp_path, **resampling))


def test_columns_come_from_tables_of_outputs_too(tmp_path: Path) -> None:
    """Long, with a column of text and one of numbers that is not a score any more."""
    rows = [f"{i},{s},{'ab'[i % 2]},{i // 4},{(i * 7 + len(s)) % 11}" for i in range(12) for s in ("one", "three")]
    (tmp_path / "long.csv").write_text("\n".join(["item,system,genre,year,score", *rows]) + "\n")

    def found(**resampling: Any) -> Any:
        test_sets = {"t": {"format": "scores", "outputs": "long.csv"}}
        asked = {"replicates": 500, **resampling}
        path = write_study(tmp_path / "s.yaml", test_sets=test_sets, metrics=["mean"], analyses=[], resampling=asked)
        return open_run(run(path, runs=tmp_path / "runs", serial=True).root)["t"]

    years, genres = found(unit="year"), found(strata="genre")
    assert (years.sizes["pair"], years.attrs["clusters"]["count"], int(years["n_units"].sel(test_size="full"))) == (1, 3, 3)
    assert genres.attrs["strata"] == {"column": "genre", "count": 2, "smallest": 6, "largest": 6, "alone": 0}
    assert years["observed_delta"].values.tolist() == genres["observed_delta"].values.tolist()
    with pytest.raises(DataError, match="the year '0' lies in two strata: its genre is 'a' and 'b'"):
        found(unit="year", strata="genre")
    with pytest.raises(DataError, match="there are: 'item', 'system', 'genre', 'year', 'score'"):
        found(strata="topic")
