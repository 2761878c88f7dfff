"""Where systems are runs of models, verdict, tables, figures and the terminal are about models; single runs are details."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
import yaml
from scipy import stats
from support.repeated_answers import answer, write_logs, write_samples
from support.studies import PAGES, run_cli, write_study

from pipeline import api
from pipeline.analyses.registry import load_analysis
from pipeline.analyses.single_runs import find_run
from pipeline.plugins import list_plugins
from pipeline.report.claims import claim_of
from pipeline.report.document import read_report
from pipeline.report.drawing.standings.figures import draw_models
from pipeline.report.layout.views import view_all
from pipeline.report.methods import methods_paragraph

RUNS = {"wide": (1.5, 4), "deep": (0.0, 4), "old": (-0.1, 4)}


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A study of three models with four seeds each, and a system that is no run."""
    folder = tmp_path_factory.mktemp("models")
    rng = np.random.default_rng(3)
    question = rng.normal(60, 5, 80)
    columns, known = {"rule": question + rng.normal(0, 3, 80)}, ["system,model,replica", "rule,,"]
    for model, (gain, seeds) in RUNS.items():
        suits = rng.normal(gain, 1, 80)
        for seed in range(seeds):
            columns[f"{model}/{seed}"] = question + suits + rng.normal(0, 0.3) + rng.normal(0, 3, 80)
            known.append(f"{model}/{seed},{model},{seed}")
    rows = [",".join(["item", *columns]), *(f"q{i}," + ",".join(f"{c[i]:.2f}" for c in columns.values()) for i in range(80))]
    (folder / "scores.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "systems.csv").write_text("\n".join(known) + "\n", encoding="utf-8")
    study = write_study(
        folder / "study.yaml",
        test_sets={"quiz": {"format": "scores", "outputs": "scores.csv"}},
        systems={"table": "systems.csv"},
        metrics=["mean"],
        resampling={"replicates": 2000, "keep_replicates": 2000},
        analyses=["thresholds", "size-curve"],
        report=PAGES,
    )
    done = run_cli("run", study, "--serial", cwd=folder)
    assert done.returncode == 0, done.stderr
    (folder / "said.txt").write_text(done.stderr, encoding="utf-8")
    return folder / done.stdout.strip()


@pytest.fixture(scope="module")
def document(made) -> dict:
    return json.loads((made / "report" / "report.json").read_text(encoding="utf-8"))


def test_the_verdict_names_models_the_claim_and_the_spread_of_runs(document, made):
    (verdict,) = document["verdict"]
    lead = verdict["sentences"][0]
    best = document["models"][0]
    assert lead.startswith(f"wide has the best mean score, {best['score']:.2f}, sd {best['sd']:.2f} over 4 runs")
    assert "Holm over 3 pairs of models, two-sided quasi-F" in lead
    assert "a claim about methods: new runs and new items" in lead
    assert not re.search(r"(wide|deep|old)/\d", " ".join(verdict["sentences"]))
    assert "runs make" in " ".join(verdict["sentences"])
    assert lead.split(",")[0] in (made.parents[1] / "said.txt").read_text(encoding="utf-8")


def test_a_system_that_is_no_run_of_a_model_is_told_of_with_its_score(document):
    (rule,) = [row for row in document["models"] if row["model"] == "rule"]
    assert rule["rank"] is None
    said = f"rule has one run, and so no place among the models; it scores {rule['score']:.2f}."
    assert said in document["verdict"][0]["sentences"]


def test_models_that_are_not_separated_are_told_the_gain_that_these_runs_and_units_show(document):
    open_ = [row for row in document["model_pairs"] if row["verdict"] == "not separated"]
    assert open_, "nothing is tested"
    (sentence,) = (s for s in document["verdict"][0]["sentences"] if "minimum detectable effect" in s)
    for row in open_:
        found = min(map(float, re.findall(r"\d+\.\d{2}", sentence)), key=lambda gain: abs(power(row, gain, len(open_)) - 0.8))
        below, above = (power(row, found + rounded, len(open_)) for rounded in (-0.005, 0.005))  # it is printed with two decimals
        assert below - 1e-9 < 0.8 < above + 1e-9


def test_pairs_of_models_have_the_effect_and_what_more_runs_or_units_would_do_as_fields(document, made):
    open_ = [row for row in document["model_pairs"] if row["verdict"] == "not separated"]
    for row in document["model_pairs"]:
        effect = row["minimum_detectable_effect"]
        assert effect["level"] == pytest.approx(0.05 / len(open_))
        assert effect["critical"] == pytest.approx(stats.t.isf(effect["level"] / 2, row["df"]))
        assert power(row, effect["gain"], len(open_)) == pytest.approx(0.8, abs=1e-9)
    for row in open_:
        effect = row["minimum_detectable_effect"]
        if (more := effect["more_units_needed"]) is not None:
            assert foretell(row, 0, more, effect["level"]) >= 0.8 > foretell(row, 0, more - 1, effect["level"])
        if (more := effect["more_runs_needed"]) is not None:
            assert foretell(row, more, 0, effect["level"]) >= 0.8 > foretell(row, more - 1, 0, effect["level"])
        else:
            assert foretell(row, 10**6, 0, effect["level"]) < 0.8  # the interaction with units stays
    page = (made / "report" / "report.md").read_text(encoding="utf-8")
    assert "| p | p adjusted | verdict | se | df | MDE |" in page


def foretell(row, more_runs, more_units, level):
    """The power of the gain that was observed, with other numbers of runs and units, from the components written out."""
    n, runs = row["units"] + more_units, [row["runs_a"] + more_runs, row["runs_b"] + more_runs]
    system_unit, run, e = (max(row[f"variance_{name}"], 0.0) for name in ("system_unit", "run", "residual"))
    by_unit = 2 * system_unit / n + sum(e / n / r for r in runs)
    whole = 2 * system_unit / n + sum((run + e / n) / r for r in runs)
    shares = by_unit**2 / (n - 1) + sum((((run + e / n) / r) ** 2 + (e / n / r) ** 2 / (n - 1)) / (r - 1) for r in runs)
    df = whole**2 / shares
    if df > 2000:
        return stats.norm.sf(stats.norm.isf(level / 2) - row["delta"] / np.sqrt(whole))
    return stats.nct.sf(stats.t.isf(level / 2, df), df, row["delta"] / np.sqrt(whole))


def power(row, gain, pairs):
    return stats.nct.sf(stats.t.isf(0.05 / pairs / 2, row["df"]), row["df"], gain / row["se"])


def test_pages_begin_with_models_and_end_with_single_runs(document, made):
    keys = [section["key"] for section in document["sections"]]
    assert (keys[0], keys[-2:]) == ("models", ["leaderboard", "pairs"])
    page = (made / "report" / "report.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", page, re.MULTILINE)
    assert headings.index("Models") < headings.index("Confidence against gain") < headings.index("Single runs")
    assert re.search(r"figures/([a-z]+)-01", page)[1] == "models"
    first_table = re.search(r"^### (.*)$", page, re.MULTILINE)[1]
    assert first_table == "quiz · mean · models"
    html = (made / "report" / "index.html").read_text(encoding="utf-8")
    assert html.index('id="models"') < html.index('id="leaderboard"')
    assert "Models on quiz, mean" in html


def test_models_of_a_set_that_nobody_has_named_are_on_the_test_set(made):
    known = (made / "report" / "report.json").read_text(encoding="utf-8")
    report = read_report(json.loads(known.replace('"quiz"', '"test set"')))
    titles = [drawing.title for _, drawing in draw_models(report)]
    assert titles == ["Models on the test set, mean", "Pairs of models on the test set, mean"]
    assert claim_of(report, report.verdict[0]).startswith("On the test set, wide")


def test_tables_have_the_models_of_the_document(document, made):
    for name, key in (("models.csv", "models"), ("model_pairs.csv", "model_pairs")):
        with (made / "report" / "tables" / name).open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert [row["rank" if key == "models" else "p"] for row in rows] == [
            "" if value is None else str(value) for value in (row["rank" if key == "models" else "p"] for row in document[key])
        ]
    assert [row["model"] for row in document["models"]][-1] == "rule"
    assert {row["claim"] for row in document["model_pairs"]} == {"methods"}


def test_trust_says_what_pairs_of_models_are_corrected_for(document):
    trust = {row["check"]: row for row in document["trust"]}
    told = "1 family of tests (test set × metric) with 3 pairs of models: p adjusted is corrected for them by Holm."
    assert (trust["Families"]["status"], trust["Families"]["detail"]) == ("ok", told)
    assert "corrected for its 78 pairs by max-T" in trust["Families of single runs"]["detail"]
    assert trust["Monte-Carlo error"]["detail"].endswith("the p-values of models are computed, and have no such error.")
    assert trust["Monte-Carlo error"]["status"] == "ok"
    for check in ("Unstable verdicts", "Few discordant units", "Skewness", "Bias of the bootstrap"):
        assert "78 pairs of single runs" in trust[check]["detail"]
    assert not any(row["check"] == "Runs of one training set" for row in document["trust"])


def test_the_paragraph_for_a_paper_names_the_test_of_models(document):
    told = methods_paragraph(read_report(document))
    assert "Models, whose runs these are, were compared by the quasi-F with Satterthwaite's degrees of freedom" in told
    assert told.endswith("a claim about new runs and new units, and Holm's method.")


@pytest.mark.parametrize(
    ("about", "told"),
    [("systems", "t-test of the means over runs of each item"), ("runs", "max-T over 78 pairs"), ("methods", "quasi-F")],
)
def test_a_report_can_be_about_something_else(made, about, told, tmp_path):
    run_cli("report", made, "--set", f"report.verdict_about={about}", "--set", "report.formats=[json]", "-o", tmp_path, cwd=made)
    other = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert told in other["verdict"][0]["sentences"][0]
    assert bool(other["models"]) == (about != "runs")


def test_what_compares_systems_one_by_one_says_that_they_are_single_runs(document, made):
    said = "what is said of a pair need not hold of another run of the same models"
    assert {finding["analysis"] for finding in document["findings"]} == {"thresholds", "size-curve"}
    for finding in document["findings"]:
        assert said in finding["tables"][0]["caption"]
        assert said in document["notes"][finding["analysis"]][0]
    captions = {figure["file"]: figure["caption"] for finding in document["findings"] for figure in finding["figures"]}
    assert {file.rpartition("-")[0] for file in captions} == {"thresholds", "significant"}
    assert all(caption.endswith("This is about single runs, not about models.") for caption in captions.values())
    (about,) = (s for s in document["verdict"][0]["sentences"] if s.startswith("With n = "))
    assert about.endswith(" This is about single runs, not about models.")
    assert "Each point is a pair of single runs." in (made / "report" / "report.md").read_text(encoding="utf-8")


def test_a_verdict_against_a_baseline_says_that_it_is_about_single_runs(made, tmp_path):
    asked = ["resampling.family=against-baseline", "resampling.baseline=old/0", "report.formats=[json]"]
    run_cli("report", made, *(word for one in asked for word in ("--set", one)), "-o", tmp_path, cwd=made)
    other = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert not other["models"]
    first, *_, last = other["verdict"][0]["sentences"]
    assert first.startswith("Of 12 systems compared with old/0 ")
    assert last == "These are single runs, not models: of models a report on all pairs has verdicts (family: all-pairs)."


def test_analyses_say_what_systems_are_only_where_a_model_has_several():
    assert {name for name in list_plugins("analyses") if load_analysis(name).of_single_runs} == {
        *("thresholds", "size-curve", "calibration-transfer", "suite", "sequential"),
        *("calibration-iid", "domain-curve", "sensitivity", "driving-items"),
    }
    systems = ["a/1", "a/2", "b"]
    cube = xr.Dataset(coords={"system": systems, "model": ("system", ["a", "a", "b"]), "replica": ("system", ["1", "2", ""])})
    assert find_run([cube]) == "run"
    assert find_run([cube.assign_coords(runs_are=("system", ["prompts", "prompts", ""]))]) == "prompt"
    assert find_run([cube.isel(system=[0, 2]), cube.drop_vars("replica")]) is None


def test_intervals_of_models_hold_together_and_agree_with_verdicts(document):
    """By Bonferroni: Holm separates what leaves 0 out of them, and maybe more, whose end is then 0."""
    rows = document["model_pairs"]
    assert {row["verdict"] for row in rows} == {"better", "not separated"}
    for row in rows:
        reach = stats.t.isf(0.025 / len(rows), row["df"]) * row["se"]
        assert row["interval"]["hi"] == pytest.approx(row["delta"] + reach)
        far = row["delta"] - reach
        assert row["interval"]["lo"] == pytest.approx(max(far, 0.0) if row["verdict"] == "better" else min(far, 0.0))
    assert any(row["interval"]["lo"] > 0 for row in rows)


def test_five_questions_have_an_interval_that_touches_0_where_the_exact_test_is_the_floor(tmp_path):
    """Swaps of whole questions have no p below .0625."""
    right = {"north": np.ones((3, 40), np.int64), "south": np.ones((3, 40), np.int64)}
    right["south"][:, :5] = 0
    (row,) = api.compare(write_samples(tmp_path, right), replicates=1000)["model_pairs"]
    assert (row["discordant"], row["verdict"]) == (5, "not separated")
    assert row["p_floor"] == pytest.approx(0.0625, abs=0.005)  # swaps of whole questions, drawn
    assert row["delta"] - stats.t.isf(0.025, row["df"]) * row["se"] > 0
    assert row["interval"]["lo"] == 0.0


def test_a_margin_is_tested_of_models_by_the_interval_of_their_gain(made):
    """Both ends at 90 % within the margin."""
    done = run_cli("run", "study.yaml", "--serial", "--set", "resampling.margin.mean=1.2", cwd=made.parents[1])
    assert done.returncode == 0, done.stderr
    report = made.parents[1] / done.stdout.strip() / "report"
    document = json.loads((report / "report.json").read_text(encoding="utf-8"))
    rows = {row["model_a"] + row["model_b"]: row for row in document["model_pairs"]}
    (close,) = (row for name, row in rows.items() if "wide" not in name)
    for row in rows.values():
        assert row["margin"] == 1.2
        assert row["p_behind"] == pytest.approx(stats.t.sf((1.2 - row["delta"]) / row["se"], row["df"]))
        reach = stats.t.isf(0.05, row["df"]) * row["se"]
        assert (row["p_equivalence"] <= 0.05) == (row["delta"] + reach <= 1.2)
    assert {row["verdict"] for row in rows.values()} == {"better", "equivalent"}
    assert (close["verdict"], close["differs_within_margin"]) == ("equivalent", False)
    told = document["verdict"][0]["sentences"]
    assert told[1] == "2 of 3 pairs of models are separated; 1 is equivalent within the margin of 1.2."
    page = (report / "report.md").read_text(encoding="utf-8")
    assert "| p eq. | Holm eq. |" in page
    assert "of equivalence within the margin of 1.2, by two one-sided t-tests" in page
    with (report / "tables" / "model_pairs.csv").open(encoding="utf-8") as file:
        assert {line["verdict"] for line in csv.DictReader(file)} == {"better", "equivalent"}


def test_fourteen_questions_are_not_decided_however_many_samples_there_are(tmp_path):
    right = {"north": np.ones((3, 14), np.int64), "south": np.zeros((3, 14), np.int64)}
    right["south"][0, :3] = 1
    document = api.compare(write_samples(tmp_path, right), replicates=1000)
    (row,) = document["model_pairs"]
    assert row["p_adjusted"] < 0.001
    assert (row["verdict"], row["undecided"], row["interval"]) == ("not decided", "few units", None)
    assert [model["beats"] for model in document["models"]] == [0, 0]
    told = document["verdict"][0]["sentences"]
    assert "not decided: graded means over runs of n = 14 units do not tell what a model does on others" in told[0]
    assert "north is ahead of south by 0.929 (means over 3 " in told[0]
    assert not any("not separated" in sentence or "is better than" in sentence for sentence in told)
    assert "No gain could have been shown: graded scores get no verdict from fewer than 20 units" in " ".join(told)


def test_a_model_all_of_whose_small_p_are_not_decided_reads_so(tmp_path):
    right = {"north": np.ones((3, 14), np.int64), "south": np.zeros((3, 14), np.int64), "west": np.zeros((3, 14), np.int64)}
    right["south"][0, :3] = right["west"][1, 2:6] = 1
    first, second, *_ = api.compare(write_samples(tmp_path, right), replicates=1000)["verdict"][0]["sentences"]
    assert "and is not separated from either of the 2 other models; against none of them is the difference decided" in first
    assert second.startswith(
        "1 of 3 pairs of models is not separated, which does not show that the two are equal; 2 are not decided"
    )


def test_epochs_of_a_log_are_judged_by_the_means_of_questions(tmp_path):
    right = answer(1153)
    done = run_cli("compare", *write_logs(tmp_path, right), "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    paired = stats.ttest_rel(*(own.mean(axis=0) for own in right.values()))
    assert round(paired.statistic, 2) == 2.77
    (row,) = document["model_pairs"]
    assert (row["model_a"], row["claim"], row["repeated"], row["verdict"]) == ("north", "systems", "sample", "better")
    assert [row["p"], row["df"]] == pytest.approx([paired.pvalue, 59])
    said = " ".join(document["verdict"][0]["sentences"])
    assert "t = 2.77 with 59 degrees of freedom" in said
    assert "a claim about these finished systems on new items" in said
    assert "with 3 more samples of each item" in said
    assert "with 60 more items" in said
    assert "Variance of the score of one item in one sample: item " in said
    assert "north/1" not in said


def test_repeats_of_the_harness_are_judged_by_the_means_of_questions(tmp_path):
    """As epochs of Inspect are: the same answers have the same verdict."""
    right = answer(1153)
    document = api.compare(write_samples(tmp_path, right), replicates=1000)
    paired = stats.ttest_rel(*(own.mean(axis=0) for own in right.values()))
    (row,) = document["model_pairs"]
    assert (row["model_a"], row["claim"], row["repeated"], row["verdict"]) == ("north", "systems", "sample", "better")
    assert [row["p"], row["df"]] == pytest.approx([paired.pvalue, 59])
    said = " ".join(document["verdict"][0]["sentences"])
    assert said.startswith("north is better than south by 0.144 [0.040, 0.249]")
    assert "with 3 more samples of each item" in said
    assert "north/1" not in said
    captions = [view.caption for view in view_all(read_report(json.loads(json.dumps(dict(document))))) if view.kind == "models"]
    assert "p adjusted is by Holm over 1 pair of models, and decides" in captions[-1]


def test_the_terminal_shows_models_and_counts_single_samples(tmp_path):
    done = run_cli("compare", *write_logs(tmp_path, answer(1153)), "-b", "1000", cwd=tmp_path)
    assert re.search(r"^ *1  north +3  ", done.stdout, re.MULTILINE)
    assert "15 pairs of single samples" in done.stdout
    assert "north/1" not in done.stdout


def test_the_headline_of_the_quickstart_names_a_model_and_no_training(tmp_path):
    """The quickstart's own study with three trainings of each model, in place of 25, and few replicates."""
    study = yaml.safe_load((Path(__file__).resolve().parents[3] / "workflows" / "quickstart.yaml").read_text(encoding="utf-8"))
    study["training"]["resamples"] = [{"method": "bootstrap", "fraction": 1.0, "replicas": 3}]
    study["training"]["models"].pop("forest")
    del study["test_sets"]["digits-rotated"]
    study |= {"analyses": [], "resampling": {"replicates": 500}, "report": {"formats": ["json"], "null_laboratory": False}}
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(study), encoding="utf-8")
    done = run_cli("run", "study.yaml", "--serial", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    path = tmp_path / done.stdout.strip() / "report" / "report.json"
    lead = json.loads(path.read_text(encoding="utf-8"))["verdict"][0]["sentences"][0]
    assert re.match(r"(neighbours|logistic) (is better than|is ahead of) (neighbours|logistic) by ", lead)
    assert "a claim about methods" in lead
    trust = {row["check"]: row for row in json.loads(path.read_text(encoding="utf-8"))["trust"]}
    told = "1 family of tests (test set × metric) with 1 pair of models: there is nothing to correct for."
    assert trust["Families"]["detail"] == told
    assert trust["Runs of one training set"]["status"] == "not checked"
    assert "/bootstrap" not in lead + done.stderr.split("report:")[0].splitlines()[-1]
