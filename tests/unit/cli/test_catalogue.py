"""The lists of what there is are complete, one line each, and quick to say so."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from pipeline.cli import cli
from pipeline.cli.catalogue import WHEN, page_of
from pipeline.errors import PluginError
from pipeline.plugins import list_plugins
from pipeline.presets.table import PRESETS
from pipeline.study.procedures import PROCEDURES

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


def test_a_procedure_is_preferred_where_the_page_says() -> None:
    page = (ROOT / "docs" / "procedures.md").read_text(encoding="utf-8")
    table = page.split("| prefer it |", 1)[1].split("\n\n", 1)[0].replace("\\|", "")
    rows = re.findall(r"^\| \[`([a-z-]+)`\]\([^)]*\) \|.*\| ([^|]+) \|$", table, re.MULTILINE)
    assert {name: when.replace("`", "") for name, when in rows} == dict(WHEN)
    assert set(WHEN) == set(PROCEDURES)


def test_a_procedure_points_to_its_page() -> None:
    for name, line in zip(PROCEDURES, printed("procedures").splitlines(), strict=True):
        assert line.endswith(f"; {page_of(name)}")
        assert (ROOT / page_of(name)).is_file()
    rows = json.loads(printed("procedures", "--json"))["procedures"]
    assert {row["name"]: row["page"] for row in rows} == {name: page_of(name) for name in PROCEDURES}


def test_a_member_that_cannot_be_loaded_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(family: str, name: str) -> None:
        raise PluginError.of("P302", f"the metric '{name}' cannot be loaded: no module named 'there'")

    monkeypatch.setattr("pipeline.plugins.import_plugin", refuse)
    assert re.search(r"^bleu +the metric 'bleu' cannot be loaded: no module named 'there'$", printed("metrics"), re.MULTILINE)
