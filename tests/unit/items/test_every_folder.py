"""Every folder of real data: what a study of it reads and scores is what was counted elsewhere."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, NamedTuple

import numpy as np
import pytest
from support.listening import listen
from support.real_data import expected, lines_of

from pipeline.interfaces import Items
from pipeline.items.align import survey_test_set
from pipeline.items.frame import Survey, align_items
from pipeline.items.outputs import load_output
from pipeline.items.readers import load_reader
from pipeline.metrics import load_metric
from pipeline.study.load import load_study
from pipeline.study.schema import Systems
from pipeline.study.sets import TestSet

pytestmark = pytest.mark.data

WORKFLOWS = Path(__file__).resolve().parents[3] / "workflows"


class Scored(NamedTuple):
    """A test set that was read, and its scores by metric and system."""

    survey: Survey
    scores: Mapping[str, Mapping[str, float]]
    sums: Mapping[str, Mapping[str, list[int]]]


@pytest.fixture(autouse=True)
def _data(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIPELINE_DATA", str(data_dir))


def score(
    spec: TestSet,
    base: Path,
    metrics: Mapping[str, Mapping[str, Any]],
    *,
    unit: str = "item",
    strata: str | None = None,
    only: Iterable[str] = (),
    exclude: tuple[str, ...] = (),
) -> Scored:
    """Survey a test set and score its outputs, or some of them."""
    survey = survey_test_set("t", spec, base=base, systems=Systems(exclude=exclude), unit=unit, strata=strata)
    gold = None if survey.gold is None else align_items(survey.gold, survey.frame)
    scores: dict[str, dict[str, float]] = {}
    sums: dict[str, dict[str, list[int]]] = {}
    for name, options in metrics.items():
        metric = load_metric(name, options)
        prepared = metric.prepare(gold)
        for output in survey.outputs:
            if only and output.system not in only:
                continue
            found = metric.extract(prepared, load_output(spec, output, frame=survey.frame, base=base))
            total = found.values.sum(axis=0)
            sums.setdefault(name, {})[output.system] = total.tolist()
            scores.setdefault(name, {})[output.system] = float(metric.scorer(found.decimals)(total))
    return Scored(survey, scores, sums)


def run(workflow: str, test_set: str, *, only: Iterable[str] = (), metrics: Iterable[str] = (), reference: str = "A") -> Scored:
    """Score a test set as a study of `workflows/` says it, or against another reference than its A."""
    study = load_study(WORKFLOWS / f"{workflow}.yaml").study
    spec = study.as_read(test_set)
    outputs = spec.outputs.replace("{test_set}", test_set) if isinstance(spec.outputs, str) else spec.outputs
    references = tuple(path.replace("/ref.A.", f"/ref.{reference}.") for path in spec.references)
    spec = spec.model_copy(update={"outputs": outputs, "references": references})
    asked = {m.name: m.options for m in study.metrics if not metrics or m.name in metrics}
    drawn = study.resampling
    return score(spec, WORKFLOWS, asked, unit=drawn.unit, strata=drawn.strata, only=only, exclude=study.systems.exclude)


# --- translations


def check_translations(
    data: Path, folder: str, test_set: str, metrics: Iterable[str], only: Iterable[str] = (), reference: str = "A"
) -> Scored:
    wanted = expected(data, folder)
    found = run(folder, test_set, only=only, metrics=metrics, reference=reference)
    assert {o.system for o in found.survey.outputs} == set(wanted["scores"][reference])
    assert len(found.survey.frame.ids) == wanted["segments_scored"]
    for metric, scores in found.scores.items():
        for system, value in scores.items():
            assert f"{value:.6f}" == f"{wanted['scores'][reference][system][metric]:.6f}", (metric, system)
    for system, sums in found.sums.get("bleu", {}).items():
        one = wanted["scores"][reference][system]
        assert sums == [one["sys_len"], one["ref_len"], *one["counts"], *one["totals"]], system
    return found


SETS = [
    ("wmt21-de-en", "newstest2021"),
    ("wmt22-de-en", "newstest2022"),
    ("wmt22-en-de", "newstest2022"),
    ("wmt24-en-de", "newstest2024"),
]


def test_a_system_of_a_test_set_has_the_scores_that_were_counted(data_dir: Path) -> None:
    found = check_translations(data_dir, "wmt22-en-de", "newstest2022", ["bleu", "chrf"], only=["Online-G"])
    assert {name: len(scores) for name, scores in found.scores.items()} == {"bleu": 1, "chrf": 1}
    check_documents(data_dir, "wmt22-en-de", found.survey)


@pytest.mark.slow
@pytest.mark.parametrize("reference", ["A", "B"])
@pytest.mark.parametrize(("folder", "test_set"), SETS)
def test_all_systems_of_a_test_set_have_the_scores_that_were_counted(
    data_dir: Path, folder: str, test_set: str, reference: str
) -> None:
    found = check_translations(data_dir, folder, test_set, ["bleu", "chrf"], reference=reference)
    assert len(found.scores["chrf"]) == expected(data_dir, folder)["systems"]
    if found.survey.frame.strata:
        check_documents(data_dir, folder, found.survey)


def check_documents(data: Path, folder: str, found: Survey) -> None:
    wanted = expected(data, folder)
    assert len(found.frame.units) == wanted["documents"]
    segments = np.bincount(np.array(found.frame.stratum_of_unit)[list(found.frame.unit_of_item)])
    assert dict(zip(found.frame.strata, segments.tolist(), strict=True)) == wanted["domains"]


def test_the_canary_is_left_out_identical_outputs_are_told_and_empty_ones_are_outputs(data_dir: Path) -> None:
    found = check_translations(data_dir, "wmt24-en-de", "newstest2024", ["bleu"], only=["Occiglot"]).survey
    check_documents(data_dir, "wmt24-en-de", found)
    assert "1" not in found.frame.ids
    assert len(found.frame.ids) == 997
    assert found.identical == (("CycleL", "CycleL2"),)
    assert "CycleL and CycleL2 have identical outputs: no test can distinguish them" in found.warnings
    assert "1 of 998 items are left out by domain: canary" in found.warnings
    output = next(o for o in found.outputs if o.system == "Occiglot")
    assert (output.n_items, output.missing) == (998, 0)
    texts = load_reader("text").read_outputs(Path(output.path), system="x", options={})["x"].columns["text"]
    assert len(texts) == 998
    assert sum(not text for text in texts) == 86


# --- optimizer replicas


def check_replicas(data: Path, only: Iterable[str] = ()) -> Scored:
    wanted = expected(data, "multeval")
    found = run("papers/15-optimizer", "test2010", only=only)
    for name, value in found.scores["bleu"].items():
        system, replica = name.split("/")
        assert f"{value:.6f}" == f"{wanted['example'][f'hyps.lc.tok.en.{system}.opt{replica}']['bleu']:.6f}", name
    return found


def test_a_run_of_an_optimizer_scores_what_was_counted_and_identical_runs_are_told(data_dir: Path) -> None:
    found = check_replicas(data_dir, only=["baseline/0"])
    assert found.survey.identical == tuple((f"baseline/{k}", f"sys2/{k}") for k in range(3))
    assert found.survey.outputs[5].coordinates == {"model": "sys1", "replica": "2"}
    assert f"{found.scores['bleu']['baseline/0']:.2f}" == "18.54"  # MultEval's own


@pytest.mark.slow
def test_runs_of_optimizers_have_the_means_and_spreads_that_were_counted(data_dir: Path) -> None:
    found = check_replicas(data_dir).scores["bleu"]
    for system, wanted in expected(data_dir, "multeval")["replica_summary"].items():
        values = [found[f"{system}/{k}"] for k in range(3)]
        assert fmean(values) == pytest.approx(wanted["mean"], abs=1e-6)
        assert stdev(values) == pytest.approx(wanted["sd_ddof1"], abs=1e-6)


@pytest.mark.slow
def test_outputs_with_four_references_score_what_was_counted(data_dir: Path) -> None:
    base = data_dir / "multeval" / "reg-test"
    wanted = expected(data_dir, "multeval")["reg_test"]
    options = {"bleu": {"tokenize": "none", "smooth": "none"}}
    one = TestSet(references=tuple(f"set1/set1.ref{k}.gz" for k in range(4)), outputs="set1/set1.out.{system}.gz")
    found = score(one, base, options)
    assert len(found.survey.frame.ids) == wanted["set1_segments"]
    for system, value in found.scores["bleu"].items():
        assert f"{value:.6f}" == f"{wanted['set1_bleu_4refs'][system]:.6f}", system
    # One output, twice: a test set of one system is no comparison.
    alone = TestSet(references=("set2/set2.ref0.gz",), outputs=dict.fromkeys("ab", "set2/set2.out.0.gz"))
    assert {f"{value:.6f}" for value in score(alone, base, options).scores["bleu"].values()} == {f"{wanted['set2_bleu_1ref']:.6f}"}


# --- tables


TABLES = ["CometKiwi-XL", "GEMBA-ESA-CMDA", "GEMBA-ESA-GPT4.1", "MetricX-24-Hybrid-XL", "XCOMET-XL"]


@pytest.mark.parametrize("name", TABLES)
def test_scores_of_segments_have_the_means_that_were_counted(data_dir: Path, name: str) -> None:
    wanted = expected(data_dir, "wmt25-metric-scores")["en-cs_CZ"]
    found = run("wmt25-metric-scores", name)
    assert set(found.scores["mean"]) == set(wanted["means"][name])
    for system, value in found.scores["mean"].items():
        assert f"{value:.8f}" == f"{wanted['means'][name][system]:.8f}", system
    assert (len(found.survey.frame.ids), len(found.survey.frame.units)) == (wanted["segments"], wanted["documents"])
    segments = np.bincount(np.array(found.survey.frame.stratum_of_unit)[list(found.survey.frame.unit_of_item)])
    assert dict(zip(found.survey.frame.strata, segments.tolist(), strict=True)) == wanted["domains"]


def test_answers_of_language_models_are_right_as_often_as_was_counted(data_dir: Path) -> None:
    wanted = expected(data_dir, "mmlu-pro")
    found = run("mmlu-pro", "all")
    assert len(found.survey.frame.ids) == wanted["items"]
    assert {name: sums[0] for name, sums in found.sums["accuracy"].items()} == {
        name: of["correct"] for name, of in wanted["scores"].items()
    }
    assert {sums[1] for sums in found.sums["accuracy"].values()} == {wanted["items"]}
    # Sources do not stand in blocks, and are units all the same.
    frame, gold = found.survey.frame, found.survey.gold
    assert gold is not None
    assert sum(1 for _ in groupby(gold.columns["src"])) == 1693
    assert len(frame.units) == wanted["src_groups"] == 91
    assert tuple(frame.units[k] for k in frame.unit_of_item) == gold.columns["src"]


def test_answers_that_are_not_there_are_told_and_wrong(data_dir: Path) -> None:
    wanted = expected(data_dir, "mmlu-pro")["scores"]
    form = {"name": "labels", "layout": "letters"}
    reader = listen(load_reader(form))
    found = reader.read_outputs(data_dir / "mmlu-pro" / "predictions.tsv.gz", system=None, options={"columns": {}})
    lacking = {name: items.columns["label"].count("-") for name, items in found.items()}
    assert lacking == {name: of["no_answer"] for name, of in wanted.items()}
    (told,) = reader.warnings
    assert f"'-' {sum(lacking.values())} times" in told


def _by_category(data: Path, category: str) -> None:
    wanted = expected(data, "mmlu-pro")
    study = load_study(WORKFLOWS / "mmlu-pro.yaml").study
    spec = study.test_sets["all"].model_copy(update={"items": None})
    chosen = TestSet.model_validate({**spec.model_dump(), "items": {"include": {"category": category}}})
    found = score(chosen, WORKFLOWS, {"accuracy": {}})
    assert len(found.survey.frame.ids) == wanted["categories"][category]
    assert {name: sums[0] for name, sums in found.sums["accuracy"].items()} == {
        name: of["by_category_correct"][category] for name, of in wanted["scores"].items()
    }


def test_answers_in_a_subject_are_right_as_often_as_was_counted(data_dir: Path) -> None:
    _by_category(data_dir, "law")


@pytest.mark.slow
def test_answers_in_every_subject_are_right_as_often_as_was_counted(data_dir: Path) -> None:
    categories = expected(data_dir, "mmlu-pro")["categories"]
    assert len(categories) == 14
    for category in categories:
        _by_category(data_dir, category)


SCORES = {
    "rouge-1": "rouge_1_f_score",
    "rouge-2": "rouge_2_f_score",
    "rouge-l": "rouge_l_f_score",
    "litepyramid": "litepyramid_recall",
}


@pytest.mark.parametrize("name", SCORES)
def test_scores_of_summaries_have_the_means_that_were_published(data_dir: Path, name: str) -> None:
    wanted = expected(data_dir, "realsumm")
    found = run("realsumm-scores", name)
    assert len(found.survey.frame.ids) == wanted["documents"]
    published = {system: of[SCORES[name]] for system, of in wanted["mean_scores"].items()}
    assert found.scores["mean"] == pytest.approx(published, rel=0, abs=5.1e-7)  # six decimals, and some means lie between two


def test_all_scores_of_a_summary_are_read_at_once_with_its_text_and_reference(data_dir: Path) -> None:
    wanted = expected(data_dir, "realsumm")
    path = data_dir / "realsumm" / "documents.jsonl.gz"
    form = {
        "name": "json-lines", "item": "doc_id", "text": "systems.{system}.summary", "score": "systems.{system}.scores",
        "reference": "reference", "sentences": ["<t>", "</t>"],
    }  # fmt: skip
    reader = load_reader(form)
    found = reader.read_outputs(path, system=None, options={})
    assert len(found) == wanted["systems"]
    for system, items in found.items():
        assert set(items.columns) == {"text", *wanted["metrics_per_document"]}
        for name, value in wanted["mean_scores"][system].items():
            assert fmean(map(float, items.columns[name])) == pytest.approx(value, abs=6e-7)
    gold = reader.read_gold([path], {})
    assert gold is not None
    assert gold.ids == found["abs.bart"].ids
    assert not any("<t>" in text or "</t>" in text for text in (*gold.columns["reference.0"], *found["abs.bart"].columns["text"]))
    assert gold.columns["reference.0"][0].count("\n") == 2


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["rouge-1", "rouge-2", "rouge-l"])
def test_summaries_score_what_was_counted(data_dir: Path, metric: str) -> None:
    wanted = expected(data_dir, "realsumm")["rouge_score_package_mean_f (stemmer, tags stripped)"]
    found = run("papers/01-summarisation", "articles", metrics=[metric]).scores[metric]
    published = {system: 100 * of[metric.replace("-l", "L").replace("-", "")] for system, of in wanted.items()}
    assert found == pytest.approx(published, rel=0, abs=5.1e-5)


@pytest.mark.parametrize("path", sorted([*WORKFLOWS.glob("*.yaml"), *WORKFLOWS.glob("papers/*.yaml")]), ids=lambda path: path.stem)
def test_every_workflow_is_a_study_whose_files_are_there(data_dir: Path, path: Path) -> None:
    study = load_study(path).study
    assert study.study == path.stem
    for spec in study.test_sets.values():
        named = [
            *spec.references,
            *([spec.gold] if isinstance(spec.gold, str) else []),
            *([spec.documents] if spec.documents else []),
        ]
        assert all((path.parent / name).is_file() for name in named)


# --- seeds


def test_a_hundred_seeds_have_the_means_and_spreads_that_were_published(data_dir: Path) -> None:
    wanted = expected(data_dir, "hans-bert-seeds")
    study = load_study(WORKFLOWS / "hans-bert-seeds.yaml").study
    spec = study.test_sets["hans"].model_copy(update={"items": None})
    found = score(spec, WORKFLOWS, {"mean": {}}, exclude=study.systems.exclude).survey
    assert len(found.outputs) == wanted["runs"]
    read = {o.system: load_output(spec, o, frame=found.frame).columns["score"] for o in found.outputs}
    values = np.array([list(map(float, row)) for row in read.values()])
    for k, name in enumerate(found.frame.ids):
        of = wanted["columns"][name]
        assert (values[:, k].mean(), values[:, k].std(ddof=1)) == pytest.approx((of["mean"], of["sd_ddof1"]), abs=1e-8), name
        assert (values[:, k].min(), values[:, k].max()) == (of["min"], of["max"]), name


def test_the_accuracy_of_a_seed_is_the_mean_of_its_thirty_subcases(data_dir: Path) -> None:
    found = run("hans-bert-seeds", "hans")
    header, *rows = csv.reader(lines_of(data_dir / "hans-bert-seeds" / "accuracies_by_run.csv.gz"))
    overall = {row[0]: float(row[header.index("Overall accuracy")]) for row in rows if row[0].startswith("Run ")}
    assert len(found.survey.frame.ids) == 30
    assert found.scores["mean"] == pytest.approx(overall, abs=1e-9)
    assert [w for w in found.survey.warnings if "rows of empty fields" in w]


HANS = ["bert_preds", "decomp_attn_heur_preds", "esim_heur_preds", "spinn_preds_heur"]


def _hans(data: Path, folder: Path, systems: list[str]) -> Scored:
    """Score four systems on HANS: its thirty subcases have a thousand sentences each, in the order of the table of seeds."""
    (header,) = csv.reader(lines_of(data / "hans-bert-seeds" / "accuracies_by_run.csv.gz")[:1])
    subcases = header[9:]
    rows = [
        f"ex{1000 * k + n},{'' if name[1] == 'e' else 'non-'}entailment,{name}"
        for k, name in enumerate(subcases)
        for n in range(1000)
    ]
    (folder / "gold.csv").write_text("pairID,gold_label,subcase\n" + "\n".join(rows) + "\n")
    spec = TestSet(
        format={"name": "labels", "rename": {"neutral": "non-entailment", "contradiction": "non-entailment"}},
        gold=str(folder / "gold.csv"),
        outputs={name: str(data / "hans-bert-seeds" / "hans_predictions_4systems" / f"{name}.txt.gz") for name in systems},
        columns={"item": "pairID", "label": "gold_label", "subcase": "subcase"},
    )
    return score(spec, folder, {"accuracy": {}}, unit="subcase")


@pytest.mark.parametrize("systems", [[HANS[0], HANS[3]], pytest.param(HANS, marks=pytest.mark.slow)], ids=["two", "all"])
def test_predictions_in_another_order_are_joined_by_their_identifiers(data_dir: Path, tmp_path: Path, systems: list[str]) -> None:
    found = _hans(data_dir, tmp_path, systems)
    assert (len(found.survey.frame.ids), len(found.survey.frame.units)) == (30000, 30)
    in_order = {}
    for output in found.survey.outputs:
        columns = {"item": "pairID", "label": "gold_label"}
        items = load_reader("labels").read_outputs(Path(output.path), system="x", options={"columns": columns})["x"]
        in_order[output.system] = items.ids == found.survey.frame.ids
        # Counted from the file alone, by the number in each identifier: the second five thousand of ten are entailed.
        right = sum((label == "entailment") == (int(name[2:]) // 5000 % 2 == 1) for name, label in _pairs(items))
        assert found.sums["accuracy"][output.system] == [right, 30000]
    assert in_order == {name: name != "spinn_preds_heur" for name in systems}


def _pairs(items: Items) -> Iterable[tuple[str, str]]:
    return zip(items.ids, items.columns["label"], strict=True)


def test_items_of_a_hundred_seeds_are_right_as_often_as_the_seeds_say(data_dir: Path) -> None:
    wanted = expected(data_dir, "hans-bert-seeds")
    path = data_dir / "hans-bert-seeds" / "mnli_dev_correct_out_of_100.tsv.gz"
    items = load_reader("scores").read_outputs(path, system="all", options={"columns": {"item": "index"}})["all"]
    counted = load_metric("mean").extract(None, items).values[:, 0]
    assert (len(items), int(counted.sum())) == (wanted["mnli_items"], wanted["mnli_sum_correct"])
