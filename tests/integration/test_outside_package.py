"""A package outside the tree brings one of each family: a study asks for them, and every page, file and list has them."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from support.studies import run_cli, write_study

MODULES = {
    "gaps": '''
from functools import partial

from pipeline.interfaces import Analysis, Column, Figure, Finding, Section, Table


class Gaps(Analysis):
    """How far apart are neighbours in rank?"""

    name = "gaps"

    def find(self, cubes, options):
        rows = []
        for name, cube in cubes.items():
            for metric in cube["metric"].values.tolist():
                scores = sorted(cube["observed_score"].sel(metric=metric, test_size="full").values.tolist())
                rows += [
                    {"test_set": name, "metric": metric, "place": place, "gap": high - low}
                    for place, (low, high) in enumerate(zip(scores, scores[1:]), start=1)
                ]
        columns = (Column("place", "from below", "count"), Column("gap", "gap", "score"))
        table = Table("Gaps <by place>", {"metric": rows[0]["metric"]}, columns, "Scores are sorted.", "gaps")
        figure = Figure(
            "gap-bars", "Gaps & places", "Bars of gaps.", "A bar is a gap.", partial(draw, rows), "gaps", section="gaps"
        )
        section = Section("gaps", "Gaps between neighbours", after="pairs")
        return Finding(self.name, tuple(rows), tables=(table,), figures=(figure,), sections=(section,))


def draw(rows, axes):
    axes.bar([row["place"] for row in rows], [row["gap"] for row in rows])
    axes.set_xlabel("place of the gap")
''',
    "coin": """
import numpy as np

from pipeline.inference.direct.result import assemble
from pipeline.interfaces import Method, Procedure

PROCEDURE = Procedure(
    name="coin",
    title="the coin test",
    null="either system is as likely to be ahead",
    when="where a coin is at hand",
    formula="exp(-gain)",
    methods=(Method("Coin test", "exp(-gain)", "A coin is tossed.", "Nobody 2001"),),
    page="https://coins.example/test",
    compute="outside.coin:toss",
    strata="apart",
)
BENT = Procedure(name="bent", title="a bent coin", null="none", when="never", formula="0", compute="outside.coin:bend")


def toss(measure, observed, *, budget, memory_bytes):
    log = -np.abs(observed.delta) * 10
    found = {"one-sided": (log - np.log(2), log - np.log(2)), "two-sided": (log, log)}
    return assemble(found, observed=observed, reason=np.zeros(len(log), np.int8), method="asymptotic")


def bend(measure, observed, *, budget, memory_bytes):
    return np.zeros(len(observed.delta))
""",
    "nobody_2001": """
import numpy as np

from pipeline.interfaces import Preset, PresetNumbers, PresetRule

PRESET = Preset(
    name="nobody-2001",
    rules=(
        PresetRule("paired-bootstrap", "below-zero", counts=("below_zero",), plus_one=False, identical="0"),
        PresetRule("coin", "the length of the metric's name", compute="outside.nobody_2001:number"),
    ),
    replicates=500,
    prints="p of a coin",
    null="nobody is ahead",
    misleads="It is read off a name.",
    reference="Nobody 2001, Coins",
    settings={"seed": 3, "resampling.intervals": ["basic"]},
)


def number(data):
    p = np.full(len(data.pairs), 1 / len(data.metric.name))
    p[(data.pairs != 0).all(axis=1)] = np.nan
    return PresetNumbers(p, "not-with-the-baseline")
""",
    "pipes": '''
from pipeline.interfaces import Items, Reader


class Pipes(Reader):
    """Numbers behind pipes, one item a line."""

    name = "pipes"
    targets = ("score",)
    compares_with = "nothing"
    usual_metric = "halves"
    endings = (".pipes",)

    def read_gold(self, paths, options):
        return None

    def read_outputs(self, path, *, system, options):
        rows = [line.split("|") for line in path.read_text(encoding="utf-8").splitlines()]
        ids, scores = (tuple(row[place] for row in rows) for place in (0, 1))
        return {system or path.stem: Items(ids, {"score": scores}, str(path), tuple(range(1, len(rows) + 1)), numbered=False)}

    def write(self, path, columns, ids):
        path.write_text("".join(f"{name}|{score}\\n" for name, score in zip(ids, columns["score"])), encoding="utf-8")
''',
    "halves": '''
import numpy as np

from pipeline.interfaces import Metric, Statistics


class Halves(Metric):
    """Half of the mean."""

    name = "halves"
    form = "ratio"
    higher_is_better = True
    statistics = ("sum", "count")

    def __init__(self, *, scale: int = 2) -> None:
        self.scale = scale

    @property
    def signature(self):
        return f"halves|scale:{self.scale}"

    def prepare(self, gold):
        return None

    def extract(self, prepared, output):
        sums = np.array([int(score) for score in output.columns["score"]], np.int64)
        return Statistics(np.stack([sums, np.full(len(sums), self.scale)], axis=1), (0, 0))

    def scorer(self, decimals):
        return lambda statistics: statistics[0] / statistics[1]
''',
}
POINTS = """
[pipeline.analyses]
gaps = outside.gaps:Gaps
[pipeline.procedures]
coin = outside.coin:PROCEDURE
bent = outside.coin:BENT
misnamed = outside.coin:PROCEDURE
lost = gone:PROCEDURE
[pipeline.presets]
nobody-2001 = outside.nobody_2001:PRESET
misnamed = outside.nobody_2001:PRESET
lost = gone:PRESET
[pipeline.readers]
pipes = outside.pipes:Pipes
[pipeline.metrics]
halves = outside.halves:Halves
"""


TESTS = Path(__file__).resolve().parents[1]

COMPARE = ("compare", "a.pipes", "b.pipes", "--format", "pipes")
COMMANDS = [
    *((catalogue,) for catalogue in ("procedures", "presets", "metrics", "formats", "analyses", "schema")),
    *(("--help",), ("run", "--help"), ("compare", "--help")),
    (*COMPARE, "--preset", "nobody-2001", "--json", "-q"),
    (*COMPARE, "--procedure", "bent"),
    (*COMPARE, "--procedure", "coinn"),
    (*COMPARE, "--preset", "nobody-2002"),
]
RUN_ALL = """
import json, sys
from support.studies import run_cli

ended = [run_cli(*words) for words in json.load(sys.stdin)]
print(json.dumps([[each.returncode, each.stdout, each.stderr] for each in ended]))
"""


class Ended(NamedTuple):
    """What a command came to."""

    code: int
    stdout: str
    stderr: str


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of whoever has installed the package: its modules and entry points, as an installer leaves them."""
    folder = tmp_path_factory.mktemp("site")
    info, package = folder / "outside-1.0.dist-info", folder / "outside"
    info.mkdir()
    package.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: outside\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS)
    (package / "__init__.py").touch()
    for name, code in MODULES.items():
        (package / f"{name}.py").write_text(code, encoding="utf-8")
    return {"PYTHONPATH": os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))}


def write_outputs(folder: Path) -> None:
    scores = {"a": lambda i: (i * 7) % 5, "b": lambda i: (i * 3) % 4, "c": lambda i: 1 + i % 2}
    for name, score in scores.items():
        lines = "".join(f"item{i}|{score(i)}\n" for i in range(40))
        (folder / f"{name}.pipes").write_text(lines, encoding="utf-8")


@pytest.fixture(scope="module")
def told(installed: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, ...], Ended]:
    """What commands come to where the package is installed: all in one process, as most of a process is imports."""
    folder = tmp_path_factory.mktemp("outputs")
    write_outputs(folder)
    path = os.pathsep.join([str(TESTS), installed["PYTHONPATH"]])
    command = [sys.executable, "-c", RUN_ALL]
    asked, environment = json.dumps(COMMANDS), {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, cwd=folder, env=environment, input=asked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {words: Ended(*ended) for words, ended in zip(COMMANDS, json.loads(done.stdout), strict=True)}


@pytest.fixture(scope="module")
def report(installed: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a study that asks for one of each."""
    folder = tmp_path_factory.mktemp("study")
    write_outputs(folder)
    study = write_study(
        folder / "study.yaml",
        preset="nobody-2001",
        test_sets={"few": {"format": "pipes", "outputs": "{system}.pipes"}},
        metrics=[{"name": "halves", "scale": 4}],
        resampling={},
        analyses=["gaps"],
        report={"null_laboratory": False},
    )
    study.write_text(study.read_text(encoding="utf-8").replace("seed: 7\n", ""), encoding="utf-8")  # the preset has one
    done = run_cli("run", study, "--serial", "--runs", folder / "runs", environment=installed)
    assert done.returncode == 0, done.stderr
    return next((folder / "runs").glob("small-*/report"))


def test_all_five_are_in_json(report: Path) -> None:
    document = json.loads((report / "report.json").read_text(encoding="utf-8"))
    assert document["seed"] == 3
    assert {(row["procedure"], row["metric"]) for row in document["pairs"]} == {("paired-bootstrap", "halves"), ("coin", "halves")}
    tossed = [row for row in document["pairs"] if row["procedure"] == "coin"]
    for row in tossed:
        assert row["p"] == pytest.approx(2.718281828459045 ** (-10 * row["delta"]))
        assert row["p_adjusted"] >= row["p"]
        assert row["verdict"]
        assert row["null"] == "either system is as likely to be ahead"
    own = {frozenset((row["system_a"], row["system_b"])): row["tool_p"] for row in tossed}
    assert own[frozenset("ab")] == own[frozenset("ac")] == {"nobody-2001": 1 / 6, "reason": None}
    assert own[frozenset("bc")] == {"nobody-2001": None, "reason": "the tool compares with the baseline only"}
    assert document["preset"]["deviations"] == []
    sums = {"a": sum((i * 7) % 5 for i in range(40)), "b": sum((i * 3) % 4 for i in range(40)), "c": 60}
    assert {row["name"]: row["score"] for row in document["leaderboard"]} == {name: sums[name] / 160 for name in "abc"}
    (finding,) = document["findings"]
    assert {"key": "gaps", "title": "Gaps between neighbours"} in document["sections"]
    (figure,) = finding["figures"]
    assert (figure["title"], figure["file"], figure["table"]) == ("Gaps & places", "gap-bars-01.svg", "gaps.csv")
    assert "place of the gap" in (report / "figures" / figure["file"]).read_text(encoding="utf-8")


def test_all_five_are_in_csv(report: Path) -> None:
    def read(name: str) -> list[dict[str, str]]:
        with open(report / "tables" / name, encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    finding = json.loads((report / "report.json").read_text(encoding="utf-8"))["findings"][0]
    found = [(row["place"], float(row["gap"])) for row in read("gaps.csv")]
    assert found == [(str(row["place"]), row["gap"]) for row in finding["rows"]]
    assert len(found) == 2
    pairs = [row for row in read("pairs.csv") if row["procedure"] == "coin"]
    assert {row["metric"] for row in pairs} == {"halves"}
    assert sorted(row["tool_p.nobody-2001"] for row in pairs) == ["", str(1 / 6), str(1 / 6)]


@pytest.mark.parametrize("name", ["index.html", "report.md"])
def test_all_five_are_on_every_page(report: Path, name: str) -> None:
    page = (report / name).read_text(encoding="utf-8")
    words = ("coin", "Nobody 2001", "nobody-2001", "It is read off a name.", "halves", "Gaps between neighbours", "A bar is a gap.")
    assert [word for word in words if word not in page] == []


def test_its_table_and_figure_stand_where_the_analysis_says(report: Path) -> None:
    page, text = ((report / name).read_text(encoding="utf-8") for name in ("index.html", "report.md"))
    assert all(words in page for words in ("place of the gap", "Gaps &lt;by place&gt;", "Gaps &amp; places"))
    assert page.index('<section id="pairs">') < page.index('<section id="gaps">')
    for words in ("## Gaps between neighbours", "![Bars of gaps.](figures/gap-bars-01.svg)", "[gaps.csv](tables/gaps.csv)"):
        assert words in text
    assert re.search(r"^### Gaps \\<by place\\>\n\n\| from below \| gap \|", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("catalogue", "name", "words"),
    [
        ("procedures", "coin", "prefer it where a coin is at hand; https://coins.example/test"),
        ("presets", "nobody-2001", "coin, the length of the metric's name; null: nobody is ahead; b = 500; Nobody 2001, Coins"),
        ("metrics", "halves", "Half of the mean; options: scale"),
        ("formats", "pipes", "Numbers behind pipes, one item a line; with halves"),
        ("analyses", "gaps", "How far apart are neighbours in rank?"),
    ],
)
def test_the_lists_have_it(told: dict[tuple[str, ...], Ended], catalogue: str, name: str, words: str) -> None:
    lines = {line.split()[0]: line for line in told[catalogue,].stdout.splitlines()}
    assert words in lines[name]
    if catalogue in ("procedures", "presets"):  # with what is wrong with others, behind all that can be had
        what = {"procedures": "coin", "presets": "nobody-2001"}[catalogue]
        assert f"names itself '{what}'" in lines["misnamed"]
        assert "cannot be loaded" in lines["lost"]
        assert list(lines)[-2:] == ["lost", "misnamed"]
        assert list(lines).index(name) >= len(lines) - 4


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ((), ("gaps", "coin", "nobody-2001", "halves", "pipes")),
        (("run",), ("gaps", "coin", "nobody-2001", "halves", "pipes")),
        (("compare",), ("coin", "nobody-2001", "halves", "pipes")),
    ],
)
def test_help_names_it(told: dict[tuple[str, ...], Ended], command: tuple[str, ...], names: tuple[str, ...]) -> None:
    shown = re.split(r",?\s+", told[*command, "--help"].stdout.split("\nInstalled (")[1])
    assert [name for name in names if name not in shown] == []


def test_editors_are_proposed_its_names(told: dict[tuple[str, ...], Ended]) -> None:
    schema = json.loads(told["schema",].stdout)
    proposed = {
        "analyses": schema["properties"]["analyses"]["items"]["anyOf"][0],
        "presets": schema["properties"]["preset"]["anyOf"][0],
        "metrics": schema["properties"]["metrics"]["items"]["anyOf"][0],
        "readers": schema["$defs"]["TestSet"]["properties"]["format"]["anyOf"][0],
        "procedures": schema["$defs"]["Resampling"]["properties"]["procedures"]["items"]["anyOf"][0],
    }
    named = {"analyses": "gaps", "presets": "nobody-2001", "metrics": "halves", "readers": "pipes", "procedures": "coin"}
    assert {family: name in proposed[family]["enum"] for family, name in named.items()} == dict.fromkeys(named, True)


def test_a_comparison_takes_them_without_a_study(told: dict[tuple[str, ...], Ended]) -> None:
    done = told[*COMPARE, "--preset", "nobody-2001", "--json", "-q"]
    assert done.code == 0, done.stderr
    document = json.loads(done.stdout)
    assert [(row["metric"], row["procedure"]) for row in document["pairs"]] == [
        ("halves", "paired-bootstrap"),
        ("halves", "coin"),
    ]


def test_what_its_code_returns_is_checked(told: dict[tuple[str, ...], Ended]) -> None:
    done = told[*COMPARE, "--procedure", "bent"]
    assert done.code != 0
    assert "outside.coin:bend" in done.stderr + done.stdout


@pytest.mark.parametrize(
    ("option", "name", "meant"), [("--procedure", "coinn", "coin"), ("--preset", "nobody-2002", "nobody-2001")]
)
def test_a_misspelt_name_gets_the_one_that_was_meant(
    told: dict[tuple[str, ...], Ended], option: str, name: str, meant: str
) -> None:
    done = told[*COMPARE, option, name]
    assert done.code == 2
    assert f"did you mean '{meant}'" in done.stderr
