"""Every format and metric has a page; what it shows is read, counted and scored as it says; the indexes are those of the code.

``PYTHONPATH=tests python tests/unit/docs/test_pages.py`` writes the scores of the examples into the pages.
"""

from __future__ import annotations

import inspect
import json
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.page_studies import YAML, Page, columns_of, score, surveys, training_items, written_anew

from pipeline.cli import cli
from pipeline.cli.catalogue import member_page
from pipeline.items.readers import _streams, load_reader
from pipeline.metrics.registry import load_metric, pin_options
from pipeline.plugins import import_plugin, list_plugins
from pipeline.report.alignment import format_alignment
from pipeline.study.schema import Study

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
OWN = {
    name: point for name, point in list_plugins("readers").items() if point.value.startswith("pipeline.")
}  # not of other packages
FORMATS = {name: ROOT / str(member_page("readers", point)) for name, point in OWN.items()}
METRICS = {name: ROOT / str(member_page("metrics", point)) for name, point in list_plugins("metrics").items()}
METRIC_PAGES = sorted({path.stem for path in METRICS.values()} | {"your-own"})
PAGES = sorted([*(DOCS / "formats").glob("*.md"), *(DOCS / "metrics").glob("*.md"), DOCS / "formats.md", DOCS / "metrics.md"])
NEEDS = {"ratio": {"numerator": "errors", "denominator": "words"}}


def name_of(path: Path) -> str:
    return path.relative_to(DOCS).as_posix()


def usual_metric(path: Path) -> str:
    metric = getattr(import_plugin("readers", path.stem), "usual_metric", None) if path in FORMATS.values() else None
    return metric or "mean"


def studies(path: Path, folder: Path) -> list[tuple[Study, Any]]:
    Page(path).write(folder)
    return list(Page(path).studies(folder, usual_metric(path)))


def options_of(made: Any) -> dict[str, Any]:
    return {name: parameter.default for name, parameter in inspect.signature(made).parameters.items()}


def first_cells(text: str, head: str) -> list[list[str]]:
    """Return the rows of the tables whose head begins so."""
    found = re.findall(rf"^\| {re.escape(head)} \|.*\n\|[-|: ]+\|\n((?:\|.*\|\n)*)", text, re.MULTILINE)
    return [re.split(r"(?<!\\) \| ", line[2:-2]) for table in found for line in table.splitlines()]


def files_read(monkeypatch: pytest.MonkeyPatch) -> set[Path]:
    """Return a set that gets every file that readers read from now on."""
    found: set[Path] = set()
    open_data = _streams.open_data
    monkeypatch.setattr(_streams, "open_data", lambda path: (found.add(path), open_data(path))[1])
    return found


def test_every_format_and_metric_has_a_page_and_no_other_page_is_there() -> None:
    assert {path.stem for path in (DOCS / "formats").glob("*.md")} == {*FORMATS, "tables"}
    assert {path.stem for path in (DOCS / "metrics").glob("*.md")} == set(METRIC_PAGES)
    for name, path in {**FORMATS, **METRICS}.items():
        assert re.search(rf"(?<![\w-]){name}(?![\w-])", path.read_text(encoding="utf-8")), name


@pytest.mark.parametrize("page", sorted(set(METRICS.values())), ids=name_of)
def test_a_metric_page_names_the_official_scorer_of_each_of_its_metrics(page: Path) -> None:
    text = page.read_text(encoding="utf-8").split("\n## Official scorer\n\n")[1].split("\n## ")[0]
    named = [name for row in first_cells(text, "metric | official scorer") for name in re.findall(r"`([^`]+)`", row[0])]
    own = sorted(name for name, path in METRICS.items() if path == page)
    assert sorted(named) == own or text.strip() == "None."


@pytest.mark.parametrize("index", ["formats", "metrics"])
def test_a_guide_sends_a_reader_to_pages_of_the_names_that_it_shows(index: str) -> None:
    """It need not have them all: the lists are `pipeline formats` and `pipeline metrics`."""
    pages = {"formats": FORMATS, "metrics": METRICS}[index]
    text = (DOCS / f"{index}.md").read_text(encoding="utf-8")
    links = re.findall(rf"\[((?:`[\w-]+`(?:, | to |))+)\]\({index}/([\w-]+)\.md\)", text)
    shown = [(name, page) for names, page in links for name in re.findall(r"`([\w-]+)`", names)]
    assert len(shown) > 10
    assert [(name, page) for name, page in shown if name not in pages or pages[name].stem != page] == []


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_every_yaml_example_is_a_study_whose_formats_and_metrics_load(path: Path, tmp_path: Path) -> None:
    for study, _ in studies(path, tmp_path):
        for spec in study.test_sets.values():
            if spec.format.name != "auto":
                load_reader(spec.format)
        for metric in study.metrics:
            load_metric(metric.name, pin_options(metric.name, metric.options, tmp_path))


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_every_example_file_is_read_and_has_the_items_that_the_page_says(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, counts = Page(path), {}
    read = files_read(monkeypatch)
    for study, _ in studies(path, tmp_path):
        for name, spec, found in surveys(study, tmp_path):
            if path in FORMATS.values():
                assert found.reader == path.stem
                lacking = {column for column in columns_of(spec, found, tmp_path) if not page.names(column)}
                assert not lacking, f"the page does not name the columns {lacking}"
            counts[name] = len(found.frame.ids)
        items = training_items(study, tmp_path)
        if items is not None:
            counts["training"] = len(items)
    data = {tmp_path / name for name in page.files if not name.endswith((".py", ".yaml", ".toml", ".sh"))}
    assert data <= read, f"no study of the page reads {data - read}"
    assert all(counts.values())
    assert page.counts.items() <= counts.items()
    assert counts or path == DOCS / "metrics.md"


@pytest.mark.parametrize("name", METRIC_PAGES)
def test_the_scores_of_a_metric_page_are_what_its_example_has(name: str, tmp_path: Path) -> None:
    path = DOCS / "metrics" / f"{name}.md"
    shown = set()
    for study, rows in studies(path, tmp_path):
        if not rows:
            continue
        ((_, spec, found),) = surveys(study, tmp_path)
        for row in rows:
            assert score(spec, found, tmp_path, row) == (row.sums, row.score), row
            shown.add(row.metric["name"])
    assert {metric for metric, page in METRICS.items() if page == path} <= shown


@pytest.mark.parametrize("name", sorted(METRICS))
def test_a_metric_page_has_signature_options_statistics_and_a_reference(name: str) -> None:
    text = METRICS[name].read_text(encoding="utf-8")
    metric = load_metric(name, NEEDS.get(name))
    assert f"`{shown_signature(metric.signature)}`" in text
    assert {option for option in options_of(import_plugin("metrics", name)) if f"`{option}`" not in text} == set()
    assert {one for one in metric.statistics if f"`{one.partition('.')[0]}" not in text} == set()
    if name not in ("mean", "ratio", "accuracy", "tag-accuracy"):  # these have no paper
        assert re.search(r"doi:10\.\d{4,}/\S|https://", text)


@pytest.mark.parametrize("path", sorted({*FORMATS.values(), *METRICS.values()}), ids=name_of)
def test_a_table_of_options_has_the_defaults_of_the_class(path: Path) -> None:
    family, members = ("readers", FORMATS) if path.parent.name == "formats" else ("metrics", METRICS)
    defaults = {}
    for name in (name for name, page in members.items() if page == path):
        for option, default in options_of(import_plugin(family, name)).items():
            defaults.setdefault(option, set()).add(shown_default(default))
    rows = {row[0].strip("`"): row[1].strip("`") for row in first_cells(path.read_text(encoding="utf-8"), "option")}
    assert set(rows) == set(defaults)
    assert {option for option, default in rows.items() if default not in defaults[option]} == set()


def shown_default(default: Any) -> str:
    """Return a default as a table has it."""
    if default is inspect.Parameter.empty:
        return "needed"
    return "none" if default is None else json.dumps(default).strip('"')


def shown_signature(signature: str) -> str:
    """Return a signature as pages have it: versions are those of whoever runs it."""
    return re.sub(r"(sacrebleu|rouge-score|porter-nltk):\d[\w.]*", r"\1:…", signature)


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_format_page_says_what_outputs_are_compared_with_the_usual_metric_and_the_endings(name: str) -> None:
    made = import_plugin("readers", name)
    compared, metric = getattr(made, "compares_with", "by its options"), getattr(made, "usual_metric", "by its options")
    metric = {None: "none", "by its options": "by its options"}.get(metric, f"`{metric}`")
    endings = ", ".join(f"`{ending}`" for ending in sorted(made.endings)) or "any"
    said = f"\nCompared with: {compared}. Usual metric: {metric}. Endings: {endings}.\n"
    assert said in FORMATS[name].read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(METRICS))
def test_a_metric_page_says_which_way_is_better_and_its_form(name: str) -> None:
    text = METRICS[name].read_text(encoding="utf-8")
    metric = load_metric(name, NEEDS.get(name))
    assert re.search(rf"\b{'higher' if metric.higher_is_better else 'lower'} is better\b", text)
    assert re.search(rf"\bform is {metric.form}\b", text)


def test_what_is_recognised_is_shown_as_the_page_shows_it(tmp_path: Path) -> None:
    page = Page(DOCS / "formats.md")
    page.write(tmp_path)
    (study,) = (block for block in YAML.findall(page.text) if "format: auto" in block)
    (tmp_path / "study.yaml").write_text(f"schema: 1\nstudy: shown\nmetrics: [tag-accuracy]\n{study}", encoding="utf-8")
    (shown,) = re.findall(r"^```text\n(harbour: .*?)^```$", page.text, re.MULTILINE | re.DOTALL)
    done = CliRunner().invoke(cli, ["check", str(tmp_path / "study.yaml")], catch_exceptions=False)
    told = done.stdout.partition("\n\n")[2] if done.stdout.startswith("code that this study runs:") else done.stdout
    assert told == shown  # readers of other packages are asked too, and named before


def test_published_means_are_shown_as_the_page_shows_them() -> None:
    (shown,) = re.findall(
        r"^```text\n(quiz: .*?)^```$", (DOCS / "formats.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    rows = [
        {"system": name, "items": 4, "common": 4, "missing": 0, "duplicates": 0, "identical_to": (), "published": {"acc": said}}
        for name, said in (("north", (0.75, 0.75)), ("south", (0.5, 0.25)))
    ]
    told = "what files publish as acc is not what their items give: for 'south' 0.5 is published, its items have 0.25"
    assert format_alignment("quiz", 4, 4, rows, [told]) + "\n" == shown


if __name__ == "__main__":
    for page in sorted((DOCS / "metrics").glob("*.md")):
        with tempfile.TemporaryDirectory() as scratch:
            page.write_text(written_anew(Page(page), Path(scratch)), encoding="utf-8")
