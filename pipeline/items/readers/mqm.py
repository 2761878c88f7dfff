"""Ratings of translations by MQM, an error a line: system, document, segment, rater, category and severity.

The penalty of a rating is the sum of the weights of its errors (Freitag and others 2021, doi:10.1162/tacl_a_00437); that of a
segment is the mean over its raters.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Literal

from pipeline.errors import DataError, Problem
from pipeline.interfaces import FileSample, Items, Reader, Recognised
from pipeline.items.readers._files import read_lines, refuse_gold, with_warnings
from pipeline.items.readers._records import only_system
from pipeline.items.readers._tables import NUMBER, Table, leave_out_blank, parse_table, refuse

__all__ = ["WEIGHTS", "MqmReader"]

WEIGHTS: dict[str, str] = {
    "no-error": "0",
    "neutral": "0",
    "minor": "1",
    "major": "5",
    "minor-punctuation": "0.1",
    "non-translation": "25",
}
"""The penalty of an error by its severity, and of two kinds of errors by their category."""

_COLUMNS: dict[str, tuple[str, ...]] = {
    "system": ("system",),
    "document": ("doc", "document"),
    "segment": ("globalsegid", "segid"),
    "rater": ("rater",),
    "category": ("category",),
    "severity": ("severity",),
}
"""What columns are called, in lower case and without underscores."""
_DIGITS = 6


def _plain(name: str) -> str:
    return name.strip().lower().replace("_", "")


class MqmReader(Reader):
    """One marked error a line, as the ratings of WMT have them; a line without an error says so.

    Outputs have ``score``, the penalty of each segment, of which less is better, and ``document``. A mean over raters that does not
    end is rounded to six decimals.

    Parameters
    ----------
    weights : mapping, optional
        Penalties by severity that replace the usual ones, or add others: ``{critical: 10}``. ``minor-punctuation`` is the one of a
        minor error of the category Fluency/Punctuation, ``non-translation`` that of an error of this category, however severe.
    """

    name: ClassVar[str] = "mqm"
    endings: ClassVar[tuple[str, ...]] = (".tsv",)
    targets: ClassVar[tuple[str, ...]] = ()
    compares_with: Literal["references", "gold", "nothing"] = "nothing"
    usual_metric: str | None = "mean"
    holds_systems: ClassVar[bool] = True
    says_directions: ClassVar[bool] = True
    blank: str = "0"

    def __init__(self, *, weights: Mapping[str, Any] | None = None) -> None:
        given = {} if weights is None else weights
        if not isinstance(given, Mapping) or any(
            isinstance(value, bool) or not isinstance(value, (int, float, str)) or not NUMBER.fullmatch(str(value))
            for value in given.values()
        ):
            raise ValueError(f"option 'weights' is a number for each severity, as {{critical: 10}}, not {weights!r}")
        merged = WEIGHTS | {str(severity).lower(): str(value) for severity, value in given.items()}
        self._weights = {severity: Fraction(value) for severity, value in merged.items()}
        self._told: list[str] = []

    @staticmethod
    def recognise(sample: FileSample) -> Recognised | None:
        """Take a table with tabs whose header has all the columns."""
        if sample.gold or sample.references or not sample.lines:
            return None
        header = set(map(_plain, sample.lines[0].split("\t")))
        if all(header & set(names) for names in _COLUMNS.values()):
            return Recognised(0.97, "the header has system, doc, segment, rater, category and severity")
        return None

    @with_warnings
    def read_gold(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Items | None:
        """Return None: ratings need no gold."""
        refuse_gold(paths, "ratings need no gold and no references")
        return None

    @with_warnings
    def read_outputs(self, path: Path, *, system: str | None, options: Mapping[str, Any]) -> dict[str, Items]:
        """Return the penalties of the segments of each system, as the column ``score``.

        Raises
        ------
        DataError
            P211 a column is missing; P264 a severity without a weight; P222 a segment in two documents; P208 another system.
        """
        lines = read_lines(path)
        table = leave_out_blank(parse_table(lines))
        self._told.extend([*lines.warnings, *table.warnings])
        return only_system(self._rate(table), system, str(path))

    def _rate(self, table: Table) -> dict[str, Items]:
        system, document, segment, rater, category, severity = (table.column(_find(role, table)) for role in _COLUMNS)
        penalties = self._penalties(table, category, severity)
        documents: dict[str, str] = {}
        problems = []
        ratings: dict[str, dict[str, dict[str, Fraction]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(Fraction)))
        first: dict[tuple[str, str], int] = {}
        rows = zip(system, document, segment, rater, penalties, table.lines, strict=True)
        for name, where, item, who, penalty, line in rows:
            if documents.setdefault(item, where) != where:
                message = f"segment '{item}' is in the documents '{documents[item]}' and '{where}'"
                problems.append(Problem("P222", message, f"{table.source}:{line}", "number segments over all documents"))
            ratings[name][item][who] += penalty
            first.setdefault((name, item), line)
        refuse(problems)
        found = {}
        for name, rated in ratings.items():
            ids = tuple(item for item in documents if item in rated)
            values = {
                "score": tuple(_write(sum(rated[item].values(), Fraction()) / len(rated[item])) for item in ids),
                "document": tuple(documents[item] for item in ids),
            }
            place = tuple(first[name, item] for item in ids)
            found[name] = Items(ids, values, table.source, place, numbered=False, directions={"score": False})
        return found

    def _penalties(self, table: Table, categories: Sequence[str], severities: Sequence[str]) -> list[Fraction]:
        """Return what each line takes off."""
        penalties, problems = [], []
        for category, severity, line in zip(categories, severities, table.lines, strict=True):
            key = severity.strip().lower()
            kind = category.strip().lower().replace(" ", "")
            if kind.startswith("non-translation"):
                key = "non-translation"
            elif key == "minor" and kind == "fluency/punctuation":
                key = "minor-punctuation"
            if key not in self._weights:
                help_ = f"give it one: `format: {{name: mqm, weights: {{{key or 'name'}: 1}}}}`, or correct the line"
                problems.append(Problem("P264", f"the severity {severity!r} has no weight", f"{table.source}:{line}", help_))
            penalties.append(self._weights.get(key, Fraction()))
        refuse(problems)
        return penalties


def _find(role: str, table: Table) -> str:
    """Return the name of a column in the header."""
    for name in _COLUMNS[role]:
        for column in table.header:
            if _plain(column) == name:
                return column
    names = " or ".join(_COLUMNS[role])
    raise DataError.of(
        "P211",
        f"there is no column {names}; the header has {', '.join(map(repr, table.header))}",
        where=f"{table.source}:1",
        help="the first line names the columns: system, doc, seg_id, rater, category, severity, in any order, between tabs",
    )


def _write(value: Fraction) -> str:
    """Return a fraction as a decimal, rounded where it does not end."""
    scaled = round(value * 10**_DIGITS)
    text = f"{scaled // 10**_DIGITS}.{scaled % 10**_DIGITS:0{_DIGITS}d}" if scaled >= 0 else f"-{_write(-value)}"
    return text.rstrip("0").rstrip(".") if "." in text else text
