"""A preset's own number is the one that its tool prints, or that its paper's formula gives; no verdict moves with it."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest
from support.studies import PAGES, run_cli, write_scores, write_study

import pipeline
from pipeline.errors import StudyError
from pipeline.inference.convention_levels import null_p
from pipeline.presets import sacrebleu_paired as tool
from pipeline.presets.registry import PRESETS
from pipeline.report.document import read_report
from pipeline.report.layout.summary import summarise

TOOL_METRICS = {"bleu": BLEU, "chrf": CHRF, "ter": TER}
SYSTEMS = ("base", "sys1", "sys2", "copy")


@pytest.fixture(autouse=True)
def _own_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SACREBLEU_SEED", raising=False)


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three references, a baseline, two systems, and a copy of the baseline."""
    folder, rng = tmp_path_factory.mktemp("texts"), np.random.default_rng(3)
    words = np.array(["the", "a", "red", "old", "house", "tree", "sees", "finds", "near", "two", "small", "river"])
    lines = [rng.choice(words, rng.integers(4, 15)) for _ in range(50)]

    def noisy(share: float) -> list[str]:
        return [" ".join(np.where(rng.random(len(line)) < share, rng.choice(words, len(line)), line)) for line in lines]

    base = noisy(0.27)
    made = {"ref": [" ".join(line) for line in lines], "base": base}
    made |= {f"ref{cut}": [" ".join(line[cut:]) for line in lines] for cut in (1, 2)}  # of other lengths
    made |= {"sys1": noisy(0.24), "sys2": noisy(0.20), "copy": base}
    for name, text in made.items():
        (folder / f"{name}.txt").write_text("\n".join(text) + "\n", encoding="utf-8")
    return folder


def tools_p(folder: Path, metric: str, references: tuple[str, ...], kind: str, replicates: int) -> dict[str, float]:
    """What sacreBLEU has for each system but the baseline."""
    read = {name: (folder / f"{name}.txt").read_text(encoding="utf-8").splitlines() for name in (*SYSTEMS, *references)}
    given = [(name, read[name]) for name in SYSTEMS]
    test = PairedTest(given, {"m": TOOL_METRICS[metric]()}, [read[name] for name in references], kind, replicates)
    scores = next(value for name, value in test()[1].items() if name != "System")
    return dict(zip(SYSTEMS[1:], (result.p_value for result in scores[1:]), strict=True))


def own_p(
    document: dict[str, Any], preset: str, metric: str, **where: str
) -> dict[frozenset[str], tuple[float | None, str | None]]:
    rows = [row for row in document["pairs"] if row["metric"] == metric and where.items() <= row.items()]
    return {frozenset((row["system_a"], row["system_b"])): (row["tool_p"][preset], row["tool_p"]["reason"]) for row in rows}


def files(folder: Path) -> list[str]:
    return [str(folder / f"{name}.txt") for name in SYSTEMS]


@pytest.mark.parametrize(("kind", "replicates"), [("bs", 1000), pytest.param("ar", 10_000, marks=pytest.mark.slow)])
def test_compare_gives_the_p_that_sacrebleu_prints(texts: Path, kind: str, replicates: int) -> None:
    names = [f"{name}.txt" for name in SYSTEMS]
    asked = ["-r", "ref.txt", "-m", "bleu", "-m", "chrf", "--preset", f"sacrebleu-{kind}", "--json", "-q"]
    printed = run_cli("compare", *names, *asked, cwd=texts)
    assert printed.returncode == 0, printed.stderr
    document = json.loads(printed.stdout)
    assert document["preset"]["deviations"] == []
    assert document["preset"]["baselines"] == {"test set": "base"}
    assert (document["seed"], document["pairs"][0]["replicates"]) == (12345, replicates)
    found = {metric: own_p(document, f"sacrebleu-{kind}", metric) for metric in ("bleu", "chrf")}
    for metric, own in found.items():
        known = tools_p(texts, metric, ("ref",), kind, replicates)
        assert {system: own[frozenset(("base", system))][0] for system in SYSTEMS[1:]} == known
        assert own[frozenset(("base", "copy"))] == (1 / (replicates + 1), None)
        assert 1 / (replicates + 1) < known["sys1"] < 1  # a count, not only its limits
        assert own[frozenset(("sys1", "sys2"))] == (None, "the tool compares with the baseline only")
    (copied,) = (r for r in document["pairs"] if {r["system_a"], r["system_b"]} == {"base", "copy"} and r["metric"] == "bleu")
    assert (copied["p"], copied["p"], copied["verdict"]) == (1.0, 1.0, "identical")
    if kind == "ar":
        return  # the command line prints what the class has: once is enough
    command = [sys.executable, "-m", "sacrebleu", "ref.txt", "-i", *names, "-m", "bleu", "chrf", f"--paired-{kind}", "-f", "text"]
    environment = {name: value for name, value in os.environ.items() if name != "SACREBLEU_SEED"}
    table = subprocess.run(command, cwd=texts, env=environment, capture_output=True, text=True, check=True).stdout
    shown = [float(p) for p in re.findall(r"\(p = ([0-9.]+)\)", table)]
    assert shown == [round(found[m][frozenset(("base", s))][0] or 0.0, 4) for s in SYSTEMS[1:] for m in ("bleu", "chrf")]


@pytest.mark.parametrize("kind", ["bs", "ar"])
def test_edits_over_three_references_are_the_tools(texts: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool, "SYSTEMS", 2)  # in two goes
    seen: list[np.ndarray] = []
    test = {"bs": "paired_bootstrap", "ar": "paired_randomization"}[kind]
    own_test = getattr(tool, test)
    monkeypatch.setattr(tool, test, lambda values, **asked: seen.append(values) or own_test(values, **asked))
    names = ("ref", "ref1", "ref2")  # lengths are thirds: sums depend on the order of additions, as the tool's do
    references = [str(texts / f"{name}.txt") for name in names]
    document = pipeline.compare(files(texts), references, metrics=["ter"], preset=f"sacrebleu-{kind}", replicates=300)
    own = own_p(document, f"sacrebleu-{kind}", "ter")
    known = tools_p(texts, "ter", names, kind, 300)
    assert {system: own[frozenset(("base", system))][0] for system in SYSTEMS[1:]} == known
    assert len(set(known.values())) == 3
    metric = TER(references=[(texts / f"{name}.txt").read_text(encoding="utf-8").splitlines() for name in names])
    for position, system in enumerate(("base", "sys1", "sys2")):
        text = (texts / f"{system}.txt").read_text(encoding="utf-8").splitlines()
        assert seen[0][:, position].tolist() == metric._extract_corpus_statistics(text, None)


def test_a_study_names_the_baseline_of_the_tool_and_keeps_its_family(texts: Path, tmp_path: Path) -> None:
    cube, document = run_study(tmp_path, texts, "sacrebleu-bs", replicates=300, keep_replicates=300, baseline="sys2", report=PAGES)
    own = own_p(document, "sacrebleu-bs", "bleu")
    others = [name for name in SYSTEMS if name != "sys2"]
    assert all(own[frozenset(("sys2", name))][0] is not None for name in others)
    assert own[frozenset(("base", "sys1"))] == (None, "the tool compares with the baseline only")
    # All pairs are tested, as without a baseline.
    assert document["family"] == {"name": "all-pairs", "baseline": None}
    assert all(row["in_family"] for row in document["pairs"])
    assert cube.attrs["preset"]["baseline"] == "sys2"
    assert cube.attrs["baseline"] == ""
    assert document["preset"]["baselines"] == {"news": "sys2"}
    assert "sacrebleu-bs compares with sys2." in summarise(read_report(document))
    (markdown,) = tmp_path.glob("runs/*/report/report.md")
    assert "sacrebleu-bs compares with sys2." in markdown.read_text("utf-8")


def test_a_baseline_that_nothing_compares_with_is_refused(texts: Path, tmp_path: Path) -> None:
    for preset in (None, "koehn-2004", "sacrebleu-ar"):
        with pytest.raises(StudyError) as refused:
            run_study(tmp_path, texts, preset, replicates=300, baseline="sys2" if preset != "sacrebleu-ar" else "nobody")
        assert refused.value.problems[0].code == ("P115" if preset == "sacrebleu-ar" else "P110")


def run_study(
    folder: Path, texts: Path, preset: str | None, *, seed: int = 7, report: dict[str, bool] | None = None, **resampling: Any
) -> tuple[Any, dict[str, Any]]:
    """Run a study of the texts; give its cube and its report."""
    outputs = {name: str(texts / f"{name}.txt") for name in SYSTEMS}
    test_sets = {"news": {"format": "text", "references": [str(texts / "ref.txt")], "outputs": outputs}}
    given = {name: value for name, value in (("preset", preset), ("report", report)) if value is not None}
    study = write_study(
        folder / "study.yaml", test_sets=test_sets, seed=seed, resampling=resampling, analyses=["thresholds"], **given
    )
    run = pipeline.run(study, runs=folder / "runs", serial=True)
    return pipeline.open_run(run.root)["news"], json.loads((run.root / "report" / "report.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("preset", "hits"), [("koehn-2004", "below_zero"), ("berg-kirkpatrick-2012", "above_twice_delta")])
def test_one_sided_numbers_are_shares_of_the_counts(texts: Path, tmp_path: Path, preset: str, hits: str) -> None:
    cube, document = run_study(tmp_path, texts, preset, replicates=20_000)
    where = {"procedure": "paired-bootstrap", "metric": "bleu"}
    share = cube[f"count_{hits}"].sel(test_size="full", **where).sum("cell") / 20_000
    own = cube["tool_p"].sel(preset=preset, **where)
    assert own.values.tolist() == share.values.tolist()
    assert 0 < own.values.max() < 0.5
    copied = ((cube["system_a"] == "base") & (cube["system_b"] == "copy")).values
    assert own.values[copied].tolist() == [0.0]
    assert cube["p_value"].sel(convention="two-sided", test_size="full", **where).values[copied].tolist() == [1.0]
    assert own_p(document, preset, "bleu")[frozenset(("base", "copy"))] == (0.0, None)
    assert cube.attrs["preset"]["reference"] in {"Koehn 2004, W04-3250", document["preset"]["reference"]}


def test_both_tests_of_riezler_and_maxwell_stand_in_their_rows(texts: Path, tmp_path: Path) -> None:
    cube, document = run_study(tmp_path, texts, "riezler-maxwell-2005")
    assert document["preset"]["deviations"] == []
    score = cube["score"].sel(metric="bleu", test_size="full").values
    delta = cube["observed_delta"].sel(metric="bleu", test_size="full").values
    sizes = np.abs(score[cube["a"].values] - score[cube["b"].values])
    assert sizes.shape == (6, 10_000)
    folded = (np.sum(sizes - sizes.mean(axis=1, keepdims=True) >= np.abs(delta)[:, None], axis=1) + 1) / 10_001
    name = "riezler-maxwell-2005"
    known = zip(cube["system_a"].values.tolist(), cube["system_b"].values.tolist(), folded.tolist(), strict=True)
    found = own_p(document, name, "bleu", procedure="paired-bootstrap")
    assert {pair: p for pair, (p, _) in found.items()} == {frozenset((a, b)): p for a, b, p in known}
    swapped = own_p(document, name, "bleu", procedure="approximate-randomization")
    rows = [row for row in document["pairs"] if row["procedure"] == "approximate-randomization" and not row["identical"]]
    assert [swapped[frozenset((row["system_a"], row["system_b"]))][0] for row in rows] == [row["p"] for row in rows]


def test_a_fold_makes_no_exception_for_equal_scores(tmp_path: Path) -> None:
    """One win and one loss of 40: the verdict has p = 1, the fold what its formula gives. False alarm: 6 standard errors."""
    rows = ["item,one,two", "q0,1,0", "q1,0,1", *(f"q{k},1,1" for k in range(2, 40))]
    (tmp_path / "scores.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    document = pipeline.compare({"*": str(tmp_path / "scores.csv")}, format="scores", preset="riezler-maxwell-2005")
    (row,) = (row for row in document["pairs"] if row["procedure"] == "paired-bootstrap")
    assert (row["p"], row["delta"]) == (1.0, 0.0)
    exact = null_p("riezler-maxwell", wins=1, losses=1, units=40)
    assert row["tool_p"]["riezler-maxwell-2005"] == pytest.approx(exact, abs=6 * (exact * (1 - exact) / 10_000) ** 0.5)


def test_no_verdict_moves_with_the_preset(texts: Path, tmp_path: Path) -> None:
    asked = {"procedures": ["paired-bootstrap"], "replicates": 1000, "intervals": ["symmetric", "percentile"], "seed": 12345}
    plain, told = run_study(tmp_path / "plain", texts, None, **asked)
    with_preset, also = run_study(tmp_path / "preset", texts, "sacrebleu-bs", **asked)
    assert "tool_p" not in plain
    assert with_preset["tool_p"].dims == ("preset", "procedure", "metric", "pair")
    assert told["preset"] is None
    own = [row.pop("tool_p") for row in also["pairs"]]
    assert any(entry["sacrebleu-bs"] is not None for entry in own)
    for key in ("pairs", "leaderboard", "verdict", "findings"):
        assert also[key] == told[key]


def test_another_baseline_is_the_one_that_the_study_names(texts: Path, tmp_path: Path) -> None:
    _, document = run_study(tmp_path, texts, "sacrebleu-ar", replicates=200, family="against-baseline", baseline="sys2", seed=99)
    own = own_p(document, "sacrebleu-ar", "bleu")
    assert all((p is None) == ("sys2" not in pair) for pair, (p, _) in own.items())
    assert len([pair for pair in own if "sys2" in pair]) == 3
    assert document["preset"]["deviations"] == [
        "resampling.replicates is 200, in sacrebleu-ar 10000",
        "seed is 99, in sacrebleu-ar 12345",
    ]


@pytest.mark.parametrize(
    ("preset", "asked", "why"),
    [
        ("sacrebleu-bs", {"seed": 0, "replicates": 50}, "the tool takes the seed 0 for no seed"),
        ("sacrebleu-bs", {"replicates": 3_000_000}, "the tool draws all replicates at once"),
        ("riezler-maxwell-2005", {"keep_replicates": 0, "replicates": 50}, "none were kept"),
        ("koehn-2004", {"procedures": ["paired-t"]}, "koehn-2004 has no number of paired-t"),
    ],
)
def test_a_number_that_is_not_there_has_its_reason(
    texts: Path, tmp_path: Path, preset: str, asked: dict[str, Any], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if asked.get("replicates") == 3_000_000:
        monkeypatch.setattr(tool, "DRAWN_BYTES", 50 * 8 * 99)
        asked = {"replicates": 100}
    _, document = run_study(tmp_path, texts, preset, **asked)
    rows = [row for row in document["pairs"] if row["procedure"] != "approximate-randomization"]
    assert all(row["tool_p"][preset] is None and why in row["tool_p"]["reason"] for row in rows)
    assert rows


def test_every_page_has_the_column_and_says_where_it_misleads(texts: Path, tmp_path: Path) -> None:
    _, document = run_study(tmp_path, texts, "sacrebleu-bs", replicates=500, seed=12345, report=PAGES)
    (report,) = (tmp_path / "runs").glob("*/report")
    rows = csv.DictReader((report / "tables" / "pairs.csv").read_text(encoding="utf-8").splitlines())
    listed = [(row["tool_p.sacrebleu-bs"], row["tool_p.reason"]) for row in rows]
    own = [row["tool_p"] for row in document["pairs"]]
    assert listed == [("" if (p := entry["sacrebleu-bs"]) is None else str(p), entry["reason"] or "") for entry in own]
    page, markdown = ((report / name).read_text(encoding="utf-8") for name in ("index.html", "report.md"))
    assert '<th scope="col" data-more="narrow">sacrebleu-bs</th>' in page  # only a narrow screen has to be asked for it
    assert '<th scope="col" data-more="always">Holm</th>' in page
    assert re.search(r"^\| better \|.* verdict \|.* sacrebleu-bs \|$", markdown, re.MULTILINE)
    deviation = "Not as sacrebleu-bs sets it: resampling.replicates is 500, in sacrebleu-bs 1000."
    checks = {row["check"]: (row["status"], row["detail"]) for row in document["trust"]}
    assert checks["What sacrebleu-bs says"] == ("check", PRESETS["sacrebleu-bs"].misleads)
    assert checks["Settings of sacrebleu-bs"] == ("check", deviation)
    assert "Preset sacrebleu-bs" in markdown.split("## Method")[1]
    told = summarise(read_report(document))
    assert re.search(r"^better +worse .* verdict +sacrebleu-bs$", told, re.MULTILINE)
    assert told.endswith(deviation)
    assert "– under sacrebleu-bs: the tool compares with the baseline only." in told


def test_what_is_not_asked_for_is_told(texts: Path, tmp_path: Path) -> None:
    _, document = run_study(tmp_path, texts, "koehn-2004", procedures=["paired-t"], replicates=1000)
    (missing,) = document["preset"]["missing"]
    assert missing == "no number of its own: it goes with paired-bootstrap, which the study does not ask for"
    assert "koehn-2004" not in summarise(read_report(document)).split("verdict\n")[0]  # no empty column
    _, runs = run_study(tmp_path / "runs of", texts, "multeval", replicates=100)
    assert runs["preset"]["missing"] == [
        "its number is of models with several runs each: the column multeval of the analysis replicas"
    ]
    assert "tool_p" not in runs["pairs"][0]


def test_scores_have_no_number_of_a_tool_that_scores_texts(tmp_path: Path) -> None:
    table = write_scores(tmp_path / "scores.csv", ["one", "two"])
    document = pipeline.compare({"*": str(table)}, format="scores", preset="sacrebleu-bs")
    assert document["pairs"][0]["tool_p"] == {"sacrebleu-bs": None, "reason": "the tool has no such metric"}
