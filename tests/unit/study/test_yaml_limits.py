"""Study files, profiles and flags that are small and would make values without end: each is refused, with the place."""

from __future__ import annotations

import os
import signal
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pipeline.errors import Problem, StudyError
from pipeline.study import yaml_values
from pipeline.study.load import load_profile, load_study, study_from_value
from pipeline.study.yaml_values import parse_flow, parse_yaml

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.fixture(autouse=True)
def _in_time() -> Iterator[None]:
    signal.alarm(60)
    yield
    signal.alarm(0)


def refused(call: Callable[[], object]) -> Problem:
    with pytest.raises(StudyError) as caught:
        call()
    (problem,) = caught.value.problems
    return problem


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_nine_aliases_in_nine_levels_are_too_many_values(tmp_path: Path) -> None:
    path = write(tmp_path / "study.yaml", BOMB)
    for read in (load_study, load_profile):
        problem = refused(lambda read=read: read(path))
        assert (problem.code, problem.where) == ("P128", f"{path}:1:11")
        assert "more than 100,000 values, what an alias repeats" in problem.message
    flow = "{" + BOMB.replace("\n", ", ") + "}"
    assert refused(lambda: parse_flow(flow, "--format")).code == "P128"
    study = write(tmp_path / "good.yaml", "schema: 1\n")
    assert refused(lambda: parse_yaml(flow, "--set x")).code == "P128"
    with pytest.raises(StudyError) as caught:
        load_study(study, [f"metrics={flow}"])
    assert "P128" in {problem.code for problem in caught.value.problems}


def test_a_bomb_takes_the_memory_of_what_may_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_values, "MOST_VALUES", 10_000)
    tracemalloc.start()
    problem = refused(lambda: parse_yaml(BOMB, "study.yaml"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert problem.code == "P128"
    assert peak < 20 << 20


def test_values_without_aliases_are_counted_as_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_values, "MOST_VALUES", 1000)
    problem = refused(lambda: parse_yaml("[" + "1," * 50_000 + "1]", "study.yaml"))
    assert (problem.code, problem.where) == ("P128", "study.yaml:1:4000")


def test_a_long_text_that_aliases_repeat_is_counted_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_values, "MOST_TEXT", 1 << 20)
    problem = refused(lambda: parse_yaml(f"a: &a {'x' * 10_000}\nb: [{', '.join(['*a'] * 200)}]", "study.yaml"))
    assert problem.code == "P128"
    assert "text of more than 1 MiB" in problem.message


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: " + "[" * 800, "1:103"),
        ("{a: " * 800, "1:398"),
        ("a0: &a0 [x]\n" + "".join(f"a{k}: &a{k} [*a{k - 1}]\n" for k in range(1, 3000)), "1:10"),
    ],
    ids=["lists", "mappings", "aliases"],
)
def test_deep_nesting_is_refused_with_its_place(text: str, place: str) -> None:
    problem = refused(lambda: parse_yaml(text, "study.yaml"))
    assert problem.code == "P129"
    assert problem.where == f"study.yaml:{place}"


def test_what_is_as_deep_as_may_be_is_read() -> None:
    depth = yaml_values.MOST_DEPTH - 1
    document, problems = parse_yaml("[" * depth + "1" + "]" * depth, "study.yaml")
    assert (str(document.value).count("["), problems) == (depth, [])


@pytest.mark.parametrize(
    "number", ["0x" + "f" * 6000, "9" * 6000, "0." + "1" * 6000, "1" * 101], ids=["hex", "int", "float", "101"]
)
def test_a_number_without_end_is_refused_and_not_repeated(tmp_path: Path, number: str) -> None:
    path = write(tmp_path / "study.yaml", f"schema: 1\nseed: {number}\n")
    with pytest.raises(StudyError) as caught:
        load_study(path)
    (problem,) = [problem for problem in caught.value.problems if problem.where == f"{path}:2:7"]
    assert problem.code == "P106"
    assert f"a number has {len(number):,} characters" in problem.message
    assert len(problem.message) < 200


def test_a_key_without_end_is_refused() -> None:
    _, (problem,) = parse_yaml(f"? {'k' * 1001}\n: 1\n", "study.yaml")
    assert (problem.code, problem.where) == ("P106", "study.yaml:1:3")


def test_a_document_of_megabytes_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.touch()
    os.truncate(path, 1 << 40)
    for read in (load_study, load_profile):
        problem = refused(lambda read=read: read(path))
        assert (problem.code, problem.where) == ("P128", str(path))
        assert "more than 4 MiB" in problem.message


def test_pipes_and_devices_are_no_study_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    for path, kind in ((tmp_path / "pipe.yaml", "a pipe"), (Path("/dev/zero"), "a device")):
        for read in (load_study, load_profile):
            problem = refused(lambda read=read, path=path: read(path))
            assert problem.code == "P109"
            assert f"it is {kind}, not a regular file" in problem.message


def test_many_wrong_values_are_found_in_the_time_of_a_few() -> None:
    def seconds(count: int) -> float:
        value = {"schema": 1, "name": "n", "metrics": ["bleu"], "systems": {"exclude": [1] * count}, "test_sets": {}}
        started = time.process_time()
        with pytest.raises(StudyError):
            study_from_value(value, base=Path())
        return time.process_time() - started

    # Eight times as many: about 8 where each is asked once, 64 where each is held to all others.
    assert min(seconds(16_000) for _ in range(2)) < 25 * min(seconds(2000) for _ in range(3))


@pytest.mark.parametrize("key", ['""', "[a]", "x"])
def test_wrong_keys_that_an_alias_repeats_are_not_told_without_end(key: str) -> None:
    """They have no value and no text, and took 486 MB of 9 kB."""
    count = 1000
    keys = ",".join(f"{key}: 1" for _ in range(count))
    begun = time.process_time()
    with pytest.raises(StudyError) as raised:
        parse_yaml(f"m: &m {{{keys}}}\nl: [{','.join(['*m'] * count)}]\n", "bomb.yaml")
    assert len(raised.value.problems) == 1000
    assert time.process_time() - begun < 5
