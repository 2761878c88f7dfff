"""`compare` on the files of a harness: what is compared, what it is called, and what may be asked for instead."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.studies import run_cli

from pipeline.api import compare, compare_study
from pipeline.errors import StudyError, UsageError
from pipeline.items.names import name_outputs
from pipeline.report.document import read_report
from pipeline.report.layout.summary import summarise
from pipeline.study.load import study_from_value
from pipeline.study.yaml_values import parse_flow
from pipeline.survey import compare as metrics_asked
from pipeline.survey.survey import survey_study

HARNESS = Path(__file__).resolve().parents[2] / "fixtures" / "lm_eval"
QUIZ, SUMS = (sorted(map(str, HARNESS.glob(f"*/samples_harbour_{task}_*.jsonl"))) for task in ("quiz", "sums"))


def metrics_of(paths: list[str], **options: Any) -> list[tuple[str, dict[str, Any]]]:
    study = compare_study(name_outputs(paths), [], **options).study
    return [(metric.name, metric.options) for metric in study.metrics]


def test_every_score_of_a_harness_is_compared_and_systems_are_called_by_their_folders() -> None:
    document = compare(QUIZ, replicates=1000)
    scores = {(row["name"], metric): score for row in document["systems"] for metric, score in row["scores"].items()}
    assert scores == {
        ("anchor", "acc"): pytest.approx(6 / 7),
        ("anchor", "acc_norm"): pytest.approx(4 / 7),
        ("buoy", "acc"): pytest.approx(3 / 7),
        ("buoy", "acc_norm"): pytest.approx(3 / 7),
    }


def test_a_score_is_asked_for_by_its_name_and_a_metric_by_its_own() -> None:
    column = {"metric": "mean", "column": "acc_norm"}
    assert metrics_of(QUIZ, metrics=["acc_norm"]) == [("acc_norm", column)]
    assert metrics_of(QUIZ, metrics=[{"name": "mean", "column": "acc"}]) == [("mean", {"column": "acc"})]
    assert metrics_of(QUIZ, metrics=["mean"]) == [("mean", {})]


DATE = "2026-01-02T03-04-05.678901"


def samples(
    folder: Path, scores: dict[str, list[dict[str, float]]], better: dict[str, dict[str, Any]] | None = None, off: float = 0.0
) -> list[str]:
    """Write samples as the harness does, of each system the scores of its documents; give the paths.

    Results stand beside them where they say which way is better; they publish means, ``off`` by so much.
    """
    for name, rows in scores.items():
        (folder / name).mkdir()
        if better is not None:
            means = {f"{key},none": sum(row[key] for row in rows) / len(rows) + off for key in rows[0]}
            found = {"results": {"x": means}, "higher_is_better": {"x": better.get(name, better.get("*"))}}
            (folder / name / f"results_{DATE}.json").write_text(json.dumps(found))
        lines = [
            {"doc_id": k, "doc": {"q": k}, "target": "a", "arguments": [["q", {}]], "metrics": list(row), "filter": "none", **row}
            for k, row in enumerate(rows)
        ]
        (folder / name / f"samples_x_{DATE}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return [str(folder / name / f"samples_x_{DATE}.jsonl") for name in scores]


def test_a_score_whose_name_leaves_its_direction_open_is_left_out_and_told(tmp_path: Path) -> None:
    """The harness logs a log-likelihood as perplexity, and of a difference of likelihoods less is better: no name tells."""
    rows = {
        name: [{"acc": hit, "perplexity": -2.5 + hit, "likelihood_diff": 1.25 - hit} for hit in hits] for name, hits in HITS.items()
    }
    paths = samples(tmp_path, rows)
    done = run_cli("compare", *paths, "-b", "1000")
    assert done.returncode == 0, done.stderr
    told = "compared: acc, more is better; not compared: perplexity, likelihood_diff: ask for it with -m '{name: perplexity, metric"
    assert told in done.stderr
    assert [line for line in done.stdout.splitlines() if " · " in line] == ["test set · acc · paired-bootstrap · 3 items"]
    with pytest.raises(
        UsageError, match="neither its name nor the files tell whether more of 'likelihood_diff' is better"
    ) as caught:
        metrics_of(paths, metrics=["likelihood_diff"])
    assert "higher_is_better: false" in str(caught.value.problems[0].help)


HITS = {"good": (1, 1, 0), "bad": (0, 1, 0)}


def test_a_score_of_which_less_is_better_is_headed_so_and_ranked_so(tmp_path: Path) -> None:
    paths = samples(tmp_path, {name: [{"Scorer.WER": 1.25 - hit} for hit in hits] for name, hits in HITS.items()})
    with pytest.raises(UsageError, match="P016"):  # it is alone, and no less open
        compare_study(name_outputs(paths), [])
    asked = {"name": "rate", "metric": "mean", "column": "Scorer.WER", "higher_is_better": False}
    document = compare(paths, metrics=[asked], replicates=1000)
    assert [row["name"] for row in document["leaderboard"] if row["rank"] == 1] == ["good"]
    assert summarise(read_report(document)).startswith("test set · rate · paired-bootstrap · 3 items · lower is better\n")


RATES = {name: [{"acc": hit, "wer": 1.25 - hit, "brier_score": 0.75 - hit / 2} for hit in hits] for name, hits in HITS.items()}


def test_a_direction_that_the_results_say_is_taken(tmp_path: Path) -> None:
    paths = samples(tmp_path, RATES, {"*": {"acc": True, "wer": False}})
    less = {"metric": "mean", "higher_is_better": False}
    assert metrics_of(paths) == [("acc", {"metric": "mean", "column": "acc"}), ("wer", {**less, "column": "wer"})]
    assert metrics_of(paths, metrics=["wer"]) == [("wer", {**less, "column": "wer"})]
    done = run_cli("compare", *paths, "-b", "1000")
    assert "compared: acc, more is better; wer, less is better; not compared: brier_score: ask for it with" in done.stderr
    best = [line for line in done.stdout.splitlines() if line.startswith("   1  ")]
    assert [line.split()[1] for line in best] == ["good", "good"], done.stdout
    with pytest.raises(UsageError, match="P016"):
        metrics_of(paths, metrics=["brier_score"])


def test_what_alone_is_there_is_taken_the_way_the_results_say(tmp_path: Path) -> None:
    rates = {name: [{"wer": row["wer"]} for row in rows] for name, rows in RATES.items()}
    expected = {"metric": "mean", "column": "wer", "higher_is_better": False}
    assert metrics_of(samples(tmp_path, rates, {"*": {"wer": False}})) == [("wer", expected)]


@pytest.mark.parametrize(
    ("better", "off"),
    [
        ({"*": {"acc": True, "wer": False}}, 0.01),  # the aggregate is something else than the mean of these numbers
        ({"good": {"acc": True, "wer": False}, "bad": {"acc": True, "wer": True}}, 0.0),
        ({"good": {"acc": True, "wer": False}, "bad": {"acc": True}}, 0.0),
        ({"*": {"acc": True, "wer": True}}, 0.0),
        ({"*": {"acc": True, "wer": "no"}}, 0.0),
        ({"*": {"acc": True}}, 0.0),
        ({"*": None}, 0.0),
    ],
    ids=["no mean", "at odds", "one alone", "against its name", "no truth", "not said", "nothing said"],
)
@pytest.mark.parametrize("order", [1, -1])
def test_a_direction_that_may_be_that_of_something_else_is_not_taken(
    tmp_path: Path, better: dict[str, dict[str, Any]], off: float, order: int
) -> None:
    paths = samples(tmp_path, RATES, better, off)[::order]
    assert metrics_of(paths) == [("acc", {"metric": "mean", "column": "acc"})]
    with pytest.raises(UsageError, match="P016"):
        metrics_of(paths, metrics=["wer"])


def test_a_score_that_is_best_in_the_middle_has_no_direction_whatever_files_say(tmp_path: Path) -> None:
    rates = {name: [{"pct_stereotype": row["wer"]} for row in rows] for name, rows in RATES.items()}
    with pytest.raises(UsageError, match="P016"):
        metrics_of(samples(tmp_path, rates, {"*": {"pct_stereotype": False}}))


def test_a_clear_name_of_which_files_say_that_less_is_better_is_believed_of_all_alone(tmp_path: Path) -> None:
    rates = {name: [{"edits": row["wer"]} for row in rows] for name, rows in RATES.items()}
    paths = samples(tmp_path, rates, {"good": {"edits": False}, "bad": {}})
    for order in (1, -1):
        with pytest.raises(UsageError, match="P016"):
            metrics_of(paths[::order], metrics=["edits"])


def test_the_mean_of_the_only_score_is_taken_its_way(tmp_path: Path) -> None:
    rates = {name: [{"wer": row["wer"]} for row in rows] for name, rows in RATES.items()}
    paths = samples(tmp_path, rates, {"*": {"wer": False}})
    assert metrics_of(paths, metrics=["mean"]) == [("mean", {"higher_is_better": False})]
    study = {
        "schema": 1,
        "study": "s",
        "test_sets": {"t": {"format": "lm-eval", "outputs": dict(zip("ab", paths, strict=True))}},
        "metrics": ["mean"],
    }
    (warning,) = survey_study(study_from_value(study, base=tmp_path).study, tmp_path).inputs.test_sets[0].warnings
    assert "less of 'wer' is better, and mean takes more" in warning
    likelihoods = {name: [{"perplexity": -row["wer"]} for row in rows] for name, rows in RATES.items()}
    (tmp_path / "more").mkdir()
    with pytest.raises(UsageError, match="P016"):
        metrics_of(samples(tmp_path / "more", likelihoods), metrics=["mean"])


def test_the_one_score_of_every_eval_ever_is_taken_the_way_its_files_say() -> None:
    paths = sorted(map(str, HARNESS.parent.glob("every_eval_ever/*/*_samples.jsonl")))
    outputs = dict(zip(("anchor", "buoy"), paths, strict=True))
    asked = [("share", {"higher_is_better": False}), ("exact_match", {})]
    for evaluation, options in asked:
        study = compare_study(outputs, [], format={"name": "every-eval-ever", "evaluation": evaluation}).study
        assert [(metric.name, metric.options) for metric in study.metrics] == [("mean", options)]


@pytest.mark.parametrize("name", ["exact_match", "inference_runtime"])
def test_the_statistic_of_helm_is_taken_by_its_name(tmp_path: Path, name: str) -> None:
    for system in ("north", "south"):
        stats = [{"name": {"name": name, "split": "test"}, "count": 1, "sum": k, "mean": k} for k in (0.5, 1.0)]
        rows = [{"instance_id": f"id{k}", "train_trial_index": 0, "stats": [stat]} for k, stat in enumerate(stats)]
        (tmp_path / system).mkdir()
        (tmp_path / system / "per_instance_stats.json").write_text(json.dumps(rows))
    paths = sorted(map(str, tmp_path.glob("*/per_instance_stats.json")))
    if name == "exact_match":
        assert metrics_of(paths) == [(name, {"metric": "mean", "column": name})]
    else:
        for metrics in ([], ["mean"], [name]):
            with pytest.raises(UsageError, match="P016"):
                metrics_of(paths, metrics=metrics)


def test_a_score_that_all_have_is_compared_where_one_has_another_beside_it(tmp_path: Path) -> None:
    rows = {"good": [{"acc": 1, "f1": 1}, {"acc": 0, "f1": 1}], "bad": [{"acc": 0}, {"acc": 0}]}
    assert metrics_of(samples(tmp_path, rows)) == [("acc", {"metric": "mean", "column": "acc"})]


def test_what_is_missing_is_no_best_score(tmp_path: Path) -> None:
    paths = samples(tmp_path, RATES, {"*": {"acc": True, "wer": False}})
    with pytest.raises(StudyError, match="P114"):
        compare(paths, missing="zero", metrics=["wer"], replicates=1000)
    assert compare(paths, missing="zero", metrics=["acc"], replicates=1000)


def test_a_study_that_takes_a_score_the_other_way_than_its_files_is_told(tmp_path: Path) -> None:
    paths = samples(tmp_path, RATES, {"*": {"acc": True, "wer": False, "brier_score": False}})
    metrics = [
        {"name": "acc", "metric": "mean", "column": "acc"},
        {"name": "rate", "metric": "mean", "column": "wer"},
        {"name": "brier", "metric": "mean", "column": "brier_score", "higher_is_better": False},
        {"name": "miss", "metric": "mean", "column": "acc", "higher_is_better": False},
    ]
    warnings = "\n".join(compare(paths, metrics=metrics, replicates=1000)["warnings"])
    assert warnings.count("is better, and") == 2
    assert "the files of 'good' and 1 more say that less of 'wer' is better, and rate takes more" in warnings
    assert "the files of 'good' and 1 more say that more of 'acc' is better, and miss takes less" in warnings
    assert "set `higher_is_better: true` of the metric" in warnings


def test_outputs_are_read_for_their_directions_only_where_these_may_be_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("item,score\n1,0.5\n2,0\n")
    tables = [str(tmp_path / f"{name}.csv") for name in "ab"]
    harness = samples(tmp_path, RATES, {"*": {"acc": True, "wer": False}})
    asked: list[Path] = []
    columns = metrics_asked._columns
    monkeypatch.setattr(
        metrics_asked, "_columns", lambda found, path, system: (asked.append(path), columns(found, path, system))[1]
    )
    cases = [(tables, [], 0), (tables, ["mean"], 0), (tables, ["f1", "score"], 1), (harness, [], 2), (harness, ["acc", "wer"], 2)]
    for paths, metrics, reads in cases:
        asked.clear()
        metrics_of(paths, metrics=metrics)
        assert len(asked) == reads, (paths, metrics)


def test_a_table_has_a_column_named_and_one_that_no_system_lacks(tmp_path: Path) -> None:
    """Nobody knows whether a column of a table is a score, a year or a cost: it is asked for. Columns alone may be systems."""
    (tmp_path / "a.csv").write_text("item,f1,year\n1,0.5,1\n2,0,1\n")
    (tmp_path / "b.csv").write_text("item,f1,year\n1,0.5,1\n2,1,1\n")
    tables = [str(tmp_path / name) for name in ("a.csv", "b.csv")]
    assert metrics_of(tables) == [("mean", {})]
    document = compare(tables, metrics=["f1"], replicates=1000)  # which is a metric too, of labels
    assert {(row["name"], row["scores"]["f1"]) for row in document["systems"]} == {("a", 0.25), ("b", 0.75)}
    document = compare(tables[:1], replicates=1000)
    assert {(row["name"], row["scores"]["mean"]) for row in document["systems"]} == {("f1", 0.25), ("year", 1.0)}


def test_options_of_formats_and_metrics_are_given_in_braces() -> None:
    form = "{name: lm-eval, filter: strict}"
    done = run_cli("compare", *SUMS, "--format", form, "-m", "{name: hits, metric: mean, column: exact_match}", "-b", "1000")
    assert done.returncode == 0, done.stderr
    assert "test set · hits · paired-bootstrap" in done.stdout
    assert "   1  anchor  0.400" in done.stdout


def test_what_is_asked_for_is_not_there() -> None:
    """The same of two systems is told once, with both files."""
    done = run_cli("compare", *QUIZ, "-m", "{name: hits, metric: mean, column: blue}")
    assert done.returncode == 3
    assert done.stderr.count("error[P226]: mean needs the column 'blue', and the outputs have 'acc', 'acc_norm'") == 1
    assert all(path in done.stderr for path in QUIZ)


def test_a_name_that_is_neither_metric_nor_score_is_refused_before_a_run() -> None:
    done = run_cli("compare", *QUIZ, "-m", "acc", "-m", "blue")
    assert done.returncode == 3
    assert "error[P226]: mean needs the column 'blue', and the outputs have 'acc', 'acc_norm'" in done.stderr
    assert QUIZ[0] in done.stderr
    assert "running" not in done.stderr


def test_a_format_in_braces_has_a_name() -> None:
    assert metrics_of(QUIZ, format={"name": "auto"}) == metrics_of(QUIZ)
    for form in ({}, {"filter": "strict"}, {"name": 3}):
        with pytest.raises(UsageError, match="P015"):
            compare_study(name_outputs(QUIZ), [], format=form)


@pytest.mark.parametrize("text", ["{name: lm-eval", "{name: a, name: b}", "{[1]: 2}"])
def test_braces_that_are_no_mapping_are_refused_where_they_stand(text: str) -> None:
    with pytest.raises(StudyError) as caught:
        parse_flow(text, "--format")
    assert all(str(problem.where).startswith(f"--format {text}:1:") for problem in caught.value.problems)


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["logs/2026-11-22T08-47-11+00-00_quiz_aa.eval", "logs/2026-11-22T08-47-12+00-00_quiz_bb.eval"], ["quiz_aa", "quiz_bb"]),
        (["m_2026-11-22T08:47:11Z_x.csv", "m_2026-11-22T08:47:11Z_y.csv"], ["m_x", "m_y"]),
        (["r/2026-11-22T08-47-11.csv", "r/2026-11-23T08-47-11.csv"], ["2026-11-22T08-47-11", "2026-11-23T08-47-11"]),
        (["r/2026-11-22T08-47-11.csv", "r/x.csv"], ["2026-11-22T08-47-11", "x"]),
        (["2026-11-22T08-47-11/out.csv", "2026-11-23T08-47-11/out.csv"], ["2026-11-22T08-47-11", "2026-11-23T08-47-11"]),
    ],
)
def test_the_time_in_the_name_of_a_file_is_part_of_a_name_only_where_nothing_else_is(paths: list[str], names: list[str]) -> None:
    assert name_outputs(paths) == dict(zip(names, paths, strict=True))


@pytest.mark.parametrize("name", ["error_rate", "WER", "val loss", "seconds", "pct_stereotype"])
@pytest.mark.parametrize("layout", ["files", "long", "parquet"])
def test_the_one_column_of_tables_is_not_taken_for_a_score_where_its_name_says_otherwise(
    tmp_path: Path, name: str, layout: str
) -> None:
    values = {"north": (0.5, 0.25, 0.1), "south": (0.6, 0.35, 0.2)}
    frame = pd.DataFrame([{"item": k, "system": of, name: v} for of, each in values.items() for k, v in enumerate(each)])
    paths = [tmp_path / f"{of}.csv" for of in values] if layout == "files" else [tmp_path / f"all.{layout.replace('long', 'csv')}"]
    if layout == "files":
        for path, (_, rows) in zip(paths, frame.groupby("system"), strict=True):
            rows.drop(columns="system").to_csv(path, index=False)
    elif layout == "long":
        frame.to_csv(paths[0], index=False)
    else:
        frame.to_parquet(paths[0])
    with pytest.raises(UsageError, match="P016") as caught:
        compare_study(paths, [])
    assert f"column: {name}" in str(caught.value.problems[0].help)
    asked = {"name": "rate", "metric": "mean", "column": name, "higher_is_better": False}
    assert compare(paths, metrics=[asked], replicates=999)["leaderboard"][0]["name"] == "north"


def test_a_system_may_be_called_as_an_error_is(tmp_path: Path) -> None:
    (tmp_path / "all.csv").write_text("item,loss,error\nq1,1,0\nq2,1,1\n")
    assert [row["name"] for row in compare([tmp_path / "all.csv"], replicates=999)["leaderboard"]] == ["loss", "error"]
