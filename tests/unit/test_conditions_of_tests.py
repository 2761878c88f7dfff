"""What tests run under: one thread, for processes of them share few cores, and nothing collected that is no test."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_info


def test_every_blas_has_the_threads_that_tests_may_use() -> None:
    """Threads of a BLAS that wait use up the core of the other process."""
    np.ones((2, 2)) @ np.ones((2, 2))
    loaded = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    assert {pool["num_threads"] for pool in loaded} == {int(os.environ["OPENBLAS_NUM_THREADS"])}


def test_libraries_are_looked_for_again_once_something_was_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not before: each task of a run asks which of them have threads."""
    known, asked = threadpool_info(), []
    monkeypatch.setattr(ThreadpoolController, "_make_controller_from_path", lambda pools, path: asked.append(path))
    assert (threadpool_info(), asked) == (known, [])
    monkeypatch.setitem(sys.modules, "imported_since", sys)
    assert threadpool_info() == []
    assert asked


@pytest.mark.parametrize(("text", "collectors"), [('"""Add.\n\n>>> 1 + 1\n2\n"""\n', 1), ('"""Add."""\n', 0)])
def test_only_modules_with_a_prompt_are_asked_for_examples(
    request: pytest.FixtureRequest, tmp_path: Path, text: str, collectors: int
) -> None:
    (tmp_path / "module.py").write_text(text)
    asked = request.session.gethookproxy(tmp_path).pytest_collect_file
    assert len(asked(file_path=tmp_path / "module.py", parent=request.session)) == collectors
