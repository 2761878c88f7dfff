"""An answer of a worker that is done, and still on its way, is waited for; an error of the function is the asker's."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pipeline.engine.clusters.patience import LOOK_SECONDS
from pipeline.engine.dask import DaskExecutor


class Answer:
    """A future whose function has run, and whose result takes so many seconds to come."""

    def __init__(self, seconds: float, status: str = "finished") -> None:
        self.seconds, self.status, self.released = seconds, status, False

    def done(self) -> bool:
        return True

    def result(self, timeout: float) -> str:
        if timeout < self.seconds or self.status == "error":
            raise TimeoutError(f"timed out after {timeout} s.")
        return "42"

    def release(self) -> None:
        self.released = True


def ask(answer: Answer, monkeypatch: pytest.MonkeyPatch, looks: list[int]) -> Any:
    monkeypatch.setattr(DaskExecutor, "_look", lambda self: looks.append(1))
    executor = object.__new__(DaskExecutor)
    executor._client = SimpleNamespace(submit=lambda function, *arguments, pure: answer)
    return executor.ask(str, 42)


def test_an_answer_that_takes_longer_than_a_look_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    answer, looks = Answer(2.5 * LOOK_SECONDS), list[int]()
    assert ask(answer, monkeypatch, looks) == "42"
    assert len(looks) == 3  # and whether there are workers is asked meanwhile
    assert answer.released


def test_a_time_out_of_the_function_itself_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = Answer(0.0, "error")
    with pytest.raises(TimeoutError):
        ask(answer, monkeypatch, [])
    assert answer.released
