"""The files of a report carry the same numbers, load nothing, and are the same bytes each time."""

import csv
import io
import json
import os
import re
from html.parser import HTMLParser
from importlib import resources

import numpy as np
import pytest
from support.synthetic_cubes import build_cube
from support.synthetic_reports import ODD, build_document, make_report

from pipeline.inference.multiple_comparisons.multiplicity import holm
from pipeline.report.build import build_report
from pipeline.report.document import read_report
from pipeline.report.pairs.listing import MOST_LISTED
from pipeline.report.values import format_number, format_p
from pipeline.report.write import render_report, write_report
from pipeline.store.files import temporary_name


class Page(HTMLParser):
    """Reads tables, links and scripts back."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.links, self.tags, self.cell, self.text = [], [], [], None, []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [(tag, key, value) for key, value in attrs if key in {"src", "href", "xlink:href", "action", "data"}]
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in {"td", "th"}:
            self.cell = ""

    def handle_endtag(self, tag):
        if tag in {"td", "th"}:
            self.tables[-1][-1].append(re.sub(r"−(?=\d)", "-", self.cell))  # test_minus_signs.py says where which one stands
            self.cell = None

    def handle_data(self, data):
        self.text.append(data)
        if self.cell is not None:
            self.cell += data


@pytest.fixture(scope="module")
def files(odd_report):
    return render_report(odd_report, read_report(build_document(odd_report)))


@pytest.fixture(scope="module")
def page(files):
    return Page(files["index.html"].decode())


def markdown_tables(text):
    tables, inside = [], False
    for line in text.splitlines():
        if line.startswith("| ") and not line.startswith(("| :--", "| --:")):
            if not inside:
                tables.append([])
            cells = re.split(r"(?<!\\) ?\| ?", line)[1:-1]
            tables[-1].append([re.sub(r"\\(.)", r"\1", cell).strip().replace("&amp;", "&") for cell in cells])
        inside = line.startswith("|")
    return tables


def pairs_of(tables):
    places = ["news <1>", "other/.."]
    found = [table for table in tables if table[0][:2] == ["better", "worse"]]
    return {(place, row[0], row[1]): row for place, table in zip(places, found, strict=True) for row in table[1:]}


def test_page_markdown_and_json_carry_the_same_numbers(files, page):
    document = json.loads(files["report.json"])
    html, markdown = pairs_of(page.tables), pairs_of(markdown_tables(files["report.md"].decode()))
    assert html == markdown
    assert len(html) == len(document["pairs"]) == 132
    for row in document["pairs"]:
        cells = html[row["test_set"], row["system_a"], row["system_b"]]
        assert cells[2] == format_number(row["delta"])
        assert cells[8] == format_number((row["minimum_detectable_effect"] or {"gain": None})["gain"])
        assert cells[4:6] == [format_p(row["p"]), format_p(row["p_adjusted"])]
        assert cells[6].removesuffix(" *") == row["verdict"]


def test_every_table_of_the_page_is_in_the_markdown(files, page):
    there = [table for table in page.tables if table[0][0] != "test_set"]  # the alignment table is the page's own
    assert there == markdown_tables(files["report.md"].decode())


def test_csv_and_json_carry_the_same_numbers(files):
    rows = list(csv.DictReader(io.StringIO(files["tables/pairs.csv"].decode())))
    for row, pair in zip(rows, json.loads(files["report.json"])["pairs"], strict=True):
        assert (row["system_a"], row["system_b"]) == (pair["system_a"], pair["system_b"])
        assert float(row["delta"]) == pair["delta"]
        assert float(row["adjustment.others.holm"]) == pair["adjustment"]["others"]["holm"]
        assert row["adjustment.others.max_t"] == ""


def test_smaller_sizes_carry_the_two_sided_p_with_its_error_and_holm(files, odd_report):
    rows = list(csv.DictReader(io.StringIO(files["tables/pair_sizes.csv"].decode())))
    assert {row["test_size"] for row in rows} == {"100", "200", "400"}
    for (name, size), cube in ((key, odd_report.cubes[key[0]]) for key in (("news <1>", "200"), ("other/..", "100"))):
        here = [row for row in rows if row["test_set"] == name and row["test_size"] == size]
        where = {"metric": "bleu", "test_size": size, "procedure": "paired-bootstrap", "convention": "two-sided-plus-one"}
        p = cube["p_value"].sel(where).values
        m = cube["discordant"].sel(metric="bleu", test_size=size).values
        floor = np.minimum(2.0 ** (1 - m), 1)
        least = holm(np.maximum(p, floor))
        assert [float(row["p_raw.two_sided_plus_one"]) for row in here] == p.tolist()
        assert [float(row["p"]) for row in here] == np.maximum(p, floor).tolist()
        assert [float(row["p_adjusted"]) for row in here] == [float(row["holm"]) for row in here] == least.tolist()
        error = np.where(floor >= p, 0.0, cube["p_error"].sel(where).values)  # a floor has none
        assert [float(row["monte_carlo_error"]) for row in here] == error.tolist()


def test_odd_names_are_text_and_never_markup(files, page):
    assert page.tags.count("script") == 1
    ours = resources.files("pipeline.report").joinpath("templates/report.js").read_text("utf-8")
    assert [found.strip() for found in re.findall(r"<script>(.*?)</script>", files["index.html"].decode(), re.DOTALL)] == [
        ours.strip()
    ]
    text = "".join(page.text)
    for name in [*ODD, "news <1>", "other/..", "synthetic <study>", "a <b> & c"]:
        assert name in text
    assert not any("/" in name.removeprefix("tables/").removeprefix("figures/") for name in files)
    assert all(re.fullmatch(r"(tables/|figures/)?[a-z0-9._-]+", name) for name in files)


def test_the_page_loads_nothing_from_elsewhere(files, page):
    for tag, key, value in page.links:
        assert value.startswith(("#", "data:")) or (tag, key) == ("a", "href"), (tag, key, value)
    outside = {value for tag, _, value in page.links if tag == "a" and not value.startswith("#")}
    assert all(value.startswith("https://doi.org/") for value in outside - {*files})
    assert {*files} - {"index.html"} <= outside
    assert "@import" not in files["index.html"].decode()
    assert not re.search(r"url\((?!#)", files["index.html"].decode())


def test_ids_are_unique_and_every_inner_link_has_its_target(files, page):
    text = files["index.html"].decode()
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    targets = {value[1:] for _, _, value in page.links if value.startswith("#")} | set(re.findall(r"url\(#([^)]+)\)", text))
    assert targets <= set(ids)


def test_every_figure_says_what_is_to_be_seen(files):
    for name, content in files.items():
        if name.endswith(".svg"):
            text = content.decode()
            assert 'role="img"' in text
            assert re.search(r"<title>[^<]+</title><desc>[^<]+</desc>", text)
            assert "<dc:date>" not in text


def test_writing_twice_gives_the_same_bytes(odd_report, tmp_path):
    for name in ("one", "two"):
        assert write_report(odd_report, tmp_path / name) == tmp_path / name / "index.html"
    one, two = (
        {str(path.relative_to(tmp_path / name)): path.read_bytes() for path in (tmp_path / name).rglob("*") if path.is_file()}
        for name in ("one", "two")
    )
    assert one == two
    assert {"index.html", "report.md", "report.json", "tables/pairs.csv"} <= set(one)


def test_only_the_formats_asked_for_are_written_and_what_a_killed_writer_left_goes(odd_report, tmp_path):
    report = odd_report.study.report.model_copy(update={"formats": ("markdown",)})
    less = type(odd_report)(**{**vars(odd_report), "study": odd_report.study.model_copy(update={"report": report})})
    left = tmp_path / "tables" / temporary_name().replace(f"-{os.getpid()}-", f"-{2**22 + 1}-")  # of a process that is gone
    left.parent.mkdir()
    left.write_bytes(b"half a table")
    assert write_report(less, tmp_path) == tmp_path
    assert not left.exists()
    assert not (tmp_path / "index.html").exists()
    assert (tmp_path / "report.md").exists()


def test_thousands_of_pairs_stay_far_below_five_megabytes():
    rng = np.random.default_rng(1)
    names = [f"system-{i:03d}" for i in range(48)]
    models = [f"m{i % 3}" for i in range(48)]
    cubes = {
        name: build_cube(rng.normal(50, 1.2, 48), names, name=name, coords={"model": models, "replica": list(range(48))})
        for name in ("news", "other")
    }
    report = make_report(cubes)
    document = build_document(report)
    files = render_report(report, build_report(report))
    assert (document["all_pairs"]["pairs"], len(document["pairs"])) == (2256, MOST_LISTED)
    assert len(files["index.html"]) < 2_000_000
    assert "tables/pairs.csv has them all" in files["index.html"].decode()
    assert sum(len(table) - 1 for table in Page(files["index.html"].decode()).tables if table[0][0] == "better") == 400
    assert files["tables/pairs.csv"].count(b"\n") == 2257


def test_one_pair_and_no_finding_still_make_a_page():
    report = make_report({"news": build_cube(np.array([50.0, 51.0]), list("ab"))}, analyses=())
    page = Page(render_report(report, read_report(build_document(report)))["index.html"].decode())
    assert any("b is better than a" in text for text in page.text)
