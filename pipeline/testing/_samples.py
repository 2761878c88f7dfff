"""Files that a reader is tried on: garbled copies, and what all readers take one for."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

from pipeline.errors import PluginError
from pipeline.interfaces import FileSample, Reader, Recognised
from pipeline.plugins import import_plugin, list_plugins

__all__ = ["ask_all", "garble", "take_sample"]

_HEAD = 1 << 16


def garble(data: bytes, draw: Callable[[Any], Any]) -> bytes:
    """Cut, double, swap, overwrite or put in bytes, up to three times."""
    from hypothesis import strategies as st

    odd = st.one_of(
        st.binary(max_size=6),
        st.sampled_from(
            [b"\n", b"\r", b"\t", b" ", b'"', b"\0", b"\xff", b"\xc2\xa0", b"\xe2\x80\xa8", b"-1", b"1e999", b"nan", b"9" * 5000]
        ),
    )
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(data)))
        stop = draw(st.integers(start, min(len(data), start + 40)))
        kind = draw(st.sampled_from(["cut", "end", "double", "put", "swap"]))
        if kind == "cut":
            data = data[:start] + data[stop:]
        elif kind == "end":
            data = data[:start]
        elif kind == "double":
            data = data[:stop] + data[start:]
        elif kind == "put":
            data = data[:start] + draw(odd) + data[stop:]
        else:
            data = data[:start] + data[start:stop][::-1] + data[stop:]
    return data


def take_sample(path: Path, reader: Reader, *, text: bool) -> FileSample:
    """Return the beginning of a file as a study has it whose test set this reader reads."""
    head = path.read_bytes()[:_HEAD] if path.is_file() else b""
    members: tuple[str, ...] = ()
    if zipfile.is_zipfile(BytesIO(head)):
        members = tuple(zipfile.ZipFile(BytesIO(head)).namelist())
    lines = tuple(head.decode("utf-8").removesuffix("\n").split("\n")) if text else ()
    return FileSample(path, head, lines, members, reader.compares_with == "gold", reader.compares_with == "references")


def ask_all(sample: FileSample) -> dict[str, Recognised]:
    """Return what the installed readers make of a file, by name."""
    answers: dict[str, Recognised] = {}
    for name in list_plugins("readers"):
        try:
            ask: Callable[[FileSample], Recognised | None] | None = getattr(import_plugin("readers", name), "recognise", None)
        except PluginError:
            continue  # it is installed, and what it needs is not
        answer = ask(sample) if ask is not None else None
        if answer is not None:
            answers[name] = answer
    return answers
