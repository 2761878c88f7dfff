"""A wrong command line is refused as everything else is: a code, what is wrong, and what to do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.studies import run_cli

from pipeline.cli import cli
from pipeline.cli.misuse import IN_A_STUDY
from pipeline.study.resampling import Resampling

SEE = "`pipeline {} --help` shows its arguments and options"


@pytest.mark.parametrize(
    ("typed", "told", "help_"),
    [
        ("comapre a b", "error[P002]: there is no command 'comapre'", "did you mean 'compare'?"),
        ("zzz", "error[P002]: there is no command 'zzz'", "`pipeline --help` lists the commands"),
        ("run s --replicate 9", "error[P001]: `pipeline run` has no option '--replicate'", "did you mean '--replicates'?"),
        ("run s --Workers 9", "error[P001]: `pipeline run` has no option '--Workers'", "did you mean '--workers'?"),
        ("run s --bootstraps 9", "error[P001]: `pipeline run` has no option '--bootstraps'", "did you mean '--replicates'?"),
        ("compare s --alpha 5%", "error[P004]: '5%' is not a number, such as 0.05\n  --> --alpha", "write 0.05"),
        ("run s --workers two", "error[P004]: 'two' is not a whole number, such as 10\n  --> --workers", SEE.format("run")),
        ("run s --workers 0", "error[P004]: 0 is too small: it must be at least 1\n  --> --workers", SEE.format("run")),
        ("status --every x", "error[P004]: 'x' is not a number, such as 0.05\n  --> --every", SEE.format("status")),
        (
            "power -n 500 --accuracy 71.2 --json",
            "error[P004]: two accuracies are needed, the better one first, `--accuracy 71.2 69.8`; after one stands '--json'\n"
            "  --> --accuracy",
            SEE.format("power"),
        ),
        ("power --score .6", "error[P001]: `pipeline power` has no option '--score'", SEE.format("power")),
        ("status --zzz", "error[P001]: `pipeline status` has no option '--zzz'", SEE.format("status")),
        ("run s -z", "error[P001]: `pipeline run` has no option '-z'", SEE.format("run")),
        ("--degub list", "error[P001]: `pipeline` has no option '--degub'", "did you mean '--debug'?"),
        (
            "list --debug",
            "error[P001]: `pipeline list` has no option '--debug'",
            "write it before the command: `pipeline --debug list …`",
        ),
        ("report --alpha .1", "error[P001]: `pipeline report` has no option '--alpha'", "write `--set resampling.alpha=VALUE`"),
        (
            "run s --cluster slurm",
            "error[P001]: `pipeline run` has no option '--cluster'",
            "it is an option of `pipeline submit`, `pipeline resume` and `pipeline doctor`",
        ),
        (
            "run s -b 100k",
            "error[P004]: '100k' is not a whole number of at least 1, such as 10000 or 1e4\n  --> --replicates",
            "write 100_000",
        ),
        ("plan s --follow", "error[P001]: `pipeline plan` has no option '--follow'", "it is an option of `pipeline logs`"),
        ("run", "error[P003]: `pipeline run` needs STUDY", f"write `pipeline run study.yaml`; {SEE.format('run')}"),
        (
            "compare",
            "error[P003]: `pipeline compare` needs OUTPUT",
            f"write `pipeline compare baseline.txt new.txt -r reference.txt`; {SEE.format('compare')}",
        ),
        (
            "compare a b --json none.json",
            "error[P005]: `--json` takes no file; `--json=none.json` writes the document to it",
            SEE.format("compare"),
        ),
        ("expect --gain 1", "error[P003]: `pipeline expect` needs --items", SEE.format("expect")),
        (
            "run s -b x",
            "error[P004]: 'x' is not a whole number of at least 1, such as 10000 or 1e4\n  --> --replicates",
            SEE.format("run"),
        ),
        (
            "compare a b --missing no",
            "error[P004]: 'no' is not one of 'error', 'drop', 'zero'\n  --> --missing",
            SEE.format("compare"),
        ),
        ("run s t", "error[P005]: `pipeline run` takes STUDY, and no more: what is t?", SEE.format("run")),
        ("power s.csv", "error[P005]: `pipeline power` takes options, and no arguments: what is s.csv?", SEE.format("power")),
        ("version", "error[P002]: there is no command 'version'", "write `pipeline --version`"),
        (
            "help run",
            "error[P002]: there is no command 'help'",
            "`pipeline --help` lists the commands, `pipeline COMMAND --help` explains one",
        ),
        ("compare s --test sign", "error[P001]: `pipeline compare` has no option '--test'", "did you mean '--procedure'?"),
        ("compare s --html", "error[P004]: option '--html' requires an argument", "write `--html FILE`"),
        ("compare s -r", "error[P004]: option '-r' requires an argument", "write `-r TEXT`"),
        ("metrics blue", "error[P005]: `pipeline metrics` lists no 'blue'", "did you mean 'bleu'?"),
        ("presets x", "error[P005]: `pipeline presets` lists no 'x'", "`pipeline presets` lists them all"),
        ("expect --gain 0 -n 5", "error[P005]: --gain 0 must be a number other than 0", SEE.format("expect")),
    ],
)
def test_a_mistake_is_told_with_its_code_and_a_way_out(typed: str, told: str, help_: str) -> None:
    done = run_cli(*typed.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"{told}\n   = help: {help_}\n"


def test_standard_output_may_be_called_as_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text("item,a,b\n" + "".join(f"{k},{k % 3},{k % 2}\n" for k in range(20)))
    printed = []
    for typed in ("--json", "--json -", "--json=-"):
        done = run_cli("compare", "scores.csv", "-q", "-b", "100", *typed.split(), cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        printed.append(json.loads(done.stdout)["pairs"])
    assert printed[0] == printed[1] == printed[2]
    assert not (tmp_path / "-").exists()


@pytest.mark.parametrize("name", [name for name, command in cli.commands.items() if not command.hidden])
def test_every_command_refuses_an_option_it_does_not_have(name: str) -> None:
    done = run_cli(name, "--no-such-option-at-all")
    assert done.returncode == 2
    assert done.stderr.startswith(f"error[P001]: `pipeline {name}` has no option '--no-such-option-at-all'\n   = help: ")
    assert "Usage" not in done.stderr


def test_a_call_without_arguments_shows_help() -> None:
    done = run_cli()
    shown = done.stdout + done.stderr
    assert "error[" not in shown
    assert "pipeline compare base.txt" in shown


def test_what_is_advised_to_set_is_a_value_of_the_study() -> None:
    assert {key.partition(".")[0] for key in IN_A_STUDY.values()} == {"resampling"}
    assert {key.partition(".")[2] for key in IN_A_STUDY.values()} <= set(Resampling.model_fields)
