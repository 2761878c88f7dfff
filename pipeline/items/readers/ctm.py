"""Words with their times, as recognisers of speech write them (NIST's `.ctm`), and the segments they are scored in (`.stm`).

Words go to segments by their middle, as in sclite: in the order of time, each to the first segment that ends after it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import accumulate
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from pipeline.errors import DataError, Problem
from pipeline.interfaces import FileSample, Items, Reader, Recognised
from pipeline.items.readers._files import read_lines, with_warnings
from pipeline.items.readers._join import need_system
from pipeline.items.readers._tables import refuse
from pipeline.items.readers._transcripts import Transcript, read_marks, without_nothing
from pipeline.study.grouping import SPEAKER

__all__ = ["CtmReader"]

_COMMENT = ";;"
_TIME = re.compile(r"[0-9]{1,9}(\.[0-9]{0,9})?|\.[0-9]{1,9}")
_LABEL = re.compile(r"<([^<>\s]*)>")
_ALTERNATIVES = ("<ALT_BEGIN>", "<ALT>", "<ALT_END>")
_NOT_SCORED = ("IGNORE_TIME_SEGMENT_IN_SCORING", "IGNORETIMESEGMENTINSCORING")
_WORD = "`recording channel begin duration word`, with the confidence behind it, or without"
_SEGMENT = "`recording channel speaker begin end <labels> words`, without the labels too"


class _Segment(NamedTuple):
    recording: str
    channel: str
    speaker: str
    begin: str
    end: str
    labels: tuple[str, ...]
    said: Transcript | None  # None where it is not scored
    line: int
    source: str

    @property
    def name(self) -> str:
        return f"{self.recording}-{self.channel}-{self.begin}-{self.end}"


class _Word(NamedTuple):
    begin: Decimal
    middle: Decimal
    word: str


class CtmReader(Reader):
    """A word a line with its time, put into the segments of a gold with one a line (`.stm`).

    The gold has an item for each segment, called like its recording, channel, begin and end, with the columns ``reference.0``,
    ``document`` (the recording) and, where it has alternatives, ``reference.alternatives``; ``columns:`` may ask for
    ``speaker``, ``channel`` and ``label.1`` to ``label.N``. A segment ``IGNORE_TIME_SEGMENT_IN_SCORING`` is not an item, and takes
    words all the same. Outputs have ``text``. Lines that begin with ``;;`` are comments.

    Parameters
    ----------
    optional : bool
        With false ``(uh)`` in the gold is a word in parentheses, which has to be said with them.
    """

    name: ClassVar[str] = "ctm"
    endings: ClassVar[tuple[str, ...]] = (".ctm", ".stm")
    targets: ClassVar[tuple[str, ...]] = ("text",)
    compares_with: Literal["references", "gold", "nothing"] = "gold"
    usual_metric: str | None = "wer"
    blank: str = ""

    def __init__(self, *, optional: bool = True) -> None:
        if not isinstance(optional, bool):
            raise ValueError(f"option 'optional' is true or false, not {optional!r}")
        self.optional = optional
        self._told: list[str] = []

    @staticmethod
    def recognise(sample: FileSample) -> Recognised | None:
        """Take lines of five fields or more, of which the third and the fourth are times."""
        fields = [line.split() for line in sample.lines if line.strip() and not line.startswith(_COMMENT)]
        if fields and all(len(row) >= 5 and _TIME.fullmatch(row[2]) and _TIME.fullmatch(row[3]) for row in fields):
            return Recognised(0.96, f"every line has a recording, a channel and two times, as {' '.join(fields[0][:4])}")
        return None

    @with_warnings
    def read_gold(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Items | None:
        """Return what was said in the segments of one file or several, in their order; None without files.

        Raises
        ------
        DataError
            P209 a segment twice; P264 a line that is not a segment, or a file without one.
        """
        if not paths:
            return None
        segments = [segment for path in paths for segment in self._read_segments(path)]
        scored = [segment for segment in segments if segment.said is not None]
        seen: dict[str, _Segment] = {}
        again = [segment for segment in scored if seen.setdefault(segment.name, segment) is not segment]
        refuse(
            Problem("P209", f"segment '{one.name}' is there twice", f"{one.source}:{one.line}", "two speakers need two channels")
            for one in again
        )
        said = [segment.said for segment in scored if segment.said is not None]
        columns: dict[str, Sequence[Any]] = {
            "reference.0": tuple(one.text for one in said),
            "document": tuple(segment.recording for segment in scored),
            "time": tuple(segment[:2] + segment[3:5] for segment in scored),
        }
        if any(one.slots for one in said):
            columns["reference.alternatives"] = tuple(one.slots for one in said)
        if len(scored) < len(segments):
            columns["not_scored"] = _beside(segments, scored)
        columns |= _groups(scored, options.get("columns", {}))
        lines = tuple(segment.line for segment in scored)
        return Items(tuple(segment.name for segment in scored), columns, str(paths[0]), lines, numbered=False)

    @with_warnings
    def read_outputs(self, path: Path, *, system: str | None, options: Mapping[str, Any]) -> dict[str, Items]:
        """Return the words of a system in the order of time, an item for each channel of a recording; `fit` makes segments of them.

        Raises
        ------
        DataError
            P264 a line that is not a word with its time, or one of several alternatives: an output says one thing.
        """
        name = need_system(system, path, "words with their times")
        lines = read_lines(path)
        self._told.extend(lines.warnings)
        words: dict[tuple[str, str], list[_Word]] = defaultdict(list)
        first: dict[tuple[str, str], int] = {}
        problems = []
        for number, line in _lines_of(lines.values):
            fields = line.split()
            where = f"{lines.source}:{number}"
            if any(mark in fields[4:5] for mark in _ALTERNATIVES):
                problems.append(
                    Problem("P264", "the output has alternatives", where, "an output has one reading: keep one of them")
                )
            elif len(fields) < 5 or not (_TIME.fullmatch(fields[2]) and _TIME.fullmatch(fields[3])):
                problems.append(
                    Problem("P264", f"the line is not a word with its time: {line[:40]!r}", where, f"a line is {_WORD}")
                )
            else:
                begin, duration = Decimal(fields[2]), Decimal(fields[3])
                words[fields[0], fields[1]].append(_Word(begin, begin + duration / 2, fields[4]))
                first.setdefault((fields[0], fields[1]), number)
        refuse(problems)
        if not words:
            raise DataError.of("P264", "the file has no word", where=lines.source, help=f"a line is {_WORD}")
        ordered = [sorted(found, key=lambda word: word.begin) for found in words.values()]
        columns = {
            "text": tuple(" ".join(word.word for word in found) for found in ordered),
            "middle": tuple(tuple(str(word.middle) for word in found) for found in ordered),
        }
        ids = tuple(f"{recording} {channel}" for recording, channel in words)
        return {name: Items(ids, columns, lines.source, tuple(first.values()), numbered=False)}

    def fit(self, gold: Items, output: Items) -> Items:
        """Return the words of an output in the segments of the gold.

        A word belongs to the first segment of its channel that ends after the word's middle, and to the last one where none does;
        words are taken in the order in which they begin, and none goes to a segment before that of another that began earlier.
        Segments of a channel in which the output has no word at all are missing.

        Raises
        ------
        DataError
            P217, where the output has none of the recordings of the gold.
        """
        if "middle" not in output.columns:
            return output
        places: dict[str, list[int]] = defaultdict(list)
        for k, (recording, channel, _, _) in enumerate(gold.columns["time"]):
            places[f"{recording} {channel}"].append(k)
        found: dict[int, str] = {}
        given: dict[int, int] = {}
        unknown = []
        for name, text, middles, line in zip(
            output.ids, output.columns["text"], output.columns["middle"], output.lines, strict=True
        ):
            if name in places:
                found.update(_deal(gold, places[name], text.split(" "), middles))
                given.update(dict.fromkeys(places[name], line))
            else:
                unknown.append(name)
        if not found:
            wanted = f"the gold has '{next(iter(places))}' and {len(places) - 1} more"
            raise DataError.of(
                "P217",
                f"the output has no channel of the gold: it begins with '{output.ids[0]}', and {wanted}",
                where=output.source,
                help="recordings and channels must have the same names in both files",
            )
        here = sorted(found)
        warnings = output.warnings
        if unknown:
            names = f"{len(unknown)} channels, the first is '{unknown[0]}', that the gold does not have"
            warnings = (*warnings, f"{output.source} has words of {names}: they are left out")
        ids, lines = tuple(gold.ids[k] for k in here), tuple(given[k] for k in here)
        return Items(ids, {"text": tuple(found[k] for k in here)}, output.source, lines, numbered=False, warnings=warnings)

    def _read_segments(self, path: Path) -> list[_Segment]:
        lines = read_lines(path)
        self._told.extend(lines.warnings)
        found, problems = [], []
        for number, line in _lines_of(lines.values):
            where = f"{lines.source}:{number}"
            fields = line.split(None, 5)
            times = fields[3:5]
            if len(times) < 2 or not all(map(_TIME.fullmatch, times)) or Decimal(times[0]) > Decimal(times[1]):
                problems.append(Problem("P264", f"the line is not a segment: {line[:40]!r}", where, f"a line is {_SEGMENT}"))
                continue
            text = fields[5].strip() if len(fields) > 5 else ""
            labels = _LABEL.match(text)
            text = text[labels.end() :].strip() if labels else text
            try:
                said = None if any(mark in text for mark in _NOT_SCORED) else read_marks(text, optional=self.optional)
            except ValueError as error:
                problems.append(
                    Problem("P264", str(error), where, "alternatives are `{ one / two words / @ }`, and @ is not a word")
                )
                continue
            recording, channel, speaker, begin, end = fields[:5]
            named = tuple(labels[1].split(",")) if labels else ()
            found.append(_Segment(recording, channel, speaker, begin, end, named, said, number, lines.source))
        refuse(problems)
        if not any(segment.said is not None for segment in found):
            raise DataError.of("P264", "the file has no segment that is scored", where=lines.source, help=f"a line is {_SEGMENT}")
        return found


def _lines_of(values: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield lines that say something, with their numbers."""
    for number, line in enumerate(values, start=1):
        if line.strip() and not line.startswith(_COMMENT):
            yield number, line


def _beside(segments: Sequence[_Segment], scored: Sequence[_Segment]) -> tuple[tuple[tuple[str, str], ...], ...]:
    """Return begin and end of what is not scored, with the first scored segment of each channel."""
    left: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for one in segments:
        if one.said is None:
            left[one.recording, one.channel].append((one.begin, one.end))
    return tuple(tuple(left.pop((one.recording, one.channel), ())) for one in scored)


def _groups(segments: Sequence[_Segment], columns: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return what `columns:` of a study asks for of the speakers, channels and labels of segments, under both names."""
    known = {SPEAKER: tuple(one.speaker for one in segments), "channel": tuple(one.channel for one in segments)}
    for k in range(max((len(one.labels) for one in segments), default=0)):
        known[f"label.{k + 1}"] = tuple(one.labels[k] if k < len(one.labels) else "" for one in segments)
    asked = {name: known[key] for role, key in columns.items() if key in known for name in (role, key)}
    return {SPEAKER: known[SPEAKER], **asked}


def _deal(gold: Items, places: Sequence[int], words: Sequence[str], middles: Sequence[str]) -> dict[int, str]:
    """Return the words of the segments of one channel, by their places in the gold."""
    spans: list[tuple[str, str, int]] = [(*gold.columns["time"][k][2:], k) for k in places]
    skipped = gold.columns.get("not_scored", ())
    spans += [(begin, end, -1) for k in places if skipped for begin, end in skipped[k]]
    spans.sort(key=lambda span: (Decimal(span[0]), Decimal(span[1])))
    ends = list(accumulate((Decimal(end) for _, end, _ in spans), max))
    said: list[list[str]] = [[] for _ in spans]
    for word, middle in zip(words, accumulate(map(Decimal, middles), max), strict=True):
        said[min(bisect_right(ends, middle), len(spans) - 1)].append(word)
    return {k: without_nothing(" ".join(held)) for (_, _, k), held in zip(spans, said, strict=True) if k >= 0}
