"""docs/metrics/your-own.md runs as it is printed: serially, with workers, after a change of its code, and with a mistake in it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.studies import files_of, run_cli

PAGE = Path(__file__).resolve().parents[2] / "docs" / "metrics" / "your-own.md"
NAME = "answers:ExactMatch"


def write_page(folder: Path) -> Path:
    """Write the files of the page, and give its study."""
    for name, text in re.findall(r"^`([\w/.]+)`\n\n```\w+\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "study.yaml"


def run(study: Path, runs: Path, *options: object) -> Path:
    done = run_cli(
        "run", study, "--runs", runs, *(options or ("--serial",)), own_process=True
    )  # which has not loaded the code of another test
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


def statistics(runs: Path) -> set[str]:
    return {path.name for path in (runs / ".store" / "statistics").rglob("*.arrays")}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The study of the page, and its run by the serial engine."""
    folder = tmp_path_factory.mktemp("own")
    study = write_page(folder)
    return study, run(study, folder / "runs")


def test_the_study_of_the_page_gives_the_scores_that_it_says(made: tuple[Path, Path]) -> None:
    document = json.loads((made[1] / "report" / "report.json").read_text())
    scores = {row["name"]: round(row["scores"][NAME], 2) for row in document["systems"]}
    assert scores == {"north": 83.33, "south": 33.33}
    assert "north 83.33 and south 33.33" in PAGE.read_text()
    (metric,) = document["test_sets"][0]["metrics"]
    assert metric["name"] == NAME
    assert re.fullmatch(rf"{NAME}\|code:[0-9a-f]{{32}}", metric["signature"])
    # The code of twenty lines that the page promises.
    assert len((made[0].parent / "metrics" / "answers.py").read_text().splitlines()) <= 22


@pytest.mark.slow
def test_two_workers_give_the_bits_of_the_serial_engine(made: tuple[Path, Path], tmp_path: Path) -> None:
    other = run(made[0], tmp_path, "--workers", 2)
    assert other.name == made[1].name
    assert files_of(other / "cubes.zarr") == files_of(made[1] / "cubes.zarr")
    assert (other / "report" / "report.json").read_bytes() == (made[1] / "report" / "report.json").read_bytes()


@pytest.mark.slow
def test_moved_and_unchanged_code_is_the_same_run_and_changed_code_counts_anew(made: tuple[Path, Path], tmp_path: Path) -> None:
    study = write_page(tmp_path)
    module = tmp_path / "metrics" / "answers.py"
    first = run(study, tmp_path / "runs")
    assert first.name == made[1].name  # another folder, the same addresses
    before = statistics(tmp_path / "runs")
    assert before == statistics(made[1].parent)
    assert len(before) == 2
    # What a run that was killed had still to do is not done with other code; what was done stays what it was.
    kept = module.read_text()
    module.write_text(kept.replace("str.casefold", "str.upper"))
    for path in (tmp_path / "runs" / ".store" / "statistics").rglob("*.arrays"):
        path.unlink()
    resumed = run_cli("resume", first, "--serial", own_process=True)
    assert resumed.returncode != 0
    assert "P309" in resumed.stderr
    assert "has changed since the study was planned" in resumed.stderr
    assert statistics(tmp_path / "runs") == set()
    second = run(study, tmp_path / "runs")
    assert second.name != first.name
    assert len(statistics(tmp_path / "runs")) == 2
    assert not statistics(tmp_path / "runs") & before
    module.write_text(kept)
    assert run(study, tmp_path / "runs").name == first.name


def test_a_mistake_in_the_code_is_told_by_name_and_the_other_metric_goes_on(tmp_path: Path) -> None:
    study = write_page(tmp_path)
    module = tmp_path / "metrics" / "answers.py"
    module.write_text(module.read_text().replace('columns["text"]', 'columns["txt"]'))
    study.write_text(study.read_text().replace("metrics:\n", "metrics:\n  - chrf\n"))
    done = run_cli("run", study, "--runs", tmp_path / "runs", "--serial", own_process=True)
    assert done.returncode == 4
    assert f"the metric '{NAME}' failed in extract: KeyError: 'txt'" in done.stderr
    assert "Traceback" not in done.stderr
    (directory,) = (tmp_path / "runs").glob("answers-*")
    assert "P406" in (directory / "ledger.jsonl").read_text()


@pytest.mark.slow
def test_compare_takes_a_module_from_the_current_folder(tmp_path: Path) -> None:
    write_page(tmp_path)
    line = "compare systems/north.txt systems/south.txt -r right.txt --format text -m metrics.answers:ExactMatch -b 1000 --json -q"
    code = "import sys; from pipeline.cli import cli; cli(sys.argv[1:])"
    for folder, words in (
        (tmp_path, line),
        (
            tmp_path / "metrics",
            line.replace("metrics.answers", "answers").replace("systems/", "../systems/").replace("right", "../right"),
        ),
    ):
        done = subprocess.run(
            [sys.executable, "-P", "-c", code, *words.split()], cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        (metric,) = json.loads(done.stdout)["test_sets"][0]["metrics"]
        assert metric["name"] in words


@pytest.mark.slow
def test_the_contract_test_of_the_page_passes(tmp_path: Path) -> None:
    write_page(tmp_path)
    (block,) = (
        text for text in re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL) if "class Test" in text
    )
    (tmp_path / "test_answers.py").write_text(block)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_answers.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert re.search(r"\b1[01] passed", done.stdout), done.stdout
