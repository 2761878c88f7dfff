"""What is printed or installed for a shell completes commands, options, runs and files."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import CompletionItem, ShellComplete
from support.studies import run_cli

from pipeline.cli import cli

PLACES = {
    "bash": "data/bash-completion/completions/pipeline",
    "zsh": "data/zsh/site-functions/_pipeline",
    "fish": "config/fish/completions/pipeline.fish",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("BASH_COMPLETION_USER_DIR", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


def completed(*words: str) -> list[CompletionItem]:
    return ShellComplete(cli, {}, "pipeline", "_PIPELINE_COMPLETE").get_completions(list(words[:-1]), words[-1])


@pytest.mark.parametrize("shell", sorted(PLACES))
def test_what_is_installed_is_what_is_printed_and_its_place_is_told(home: Path, shell: str) -> None:
    shown = run_cli("completion", shell)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert f"_PIPELINE_COMPLETE={shell}_complete" in shown.stdout
    put = run_cli("completion", shell, "--install")
    place = home / PLACES[shell]
    assert (put.returncode, put.stdout) == (0, f"{place}\n")
    assert "new shells complete `pipeline`" in put.stderr
    assert place.read_text() == shown.stdout.removesuffix("\n")
    assert run_cli("completion", shell, "--install").returncode == 0, "again is no error"


def test_bash_looks_where_its_own_variable_says(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BASH_COMPLETION_USER_DIR", str(home / "own"))
    assert run_cli("completion", "bash", "--install").stdout == f"{home / 'own/completions/pipeline'}\n"


def test_a_place_that_cannot_be_written_is_told(home: Path) -> None:
    (home / "config").write_text("a file")
    refused = run_cli("completion", "fish", "--install")
    assert (refused.returncode, refused.stdout) == (73, "")
    assert "error[P702]: the completion cannot be written: " in refused.stderr
    assert str(home / PLACES["fish"]) in refused.stderr


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_with_what_is_printed(tmp_path: Path) -> None:
    program = tmp_path / "pipeline"
    program.write_text(
        f"#!{sys.executable}\nimport sys\nsys.argv[0] = 'pipeline'\nfrom pipeline.cli import main\nmain()\n", encoding="utf-8"
    )
    program.chmod(0o755)
    (tmp_path / "completion").write_text(run_cli("completion", "bash").stdout, encoding="utf-8")
    asks = "source ./completion; COMP_WORDS=(pipeline comp); COMP_CWORD=1; _pipeline_completion ./pipeline; echo ${COMPREPLY[@]}"
    found = subprocess.run(["bash", "--norc", "-c", asks], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (found.stdout, found.stderr) == ("compare completion\n", "")


def test_commands_options_codes_and_files_are_completed() -> None:
    assert [one.value for one in completed("expl")] == ["explain"]
    assert [one.value for one in completed("run", "--block")] == ["--block-cells"]
    assert [one.value for one in completed("explain", "p80")] == ["P801", "P802"]
    assert [one.type for one in completed("compare", "out")] == ["file"]
    assert [one.type for one in completed("compare", "a", "-r", "re")] == ["file"]


def test_a_wrong_command_is_no_error_while_a_shell_completes() -> None:
    assert "compare" in {one.value for one in completed("comapre", "")}


def test_runs_are_completed_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("first-0123456789ab", "second-0123456789ab"):
        (tmp_path / "kept" / name).mkdir(parents=True)
        (tmp_path / "kept" / name / "plan.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    assert completed("status", "") == [], "there is no folder of runs here"
    assert [one.value for one in completed("status", "--runs", "kept", "fi")] == ["first-0123456789ab"]
    monkeypatch.setenv("PIPELINE_RUNS", "kept")
    assert [one.value for one in completed("report", "se")] == ["second-0123456789ab"]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (("compare", "a.txt", "-m", "chr"), "chrf"),
        (("compare", "a.txt", "--preset", "sacrebleu-b"), "sacrebleu-bs"),
        (("compare", "a.txt", "--procedure", "paired-b"), "paired-bootstrap"),
        (("init", "--format", "conll"), "conllu"),
    ],
)
def test_values_of_options_are_completed(typed: tuple[str, ...], meant: str) -> None:
    assert [item.value for item in completed(*typed)] == [meant]
