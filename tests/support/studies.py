"""Small studies for tests: outputs with known content, study files, and the command line run as a user runs it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
import yaml

WORDS = [
    "the",
    "a",
    "of",
    "cat",
    "dog",
    "house",
    "river",
    "stone",
    "red",
    "old",
    "ran",
    "saw",
    "under",
    "over",
    "and",
    "but",
    "never",
    "always",
    "bright",
    "small",
]

ODD_NAMES = ("<b>bold</b>", "a & b", "slash/ed", "quo\"ted's", "系统三", "nan")


def write_text_outputs(folder: Path, systems: Iterable[str], *, items: int = 60, seed: int = 5) -> dict[str, str]:
    """Write a reference and one output a system, better ones first; give paths by system. A system's output never changes."""
    rng = np.random.default_rng(seed)
    reference = [[WORDS[i] for i in rng.integers(0, len(WORDS), rng.integers(6, 16))] for _ in range(items)]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "ref.txt").write_text("\n".join(" ".join(words) for words in reference) + "\n", encoding="utf-8")
    paths = {}
    for number, system in enumerate(systems):
        noise = np.random.default_rng([seed, *system.encode()])
        rate = 0.15 + 0.02 * number
        lines = [" ".join(WORDS[noise.integers(len(WORDS))] if noise.random() < rate else w for w in words) for words in reference]
        path = folder / f"out-{number}.txt"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        paths[system] = str(path)
    return paths


def write_scores(path: Path, systems: Sequence[str], *, items: int = 50, seed: int = 9) -> Path:
    """Write a wide table of scores with two decimals, with ties."""
    columns = {}
    difficulty = np.random.default_rng(seed).normal(size=items)
    for number, system in enumerate(systems):
        noise = np.random.default_rng([seed, *system.encode()])
        columns[system] = np.round(50 + 5 * difficulty + 0.4 * number + 3 * noise.normal(size=items), 1)
    rows = ["item," + ",".join(systems)]
    rows += [f"i{i}," + ",".join(f"{columns[s][i]:.1f}" for s in systems) for i in range(items)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


PAGES = {"null_laboratory": False}
"""What a study says of its ``report`` to get pages too: their figures take longer than all the rest of a small run."""


def write_study(path: Path, **changes: Any) -> Path:
    """Write a study file, of numbers alone: no pages and no null laboratory; ``changes`` replace top-level keys."""
    value: dict[str, Any] = {
        "schema": 1,
        "study": "small",
        "seed": 7,
        "metrics": ["bleu"],
        "analyses": ["thresholds", "size-curve"],
    }
    value["resampling"] = {"replicates": 40_000, "keep_replicates": 20_000, "test_sizes": [20, "full"]}
    value["report"] = {"formats": ["json"], "null_laboratory": False}
    value |= changes
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(value, allow_unicode=True, sort_keys=False), encoding="utf-8")
    return path


def text_study(folder: Path, systems: Sequence[str] = ODD_NAMES, **changes: Any) -> Path:
    """Write a text study with its outputs; the test set's name is odd on purpose."""
    outputs = write_text_outputs(folder / "data", systems)
    test_sets = {"news <2024> & co/文": {"format": "text", "references": ["data/ref.txt"], "outputs": outputs}}
    return write_study(folder / "study.yaml", **{"test_sets": test_sets, **changes})


def run_cli(
    *arguments: object,
    cwd: Path | None = None,
    environment: dict[str, str] | None = None,
    own_process: bool = False,
    timeout: float = 240,
) -> subprocess.CompletedProcess[str]:
    """Run the command line and return what it printed.

    It runs in the process of the test, which has imported most of what it needs, and where a warning is an error. Say
    ``own_process`` where a test is about processes: their signals, memory, workers, imports. An ``environment`` takes one too.
    """
    if not own_process and environment is None:
        return _run_here([str(argument) for argument in arguments], cwd or Path.cwd())
    return subprocess.run(
        [sys.executable, "-m", "pipeline", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, **(environment or {})},
        timeout=timeout,
        stdin=subprocess.DEVNULL,
    )


def _run_here(arguments: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    from pipeline.cli import main

    command = ["pipeline", *arguments]
    # As pipes are: bytes below, and no terminal.
    files = io.BytesIO(), io.BytesIO()
    out, err = (io.TextIOWrapper(file, encoding="utf-8", write_through=True) for file in files)
    with (
        mock.patch.object(sys, "argv", command),
        mock.patch.object(sys, "stdin", io.StringIO()),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        contextlib.chdir(cwd),
        pytest.raises(SystemExit) as ended,
    ):
        main()
    code = ended.value.code
    assert isinstance(code, int)
    printed, complained = (file.getvalue().decode("utf-8") for file in files)
    return subprocess.CompletedProcess(command, code, printed, complained)


def start_cli(*arguments: object, cwd: Path | None = None) -> subprocess.Popen[str]:
    """Start the command line in a process of its own."""
    command = [sys.executable, "-m", "pipeline", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd, stdin=subprocess.DEVNULL)


def ledger(run: Path) -> list[dict[str, Any]]:
    """Return the whole lines of a run's ledger, read without the package."""
    path = run / "ledger.jsonl"
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]


def times_done(run: Path) -> Counter[str]:
    """Return how often each task was done in a run."""
    return Counter(entry["receipt"]["key"] for entry in ledger(run) if entry["event"] == "done")


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every file below a folder."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
