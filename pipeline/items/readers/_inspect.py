"""Take the header and the samples out of a log of Inspect, whether it is a zip or one JSON document."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.dataclass import dataclass
from pipeline.errors import DataError
from pipeline.items.readers._json import need, parse_json, read_json, refuse_shape
from pipeline.items.readers._scored import find_at
from pipeline.items.readers._zip import Archive, looks_like_zip, open_zip

__all__ = ["Log", "Sample", "read_log"]

_SUCCESS = "success"
_HEADER, _START, _SUMMARIES = "header.json", "_journal/start.json", "summaries.json"
_JOURNAL = re.compile(r"_journal/summaries/([0-9]{1,9})\.json")
_SAMPLE = re.compile(r"samples/.+\.json")


@dataclass(frozen=True)
class Sample:
    """A sample of one epoch.

    Parameters
    ----------
    name : str
        Its identifier; one that is a number is the text of it.
    epoch : int
    place : str
        Where it stands, for messages.
    fields : mapping
        What the log says of it.
    """

    name: str
    epoch: int
    place: str
    fields: Mapping[str, Any]


@dataclass(frozen=True)
class Log:
    """A log.

    Parameters
    ----------
    source : str
        The file.
    status : str
        ``success``, or that the run was ``started``, ``cancelled`` or ended in an ``error``.
    header : mapping
        What it says of the run.
    samples : tuple of Sample
        Each once an epoch: of one that was run again the last counts.
    warnings : tuple of str
        What was odd.
    """

    source: str
    status: str
    header: Mapping[str, Any]
    samples: tuple[Sample, ...]
    warnings: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Whether the run came to its end."""
        return self.status == _SUCCESS

    @property
    def epochs(self) -> int:
        """How many epochs there are, or were meant to be."""
        meant = find_at(self.header, "eval.config.epochs")
        return max(meant if isinstance(meant, int) else 1, len({sample.epoch for sample in self.samples}))

    @property
    def names(self) -> tuple[str, ...]:
        """The samples that were to be run, where the log says it."""
        listed = find_at(self.header, "eval.dataset.sample_ids")
        return tuple(map(str, listed)) if isinstance(listed, list) else ()


def read_log(path: Path, *, paths: Sequence[str]) -> Log:
    """Read a log.

    Parameters
    ----------
    path : Path
        A zip or JSON, whatever its name.
    paths : sequence of str
        What is wanted of samples beside their scores: where the summaries of a zip have left it out, samples are read whole.

    Raises
    ------
    DataError
        P257 where the JSON is none, or is not a log; P258 where the zip is damaged, or is not a log.
    """
    if looks_like_zip(path):
        with open_zip(path) as archive:
            return _read_zip(archive, paths)
    header, warnings = read_json(path)
    source = str(path)
    status = need(header, "status", str, source)
    if "samples" not in header:
        raise refuse_shape(source, 0, "the log", "one with samples", {key: "…" for key in header})
    listed = need(header, "samples", list, source) if header["samples"] is not None else []
    found = [(f"{source}, sample {k}", value) for k, value in enumerate(listed, start=1)]
    return _make_log(source, status, header, found, warnings)


def _read_zip(archive: Archive, paths: Sequence[str]) -> Log:
    if _HEADER in archive.names:
        header = _read_member(archive, _HEADER)
        status = need(header, "status", str, f"{archive.source}, {_HEADER}")
    elif _START in archive.names:
        header, status = _read_member(archive, _START), "started"
    else:
        message = f"the zip is not a log of Inspect: it has neither {_HEADER} nor {_START}"
        raise DataError.of("P258", message, where=archive.source, help="name the format that it has, or another file")
    if not isinstance(header, Mapping):
        raise refuse_shape(archive.source, 0, "the header", "an object", header)
    found = _read_summaries(archive)
    if header.get("invalidated") is True:
        found = [(place, _read_whole(archive, value)) for place, value in found]
    elif paths:
        found = [(place, _read_whole(archive, value) if _lacks(value, paths) else value) for place, value in found]
    return _make_log(archive.source, status, header, found, ())


def _read_summaries(archive: Archive) -> list[tuple[str, Any]]:
    """Return the summaries of samples: in one member, in those of the journal, or else the samples themselves."""
    journal = sorted((int(numbered[1]), name) for name in archive.names if (numbered := _JOURNAL.fullmatch(name)))
    members = [_SUMMARIES] if _SUMMARIES in archive.names else [name for _, name in journal]
    found: list[tuple[str, Any]] = []
    for member in members:
        place = f"{archive.source}, {member}"
        values = _read_member(archive, member)
        if not isinstance(values, list):
            raise refuse_shape(place, 0, "the member", "a list", values)
        found.extend((f"{place}, sample {k}", value) for k, value in enumerate(values, start=1))
    if members:
        return found
    return [(f"{archive.source}, {name}", _read_member(archive, name)) for name in archive.names if _SAMPLE.fullmatch(name)]


def _read_member(archive: Archive, name: str) -> Any:
    return parse_json(archive.read(name), f"{archive.source}, {name}")


def _read_whole(archive: Archive, summary: Any) -> Any:
    """Return all that the log has of a sample."""
    name = f"samples/{summary.get('id')}_epoch_{summary.get('epoch')}.json" if isinstance(summary, Mapping) else ""
    return _read_member(archive, name) if name in archive.names else summary


def _lacks(summary: Any, paths: Sequence[str]) -> bool:
    inner = summary.get("metadata") if isinstance(summary, Mapping) else None
    return any(find_at(summary, path) is None and find_at(inner, path) is None for path in paths)


def _make_log(
    source: str, status: str, header: Mapping[str, Any], found: Sequence[tuple[str, Any]], warnings: Sequence[str]
) -> Log:
    samples: dict[tuple[str, int], Sample] = {}
    for place, value in found:
        name, epoch = str(need(value, "id", (int, str), place)), need(value, "epoch", int, place)
        samples[name, epoch] = Sample(name, epoch, place, value)
    again = len(found) - len(samples)
    told = f"{source}: {again} samples were run again in an epoch; the last run of each counts"
    return Log(source, status, header, tuple(samples.values()), (*warnings, *([told] if again else [])))
