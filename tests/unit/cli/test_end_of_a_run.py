"""How a run ends for the person who waits for it: the verdict and the path of the report, on a terminal and off it."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import webbrowser
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from support.studies import write_scores, write_study
from support.synthetic_cubes import build_cube
from support.synthetic_reports import make_report

from pipeline.api import compare
from pipeline.cli import cli
from pipeline.cli.actions import tell_findings, tell_report
from pipeline.cli.main import main
from pipeline.engine.signals import StopAsked
from pipeline.engine.watching.progress import format_line
from pipeline.interfaces import Check
from pipeline.report.build import build_report
from pipeline.report.document import encode_document, read_report, to_document
from pipeline.report.layout.excerpts import first_pairs
from pipeline.report.layout.summary import MOST_CHARACTERS, conclude, list_doubts, summarise
from pipeline.report.layout.terminal import Screen
from pipeline.report.rows import Verdict
from pipeline.store.runs import RunDirectory

VERDICT = re.compile(r"(new|old) is (ahead of|better than) (old|new) by ")
CODES = re.compile(r"\x1b\[[\d;]*m")
LINK = re.compile(r"\x1b]8;;(file://[^\x1b]*)\x1b\\([^\x1b]*)\x1b]8;;\x1b\\")


def study(folder: Path, **changes: Any) -> Path:
    write_scores(folder / "scores.csv", ["old", "new"])
    given = {"test_sets": {"talks": {"format": "scores", "outputs": "scores.csv"}}, "metrics": ["mean"], "analyses": []}
    asked = {"replicates": 500, "keep_replicates": 500}
    return write_study(folder / "study.yaml", **{**given, "resampling": asked, "report": {"null_laboratory": False}, **changes})


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A study that was run, and what the command printed."""
    folder = tmp_path_factory.mktemp("ended")
    return folder, invoke("run", str(study(folder)), "--serial", "--runs", str(folder / "runs"))


def invoke(*arguments: str) -> Any:
    ended = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert ended.exit_code == 0, ended.stderr
    return ended


def page_of(folder: Path) -> Path:
    (run,) = (path for path in (folder / "runs").iterdir() if not path.name.startswith("."))
    return run / "report" / "index.html"


def test_a_run_ends_with_its_verdict_and_the_path_of_its_report(done: tuple[Path, Any]) -> None:
    folder, ended = done
    page = page_of(folder)
    assert ended.stdout == f"{page.parents[1]}\n"
    (verdict,) = (line for line in ended.stderr.splitlines() if VERDICT.match(line))
    *_, last = ended.stderr.splitlines()
    assert last == f"report: {page}"
    # After the verdict, what p is corrected for, and whatever is not in order.
    trust = json.loads((page.parent / "report.json").read_text())["trust"]
    found = {status: [row["check"] for row in trust if row["status"] == status] for status in ("check", "not checked")}
    assert "Enough replicates" not in found["check"]
    assert {"Monte-Carlo error"} <= set(found["check"])
    assert {"Independence of items"} <= set(found["not checked"])
    after = ended.stderr.partition(verdict)[2].splitlines()[1:-1]
    told = [line.partition(". ")[0] for line in after]
    assert "Families" not in found["check"]
    assert told == ["Families", *(f"{status}: {name}" for status, names in found.items() for name in names)]


def test_a_run_that_is_done_already_says_the_same(done: tuple[Path, Any]) -> None:
    folder, ended = done
    again = invoke("run", str(folder / "study.yaml"), "--serial", "--runs", str(folder / "runs"))
    assert again.stdout == ended.stdout
    assert "done already" in again.stderr
    assert [line for line in again.stderr.splitlines() if "done already" not in line] == ended.stderr.splitlines()[-6:]
    quiet = invoke("run", str(folder / "study.yaml"), "--serial", "--quiet", "--runs", str(folder / "runs"))
    assert (quiet.stdout, quiet.stderr) == (ended.stdout, "")


def test_resume_status_and_list_say_where_the_report_is(done: tuple[Path, Any]) -> None:
    folder, ended = done
    runs, page = ("--runs", str(folder / "runs")), page_of(folder)
    assert f"report: {page}" in invoke("status", *runs).stdout
    assert f"report: {page}" in invoke("list", *runs).stdout
    assert f'"report": "{page}"' in invoke("status", *runs, "--json").stdout
    resumed = invoke("resume", *runs, "--serial")
    assert resumed.stderr.splitlines()[-1] == ended.stderr.splitlines()[-1]
    submitted = invoke("submit", str(folder / "study.yaml"), *runs)
    assert (submitted.stdout, submitted.stderr.splitlines()[-1]) == (ended.stdout, f"report: {page}")


def test_a_terminal_gets_a_link_to_the_report_and_lines_that_fit(done: tuple[Path, Any]) -> None:
    """The command in a terminal of its own, as a person would run it again."""
    folder, _ = done
    told = CODES.sub("", in_terminal(folder, "run", "study.yaml", "--serial", term="xterm-256color"))
    page = page_of(folder)
    assert LINK.findall(told) == [(page.as_uri(), str(page))]
    assert "done already" in told
    assert all(len(line) <= 60 for line in told.split("\r\n") if "runs" not in line and "report: " not in line)
    assert f"report: {page}" in in_terminal(folder, "run", "study.yaml", "--serial", term="dumb")


def in_terminal(folder: Path, *arguments: str, term: str) -> str:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "pipeline", *arguments]
    environment = {**os.environ, "TERM": term, "COLUMNS": "60"}
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder, env=environment, close_fds=True)
    os.close(theirs)
    read = b""
    while True:
        try:
            data = os.read(ours, 4096)
        except OSError:  # Linux says so that the other end is closed
            break
        if not data:
            break
        read += data
    os.close(ours)
    assert process.wait() == 0, read
    return read.decode()


def test_many_verdicts_are_named_and_counted() -> None:
    several = [Verdict(f"set {k}", "bleu", "paired-bootstrap", [f"{k} wins.", "More."]) for k in range(9)]
    assert conclude(several[:1], titles={}) == ["0 wins. More."]
    assert conclude(several[:2], titles={}) == ["set 0 · BLEU: 0 wins.", "set 1 · BLEU: 1 wins."]
    assert conclude(several, titles={})[4:] == ["set 4 · BLEU: 4 wins.", "… 4 more verdicts are in the report"]


def test_of_many_test_sets_a_run_ends_with_one_table_of_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cubes = {f"set{k:02}": build_cube(np.array([60.0, 50.0, 50.1]), ["a", "b", "c"], name=f"set{k:02}") for k in range(22)}
    document = to_document(build_report(make_report(cubes, analyses=())))
    (tmp_path / "report.json").write_bytes(encode_document(document))
    tell_findings(tmp_path)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "a has the best score on all 22 test sets, separated from all others on all of them."
    assert sum(line.startswith("set") for line in lines) == 20
    last = lines[lines.index("… 2 more verdicts are in the report") - 1]
    assert re.split(" {2,}", last) == ["set19", "1,000", "a", "60.000", "2 of 2", "2 of 3"]
    assert any(line.startswith("check: Families.") for line in lines)


def test_what_is_not_in_order_is_told_in_lines_that_fit() -> None:
    long = "; ".join(f"set {k}, bleu: no pair can be separated with b = 100" for k in range(40))
    checks = [Check("Failures", "ok", "None."), Check("Enough replicates", "check", f"{long}."), Check("Level", "not checked", "x")]
    first, second = list_doubts(checks)
    assert first.startswith("check: Enough replicates. set 0, bleu: ")
    assert first.endswith(" …")
    assert len(first) < MOST_CHARACTERS + 40
    assert second == "not checked: Level. x"
    for width in (60, 80, 200):
        assert all(len(line) <= width for line in Screen(width).fit(first).splitlines())
    assert Screen().fit(first) == first


def test_compare_tells_what_is_not_in_order_below_the_verdict(tmp_path: Path) -> None:
    document = compare([str(write_scores(tmp_path / "scores.csv", ["one", "two"]))], replicates=200)
    bad = {row["check"]: row["status"] for row in document["trust"] if row["status"] != "ok"}
    assert bad["Monte-Carlo error"] == "check"
    for width in (60, None):
        text = summarise(read_report(document), screen=Screen(width))
        lines = text.partition("verdict\n")[2].splitlines()[1:]
        assert all(f"{status}: {name}." in text for name, status in bad.items())
        assert [line.partition(":")[0] for line in lines if line.startswith(("check:", "not checked:"))] == sorted(bad.values())
        assert width is None or max(map(len, lines)) <= width


def test_a_report_that_is_not_there_is_not_spoken_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tell_report(RunDirectory(tmp_path))
    assert capsys.readouterr() == ("", "")


def test_no_time_left_is_not_told() -> None:
    facts = {"run": "r", "state": "RUNNING", "stages": {"report": {"done": 0, "total": 1}}}
    assert format_line({**facts, "eta_seconds": 0.3}) == "r  running  report 0/1"
    assert format_line({**facts, "eta_seconds": 12.0}).endswith("about 12 s left")


# --- compare


def test_compare_speaks_of_a_report_only_where_it_keeps_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_scores(tmp_path / "scores.csv", [f"s{k}" for k in range(8)])
    ended = invoke("compare", "scores.csv", "-b", "500", "-q")
    assert "in the report" not in ended.stdout
    assert "… 10 more pairs are not shown: `--json` prints them all, `--runs DIR` keeps a report" in ended.stdout
    kept = invoke("compare", "scores.csv", "-b", "500", "-q", "--runs", "kept")
    (page,) = (tmp_path / "kept").glob("compare-*/report/index.html")
    assert "… 10 more pairs are in the report" in kept.stdout
    assert kept.stdout.splitlines()[-1] == f"report: {page}"


def test_compare_without_a_folder_draws_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_scores(tmp_path / "scores.csv", ["one", "two", "three"])
    for name in ("drawing.figures.draw_all", "layout.pages.render_html", "layout.pages.render_markdown"):
        monkeypatch.setattr(f"pipeline.report.{name}", None)
    document = compare(["scores.csv"], replicates=500)
    assert len(document["pairs"]) == 3
    with pytest.raises(Exception, match="NoneType"):
        compare(["scores.csv"], replicates=500, runs="kept")


def test_pairs_of_the_best_and_of_neighbours_come_before_large_gains() -> None:
    names = [f"s{k}" for k in range(8)]
    cube = build_cube(60.0 - np.arange(8.0), names)
    report = build_report(make_report({"news": cube}, analyses=()))
    board, rows = report.leaderboard, report.pairs  # the largest gain first
    chosen = [(row.system_a, row.system_b) for row in first_pairs(rows, board, 20, alpha=0.05)]
    assert chosen[:7] == [("s0", name) for name in names[1:]]
    assert chosen[7:13] == list(pairwise(names[1:]))
    distance = {(row.system_a, row.system_b): abs(np.log(row.p_adjusted / 0.05)) for row in rows}
    others = sorted((far, pair) for pair, far in distance.items() if pair not in chosen[:13])
    assert sorted(distance[pair] for pair in chosen[13:]) == [far for far, _ in others[:5]]  # the closest verdicts
    assert first_pairs(rows[:20], board, 20, alpha=0.05) == rows[:20]
    assert len(first_pairs(rows, board, 3, alpha=0.05)) == 5  # of the first four systems


def test_the_document_says_how_many_there_are(tmp_path: Path) -> None:
    document = compare([str(write_scores(tmp_path / "scores.csv", ["one", "two"]))], replicates=200)
    assert summarise(read_report(document)).startswith("test set · mean · paired-bootstrap · 50 items\n")


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a browser was asked to show, on a machine that has a screen."""
    shown: list[str] = []
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr("webbrowser.open", lambda address: shown.append(address) or True)
    return shown


def write_again(folder: Path, *arguments: str) -> Any:
    return invoke("report", "--runs", str(folder / "runs"), *arguments)


def test_a_report_is_opened_where_that_is_asked(done: tuple[Path, Any], browser: list[str], tmp_path: Path) -> None:
    folder, _ = done
    written = write_again(folder, "-o", str(tmp_path / "a b"), "--open")
    assert written.stdout == f"{tmp_path / 'a b' / 'index.html'}\n"
    assert written.stderr.startswith("new is ahead of old by ")
    assert "browser" not in written.stderr
    assert browser == [(tmp_path / "a b" / "index.html").as_uri()]
    write_again(folder, "-o", str(tmp_path / "c"))
    assert len(browser) == 1, "nobody asked"


def test_without_a_screen_or_a_browser_the_path_is_all_there_is(
    done: tuple[Path, Any], browser: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(address: str) -> bool:
        raise webbrowser.Error("no runnable browser")

    monkeypatch.setattr("webbrowser.open", fail)
    told = "no browser can be opened here; the page is at the path above\n"
    assert write_again(done[0], "-o", str(tmp_path), "--open").stderr.endswith(f"\n{told}")
    monkeypatch.setattr("webbrowser.open", lambda address: browser.append(address) or True)
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    written = write_again(done[0], "-o", str(tmp_path), "--open")
    assert written.stdout == f"{tmp_path / 'index.html'}\n"
    assert written.stderr.endswith(f"\n{told}")
    assert browser == [], "a browser of the terminal would take it over"


def test_a_report_without_a_page_says_so(done: tuple[Path, Any], browser: list[str], tmp_path: Path) -> None:
    written = write_again(done[0], "-o", str(tmp_path / "data"), "--set", "report.formats=[json]", "--open")
    assert (written.stdout, browser) == (f"{tmp_path / 'data'}\n", [])
    assert written.stderr.endswith("\nthere is no page to open: `report.formats` of the study has no html\n")


@pytest.mark.parametrize(("asked", "code"), [(StopAsked, 75), (KeyboardInterrupt, 130)])
def test_who_is_interrupted_before_there_is_a_run_is_told_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], asked: type[BaseException], code: int
) -> None:
    def interrupted(**_: object) -> None:
        raise asked

    monkeypatch.setattr(cli, "main", interrupted)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == code
    assert "give the same command again" in capsys.readouterr().err
