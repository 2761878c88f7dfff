"""Nights of a study: each slot once, only what is new, what changed in words, one α for all, and nights without data."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import yaml
from scipy import stats
from support.studies import files_of, run_cli, write_study

from pipeline.cubes.history import SIDES, open_history
from pipeline.errors import StoreError
from pipeline.record.history import History
from pipeline.report.history.confirmation import answers_before, hold_to_level
from pipeline.report.history.gate import Judged
from pipeline.report.history.page import render_history
from pipeline.report.history.slot_text import list_limits
from pipeline.report.history.slots import Look, read_slot
from pipeline.report.layout.markdown import escape, unescape
from pipeline.report.rows import FamilyKey
from pipeline.store.lease import hold_lease

ITEMS = 120


def write_night(folder: Path, rng: np.random.Generator, *, loss: float = 0.0, items: int = ITEMS, **others: float) -> None:
    """Write scores of the release, which are always the same, and of tonight's build."""
    release = np.random.default_rng(1).normal(50, 5, items)
    columns = {"release": release, "build": release - loss + rng.normal(0, 1, items)}
    columns |= {name: release + gain + rng.normal(0, 1, items) for name, gain in others.items()}
    rows = [",".join(["item", *columns])]
    rows += [f"q{i}," + ",".join(f"{column[i]:.3f}" for column in columns.values()) for i in range(items)]
    (folder / "scores.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")


def study(folder: Path, **changes: Any) -> Path:
    settings: dict[str, Any] = {
        "study": "nightly",
        "test_sets": {"news": {"format": "scores", "outputs": "scores.csv"}},
        "metrics": ["mean"],
        "resampling": {"procedures": ["paired-t"], "replicates": 1000},
        "analyses": [],
        "report": {"formats": ["json"], "null_laboratory": False},
    }
    return write_study(folder / "study.yaml", **settings | changes)


def ask(folder: Path, slot: str, *words: object, code: int = 0) -> Any:
    done = run_cli("reanalyse", "study.yaml", "--serial", "--quiet", "--slot", slot, *words, cwd=folder)
    assert done.returncode == code, done.stderr + done.stdout
    return done


def ask_json(folder: Path, slot: str, *words: object, code: int = 0) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(ask(folder, slot, "--json", *words, code=code).stdout)
    return told


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_night(tmp_path, np.random.default_rng(2))
    study(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a study with four nights: the second like the first, the third with a loss and another system, the fourth missed."""
    made = tmp_path_factory.mktemp("nights")
    study(made)
    rng = np.random.default_rng(3)
    write_night(made, rng)
    for night in ("n1", "n2"):
        (made / f"{night}.json").write_text(ask(made, night, "--json").stdout)
    write_night(made, rng, loss=1.0, other=0.0)
    (made / "n3.json").write_text(ask(made, "n3", "--json").stdout)
    (made / "scores.csv").rename(made / "away.csv")
    (made / "n4.txt").write_text(ask(made, "n4", code=3).stderr)
    return made


def test_a_slot_is_done_once(folder: Path) -> None:
    first = ask(folder, "2026-11-26")
    kept = {name: content for name, content in files_of(folder / "runs").items() if "lease" not in name}
    write_night(folder, np.random.default_rng(9))  # what came since belongs to the next slot
    again = ask(folder, "2026-11-26")
    assert again.stdout == "slot 2026-11-26 is done already; nothing was done again\n" + first.stdout
    assert {name: content for name, content in files_of(folder / "runs").items() if "lease" not in name} == kept


def test_nothing_new_computes_nothing_and_spends_nothing(history: Path) -> None:
    first, second, third = (json.loads((history / f"n{k}.json").read_text()) for k in (1, 2, 3))
    assert first["tasks"] > 0
    assert (second["run"], second["tasks"], second["spends"], second["changes"]) == (first["run"], 0, False, [])
    assert [one["look"]["look"] for one in (first, second, third)] == [1, 1, 2]
    assert "Nothing is new since n1." in (history / "runs/.history/nightly/slots/n2/account.md").read_text()


def test_a_terminal_is_shown_plain_text_and_a_pipe_gets_markdown(history: Path, tmp_path: Path) -> None:
    history = Path(shutil.copytree(history, tmp_path / "copy"))
    (account,) = history.rglob("n1/account.md")
    account.write_text(account.read_text("utf-8") + escape("a_b | c & d ~ 1\n") + "\n", "utf-8")
    piped = ask(history, "n1").stdout
    assert r"a\_b \| c &amp; d \~ 1" in piped
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "pipeline", "reanalyse", "study.yaml", "--serial", "--quiet", "--slot", "n1"]
    with subprocess.Popen(command, cwd=history, stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.PIPE) as done:
        os.close(theirs)
        shown = b""
        with suppress(OSError):  # as a terminal says that nobody writes to it any more
            while part := os.read(ours, 4096):
                shown += part
        os.close(ours)
        assert done.wait() == 0
    assert shown.decode().replace("\r\n", "\n") == unescape(piped)
    assert b"a_b | c & d ~ 1" in shown


def test_only_new_outputs_are_counted_again(folder: Path) -> None:
    first = ask_json(folder, "n1")
    write_night(folder, np.random.default_rng(5))  # the release has the scores that it had
    second = ask_json(folder, "n2")
    assert second["tasks"] == first["tasks"] - 1  # all but the statistics of the release


def test_what_changed_is_said_in_words(history: Path) -> None:
    third = json.loads((history / "n3.json").read_text())
    assert [(change["kind"], change["text"].split(" (")[0]) for change in third["changes"]] == [
        ("input", "news: other outputs of build"),
        ("system", "news: other is new"),
        ("pair", "news by mean, build and release: was: not shown which is better; now: release is better"),
    ]


def test_thresholds_settings_and_systems_that_go_are_told() -> None:
    from pipeline.report.history.slots import PairFound, SlotFound, ThresholdFound, list_changes

    key = json.dumps(["news", "bleu", "full", "same", "group", "a"])
    pair = json.dumps(["news", "bleu", "a", "b"])

    def found(gain: float, low: float | None, high: float | None, **others: Any) -> SlotFound:
        one = {"board": {}, "pairs": {}, "inputs": {}, "settings": {}} | others
        return SlotFound(thresholds={key: ThresholdFound(gain, low, high)}, **one)

    for gain, moved in ((0.9, False), (1.2, False), (1.21, True), (0.79, True)):
        said = list_changes(found(1.0, 0.8, 1.2), found(gain, 0.1, 9.0))
        assert [change.kind for change in said] == ["threshold"] * moved, gain
    assert list_changes(found(1.0, None, None), found(9.0, None, None)) == []
    board = {json.dumps(["news", "bleu", "a"]): 1.0}
    before = found(1.0, None, None, board=board, settings={"seed": "1"}, pairs={pair: PairFound(1.0, 0.001, "first")})
    after = found(1.0, None, None, settings={"seed": "2"}, pairs={pair: PairFound(-1.0, 0.001, "second")})
    assert [change.text for change in list_changes(before, after)] == [
        "the study has another seed",
        "news: a is gone",
        "news by BLEU, a and b: was: a is better; now: b is better (b is ahead by 1.0000)",
    ]


def test_a_study_with_the_default_analyses_has_its_thresholds_in_the_history(folder: Path) -> None:
    loaded = yaml.safe_load((folder / "study.yaml").read_text())
    del loaded["analyses"]
    (folder / "study.yaml").write_text(yaml.safe_dump(loaded))
    found = ask_json(folder, "n1")["found"]
    assert [json.loads(key)[:4] for key in found["threshold"]] == [["news", "mean", "full", "all"]]


def test_a_night_without_data_fails_nobody_and_spends_nothing(history: Path) -> None:
    assert "could not measure: slot n4 spends nothing" in (history / "n4.txt").read_text()
    place = history / "runs/.history/nightly"
    assert json.loads((place / "missed/n4.json").read_text())["exit_code"] == 3
    assert not (place / "slots/n4").exists()
    shutil.copytree(history, copy := history.parent / "late")
    write_night(copy, np.random.default_rng(8), loss=1.0)
    late = ask_json(copy, "n4", "--baseline", "release", code=1)
    assert (late["look"]["look"], late["answer"]) == (3, "worse")
    assert not (copy / "runs/.history/nightly/missed/n4.json").exists()


def test_the_history_is_a_page_of_all_nights_that_were_measured_or_missed(history: Path) -> None:
    page = (history / "runs/.history/nightly/index.html").read_text()
    assert re.findall(r'<section id="(n\d)">', page) == ["n3", "n2", "n1"]
    assert "news: other is new" in page
    assert "The first slot of this history." in page
    assert re.search(r"Could not be measured.*<li>n4: ", page, re.DOTALL)
    assert "<script" not in page
    places = set(re.findall(r'(?:src|href)="([^"#][^"]*)"', page))
    assert places
    assert all((history / "runs/.history/nightly" / place).is_file() for place in places)  # nothing is loaded from elsewhere


def test_a_page_of_a_history_escapes_names_answers_and_links_reports() -> None:
    judged = Judged("<t>", "mean", "<b>", "release", "worse", -1.0, None, 0.01, "", 1)
    look = Look(1, 2, 30, 0.05)._asdict()
    common = {"slot": "n1", "answer": "worse", "changes": [{"kind": "system", "text": "<b> is new"}], "level": 0.01, "run": "s-1"}
    account = common | {"look": look, "before": "n0", "spends": True, "comparisons": [asdict(judged)], "notes": ["few <i>"]}
    page = render_history("<s>", [account], {}, {"s-1": "../../my runs/s-1/report/index.html"})
    assert "<h1>&lt;s&gt;</h1>" in page
    assert "&lt;b&gt; is worse than release on &lt;t&gt; by mean: −1.0, p 0.010" in page
    assert '<a href="../../my%20runs/s-1/report/index.html">s-1</a>' in page
    assert not re.search("<[bit]>", page)


def test_a_night_whose_comparison_cannot_be_tested_spends_nothing(folder: Path) -> None:
    rows = ["item,release,build", *(f"q{i},{i},{i + 1}" for i in range(ITEMS))]  # the same gain everywhere
    (folder / "scores.csv").write_text("\n".join(rows) + "\n")
    told = ask(folder, "n1", "--baseline", "release", code=4).stderr
    assert "slot n1 spends nothing, and may be asked for again\n  build could not be compared with release" in told
    assert (folder / "runs/.history/nightly/missed/n1.json").is_file()
    write_night(folder, np.random.default_rng(4))
    assert ask_json(folder, "n1", "--baseline", "release")["look"]["look"] == 1


def test_a_history_is_a_cube_along_slots(history: Path) -> None:
    found = open_history(history / "runs/.history/nightly")
    assert found["slot"].values.tolist() == ["n1", "n2", "n3"]
    assert found["number"].values.tolist() == [1, 2, 3]
    pair = json.dumps(["news", "mean", "build", "release"])
    assert [SIDES[side] for side in found["side"].sel(pair=pair).values] == ["open", "open", "second"]
    new = found["score"].sel(board=json.dumps(["news", "mean", "other"])).values
    assert np.isnan(new).tolist() == [True, True, False]
    third = json.loads((history / "n3.json").read_text())
    assert found["gain"].sel(slot="n3", pair=pair).item() == third["found"]["pairs"][pair]["gain"] < 0


def test_damage_to_a_slot_is_told_with_what_to_do(history: Path) -> None:
    shutil.copytree(history, copy := history.parent / "damaged")
    slots = copy / "runs/.history/nightly/slots"
    chunk = slots / "n2/cube.zarr/gain/c.0"
    chunk.write_bytes(chunk.read_bytes()[:-1])
    with pytest.raises(StoreError, match=r"P707.*'gain' is damaged in the cube of the slot 'n2'") as told:
        open_history(slots.parent)
    shutil.rmtree(slots / "n2")
    assert f"remove the folder {slots / 'n2'}" in str(told.value.problems[0].help)
    assert open_history(slots.parent)["slot"].values.tolist() == ["n1", "n3"]
    (slots / "n3/account.json").write_text("{")
    assert "P705" in ask(copy, "n5", code=73).stderr


def test_a_slot_is_whole_or_absent(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pipeline.record.history as written

    ask(folder, "n1")
    before = files_of(folder / "runs/.history/nightly/slots")
    write_night(folder, np.random.default_rng(6))

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(written, "write_sealed", fail)
        assert "P701" in ask(folder, "n2", code=73).stderr
    assert files_of(folder / "runs/.history/nightly/slots") == before
    assert ask_json(folder, "n2")["number"] == 2
    assert files_of(folder / "runs/.history/nightly/slots").items() > before.items()


def test_one_writer_at_a_time(folder: Path) -> None:
    place = folder / "runs/.history/nightly"
    place.mkdir(parents=True)
    with hold_lease(place):
        told = ask(folder, "n1", code=74).stderr
    assert "P801" in told
    assert "another process is adding a slot to this history" in told
    ask(folder, "n1")


def test_a_plan_or_a_study_that_changes_is_refused(folder: Path) -> None:
    ask(folder, "n1", "--looks", "2")
    write_night(folder, np.random.default_rng(6))
    runs = sorted((folder / "runs").glob("nightly-*"))
    told = ask(folder, "n2", "--looks", "endless", code=2).stderr
    assert "P741" in told
    assert "P741" in ask(folder, "n2", "--looks", "2", "--set", "resampling.alpha=0.2", code=2).stderr
    assert sorted((folder / "runs").glob("nightly-*")) == runs  # it is said before anything runs
    advised = re.findall(r"= help: .*: keep (--looks) and `resampling.alpha`, or begin another (--history)", told)[0]
    ask(folder, "n2", "--looks", "endless", advised[1], "runs/endless")
    ask(folder, "n2", advised[0], "2")
    write_night(folder, np.random.default_rng(7))
    third = ask_json(folder, "n3", "--looks", "endless")  # the period is over
    assert third["look"] == {"period": 2, "look": 1, "looks": None, "alpha": 0.05}
    study(folder, study="another")
    told = ask(folder, "n4", "--history", "runs/.history/nightly", code=2).stderr
    assert "P740" in told
    assert "= help: name another folder with --history, or leave it out: each study then has its own" in told
    for way in (["--history", "runs/another"], []):
        ask(folder, "n4", *way)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--slot", "../n"], "letters, digits"),
        (["--looks", "0"], "neither a number of looks"),
        (["--candidate", "build"], "--baseline SYSTEM, which is missing"),
        (["--baseline", "relase"], "relase"),
    ],
)
def test_what_is_asked_wrongly_is_told(folder: Path, words: list[str], said: str) -> None:
    done = run_cli("reanalyse", "study.yaml", "--serial", "--quiet", *words, cwd=folder)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert not (folder / "runs/.history/nightly/slots").exists()


def test_a_level_below_every_counted_p_is_told() -> None:
    counted = SimpleNamespace(adjustment=SimpleNamespace(by="max_t"), in_family=True, replicates=500, test_set="news")
    report: Any = SimpleNamespace(pairs=[counted], test_sets=[SimpleNamespace(name="news", kept_replicates=500)])
    assert list_limits(report, 1 / 501) == []
    (told,) = list_limits(report, 0.99 / 501)
    assert told.startswith("No difference can be shown at this look: adjusted p, counted on 500 replicates, are 0.002 at least")
    report.test_sets[0].kept_replicates = 99  # max-T reads those alone
    assert list_limits(report, 1 / 100) == []
    assert len(list_limits(report, 0.99 / 100)) == 1
    counted.adjustment, counted.method = SimpleNamespace(by="holm", family_size=3), "monte-carlo"
    assert list_limits(report, 3 / 501) == []
    assert len(list_limits(report, 0.99 * 3 / 501)) == 1
    counted.method = "exact"
    assert list_limits(report, 1e-9) == []


def test_a_loss_is_confirmed_by_looks_in_succession(folder: Path) -> None:
    rng = np.random.default_rng(11)
    answers = []
    for night, loss in enumerate((1.0, 0.0, 1.0, 1.0)):
        write_night(folder, rng, loss=loss)
        told = ask_json(folder, f"n{night}", "--baseline", "release", "--confirm", "2", code=int(night == 3))
        answers.append(told["answer"])
    assert answers == ["inconclusive", "inconclusive", "inconclusive", "worse"]
    assert "worse in 2" not in json.dumps(told["comparisons"])


@pytest.mark.parametrize(
    ("across", "judged", "looks", "level"),
    [
        ("none", 4, 30, 0.05 / 30 / 4),
        ("holm", 4, 30, 0.05 / 30),
        ("none", 0, 30, 0.05 / 30),
        ("none", 1, None, 0.05 / (2.11 * 4 * np.log(4) ** 2)),
    ],
)
def test_families_share_the_level_of_a_look_unless_p_is_corrected_across_them(
    across: str, judged: int, looks: int | None, level: float
) -> None:
    from pipeline.report.history.slots import Look, level_of

    report = SimpleNamespace(families=SimpleNamespace(across=across, judged=judged))
    assert level_of(Look(1, 3, looks, 0.05), report) == pytest.approx(level, rel=1e-12)  # type: ignore[arg-type]


def test_slots_are_in_the_order_in_which_they_were_added_whatever_they_are_called(tmp_path: Path) -> None:
    found = {"board": {}, "pairs": {}, "threshold": {}}
    kept = History(tmp_path)
    for number, slot in enumerate(("night-2", "night-10", "build"), 1):
        kept.add({"slot": slot, "number": number, "run": "r", "level": 0.01, "found": found}, "")
    assert [account["slot"] for account in kept.accounts()] == ["night-2", "night-10", "build"]
    assert open_history(tmp_path)["slot"].values.tolist() == ["night-2", "night-10", "build"]
    (tmp_path / "slots/build").rename(tmp_path / "slots/other")
    with pytest.raises(StoreError, match="P705"):
        kept.accounts()


def test_a_slot_holds_what_the_first_procedure_found() -> None:
    first, second = (FamilyKey("news", "bleu", name) for name in ("paired-t", "sign"))
    same: dict[str, Any] = {"system_a": "a", "system_b": "b", "verdict": "better", "identical": False, "p_equivalence_holm": None}
    rows = {place: [SimpleNamespace(delta=gain, p_adjusted=0.001, **same)] for place, gain in ((first, 1.0), (second, 2.0))}
    place = {"test_set": "news", "metric": "bleu", "test_size": "full", "relation": "all", "relation_by": None, "values": ()}
    thresholds = [{**place, "procedure": name, "gain": gain, "interval": None} for name, gain in (("paired-t", 1.0), ("sign", 2.0))]
    findings = [SimpleNamespace(rows=thresholds)]
    facts: dict[str, Any] = {"systems": [], "findings": findings, "procedures": ["paired-t", "sign"], "pairs_of": rows}
    report: Any = SimpleNamespace(places=[first, second], model_pairs_of=lambda place: [], **facts)
    found = read_slot(report, 0.005, inputs={}, settings={})
    assert [pair.gain for pair in found.pairs.values()] == [1.0]
    assert [threshold.gain for threshold in found.thresholds.values()] == [1.0]


@pytest.mark.parametrize(
    ("answer", "p", "equivalence", "held"),
    [
        ("worse", 0.0016, None, "worse"),
        ("worse", 0.0017, None, "inconclusive"),
        ("better", 0.0017, None, "inconclusive"),
        ("equivalent", 0.9, 0.0016, "equivalent"),
        ("equivalent", 1e-9, 0.0017, "inconclusive"),
        ("equivalent", None, None, "equivalent"),  # identical outputs
        ("could not measure", None, None, "could not measure"),
    ],
)
def test_every_answer_is_held_to_the_level_of_its_look(answer: Any, p: float | None, equivalence: float | None, held: str) -> None:
    one = Judged("news", "bleu", "new", "old", answer, 1.0, None, p, "", 2, equivalence)
    (found,) = hold_to_level([one], 0.00165)
    assert found.answer == held
    assert ("which this look may spend" in found.why) == (held != answer)


def test_p_and_the_level_of_a_look_are_told_apart() -> None:
    one = Judged("news", "bleu", "new", "old", "worse", -1.0, None, 0.00168, "", 2)
    (found,) = hold_to_level([one], 0.05 / 30)
    assert (found.show_p(), found.answer) == ("0.0017", "inconclusive")
    assert found.why == "worse by itself, but p is above 0.0016667, which this look may spend"
    (just,) = hold_to_level([replace(one, p=0.05 / 30 - 1e-8)], 0.05 / 30)
    assert (just.answer, float(just.show_p()) < 0.05 / 30) == ("worse", True)


@pytest.mark.parametrize(
    ("verdict", "identical", "p", "equivalence", "side"),
    [
        ("better", False, 0.001, None, "second"),
        ("better", False, 0.01, None, "open"),
        ("equivalent", False, 0.5, 0.001, "equal"),
        ("equivalent", False, 0.5, 0.01, "open"),
        ("equivalent", True, None, None, "equal"),  # with a margin, identical outputs have this word
        ("identical", True, None, None, "equal"),
        ("not testable", False, None, None, "not measured"),
    ],
)
def test_a_side_is_that_of_the_level_of_its_look(
    verdict: str, identical: bool, p: float | None, equivalence: float | None, side: str
) -> None:
    place = FamilyKey("news", "bleu", "paired-t")
    row = SimpleNamespace(system_a="b", system_b="a", delta=1.0, p_adjusted=p, p_equivalence_holm=equivalence)
    row.verdict, row.identical = verdict, identical
    empty: dict[str, Any] = {"systems": [], "findings": [], "procedures": ["paired-t"]}
    report: Any = SimpleNamespace(places=[place], model_pairs_of=lambda place: [], **empty)
    report.pairs_of = defaultdict(lambda: [row])
    (found,) = read_slot(report, 0.005, inputs={}, settings={}).pairs.values()
    assert found == (-1.0, p, side)


def test_a_run_that_comes_back_stands_where_it_was_last() -> None:
    good, bad = {"build": "equivalent"}, {"build": "worse"}
    nights = [{"run": run, "answers": answers} for run, answers in (("a", good), ("b", bad), ("a", good))]
    assert answers_before(nights, "c") == [bad, good]
    assert answers_before(nights[:2], "c") == [good, bad]
    assert answers_before(nights, "b") == [good]


def test_simulated_nights(tmp_path: Path) -> None:
    """A regression from the sixth of ten nights on is found with the power of its level, and no night before it.

    The eighth has no data when it is first asked for, and is measured once they are there; every slot is asked for once more.
    """
    study(tmp_path)
    rng = np.random.default_rng(20261126)
    nights, loss = 10, 0.6
    level = 0.05 / nights
    t = stats.t.isf(level / 2, ITEMS - 1)
    power = stats.nct.sf(t, ITEMS - 1, loss * np.sqrt(ITEMS))  # of the paired t-test of gains with sd 1
    assert power > 0.999
    slots = [f"2026-11-{night:02d}" for night in range(1, nights + 1)]
    words = ("--looks", nights, "--baseline", "release")
    worse: list[str] = []

    def ask_for(slot: str) -> dict[str, Any]:
        done = run_cli("reanalyse", "study.yaml", "--serial", "-q", "--json", "--slot", slot, *words, cwd=tmp_path)
        told: dict[str, Any] = json.loads(done.stdout)
        assert done.returncode == (told["answer"] == "worse")
        assert told["level"] == pytest.approx(level)
        return told

    for night, slot in enumerate(slots, 1):
        if night == 8:
            (tmp_path / "scores.csv").unlink()
            missed = run_cli("reanalyse", "study.yaml", "--serial", "-q", "--slot", slot, *words, cwd=tmp_path)
            assert (missed.returncode, f"could not measure: slot {slot} spends nothing" in missed.stderr) == (3, True)
        write_night(tmp_path, rng, loss=loss if night >= 6 else 0.0)
        told = ask_for(slot)
        assert (told["number"], told["look"]["look"]) == (night, night)
        worse += [slot] * (told["answer"] == "worse")
        (tmp_path / f"{slot}.json").write_text(json.dumps(told))
    # Chances of another answer: 5 · .0025 of a false alarm (none with this seed), and 5 · 1e-3 at most of a loss that is missed.
    assert worse == slots[5:]
    before = {name: content for name, content in files_of(tmp_path / "runs").items() if "lease" not in name}
    for slot in slots[::4]:
        assert ask_for(slot) == {**json.loads((tmp_path / f"{slot}.json").read_text()), "done_before": True}
    assert {name: content for name, content in files_of(tmp_path / "runs").items() if "lease" not in name} == before
