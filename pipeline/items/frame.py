"""What the outputs of a test set are aligned to: frames, outputs and surveys.

A `Frame` has the items in one order; `align_items` puts those of a file into it. A `Kind` counts what the values of a file are
like: the labels it uses, how its texts are written, where its links begin. A gold and an output that differ in kind compare two
ways of annotating or writing, and not two systems.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Literal

from pipeline.dataclass import dataclass, field
from pipeline.errors import DataError
from pipeline.interfaces import Items

__all__ = ["CONTENT", "TRAITS", "Frame", "Kind", "Output", "Survey", "align_items", "describe_kind", "digest_items"]

_MOST_TEXTS = 200
"""Texts that are looked at, evenly spread over a file: traits are shares, and reading stays as fast as it is."""

_PHRASE = re.compile(r"\((\S+) (?=\()")
_PUNCTUATION = re.compile(r"[.,;:!?。，、；：！？]")
_SPACED = re.compile(r"\S [.,](?: |$)")

TRAITS: Mapping[str, Callable[[str], object]] = {
    "upper-case letters": lambda text: text != text.lower(),
    "lower-case letters": lambda text: text != text.upper(),
    "punctuation": _PUNCTUATION.search,
    # Few texts have either, and the expression begins anew at every letter.
    "spaces before commas and full stops": lambda text: (" ." in text or " ," in text) and _SPACED.search(text),
}
"""Traits of texts, by their names in messages."""


@dataclass(frozen=True)
class Kind:
    """What the values of a file are like.

    Parameters
    ----------
    labels : mapping of str to Counter
        How often each label occurs, by column: ``label``, ``tag``, ``relation``, ``chunk`` (types) and ``tree`` (phrases).
    n_texts : int
        Texts that were looked at; those of all references of a gold.
    traits : mapping of str to float
        Share of these texts that have each of `TRAITS`.
    n_linked : int
        Pairs of sentences with a link.
    n_first : int
        Those of them with a link of a first word.
    """

    labels: Mapping[str, Counter[str]] = field(default_factory=dict)
    n_texts: int = 0
    traits: Mapping[str, float] = field(default_factory=dict)
    n_linked: int = 0
    n_first: int = 0


def describe_kind(items: Items) -> Kind:
    """Count the traits of a gold or an output.

    Examples
    --------
    >>> items = Items(("1", "2"), {"label": ("yes", "no")}, "gold.txt", (1, 2))
    >>> describe_kind(items).labels["label"]["yes"]
    1
    """
    columns = items.columns
    labels = {name: Counter(_labels_of(name, columns[name])) for name in _LABELLED if name in columns}
    for counts in labels.values():
        del counts[""]  # an item without a label
    texts = [text for name, values in columns.items() if name == "text" or name.startswith("reference.") for text in _some(values)]
    shares = {trait: len(list(filter(has, texts))) / len(texts) for trait, has in TRAITS.items() if texts}
    links = [found for found in columns.get("link", columns.get("possible", ())) if found]
    first = sum(any(0 in link for link in found) for found in links)
    return Kind(labels, len(texts), shares, len(links), first)


_LABELLED = ("label", "tag", "relation", "chunk", "tree")


def _labels_of(name: str, values: Sequence[Any]) -> Iterator[str]:
    if name == "label":
        return iter(values)
    if name == "tree":
        return chain.from_iterable(map(_PHRASE.findall, values))
    tokens: Iterator[str] = chain.from_iterable(values)
    return (tag[2:] for tag in tokens if tag != "O") if name == "chunk" else tokens


def _some(values: Sequence[Any]) -> list[str]:
    step = max(1, len(values) // _MOST_TEXTS)
    return [text for text in values[::step] if isinstance(text, str) and text]


Missing = Literal["error", "drop", "zero"]

CONTENT = "content"
"""The column in which readers give a digest of what each item asked: items of one name must agree in it. No metric sees it."""


@dataclass(frozen=True)
class Frame:
    """The items of a test set, in the order in which every output is read, and the unit of each.

    Parameters
    ----------
    test_set : str
        Its name.
    ids : tuple of str
        Identifiers; line numbers where the files have none.
    unit_of_item : tuple of int
        Position in ``units`` of each item.
    units : tuple of str
        What is resampled: the items, or documents in order of their first item.
    stratum_of_unit : tuple of int
        Position in ``strata`` of each unit; empty where units are drawn all alike.
    strata : tuple of str
        In order of their first unit.
    document_of_item : tuple of int
        Number of the document of each item, where items are drawn although it is known; else empty.
    """

    test_set: str
    ids: tuple[str, ...]
    unit_of_item: tuple[int, ...]
    units: tuple[str, ...]
    stratum_of_unit: tuple[int, ...] = ()
    strata: tuple[str, ...] = ()
    document_of_item: tuple[int, ...] = ()

    def with_strata(self, stratum_of_unit: tuple[int, ...], strata: tuple[str, ...]) -> Frame:
        """Return the frame with the stratum of each unit."""
        return replace(self, stratum_of_unit=stratum_of_unit, strata=strata)

    def with_documents(self, document_of_item: tuple[int, ...]) -> Frame:
        """Return the frame with the document of each item."""
        return replace(self, document_of_item=document_of_item)


@dataclass(frozen=True)
class Output:
    """The output of one system: where it is and how it aligns.

    Parameters
    ----------
    system : str
        Its name.
    path : str
        The absolute path of its file, or of the table it is in.
    digest : str
        SHA-256 of its decoded content: equal outputs have equal digests, whatever their names and compression.
    n_items : int
        Items in the file.
    missing, extra, duplicates : int
        Items the gold has and it lacks; items it has and the gold lacks; items that occur twice (always refused, so 0).
    found : str, optional
        The name its file was found under, where that file holds several runs of one system.
    coordinates : mapping of str to str
        What the file, or its path, says of the system: ``model``, ``replica``.
    published : mapping of str to (float, float)
        By column, what the file says is the mean of its items, and what that is.
    directions : mapping of str to bool
        By column, where the file says so: whether a larger mean is a better one.
    columns : tuple of str
        What it says of an item, beside what groups it.
    """

    system: str
    path: str
    digest: str
    n_items: int
    missing: int = 0
    extra: int = 0
    duplicates: int = 0
    found: str | None = None
    coordinates: Mapping[str, str] = field(default_factory=dict)
    published: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    directions: Mapping[str, bool] = field(default_factory=dict)
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Survey:
    """Everything that is known of a test set after reading each of its files once.

    Parameters
    ----------
    frame : Frame
        What outputs are aligned to.
    outputs : tuple of Output
        One a system.
    gold_digest : str
        SHA-256 of the gold or references; empty where there are none.
    reader : str
        Name of the reader.
    warnings : tuple of str
        What the user should know and may change.
    identical : tuple of tuple of str
        Groups of systems whose outputs are the same.
    taken : tuple of str
        Columns of a table of all systems that group its items, and hold what an output would hold.
    left_out : tuple of str
        Systems that ``systems.exclude`` leaves out.
    largest : mapping of str to mapping of str to (float, int)
        By system and column of numbers, the largest without its sign, and its line.
    gold : Items or None
        The gold or references, all items, as they were read.
    kinds : mapping of str to Kind
        By system, what the values of its output are like.
    gold_kind : Kind or None
        The same of the gold or references.
    unit : str
        What the units of the frame are: ``item``, ``document`` or a column.
    unit_reason : str
        Why, where the study leaves it open; else empty.
    """

    frame: Frame
    outputs: tuple[Output, ...]
    gold_digest: str
    reader: str
    warnings: tuple[str, ...] = ()
    identical: tuple[tuple[str, ...], ...] = ()
    taken: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    largest: Mapping[str, Mapping[str, tuple[float, int]]] = field(default_factory=dict)
    gold: Items | None = None
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    gold_kind: Kind | None = None
    unit: str = "item"
    unit_reason: str = ""


def digest_items(items: Items, *, leave_out: Iterable[str] = ()) -> str:
    """Return the SHA-256 of identifiers (where they are not line numbers) and columns, as hexadecimal digits.

    Each string goes in with its length before it, each tuple in parentheses, so that no two contents are encoded alike.
    """
    content = hashlib.sha256(b"pipeline-items-1\0")
    columns: dict[str, Sequence[Any]] = {name: items.columns[name] for name in sorted(items.columns) if name not in set(leave_out)}
    # A column name never is the empty string that stands for the identifiers: it would come first all the same.
    parts: Mapping[str, Sequence[Any]] = columns if items.numbered else {"": items.ids, **columns}
    for name, values in parts.items():
        content.update(b"%d\n" % (len(values) + 1))
        content.update(_encode(name) + _encode_all(values))
    return content.hexdigest()


def _encode_all(values: Sequence[Any]) -> bytes:
    """Return the bytes of all values of a column, one after the other, without a call for each where they are of one type."""
    # Equal values of one type are encoded alike; 1 and True are equal too, and are not.
    kinds = set(map(type, values))
    if (kinds <= {str} or kinds <= {int}) and _repeats(values[:_MOST_TEXTS]) and _repeats(values):  # labels: few, many times
        known = {value: _encode(value) for value in set(values)}
        return b"".join([known[value] for value in values])
    if kinds <= {str}:
        text = "".join([f"{len(value)}:{value}" for value in values])
        if text.isascii():  # of which each character is a byte
            return text.encode()
        return b"".join([b"%d:%s" % (len(data), data) for data in map(str.encode, values)])
    return b"".join(map(_encode, values))


def _repeats(values: Sequence[Any]) -> bool:
    return 2 * len(set(values)) <= len(values)


def _encode(value: Any) -> bytes:
    """Return the bytes of a string, a whole number or a tuple of such; none of them begins as another ends."""
    if isinstance(value, str):
        data = value.encode()
        return b"%d:%s" % (len(data), data)
    return b"(%s)" % b"".join(map(_encode, value)) if isinstance(value, tuple) else b"i%d;" % value


def align_items(items: Items, frame: Frame, *, missing: Missing = "error", blank: str = "", whole: bool = True) -> Items:
    """Return items in the order of a frame.

    Parameters
    ----------
    items : Items
        Of one file. Line numbers are identifiers like any other; where the frame has other names and the file only lines, the
        two are as long as each other and go line by line.
    frame : Frame
        The order that is wanted.
    missing : {"error", "drop", "zero"}
        With ``zero``, items the file lacks are filled with ``blank``; else they are an error, since a frame made with ``drop``
        has only items that all files have.
    blank : str
        An empty output, or a score of 0.
    whole : bool
        False for a file that lacks items there should be: it may be as long as a frame of some, and its lines are others.

    Raises
    ------
    DataError
        P216, where items lack.
    """
    if items.ids == frame.ids or (whole and items.numbered and len(items.ids) == len(frame.ids)):
        return Items(frame.ids, items.columns, items.source, items.lines, items.numbered)
    place = {name: k for k, name in enumerate(items.ids)}
    order = [place.get(name, -1) for name in frame.ids]
    lacking = [name for name, k in zip(frame.ids, order, strict=True) if k < 0]
    if lacking and missing != "zero":
        raise DataError.of("P216", f"{len(lacking)} items are missing, the first is '{lacking[0]}'", where=items.source)
    columns = {name: tuple(values[k] if k >= 0 else blank for k in order) for name, values in items.columns.items()}
    lines = tuple(items.lines[k] if k >= 0 else 0 for k in order)
    return Items(frame.ids, columns, items.source, lines, items.numbered)
