"""What `compare` writes beside its answer, what it gives in a notebook, and that both say the same."""

from __future__ import annotations

import json
import re
from html import escape, unescape
from pathlib import Path
from typing import Any

import pytest
from support.studies import run_cli, write_scores

import pipeline
from pipeline.errors import PipelineError, StoreError
from pipeline.report.layout.latex import escape_latex, latex_of_number, render_latex
from pipeline.report.layout.markdown import escape as escape_markdown
from pipeline.report.layout.summary import list_remarks
from pipeline.report.layout.view import View
from pipeline.report.results import Results
from pipeline.store.lease import hold_lease
from pipeline.study.load import load_study
from pipeline.study.yaml_values import format_yaml, parse_yaml

NAMES = ["base_1", "a&b", "c"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("compared")
    write_scores(made / "scores.csv", NAMES)
    return made


@pytest.fixture(scope="module")
def found(folder: Path) -> Results:
    return pipeline.compare(folder / "scores.csv", replicates=2000, save_study=folder / "my study.yaml")


@pytest.fixture(scope="module")
def written(folder: Path) -> tuple[Path, Any]:
    out = folder / "out"
    files = ("--latex", "out/t.tex", "--md", "out/t.md", "--html", "out/page.html", "--save-study", "out/again.yaml")
    return out, run_cli("compare", "scores.csv", "-b", 2000, *files, cwd=folder)


def test_tables_have_the_cells_of_the_terminal(written: tuple[Path, Any]) -> None:
    out, done = written
    assert done.returncode == 0, done.stderr
    rows = [line.split("  ") for line in done.stdout.splitlines()]
    cells = [[cell.strip() for cell in row if cell.strip()] for row in rows]
    board = [row for row in cells if row[-1:] != [] and row[0] in {"1", "2", "3"} and len(row) >= 4]
    assert len(board) == 3
    latex, markdown = ((out / name).read_text("utf-8") for name in ("t.tex", "t.md"))
    for row in board:
        assert " & ".join(map(latex_of_number, row)) + r" \\" in latex
        assert "| " + " | ".join(map(escape_markdown, row)) + " |" in markdown
    pairs = re.findall(r"^(\S+) +(\S+) +(\d+\.\d+) ", done.stdout, re.MULTILINE)
    pairs = [pair for pair in pairs if {pair[0], pair[1]} < set(NAMES)]
    assert len(pairs) == 3
    for better, worse, gain in pairs:
        assert f"{escape_latex(better)} & {escape_latex(worse)} & {gain} & " in latex
    sentence = done.stdout.split("\n\n")[3].split(" (")[0]
    assert len(sentence) > 20
    assert escape_markdown(sentence) in markdown
    assert [line for line in done.stderr.splitlines() if line.startswith("written: ")] == [
        f"written: out/{name}" for name in ("page.html", "t.md", "t.tex", "again.yaml")
    ]


def test_the_page_has_its_figures_and_needs_no_other_file(written: tuple[Path, Any]) -> None:
    page = (written[0] / "page.html").read_text("utf-8")
    assert 'href="tables/' not in page  # it lies by itself
    assert "Files beside this page" not in page
    assert "<title>3 systems compared: report</title>" in page
    assert "<h1>3 systems compared</h1>" in page
    assert "pipeline run" not in page  # nothing is kept that could be run again
    typed = "pipeline compare scores.csv -b 2000 --latex out/t.tex --md out/t.md --html out/page.html --save-study out/again.yaml"
    assert page.count(f'<dd data-copy="the command"><p><code>{typed}</code></p></dd>') == 1
    assert page.count("<svg") >= 1
    assert not re.search(r'(src|href)="(?!#|https://doi)[^"]*"', page)


def test_a_comparison_that_is_kept_says_what_was_typed(folder: Path, tmp_path: Path) -> None:
    done = run_cli("compare", "scores.csv", "-b", 1000, "--runs", tmp_path / "my  runs", "-q", cwd=folder)
    assert done.returncode == 0, done.stderr
    (report,) = tmp_path.glob("my  runs/*/report")
    typed = f"pipeline compare scores.csv -b 1000 --runs '{tmp_path}/my  runs' -q"
    page = unescape((report / "index.html").read_text("utf-8"))
    assert page.count(f'<dd data-copy="the command"><p><code>{typed}</code></p></dd>') == 1
    assert f"Made by `{typed}`." in (report / "report.md").read_text("utf-8")


def test_a_comparison_that_is_kept_and_asked_again_says_what_was_typed_last(folder: Path, tmp_path: Path) -> None:
    for page in ("first.html", "second.html"):
        typed = ["scores.csv", "-b", 1000, "--runs", tmp_path / "runs", "--html", tmp_path / page, "-q"]
        assert run_cli("compare", *typed, cwd=folder).returncode == 0
    (run,) = tmp_path.glob("runs/[!.]*")
    for page in (tmp_path / "second.html", run / "report" / "index.html"):
        assert "second.html -q</code>" in page.read_text("utf-8")
        assert "first.html" not in page.read_text("utf-8")


def test_a_comparison_that_is_kept_where_nothing_may_be_written_answers(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*given: object) -> None:
        raise StoreError.of("P702", "cannot write: the file system is read-only")

    asked = {"replicates": 1000, "runs": tmp_path / "runs"}
    first = pipeline.compare(folder / "scores.csv", **asked, command="pipeline compare first")
    monkeypatch.setattr("pipeline.engine.launch.write_origin", refuse)
    again = pipeline.compare(folder / "scores.csv", **asked, command="pipeline compare second")
    assert again.pairs.equals(first.pairs)
    (page,) = tmp_path.glob("runs/[!.]*/report/index.html")
    assert "pipeline compare first" in page.read_text("utf-8")


def test_a_report_that_another_process_writes_is_not_written_at_the_same_time(folder: Path, tmp_path: Path) -> None:
    typed = ["compare", "scores.csv", "-b", 1000, "--runs", tmp_path / "runs", "-q"]
    assert run_cli(*typed, cwd=folder).returncode == 0
    (run,) = tmp_path.glob("runs/[!.]*")
    files = {path: path.read_bytes() for path in [run / "origin.json", run / "study.yaml", *(run / "report").rglob("*.*")]}
    with hold_lease(run):
        for asked in ([*typed, "--html", tmp_path / "page.html"], ["report", run]):
            refused = run_cli(*asked, cwd=folder)
            assert (refused.returncode, "error[P801]" in refused.stderr) == (74, True)
        assert run_cli("report", run, "-o", tmp_path / "elsewhere", cwd=folder).returncode == 0
    assert {path: path.read_bytes() for path in files} == files
    assert run_cli(*typed, "--html", tmp_path / "page.html", cwd=folder).returncode == 0
    assert run_cli("report", run, cwd=folder).returncode == 0
    assert run_cli(*typed, cwd=folder).returncode == 0  # the lease was given back


def test_the_study_that_is_written_gives_the_same_numbers(written: tuple[Path, Any], found: Results, tmp_path: Path) -> None:
    loaded = load_study(written[0] / "again.yaml", [])
    assert "\nseed: 20120712\n" in (written[0] / "again.yaml").read_text("utf-8")
    assert loaded.study.test_sets["test set"].outputs == "../scores.csv"  # as seen from the file
    done = run_cli("run", written[0] / "again.yaml", "--serial", "--runs", tmp_path, "--quiet")
    assert done.returncode == 0, done.stderr
    from pipeline.store.files import read_json

    document = read_json(Path(done.stdout.strip()) / "report" / "report.json")
    assert document["pairs"] == found["pairs"]
    assert document["leaderboard"] == found["leaderboard"]


def test_the_command_in_a_study_that_is_written_can_be_pasted(found: Results, folder: Path) -> None:
    assert "#   pipeline run 'my study.yaml'\n" in (folder / "my study.yaml").read_text("utf-8")


def test_results_show_themselves_as_the_terminal_does(found: Results, written: tuple[Path, Any]) -> None:
    said = written[1].stdout.strip()
    assert repr(found).strip() == said
    first, *others = found.report.verdict[0].sentences
    lines = said.split("\n")
    assert lines[1] == first  # below the name of the test set, before the tables
    assert lines[3].startswith("rank ")
    assert said.index("\nbetter ") < said.index("\n".join(others))
    shown = found._repr_html_()
    assert shown.count("<table>") == 2
    first, *others = map(escape, (first, *others))
    assert shown.index(f"<strong>{first}</strong>") < shown.index("<table>")  # what to take from the tables comes before them
    assert shown.rindex("</table>") < shown.index(" ".join(others))
    assert "a&amp;b" in shown
    assert "a&b" not in shown
    remarks = [escape(line) for lines in list_remarks(found.report) for line in lines]
    assert any("Independence of items" in line for line in remarks)
    assert all(line in shown for line in remarks)


def test_results_are_the_document_and_frames_of_its_rows(found: Results) -> None:
    assert found["pairs"][0]["delta"] == found.pairs["delta"].iloc[0]
    assert list(found.pairs["interval.lo"]) == [row["interval"]["lo"] for row in found["pairs"]]
    assert list(found.systems["name"]) == [row["name"] for row in found["leaderboard"]]
    assert list(found.systems["score"]) == sorted(found.systems["score"], reverse=True)
    assert found.models.empty
    block = next(block for block in found["findings"] if block["analysis"] == "thresholds")
    assert list(found.finding("thresholds")["pairs"]) == [row["pairs"] for row in block["rows"]]
    with pytest.raises(KeyError, match=r"no analysis 'suite' was made; there are .*thresholds"):
        found.finding("suite")


def test_a_baseline_leaves_other_pairs_without_a_verdict(folder: Path) -> None:
    found = pipeline.compare(folder / "scores.csv", replicates=2000, baseline="c")
    assert {row["name"]: row["against_baseline"] is None for row in found["leaderboard"]} == {
        "c": True,
        "a&b": False,
        "base_1": False,
    }
    judged = {frozenset((row["system_a"], row["system_b"])) for row in found["pairs"] if row["verdict"] is not None}
    assert judged == {frozenset(("c", "a&b")), frozenset(("c", "base_1"))}
    assert sum(line.endswith(r" \\") for line in found.to_latex().splitlines()) == 1 + 3 + 1 + 2  # heads, systems, their two pairs
    with pytest.raises(PipelineError, match="nobody"):
        pipeline.compare(folder / "scores.csv", replicates=2000, baseline="nobody")


def test_a_place_that_cannot_be_written_is_told(folder: Path) -> None:
    (folder / "file").write_text("")
    done = run_cli("compare", "scores.csv", "-b", 2000, "--latex", "file/t.tex", cwd=folder)
    assert done.returncode != 0
    assert "file" in done.stderr
    assert "internal error" not in done.stderr


def test_the_package_tells_a_notebook_what_it_has() -> None:
    assert dir(pipeline) == ["__version__", "compare", "open_history", "open_run", "run", "submit"]


@pytest.mark.parametrize("text", ["a_b", "50%", "{x}", "\\", "<≤>", "~^", "α–β"])
def test_latex_is_escaped(text: str) -> None:
    _, line = [
        line
        for line in render_latex([(View("k", "t", ("x",), ((text,),)), "")]).splitlines()
        if line.startswith("    ") and "rule" not in line
    ]
    bare = re.sub(
        r"\\(textbackslash|textasciitilde|textasciicircum|textless|textgreater|leq|alpha)|\\[&%$#_{}]|\{\}|\$",
        "",
        line.removesuffix(r" \\"),
    )
    assert not set(bare) & set("\\&%$#_{}~^<>≤α")


def test_the_heads_of_a_latex_table_stand_as_its_columns_do() -> None:
    """A head of one column with a side of its own would be moved by the space that the first and the last column leave out."""
    lines = render_latex([(View("k", "t", ("better", "95 % p"), (("a", "0.5"),), text=frozenset({"better"})), "")]).splitlines()
    assert lines[3:6] == [r"  \begin{tabular}{@{}lr@{}}", r"    \toprule", r"    better & 95 \% p \\"]


@pytest.mark.parametrize("name", ["[1ex]", "*"])
def test_the_name_that_begins_a_row_of_latex_is_no_option_of_the_row_before(name: str) -> None:
    view = View("k", "t", ("x", "y"), (("a", "[0.1, 0.2]"), (name, "[0.1, 0.2]")))
    assert f"    {{{name[0]}}}{name[1:]} & [0.1, 0.2] \\\\" in render_latex([(view, "")]).splitlines()


@pytest.mark.parametrize(
    "value", ["no", "010", "1:30", "1e5", "0x1f", "true", "~", "", "- a", "a: b", "2026-01-01", "ü", "#", "=", "*x", "{a}"]
)
def test_yaml_that_is_written_is_read_back(value: str) -> None:
    document, problems = parse_yaml(format_yaml({"key": value, value or "k": [value, 10, 0.5, True, None]}), "x")
    assert not problems
    assert document.value == {"key": value, value or "k": [value, 10, 0.5, True, None]}


def test_filter_and_exclude_compare_what_a_table_without_the_rest_would_have(tmp_path: Path) -> None:
    rows = [(f"q{k}", ["news", "social", "talk"][k % 3], "ab"[k % 2], *((k * m) % 7 / 7 for m in (2, 3, 5))) for k in range(90)]
    for name, kept in (("all", rows), ("some", [row for row in rows if row[1] != "talk" and row[2] == "a"])):
        lines = [",".join(map(str, row if name == "all" else (row[0], *row[3:5]))) for row in kept]
        head = "item,domain,kind,x,y,human-1" if name == "all" else "item,x,y"
        (tmp_path / f"{name}.csv").write_text("\n".join([head, *lines, ""]))
    chosen = ("--filter", "domain=news", "--filter", "domain=social", "--filter", "kind=a", "--exclude", "human*")
    done = run_cli("compare", "all.csv", *chosen, "-b", 1000, "-q", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found, wanted = json.loads(done.stdout), pipeline.compare(tmp_path / "some.csv", replicates=1000)
    assert [row["name"] for row in found["systems"]] == ["x", "y"]
    assert found["pairs"][0]["units"] == 30
    assert found["pairs"] == wanted["pairs"]
    again = pipeline.compare(
        tmp_path / "all.csv", filter={"domain": ["news", "social"], "kind": "a"}, exclude="human*", replicates=1000
    )
    assert again["pairs"] == wanted["pairs"]


@pytest.mark.parametrize(
    ("typed", "code", "words"),
    [("domain", "P018", "write COLUMN=VALUE"), ("domain=nws", "P218", "did you mean 'news'"), ("dmain=news", "P223", "'domain'")],
)
def test_a_filter_that_keeps_nothing_is_an_error(tmp_path: Path, typed: str, code: str, words: str) -> None:
    (tmp_path / "t.csv").write_text("item,domain,x,y\n" + "".join(f"q{k},news,{k % 2},{k % 3}\n" for k in range(12)))
    done = run_cli("compare", "t.csv", "--filter", typed, cwd=tmp_path)
    assert done.returncode in {2, 3}
    assert f"error[{code}]" in done.stderr
    assert words in done.stderr
    assert "study" not in done.stderr


def test_json_goes_into_a_file_behind_an_equals_sign_only(tmp_path: Path) -> None:
    write_scores(tmp_path / "scores.csv", ["one", "two"], items=20)
    told = run_cli("compare", "scores.csv", "-b", "100", "--json=found.json", cwd=tmp_path)
    found = (tmp_path / "found.json").read_text(encoding="utf-8")
    assert "written: found.json" in told.stderr
    assert told.stdout.startswith("test set · mean")
    printed = run_cli("compare", "--json", "scores.csv", "-b", "100", "-q", cwd=tmp_path)
    assert json.loads(printed.stdout)["pairs"] == json.loads(found)["pairs"]
