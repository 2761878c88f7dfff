"""Test sets of translation from a bitext: a format that shows a trained system the source and keeps the target as the reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, ClassVar, Literal

from pipeline.errors import DataError
from pipeline.interfaces import Items, Reader

__all__ = ["TranslationReader"]

_BARS = "|||"


class TranslationReader(Reader):
    """Gold is a bitext, ``source ||| target`` a line; outputs have the translation in place of the target.

    Items have the column ``source``, words, and ``reference.0``, the target as a text; outputs have ``text``.
    """

    name: ClassVar[str] = "translations"
    targets: ClassVar[tuple[str, ...]] = ("text",)
    compares_with: Literal["references", "gold", "nothing"] = "gold"
    usual_metric: str | None = "bleu"
    endings: ClassVar[tuple[str, ...]] = (".txt", ".bitext")

    def read_gold(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Items | None:
        """Return the sources with their translations as references."""
        pairs = _installed("bitext").read_gold(paths, {})
        if pairs is None:
            return None
        references = tuple(" ".join(words) for words in pairs.columns["target"])
        columns = {"source": pairs.columns["source"], "reference.0": references}
        return Items(pairs.ids, columns, pairs.source, pairs.lines, pairs.numbered, warnings=pairs.warnings)

    def read_outputs(self, path: Path, *, system: str | None, options: Mapping[str, Any]) -> dict[str, Items]:
        """Return the translations of one system, each behind its source; a translation may be empty."""
        return {
            name: _behind_sources(items) for name, items in _installed("text").read_outputs(path, system=system, options={}).items()
        }

    def write(self, path: Path, columns: Mapping[str, Sequence[Any]], ids: Sequence[str]) -> None:
        """Write a source and its translation a line, nothing where there is no translation."""
        texts = columns.get("text", ("",) * len(ids))
        lines = (f"{' '.join(source)} {_BARS} {text}".rstrip() for source, text in zip(columns["source"], texts, strict=True))
        path.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def _behind_sources(items: Items) -> Items:
    for number, line in enumerate(items.columns["text"], start=1):
        if _BARS not in line.split():
            raise DataError.of(
                "P255",
                f"the line has no {_BARS} between a source and its translation",
                where=f"{items.source}:{number}",
                help="write `source ||| translation`, one a line; the translation may be empty",
            )
    texts = tuple(line.partition(_BARS)[2].strip() for line in items.columns["text"])
    return replace(items, columns={"text": texts})


def _installed(name: str) -> Reader:
    (point,) = entry_points(group="pipeline.readers", name=name)
    reader: Reader = point.load()()
    return reader
