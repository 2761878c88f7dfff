"""Every procedure and every null of replicas has a page of seven sections, whose examples print what is shown.

``PYTHONPATH=tests python tests/unit/docs/test_docs_of_procedures.py`` writes what the examples print into the pages,
and the names that others use into the index.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest
from support.page_examples import run_examples, written_anew

from pipeline.inference.p_values import CONVENTIONS
from pipeline.procedures.registry import PROCEDURES
from pipeline.resampling.replicas.nulls import NULLS

ROOT = Path(__file__).resolve().parents[3]
INDEX = (ROOT / "docs" / "procedures.md").read_text(encoding="utf-8")
KNOWN = ROOT / "docs" / "known_answers.md"
PAGES = {path.stem: path for path in sorted((ROOT / "docs" / "procedures").glob("*.md"))}
HEADINGS = ["Null", "Assumes", "Prefer it", "Formula", "Reference", "Example", "Traps"]
TESTED = {name: Path(found.page or "").stem for name, found in PROCEDURES.items()} | {null.name: null.name for null in NULLS}
LINE = {name: words.null for name, words in PROCEDURES.items()} | {null.name: null.null for null in NULLS}


OTHER_NAMES = re.compile(r"(<!-- other names -->\n).*?(<!-- end -->)", re.DOTALL)


def with_other_names(text: str) -> str:
    """Return the index with the table of the names that others use."""
    rows = [
        f"| {', '.join(found.also_called)} | [`{name}`](procedures/{TESTED[name]}.md) |\n"
        for name, found in PROCEDURES.items()
        if found.also_called
    ]
    table = "| called elsewhere | here |\n|---|---|\n" + "".join(rows)
    return OTHER_NAMES.sub(lambda marked: marked[1] + table + marked[2], text)


def section(name: str, heading: str) -> str:
    text = PAGES[name].read_text(encoding="utf-8")
    return text.split(f"\n## {heading}\n\n", 1)[1].split("\n## ", 1)[0]


def test_every_procedure_and_null_has_a_page_and_no_other_page_is_there() -> None:
    assert set(PAGES) == {*TESTED.values(), "tails"}


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_page_has_the_seven_sections_in_order_and_none_is_empty(name: str) -> None:
    text = PAGES[name].read_text(encoding="utf-8")
    assert re.match(rf"# {name}(, |\n)", text)
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == HEADINGS
    assert all(section(name, heading).strip() for heading in HEADINGS)
    assert re.search(r"doi:10\.\d{4,}/\S", section(name, "Reference"))
    # It is shown both ways.
    assert re.search(r"^```python\n.*^```$", section(name, "Example"), re.MULTILINE | re.DOTALL)
    assert re.search(r"^```sh\n.*pipeline (compare|run) .*^```$", section(name, "Example"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", sorted(TESTED))
def test_a_page_says_the_null_that_is_told_elsewhere_in_one_line(name: str) -> None:
    (line,) = section(TESTED[name], "Null").strip().splitlines()
    told = f"{LINE[name]}."
    assert line in (told, told[0].upper() + told[1:])


@pytest.mark.parametrize("name", list(PROCEDURES))
def test_a_page_says_when_to_prefer_a_procedure_as_the_catalogue_does(name: str) -> None:
    assert PROCEDURES[name].when in section(TESTED[name], "Prefer it").replace("`", "")


@pytest.mark.parametrize("name", [null.name for null in NULLS])
def test_a_page_says_when_to_prefer_a_null_of_replicas_as_the_index_does(name: str) -> None:
    row = re.search(rf"^\| \[`{name}`\]\(procedures/{name}\.md\) \| (.*) \|$", INDEX, re.MULTILINE)
    assert row is not None
    null, prefer = row[1].replace("\\|", "").split(" | ")
    assert null == LINE[name]
    assert prefer in section(name, "Prefer it")


def test_the_index_lists_the_nulls_of_replicas_in_the_order_of_the_code() -> None:
    assert re.findall(r"^\| \[`([a-z0-9-]+)`\]", INDEX, re.MULTILINE) == [null.name for null in NULLS]


def test_the_index_has_the_names_that_others_use() -> None:
    assert OTHER_NAMES.search(INDEX)
    assert with_other_names(INDEX) == INDEX


def test_the_guide_sends_a_reader_to_pages_of_the_procedures_that_it_shows() -> None:
    """It need not have them all: the list is `pipeline procedures`."""
    guide = INDEX.split("| you have, or want | use |")[1].split("\n\n")[0]
    links = re.findall(r"\[((?:`[\w-]+`(?:, )?)+)\]\(procedures/([\w-]+)\.md\)", guide)
    shown = [(name, page) for names, page in links for name in re.findall(r"`([\w-]+)`", names)]
    assert len(shown) > 5
    assert [(name, page) for name, page in shown if name not in PROCEDURES or TESTED[name] != page] == []


def test_an_example_asks_for_the_procedure_of_its_page() -> None:
    for name, page in TESTED.items():
        shown = "".join(re.findall(r"^```sh\n(.*?)^```$", section(page, "Example"), re.MULTILINE | re.DOTALL))
        made = "".join(re.findall(r"^```python\n(.*?)^```$", section(page, "Example"), re.MULTILINE | re.DOTALL))
        assert f"--procedure {name}" in shown if name in PROCEDURES else f"nulls: [{name}]" in made


def test_the_page_says_which_conventions_a_randomization_has_not() -> None:
    rows = re.findall(r"^\| (`[a-z`, -]+) \|", section("approximate-randomization", "Formula"), re.MULTILINE)
    absent = {name for row in rows for name in re.findall(r"`([a-z-]+)`", row)} & set(CONVENTIONS)
    assert absent == set(CONVENTIONS) - set(PROCEDURES["approximate-randomization"].conventions)


def test_the_page_of_the_bootstrap_has_all_conventions() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \|", section("paired-bootstrap", "Formula"), re.MULTILINE)
    assert rows == list(CONVENTIONS)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the time of an example goes into figures and the disk; no figure is printed, and nobody pulls the plug."""
    monkeypatch.setattr("pipeline.report.drawing.figures.draw_all", lambda report, document: [])
    monkeypatch.setattr("os.fsync", lambda descriptor: None)


@contextmanager
def no_null_laboratory() -> Iterator[None]:
    """Compare without the null laboratory, which takes a quarter of the time; `pipeline compare` prints what it says."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pipeline.study.schema.null_laboratories", tuple)
        yield


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("name", sorted(PAGES))
def test_the_examples_print_what_the_page_shows(name: str, tmp_path: Path) -> None:
    # Python prints p-values, and examples of nulls a row of the report of a run: neither is about the null laboratory.
    with no_null_laboratory() if name in {null.name for null in NULLS} else nullcontext():
        for block, printed in run_examples(PAGES[name].read_text(encoding="utf-8"), tmp_path, around=no_null_laboratory):
            assert printed == block[2]


def test_the_example_of_known_answers_prints_what_the_page_shows() -> None:
    for block, printed in run_examples(KNOWN.read_text(encoding="utf-8"), ROOT):
        assert printed == block[2]


if __name__ == "__main__":
    (ROOT / "docs" / "procedures.md").write_text(with_other_names(INDEX), encoding="utf-8")
    for page in PAGES.values():
        with tempfile.TemporaryDirectory() as folder:
            page.write_text(written_anew(page.read_text(encoding="utf-8"), Path(folder)), encoding="utf-8")
    KNOWN.write_text(written_anew(KNOWN.read_text(encoding="utf-8"), ROOT), encoding="utf-8")
