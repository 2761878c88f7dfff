"""A study that leaves open what is drawn, run as a user runs it: documents where they are known, and what says so."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats
from support.studies import write_study

from pipeline import api
from pipeline.cli import cli
from pipeline.errors import StudyError
from pipeline.plan.inputs import Inputs
from pipeline.report.document import read_report
from pipeline.report.layout.summary import summarise
from pipeline.report.layout.terminal import Screen
from pipeline.study.load import load_study
from pipeline.survey.survey import survey_study

ITEMS, DOCUMENTS = 500, 50


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two systems whose difference is one of documents: of one mean, with a gain that items alone would call significant."""
    path = tmp_path_factory.mktemp("documents")
    rng = np.random.default_rng(5)
    document = np.repeat(np.arange(DOCUMENTS), ITEMS // DOCUMENTS)
    effect = rng.normal(size=DOCUMENTS)
    effect += 0.15 - effect.mean()
    gain = effect[document] + rng.normal(size=ITEMS)
    old = 50 + 5 * rng.normal(size=ITEMS)
    rows = [f"i{k},{a:.2f},{a + g:.2f}" for k, (a, g) in enumerate(zip(old, gain, strict=True))]
    (path / "scores.csv").write_text("\n".join(["item,old,new", *rows]) + "\n")
    (path / "docs.txt").write_text("".join(f"d{d}\n" for d in document))
    return path


def study(folder: Path, name: str = "study.yaml", test_sets: Any = None, **resampling: Any) -> Path:
    asked = {"replicates": 2000, "keep_replicates": 2000, **resampling}
    known = {"news": {"format": "scores", "outputs": "scores.csv", "documents": "docs.txt"}}
    given = {"test_sets": test_sets or known, "report": {"formats": ["json"], "null_laboratory": False}}
    return write_study(folder / name, **given, metrics=["mean"], analyses=[], resampling=asked)


def report_of(path: Path, runs: Path) -> dict[str, Any]:
    root = api.run(path, runs=runs, serial=True).root
    found: dict[str, Any] = json.loads((root / "report" / "report.json").read_text())
    return found


def trust_of(document: dict[str, Any]) -> dict[str, dict[str, str]]:
    return {row["check"]: row for row in document["trust"]}


def test_no_verdict_rests_on_items_where_documents_are_known(folder: Path, tmp_path: Path) -> None:
    """A test of items rejects about 40 % of true nulls here: it calls the difference real, and documents do not."""
    document = report_of(study(folder), tmp_path)
    (row,) = document["pairs"]
    assert (document["unit"], row["units"], row["verdict"]) == ("document", DOCUMENTS, "not separated")
    assert "|unit:document|n:500/50|" in document["signature"][0]["line"]
    assert document["test_sets"][0]["unit_reason"] == "documents are known"
    assert "500 items in 50 documents" in summarise(read_report(document))
    assert trust_of(document)["Design effect"]["status"] == "ok"
    items = report_of(study(folder, unit="item"), tmp_path)
    assert (items["unit"], items["pairs"][0]["units"], items["pairs"][0]["verdict"]) == ("item", ITEMS, "better")
    assert trust_of(items)["Items in documents"]["status"] == "check"
    # The verdict on items carries what documents would do: in its sentence, in its row, on the terminal.
    carried = items["verdict"][0]["sentences"][1]
    assert carried.startswith("This verdict is on items, which stand in 50 documents: drawing these multiplies the variance by ")
    assert carried.endswith("; by documents the difference is not separated.")
    assert "design effect" in items["pairs"][0]["note"]
    text = summarise(read_report(items), screen=Screen(80))
    assert "better §\n" in text
    assert "\ncheck: Items in documents. " in text
    # Of documents, how large a gain they could have shown, and how many a gain as large needs.
    first, effect, *_ = document["verdict"][0]["sentences"]
    assert "not separated at this n = 50 documents (500 items) (" in first
    assert re.search(r"\(minimum detectable effect\) is 0\.\d+; a true gain of 0\.\d+ needs about \d+ documents\.$", effect)


def test_a_test_set_without_documents_stands_beside_one_that_has_them(folder: Path, tmp_path: Path) -> None:
    known = {"format": "scores", "outputs": "scores.csv", "documents": "docs.txt"}
    document = report_of(study(folder, test_sets={"news": known, "talks": {"format": "scores", "outputs": "scores.csv"}}), tmp_path)
    assert [(t["name"], t["unit"], t["units"]) for t in document["test_sets"]] == [("news", "document", 50), ("talks", "item", 500)]
    assert (document["unit"], "document, item" in document["reasons"]["unit"]) == (None, True)
    assert [("|unit:document|" in s["line"], "|unit:item|" in s["line"]) for s in document["signature"]] == [
        (True, False),
        (False, True),
    ]
    told = trust_of(document)["Independence of items"]
    assert told["status"] == "not checked"
    assert told["detail"].startswith("talks: no documents are known. ")


@pytest.mark.parametrize("sizes", [[100, "full"], [10, "full"]])
def test_sizes_in_numbers_want_a_unit_where_documents_are_known(folder: Path, sizes: list[Any]) -> None:
    loaded = load_study(study(folder, "sizes.yaml", test_sizes=sizes))
    with pytest.raises(StudyError) as caught:
        survey_study(loaded.study, loaded.base)
    (problem,) = caught.value.problems
    assert (problem.code, problem.where) == ("P291", "resampling.test_sizes")
    assert "news has 500 items in 50 documents" in problem.message
    loaded = load_study(study(folder, "sizes.yaml", test_sizes=[ITEMS, "full"]))  # too large in items too: it is left out
    assert survey_study(loaded.study, loaded.base).inputs.test_sets[0].unit == "document"
    for unit in ("item", "document"):
        loaded = load_study(study(folder, "sizes.yaml", test_sizes=sizes, unit=unit))
        assert survey_study(loaded.study, loaded.base).inputs.test_sets[0].unit == unit
    loaded = load_study(
        study(folder, "sizes.yaml", test_sizes=sizes, test_sets={"t": {"format": "scores", "outputs": "scores.csv"}})
    )
    assert survey_study(loaded.study, loaded.base).inputs.test_sets[0].unit == "item"


def test_check_names_the_units(folder: Path) -> None:
    done = CliRunner().invoke(cli, ["check", str(study(folder, "checked.yaml"))], catch_exceptions=False)
    assert done.stdout.startswith("news: 500 items in 50 documents, 2 systems\n")
    told = json.loads(CliRunner().invoke(cli, ["check", str(folder / "checked.yaml"), "--json"]).stdout)
    assert [(t["units"], t["unit"]) for t in told["test_sets"]] == [(50, "document")]


def test_a_plan_of_an_earlier_version_keeps_the_unit_of_its_study(folder: Path) -> None:
    loaded = load_study(study(folder, "earlier.yaml", unit="document"))
    value = survey_study(loaded.study, loaded.base).inputs.to_json()
    for entry in value["test_sets"]:
        del entry["unit"], entry["unit_reason"]
    assert Inputs.from_json(value, unit="document").test_sets[0].unit == "document"
    assert Inputs.from_json(value, unit="item").test_sets[0].unit == "item"


def test_compare_draws_the_documents_that_files_mark_and_items_where_it_is_told_to(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("gold", "north", "south"):
        lines = []
        for k in range(24):
            tag = "Y" if k % {"gold": 99, "north": 5, "south": 3}[name] == 1 else "X"
            lines += ["# doc d" + str(k // 6)] * (name == "gold" and k % 6 == 0) + [f"word{k}/{tag}"]
        (tmp_path / f"{name}.tagged").write_text("\n".join(lines) + "\n")
    given: dict[str, Any] = {"format": "tagged", "metrics": ["tag-accuracy"], "replicates": 1000}
    drawn = api.compare(["north.tagged", "south.tagged"], ["gold.tagged"], **given)
    assert (drawn["unit"], drawn["pairs"][0]["units"]) == ("document", 4)
    assert summarise(read_report(drawn)).startswith("test set · tag accuracy · paired-bootstrap · 24 sentences in 4 documents\n")
    items = api.compare(["north.tagged", "south.tagged"], ["gold.tagged"], **given, unit="item")
    assert (items["unit"], items["pairs"][0]["units"]) == ("item", 24)
    assert "Items in documents" in trust_of(items)
    preset = api.compare(["north.tagged", "south.tagged"], ["gold.tagged"], **given, preset="berg-kirkpatrick-2012")
    assert preset["unit"] == "item"  # the paper draws sentences


def test_a_broken_unit_and_discordant_ones_are_found_in_the_files(tmp_path: Path) -> None:
    """Of a score that is better when lower too: the gain without the unit is that of the better system."""
    rng = np.random.default_rng(2)
    old = rng.normal(50, 5, 60)
    new = old + rng.normal(0, 1, 60)
    new[41] += 90
    (tmp_path / "scores.csv").write_text(
        "\n".join(["item,old,new", *(f"i{k},{a:.2f},{b:.2f}" for k, (a, b) in enumerate(zip(old, new, strict=True)))])
    )
    gain = np.round(new, 2) - np.round(old, 2)  # of new where more is better, of old where less is
    for falling, better in ((False, "new"), (True, "old")):
        metric = {"name": "mean", **({"higher_is_better": False} if falling else {})}
        document = api.compare([str(tmp_path / "scores.csv")], metrics=[metric], replicates=500)
        (row,) = document["pairs"]
        assert (row["system_a"], row["leverage"]["unit"]) == (better, 41)
        assert row["leverage"]["delta_without"] == pytest.approx(np.delete(gain, 41).mean(), abs=1e-9)
        assert row["leverage"]["share"] == pytest.approx(
            (gain[41] - gain.mean()) ** 2 / ((gain - gain.mean()) ** 2).sum(), rel=1e-9
        )
        assert row["minimum_detectable_effect"]["law"] == "Student"
        assert trust_of(document)["Leverage"]["status"] == "check"
    right = rng.random((200, 2)) < (0.6, 0.7)
    (tmp_path / "right.csv").write_text(
        "\n".join(["item,old,new", *(f"i{k},{a:d},{b:d}" for k, (a, b) in enumerate(right.tolist()))])
    )
    (row,) = api.compare([str(tmp_path / "right.csv")], replicates=500)["pairs"]
    effect, m = row["minimum_detectable_effect"], int(np.sum(right[:, 0] != right[:, 1]))
    k = int(np.ceil((m + effect["critical"] * np.sqrt(m * 200 / (199 + effect["critical"] ** 2))) / 2))  # the fewest wins beyond
    assert (effect["law"], row["discordant"]) == ("binomial", m)
    assert stats.binom.sf(k - 1, m, (effect["gain"] * 200 / m + 1) / 2) == pytest.approx(0.8, abs=1e-9)
