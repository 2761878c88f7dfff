"""What the documentation repeats from the code is what the code says; what it shows can be run; its links lead somewhere."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from support.studies import run_cli

import pipeline
from pipeline.cli import cli, gate
from pipeline.cubes.declarations import Variable
from pipeline.cubes.variables import COORDINATES, STATISTICS, VARIABLES
from pipeline.error_codes import CODES
from pipeline.error_help import EXIT_CODES, FAMILIES, OWN_HELP, format_page
from pipeline.items.readers.registry import load_reader
from pipeline.plan.trainings import make_trainings
from pipeline.plugins import list_plugins
from pipeline.study.schema import Study
from pipeline.trainers.registry import load_trainer

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
COMPARING, STUDIES, COMMANDS = (
    (DOCS / f"{name}.md").read_text(encoding="utf-8") for name in ("comparing", "studies", "command_line")
)
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "cluster").rglob("*.md")])
LINK = re.compile(r"\]\(([^)\s]+)\)")


def table_of(variables: Iterable[Variable]) -> str:
    """Return declarations as a Markdown table."""
    rows = [("variable", "dimensions", "type", "units", "meaning"), ("---",) * 5]
    for variable in variables:
        codes = ", ".join(f"{code} {flag}" for code, flag in enumerate(variable.flags))
        meaning = variable.description + (f"; codes: {codes}" if codes else "")
        rows.append((f"`{variable.name}`", ", ".join(variable.dims), variable.dtype, variable.units, meaning.replace("|", "\\|")))
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


TABLES = {"variables": [*VARIABLES.values(), STATISTICS], "coordinates": list(COORDINATES.values())}


def test_each_decision_has_a_number_of_its_own_and_one_row_among_the_topics() -> None:
    pages = {page.name: page.read_text(encoding="utf-8").splitlines()[0] for page in (DOCS / "design").glob("[0-9]*.md")}
    numbers = [name[:3] for name in pages]
    assert len(set(numbers)) == len(numbers)
    assert {name: heading[:6] for name, heading in pages.items()} == {name: f"# {name[:3]} " for name in pages}
    listed = re.findall(r"^\| \[(\d{3})\]\((.+\.md)\) \| \S", (DOCS / "design" / "README.md").read_text(encoding="utf-8"), re.M)
    assert sorted(listed) == [(name[:3], name) for name in sorted(pages)]


def block(name: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- {name} -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def fenced(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", sorted(TABLES))
def test_the_tables_of_cubes_are_the_declarations(name: str) -> None:
    page = (DOCS / "cubes.md").read_text(encoding="utf-8")
    found = block(name).search(page)
    assert found is not None
    assert found[2].strip() == table_of(TABLES[name])


def test_the_page_of_commands_lists_every_command() -> None:
    listed = re.findall(r"^\| `pipeline ([a-z]+)` \|", COMMANDS, re.MULTILINE)
    assert listed == [name for name, command in cli.commands.items() if not command.hidden]


def test_the_page_of_commands_lists_every_environment_variable_of_the_package() -> None:
    read = {
        found
        for path in (ROOT / "pipeline").rglob("*.py")
        for found in re.findall(r"\bPIPELINE_[A-Z_]+\b", path.read_text("utf-8"))
    }
    read -= {"PIPELINE_SCRATCH"}  # set and read by the scripts of jobs alone
    assert set(re.findall(r"^\| `(PIPELINE_[A-Z_]+)`", COMMANDS, re.MULTILINE)) == read


def test_every_command_that_is_shown_exists_with_its_options() -> None:
    for page in PAGES:
        for name, rest in re.findall(
            r"\bpipeline (compare|[a-z]+) +([^\n`;#)]*)", "\n".join(fenced(page.read_text(encoding="utf-8"), ""))
        ):
            assert name in cli.commands, f"{page.name}: pipeline {name}"
            options = {option for parameter in cli.commands[name].params for option in parameter.opts}
            used = set(re.findall(r"(?<!\S)(--?[a-z][a-z-]*)", rest))
            assert used <= options, f"{page.name}: pipeline {name} {rest}"


def test_the_page_of_errors_is_made_from_the_table_of_codes() -> None:
    page = (DOCS / "errors.md").read_text(encoding="utf-8")
    assert format_page() in page, "python -m pipeline.error_help docs/errors.md"
    assert page.count("\n| P") == len(CODES)


def test_what_errors_say_to_do_names_commands_and_pages_that_are_there() -> None:
    said = [*(family.help for family in FAMILIES), *OWN_HELP.values(), *(ending.help for ending in EXIT_CODES.values())]
    commands = {name for text in said for name in re.findall(r"`pipeline ([a-z]+)", text)}
    pages = {name for text in said for name in re.findall(r"(?:docs/[\w/]*|CONTRIBUTING)(?:\.md)?", text)}
    assert len(commands) > 5
    assert commands <= set(cli.commands)
    assert len(pages) > 4
    assert [name for name in pages if not (ROOT / name).exists()] == []


def test_the_page_of_commands_lists_every_exit_code_that_an_error_has() -> None:
    source = (ROOT / "pipeline" / "errors.py").read_text(encoding="utf-8")
    listed = {int(code) for code in re.findall(r"^\| (\d+) \|", COMMANDS, re.MULTILINE)}
    answers = {gate.WORSE, gate.INCONCLUSIVE}
    assert {int(code) for code in re.findall(r"exit_code.* = (\d+)$", source, re.MULTILINE)} | {0, 130} | answers == listed
    rows = dict(re.findall(r"^\| (\d+) \| (.*) \|$", COMMANDS, re.MULTILINE))
    plain = {int(code): re.sub(r"\[(.*?)\]\(.*?\)", r"\1", meaning) for code, meaning in rows.items()}
    assert plain == {status: ending.meaning for status, ending in EXIT_CODES.items()}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_relative_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in LINK.findall(text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), f"{page.name}: {target}"
        if anchor:
            heads = re.findall(r"^#+ (.*)$", there.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}, f"{page.name}: {target}"


def test_files_that_pages_name_are_there() -> None:
    missing = set()
    for page in PAGES:
        for name in re.findall(
            r"`((?:pipeline|tests|docs|workflows|cluster|scripts)/[\w./-]+\.(?:py|md|yaml|json))[`:]",
            page.read_text(encoding="utf-8"),
        ):
            if not (ROOT / name).exists():
                missing.add(f"{page.name}: {name}")
    for name in re.findall(r"`([a-z]+/(?:[\w]+/)*\w+\.py)(?:: (\w+))?", (DOCS / "architecture.md").read_text(encoding="utf-8")):
        path = next((root / name[0] for root in (ROOT / "pipeline", ROOT) if (root / name[0]).exists()), None)
        if path is None or (name[1] and name[1] not in path.read_text(encoding="utf-8")):
            missing.add(f"architecture.md: {name}")
    assert not missing


def test_tests_that_pages_name_are_there() -> None:
    sources = "\n".join(
        path.read_text(encoding="utf-8") for folder in ("tests", "pipeline") for path in (ROOT / folder).rglob("*.py")
    )
    for page in DOCS.rglob("*.md"):
        for name in re.findall(r"\btest(?:_[a-z0-9]+){4,}\b(?!\.py)", page.read_text(encoding="utf-8")):
            assert f"def {name}(" in sources, f"{page.name}: {name}"


def test_the_import_table_is_that_of_the_test() -> None:
    tree = ast.parse((ROOT / "tests" / "test_architecture.py").read_text(encoding="utf-8"))
    allowed = next(ast.unparse(n.value) for n in tree.body if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "ALLOWED")
    table: dict[str, set[str]] = ast.literal_eval(allowed)
    page = (DOCS / "architecture.md").read_text(encoding="utf-8").split("## Who may import whom")[1].split("Outside packages")[0]
    seen: set[str] = set()
    for left, right in re.findall(r"^\| (`.*?) \| (.*?) \|$", page, re.MULTILINE):
        names, may = re.findall(r"`(\w+)`", left), set(re.findall(r"`(\w+)`", right))
        if right.startswith("everything above but"):
            may = seen - may
        for name in names:
            assert table[name] == may, name
        seen |= set(names)
    assert seen == {name for name in table if not name.startswith("__")}


def test_every_analysis_is_described() -> None:
    analyses = (DOCS / "analyses.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^## (.*)$", analyses, re.MULTILINE)) == set(list_plugins("analyses"))


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table of scores of docs/comparing.md and the study file of docs/studies.md, made as a reader makes them."""
    folder = tmp_path_factory.mktemp("example")
    make = next(code for code in fenced(COMPARING, "python") if "scores.csv" in code)
    subprocess.run([sys.executable, "-c", make], cwd=folder, check=True)
    (study,) = (code for code in fenced(STUDIES, "yaml") if "study: first" in code)
    (folder / "study.yaml").write_text(study, encoding="utf-8")
    return folder


def test_compare_prints_what_the_page_shows(example: Path) -> None:
    (shown,) = fenced(COMPARING, "text")
    printed = run_cli("compare", "scores.csv", "--format", "scores", "-q", cwd=example)
    assert printed.returncode == 0, printed.stderr
    assert printed.stdout == shown


def test_the_picture_of_a_terminal_shows_the_same_tables() -> None:
    (shown,) = fenced(COMPARING, "text")
    drawn = ElementTree.parse(DOCS / "images" / "terminal.svg").getroot().itertext()
    pictured = {cell for text in drawn for cell in re.split(r" {2,}", text.replace("\N{NO-BREAK SPACE}", " ").strip())}
    tables = "\n".join(shown.split("\n\n")[1:3])
    missing = {cell for row in tables.splitlines() for cell in re.split(r" {2,}", row.strip())} - pictured
    assert not missing, "python docs/images/draw_pictures.py terminal scores.csv"


def test_the_study_of_the_page_runs_and_its_cubes_open_as_shown(example: Path) -> None:
    done = run_cli("run", "study.yaml", "--serial", "-b", 2000, "-q", cwd=example)
    assert done.returncode == 0, done.stderr
    show = next(code for code in fenced(STUDIES, "python") if "open_run" in code).replace("runs/first-…", done.stdout.strip())
    printed = subprocess.run([sys.executable, "-c", show], cwd=example, check=True, capture_output=True, text=True).stdout
    assert "large" in printed
    assert "p-value that decides the verdict" in printed


TABLE_HEADS = {"wide": "item,north,south\n", "long": "item,system,errors,words\n", "transposed": "system,q1,q2\n"}


@pytest.mark.parametrize("name", sorted(TABLE_HEADS))
def test_a_table_of_the_page_of_scores_is_read(name: str, tmp_path: Path) -> None:
    examples = fenced((DOCS / "formats" / "scores.md").read_text(encoding="utf-8"), "text")
    (table,) = (code for code in examples if code.startswith(TABLE_HEADS[name]))
    (tmp_path / "scores.csv").write_text(table, encoding="utf-8")
    found = load_reader("scores").read_outputs(tmp_path / "scores.csv", system=None, options={})
    assert set(found) == {"north", "south"}
    assert all(items.ids == ("q1", "q2") for items in found.values())


def test_the_one_table_of_labels_of_the_page_of_labels_is_read(tmp_path: Path) -> None:
    examples = fenced((DOCS / "formats" / "labels.md").read_text(encoding="utf-8"), "text")
    (table,) = (code for code in examples if code.startswith("id,gold,"))
    (tmp_path / "all.csv").write_text(table, encoding="utf-8")
    reader, options = load_reader("labels"), {"columns": {"label": "gold"}}
    gold = reader.read_gold([tmp_path / "all.csv"], options)
    assert gold is not None
    assert gold.columns["label"] == ("noun", "verb")
    assert set(reader.read_outputs(tmp_path / "all.csv", system=None, options=options)) == {"north", "south"}


if __name__ == "__main__":
    target = DOCS / "cubes.md"
    text = target.read_text(encoding="utf-8")
    for each, declared in TABLES.items():
        written = table_of(declared)
        text = block(each).sub(lambda found, written=written: f"{found[1]}{written}\n{found[3]}", text)
    target.write_text(text, encoding="utf-8")


def test_the_training_that_the_page_shows_is_one_that_a_study_takes() -> None:
    (excerpt,) = (yaml.safe_load(code) for code in fenced(STUDIES, "yaml") if "training:" in code)
    gold = {"format": "conllu", "gold": "test.conllu"}
    study = Study.model_validate({"schema": 1, "study": "shown", "test_sets": {"test": gold}, "metrics": ["uas"], **excerpt})
    assert study.training is not None
    assert len(make_trainings(study, "", {}, {})) == 75
    for model in study.training.models.values():
        load_trainer(model.trainer, model.options)


def test_the_citation_is_of_this_version() -> None:
    told = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert told["version"] == pipeline.__version__
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (told["license"], told["title"].partition(":")[0]) == (project["license"], project["name"])
