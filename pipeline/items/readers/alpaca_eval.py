"""Annotations of AlpacaEval: how often a model's output is preferred to that of a baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from pipeline.errors import DataError, Problem, name_some
from pipeline.interfaces import FileSample, Items, Recognised
from pipeline.items.readers._files import read_lines, with_warnings
from pipeline.items.readers._json import JsonLine, digest_of, need, read_json_list
from pipeline.items.readers._records import ScoredFormat, asked_groups, check_name, choose_one, find_beside, name_of, text_of
from pipeline.items.readers._tables import is_number, leave_out_blank, parse_table, refuse

__all__ = ["AlpacaEvalReader"]

_DRAWS = (0, 1.5)
_SHORT = 16


class _Row(NamedTuple):
    """One annotation: where it stands, who is compared with whom by whom, what was asked, and the win of the first."""

    line: int
    model: str
    baseline: str
    annotator: str
    instruction: str
    content: str
    win: str | None
    record: Mapping[str, Any]


class AlpacaEvalReader(ScoredFormat):
    """``annotations.json`` of AlpacaEval: a list of preferences between an output of a baseline and one of a model.

    Items have the column ``win``: the preference for ``generator_2``, from 0 to 1, a draw is .5. An item is named by a digest of
    its instruction, for AlpacaEval gives it no name. An annotation without a preference is a missing item.

    Parameters
    ----------
    annotator : str, optional
        Needed where the file has the preferences of several.
    """

    name: ClassVar[str] = "alpaca-eval"
    endings: ClassVar[tuple[str, ...]] = (".json",)
    usual_metric: str | None = "win-rate"
    holds_systems: ClassVar[bool] = True

    def __init__(self, *, annotator: str | None = None) -> None:
        super().__init__()
        self.annotator = check_name("annotator", annotator)

    @staticmethod
    def recognise(sample: FileSample) -> Recognised | None:
        """Take a list of objects with an instruction and two generators."""
        head = sample.head.removeprefix(b"\xef\xbb\xbf").lstrip()
        if head.startswith(b"[") and all(key in head for key in (b'"instruction"', b'"generator_1"', b'"generator_2"')):
            return Recognised(0.95, "a list of objects with instruction, generator_1 and generator_2")
        return None

    @with_warnings
    def read_outputs(self, path: Path, *, system: str | None, options: Mapping[str, Any]) -> dict[str, Items]:
        """Return the wins of a model; of every model in the file, where the study names none."""
        source = str(path)
        records, odd = read_json_list(path)
        self._told.extend(odd)
        rows = _read_rows(records, source)
        by = choose_one(self.annotator, (row.annotator for row in rows), option="annotator", what="annotator", source=source)
        rows = [row for row in rows if row.annotator == by]
        models: dict[str, list[_Row]] = {}
        for row in rows:
            models.setdefault(row.model, []).append(row)
        if system is not None and len(models) > 1:
            raise DataError.of(
                "P219",
                f"the file has annotations of {len(models)} models, {name_some(sorted(models))}, but is named '{system}'",
                where=source,
                help="give the file without {system}: systems are then its models",
            )
        baselines = sorted({row.baseline for row in rows})
        if len(baselines) > 1:
            self._told.append(f"{source}: models are compared with {len(baselines)} baselines: {name_some(baselines)}")
        boards = [folder / "leaderboard.csv" for folder in (path.parent, path.parent.parent)]
        rates = find_beside(boards, self._read_board, self._told) or {}
        return {system or model: self._as_items(given, source, options, rates.get(model)) for model, given in models.items()}

    def _as_items(self, rows: Sequence[_Row], source: str, options: Mapping[str, Any], published: float | None) -> Items:
        names = _name_rows(rows)
        repeated = len(rows) - len({(row.instruction, row.content) for row in rows})
        if repeated:
            self._told.append(f"{source}: {repeated} annotations repeat an instruction and the baseline's output; each is an item")
        kept = [(name, row) for name, row in zip(names, rows, strict=True) if row.win is not None]
        lacking = [f"line {row.line}" for row in rows if row.win is None]
        self.tell_missing(source, lacking, len(rows), "for they have no preference")
        columns: dict[str, Sequence[str]] = {
            "win": tuple(str(row.win) for _, row in kept),
            "content": tuple(row.content for _, row in kept),
        }
        for role, key in asked_groups(options).items():
            values = tuple(text_of(row.record, key, source, row.line) for _, row in kept)
            if any(values):
                columns[role] = values
        ids = tuple(name for name, _ in kept)
        lines = tuple(row.line for _, row in kept)
        return Items(ids, columns, source, lines, numbered=False, published={} if published is None else {"win": published})

    def _read_board(self, path: Path) -> dict[str, float]:
        """Return the win rates of a leaderboard by model, from 0 to 1: there they are of a hundred."""
        table = leave_out_blank(parse_table(read_lines(path)))
        if "win_rate" not in table.header:
            return {}
        models, rates = table.column(table.header[0]), table.column("win_rate")
        return {model: float(rate) / 100 for model, rate in zip(models, rates, strict=True) if is_number(rate)}


def _read_rows(records: Sequence[JsonLine], source: str) -> list[_Row]:
    problems: list[Problem] = []
    rows = []
    for line, record in records:
        win: str | None = None
        try:
            win = _win(record, source, line)
        except DataError as exc:
            problems.extend(exc.problems)
        instruction = need(record, "instruction", str, source, line)
        baseline = text_of(record, "generator_1", source, line)
        asked = [instruction, baseline, record.get("output_1") if isinstance(record.get("output_1"), str) else None]
        by = text_of(record, "annotator", source, line)
        model = name_of(record, "generator_2", source, line)
        rows.append(_Row(line, model, baseline, by, instruction, digest_of(asked), win, record))
    refuse(problems)
    return rows


def _win(record: Mapping[str, Any], source: str, line: int) -> str | None:
    """Return the preference for the second output: 1 is a win of the first, 2 of the second, 0 and 1.5 are draws."""
    if "preference" not in record:
        need(record, "preference", float, source, line)  # says what there is
    value = record["preference"]
    if value is None or (isinstance(value, float) and value != value):
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        if value in _DRAWS:
            return "0.5"
        if 1 <= value <= 2:
            # In decimals: 1.1 - 1 is no tenth in floating point.
            return str(Decimal(repr(value)) - 1)
    raise DataError.of(
        "P267",
        f"the preference is {repr(value)[:40]}: it is none",
        where=f"{source}:{line}",
        help="a preference is a number from 1, the first output, to 2, the second; 0 and 1.5 are draws, null is none",
    )


def _name_rows(rows: Sequence[_Row]) -> list[str]:
    """Name each item by its instruction; of those with the same, by the order of what they are, not of where they stand."""
    same: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        same.setdefault(row.instruction, []).append(place)
    names = [""] * len(rows)
    for instruction, places in same.items():
        short = digest_of(instruction)[:_SHORT]
        for occurrence, place in enumerate(sorted(places, key=lambda at: rows[at].content), start=1):
            names[place] = short if occurrence == 1 else f"{short}-{occurrence}"
    return names
