r"""What every reader must do, as tests that a reader's own tests inherit.

A reader's author writes::

    class TestMyReader(ReaderContract):
        def example(self) -> ReaderExample:
            return ReaderExample(MyReader, items=(b"q1 0.5\n", b"q2 0.25\n", b"q3 1\n"))
"""

from __future__ import annotations

import bz2
import gzip
import lzma
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.dataclass import dataclass, field
from pipeline.errors import DataError
from pipeline.interfaces import Items, Reader
from pipeline.testing._samples import ask_all, garble, take_sample

__all__ = ["ReaderContract", "ReaderExample", "check_items"]

_COMPRESSED: tuple[Callable[[bytes], bytes], ...] = (gzip.compress, bz2.compress, lzma.compress)
_BOM = b"\xef\xbb\xbf"
_SURE = 0.05
"""Readers whose confidence is as near as this to the best one's are as good as it, for `format: auto`."""


@dataclass(frozen=True)
class ReaderExample:
    """A reader and a file of outputs, in pieces of an item each, so that the contract can put them in another order.

    Parameters
    ----------
    reader : callable
        Makes the reader, afresh for each reading.
    items : sequence of bytes
        At least two pieces of the file, one an item. Bytes of something else than items go into ``join``.
    join : callable
        Makes the file of its pieces; side by side by default.
    gold : mapping of str to bytes
        Files of gold or references by name, in the order in which they are read.
    system : str, optional
        The system whose file it is; None where the file holds all systems.
    options : mapping
        What a study says to the reader.
    file : str
        Name of the file, for formats that look at it.
    numbered : bool
        Whether items have no identifiers, so that another order is another file.
    text : bool
        Whether it is a text whose lines may end in CRLF and that may begin with a byte order mark, told in a warning.
    compressible : bool
        Whether it is read compressed as well.
    outputs : bool
        False for formats without outputs: the file is then read as gold.
    writes : bool
        Whether outputs can be written in the format, and are read back.
    recognised : bool
        Whether ``format: auto`` finds the format by this file.
    """

    reader: Callable[[], Reader]
    items: Sequence[bytes]
    join: Callable[[Sequence[bytes]], bytes] = b"".join
    gold: Mapping[str, bytes] = field(default_factory=dict)
    system: str | None = "north"
    options: Mapping[str, Any] = field(default_factory=dict)
    file: str = "north.txt"
    numbered: bool = False
    text: bool = True
    compressible: bool = True
    outputs: bool = True
    writes: bool = True
    recognised: bool = True

    @property
    def data(self) -> bytes:
        """The bytes of the file."""
        return self.join(self.items)


def check_items(items: Items) -> None:
    """Hold items to what the package relies on: as many values as identifiers, each identifier once, values that have a digest."""
    assert len(items.lines) == len(items.ids)
    assert all(isinstance(name, str) for name in items.ids)
    assert len(set(items.ids)) == len(items.ids), "an identifier is there twice"
    for name, values in items.columns.items():
        assert len(values) == len(items.ids), f"column {name!r} has {len(values)} values for {len(items.ids)} items"
        assert all(map(_has_digest, values)), f"column {name!r} has values that are no text, whole numbers or tuples of them"
    assert set(items.published) <= set(items.columns), "what is published is not a column"


def _has_digest(value: Any) -> bool:
    return value is None or isinstance(value, (str, int)) or (isinstance(value, tuple) and all(map(_has_digest, value)))


class ReaderContract(ABC):
    """What every reader must do; inherit, name the class ``Test…`` and give an example."""

    fuzz_examples = 40
    """Garbled files that are tried, of outputs and of gold each."""

    fuzz_shrinks = True
    """Whether a file that is not read as it should be is looked for in its shortest form."""

    @abstractmethod
    def example(self) -> ReaderExample:
        """Return the reader and the file it is tried on."""

    def place(self, folder: Path, name: str, data: bytes) -> Path:
        """Put a file into a folder and give what the study would name; override it where a format has several files."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
        return folder / name

    def test_it_says_what_it_is(self) -> None:
        """Its attributes are those of the protocol."""
        reader = self.example().reader()
        assert isinstance(reader.name, str)
        assert isinstance(reader.targets, tuple)
        assert reader.compares_with in ("references", "gold", "nothing")
        assert reader.usual_metric is None or isinstance(reader.usual_metric, str)
        assert isinstance(reader.blank, str)
        for ending in reader.endings:
            assert ending == ending.lower(), "endings of names are in lower case"
            assert ending.startswith("."), f"{ending!r} begins with no dot"
            assert ending[1:2].isalpha(), f"{ending!r} might cut a version off a name"

    def test_items_of_its_example_are_whole(self, tmp_path: Path) -> None:
        """Outputs and gold have a value an item in every column, and what is published is a column."""
        example = self.example()
        outputs, _ = self._read(example, tmp_path / "first", example.data)
        assert outputs, "it has no system"
        for items in outputs.values():
            check_items(items)
            assert items.columns
            assert len(items) >= 2, "the example has too few items"
            assert items.numbered == example.numbered, f"numbered is {items.numbered}"
        again = self._read(example, tmp_path / "again", example.data)[0]
        assert [dict(items.columns) for items in again.values()] == [dict(items.columns) for items in outputs.values()], (
            "not the same"
        )
        gold = self._read_gold(example, tmp_path, example.gold)
        assert (gold is None) == (not example.gold)
        if gold is not None:
            check_items(gold)

    def test_the_order_of_items_does_not_matter_where_they_have_identifiers(self, tmp_path: Path) -> None:
        """A file in another order has the same items, whatever its lines."""
        example = self.example()
        if example.numbered:
            return
        straight, _ = self._read(example, tmp_path / "straight", example.data)
        turned, _ = self._read(example, tmp_path / "turned", example.join(example.items[::-1]))
        assert set(straight) == set(turned)
        for system, items in straight.items():
            assert _by_id(turned[system]) == _by_id(items), "in another order the items are others"
            assert turned[system].published == items.published

    def test_the_same_content_is_the_same_compressed_or_not(self, tmp_path: Path) -> None:
        """Compression is seen by the content, whatever the name."""
        example = self.example()
        plain, _ = self._read(example, tmp_path / "plain", example.data)
        for k, compress in enumerate(_COMPRESSED if example.compressible else ()):
            again, _ = self._read(example, tmp_path / f"compressed {k}", compress(example.data))
            assert [(name, items.ids, dict(items.columns)) for name, items in again.items()] == [
                (name, items.ids, dict(items.columns)) for name, items in plain.items()
            ]

    def test_a_byte_order_mark_and_carriage_returns_change_nothing(self, tmp_path: Path) -> None:
        """Files from Windows are read, with a warning about a byte order mark."""
        example = self.example()
        if not example.text:
            return
        plain, quiet = self._read(example, tmp_path / "plain", example.data)
        changed = {"mark": _BOM + example.data, "returns": example.data.replace(b"\n", b"\r\n")}
        for what, data in changed.items():
            if data == example.data:
                continue  # it is one line
            again, told = self._read(example, tmp_path / what, data)
            assert [_by_id(items) for items in again.values()] == [_by_id(items) for items in plain.values()], what
            assert what != "mark" or len(told) > len(quiet), "a mark is not reported"

    def test_a_file_that_is_not_there_empty_or_no_text_is_refused(self, tmp_path: Path) -> None:
        """Each is a `DataError` that says where."""
        example = self.example()
        for k, data in enumerate((b"", b"\xff\xfe\x00\x01", b"\x00", gzip.compress(example.data)[:-9], b"\n\n", b"{", b"[]")):
            self._refuse_or_read(example, tmp_path / f"bad {k}", data)
        reader = example.reader()
        nowhere = tmp_path / "nowhere" / example.file
        try:
            if example.outputs:
                reader.read_outputs(nowhere, system=example.system, options=example.options)
            else:
                reader.read_gold([nowhere], example.options)
        except DataError as error:
            _check_refusal(error)
        else:
            raise AssertionError("a file that is not there was read")

    def test_garbled_files_are_read_or_refused_with_a_data_error(self, tmp_path: Path) -> None:
        """Whatever becomes of the bytes of a file, there is no other exception; needs hypothesis."""
        from hypothesis import HealthCheck, Phase, given, settings
        from hypothesis import strategies as st

        example = self.example()
        phases = (Phase.generate, Phase.shrink) if self.fuzz_shrinks else (Phase.generate,)
        checked = settings(
            max_examples=self.fuzz_examples, deadline=None, suppress_health_check=list(HealthCheck), database=None, phases=phases
        )
        files = {example.file: example.data, **example.gold}

        def tried(name: str) -> Callable[[], None]:
            @checked
            @given(st.data())
            def read_garbled(data: Any) -> None:
                garbled = garble(files[name], data.draw)
                if name in example.gold:
                    try:
                        gold = self._read_gold(example, tmp_path / "gold", {**example.gold, name: garbled})
                    except DataError as error:
                        _check_refusal(error)
                    else:
                        assert gold is not None
                        check_items(gold)
                else:
                    self._refuse_or_read(example, tmp_path / "outputs", garbled)

            return read_garbled

        for name in files:
            tried(name)()

    def test_what_is_written_is_read_back(self, tmp_path: Path) -> None:
        """Outputs that a trainer gives come back as they were; formats that nobody trains for say so."""
        example = self.example()
        outputs, _ = self._read(example, tmp_path, example.data)
        for number, (name, items) in enumerate(outputs.items()):
            reader = example.reader()
            path = tmp_path / f"written {number}{Path(example.file).suffix}"
            if not example.writes:
                try:
                    reader.write(path, items.columns, items.ids)
                except ValueError:
                    continue
                raise AssertionError("it writes, and the example says that it does not")
            reader.write(path, items.columns, items.ids)
            written = path.read_bytes()
            reader.write(path, items.columns, items.ids)
            assert path.read_bytes() == written, "the same items are other bytes"
            if example.outputs:
                found = example.reader().read_outputs(path, system=name, options={})[name]
            else:
                found = example.reader().read_gold([path], {}) or items
            assert dict(found.columns) == dict(items.columns), "what was written is read as something else"
            assert found.numbered or found.ids == items.ids, "what was written is read with other identifiers"

    def test_it_recognises_its_own_file_and_no_other_reader_is_as_sure(self, tmp_path: Path) -> None:
        """``format: auto`` takes this reader, with options under which the file is read."""
        example = self.example()
        path = self.place(tmp_path, example.file, example.data)
        if not example.recognised:
            return
        sample = take_sample(path, example.reader(), text=example.text)
        answers = ask_all(sample)
        own = answers.pop(example.reader().name, None)
        assert own is not None, "it does not recognise its own file"
        assert 0 < own.confidence <= 1
        assert own.why
        rivals = {name: answer for name, answer in answers.items() if answer.confidence > own.confidence - _SURE}
        assert not rivals, f"confidence {own.confidence}, and others are as sure"

    def _read(self, example: ReaderExample, folder: Path, data: bytes) -> tuple[dict[str, Items], list[str]]:
        """Return outputs by system, and what was odd."""
        path = self.place(folder, example.file, data)
        reader = example.reader()
        if example.outputs:
            outputs = reader.read_outputs(path, system=example.system, options=example.options)
        else:
            gold = reader.read_gold([path], example.options)
            outputs = {} if gold is None else {"gold": gold}
        return outputs, [warning for items in outputs.values() for warning in items.warnings]

    def _read_gold(self, example: ReaderExample, folder: Path, files: Mapping[str, bytes]) -> Items | None:
        paths = [self.place(folder / "of the gold", name, data) for name, data in files.items()]
        return example.reader().read_gold(paths, example.options)

    def _refuse_or_read(self, example: ReaderExample, folder: Path, data: bytes) -> None:
        try:
            outputs, _ = self._read(example, folder, data)
        except DataError as error:
            _check_refusal(error)
        else:
            for items in outputs.values():
                check_items(items)


def _by_id(items: Items) -> dict[str, tuple[Any, ...]]:
    return dict(zip(items.ids, zip(*(items.columns[name] for name in sorted(items.columns)), strict=True), strict=True))


def _check_refusal(error: DataError) -> None:
    assert error.problems
    for problem in error.problems:
        assert problem.code.startswith("P2"), f"{problem.code} is not a code of data"
        assert problem.message
        assert problem.where, f"it is not said where: {problem.message}"
