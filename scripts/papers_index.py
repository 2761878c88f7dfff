"""Where the numbers of five papers are: figure by figure, number by number and shape by shape, each with the rows that have it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

__all__ = ["INDEX", "list_rows", "write_index"]

INDEX: Mapping[str, Any] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))

Row = Sequence[str]
"""A study, the name of one of its known answers, and what the table calls it, if it does not stand alone there."""


def list_rows() -> Iterator[Row]:
    """Go through all rows that the index names."""
    entries = (*(entry for of_paper in INDEX["figures"].values() for entry in of_paper), *INDEX["shapes"], *INDEX["known"])
    for entry in entries:
        yield from entry.get("rows", ())


def write_index(ours: Mapping[tuple[str, str], str]) -> str:
    """Return the tables of the index.

    Parameters
    ----------
    ours : mapping of (study, name of a row) to str
        The number that was found, as the page prints it; of a row that is not there a dash is printed.
    """
    parts = ["\n## Figures and tables of the papers\n"]
    for paper, entries in INDEX["figures"].items():
        parts.append(f"\n### {paper}\n\n| where | the paper has | here | study | figure of the report |\n|---|---|---|---|---|\n")
        for entry in entries:
            figure = f"`{entry['figure']}`" if "figure" in entry else ""
            parts.append(_line(entry["where"], entry["paper"], _tell(entry, ours), _studies(entry), figure))
    parts.append("\n## What the papers find\n\n| what | measured by | here | study |\n|---|---|---|---|\n")
    parts += [_line(entry["where"], entry["paper"], _tell(entry, ours), _studies(entry)) for entry in INDEX["shapes"]]
    parts.append("\n## Numbers that were computed independently\n\n| number | here | study or test |\n|---|---|---|\n")
    parts += [_line(entry["number"], _tell(entry, ours), _studies(entry) or _test(entry["test"])) for entry in INDEX["known"]]
    return "".join(parts)


def _line(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |\n"


def _tell(entry: Mapping[str, Any], ours: Mapping[tuple[str, str], str]) -> str:
    told = ""
    for study, name, *label in entry.get("rows", ()):
        before = ", p " if label == ["p"] else "; " * bool(told) + "".join(f"{word}: " for word in label)
        told += before + ours.get((study, name), "–")
    return f"{told} ({entry['note']})" if "note" in entry else told


def _studies(entry: Mapping[str, Any]) -> str:
    names = dict.fromkeys(study for study, *_ in entry.get("rows", ()))
    return ", ".join(f"[{name.partition('-')[0]}](#{name})" for name in names)


def _test(name: str) -> str:
    return f"`{name.partition('::')[0]}`"
