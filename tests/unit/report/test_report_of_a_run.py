"""A real run with systems that are identical, tied, and different: the cube and its report say the same of each pair."""

import json
from datetime import UTC, datetime

import pytest
from support.studies import write_study

from pipeline.api import open_run, run
from pipeline.errors import RunNotFound
from pipeline.record.manifest import read_manifest
from pipeline.store.runs import RunDirectory
from pipeline.tasks.provenance import read_provenance


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("methods")
    rows = ["item,up,twin,swapped,low"]
    rows += [f"q{k:02d},{k % 2},{k % 2},{(k + 1) % 2},{int(k % 8 == 1)}" for k in range(80)]
    (folder / "scores.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    study = write_study(
        folder / "study.yaml",
        test_sets={"few": {"format": "scores", "outputs": "scores.csv"}},
        metrics=["mean"],
        resampling={"replicates": 3000, "keep_replicates": 0},
    )
    return run(study, runs=folder / "runs", serial=True).root


def test_the_method_of_a_cube_tells_what_no_replicate_was_asked_for(finished):
    (cube,) = open_run(finished).values()
    codes = str(cube["method"].attrs["flag_meanings"]).split()
    assert codes[:3] == ["monte-carlo", "exact", "tail"]  # older cubes keep their meaning
    where = {"metric": "mean", "test_size": "full", "procedure": "paired-bootstrap"}
    names = list(zip(cube["system_a"].values.tolist(), cube["system_b"].values.tolist(), strict=True))
    sides = {"two-sided": "definition", "one-sided": None, "two-sided-plus-one": "definition"}
    for side, tied in sides.items():
        values = cube["method"].sel(convention=side, **where).values.tolist()
        found = {frozenset(pair): codes[code] if code >= 0 else None for pair, code in zip(names, values, strict=True)}
        assert found[frozenset(("up", "twin"))] == "definition"
        assert found[frozenset(("up", "swapped"))] == tied
        assert found[frozenset(("up", "low"))] == "monte-carlo"


def test_a_run_is_opened_by_its_path_or_the_beginning_of_its_name(finished):
    assert dict(open_run(finished.parent / finished.name[:-3])).keys() == {"few"}
    with pytest.raises(RunNotFound, match="there is no run 'nothere' in"):
        open_run(finished.parent / "nothere")


def test_the_report_of_a_run_agrees_with_its_cube(finished):
    document = json.loads((finished / "report" / "report.json").read_text(encoding="utf-8"))
    rows = {frozenset((row["system_a"], row["system_b"])): row for row in document["pairs"]}
    assert [rows[frozenset(("up", name))]["method"] for name in ("twin", "swapped", "low")] == [
        "definition",
        "definition",
        "monte-carlo",
    ]
    assert rows[frozenset(("up", "swapped"))]["bias"] is None
    assert rows[frozenset(("up", "low"))]["verdict"] == "better"
    assert {row["name"]: row["rank"] for row in document["leaderboard"]} == {"up": 1, "twin": 1, "swapped": 1, "low": 4}
    assert any("(up = twin)" in note for note in document["notes"]["thresholds"])
    assert document["test_sets"][0]["effective_units"] == 80


def test_provenance_has_the_time_the_command_and_a_digest_of_every_input(finished):
    directory = RunDirectory(finished)
    manifest = read_manifest(directory)
    found = read_provenance(directory, manifest)
    assert datetime.fromisoformat(found.started) <= datetime.now(UTC)
    assert found.command == "pipeline run study.yaml"
    digests = {row.what: row.digest for row in found.inputs}
    assert set(digests) == {"up", "twin", "swapped", "low"}
    assert digests["up"] == digests["twin"] != digests["low"]


@pytest.mark.parametrize("origin", [None, "no JSON", "[]", '{"base": "/"}', '{"command": 7}'])
def test_a_run_that_kept_no_command_shows_none(finished, tmp_path, origin):
    directory = RunDirectory(tmp_path)
    if origin is not None:
        directory.origin.write_text(origin, encoding="utf-8")
    assert read_provenance(directory, read_manifest(RunDirectory(finished))).command == ""


@pytest.mark.parametrize("events", ["", "no JSON\n", "[]\n", '{"time": 7}\n'])
def test_a_run_without_readable_events_has_no_time(finished, tmp_path, events):
    directory = RunDirectory(tmp_path)
    assert read_provenance(directory, read_manifest(RunDirectory(finished))).started == ""
    directory.events.write_text(events, encoding="utf-8")
    assert read_provenance(directory, read_manifest(RunDirectory(finished))).started == ""
