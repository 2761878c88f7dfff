"""A gate answers from the verdicts of a report, each answer with its exit code, and never takes a failure for a loss."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.studies import run_cli, write_study
from support.synthetic_cubes import build_cube, undecide
from support.synthetic_reports import make_report

from pipeline.errors import RunLocked
from pipeline.record.history import History
from pipeline.report.build import build_report
from pipeline.report.history.gate import ANSWERS, Judged, conclude_gate, judge_candidates, render_annotations, render_gate
from pipeline.store.lease import hold_lease

ITEMS = 400


def write_table(path: Path, **columns: np.ndarray) -> Path:
    rows = [",".join(["item", *columns])]
    rows += [f"q{i}," + ",".join(f"{column[i]:.3f}" for column in columns.values()) for i in range(ITEMS)]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("gate")
    rng = np.random.default_rng(4)
    base = rng.normal(50, 5, ITEMS)
    noise = {name: rng.normal(0, 1, ITEMS) for name in ("low", "high", "near")}
    noise = {name: values - values.mean() for name, values in noise.items()}
    columns = {
        "base": base,
        "copy": base,
        "low": base - 1 + noise["low"],
        "high": base + 1 + noise["high"],
        "near": base + 0.02 + noise["near"],
    }
    write_table(made / "scores.csv", **columns)
    study(made, "study.yaml")
    return made


def study(folder: Path, name: str, **changes: Any) -> Path:
    settings: dict[str, Any] = {
        "test_sets": {"news": {"format": "scores", "outputs": "scores.csv"}},
        "metrics": ["mean"],
        "resampling": {"replicates": 2000, "keep_replicates": 2000},
        "analyses": [],
        "report": {"formats": ["json"], "null_laboratory": False},
    }
    return write_study(folder / name, **settings | changes)


def ask(folder: Path, *words: str, code: int, study: str = "study.yaml", **environment: str) -> Any:
    done = run_cli("gate", study, "--serial", "--quiet", *words, cwd=folder, environment=environment or None)
    assert done.returncode == code, done.stderr
    return done


@pytest.mark.parametrize(
    ("words", "code", "answer"),
    [
        (["--candidate", "low"], 1, "worse"),
        (["--candidate", "high"], 0, "better"),
        (["--candidate", "copy"], 0, "equivalent"),
        (["--candidate", "near"], 0, "inconclusive"),
        (["--candidate", "near", "--fail-on", "inconclusive"], 6, "inconclusive"),
        (["--candidate", "near", "--margin", "mean=0.5", "--fail-on", "inconclusive"], 0, "equivalent"),
        (["--candidate", "low", "--margin", "mean=0.5"], 1, "worse"),
        (["--candidate", "low", "--margin", "mean=2"], 0, "equivalent"),
        (["--candidate", "high", "--candidate", "near"], 0, "inconclusive"),
        (["--all-pairs"], 1, "worse"),
    ],
)
def test_each_answer_has_its_exit_code(folder: Path, words: list[str], code: int, answer: str) -> None:
    done = ask(folder, "--baseline", "base", *words, code=code)
    assert done.stdout.splitlines()[0] == answer


def test_gains_are_those_of_the_candidate_whoever_is_ahead(folder: Path) -> None:
    told = json.loads(ask(folder, "--baseline", "base", "--json", code=1).stdout)
    found = {one["candidate"]: one for one in told["comparisons"]}
    assert set(found) == {"copy", "low", "high", "near"}
    assert found["low"]["gain"] == pytest.approx(-1, abs=1e-3)
    assert found["high"]["gain"] == pytest.approx(1, abs=1e-3)
    assert found["low"]["interval"][0] < -1 < found["low"]["interval"][1] < 0
    assert 0 < found["high"]["interval"][0] < 1 < found["high"]["interval"][1]
    assert (told["answer"], found["copy"]["why"]) == ("worse", "identical outputs")
    turned = json.loads(ask(folder, "--baseline", "low", "--candidate", "base", "--json", code=0).stdout)
    assert turned["comparisons"][0]["gain"] == pytest.approx(1, abs=1e-3)


def test_the_page_says_what_each_key_of_json_is(folder: Path) -> None:
    told = json.loads(ask(folder, "--baseline", "base", "--json", code=1).stdout)
    page = (Path(__file__).resolve().parents[3] / "docs" / "gate.md").read_text(encoding="utf-8")
    assert [key for key in ({*told} | {*told["comparisons"][0]}) - {"schema_version"} if f"`{key}`" not in page] == []


def test_where_less_is_better_a_higher_score_is_a_loss(folder: Path) -> None:
    study(folder, "errors.yaml", metrics=[{"name": "mean", "higher_is_better": False}])
    told = json.loads(ask(folder, "--baseline", "base", "--json", code=1, study="errors.yaml").stdout)
    assert {one["candidate"]: one["answer"] for one in told["comparisons"]} == {
        **{"low": "better", "high": "worse", "copy": "equivalent", "near": "inconclusive"}
    }


def test_runs_of_models_are_judged_as_models(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    question = rng.normal(50, 5, ITEMS)
    runs = {f"{name}-{k}": question + gain + rng.normal(0, 1, ITEMS) for name, gain in (("old", 0), ("new", 2)) for k in range(4)}
    write_table(tmp_path / "scores.csv", **runs)
    (tmp_path / "systems.csv").write_text("system,model,replica\n" + "".join(f"{s},{s[:3]},{s[-1]}\n" for s in runs))
    study(tmp_path, "study.yaml", systems={"table": "systems.csv"})
    told = json.loads(ask(tmp_path, "--baseline", "old", "--all-pairs", "--json", code=0).stdout)
    assert [(one["candidate"], one["answer"]) for one in told["comparisons"]] == [("new", "better")]


def test_what_cannot_be_measured_is_no_loss(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text("item,base,new\nq0,1,2\nq1,1,\n")
    study(tmp_path, "study.yaml")
    done = ask(tmp_path, "--baseline", "base", code=3)
    assert done.stdout == ""
    assert "error[P" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "there is no baseline"),
        (["--baseline", "base", "--candidate", "nobody"], "the study has no 'nobody'; it has base, copy, high"),
        (["--baseline", "base", "--candidate", "hihg"], "the study has no 'hihg'; did you mean 'high'?"),
        (["--baseline", "base", "--margin", "0.3"], "--margin 0.3: a metric and points above 0"),
        (["--baseline", "base", "--margin", "mean=-1"], "--margin mean=-1: a metric"),
        (["--baseline", "nobody"], "--> --baseline\n"),
    ],
)
def test_what_is_asked_wrongly_is_told(folder: Path, words: list[str], said: str) -> None:
    assert said in ask(folder, *words, code=2).stderr


def test_a_candidate_that_is_not_there_is_told_before_anything_is_computed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_bytes((folder / "scores.csv").read_bytes())
    study(tmp_path, "study.yaml")
    assert "did you mean 'high'?" in ask(tmp_path, "--baseline", "base", "--candidate", "hihg", code=2).stderr
    (run,) = [path for path in (tmp_path / "runs").iterdir() if path.name != ".store"]
    assert not (run / "ledger.jsonl").exists()
    assert not (run / "report").exists()


def test_a_workflow_gets_annotations_and_a_summary(folder: Path, tmp_path: Path) -> None:
    summary, steps = tmp_path / "s.md", tmp_path / "steps"
    steps.write_text("before\n")
    place = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(steps)}
    done = ask(folder, "--baseline", "base", "--summary", str(summary), code=1, **place)
    told = [line for line in done.stderr.splitlines() if line.startswith("::")]
    assert [line.split(" ")[0] for line in told] == ["::error", "::warning", "::notice", "::notice"]
    assert told[0].startswith("::error title=mean on news%3A worse::low is worse than base on news by mean: -1.00 [")
    assert steps.read_text() == "before\n" + summary.read_text()
    again = tmp_path / "again.md"
    ask(folder, "--baseline", "base", "--summary", str(again), "--no-github", code=1)
    assert again.read_bytes() == summary.read_bytes()


def test_a_loss_is_confirmed_by_runs_in_succession(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    base = rng.normal(50, 5, ITEMS)
    study(tmp_path, "study.yaml", resampling={"procedures": ["paired-t"], "replicates": 1000})
    found = []
    for loss in (1, 1, -1, 1):
        write_table(tmp_path / "scores.csv", base=base, new=base - loss + rng.normal(0, 1, ITEMS))
        words = ("gate", "study.yaml", "--serial", "-q", "--baseline", "base", "--confirm", "2")
        for _ in range(2):  # the same run twice is one run
            done = run_cli(*words, cwd=tmp_path)
        found.append((done.returncode, done.stdout.splitlines()[0]))
    assert found == [(0, "inconclusive"), (1, "worse"), (0, "better"), (0, "inconclusive")]
    assert "worse in 1 of the 2 runs in succession" in done.stdout


def test_a_window_of_builds_is_the_baseline(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    base = rng.normal(50, 5, ITEMS)
    gains = {"build-8": 0.6, "build-9": 1.0, "build-10": 0.3, "build-11": 0.3}
    write_table(tmp_path / "scores.csv", **{name: base + gain + rng.normal(0, 0.5, ITEMS) for name, gain in gains.items()})
    study(tmp_path, "study.yaml", resampling={"procedures": ["paired-t"], "replicates": 1000})
    answers = {}
    for window in (1, 2):
        told = run_cli("gate", "study.yaml", "--serial", "-q", "--baseline-window", window, "--json", cwd=tmp_path)
        comparisons = json.loads(told.stdout)["comparisons"]
        answers[window] = told.returncode, [(one["candidate"], one["baseline"], one["answer"]) for one in comparisons]
    assert answers[1] == (0, [("build-11", "build-10", "inconclusive")])
    assert answers[2] == (1, [("build-11", "build-9", "worse"), ("build-11", "build-10", "inconclusive")])
    both = run_cli("gate", "study.yaml", "--baseline-window", "2", "--baseline", "build-8", cwd=tmp_path)
    assert (both.returncode, "chooses baselines and candidate itself" in both.stderr) == (2, True)


def test_builds_of_a_window_confirm_a_loss_against_the_same_earlier_build(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    base = rng.normal(50, 5, ITEMS)
    study(tmp_path, "study.yaml", resampling={"procedures": ["paired-t"], "replicates": 1000})
    builds = {"build-8": base + 1 + rng.normal(0, 0.3, ITEMS)}
    words = ("gate", "study.yaml", "--serial", "-q", "--baseline-window")
    found = []
    for k in (9, 10, 11):  # worse than build-8, and like one another: build-8 leaves the window at build-11
        builds[f"build-{k}"] = base + rng.normal(0, 0.3, ITEMS)
        write_table(tmp_path / "scores.csv", **builds)
        done = run_cli(*words, 2, "--confirm", 2, cwd=tmp_path)
        found.append((done.returncode, done.stdout.splitlines()[0]))
    assert found == [(0, "inconclusive"), (1, "worse"), (0, "inconclusive")]
    short = run_cli(*words, 2, "--confirm", 3, cwd=tmp_path)
    assert (short.returncode, "--baseline-window 3 or more" in short.stderr) == (2, True)


def test_a_gate_does_not_wait_for_a_slot_and_waits_for_another_gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = History(tmp_path)
    with kept.writing():
        assert kept.note_answers("one", {}) == []
    began = threading.Event()

    def note_later() -> None:
        with hold_lease(tmp_path / "gate"):
            began.set()
            time.sleep(0.2)

    other = threading.Thread(target=note_later)
    other.start()
    began.wait()
    assert kept.note_answers("two", {"a": "worse"}) == [{}]
    other.join()
    monkeypatch.setattr("pipeline.record.history.WAIT_SECONDS", 0.1)
    with hold_lease(tmp_path / "gate"), pytest.raises(RunLocked, match=r"P801.*another gate is noting"):
        kept.note_answers("three", {})


ONE = Judged("news", "bleu", "new", "old", "better", 1.0, (0.5, 1.5), 0.01, "", 2)


def test_the_whole_is_as_good_as_its_worst_part() -> None:
    for place, answer in enumerate(ANSWERS):
        some = [replace(ONE, answer=other) for other in reversed(ANSWERS[place:])]
        assert conclude_gate(some) == answer
    assert conclude_gate([]) == "could not measure"


def test_an_end_at_zero_is_left_out_on_its_side_whoever_is_ahead() -> None:
    better = replace(ONE, interval=(0.0, 1.5), open_at_zero=True)
    assert better.show_gain() == "+1.00 (0.00, 1.50]"
    assert replace(better, gain=-1.0, interval=(-1.5, -0.0)).show_gain() == "-1.00 [-1.50, 0.00)"
    assert ONE.show_gain() == "+1.00 [0.50, 1.50]"


def test_an_end_at_zero_is_printed_as_the_report_prints_it(tmp_path: Path) -> None:
    steps = np.arange(ITEMS)
    base = 50 + steps % 7
    columns = {"base": base, "low": base - (steps % 10 == 0) * 1.0 + (steps % 25 == 3) * 1.0, "far": base - 5.0 - steps % 3}
    write_table(tmp_path / "scores.csv", **columns)
    study(tmp_path, "study.yaml")
    told = json.loads(ask(tmp_path, "--baseline", "base", "--all-pairs", "--json", code=1).stdout)
    (report,) = tmp_path.glob("runs/*/report/report.json")
    rows = {row["system_b"]: row for row in json.loads(report.read_text())["pairs"] if row["system_a"] == "base"}
    for one in told["comparisons"]:
        row = rows[one["candidate"]]
        assert one["open_at_zero"] is row["interval"]["open"]
        assert one["interval"] == [-row["interval"]["hi"], -row["interval"]["lo"]]


def test_words_that_mean_something_to_a_page_or_a_workflow_are_written_out() -> None:
    odd = replace(ONE, test_set="a|b", candidate="x,y:\n::error::z", answer="worse")
    (line,) = render_annotations([odd])
    assert "\n" not in line
    assert line.startswith("::error title=BLEU on a|b%3A worse::")
    table = render_gate([odd], run="r")
    assert r"a\|b" in table
    assert len([row for row in table.splitlines() if row.startswith("|")]) == 3


def test_a_gate_writes_p_on_its_side_of_the_level_that_it_is_held_to() -> None:
    cubes = {"news": build_cube(np.array([50.0, 50.6]), ["base", "new"])}
    (plain,) = judge_candidates(build_report(make_report(cubes, analyses=())), "base")
    assert plain.p is not None
    alpha = (plain.p + round(plain.p, 4)) / 2
    (judged,) = judge_candidates(build_report(make_report(cubes, analyses=(), resampling={"alpha": alpha})), "base")
    assert judged.show_p() != plain.show_p()
    assert (float(judged.show_p()) > alpha) == (plain.p > alpha)


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (1, "graded scores of n = 1,000 units do not tell"),
        (2, "the system that is ahead loses much on a few units"),
        (3, "other systems fail on single units"),
    ],
)
def test_a_gate_says_why_a_pair_is_not_decided(code: int, why: str) -> None:
    cube = undecide(build_cube(np.array([50.0, 53.0]), ["base", "new"]), code)
    (judged,) = judge_candidates(build_report(make_report({"news": cube}, analyses=())), "base")
    assert (judged.answer, judged.why[: len(why)]) == ("inconclusive", why)
