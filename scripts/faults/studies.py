"""The studies that are struck: one of given outputs, one that trains its systems by a command."""

from __future__ import annotations

import json
import random
from pathlib import Path

__all__ = ["STUDIES", "write_study"]

_TRAINER = """
import json, pathlib, sys, time
action, *paths = sys.argv[1:]
if action == "fit":
    seed, data, model = paths
    time.sleep(0.3)
    labels = [line.split()[-1] for line in pathlib.Path(data).read_text().split("\\n") if line]
    pathlib.Path(model).write_text(json.dumps([seed, max(sorted(set(labels)), key=labels.count)]))
else:
    model, items, output = paths
    seed, usual = json.loads(pathlib.Path(model).read_text())
    lines = pathlib.Path(items).read_text().split("\\n")[1:-1]  # the first names the columns
    guesses = [usual if (k * int(seed)) % 7 else "c" for k in range(len(lines))]
    pathlib.Path(output).write_text("".join(f"{guess}\\n" for guess in guesses))
"""


def _write_given(folder: Path, rng: random.Random) -> dict[str, object]:
    names = [f"s{k}" for k in range(6)]
    rows = [",".join(["item", *names])]
    for item in range(120):
        hard = rng.random() * 0.4
        rows.append(",".join([f"q{item}", *(str(int(rng.random() > hard + 0.02 * k)) for k in range(6))]))
    (folder / "scores.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return {
        "test_sets": {"questions": {"format": "scores", "outputs": "scores.csv"}},
        "metrics": ["mean"],
        "resampling": {"replicates": 500_000, "keep_replicates": 16384, "test_sizes": [60, "full"], "method": "monte-carlo"},
    }


def _write_trained(folder: Path, rng: random.Random) -> dict[str, object]:
    labels = [rng.choice("aab") for _ in range(80)]
    for name in ("train", "test"):
        (folder / f"{name}.labels").write_text("".join(f"{label}\n" for label in labels), encoding="utf-8")
    (folder / "trainer.py").write_text(_TRAINER, encoding="utf-8")
    command = f'python "{folder / "trainer.py"}"'
    return {
        "test_sets": {"labels": {"format": "labels", "gold": "test.labels"}},
        "training": {
            "data": {"path": "train.labels", "format": "labels"},
            "resamples": [{"method": "bootstrap", "fraction": 1.0, "replicas": 12}],
            "models": {
                "usual": {
                    "trainer": "command",
                    "fit": f"{command} fit {{seed}} {{train}} {{model}}",
                    "predict": f"{command} predict {{model}} {{input}} {{output}}",
                }
            },
        },
        "metrics": ["accuracy"],
        "resampling": {"replicates": 20_000, "keep_replicates": 0, "method": "monte-carlo"},
    }


STUDIES = {"given": _write_given, "trained": _write_trained}
"""What writes the data of a study and returns the rest of it, by name."""


def write_study(name: str, folder: Path) -> Path:
    """Write a study with its data, the same each time, and return its file."""
    folder.mkdir(parents=True, exist_ok=True)
    value = {
        "schema": 1,
        "study": name,
        **STUDIES[name](folder, random.Random(5)),
        "analyses": ["thresholds"],
        "report": {"formats": ["json"], "null_laboratory": False},
    }
    path = folder / "study.yaml"
    path.write_text(json.dumps(value, indent=1), encoding="utf-8")  # JSON is YAML
    return path
