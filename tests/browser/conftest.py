"""A headless Chromium, and pages for it to open; skips, saying so, where there is no Chromium."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from support.studies import run_cli
from support.synthetic_cubes import build_cube
from support.synthetic_reports import make_report, odd_cubes

from pipeline.interfaces import Column, Finding, Table
from pipeline.report.build import build_report
from pipeline.report.item_scores import ItemScores
from pipeline.report.write import render_report

if TYPE_CHECKING:
    from selenium import webdriver

REQUIRED_BY = "PIPELINE_REQUIRE_BROWSER"
if os.environ.get(REQUIRED_BY, "0") not in ("", "0"):
    import selenium.webdriver  # noqa: F401 - without it the module of tests would skip; here that is an error

OFFLINE = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-device-scale-factor=1",
)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    """Debian's Chromium, which keeps what the console says and which addresses are asked for."""
    from selenium import webdriver

    programs = {name: shutil.which(name) for name in ("chromium", "chromedriver")}
    missing = [name for name, path in programs.items() if path is None]
    if missing:
        says = f"no browser: {', '.join(missing)} not installed (apt-get install --no-install-recommends chromium chromium-driver)"
        if os.environ.get(REQUIRED_BY, "0") not in ("", "0"):
            pytest.fail(f"{says}, and {REQUIRED_BY} is set")
        pytest.skip(says)
    options = webdriver.ChromeOptions()
    options.binary_location = programs["chromium"]
    for option in (*OFFLINE, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(programs["chromedriver"]))
    yield driver
    driver.quit()


def write_page(
    folder: Path,
    cubes: dict,
    analyses: tuple[str, ...] = ("thresholds",),
    items: Sequence[ItemScores] = (),
    findings: Sequence[Finding] = (),
) -> Path:
    given = make_report(cubes, analyses=analyses, items=items)
    given = replace(given, findings=[*given.findings, *findings])
    files = render_report(given, build_report(given))
    page = folder / "index.html"
    page.write_bytes(files["index.html"])
    return page


def synthetic_cubes(systems: int) -> dict:
    """Scores of many systems, of 1 at most and so of many digits, a few hundredths apart."""
    rng = np.random.default_rng(systems)
    truth = np.sort(rng.normal(0.5, 0.015, systems))[::-1]
    names = [f"system-{k:04d}" for k in range(systems)]
    se = rng.uniform(0.003, 0.005, (1, systems * (systems - 1) // 2))
    return {"news": build_cube((truth + rng.normal(0, 0.002, systems))[None], names, name="news", sizes={"full": 1000}, se=se)}


@pytest.fixture(scope="session")
def odd_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of two test sets and twelve systems, some with names that need care."""
    names, right = ["s1", "s3"], np.array([[1.0, 0.0, 1.0, 1.0, np.nan], [0.0, 1.0, 0.0, 1.0, 1.0]])
    bent = np.linspace(-1, 1, 600).reshape(2, 300)
    items = (
        ItemScores("news <1>", "bleu", "scores", names, 10, ["<q1>", "q2", "q3", "q4", "q5"], right, higher_is_better=True),
        ItemScores("other/..", "bleu", "effects", names, 10, None, bent, higher_is_better=False),
    )
    return write_page(tmp_path_factory.mktemp("odd"), odd_cubes(), ("thresholds", "size-curve", "calibration-transfer"), items)


@pytest.fixture(scope="session")
def models_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a comparison of two models by their runs, with all tables that `replicas` makes of them."""
    folder, rng = tmp_path_factory.mktemp("models"), np.random.default_rng(3)
    for model, chance in (("large", 0.8), ("small", 0.6)):
        for run in range(3):
            write_answers(folder / f"{model}.seed{run}.csv", rng.random(40) < chance)
    done = run_cli("compare", "{system}.seed{replica}.csv", "--html", "page.html", "-b", "300", "-q", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "page.html"


@pytest.fixture(scope="session")
def signs_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a comparison by signs of graded scores: 21 items speak for the one system, and 2 for the other."""
    folder = tmp_path_factory.mktemp("signs")
    gains = [2] * 15 + [1] * 6 + [-3] * 2
    rows = ["item,old,new", *(f"q{item},{max(-gain, 0)},{max(gain, 0)}" for item, gain in enumerate(gains))]
    (folder / "grades.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    done = run_cli("compare", "grades.csv", "--format", "scores", "--procedure", "sign", "--html", "page.html", "-q", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "page.html"


def write_answers(path: Path, right: np.ndarray) -> None:
    path.write_text("item,score\n" + "".join(f"{item},{int(one)}\n" for item, one in enumerate(right)), encoding="utf-8")


@pytest.fixture(scope="session")
def bins_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page whose figures have bins of p and test sizes below their axes: two test sets of one population, at many sizes.

    It has a suite too, and a table that begins with a long sentence, as the known answers of a study do.
    """
    rng = np.random.default_rng(5)
    names, sizes = [f"s{k}" for k in range(12)], {"300": 300, "320": 320, "997": 997, "full": 1000}
    truth = np.linspace(50, 54, len(names))
    se = np.linspace(2.0, 1.0, len(sizes))[:, None] * np.ones(len(names) * (len(names) - 1) // 2)
    cubes = {
        name: build_cube(truth + rng.normal(0, 0.4, (len(sizes), len(names))), names, name=name, sizes=sizes, se=se)
        for name in ("news", "talks")
    }
    said = "the threshold of the pairs near borderline, by random subsets of 800 of the items"
    columns = (Column("what", "what"), Column("expected", "expected", "number"), Column("remark", "remark"))
    known = Finding("known", ({"what": said, "expected": 0.5, "remark": "no pair has a p-value in [0.04, 0.06]"},))
    known = replace(known, tables=(Table("Expected and found", {}, columns),))
    folder = tmp_path_factory.mktemp("bins")
    return write_page(folder, cubes, ("size-curve", "calibration-transfer", "suite"), findings=[known])


@pytest.fixture(scope="session")
def page_of_100(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of so many pairs that their figure is a picture."""
    return write_page(tmp_path_factory.mktemp("hundred"), synthetic_cubes(100))


@pytest.fixture(scope="session")
def large_page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of so many systems as the test says; of 1000 there are half a million pairs, which take a quarter of a minute."""
    return write_page(tmp_path_factory.mktemp("large"), synthetic_cubes(request.param))
