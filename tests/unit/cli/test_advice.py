"""Every command that a message advises is listed with the test in which it is followed; some are followed here, to the letter."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.studies import write_scores, write_study

from pipeline.cli.advice import complete_advice, forget_named
from pipeline.cubes.history import open_history
from pipeline.engine.launch import Launch, prepare
from pipeline.errors import StoreError
from pipeline.study.load import load_study
from pipeline.study.profile import FILLED_IN

Call = Callable[..., tuple[int, str]]
ROOT = Path(__file__).parents[3]

FOLLOWED = {
    "tests/unit/cli/test_advice.py::test_what_a_message_advises_works_to_the_letter": """
        cli/runs: resume {} --cluster local; cli/studies: check --run-code; foreign_code: check --run-code
        store/archive: resume {}; store/runs: list, run STUDY; study/report_overrides: run STUDY; survey/folders: formats
        cli/misuse: {} {} …, --help, {}, --version; study/load: init, compare {} …, init {} …; study/complaints: init
        cli/catalogue: {}; survey/folders: {} {}{}
    """,
    "tests/unit/cli/test_advice.py::test_what_only_shows_something_shows_it": """
        cli/actions: logs; cli/compare: procedures, presets; cli/options: metrics, formats
        cli/explain: explain; engine/doctor: gc; trainers/command: formats; study/starter: analyses, metrics
        cli/runs: profiles; cli/studies: profiles; study/load: profiles, profiles local
        study/writing: schema; metrics/registry: metrics; metrics/own_metric: logs; survey/compare: metrics; store/lease: status
        error_help: procedures, logs, list, --help, compare --help, schema, metrics, formats, gc --help, import --help, status
    """,
    "tests/unit/cli/test_advice.py::test_a_profile_that_knows_no_machines_is_written_down": "study/load: profiles {} > {}.yaml",
    "tests/unit/cli/test_advice.py::test_a_folder_without_runs_gets_one": "cli/runs: run STUDY",
    "tests/unit/cli/test_advice.py::test_a_history_without_slots_gets_one": "cubes/history: reanalyse STUDY",
    "tests/unit/cli/test_advice.py::test_an_archive_that_is_none_is_replaced_by_one": "store/archive: export, export RUN FILE",
    "tests/unit/cli/test_catalogue.py::test_help_fits_a_terminal": """
        cli/misuse: COMMAND --help; error_help: COMMAND --help
    """,
    "tests/unit/cli/test_damaged_runs.py::test_no_damage_to_a_file_of_a_run_is_a_dead_end": """
        cubes/checked: resume RUN; engine/restore: run STUDY --runs {}; record/manifest: resume {}; store/files: resume
        store/ledger: resume; store/lease: resume {}; engine/watching/watch: resume {}, logs {}
        error_help: resume, cancel, run, check
    """,
    "tests/unit/cli/test_repair.py::test_debug_shows_the_traceback_and_keeps_the_exit_code": """
        cli/main: --debug …; error_help: --debug …
    """,
    "tests/unit/cli/test_repair.py::test_a_failed_run_says_why_even_when_quiet": "tasks/run: logs",
    "tests/unit/cli/test_words_of_compare.py::test_the_traceback_of_a_metric_is_where_the_run_is_kept": """
        survey/compare_arguments: logs, logs --runs {}
    """,
    "tests/unit/cli/test_explain.py": "cli/explain: explain CODE; engine/watching/events: explain CODE",
    "tests/unit/cli/test_init_and_config.py": """
        study/starter: config {name}; study/writing: compare; survey/folders: init {}, {} {}; items/compare: init;
        items/offers: init --sets, init '{}'; items/discover: init '{}'
    """,
    "tests/unit/items/test_sets_in_one_table.py": "items/readers/_sets: init",
    "tests/unit/cli/test_completion.py": "cli/completion: completion SHELL > FILE",
    "tests/unit/engine/test_coordinator.py::test_a_failed_system_is_tried_again_by_the_next_attempt_only": """
        plan/task: resume; tasks/extract: resume; tasks/train: resume; engine/dask: resume; engine/watching/ending: resume
    """,
    "tests/unit/engine/watching/test_watch.py": "store/lease: status {}, cancel {}",
    "tests/unit/engine/test_doctor.py": "error_help: doctor",
    "tests/unit/engine/test_doctor.py::test_a_worker_with_other_versions_or_another_folder_fails": """
        engine/clusters/placement: doctor --cluster PROFILE
    """,
    "tests/unit/metrics/test_own_metric.py": "metrics/registry: run",
    "tests/distributed/test_slurm_run.py": """
        engine/clusters/patience: resume; engine/launch: resume {} --runs {}; error_help: resume --cluster local
    """,
    "tests/distributed/test_other_users.py::test_another_user_is_told_whose_runs_these_are": "store/runs: export RUN FILE",
    "tests/unit/cli/test_gate.py": "error_help: gate, gate --fail-on inconclusive, reanalyse --baseline",
    "tests/unit/power_analysis/test_atlas.py": "power_analysis/atlas: power",
    "tests/unit/analyses": "analyses/units: run STUDY",
}
"""What follows the commands that each module advises: a test, or tests of what only another version or a cluster brings about."""


def advised() -> Iterator[tuple[str, str]]:
    """Yield the modules and the commands in backticks of their messages, with braces for what is put in."""
    for path in sorted((ROOT / "pipeline").rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if "`pipeline " not in source:
            continue
        nodes = list(ast.walk(ast.parse(source)))
        prose = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        parts = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in nodes:
            if isinstance(node, ast.JoinedStr):
                text = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose | parts:
                text = node.value
            else:
                continue
            module = path.relative_to(ROOT / "pipeline").with_suffix("").as_posix()
            if module not in {"error_codes", "cli/advice"}:
                yield from ((module, command) for command in re.findall(r"`pipeline ([^`]*)`", text))


def test_every_command_that_a_message_advises_has_a_test_that_follows_it() -> None:
    listed = {
        (module, command.strip())
        for text in FOLLOWED.values()
        for module, commands in re.findall(r"([\w/]+): ([^;\n]+)", text)
        for command in commands.split(", ")
    }
    assert listed == set(advised())


def test_what_follows_commands_is_there() -> None:
    for place in FOLLOWED:
        path, _, name = place.partition("::")
        assert (ROOT / path).exists(), path
        assert not name or f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), name


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a study, its run, another run that nobody has begun, and what is wrong in some way."""
    from pipeline.api import run

    folder = tmp_path_factory.mktemp("made")
    write_scores(folder / "scores.csv", ["a", "b"], items=12)
    few = {"replicates": 300, "keep_replicates": 0, "test_sizes": ["full"]}
    test_sets = {"set": {"format": "scores", "outputs": "scores.csv"}}
    asked = {"test_sets": test_sets, "resampling": few, "analyses": ["thresholds"]}
    write_study(folder / "study.yaml", metrics=["mean"], **asked)
    (folder / "own.py").write_text(OWN)
    write_study(folder / "own.yaml", metrics=[{"name": "own:Half", "path": "."}], **asked)
    for name, text in {"empty.yaml": "", "bare.yaml": "schema: 1\nstudy: s\nmetrics: [mean]\n"}.items():
        (folder / name.removesuffix(".yaml")).mkdir()
        (folder / name.removesuffix(".yaml") / name).write_text(text)
        write_scores(folder / name.removesuffix(".yaml") / "scores.csv", ["a", "b"], items=12)
    (folder / "folder").mkdir()
    write_scores(folder / "table" / "scores.csv", ["a", "b"], items=12)
    (folder / "above" / "below").mkdir(parents=True)
    for name, word in {"ref.txt": "c", "below/a.txt": "c", "below/b.txt": "d"}.items():
        (folder / "above" / name).write_text(f"a b {word}\n{word} e f\n")
    run(folder / "study.yaml", runs=folder / "my runs", serial=True)
    other = load_study(folder / "study.yaml", ["seed=8"])
    prepare(other, folder / "begun", Launch(str(folder / "gone.yaml")))
    prepare(other, folder / "planned", Launch("serial"))
    return folder


OWN = """
class Half:
    statistics = ("score", "items")
    higher_is_better = True
    form = "ratio"

    def signature(self):
        return "half"

    def statistics_of(self, output, gold):
        raise NotImplementedError
"""
RUNS = ("--runs", "my runs")


def follow(message: str, call: Call, known: dict[str, str]) -> list[str]:
    """Do what a message says, with what stands for names put in, and return the commands."""
    said = re.findall(r"(?:= help:|needs) .*", message) or [message]
    commands = re.findall(r"`pipeline ([^`]+)`", "\n".join(said))
    for command in commands:
        words = shlex.split(" ".join(known.get(word, word) for word in command.split()))
        code, printed = call(*words)
        assert code == 0, (words, printed)
        assert printed.strip()
    return commands


@pytest.fixture
def at(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder, where the test is, too."""
    monkeypatch.chdir(made)
    monkeypatch.delenv("PIPELINE_RUNS", raising=False)
    return made


@pytest.mark.parametrize(
    ("typed", "known", "commands"),
    [
        ("status nothing --runs 'my runs'", {}, ["list --runs 'my runs'"]),
        ("status --runs none", {"STUDY": "study.yaml"}, ["run STUDY --runs none"]),
        ("report --runs 'my runs' --set seed=8", {"STUDY": "study.yaml"}, ["run STUDY --runs 'my runs'"]),
        ("compare folder", {}, ["formats"]),
        ("frobnicate", {}, ["--help"]),
        ("version", {}, ["--version"]),
        ("metrics frobnicate", {}, ["metrics"]),
        (
            "check scores.csv",
            {"…": "-m mean", "folder": "table"},
            ["compare scores.csv …", "init scores.csv …"],
        ),
        ("compare above", {}, ["compare above/below -r above/ref.txt"]),
        ("status --debug --runs 'my runs'", {"…": "--runs 'my runs'"}, ["--debug status …"]),
        (
            "run --runs 'my runs' study.yaml --candidate a",
            {"gate": "gate --help", "reanalyse": "reanalyse --help"},
            ["gate", "reanalyse"],
        ),
        ("check empty/empty.yaml", {}, ["init"]),
        ("check bare/bare.yaml", {}, ["init"]),
        ("resume --runs begun", {}, ["resume small-… --cluster local --runs begun"]),
        ("export small RUN.zip --runs planned", {}, ["resume small-… --runs planned"]),
    ],
)
def test_what_a_message_advises_works_to_the_letter(
    at: Path, call: Call, monkeypatch: pytest.MonkeyPatch, typed: str, known: dict[str, str], commands: list[str]
) -> None:
    monkeypatch.chdir(at / known.get("folder", ""))
    code, said = call(*shlex.split(typed))
    assert code != 0
    if commands == ["init"]:  # a study is written into a folder that has none, and no other files
        monkeypatch.chdir(at / typed.split("/")[1].removesuffix(".yaml"))
    followed = follow(said, call, known)
    assert [re.sub(r"small-[0-9a-f]+", "small-…", one) for one in followed] == commands


def test_code_that_was_not_run_is_run_where_that_is_asked(at: Path, call: Call) -> None:
    code, said = call("check", "own.yaml")
    assert code == 0
    assert re.findall(r"`pipeline ([^`]+)`", said) == ["check own.yaml --run-code"]


SHOWN = sorted(
    {
        command.strip()
        for _, commands in re.findall(
            r"([\w/]+): ([^;\n]+)", FOLLOWED["tests/unit/cli/test_advice.py::test_what_only_shows_something_shows_it"]
        )
        for command in commands.split(", ")
    }
)


@pytest.mark.parametrize("command", SHOWN)
def test_what_only_shows_something_shows_it(at: Path, call: Call, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.setenv("PIPELINE_RUNS", "my runs")
    code, printed = call(*command.split())
    assert code == 0
    assert printed.strip()


@pytest.mark.parametrize("asked", ["{}", "cluster/{}.yaml"])
@pytest.mark.parametrize("name", FILLED_IN)
def test_a_profile_that_knows_no_machines_is_written_down(at: Path, call: Call, name: str, asked: str) -> None:
    code, said = call("submit", "study.yaml", "--dry-run", "--cluster", asked.format(name))
    assert code != 0
    (advice,) = re.findall(r"`pipeline ([^`]+)`", said)
    command, _, file = advice.partition(" > ")
    code, printed = call(*command.split())
    assert code == 0
    (at / file).write_text(printed, encoding="utf-8")
    code, said = call("submit", "study.yaml", "--dry-run", "--cluster", file)
    assert (code, f"cluster {name}" in said) == (0, True)


def test_a_folder_without_runs_gets_one(at: Path, call: Call) -> None:
    code, said = call("list", "--runs", "new runs")
    assert code == 0
    assert follow(said, call, {"STUDY": "study.yaml --serial"}) == ["run STUDY --runs 'new runs'"]


def test_a_history_without_slots_gets_one(at: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIPELINE_RUNS", "my runs")
    place = at / "my runs" / ".history" / "small"
    with pytest.raises(StoreError, match="P708") as caught:
        open_history(place)
    follow(str(caught.value.problems[0].help), call, {"STUDY": "study.yaml --serial"})
    assert open_history(place).sizes["slot"] == 1


def test_an_archive_that_is_none_is_replaced_by_one(at: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIPELINE_RUNS", "my runs")
    (at / "sent.zip").write_bytes(b"no archive")
    code, said = call("import", "sent.zip")
    assert code != 0
    (at / "sent.zip").unlink()
    assert follow(said, call, {"RUN": "small", "FILE": "sent.zip"}) == ["export RUN FILE"]
    assert call("import", "sent.zip")[0] == 0


def test_commands_that_have_what_they_need_or_take_no_runs_are_left_alone() -> None:
    from pipeline.cli.advice import _named

    _named.update(runs="my runs", study="a b.yaml")
    try:
        for text, whole in {
            "`pipeline resume x --runs y`": "`pipeline resume x --runs y`",
            "`pipeline metrics` and `pipeline gc --help`": "`pipeline metrics` and `pipeline gc --help`",
            "`pipeline check --run-code`": "`pipeline check 'a b.yaml' --run-code`",
            "`pipeline run`, pipeline resume": "`pipeline run 'a b.yaml' --runs 'my runs'`, pipeline resume",
        }.items():
            assert complete_advice(text) == whole
    finally:
        forget_named()
