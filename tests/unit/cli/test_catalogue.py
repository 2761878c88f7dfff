"""The lists of what there is are complete, one line each, and quick to say so."""

from __future__ import annotations

import inspect
import json
import re
import shlex
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from pipeline.cli import cli
from pipeline.cli.catalogue import member_page
from pipeline.cli.options import SECTIONS
from pipeline.errors import PluginError, UsageError
from pipeline.plugins import import_plugin, list_plugins
from pipeline.presets.registry import PRESETS
from pipeline.procedures.registry import PROCEDURES
from pipeline.study.profile import COORDINATOR

ROOT = Path(__file__).resolve().parents[3]
NAMES = {
    "procedures": list(PROCEDURES),
    "presets": list(PRESETS),
    "metrics": list(list_plugins("metrics")),
    "formats": list(list_plugins("readers")),
    "analyses": list(list_plugins("analyses")),
}


def printed(*arguments: str) -> str:
    found = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert found.exit_code == 0
    return found.stdout


@pytest.mark.parametrize("what", sorted(NAMES))
def test_a_list_has_a_line_each(what: str) -> None:
    lines = printed(what).splitlines()
    assert [line.split()[0] for line in lines] == NAMES[what]
    assert all(len(line.split()) > 3 for line in lines)
    starts = {re.match(r"\S+\s+", line).end() for line in lines}  # type: ignore[union-attr]  # a line begins with a name
    assert len(starts) == 1  # aligned


@pytest.mark.parametrize("what", sorted(NAMES))
def test_a_list_is_one_document_too(what: str) -> None:
    document = json.loads(printed(what, "--json"))
    assert document["schema_version"] == 1
    assert [row["name"] for row in document[what]] == NAMES[what]


def test_a_procedure_points_to_its_page() -> None:
    for name, line in zip(PROCEDURES, printed("procedures").splitlines(), strict=True):
        assert line.endswith(f"; {PROCEDURES[name].page}")
        assert (ROOT / PROCEDURES[name].page).is_file()
    rows = json.loads(printed("procedures", "--json"))["procedures"]
    assert {row["name"]: row["page"] for row in rows} == {name: PROCEDURES[name].page for name in PROCEDURES}


def test_a_procedure_is_found_by_the_names_that_others_use() -> None:
    rows = {row["name"]: row for row in json.loads(printed("procedures", "--json"))["procedures"]}
    for name, found in PROCEDURES.items():
        assert found.also_called
        assert rows[name]["also_called"] == list(found.also_called)
    for asked, ours in (("permutation", "approximate-randomization"), ("Bootstrap", "paired-bootstrap"), ("binomial", "sign")):
        with pytest.raises(UsageError) as refused:
            CliRunner().invoke(cli, ["procedures", asked], catch_exceptions=False)
        assert refused.value.problems[0].help == f"did you mean '{ours}'?"


def test_no_two_procedures_are_called_alike_by_others() -> None:
    also = [
        re.sub(r"[^a-z0-9]", "", name.casefold()).removesuffix("test") for one in PROCEDURES.values() for name in one.also_called
    ]
    assert len({*also}) == len(also)
    assert not {*also} & {re.sub(r"[^a-z0-9]", "", name) for name in PROCEDURES}


FAMILIES = {"formats": "readers", "metrics": "metrics"}


def rows_of(what: str) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in json.loads(printed(what, "--json"))[what]}


@pytest.mark.parametrize("what", sorted(FAMILIES))
def test_the_page_of_a_member_is_there_and_says_its_name(what: str) -> None:
    for name, row in rows_of(what).items():
        if row["page"] is None and not list_plugins(FAMILIES[what])[name].value.startswith("pipeline."):
            continue  # another package's
        page = ROOT / row["page"]
        assert page.parent == ROOT / "docs" / what
        assert re.search(rf"(?<![\w-]){name}(?![\w-])", page.read_text(encoding="utf-8")), row["page"]


@pytest.mark.parametrize("what", sorted(FAMILIES))
def test_options_are_those_of_the_class_with_their_defaults(what: str) -> None:
    lines = dict(line.split(maxsplit=1) for line in printed(what).splitlines())
    for name, row in rows_of(what).items():
        parameters = inspect.signature(import_plugin(FAMILIES[what], name)).parameters.values()
        assert list(row["options"]) == [one.name for one in parameters]
        assert row["needs"] == [one.name for one in parameters if one.default is one.empty]
        defaults = {one.name: None if one.name in row["needs"] else one.default for one in parameters}
        assert row["options"] == json.loads(json.dumps(defaults))
        told = re.search(r"; options: ([^;]*)", lines[name])
        assert (told[1].split(", ") if told else []) == list(row["options"])


def test_options_of_some_are_as_they_are() -> None:
    rows = rows_of("metrics")
    assert rows["las"]["options"] == {"punctuation": True, "subtypes": False}
    assert rows["las"]["page"] == rows["uas"]["page"] == "docs/metrics/attachment.md"
    assert rows["ratio"]["needs"] == ["numerator", "denominator"]
    assert rows["tag-accuracy"]["page"] == "docs/metrics/tag-accuracy.md"
    assert printed("metrics").split("\nlas ", 1)[1].split("\n", 1)[0].endswith(" in percent; options: punctuation, subtypes")


def test_a_format_says_what_it_is_compared_with_and_which_metric_is_usual() -> None:
    lines = dict(line.split(maxsplit=1) for line in printed("formats").splitlines())
    rows = rows_of("formats")
    found = {name: (rows[name]["compares_with"], rows[name]["metric"]) for name in ("text", "labels", "scores", "bitext")}
    assert found == {
        "text": ("references", "bleu"),
        "labels": ("gold", "accuracy"),
        "scores": ("nothing", "mean"),
        "bitext": ("nothing", None),
    }
    for name, row in rows.items():
        assert lines[name].endswith(f"; with {row['metric']}") if row["metric"] else "; with " not in lines[name]


def test_what_comes_from_another_package_has_no_page_of_ours() -> None:
    point = EntryPoint("flesch", "reading_ease.pipeline:Flesch", "pipeline.metrics")
    assert member_page("metrics", point) is None
    assert member_page("readers", EntryPoint("epub", "pipelines.epub:Reader", "pipeline.readers")) is None


def test_a_default_of_another_package_may_be_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    class Odd:
        """A metric of its own kind."""

        def __init__(self, *, weights: tuple[float, ...] = (0.5, 1.0), unit: object = Path("unit"), **more: object) -> None:
            """Take anything."""

    monkeypatch.setattr("pipeline.plugins.import_plugin", lambda family, name: Odd)
    row = rows_of("metrics")["bleu"]
    assert row["options"] == {"weights": [0.5, 1.0], "unit": repr(Path("unit"))}


def test_help_names_every_member_and_imports_none() -> None:
    code = (
        "import sys; from click.testing import CliRunner; from pipeline.cli import cli; "
        "done = CliRunner().invoke(cli, ['--help']); assert done.exit_code == 0; print(done.stdout, file=sys.stderr); "
        "homes = ('numpy', 'numba', 'sacrebleu', 'pydantic', 'pipeline.metrics', 'pipeline.procedures', 'pipeline.items'); "
        "print([name for name in homes if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    assert names_shown(done.stderr) == {what: sorted(names) for what, names in NAMES.items()}


def help_of(command: str, columns: int) -> str:
    asked = [*filter(None, [command]), "--help"]
    shown = CliRunner().invoke(cli, asked, prog_name="pipeline", terminal_width=columns, catch_exceptions=False)
    assert shown.exit_code == 0
    return shown.stdout


@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize("command", ["", *cli.commands])
def test_help_fits_a_terminal(command: str, columns: int) -> None:
    assert [line for line in help_of(command, columns).splitlines() if len(line) > columns] == []


@pytest.mark.parametrize("command", ["", *cli.commands])
def test_an_example_of_help_can_be_copied_from_a_narrow_terminal(command: str) -> None:
    def examples(columns: int) -> list[str]:
        whole = re.sub(r" \\\n +", " ", help_of(command, columns))  # as a shell joins lines
        lines = [line.strip() for line in whole.splitlines() if line.startswith(("    pipeline ", "  pipeline "))]
        return [re.sub(r" {2,}\S.*", "", line) for line in lines]  # without what is said behind it

    def words(columns: int) -> list[list[str]]:
        return [shlex.split(line) for line in examples(columns)]

    assert words(60) == words(120)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_every_command_stands_under_one_heading_with_its_whole_sentence(width: int) -> None:
    shown = CliRunner().invoke(cli, ["--help"], terminal_width=width, catch_exceptions=False).stdout
    assert [line for line in shown.splitlines() if len(line) > width] == []
    listed = shown.split("\nCompare:\n", 1)[1].split("\nInstalled (", 1)[0]
    assert re.findall(r"^  ([a-z]\S*)  ", listed, re.MULTILINE) == [name for names in SECTIONS.values() for name in names]
    assert sorted(re.findall(r"^(\S.*):$", listed, re.MULTILINE)) == sorted({*SECTIONS} - {"Compare"})
    for name, command in cli.commands.items():
        told = rf"^  {name} +{re.escape(command.get_short_help_str(limit=200))}$".replace(r"\ ", r"\s+")
        assert command.hidden or re.search(told, listed, re.MULTILINE), name
        assert command.hidden or not command.get_short_help_str(limit=200).endswith("...")


def names_shown(help_: str) -> dict[str, list[str]]:
    """Return the names at the end of a help page, by their kind."""
    lines = help_.split("\nInstalled (", 1)[1].split("\n", 1)[1]
    return {kind: re.split(r",\s+", names) for kind, names in re.findall(r"^  (\w+) +(\S.*(?:\n {8,}.*)*)", lines, re.MULTILINE)}


def test_the_help_of_compare_and_run_names_what_each_can_be_asked_for() -> None:
    assert set(names_shown(printed("run", "--help"))) == set(NAMES)
    assert set(names_shown(printed("compare", "--help"))) == set(NAMES) - {"analyses"}
    assert names_shown(printed("compare", "--help"))["procedures"] == sorted(PROCEDURES)


def test_a_command_other_than_help_reads_no_entry_points() -> None:
    code = "import sys, pipeline.cli; print([name for name in ('pipeline.plugins', 'importlib.metadata') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_member_that_cannot_be_loaded_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(family: str, name: str) -> None:
        raise PluginError.of("P302", f"the metric '{name}' cannot be loaded: no module named 'there'")

    monkeypatch.setattr("pipeline.plugins.import_plugin", refuse)
    assert re.search(r"^bleu +the metric 'bleu' cannot be loaded: no module named 'there'$", printed("metrics"), re.MULTILINE)


def test_the_script_of_a_coordinator_is_printed_without_a_checkout() -> None:
    printed = CliRunner().invoke(cli, ["profiles", "--coordinator"])
    assert (printed.exit_code, printed.stdout.splitlines()[0]) == (0, "#!/bin/bash")
    assert printed.stdout == COORDINATOR.read_text(encoding="utf-8")
    for others in (["slurm"], ["--json"]):
        assert CliRunner().invoke(cli, ["profiles", "--coordinator", *others]).exit_code == 2


def test_the_summary_of_every_command_fits_its_line() -> None:
    shown = {name for name, command in cli.commands.items() if not command.hidden}
    commands = printed("--help").split("Options:\n")[1].split("Installed (")[0]
    listed = [line for line in commands.splitlines() if re.match(r"  [a-z]+  ", line)]
    summaries = [line for line in listed if line.split()[0] in shown]
    assert sorted(line.split()[0] for line in summaries) == sorted(shown)
    assert not [line for line in summaries if line.endswith("...")]
