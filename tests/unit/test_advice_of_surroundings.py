"""What messages advise about packages, limits, clusters and code around a study: brought about by stand-ins, and done."""

from __future__ import annotations

import re
import socket
import struct
import sys
import tomllib
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.following_advice import help_of
from support.studies import write_scores, write_study

from pipeline import plugins
from pipeline.engine.clusters import cluster
from pipeline.engine.clusters.patience import await_answer, await_scheduler_file
from pipeline.interfaces import Items
from pipeline.items.choices import item_positions
from pipeline.items.training import read_training_items
from pipeline.metrics._lattice import put_on_lattice
from pipeline.study.load import load_study
from pipeline.study.profile import ClusterProfile
from pipeline.study.training_schema import DataFiles
from pipeline.survey.survey import survey_loaded

ROOT = Path(__file__).parents[2]
TABLE = "item,a,b\n1,3,4\n2,3,5\n3,1,1\n"


def look(study: Path) -> Any:
    return survey_loaded(load_study(study))


def scores_in(folder: Path, outputs: Any, **more: Any) -> Path:
    """Write a study of scores."""
    test_sets = {"set": {"format": "scores", "outputs": outputs}}
    return write_study(folder / "study.yaml", metrics=["mean"], test_sets=test_sets, **more)


def lack(patch: pytest.MonkeyPatch, *names: str) -> None:
    """Have no package of these names."""
    for name in names:
        patch.setitem(sys.modules, name, None)


def test_a_table_that_needs_a_package_is_read_with_it_or_written_as_csv(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table({"a": [3.0, 3.0, 1.0], "b": [4.0, 5.0, 1.0]}), tmp_path / "scores.parquet")
    study = scores_in(tmp_path, "scores.parquet")
    with pytest.MonkeyPatch.context() as patch:
        lack(patch, "pyarrow", "pyarrow.parquet", "pyarrow.feather")
        says = "`pip install pyarrow`, or `pip install 'pipeline[parquet]'`; or write the table as CSV"
        said = help_of(lambda: look(study), says)
        (tmp_path / "scores.csv").write_text(TABLE)
        look(scores_in(tmp_path, "scores.csv"))
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    (extra,) = re.findall(r"pipeline\[(\w+)\]", said)
    assert any(one.startswith("pyarrow") for one in extras[extra])
    look(scores_in(tmp_path, "scores.parquet"))


def test_what_is_compressed_with_zstandard_is_decompressed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = TABLE.encode()
    block = struct.pack("<I", len(content) << 3 | 1)[:3] + content
    (tmp_path / "scores.csv.zst").write_bytes(b"\x28\xb5\x2f\xfd\x20" + bytes([len(content)]) + block)
    lack(monkeypatch, "compression.zstd", "backports.zstd", "zstandard")
    help_of(lambda: look(scores_in(tmp_path, "scores.csv.zst")), "`pip install backports.zstd`, or decompress the file")
    (tmp_path / "scores.csv").write_bytes(content)
    look(scores_in(tmp_path, "scores.csv"))


def test_a_plugin_has_what_it_needs_or_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = plugins.entry_points()
    theirs = EntryPoint("needy", "needy_analysis:Needy", "pipeline.analyses")
    found = SimpleNamespace(select=lambda group: [*real.select(group=group), *([theirs] if group == theirs.group else [])])
    monkeypatch.setattr(plugins, "entry_points", lambda: found)
    monkeypatch.syspath_prepend(tmp_path)
    source = "import needed_by_it\nfrom pipeline.interfaces import Analysis\n"
    body = "class Needy(Analysis):\n    name = 'needy'\n    def find(self, cubes, options):\n        return None\n"
    (tmp_path / "needy_analysis.py").write_text(source + body)
    (tmp_path / "scores.csv").write_text(TABLE)

    def asked(*analyses: str) -> Path:
        return scores_in(tmp_path, "scores.csv", analyses=list(analyses))

    help_of(lambda: look(asked("thresholds", "needy")), "install what it needs, or leave it out of the study")
    look(asked("thresholds"))
    (tmp_path / "needed_by_it.py").write_text("")
    look(asked("thresholds", "needy"))


def test_one_of_two_packages_is_uninstalled_or_calls_its_own_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [EntryPoint("flesch", f"{place}:loads", "pipeline.metrics") for place in ("json", "pickle")]

    def import_of(*installed: EntryPoint) -> Any:
        monkeypatch.setattr(plugins, "entry_points", lambda: EntryPoints(installed))
        return plugins.import_plugin("metrics", "flesch")

    help_of(lambda: import_of(*points), "uninstall all of them but one, or have one rename its entry point")
    assert import_of(points[0])
    assert import_of(points[0], EntryPoint("ease", points[1].value, points[1].group))


def test_a_line_without_end_is_ended_by_line_feeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.items.readers._files.LONGEST_LINE", 16)
    texts = {"a.txt": "a b c\rd e f\rg h i\rj k l\r" * 4, "b.txt": "a b c\nd e f\ng h i\nj k m\n" * 4}
    for name, content in texts.items():
        (tmp_path / name).write_bytes(content.encode())
    test_sets = {"set": {"format": "text", "references": ["b.txt"], "outputs": {"a": "a.txt", "b": "b.txt"}}}
    study = write_study(tmp_path / "study.yaml", test_sets=test_sets)
    help_of(lambda: look(study), "check that the file is what its format says, and that its lines end in line feeds")
    (tmp_path / "a.txt").write_bytes(texts["a.txt"].replace("\r", "\n").encode())
    look(study)


def test_files_beyond_a_limit_are_made_smaller_or_are_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "scores.csv").write_text(TABLE)
    study = scores_in(tmp_path, "scores.csv", systems={"table": "systems.csv", "relation": "team"})
    rows = ("system,team\n", "a,x\n", "b,y\n")
    monkeypatch.setattr("pipeline.survey.coordinates._MOST_BYTES", 30)
    (tmp_path / "systems.csv").write_text("".join(rows) + rows[1] * 9)
    help_of(lambda: look(study), "give it one row for each system")
    (tmp_path / "systems.csv").write_text("".join(rows))
    look(study)
    monkeypatch.setattr("pipeline.study.load.MOST_BYTES", 2000)
    large = write_scores(tmp_path / "large.csv", ["a", "b"], items=200)
    help_of(lambda: look(large), "check that it is the right file")
    look(study)


def test_what_is_written_where_a_message_says_how_is_taken() -> None:
    """Functions that a study file does not reach with what they refuse: other words are there before."""
    said = help_of(lambda: item_positions("a-b", 4000, where="items"), "write 1-3500, or several with commas between them")
    assert len(item_positions(re.findall(r"[0-9-]+", said)[0], 4000, where="items")) == 3500
    assert item_positions("1-2, 4", 4, where="items") == [0, 1, 3]

    def put(*numbers: str) -> Any:
        return put_on_lattice(numbers, source="a.csv", column="length")

    help_of(lambda: put("8e15", "9e15"), "give them in a larger unit")
    assert put("8e12", "9e12").values.tolist() == [8 * 10**12, 9 * 10**12]
    help_of(lambda: put("1", "many"), "choose a column of numbers; a missing score is not a number")
    assert put("1", "2").values.tolist() == [1, 2]


def test_training_data_without_items_are_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"none.csv": Items((), {"label": ()}, "none.csv", ()), "some.csv": Items(("1",), {"label": ("x",)}, "some.csv", (1,))}
    reader = SimpleNamespace(read_gold=lambda paths, options: found[paths[0].name], write=None)
    monkeypatch.setattr("pipeline.items.training.load_reader", lambda name: reader)
    read_training_items(DataFiles(path="some.csv", format="labels"), tmp_path)
    help_of(lambda: read_training_items(DataFiles(path="none.csv", format="labels"), tmp_path), "correct `training.data`")


def test_a_scheduler_is_started_or_another_named(tmp_path: Path) -> None:
    from distributed.cli.dask_scheduler import main

    file = tmp_path / "scheduler.json"
    profile = ClusterProfile(name="p", scheduler_file=str(file), start_seconds=0.01)
    said = help_of(
        lambda: await_scheduler_file(profile, lambda: False),
        "start it with --scheduler-file, or correct `scheduler_file:` in the profile",
    )
    assert re.findall(r"--[a-z-]+", said)[0] in {word for option in main.params for word in option.opts}
    (tmp_path / "other.json").write_text("{}")
    await_scheduler_file(profile.model_copy(update={"scheduler_file": str(tmp_path / "other.json")}), lambda: False)
    file.write_text("{}")
    await_scheduler_file(profile, lambda: False)
    with socket.socket() as closed, socket.create_server(("127.0.0.1", 0)) as open_:
        closed.bind(("127.0.0.1", 0))

        def ask(one: socket.socket) -> None:
            def connect() -> bool:
                socket.create_connection(one.getsockname(), 5).close()
                return True

            assert await_answer(connect, ClusterProfile(name="p", address="tls://127.0.0.1:1"), lambda: False, 5)

        help_of(lambda: ask(closed), "start it, or correct `address:` in the profile")
        ask(open_)
        closed.listen()
        ask(closed)


class Picky:
    """In place of a cluster class, that takes one option."""

    scheduler_address = "tls://127.0.0.1:1"

    def __init__(self, *, security: Any = None, size: int = 1) -> None:
        self.size = size

    def scale(self, workers: int) -> None:
        self.size = workers


def test_options_of_a_profile_are_corrected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "find_class", lambda profile: (Picky, "other"))

    def make(**options: Any) -> Any:
        return cluster.make_cluster(ClusterProfile(name="p", cluster="a.Picky", options=options), 2, tmp_path)

    help_of(lambda: make(sise=3), "correct `options:` of the profile")
    assert make(size=3).size == 2
