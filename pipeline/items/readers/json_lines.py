"""One JSON object of any shape per line: texts, labels, scores and references from where a study says they stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from pipeline.errors import DataError, Problem
from pipeline.interfaces import Items, Reader
from pipeline.items.readers._files import with_warnings
from pipeline.items.readers._join import join_items
from pipeline.items.readers._json import (
    LACKS,
    SYSTEM,
    JsonLine,
    Keys,
    find_systems,
    follow,
    number_text,
    parse_keys,
    read_json_lines,
    refuse_shape,
    show,
)
from pipeline.items.readers._records import only_system
from pipeline.items.readers._tables import refuse
from pipeline.study.grouping import ROLES

__all__ = ["JsonLinesReader"]

_Row = tuple[JsonLine, dict[str, str]]


class JsonLinesReader(Reader):
    """One JSON object a line, an item each, or an item of one system; gold and outputs may be one file.

    Options name places: keys with dots between them, or a list of keys. Where one of the keys is ``{system}``, a line holds all
    systems, and what stands there are their names.

    Parameters
    ----------
    item : place, optional
        What names an item; without it lines are numbered.
    system : place, optional
        What names the system, where lines are of one each.
    text, label : place, optional
        The output of a system, given as the column of that name.
    score : place, or mapping of column to place, optional
        A number, given as ``score``; an object, whose numbers are given under their own names; or several places by name.
    reference : place, optional
        The reference, or a list of them, in the files that ``references:`` of the test set names.
    gold : place, optional
        The label that is right, in the file that ``gold:`` names.
    sentences : (str, str), optional
        The marks before and after each sentence of texts and references, which are then given one sentence a line.
    """

    name: ClassVar[str] = "json-lines"
    endings: ClassVar[tuple[str, ...]] = (".jsonl", ".ndjson", ".json")
    targets: ClassVar[tuple[str, ...]] = ()
    holds_systems: ClassVar[bool] = True

    def __init__(
        self,
        *,
        item: Any = None,
        system: Any = None,
        text: Any = None,
        label: Any = None,
        score: Any = None,
        reference: Any = None,
        gold: Any = None,
        sentences: Any = None,
    ) -> None:
        given = {"item": item, "system": system, "reference": reference, "gold": gold}
        places = {name: parse_keys(name, value) for name, value in given.items() if value is not None}
        if any(SYSTEM in keys for keys in places.values()):
            raise ValueError(f"only the options 'text', 'label' and 'score' have {SYSTEM}")
        self.item, self.system = places.get("item"), places.get("system")
        self.reference, self.gold = places.get("reference"), places.get("gold")
        self.columns = {name: parse_keys(name, value) for name, value in (("text", text), ("label", label)) if value is not None}
        scores = score if isinstance(score, Mapping) else {} if score is None else {"score": score}
        self.scores = {str(name): parse_keys("score", value) for name, value in scores.items()}
        if not (self.columns or self.scores):
            raise ValueError("say where outputs stand: 'text', 'label' or 'score'")
        if self.system is not None and any(SYSTEM in keys for keys in self._places):
            raise ValueError(f"systems are named by the option 'system', or by {SYSTEM} in a place, not by both")
        if sentences is not None and not _are_marks(sentences):
            raise ValueError(f"option 'sentences' is two marks, before and after a sentence, not {sentences!r}")
        self.sentences: tuple[str, str] | None = tuple(sentences) if sentences is not None else None
        compared: Literal["references", "gold", "nothing"] = "references" if self.reference else "gold" if self.gold else "nothing"
        self.compares_with = compared
        self.usual_metric = "mean" if self.scores else "accuracy" if "label" in self.columns else "bleu"
        self.blank = "0" if self.scores else ""
        self._told: list[str] = []
        self._unpaired = 0

    @property
    def _places(self) -> tuple[Keys, ...]:
        return (*self.columns.values(), *self.scores.values())

    @with_warnings
    def read_gold(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Items | None:
        """Return ``reference.0`` … and ``label`` of each item, and the columns that the study names; None without files."""
        if not paths:
            return None
        if not (self.reference or self.gold):
            raise DataError.of(
                "P219",
                "the study names a file of references or gold, and its format does not say where in it they stand",
                where=str(paths[0]),
                help="add `reference:` or `gold:` to the format, or leave the file out",
            )
        return join_items([self._read_gold(path, _groups(options)) for path in paths])

    @with_warnings
    def read_outputs(self, path: Path, *, system: str | None, options: Mapping[str, Any]) -> dict[str, Items]:
        """Return what stands at the places of texts, labels and scores, of one system or of all in the file."""
        lines = self._read(path)
        rows = dict(self._part(lines, str(path), system))
        if not rows:
            raise DataError.of("P207", "no line has a system", where=str(path), help=f"correct the place of {SYSTEM} in `format:`")
        groups = _groups(options)
        given = {name: self._items(found, name, str(path), groups) for name, found in rows.items()}
        self._tell_unpaired(str(path))
        return given

    def _read(self, path: Path) -> list[JsonLine]:
        lines, warnings = read_json_lines(path, strict=True)
        self._told.extend(warnings)
        if not lines:
            raise DataError.of("P205", "the file has no object", where=str(path), help="write one for each item")
        return lines

    def _part(self, lines: list[JsonLine], source: str, system: str | None) -> Iterator[tuple[str, list[JsonLine]]]:
        """Yield systems with their lines."""
        if self.system is not None:
            rows: dict[str, list[JsonLine]] = {}
            for line in lines:
                rows.setdefault(_name(line, self.system, source), []).append(line)
            yield from only_system(rows, system, source).items()
        elif system is not None:
            yield system, lines
        else:
            placed = next((keys for keys in self._places if SYSTEM in keys), None)
            if placed is None:
                raise DataError.of(
                    "P219",
                    "the file is to hold all systems, and nothing in it names them",
                    where=source,
                    help=f"write {SYSTEM} into `outputs:`, or into the places of `format:`, or say `system: KEY`",
                )
            yield from ((name, lines) for name in dict.fromkeys(s for line in lines for s in find_systems(line, placed, source)))

    def _items(self, lines: list[JsonLine], system: str, source: str, groups: Mapping[str, Keys]) -> Items:
        """Return the items of a system: lines that do not have it are none."""
        ids: list[str] = []
        rows: list[_Row] = []
        problems: list[Problem] = []
        for number, line in enumerate(lines, start=1):
            values: dict[str, str] = {}
            for column, keys in self.columns.items():
                found = follow(line, keys, source, system=system)
                if found is not LACKS:
                    values[column] = (
                        self._text(line, keys, found, source) if column == "text" else _label(line, keys, found, source)
                    )
            for column, keys in self.scores.items():
                values |= _numbers(line, column, keys, follow(line, keys, source, system=system), source, problems)
            if values:
                values |= {role: _name(line, keys, source) for role, keys in groups.items()}
                ids.append(str(number) if self.item is None else _name(line, self.item, source))
                rows.append((line, values))
        refuse(problems)
        return _as_items(ids, rows, source, numbered=self.item is None and len(rows) == len(lines))

    def _read_gold(self, path: Path, groups: Mapping[str, Keys]) -> Items:
        source = str(path)
        ids: list[str] = []
        rows: list[_Row] = []
        texts: list[list[str]] = []
        lines = self._read(path)
        for number, line in enumerate(lines, start=1):
            ids.append(str(number) if self.item is None else _name(line, self.item, source))
            values = {"label": _name(line, self.gold, source)} if self.gold else {}
            rows.append((line, values | {role: _name(line, keys, source) for role, keys in groups.items()}))
            texts.append(self._references(line, source))
        self._tell_unpaired(source)
        most = max(map(len, texts), default=0)
        for (_, values), held in zip(rows, texts, strict=True):
            # An empty reference is one that is not there: metrics take those that are.
            values |= {f"reference.{k}": held[k] if k < len(held) else "" for k in range(most)}
        return _as_items(ids, rows, source, numbered=self.item is None)

    def _references(self, line: JsonLine, source: str) -> list[str]:
        if self.reference is None:
            return []
        found = follow(line, self.reference, source)
        if not isinstance(found, (str, list)):
            raise refuse_shape(source, line.line, f"'{show(self.reference)}'", "a text or a list of texts", found)
        return [self._text(line, self.reference, one, source) for one in ([found] if isinstance(found, str) else found)]

    def _text(self, line: JsonLine, keys: Keys, value: Any, source: str) -> str:
        if not isinstance(value, str):
            raise refuse_shape(source, line.line, f"'{show(keys)}'", "a text", value)
        if self.sentences is None:
            return value
        before, after = self.sentences
        # An output that was cut off lacks its last mark: nothing of a text is lost, wherever marks stand.
        self._unpaired += value.count(before) != value.count(after)
        sentences = (part.strip() for part in value.replace(after, before).split(before))
        return "\n".join(sentence for sentence in sentences if sentence)

    def _tell_unpaired(self, source: str) -> None:
        if self._unpaired and self.sentences is not None:
            before, after = self.sentences
            self._told.append(f"{source}: in {self._unpaired} texts {before} and {after} are not as many: sentences end at either")
        self._unpaired = 0


def _are_marks(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and len(value) == 2 and all(isinstance(mark, str) and mark for mark in value)


def _groups(options: Mapping[str, Any]) -> dict[str, Keys]:
    """Return the places of documents and of other columns that group items."""
    columns: Mapping[str, str] = options.get("columns", {})
    return {role: tuple(key.split(".")) for role, key in columns.items() if role == "document" or role not in ROLES}


def _name(line: JsonLine, keys: Keys, source: str) -> str:
    """Return a name: a text, a whole number, or true and false."""
    found = follow(line, keys, source)
    if isinstance(found, str) and found:
        return found
    if isinstance(found, int):  # true and false are whole numbers too
        return str(found).lower() if isinstance(found, bool) else str(found)
    raise refuse_shape(source, line.line, f"'{show(keys)}'", "a name", found)


def _label(line: JsonLine, keys: Keys, value: Any, source: str) -> str:
    """Return an answer: an empty text and null are none."""
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (str, int)):
        return str(value)
    raise refuse_shape(source, line.line, f"'{show(keys)}'", "a label", value)


def _numbers(line: JsonLine, column: str, keys: Keys, value: Any, source: str, problems: list[Problem]) -> dict[str, str]:
    """Return the numbers at a place by column; what is none is a problem, but for texts and such beside numbers in an object."""
    if value is LACKS:
        return {}
    if isinstance(value, Mapping):
        within = {str(name): one for name, one in value.items() if one is None or isinstance(one, (bool, int, float))}
    else:
        within = {column: value}
    found = {}
    for name, one in within.items():
        number = number_text(one)
        if number is None:
            message = f"'{show(keys)}' has {one!r} for '{name}', which is not a finite number"
            help_ = "say what a missing score counts as: leave the item out and set `missing:`, or write a number"
            problems.append(Problem("P210", message, f"{source}:{line.line}", help_))
        else:
            found[name] = number
    return found


def _as_items(ids: list[str], rows: list[_Row], source: str, *, numbered: bool) -> Items:
    names = list(dict.fromkeys(name for _, values in rows for name in values))
    problems = []
    first: dict[str, int] = {}
    for name, (line, values) in zip(ids, rows, strict=True):
        if name in first:
            message = f"the item '{name}' occurs twice, on lines {first[name]} and {line.line}"
            problems.append(Problem("P209", message, f"{source}:{line.line}", "keep one line for each item"))
        first.setdefault(name, line.line)
        lacking = [column for column in names if column not in values]
        if lacking:
            message = f"the item '{name}' has no '{lacking[0]}', which others have"
            problems.append(Problem("P210", message, f"{source}:{line.line}", "give every item the same values"))
    refuse(problems)
    columns = {name: tuple(values[name] for _, values in rows) for name in names}
    return Items(tuple(ids), columns, source, tuple(line.line for line, _ in rows), numbered)
