"""The atlas: what a gain on so many items is worth among pairs like these, and entries made from a run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm
from support.studies import run_cli
from support.synthetic_cubes import build_cube

import pipeline.api
import pipeline.record.manifest
from pipeline.cubes.tree import plant_cubes
from pipeline.power_analysis.atlas import PERCENTS, Kin, chance_of, entries_of, load_atlas, select_entries, to_json

MADE = Kin("made", "accuracy", "all", 1000, 99, tuple(float(10 * k) for k in range(1, 10)))


def test_the_share_is_that_of_pairs_whose_gain_of_that_size_is_significant() -> None:
    z, n = norm.isf(0.025), 400
    for percent, deviation in zip(PERCENTS[:-1], MADE.deviations, strict=False):
        found = chance_of(MADE, z * deviation / np.sqrt(n) * (1 + 1e-9), n)
        assert found.share == pytest.approx(percent / 100, abs=1e-4)
    assert chance_of(MADE, z * 9.99 / np.sqrt(n), n).share == 0.0
    assert chance_of(MADE, -z * 90.01 / np.sqrt(n), n).share == 1.0  # the sign of a gain says who is ahead
    between = chance_of(MADE, z * 54.0 / np.sqrt(n), n).share
    assert 0.5 < between < 0.75
    assert chance_of(MADE, 3.0, n, alpha=0.01).share < chance_of(MADE, 3.0, n).share


def test_gains_that_are_significant_for_few_half_and_most_fall_with_the_root_of_the_items() -> None:
    few, half, most = chance_of(MADE, 1.0, 400).gains
    assert (few, half, most) == pytest.approx([norm.isf(0.025) * s / 20 for s in (20, 50, 80)])
    assert chance_of(MADE, 1.0, 1600).gains == pytest.approx((few / 2, half / 2, most / 2))


def test_entries_are_made_of_pairs_near_borderline_and_by_kinship() -> None:
    systems = [f"s{k:02d}" for k in range(16)]
    scores = np.linspace(50, 55, 16)
    group = ["x" if k < 8 else "y" for k in range(16)]
    pairs = [(a, b) for i, a in enumerate(systems) for b in systems[i + 1 :]]
    same = np.array([(int(a[1:]) < 8) == (int(b[1:]) < 8) for a, b in pairs])
    se = np.where(same, 0.5, 1.0)
    cube = build_cube(scores, systems, se=se[None], coords={"group": group}, pairs=pairs)
    found = {kin.kinship: kin for kin in entries_of({"news": cube})}
    assert set(found) == {"all", "same", "different"}
    assert found["same"].deviations == (15.81,) * 9  # .5 √1000, in four digits
    assert found["different"].deviations == (31.62,) * 9
    near = (np.abs([scores[systems.index(a)] - scores[systems.index(b)] for a, b in pairs]) / se)[same]
    assert found["same"].pairs == int(((norm.sf(near) >= 0.005) & (norm.sf(near) <= 0.3)).sum()) >= 20
    assert {kin.task for kin in entries_of({"news": cube}, task="mine")} == {"mine"}


def test_what_is_written_is_read_back(tmp_path) -> None:
    text = to_json([MADE], what="made")
    (entry,) = json.loads(text)["entries"]
    assert Kin(**{**entry, "deviations": tuple(entry["deviations"])}) == MADE


def test_the_atlas_of_the_package_is_in_order() -> None:
    entries = load_atlas()
    assert len({kin.name for kin in entries}) == len(entries) >= 10
    for kin in entries:
        assert len(kin.deviations) == len(PERCENTS)
        assert list(kin.deviations) == sorted(kin.deviations)
        assert kin.deviations[0] > 0
        assert kin.pairs >= 20
    (mmlu,) = select_entries(entries, "mmlu-pro:all")
    assert 40 < mmlu.deviations[4] < 60  # accuracies of relatives and others: .53 of a point and root item
    kinship = {kin.kinship: kin.deviations[4] for kin in select_entries(entries, "mmlu-pro")}
    assert set(kinship) >= {"all"}


def ask(*words: str, code: int = 0) -> str:
    done = run_cli("expect", *words)
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


def test_the_command_says_one_and_lists_several() -> None:
    one = ask("--gain", "1.3", "-n", "500", "--like", "mmlu-pro:all")
    assert "A gain of 1.3 on 500 items is significant at 0.05 (two-sided) for" in one
    listed = ask("--gain", "1.3", "-n", "500")
    assert all(kin.name in listed for kin in load_atlas())
    assert max(map(len, listed.splitlines())) <= 80
    (chance,) = json.loads(ask("--gain", "1.3", "-n", "500", "--like", "mmlu-pro:all", "--json"))["chances"]
    assert (chance["name"], chance["kin"]["task"]) == ("mmlu-pro/accuracy:all", "mmlu-pro")


def test_a_task_that_nobody_knows_is_told_with_those_there_are(tmp_path) -> None:
    said = re.sub(r"\s+", " ", ask("--gain", "1", "-n", "50", "--like", "mmlu-por", "--runs", str(tmp_path), code=2))
    assert "'mmlu-por' is not a task of the atlas and no run in" in said
    assert "mmlu-pro/accuracy" in said


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of two runs, of which one has cubes of 28 pairs and two metrics."""
    for name in ("one-1234", "one-5678"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "plan.json").write_text("{}")
    systems = [f"s{k}" for k in range(8)]
    cubes = {
        test_set: build_cube(np.linspace(50, 55, 8), systems, name=test_set, metric=metric)
        for test_set, metric in (("news", "bleu"), ("talks", "chrf"))
    }
    real = pipeline.api.open_run
    monkeypatch.setattr(pipeline.api, "open_run", lambda root: plant_cubes(cubes) if root.name == "one-1234" else real(root))
    return tmp_path


@pytest.mark.parametrize(
    ("like", "names"),
    [
        ("one-1234", ["news/bleu:all", "talks/chrf:all"]),
        ("one-1/chrf", ["talks/chrf:all"]),
        ("one-1234/news:all", ["news/bleu:all"]),
        ("one-1234/news/bleu:all", ["news/bleu:all"]),
        ("{runs}/one-1234/bleu", ["news/bleu:all"]),
    ],
)
def test_a_run_answers_to_its_name_and_to_that_of_a_part_of_it(runs: Path, like: str, names: list[str]) -> None:
    words = ("--gain", "1", "-n", "500", "--like", like.format(runs=runs), "--runs", str(runs), "--json")
    assert [chance["name"] for chance in json.loads(ask(*words))["chances"]] == names


def test_a_metric_of_a_run_is_called_as_its_study_calls_it(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ("--gain", "1", "-n", "500", "--like", "one-1234/chrf", "--runs", str(runs))
    assert "of talks, chrF.\n" in ask(*asked)  # its plan cannot be read
    told = SimpleNamespace(inputs=SimpleNamespace(metrics=[SimpleNamespace(name="chrf", title="chrF++")]))
    monkeypatch.setattr(pipeline.record.manifest, "read_manifest", lambda run: told)
    assert "of talks, chrF++.\n" in ask(*asked)


@pytest.mark.parametrize(
    ("like", "code", "said"),
    [
        ("one-1234/chrf:same", 2, "the run has no 'one-1234/chrf:same' of twenty pairs or more, but one-1234/talks/chrf:all"),
        ("one-1234/ter", 2, "but one-1234/news/bleu:all, one-1234/talks/chrf:all"),
        ("one", 66, "error[P502]: 'one' fits several runs"),
        ("one/bleu", 66, "error[P502]: 'one' fits several runs"),
        ("one-5678", 73, "error[P708]"),
        ("/none/bleu", 2, "'/none/bleu' is not a task of the atlas and no run in"),
    ],
)
def test_what_is_wrong_with_a_run_is_told_as_it_is(runs: Path, like: str, code: int, said: str) -> None:
    told = ask("--gain", "1", "-n", "500", "--like", like, "--runs", str(runs), code=code)
    assert said in re.sub(r"\s+", " ", told)


def test_where_few_pairs_are_near_borderline_the_twenty_nearest_stand_for_the_class() -> None:
    systems = [f"s{k:02d}" for k in range(12)]
    scores = 6.0 * np.arange(12)  # far apart: no p is in [.005, .3], and far pairs have larger standard errors
    pairs = [(a, b) for i, a in enumerate(systems) for b in systems[i + 1 :]]
    apart = np.array([int(b[1:]) - int(a[1:]) for a, b in pairs])
    se = 1.0 + 0.1 * apart
    (kin,) = entries_of({"news": build_cube(scores, systems, se=se[None], pairs=pairs)})
    nearest = np.argsort(np.abs(6.0 * apart / se - 1.645), kind="stable")[:20]
    assert kin.pairs == 20
    assert kin.deviations[-1] == pytest.approx(np.percentile(se[nearest], 97.5) * np.sqrt(kin.items), rel=1e-3)
    assert kin.deviations[-1] < np.percentile(se, 97.5) * np.sqrt(kin.items)


@pytest.mark.parametrize(
    ("gain", "items", "like", "code", "said"),
    [
        ("nan", "500", "mmlu-pro", 2, "--gain nan must be a number other than 0"),
        ("0", "500", "mmlu-pro", 2, "--gain 0 must be"),
        ("-100.5", "500", "mmlu-pro", 2, "--gain -100.5 is more than there is"),
        ("1", "500", "wmt22-en-de/bleu:different", 2, "the atlas has no 'wmt22-en-de/bleu:different', but wmt22-en-de/bleu:all"),
        ("30", "99", "mmlu-pro:all", 0, "Below 100 items"),
        ("30", "99", "mmlu-pro", 0, "Below 100 items"),
    ],
)
def test_what_the_atlas_cannot_say_is_told(gain: str, items: str, like: str, code: int, said: str) -> None:
    done = run_cli("expect", "--gain", gain, "--items", items, "--like", like)
    assert done.returncode == code
    assert said in (done.stderr if code else done.stdout)
