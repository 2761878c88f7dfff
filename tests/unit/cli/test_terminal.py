"""What commands write to a pseudo-terminal of 60, 80 and 120 columns, with and without colour."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import sys
import termios
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from pipeline.cli import runs
from pipeline.cli.main import main
from pipeline.cli.terminal import link_to, saying_why_it_takes_long, screen_of
from pipeline.compiled.notice import tell_of_compilation
from pipeline.engine.watching import watch
from pipeline.report.layout.terminal import Screen, lay_out
from pipeline.report.layout.view import View, text_width

CODES = re.compile(r"\x1b\[[\d;]*m")
WIDTHS = (60, 80, 120)
NAMES = ("the-large-model-v2", "the-small-model-v2", "旧系统", "new", "old")

InTerminal = Callable[..., str]


@pytest.fixture
def in_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InTerminal:
    """Run a command in this process, with both streams on a pseudo-terminal of some columns; gives what it wrote."""
    monkeypatch.chdir(tmp_path)
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    with open("scores.csv", "w", encoding="utf-8") as file:
        print("item", *NAMES, sep=",", file=file)
        for k in range(80):
            print(k, *(int((k * 7 + 3 * s * (k % 5)) % 11 > 2 + s) for s in range(len(NAMES))), sep=",", file=file)

    def call(*arguments: str, width: int) -> str:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
        parts: list[bytes] = []

        def listen() -> None:
            while True:
                try:
                    part = os.read(ours, 65536)
                except OSError:  # Linux says so that the other end is closed
                    return
                if not part:
                    return
                parts.append(part)

        listener = threading.Thread(target=listen)
        listener.start()
        with open(theirs, "w", encoding="utf-8") as stream, monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["pipeline", *arguments])
            patch.setattr(sys, "stdout", stream)
            patch.setattr(sys, "stderr", stream)
            with pytest.raises(SystemExit):
                main()
        listener.join(timeout=30)
        os.close(ours)
        return b"".join(parts).decode().replace("\r\n", "\n")

    return call


COMPARED = ("compare", "scores.csv", "-b", "200", "-q")


def test_a_comparison_fits_with_and_without_colour_and_breaks_no_word(
    in_terminal: InTerminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = {}
    for width in WIDTHS:
        coloured = in_terminal(*COMPARED, width=width)
        plain = CODES.sub("", coloured)
        assert "\x1b[32mbetter" in coloured
        assert f"\x1b[1m{NAMES[0]}\x1b[0m" in coloured
        assert max(map(text_width, plain.splitlines())) <= width
        assert "95 % interval" in plain
        words[width] = set(plain.split())
    monkeypatch.setenv("NO_COLOR", "1")
    assert in_terminal(*COMPARED, width=width) == plain
    # What takes more lines says no less: scores, gains, intervals, p, names and sentences are whole.
    assert words[60] == words[80] == words[120]


def test_an_error_and_its_help_fit(in_terminal: InTerminal) -> None:
    told = in_terminal("compare", "scores.csv", "-m", "a-metric-that-nobody-has-ever-heard-of", "-q", width=60)
    plain = CODES.sub("", told)
    assert "\x1b[1;31merror[P226]:\x1b[0m" in told
    assert "\x1b[32m   = help:\x1b[0m" in told
    assert all(len(line) <= 60 for line in plain.splitlines() if "-->" not in line)  # a path is one word


def test_warnings_of_a_check_fit(in_terminal: InTerminal, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,a,b,what this column of text is called\nq1,1,0,law\nq2,0,1,law\n")
    (tmp_path / "s.yaml").write_text(
        "{schema: 1, study: s, test_sets: {t: {format: scores, outputs: t.csv}}, metrics: [mean]}", encoding="utf-8"
    )
    told = in_terminal("check", "s.yaml", width=60).splitlines()
    assert "holds text, and was left out" in " ".join(" ".join(told).split())
    assert max(text_width(line) for line in told if "/" not in line) <= 60  # a path is one word


@pytest.mark.parametrize(
    "command",
    [
        ("plan", "s.yaml", "--workers", "2"),
        ("power", "--items", "300", "--helped", "10", "--hurt", "8"),
        ("expect", "--gain", "0.5", "-n", "997", "--like", "wmt22-en-de/bleu"),
        ("metrics", "bleu"),
        ("presets",),
        ("procedures",),
        ("profiles",),
        ("config", "s.yaml"),
    ],
    ids=lambda command: command[0],
)
def test_what_a_command_says_fits(in_terminal: InTerminal, tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "s.yaml").write_text(
        "{schema: 1, study: s, test_sets: {t: {format: scores, outputs: scores.csv}}, metrics: [mean]}", encoding="utf-8"
    )
    told = in_terminal(*command, width=60).splitlines()
    assert len(told) > 1
    assert max(text_width(line) for line in told if "/" not in line) <= 60  # a path is one word


def test_a_value_that_has_no_room_beside_its_key_stands_below_it(in_terminal: InTerminal, tmp_path: Path) -> None:
    name = "a-study-whose-name-has-no-room-beside-its-key"
    text = f"schema: 1\nstudy: s\ntest_sets:\n  of-two-systems: {{format: scores, outputs: {{{name}: a.csv}}}}\nmetrics: [mean]\n"
    (tmp_path / "s.yaml").write_text(text, encoding="utf-8")
    told = in_terminal("config", "s.yaml", width=60).splitlines()
    place = told.index(f"test_sets.of-two-systems.outputs.{name}:")
    assert told[place + 1] == '  "a.csv"'
    assert [told[place + 2].strip(), text_width(told[place + 2]) <= 60] == ["# s.yaml:4:46", True]


def test_the_option_decides_before_the_environment(in_terminal: InTerminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[1;31merror" in in_terminal("--color", "compare", "missing.csv", width=80)
    assert "\x1b" not in in_terminal("--no-color", "compare", "missing.csv", width=80)
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.delenv("NO_COLOR")
    assert "\x1b" not in in_terminal("compare", "missing.csv", width=80)


@pytest.mark.parametrize(
    ("seconds", "quiet", "on_terminal", "said"),
    [
        ((10.0, 10.4, 12.0, 13.0), False, True, 1),
        ((10.0, 10.9), False, True, 0),
        ((10.0, 13.0), True, True, 0),
        ((10.0, 13.0), False, False, 0),
    ],
)
def test_it_is_said_once_why_a_first_command_takes_long(
    monkeypatch: pytest.MonkeyPatch, seconds: tuple[float, ...], quiet: bool, on_terminal: bool, said: int
) -> None:
    told: list[str] = []
    clock = iter(seconds)
    monkeypatch.setattr("pipeline.cli.terminal.time.monotonic", lambda: next(clock))
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(isatty=lambda: on_terminal, fileno=lambda: -1, write=told.append))
    with saying_why_it_takes_long(quiet=quiet):
        for _ in seconds:
            tell_of_compilation()
    tell_of_compilation()  # nobody listens any more
    assert "".join(told).count("compiling for this machine") == said


TABLE = View(
    "pairs",
    "",
    ("better", "worse", "gain", "95 % interval", "p", "p adjusted", "verdict"),
    (("a" * 12, "b" * 12, "0.1000", "[0.0100, 0.2000]", "0.0100", "0.0200", "better"),),
    "",
    frozenset({"better", "worse", "verdict"}),
)


def test_what_is_left_out_is_said() -> None:
    lines = list(lay_out(TABLE, Screen(72), dispensable=("exact", "p")))
    assert lines[-1] == "columns that do not fit: p"
    assert lines[0].strip() == "p"  # the head of p adjusted takes two lines
    assert "0.0100" not in lines[2].split()
    whole = list(lay_out(TABLE, Screen(90), dispensable=("exact", "p")))
    assert [len(whole), whole[1].split()] == [2, [*TABLE.rows[0][:3], "[0.0100,", "0.2000]", *TABLE.rows[0][4:]]]


def test_nothing_is_left_out_of_a_file_or_a_pipe() -> None:
    wide = View("", "", ("better", "exact", "p"), (("a" * 90, "0.0100", "0.0200"),), "", frozenset({"better"}))
    assert [line.split() for line in lay_out(wide, Screen(), dispensable=("exact", "p"))] == [[*wide.columns], [*wide.rows[0]]]


def test_a_row_that_has_no_room_takes_several_lines_with_all_columns() -> None:
    lines = list(lay_out(TABLE, Screen(60), dispensable=("p",)))
    assert max(map(len, lines)) <= 60
    assert " ".join(lines[-2:]).split() == " ".join(TABLE.rows[0]).split()


def test_of_a_name_that_is_wider_than_the_terminal_the_middle_is_left_out() -> None:
    name = f"start-{'很' * 50}-end"
    lines = list(lay_out(View("", "", ("system", "score"), ((name, "1.0"),), "", frozenset({"system"})), Screen(60)))
    assert max(map(text_width, lines)) <= 60
    assert lines[2].startswith("start-很")
    assert lines[2].endswith("很-end")
    assert "…" in lines[2]


def test_heads_with_a_long_name_fit_too() -> None:
    head = f"than {'-'.join(['baseline'] * 12)}"
    lines = list(lay_out(View("", "", ("system", head), (("new", "better"),), "", frozenset({"system", head})), Screen(60, True)))
    assert max(text_width(CODES.sub("", line)) for line in lines) <= 60
    assert "\x1b[32mbetter" in "".join(lines)  # the column is still known as one of verdicts


@pytest.mark.parametrize("name", ["日本語のモデル", "हिन्दी", "ระบบที่ดีที่สุด", "e\u0301" * 9, "نظام"])
def test_sentences_are_broken_by_the_width_of_characters_not_by_their_number(name: str) -> None:
    fitted = Screen(30).fit(" and ".join([name] * 6))
    lines = fitted.split("\n")
    assert max(map(text_width, lines)) <= 30
    assert min(map(text_width, lines[:-1])) >= 30 - 2 - text_width(name)  # nor before there is need
    assert fitted.split() == " and ".join([name] * 6).split()


def test_marks_take_no_columns() -> None:
    view = View("", "", ("system", "score"), (("ที่", "1"), ("x", "2")), "", frozenset({"system"}))
    assert [line.replace("\u0e35\u0e48", "") for line in lay_out(view, Screen(60))] == [
        "system  score",
        "ท           1",
        "x           2",
    ]


def test_a_stream_that_is_closed_is_no_terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    assert screen_of(None) == Screen()  # what Python has for a stream that was closed before it began
    assert link_to(tmp_path, None) == str(tmp_path)


def test_a_file_has_the_same_lines_whatever_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert list(lay_out(TABLE, Screen())) == list(lay_out(TABLE, Screen(500)))


STAGES = {
    name: {"done": done, "total": 1200} for name, done in (("train", 1200), ("extract", 1200), ("resample", 37), ("collect", 0))
}
RUNNING = {"run": "a-study-of-many-systems-0123456789ab", "state": "RUNNING", "stages": STAGES, "eta_seconds": 5000}
ENDED = RUNNING | {"state": "FAILED", "eta_seconds": None, "message": "two tasks failed", "report": "/runs/" + "x" * 150}


def screen_after(written: str) -> list[str]:
    """What a terminal shows that knows the codes for going up and for clearing what follows."""
    lines, row = [""], 0
    for part in re.split(r"(\x1b\[\d*[AJ]|\r|\n)", written):
        if part == "\n":
            row += 1
            lines += [""] * (row == len(lines))
        elif part.endswith("A") and part.startswith("\x1b"):
            row -= int(part[2:-1])
        elif part == "\x1b[J":
            lines = [*lines[:row], ""]
        elif part != "\r":
            lines[row] += part
    return lines


@pytest.mark.parametrize("width", WIDTHS)
def test_the_state_of_a_run_fits_and_one_that_is_watched_is_written_over(
    in_terminal: InTerminal, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setattr(runs, "find", lambda *given: None)
    monkeypatch.setattr(watch, "read_status", lambda run: RUNNING)
    once = in_terminal("status", "a", width=width).splitlines()
    assert max(map(len, once)) <= width
    assert "  ".join(line.strip() for line in once) == (
        "a-study-of-many-systems-0123456789ab  running  train 1200/1200  extract 1200/1200  resample 37/1200  collect 0/1200"
        "  about 1 h 23 min left"
    )
    monkeypatch.setattr(watch, "watch_status", lambda run, every: iter([RUNNING, RUNNING, ENDED]))
    shown = screen_after(in_terminal("status", "a", "--watch", width=width))
    assert max(len(line) for line in shown if "/runs/" not in line) <= width
    assert "  ".join(line.strip() for line in shown) == (
        "a-study-of-many-systems-0123456789ab  failed  train 1200/1200  extract 1200/1200  resample 37/1200  collect 0/1200"
        f"  two tasks failed  report: {ENDED['report']}  "
    )
