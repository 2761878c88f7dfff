"""Every figure of a report has a file beside it, and what is drawn, mapped back through the axes, are the numbers of that file."""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from support.drawn_figures import PIXEL, Panel, read_figure
from support.studies import run_cli, write_study
from support.whole_panels import WHOLE, differences

MODELS, RUNS = {"tall": 0.9, "flat": 0.0}, 6
TEST_SETS, METRICS = ("alpha", "beta", "gamma"), ("first", "second")
OWN = {"confidence": "pairs.csv"}
"""Figures of the report itself; those of standings are held to their rows in test_standings.py."""
STANDINGS = {"scores", "models"}

Rows = Sequence[Mapping[str, str]]
Point = tuple[float | None, float | None]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a study that every analysis answers: two models with six runs each, three test sets, two metrics."""
    folder = tmp_path_factory.mktemp("all")
    rng = np.random.default_rng(11)
    ability = {(model, run): gain + rng.normal(0, 0.35) for model, gain in MODELS.items() for run in range(RUNS)}
    known = ["system,model,replica", *(f"{model}/{run},{model},{run}" for model, run in ability)]
    (folder / "systems.csv").write_text("\n".join(known) + "\n", encoding="utf-8")
    for number, name in enumerate(TEST_SETS):
        count = 60 + 15 * number
        hard, lines = rng.normal(0, 1.5, count), ["item,system,first,second"]
        suits = {model: rng.normal(0, 0.6, count) for model in MODELS}
        for (model, run), able in ability.items():
            one, two = (base + hard + suits[model] + able + rng.normal(0, 2, count) for base in (60, 40))
            cells = zip(np.clip(one, 40, 80), np.clip(two, 20, 60), strict=True)
            lines += [f"{name}-{item},{model}/{run},{x:.2f},{y:.2f}" for item, (x, y) in enumerate(cells)]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    study = write_study(
        folder / "study.yaml",
        test_sets={name: {"format": "scores", "outputs": f"{name}.csv"} for name in TEST_SETS},
        systems={"table": "systems.csv"},
        metrics=[{"name": name, "metric": "mean", "column": name} for name in METRICS],
        resampling={
            "procedures": ["paired-bootstrap", "approximate-randomization"],
            "replicates": 1000,
            "keep_replicates": 1000,
            "test_sizes": [20, 40, "full"],
            "tails": "none",
        },
        analyses=[
            "thresholds",
            "size-curve",
            "domain-curve",
            "calibration-transfer",
            {"calibration-iid": {"drawn": 8, "replicates": 500}},
            {"driving-items": {"most_pairs": 2}},
            "distributions",
            "sensitivity",
            {"replicas": {"replicates": 300, "subsets": 40, "subset_replicates": 99}},
            "suite",
            {"type-one": {"nulls": 200, "replicates": 99, "run_nulls": 0, "pairs": 1}},
            {"sequential": {"bounds": {"first": [40, 80], "second": [20, 60]}, "curves": 2}},
        ],
        report={"formats": ["html", "json"], "null_laboratory": False},
    )
    with pytest.MonkeyPatch.context() as patch:  # nine runs of a model, the fewest of which scores are drawn, have 153 pairs
        for module in ("figures", "run_figures"):
            patch.setattr(f"pipeline.analyses.replicas.{module}.FEWEST", RUNS)
        done = run_cli("run", study, "--serial", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / done.stdout.strip() / "report"


@pytest.fixture(scope="module")
def tables(report: Path) -> dict[str, Rows]:
    """The rows of every file."""
    found = {}
    for path in (report / "tables").glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            found[path.name] = list(csv.DictReader(file))
    return found


@pytest.fixture(scope="module")
def told(report: Path) -> dict[str, str]:
    """The file of numbers that the report names for each figure."""
    document = json.loads((report / "report.json").read_text(encoding="utf-8"))
    return {figure["file"]: figure["table"] for finding in document["findings"] for figure in finding["figures"]}


@pytest.fixture(scope="module")
def other_tables(tables: dict[str, Rows]) -> dict[str, Rows]:
    """Numbers a little smaller than they are: to be noticed, it must be more than the width of a line."""
    return {file: [{key: _smaller(key, value) for key, value in row.items()} for row in rows] for file, rows in tables.items()}


def number(row: Mapping[str, str], key: str) -> float | None:
    return float(row[key]) if row[key] else None


def numbers(rows: Iterable[Mapping[str, str]], *keys: str) -> Iterator[tuple[float, ...]]:
    """Go through the rows that have all of these numbers."""
    for row in rows:
        values = [number(row, key) for key in keys]
        if None not in values:
            yield tuple(value for value in values if value is not None)


def where(rows: Rows, **wanted: str) -> Rows:
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def of_figure(rows: Rows, title: str) -> Rows:
    """Return the rows with the test set, metric and procedure that a title names."""
    said = {word.strip(",:()") for word in title.split()}
    for key in ("test_set", "scope", "metric", "procedure", "model"):
        named = {row[key] for row in rows if key in row} & said
        rows = [row for row in rows if row[key] in named] if named else rows
    return rows


def confidence(rows: Rows) -> list[Point]:
    return [(gain, 100 * (1 - p)) for gain, p in numbers(rows, "gain", "p")]


# What stands at marks of points, by the name of a figure: (x, y), None where the axis has names in place of numbers.
MARKS: dict[str, Callable[[Rows, dict[str, Rows], str], list[Point]]] = {
    "confidence": lambda rows, *_: [(abs(d), 1 - p) for d, p in numbers(rows, "delta", "p_raw.one_sided")],
    "thresholds": lambda rows, *_: [
        (x, None) for key in ("gain", "se_gain", "near_gain") for (x,) in numbers(where(rows, test_size="full"), key)
    ],
    "significant": lambda rows, *_: [
        (x, 100 * y) for x, y in numbers([r for r in where(rows, curve="as found") if r["relation"] != "all"], "gain", "share")
    ],
    "size-curve": lambda rows, *_: [
        *numbers(rows, "units", "gain"),
        *((n, z * se) for n, z, se in numbers(rows, "units", "gaussian_z", "median_se")),
    ],
    "size-confidence": lambda rows, *_: confidence(rows),
    "domain-confidence": lambda rows, *_: confidence(rows),
    "domains": lambda rows, *_: [
        *((x, None) for key in ("gain", "se_gain") for (x,) in numbers(rows, key)),
        *((z * se, None) for z, se in numbers(rows, "gaussian_z", "typical_se")),
    ],
    "gains-elsewhere": lambda rows, *_: list(numbers(rows, "gain", "gain_there")),
    "calibration-iid": lambda rows, *_: [(None, 100 * y) for y, _ in numbers(where(rows, kind="bin"), "expected", "share")],
    "driving-items": lambda rows, *_: [(x, None) for (x,) in numbers(rows, "adds")],
    "distributions": lambda rows, *_: [
        (x, None)
        for model in MODELS
        for own in [[x for (x,) in numbers(where(rows, model=model), "score")]]
        for x in [*own, float(np.mean(own))]
    ],
    "sensitivity": lambda rows, *_: [
        (abs(x), math.copysign(y, x * y))
        for one, two in zip(*(where(rows, measure=name) for name in METRICS), strict=True)
        for x, y in [(float(one["ratio"]), float(two["ratio"]))]
        if (one["system_a"], one["system_b"]) == (two["system_a"], two["system_b"])
    ],
    "run-p": lambda rows, *_: [(n, max(p, 1e-4)) for n, p in numbers(rows, "runs_each", "p_median")],
    "run-budget": lambda rows, *_: list(numbers([row for row in rows if row["kind"] in {"now", "best"}], "units", "runs")),
    "suite": lambda rows, tables, title: [
        *((x, None) for (x,) in numbers(where(rows, shown="True"), "gain")),
        *((x, None) for (x,) in numbers(where(of_figure(tables["suite_pairs.csv"], title), shown="True"), "mean_gain")),
    ],
    "p-by-p": lambda rows, *_: list(numbers(rows, "p_first", "p_second")),
}


def shares_of_bins(rows: Rows, *_: object) -> list[Point]:
    return [(None, 100 * y) for (y,) in numbers(where(rows, kind="bin"), "share")]


def histograms(rows: Rows, *_: object) -> list[Point]:
    """Return the upper corners of the histograms of both models, on the bins that they have in common, and their means."""
    scores = [[x for (x,) in numbers(where(rows, model=model), "score")] for model in MODELS]
    edges = np.histogram_bin_edges([*chain.from_iterable(scores)], int(np.clip(math.ceil(math.sqrt(sum(map(len, scores)))), 5, 30)))
    tops = [(low, float(count)) for own in scores for low, count in zip(edges, np.histogram(own, edges)[0], strict=False)]
    return [*tops, *((float(np.mean(own)), None) for own in scores)]


def gains_of_runs(rows: Rows, *_: object) -> list[Point]:
    """Return the upper left corners of the histograms that are drawn: of the fewest, the most and a middle number of runs."""
    there = sorted({int(row["runs_each"]) for row in rows})
    chosen = {str(there[place]) for place in (0, len(there) // 2, len(there) - 1)}
    return list(numbers([row for row in rows if row["runs_each"] in chosen], "low", "share"))


# Corners of lines and areas, all of which must be there among others.
CORNERS: dict[str, Callable[[Rows, dict[str, Rows], str], list[Point]]] = {
    "significant": lambda rows, *_: [
        (x, 100 * y) for x, y in numbers([r for r in rows if r["relation"] != "all"], "gain", "share")
    ],
    "calibration": shares_of_bins,
    "calibration-iid": shares_of_bins,
    "gains-elsewhere": lambda rows, tables, title: [
        (far, slope * far)
        for far in [max(x for (x,) in numbers(rows, "gain"))]
        for (slope,) in numbers(of_figure(tables["calibration_slopes.csv"], title), "slope")
    ],
    "run-scores": histograms,
    "run-gains": gains_of_runs,
    "run-p": lambda rows, *_: [
        (n, max(p, 1e-4)) for key in ("p_low", "p_median", "p_high") for n, p in numbers(rows, "runs_each", key)
    ],
    "run-budget": lambda rows, *_: list(
        numbers([row for row in rows if row["kind"] in {"se", "outputs"}], "units", "runs")
    ),
    "suite": lambda rows, *_: [
        (x, None) for key in ("interval.lo", "interval.hi") for (x,) in numbers(where(rows, shown="True"), key)
    ],
    "sequential": lambda rows, *_: [
        point for key in ("interval.lo", "mean_gain", "interval.hi") for point in numbers(rows, "units", key)
    ],
    "qq": lambda rows, *_: [
        (at, max(p, 0.0005)) for at, p in numbers([row for row in rows if float(row["probability"]) >= 0.025], "probability", "p")
    ],
}  # fmt: skip

# What is written in cells.
WORDS: dict[str, Callable[[Rows], list[str]]] = {
    "calibration-map": lambda rows: [f"{100 * x:.0f} %" for (x,) in numbers(where(rows, kind="bin"), "share")],
    "test-sets": lambda rows: [f"{x:.2f}" for (x,) in numbers(rows, "correlation")],
}


def are_near(panel: Panel, points: Sequence[Point], places: Sequence[tuple[float, float]]) -> NDArray[np.bool_]:
    """Say of each point, in rows, and each place on a panel, as a share of it, whether the place is that of the point."""
    near = np.ones((len(points), len(places)), dtype=bool)
    at = np.array(places, dtype=float).reshape(-1, 2)
    for side, (axis, length) in enumerate(((panel.x, panel.width), (panel.y, panel.height))):
        for row, point in enumerate(points):
            value = point[side]
            if value is not None and near[row].any():
                assert axis is not None, "an axis has no numbers"
                near[row] &= np.abs(axis.share(value) - at[:, side]) * length <= PIXEL
    return near


def is_inside(panel: Panel, point: Point) -> bool:
    axes = zip(point, (panel.x, panel.y), strict=True)
    return all(value is None or (axis is not None and -1e-6 <= axis.share(value) <= 1 + 1e-6) for value, axis in axes)


def missing(panels: Sequence[Panel], points: Iterable[Point], kind: str) -> list[Point]:
    """Return the points within the axes of some panel that are drawn in none; there must be such points."""
    points = [point for point in points if any(is_inside(panel, point) for panel in panels)]
    assert points, "no point of the file lies within the axes"
    drawn = [(panel, panel.shares(getattr(panel, kind))) for panel in panels]
    found = np.any([are_near(panel, points, places).any(axis=1) for panel, places in drawn], axis=0)
    return [point for point, near in zip(points, found, strict=True) if not near]


def strays(panels: Sequence[Panel], points: Sequence[Point]) -> list[tuple[float, float]]:
    """Return the marks that are those of no point."""
    found = []
    for panel in panels:
        places = panel.shares(panel.marks)
        near = are_near(panel, points, places).any(axis=0)
        found += [place for place, is_near in zip(places, near, strict=True) if not is_near]
    return found


def names_of(report: Path) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for path in sorted((report / "figures").glob("*.svg")):
        found.setdefault(path.stem.rpartition("-")[0], []).append(path)
    return found


def test_every_figure_is_checked_here_and_has_a_file(report: Path, tables: dict[str, Rows], told: dict[str, str]) -> None:
    there = names_of(report)
    assert {*MARKS, *CORNERS, *WORDS} | STANDINGS == there.keys()
    assert told.keys() == {path.name for name, paths in there.items() for path in paths if name not in STANDINGS | OWN.keys()}
    assert all(tables[table] for table in told.values())


def check(report: Path, tables: Mapping[str, Rows], told: Mapping[str, str], name: str) -> int:
    """Hold all figures of a name to their files; return how many numbers were compared."""
    checked = 0
    for path in names_of(report)[name]:
        title, panels = read_figure(path.read_text(encoding="utf-8"))
        rows = of_figure(tables[told.get(path.name) or OWN[name]], title)
        if name in MARKS:
            points = MARKS[name](rows, tables, title)
            assert not missing(panels, points, "marks"), path.name
            assert not strays(panels, points), path.name
            checked += len(points)
        if name in CORNERS:
            points = CORNERS[name](rows, tables, title)
            assert not missing(panels, points, "corners"), path.name
            checked += len(points)
        if name in WORDS:
            written = Counter(word for panel in panels for word in panel.words)
            cells = Counter(WORDS[name](rows))
            assert cells <= written, path.name
            checked += cells.total()
    return checked


@pytest.mark.parametrize("name", sorted({*MARKS, *CORNERS, *WORDS}))
def test_what_is_drawn_are_the_numbers_of_the_file(report: Path, tables: dict[str, Rows], told: dict[str, str], name: str) -> None:
    assert check(report, tables, told, name) >= 3 * len(names_of(report)[name])


@pytest.mark.parametrize("name", sorted({*MARKS, *CORNERS, *WORDS}))
def test_a_number_that_is_another_in_the_file_is_noticed(
    report: Path, other_tables: dict[str, Rows], told: dict[str, str], name: str
) -> None:
    with pytest.raises(AssertionError):
        check(report, other_tables, told, name)


@pytest.mark.parametrize("name", sorted(WHOLE))
def test_bars_and_q_q_plots_are_those_of_the_file_and_nothing_else(
    report: Path, tables: dict[str, Rows], told: dict[str, str], name: str
) -> None:
    """All corners of bars, steps, bands and curves, as often as they are there; one that is moved is noticed, whichever it is."""
    for path in names_of(report)[name]:
        title, panels = read_figure(path.read_text(encoding="utf-8"))
        rows = of_figure(tables[told[path.name]], title)
        for panel in panels:
            assert not differences(panel, WHOLE[name](rows, panel)), path.name
    whole = WHOLE[name](rows, panel)
    for drawn in (panel.marks, panel.corners):
        for place in range(0, len(drawn), 3):
            x, y = drawn[place]
            inside = panel.left + 1 < x < panel.left + panel.width - 1
            drawn[place] = (x, y - 4 * PIXEL)
            assert differences(panel, whole) or not inside, (place, x, y)
            drawn[place] = (x, y)


def _smaller(key: str, value: str) -> str:
    """Return 19 of 20 parts of a number that is not whole."""
    whole = not value.replace(".", "", 1).replace("-", "", 1).isdigit() or "." not in value
    return value if whole or key in {"p_low", "p_high"} else str(0.95 * float(value))
