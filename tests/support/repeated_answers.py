"""Logs of two models that answer the same questions several times: the shape of an evaluation with epochs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["answer", "write_logs", "write_samples"]


def answer(seed: int, *, questions: int = 60, epochs: int = 3) -> dict[str, NDArray[np.int64]]:
    """Return (epoch, question) right answers of *north*, which is better by .1 on average, and *south*."""
    rng = np.random.default_rng(seed)
    easy = rng.normal(0.55, 0.25, questions)
    chances = {name: np.clip(easy + rng.normal(gain, 0.1, questions), 0, 1) for name, gain in (("north", 0.1), ("south", 0.0))}
    return {name: (rng.random((epochs, questions)) < chance).astype(np.int64) for name, chance in chances.items()}


def write_logs(folder: Path, answers: dict[str, NDArray[np.int64]]) -> list[str]:
    """Write a log of Inspect a model; give their names."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, right in answers.items():
        epochs, questions = right.shape
        samples = [
            {
                "id": question + 1,
                "epoch": epoch + 1,
                "input": f"question {question + 1}?",
                "target": "yes",
                "scores": {"match": {"value": "C" if right[epoch, question] else "I"}},
            }
            for epoch in range(epochs)
            for question in range(questions)
        ]
        config = {"task": "quiz", "model": name, "dataset": {}, "config": {"epochs": epochs}}
        log = {"version": 2, "status": "success", "eval": config, "results": {"scores": []}, "samples": samples}
        (folder / f"{name}.json").write_text(json.dumps(log), encoding="utf-8")
    return [f"{name}.json" for name in answers]


def write_samples(folder: Path, answers: dict[str, NDArray[np.int64]]) -> list[str]:
    """Write samples of the lm-evaluation-harness with repeats, summarised as it does by default; give their paths."""
    paths = []
    for name, right in answers.items():
        path = folder / name / "samples_quiz_2026-01-02T03-04-05.678901.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = [
            {
                "doc_id": question,
                "doc": {"q": f"question {question + 1}?"},
                "target": "yes",
                "arguments": {"gen_args_0": {"arg_0": f"question {question + 1}?"}},
                "filter": "none",
                "metrics": ["pass@1(exact_match)"],
                "pass@1(exact_match)": float(scores.mean()),
                "scores_per_repeat": {"exact_match": scores.tolist()},
            }
            for question, scores in enumerate(right.T)
        ]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        paths.append(str(path))
    return paths
