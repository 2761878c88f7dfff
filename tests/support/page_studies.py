"""Take pages of formats and metrics apart into studies that can be read.

On such a page

* a fenced block whose line before has its name in backticks, `` `gold.txt` ``, is a file;
* a ``yaml`` block is a study file, or a part of one: test sets, metrics, training data;
* a table with the head ``| system | metric | sums | score |`` has scores of the test set of the block above it, with the sums that
  they are made of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from pipeline.interfaces import Items
from pipeline.items.align import survey_test_set
from pipeline.items.frame import Survey
from pipeline.items.gold import load_gold, reader_options
from pipeline.items.outputs import load_output
from pipeline.items.readers import load_reader
from pipeline.items.recognise import recognise_formats
from pipeline.metrics.registry import load_metric, pin_options
from pipeline.study.load import study_from_value
from pipeline.study.schema import Study, Systems
from pipeline.study.sets import TestSet

FILE = re.compile(r"^`([\w./{}-]+\.\w+)`[^\n]*\n\n?```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
YAML = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SCORES = re.compile(r"^\| system \| metric \| sums \| score \|\n\|[-|: ]+\|\n((?:\|.*\|\n)+)", re.MULTILINE)
COUNTED = re.compile(r"`([\w.-]+)` has ([0-9]+) items?\b")
MODELS = {"resamples": [{"method": "seed", "replicas": 2}], "models": {"shown": {"trainer": "ibm1"}}}


class ScoreRow(NamedTuple):
    """A row of a table of scores: whose, the metric as a study names it, and the numbers as they are printed; and its line."""

    system: str
    metric: dict[str, Any]
    sums: str
    score: str
    line: str


@dataclass(frozen=True)
class Page:
    """A page of the documentation."""

    path: Path

    @property
    def text(self) -> str:
        """What it says."""
        return self.path.read_text(encoding="utf-8")

    @property
    def files(self) -> dict[str, str]:
        """The examples that have names."""
        found = FILE.findall(self.text)
        names = [name for name, _ in found]
        assert len(set(names)) == len(names), f"{self.path.name} names a file twice: {names}"
        return dict(found)

    @property
    def counts(self) -> dict[str, int]:
        """How many items the page says test sets have."""
        return {name: int(count) for name, count in COUNTED.findall(self.text)}

    def names(self, column: str) -> bool:
        """Tell whether a column is named: in backticks, or by an example that has it in itself."""
        blocks, spans = BLOCK.findall(self.text), re.findall(r"`([^`\n]+)`", BLOCK.sub("", self.text))
        return any(re.search(rf"(?<![\w.]){re.escape(column)}(?![\w])", code) for code in (*blocks, *spans))

    def studies(self, folder: Path, usual: str = "mean") -> Iterator[tuple[Study, list[ScoreRow]]]:
        """Yield each ``yaml`` block as a study of the folder, with the rows of the tables up to the next one."""
        blocks = list(YAML.finditer(self.text))
        for k, block in enumerate(blocks):
            end = blocks[k + 1].start() if k + 1 < len(blocks) else len(self.text)
            value = whole_study(yaml.safe_load(block[1]), usual)
            yield study_from_value(value, base=folder).study, list(_rows(self.text[block.end() : end]))

    def write(self, folder: Path) -> None:
        """Write the files."""
        for name, text in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")


def whole_study(value: Any, usual: str) -> dict[str, Any]:
    """Return a study of which a page shows a part."""
    if isinstance(value, list):
        value = {"metrics": value}
    if not set(value) & {"schema", "test_sets", "metrics", "training"}:
        kind = "test_sets" if set(value) & set(TestSet.model_fields) else "metrics"
        value = {"test_sets": {"shown": {"outputs": "{system}.out", **value}}} if kind == "test_sets" else {"metrics": [value]}
    value = {"schema": 1, "study": "shown", **value}
    if "training" in value:
        value["training"] = {**MODELS, **value["training"]}
    value.setdefault("test_sets", {"shown": {"format": "scores", "outputs": "shown.csv"}})
    value.setdefault("metrics", [usual])
    return value


def is_there(spec: TestSet, folder: Path) -> bool:
    """Tell whether a page has the files of a test set: it may show how one is named that it has no example of."""
    named = [*spec.references, *([spec.gold] if isinstance(spec.gold, str) else []), *([spec.documents] if spec.documents else [])]
    outputs = spec.outputs if isinstance(spec.outputs, Mapping) else {"": spec.outputs}
    patterns = [re.sub(r"\{\w+\}", "*", path) for path in outputs.values() if path is not None]
    return all((folder / name).is_file() for name in named) and all(any(folder.glob(pattern)) for pattern in patterns)


def surveys(study: Study, folder: Path) -> Iterator[tuple[str, TestSet, Survey]]:
    """Read the test sets of a study whose files are there, as `pipeline check` does; one system is enough."""
    chosen = {name: spec for name, spec in study.test_sets.items() if is_there(spec, folder)}
    if not chosen:
        return
    study = recognise_formats(study.model_copy(update={"test_sets": chosen}), folder)[0]
    for name in chosen:
        spec = study.as_read(name)
        asked = study.resampling
        found = survey_test_set(name, spec, base=folder, systems=Systems(), unit=asked.unit, strata=asked.strata, min_systems=1)
        yield name, spec, found


def columns_of(spec: TestSet, found: Survey, folder: Path) -> set[str]:
    """Return the columns of the gold and of the outputs of a test set."""
    names = set(found.gold.columns) if found.gold is not None else set()
    for output in found.outputs:
        names |= set(_load(spec, output, found, folder).columns)
    return names


def score(spec: TestSet, found: Survey, folder: Path, row: ScoreRow) -> tuple[str, str]:
    """Return the sums of the statistics of a system's output, in their own units, and its score, printed as the row prints them."""
    options = {key: value for key, value in row.metric.items() if key != "name"}
    name = row.metric["name"]
    metric = load_metric(name, pin_options(name, options, folder))
    gold = load_gold(spec, base=folder, frame=found.frame) if found.gold is not None else None
    (output,) = (one for one in found.outputs if one.system == row.system)
    counted = metric.extract(metric.prepare(gold), _load(spec, output, found, folder))
    sums = counted.values.sum(axis=0)
    value = float(metric.scorer(counted.decimals)(sums.reshape(-1, 1))[0])
    shown = ", ".join(f"{float(one) / 10**places:g}" for one, places in zip(sums.tolist(), counted.decimals, strict=True))
    return shown, f"{value:.{len(row.score.partition('.')[2])}f}"


def written_anew(page: Page, folder: Path) -> str:
    """Return a page with the sums and scores that its examples have."""
    text = page.text
    page.write(folder)
    for study, rows in page.studies(folder):
        for _, spec, found in surveys(study, folder) if rows else ():
            for row in rows:
                sums, value = score(spec, found, folder, row)
                kept = row.line.rsplit(" | ", 2)[0]
                text = text.replace(row.line, f"{kept} | {sums} | {value} |")
    return text


def training_items(study: Study, folder: Path) -> Items | None:
    """Return the training data of a study that is in files of the folder."""
    data = study.training.data if study.training else None
    if data is None or not hasattr(data, "paths"):
        return None
    paths = [folder / name for name in (*data.paths, *([data.gold] if data.gold else []))]
    if not all(path.is_file() for path in paths):
        return None
    return load_reader(data.format).read_gold(paths, reader_options(TestSet(columns=data.columns, outputs="-")))


def _load(spec: TestSet, output: Any, found: Survey, folder: Path) -> Items:
    return load_output(spec, output, frame=found.frame, base=folder)


def _rows(text: str) -> Iterator[ScoreRow]:
    for table in SCORES.findall(text):
        for line in table.splitlines():
            system, metric, sums, value = (cell.strip() for cell in line.strip("|").split(" | "))
            named = yaml.safe_load(metric.strip("`"))
            yield ScoreRow(system.strip("`"), named if isinstance(named, dict) else {"name": named}, sums, value, line)
