"""Items, samples of files, and the base class of readers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from pipeline.dataclass import dataclass, field

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
    warnings : tuple of str
        What was odd about the file, with one of its systems where it holds several; items that differ in nothing else are equal.
    """

    ids: tuple[str, ...]
    columns: Mapping[str, Sequence[Any]]
    source: str
    lines: tuple[int, ...]
    numbered: bool = True
    coordinates: Mapping[str, str] = field(default_factory=dict)
    published: Mapping[str, float] = field(default_factory=dict)
    directions: Mapping[str, bool] = field(default_factory=dict)
    warnings: tuple[str, ...] = field(default=(), compare=False)

    def __len__(self) -> int:
        return len(self.ids)


def usual_column(columns: Collection[str]) -> str:
    """Return the default column of scores: the only one there is, else ``score``."""
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
    """A reader's answer on a sample of a file.

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


class Reader(ABC):
    """Reads one family of files into `Items`, and writes outputs of trainings in the same form.

    A reader inherits this class and so has a default for everything that it need not say. One that does not inherit it is taken
    too where it has all of its members, and refused (P308) otherwise.

    Attributes
    ----------
    name : str
        What studies call the format.
    targets : tuple of str
        The columns of the gold that systems predict: a trainer that predicts a test set is not shown them.
    outputs : tuple of str, optional
        The columns of outputs, where they are called otherwise than the targets.
    compares_with : {"references", "gold", "nothing"}
        What outputs are compared with: one or several files of references, a gold file, or nothing, where they are scores already.
    usual_metric : str or None
        What `compare` takes where no metric is named.
    endings : tuple of str
        How names of its files end, in lower case, ``(".trn", ".txt")``: they are no part of a system's name, and ``format: auto``
        offers JSON only to readers with ``.json``, ``.jsonl`` or ``.ndjson`` among them, or with no endings at all.
    blank : str
        What replaces an output that is missing (``missing: zero``).
    holds_systems : bool
        Whether one file may hold all systems.
    exact : bool
        Whether ``write`` refuses with a ValueError what would not be read back as it was given: outputs of trainings are not read
        once more before they are stored. A class made from this one has to say so itself.
    named_scores : bool
        Whether outputs hold scores by their names, as harnesses log them: `compare` takes each, in the direction that the files or
        its name tell.
    says_directions : bool
        Whether the files may tell the direction of the one ``score``.
    gold_lists_items : bool
        Whether outputs are scores already, and a gold may name the items there are.
    """

    name: ClassVar[str]
    targets: ClassVar[tuple[str, ...]]
    outputs: ClassVar[tuple[str, ...] | None] = None
    compares_with: Literal["references", "gold", "nothing"]
    usual_metric: str | None
    endings: ClassVar[tuple[str, ...]] = ()
    blank: str = ""
    holds_systems: ClassVar[bool] = False
    exact: ClassVar[bool] = False
    named_scores: ClassVar[bool] = False
    says_directions: ClassVar[bool] = False
    gold_lists_items: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "exact" not in vars(cls):
            cls.exact = False  # a `write` of its own need not be

    @abstractmethod
    def read_gold(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Items | None:
        """Return references or gold values, or None where the outputs need none."""

    @abstractmethod
    def read_outputs(self, path: Path, *, system: str | None, options: Mapping[str, Any]) -> dict[str, Items]:
        """Return the outputs in a file by system name; ``system`` names a file that holds one system."""

    def write(self, path: Path, columns: Mapping[str, Sequence[Any]], ids: Sequence[str]) -> None:
        """Write items as a file of this format, which `read_outputs` and `read_gold` read; a missing target is blank.

        Raises
        ------
        ValueError
            In formats that no training writes, such as those of scores.
        """
        raise ValueError("outputs of trainings are not written in this format")

    @staticmethod
    def recognise(sample: FileSample) -> Recognised | None:
        """Return what the reader makes of the beginning of a file, for ``format: auto``; None where the file is not its own."""
        return None

    def fit(self, gold: Items, output: Items) -> Items:
        """Return an output with the items of the gold, where files divide the same text in their own ways."""
        return output
