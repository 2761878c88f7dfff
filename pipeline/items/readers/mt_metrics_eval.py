"""Scores of segments as mt-metrics-eval keeps them: ``SYSTEM SCORE`` lines.

The file of documents beside them has ``DOMAIN DOCUMENT`` lines, one a segment (`read_documents`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from pipeline.dataclass import dataclass
from pipeline.errors import DataError, Problem
from pipeline.interfaces import FileSample, Items, Reader, Recognised
from pipeline.items.readers._files import Lines, read_lines, refuse_gold, with_warnings
from pipeline.items.readers._records import only_system
from pipeline.items.readers._tables import is_number, refuse

__all__ = ["DocumentLines", "MtMetricsEvalReader", "read_documents"]


@dataclass(frozen=True)
class DocumentLines:
    """The domain of each segment, and its document, named ``DOMAIN/NAME``: names may come again in another domain."""

    domains: tuple[str, ...]
    documents: tuple[str, ...]


def read_documents(path: Path) -> DocumentLines:
    """Read a file of documents.

    Raises
    ------
    DataError
        P222 where a line is not a domain and a document; and as `read_lines`.
    """
    lines = read_lines(path)
    rows = [line.split() for line in lines.values]
    help_ = "write the domain and the name of the document of each segment, with a blank between them"
    refuse(
        Problem("P222", f"the line has {len(row)} fields, where a domain and a document are wanted", f"{path}:{number}", help_)
        for number, row in enumerate(rows, start=1)
        if len(row) != 2
    )
    return DocumentLines(tuple(row[0] for row in rows), tuple(f"{row[0]}/{row[1]}" for row in rows))


_HELP = "a line is SYSTEM SCORE; those of a system stand in the order of the segments, `None` where there is no score"


class MtMetricsEvalReader(Reader):
    """One score a line, ``SYSTEM SCORE``, systems in blocks whose lines are the segments in order; ``None`` is missing.

    For the files ``*.seg.score`` of ``metric-scores/`` and ``human-scores/``. The documents of the segments, and the domains of
    these, are read from ``documents/SRC-TGT.docs`` beside those folders where it is there. A document is named ``DOMAIN/NAME``:
    names may come again in another domain. The mean that ``*.sys.score`` beside the file has for a system is what is published.

    Parameters
    ----------
    documents : str, optional
        Another file of documents, relative to the file of scores; ``none`` for none.
    """

    name: ClassVar[str] = "mt-metrics-eval"
    endings: ClassVar[tuple[str, ...]] = (".seg.score", ".score")
    targets: ClassVar[tuple[str, ...]] = ()
    compares_with: Literal["references", "gold", "nothing"] = "nothing"
    usual_metric: str | None = "mean"
    holds_systems: ClassVar[bool] = True
    blank: str = "0"

    def __init__(self, *, documents: str | None = None) -> None:
        if documents is not None and (not isinstance(documents, str) or not documents):
            raise ValueError(f"option 'documents' is the path of a file, or none, not {documents!r}")
        self.documents = documents
        self._told: list[str] = []

    @staticmethod
    def recognise(sample: FileSample) -> Recognised | None:
        """Take a file that is named ``*.seg.score`` and has a name and a score a line."""
        if sample.gold or sample.references or not sample.path.name.removesuffix(".gz").endswith(".seg.score"):
            return None
        rows = [line.split() for line in sample.lines]
        if rows and all(len(row) == 2 and _is_score(row[1]) for row in rows):
            return Recognised(0.95, "its name ends in .seg.score, and each line is a name and a number or None")
        return None

    @with_warnings
    def read_gold(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Items | None:
        """Return None: scores are already compared with the references."""
        refuse_gold(paths, "scores of segments need no gold and no references")
        return None

    @with_warnings
    def read_outputs(self, path: Path, *, system: str | None, options: Mapping[str, Any]) -> dict[str, Items]:
        """Return the scores of each system as the column ``score``; segments without one are not items of the system."""
        lines = self._read(path)
        blocks = _split(lines)
        published = self._published(path)
        self._tell_reference(path, blocks)
        count = len(next(iter(blocks.values())))
        columns = self._groups(path, count, options)
        found = {}
        for name, rows in blocks.items():
            kept = [(k, score, line) for k, (score, line) in enumerate(rows) if score != "None"]
            if len(kept) < count:
                self._told.append(f"{path}: '{name}' has no score for {count - len(kept)} of {count} segments")
            values = {"score": tuple(score for _, score, _ in kept)}
            values |= {role: tuple(groups[k] for k, _, _ in kept) for role, groups in columns.items()}
            ids = tuple(str(k + 1) for k, _, _ in kept)
            place = tuple(line for _, _, line in kept)
            means = {"score": published[name]} if name in published else {}
            found[name] = Items(ids, values, str(path), place, numbered=False, published=means)
        return only_system(found, system, str(path))

    def _read(self, path: Path) -> Lines:
        lines = read_lines(path)
        self._told.extend(lines.warnings)
        return lines

    def _groups(self, path: Path, count: int, options: Mapping[str, Any]) -> dict[str, Sequence[str]]:
        """Return the document of each segment, and its domain where the study names that column."""
        found = self._find_documents(path)
        if found is None:
            return {}
        documents: DocumentLines = read_documents(found)
        if len(documents.documents) != count:
            raise DataError.of(
                "P215",
                f"the documents have {len(documents.documents)} lines, the scores have {count} segments",
                where=str(found),
                help="take the documents of the same test set and language pair, or say "
                "`format: {name: mt-metrics-eval, documents: none}`",
            )
        columns: Mapping[str, str] = options.get("columns", {})
        groups: dict[str, Sequence[str]] = {"document": documents.documents}
        return groups | {role: documents.domains for role, key in columns.items() if key == "domain"}

    def _find_documents(self, path: Path) -> Path | None:
        if self.documents is not None:
            return None if self.documents == "none" else path.parent / self.documents
        # human-scores/SRC-TGT.NAME.seg.score, or metric-scores/SRC-TGT/NAME-REF.seg.score
        usual = (
            path.parent.parent / "documents" / f"{path.name.partition('.')[0]}.docs",
            path.parent.parent.parent / "documents" / f"{path.parent.name}.docs",
        )
        return next((file for file in usual if file.is_file()), None)

    def _published(self, path: Path) -> dict[str, float]:
        """Return what the file of systems beside it says, where there is one."""
        beside = path.with_name(path.name.replace(".seg.score", ".sys.score"))
        if beside == path or not beside.is_file():
            return {}
        return {name: float(rows[0][0]) for name, rows in _split(self._read(beside)).items() if rows[0][0] != "None"}

    def _tell_reference(self, path: Path, blocks: Mapping[str, object]) -> None:
        reference = path.name.partition(".seg.score")[0].rpartition("-")[2]
        if reference in blocks and len(blocks) > 1:
            told = f"{path}: the system '{reference}' is the reference the scores are made with: leave it out by `systems.exclude`"
            self._told.append(told)


def _split(lines: Lines) -> dict[str, list[tuple[str, int]]]:
    """Return the scores of each system with their lines; all have as many, and each stands in one block."""
    blocks: dict[str, list[tuple[str, int]]] = {}
    problems: list[Problem] = []
    last = None
    for number, line in enumerate(lines.values, start=1):
        row = line.split()
        where = f"{lines.source}:{number}"
        if len(row) != 2 or not _is_score(row[1]):
            problems.append(_complain(row, where))
            continue
        name, score = row
        if name != last and name in blocks:
            message = f"the lines of '{name}' do not stand together: others are between them"
            problems.append(Problem("P212", message, where, "put all lines of a system in one block, in the order of the segments"))
        blocks.setdefault(name, []).append((score, number))
        last = name
    refuse(problems)
    counts = {name: len(rows) for name, rows in blocks.items()}
    right = max(counts.values(), key=list(counts.values()).count)
    refuse(
        Problem("P203", f"system '{name}' has {count} lines, others have {right}", f"{lines.source}:{blocks[name][0][1]}", _HELP)
        for name, count in counts.items()
        if count != right
    )
    return blocks


def _complain(row: Sequence[str], where: str) -> Problem:
    if len(row) == 2:
        return Problem("P210", f"the score of '{row[0]}' is {row[1]!r}, which is not a finite number and not None", where, _HELP)
    hint = (
        _HELP if len(row) != 3 else f"{_HELP}; with three fields it may be a file of documents or domains: take the one of segments"
    )
    return Problem("P212", f"the line has {len(row)} fields, where a name and a score are wanted", where, hint)


def _is_score(text: str) -> bool:
    return text == "None" or is_number(text)
