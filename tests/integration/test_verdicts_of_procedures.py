"""What a report says where a procedure has no p, where units have no spread, and where a test is not about the gain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.studies import run_cli, write_text_outputs

from pipeline import api
from pipeline.errors import StudyError
from pipeline.procedures.registry import PROCEDURES

B = 2000


def compare(folder: Path, columns: dict[str, Any], *procedures: str) -> dict[str, Any]:
    """Compare systems by their scores of items."""
    values = {name: np.asarray(own, float) for name, own in columns.items()}
    items = len(next(iter(values.values())))
    rows = [",".join(["item", *values]), *(f"i{i}," + ",".join(f"{own[i]:.2f}" for own in values.values()) for i in range(items))]
    path = folder / "scores.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return api.compare({"*": str(path)}, format="scores", procedures=procedures, replicates=B)


def constant(units: int = 30) -> np.ndarray:
    return np.rint(100 * np.random.default_rng(1).normal(50, 5, units)) / 100


@pytest.mark.parametrize("procedure", ["paired-bootstrap", "exact-bootstrap", "paired-t"])
@pytest.mark.parametrize("systems", [2, 3])
def test_a_pair_that_gains_the_same_on_every_unit_is_not_testable_by_resampling(
    tmp_path: Path, procedure: str, systems: int
) -> None:
    base = constant()
    columns = {"a": base + 0.5, "b": base, "c": base + np.random.default_rng(2).normal(-20, 1, 30).round(2)}
    document = compare(tmp_path, dict(list(columns.items())[:systems]), procedure)
    (row,) = [row for row in document["pairs"] if {row["system_a"], row["system_b"]} == {"a", "b"}]
    assert (row["verdict"], row["separated"]) == ("not testable", False)
    assert row["p_reason"] == "all units differ by the same"
    assert row["p_exact"] == 2.0**-29
    assert row["adjustment"]["others"]["holm"] in (1.0, None)
    assert row["adjustment"]["others"]["max_t"] in (1.0, None)
    told = " ".join(document["verdict"][0]["sentences"])
    if systems == 2:
        assert f"all units differ by the same: there is no spread to resample, and {procedure} cannot test the difference" in told
        assert "the exact sign-flip test has p = 1.9e-09" in told
    else:
        assert "1 is not testable by resampling: all units differ by the same; their exact sign-flip p stands beside" in told
        assert [r["verdict"] for r in document["pairs"] if r is not row] == ["better", "better"]


@pytest.mark.parametrize("procedure", ["approximate-randomization", "exact-sign-flip", "sign", "wilcoxon"])
def test_swaps_and_signs_do_test_such_a_pair(tmp_path: Path, procedure: str) -> None:
    document = compare(tmp_path, {"a": constant() + 0.5, "b": constant()}, procedure)
    (row,) = document["pairs"]
    assert (row["verdict"], row["p_reason"]) == ("better", None)


def test_a_test_that_rejects_for_the_system_behind_says_so(tmp_path: Path) -> None:
    # b wins 34 units by a little, a wins six by much.
    base = constant(40)
    behind = base + np.where(np.arange(40) < 6, -30.0, 1.0)
    document = compare(tmp_path, {"a": base, "b": behind}, "sign")
    (row,) = document["pairs"]
    assert (row["system_a"], row["verdict"]) == ("a", "not separated")
    (told,) = document["verdict"][0]["sentences"][:1]
    assert "and yet the test, whose null is not about the gain, rejects in favour of b" in told
    assert "not separated" not in told
    three = compare(tmp_path, {"a": base, "b": behind, "c": base - 50}, "sign")
    told = " ".join(three["verdict"][0]["sentences"])
    assert (
        "Of one pair the test, whose null is not about the gain, rejects in favour of the system that is behind: no verdict."
        in told
    )


@pytest.mark.parametrize("systems", [2, 3])
def test_why_a_procedure_that_draws_nothing_has_no_p_is_told(tmp_path: Path, systems: int) -> None:
    # McNemar is of two values: these scores have many.
    columns = {name: constant() + shift for name, shift in zip("abc"[:systems], (0.0, 1.5, -2.5), strict=False)}
    columns["a"] = columns["a"][::-1]
    told = compare(tmp_path, columns, "mcnemar")["verdict"][0]["sentences"]
    assert any("the scores of units are not of two values" in sentence for sentence in told)
    assert not any("no replicate" in sentence for sentence in told)


@pytest.mark.parametrize("procedure", ["sign", "wilcoxon"])
def test_equal_scores_have_the_p_of_a_test_that_is_not_about_them_and_no_verdict(tmp_path: Path, procedure: str) -> None:
    base = constant(40)
    other = base + np.where(np.arange(40) < 2, -19.0, 1.0)  # 38 wins of 1 against two losses of 19
    document = compare(tmp_path, {"a": base, "b": other}, procedure)
    (row,) = document["pairs"]
    assert row["delta"] == 0
    assert (row["separated"], row["verdict"]) == (False, "not separated")
    assert row["p"] < 0.01
    assert row["p_raw"]["one_sided"] is None
    assert row["method"] != "definition"
    assert (
        f"neither is ahead, and the p of {procedure} is not about the score (two-sided p = "
        in document["verdict"][0]["sentences"][0]
    )
    assert "two-sided p is the test's own" in row["note"]


def test_compare_refuses_a_procedure_that_cannot_test_the_metric(tmp_path: Path) -> None:
    outputs = write_text_outputs(tmp_path, ["one", "two"])
    with pytest.raises(StudyError) as refused:
        api.compare(outputs, [str(tmp_path / "ref.txt")], procedures=["wilcoxon", "paired-bootstrap"], replicates=B)
    (problem,) = refused.value.problems
    assert problem.code == "P117"
    assert problem.message == "wilcoxon cannot test bleu: the score is not a ratio of sums over units"
    assert problem.help == f"there are {', '.join(name for name, known in PROCEDURES.items() if not known.needs_ratio)}"
    assert "paired-bootstrap" in problem.help
    done = run_cli("compare", *outputs.values(), "-r", tmp_path / "ref.txt", "--procedure", "sign", cwd=tmp_path)
    assert done.returncode == 2
    assert "P117" in done.stderr


def test_what_compare_refuses_has_no_p_for_such_a_metric(tmp_path: Path) -> None:
    from pipeline.metrics.registry import load_metric

    general = load_metric("bleu", {})
    assert general.form == "general"
    from pipeline.procedures.direct import direct_tests
    from pipeline.resampling.measures import Measure
    from pipeline.resampling.observe import observe

    refused = {name for name, procedure in PROCEDURES.items() if procedure.needs_ratio}
    statistics = np.random.default_rng(3).integers(1, 9, (12, 2, 2))
    measure = Measure(statistics, lambda sums: sums[0] * sums[1], "general", True, np.array([[0, 1]]), np.zeros(2, bool))
    found = direct_tests([name for name, known in PROCEDURES.items() if not known.draws], measure, observe(measure))
    assert {name for name, p in found.items() if np.isnan(p.two_sided).all()} == refused


def test_copies_and_pairs_that_cannot_be_rejected_are_no_tests_of_the_experiment_wise_error(tmp_path: Path) -> None:
    base = constant()
    noise = [np.random.default_rng(seed).normal(0, 1, 30).round(2) for seed in (1, 2)]
    columns = {"a": base, "copy": base, "b": base + noise[0], "c": base + noise[1], "d": base + 0.5}
    document = compare(tmp_path, columns, "paired-bootstrap")
    (family,) = document["experiment_wise"]
    # a, b, c and d, without a and d, which differ by the same on every unit.
    assert (family["tests"], family["systems"]) == (5, 4)
    assert family["independent"] == pytest.approx(1 - 0.95**5)
