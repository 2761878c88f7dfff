"""A study asks for one metric with several options, each under a name of its own."""

from __future__ import annotations

from pathlib import Path

from pipeline.api import open_run
from pipeline.engine.launch import Launch, execute, prepare
from pipeline.study.load import study_from_value


def test_two_columns_of_one_table_are_two_metrics(tmp_path: Path) -> None:
    rows = [f"q{k},{system},{k % 3},{(k * 7 + n) % 5}" for k in range(40) for n, system in enumerate(("north", "south"))]
    (tmp_path / "scores.csv").write_text("\n".join(["item,system,first,second", *rows]) + "\n")
    value = {
        "schema": 1,
        "study": "names",
        "test_sets": {"t": {"format": "scores", "outputs": "scores.csv"}},
        "metrics": [{"name": name, "metric": "mean", "column": name} for name in ("first", "second")],
        "resampling": {"replicates": 500, "keep_replicates": 0, "test_sizes": ["full"]},
        "analyses": [],
        "report": {"formats": ["json"], "null_laboratory": False},
    }
    launch = Launch("serial")
    run = prepare(study_from_value(value, base=tmp_path), tmp_path / "runs", launch)
    assert execute(run, launch).exit_code == 0
    cube = open_run(run.root)["t"]
    assert cube["metric"].values.tolist() == ["first", "second"]
    means = cube["observed_score"].sel(test_size="full")
    expected = {
        name: {s: sum(int(r.split(",")[k]) for r in rows if r.split(",")[1] == s) / 40 for s in ("north", "south")}
        for k, name in ((2, "first"), (3, "second"))
    }
    for name, of_system in expected.items():
        for system, mean in of_system.items():
            assert float(means.sel(metric=name, system=system)) == mean
