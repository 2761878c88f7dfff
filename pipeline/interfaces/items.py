"""What files hold and what reads them. This module has items, samples of files, and the protocol of readers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

__all__ = ["FileSample", "Items", "Reader", "Recognised", "usual_column"]


@dataclass(frozen=True)
class Items:
    """The items of one file in file order: identifiers and named columns of values.

    Parameters
    ----------
    ids : tuple of str
        One identifier an item, in file order. Files without identifiers number their items from ``"1"``.
    columns : mapping of str to sequence
        Values by name, one an item: ``text`` (outputs), ``reference.0`` … (references), ``label``, or the numeric
        columns of a score table as the *strings* of the file (so that decimals are not lost before they are counted).
    source : str
        The file, as the user named it.
    lines : tuple of int
        1-based line of each item, for messages.
    numbered : bool
        True where the identifiers are line numbers.
    coordinates : mapping of str to str
        What the file says of its system: ``model`` and ``replica``, where it holds several runs of one model.
    published : mapping of str to float
        What the file says is the mean of a column over these items: it is computed again, and the difference shown.
    directions : mapping of str to bool
        By column, where the file says so: whether a larger mean is a better one.
    """

    ids: tuple[str, ...]
    columns: Mapping[str, Sequence[Any]]
    source: str
    lines: tuple[int, ...]
    numbered: bool = True
    coordinates: Mapping[str, str] = field(default_factory=dict)
    published: Mapping[str, float] = field(default_factory=dict)
    directions: Mapping[str, bool] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)


def usual_column(columns: Collection[str]) -> str:
    """Give the column of scores where nobody names one: the only one there is, else ``score``."""
    return next(iter(columns)) if len(columns) == 1 else "score"


@dataclass(frozen=True)
class FileSample:
    """The beginning of a file whose format is to be recognised.

    Parameters
    ----------
    path : Path
    head : bytes
        Its first 64 KiB, decompressed.
    lines : tuple of str
        The whole lines of them, without their ends; empty where they are not UTF-8.
    members : tuple of str
        Names of what is in it, where it is a zip.
    gold, references : bool
        Whether the study names a gold, or references, beside it.
    """

    path: Path
    head: bytes
    lines: tuple[str, ...]
    members: tuple[str, ...] = ()
    gold: bool = False
    references: bool = False


@dataclass(frozen=True)
class Recognised:
    """What a reader makes of a sample.

    Parameters
    ----------
    confidence : float
        From 0 to 1: 1 where nothing else looks like it, .5 where it fits, less where it is one of several it may be.
    why : str
        What of the file says so, for people: ``line 1 has 10 columns between tabs``.
    options : mapping
        Options of the reader that the file calls for.
    """

    confidence: float
    why: str
    options: Mapping[str, Any] = field(default_factory=dict)


class Reader(Protocol):
    """Reads one family of files into `Items`, and writes outputs of trainings in the same form.

    ``targets`` names the columns of the gold that systems predict: a trainer that predicts a test set is not shown them.
    ``compares_with`` says what outputs are held against: ``references``, several of them, a ``gold`` file, or ``nothing``, where
    they are scores already. ``usual_metric`` is what `compare` takes where no metric is named.

    A reader may also have

    * ``recognise(sample)``, a static method that gives `Recognised` or None of a `FileSample`: with it ``format: auto`` finds it;
    * ``endings``, how names of its files end, in lower case, ``(".trn", ".txt")``: they are no part of a system's name, and
      ``format: auto`` offers JSON only to readers with ``.json``, ``.jsonl`` or ``.ndjson`` among them;
    * ``fit(gold, output)``, which gives an output the items of the gold, where files part the same text in their own ways;
    * ``holds_systems``, true where one file may hold all systems;
    * ``exact``, true where ``write`` refuses with a ValueError what would not be read back as it was given: outputs of trainings
      are not read once more before they are stored; it holds for the class that says it, and not for those made from it;
    * ``named_scores``, true where outputs hold scores by their names, as harnesses log them: `compare` takes each, in the
      direction that the files or its name tell;
    * ``says_directions``, true where the direction of the one ``score`` may be told by the files;
    * ``gold_lists_items``, true where outputs are scores already, and a gold may name the items there are;
    * ``warnings``, a list of what was odd, and ``blank``, what stands for an output that is not there (``missing: zero``).
    """

    name: ClassVar[str]
    targets: ClassVar[tuple[str, ...]]
    compares_with: ClassVar[Literal["references", "gold", "nothing"]]
    usual_metric: ClassVar[str | None]

    def read_gold(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Items | None:
        """Give references or gold values, or None where the outputs need none."""
        ...

    def read_outputs(self, path: Path, *, system: str | None, options: Mapping[str, Any]) -> dict[str, Items]:
        """Give the outputs in a file by system name; ``system`` names a file that holds one system."""
        ...

    def write(self, path: Path, columns: Mapping[str, Sequence[Any]], ids: Sequence[str]) -> None:
        """Write items as a file of this format, which `read_outputs` and `read_gold` read; a target that is not there is blank."""
        ...
