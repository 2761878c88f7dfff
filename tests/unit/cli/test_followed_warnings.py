"""What warnings, notes and refusals of a command advise is followed to the letter, and then they are not said any more."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
import yaml
from support.advice_of_commands import PLACES
from support.advice_of_compares import Typed
from support.advice_of_warnings import AGAIN, TOLD, WARNINGS
from support.following_advice import Case, follow_told, template
from support.studies import write_study

import pipeline
from pipeline.resampling.standard_errors import studentise_budget

Call = Callable[..., tuple[int, str]]
CASES = [(module, case, table is AGAIN) for table in (WARNINGS, AGAIN) for module, cases in table.items() for case in cases]


@pytest.mark.parametrize(
    ("case", "again"), [pytest.param(case, again, id=f"{module}: {case.says[:40]}") for module, case, again in CASES]
)
def test_what_a_warning_advises_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: Case, again: bool) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    follow_told(case, tmp_path, again=again)


def begun(*_: object, **__: object) -> NoReturn:
    """Stand for a run that has read everything and begins: what follows is the same for all of them."""
    raise SystemExit(0)


@pytest.mark.parametrize("typed", [pytest.param(one, id=f"{module}: {one.line}") for module, each in TOLD.items() for one in each])
def test_what_a_command_says_is_typed_and_works(tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch, typed: Typed) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pipeline.engine.launch.execute", begun)
    for name, content in PLACES.items():
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    code, printed = call(*shlex.split(typed.line))
    assert code != 0, printed
    said = [line for line in printed.splitlines() if template(typed.says).search(line)]
    assert said, printed
    found = re.search(typed.take, said[0])
    advised = found[1] if found else ""
    for word, value in typed.fill:
        advised = advised.replace(word, value)
    code, printed = call(*shlex.split(typed.then.replace("<0>", advised)))
    assert code == 0, printed


def texts_of(study: Path) -> list[str]:
    """Run a study, and return all texts of its report."""
    found: list[str] = []

    def walk(value: Any) -> None:
        if isinstance(value, str):
            found.append(value)
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            walk(inner)

    done = pipeline.run(study, runs=study.parent / "runs", serial=True)
    walk(json.loads((done.report / "report.json").read_text()))
    return found


NEEDS_MODELS = "No system has a model: this analysis needs `training:`, or a column `model` in `systems.table`."
NEEDS_RUNS = "no system has a {}: name the model and the replica of each system in systems.table"
NEEDS_BOUNDS = (
    "items score from {} to {}, and not just 0 or 1: say which bounds no score can leave, as "
    "`sequential: {bounds: {{}: [low, high]}}`"
)
MANY_FAMILIES = "`resampling.across_families` (`--across-families` of `compare`) corrects for that"
NO_DOCUMENTS = "Documents are named by `documents:` of a test set, or `--documents` of `compare`."
ITEMS_DRAWN = " A test of {}s at .05 then rejects about {} % of true nulls: set `resampling.unit: {}`."


def test_what_checks_and_notes_of_a_report_advise_is_done_and_they_are_gone(tmp_path: Path) -> None:
    rng, names, documents = np.random.default_rng(1), ["a1", "a2", "b1", "b2"], [f"d{k // 6}" for k in range(60)]
    shared = np.repeat(rng.normal(size=10), 6)
    for file, weight in (("one", 3), ("two", 0)):
        scores = 50 + weight * shared[:, None] * [0, 1, 0, 1] + rng.normal(size=(60, 4)) + range(4)
        rows = [",".join([f"i{k}", documents[k], *(f"{score:.2f}" for score in scores[k])]) for k in range(60)]
        (tmp_path / f"{file}.csv").write_text("\n".join([",".join(["item", "doc" if weight else "note", *names]), *rows]) + "\n")
    (tmp_path / "docs.txt").write_text("".join(f"{name}\n" for name in documents))
    (tmp_path / "systems.csv").write_text("system,model,replica\n" + "".join(f"{name},{name[0]},{name[1]}\n" for name in names))
    test_sets = {
        "one": {"format": "scores", "outputs": "one.csv", "columns": {"document": "doc"}},
        "two": {"format": "scores", "outputs": "two.csv"},
    }
    few = {"replicates": 300, "keep_replicates": 200, "test_sizes": ["full"], "unit": "item"}
    asked: dict[str, Any] = {"metrics": ["mean"], "test_sets": test_sets, "resampling": few}
    study = write_study(tmp_path / "study.yaml", **asked, analyses=["sequential", "distributions", "replicas"])
    told = texts_of(study)

    def said(says: str) -> str:
        return next(text for text in told if template(says).search(text))

    named = re.findall(r"`([^`]+)`", said(NEEDS_BOUNDS))[0].replace("low", "0").replace("high", "100")
    unit = yaml.safe_load(re.findall(r"`resampling\.(unit: \w+)`", said(ITEMS_DRAWN))[0])
    across = re.findall(r"resampling\.(\w+)", said(MANY_FAMILIES))[0]
    table = re.findall(r"(\w+)\.(\w+)`\.$", said(NEEDS_MODELS))[0]
    assert said(NEEDS_RUNS).endswith(".".join(table))
    test_sets["two"][re.findall(r"`(\w+):`", said(NO_DOCUMENTS))[0]] = "docs.txt"
    asked |= {"resampling": {**few, **unit, across: "holm"}, table[0]: {table[1]: "systems.csv"}}
    told = texts_of(write_study(study, **asked, analyses=[yaml.safe_load(named), "distributions", "replicas"]))
    for says in (NEEDS_BOUNDS, ITEMS_DRAWN, MANY_FAMILIES, NEEDS_MODELS, NEEDS_RUNS, NO_DOCUMENTS):
        assert [text for text in told if template(says).search(text)] == []


def test_max_t_is_brought_within_its_budget_as_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(studentise_budget, "MOST_PRODUCTS", 12 * 2000)
    rows = "".join(f"q{k},{k % 3},{k % 4},{k % 5}\n" for k in range(12))
    files = {"x.csv": f"item,a,b,c\n{rows}"}
    case = Case(
        "set `keep_replicates: {}`",
        "{format: scores, outputs: x.csv}",
        files,
        {"more": "resampling: {replicates: 2000, <0>}\n"},
        more="resampling: {replicates: 2000}\n",
    )
    follow_told(case, tmp_path)


def test_a_page_is_opened_once_the_report_has_one(tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scores.csv").write_text("item,a,b\n1,3,4\n2,3,5\n3,1,2\n")
    test_sets = {"set": {"format": "scores", "outputs": "scores.csv"}}
    few = {"replicates": 300, "keep_replicates": 200, "test_sizes": ["full"]}
    write_study(tmp_path / "study.yaml", metrics=["mean"], test_sets=test_sets, resampling=few, analyses=[])
    pipeline.run("study.yaml", serial=True)
    opened: list[Path] = []
    monkeypatch.setattr("pipeline.cli.runs.open_page", lambda page: opened.append(page) or True)
    _, printed = call("report", "--open")
    said = re.findall(r"there is no page to open: `([\w.]+)` of the study has no (\w+)", printed)[0]
    call("report", "--open", "--set", f"{said[0]}=[{said[1]}]")
    assert len(opened) == 1


def test_what_has_no_exact_law_is_estimated_as_is_said(tmp_path: Path) -> None:
    words = [f"w{k}" for k in range(40)]
    lines = [" ".join(words[k : k + 8]) for k in range(24)]
    (tmp_path / "reference.txt").write_text("".join(f"{line}\n" for line in lines))
    (tmp_path / "good.txt").write_text("".join(f"{line}\n" for line in lines))
    (tmp_path / "bad.txt").write_text("".join(f"{line if k % 2 else line[:-6]}\n" for k, line in enumerate(lines)))
    outputs = {"good": "good.txt", "bad": "bad.txt"}
    asked: dict[str, Any] = {
        "test_sets": {"news": {"format": "text", "outputs": outputs, "references": ["reference.txt"]}},
        "metrics": ["bleu"],
        "analyses": [],
    }
    few = {"replicates": 300, "keep_replicates": 0, "test_sizes": ["full"]}
    told = texts_of(write_study(tmp_path / "study.yaml", **asked, resampling=few))
    says = "no exact law; `tails: tilted` estimates it"
    tails = yaml.safe_load(re.findall("`([^`]+)`", next(text for text in told if says in text))[0])
    told = texts_of(write_study(tmp_path / "study.yaml", **asked, resampling=few | tails))
    assert [text for text in told if says in text] == []
    assert "tilted" in told, [t for t in told if "tilt" in t]


def test_a_run_that_was_submitted_is_followed_as_is_said(tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scores.csv").write_text("item,a,b\n1,3,4\n2,3,5\n3,1,2\n")
    test_sets = {"set": {"format": "scores", "outputs": "scores.csv"}}
    write_study(tmp_path / "study.yaml", metrics=["mean"], test_sets=test_sets, resampling={"replicates": 300}, analyses=[])
    monkeypatch.setattr("pipeline.engine.launch.start_detached", lambda *_: 4711)
    _, printed = call("submit", "study.yaml")
    run, command = re.findall(r"coordinator 4711 runs (\S+); follow it with: pipeline (.*)", printed)[0]
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    code, printed = call(*shlex.split(command))
    assert code == 0, printed
    assert printed.startswith(run)
