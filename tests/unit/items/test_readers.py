"""Files are read as they are, or refused with file and line."""

from __future__ import annotations

import bz2
import gzip
import importlib
import lzma
import sys
from types import SimpleNamespace

import pytest
from support.listening import listen

from pipeline.errors import DataError, PluginError
from pipeline.items.readers import load_reader
from pipeline.plugins import list_plugins


def refused(name, path, *, system="s", columns=None):
    with pytest.raises(DataError) as caught:
        load_reader(name).read_outputs(path, system=system, options={"columns": columns or {}})
    return caught.value.problems


def outputs(name, path, *, system="s", columns=None):
    return load_reader(name).read_outputs(path, system=system, options={"columns": columns or {}})


@pytest.fixture
def write(tmp_path):
    def write_file(content, name="file.txt"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


def test_the_readers_of_the_package_are_found_and_a_typo_is_told():
    assert {"text", "labels", "scores"} <= set(list_plugins("readers"))
    with pytest.raises(PluginError, match="P301") as caught:
        load_reader("txt")
    assert "did you mean 'text'?" in caught.value.problems[0].help


# --- text

zstd = importlib.import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
COMPRESSORS = [gzip.compress, bz2.compress, lzma.compress, zstd.compress]


def test_lines_end_at_line_feeds_and_nowhere_else(write):
    items = outputs("text", write("a\u2028b\n\x0bc\rd\n\n e \nlast"))["s"]
    assert items.columns["text"] == ("a\u2028b", "\x0bc\rd", "", " e ", "last")
    assert items.ids == ("1", "2", "3", "4", "5")
    assert items.numbered


def test_a_final_line_feed_ends_a_line_and_begins_none(write):
    assert outputs("text", write("a\n"))["s"].columns == outputs("text", write("a"))["s"].columns == {"text": ("a",)}
    assert outputs("text", write("\n"))["s"].columns == {"text": ("",)}
    assert outputs("text", write("a\n\n"))["s"].columns == {"text": ("a", "")}


@pytest.mark.parametrize("compress", COMPRESSORS, ids=["gz", "bz2", "xz", "zst"])
def test_compression_is_seen_by_content_whatever_the_name(write, compress):
    assert outputs("text", write(compress("ä\nb\n".encode()), "plain.txt"))["s"].columns["text"] == ("ä", "b")
    assert outputs("text", write("ä\nb\n", "not-compressed.gz"))["s"].columns["text"] == ("ä", "b")


def test_zstandard_that_nothing_can_read_is_refused_with_the_way_out(write, monkeypatch):
    def nothing_is_there(name):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", nothing_is_there)
    (problem,) = refused("text", write(b"\x28\xb5\x2f\xfd rest", "a.txt"))
    assert problem.code == "P206"
    assert "decompress the file" in problem.help


def test_zstandard_is_read_by_whichever_module_is_there(write, monkeypatch):
    class ZstdError(Exception):
        pass

    class ZstdFile:
        def __init__(self, file):
            self.data = file.read()

        def read(self, size):
            if b"good" not in self.data:
                raise ZstdError("checksum")
            given, self.data = b"a\nb\n" if len(self.data) > 4 else b"", b"good"
            return given

    module = SimpleNamespace(ZstdFile=ZstdFile, ZstdError=ZstdError)
    monkeypatch.setattr(importlib, "import_module", lambda name: module)
    assert outputs("text", write(b"\x28\xb5\x2f\xfd good"))["s"].columns["text"] == ("a", "b")
    (problem,) = refused("text", write(b"\x28\xb5\x2f\xfd bad"))
    assert "damaged: checksum" in problem.message


@pytest.mark.parametrize("compress", COMPRESSORS, ids=["gz", "bz2", "xz", "zst"])
def test_a_truncated_compressed_file_is_refused(write, compress):
    (problem,) = refused("text", write(compress(b"some text\n" * 100)[:-9]))
    assert problem.code == "P206"
    assert "damaged" in problem.message


def test_another_encoding_is_refused_with_line_and_byte(write):
    path = write("fine\nalso fine\ncaf\u00e9 x\n".encode("latin-1"))
    (problem,) = refused("text", path)
    assert problem.code == "P204"
    assert problem.where == f"{path}:3"
    assert "byte 0xe9 at byte 4 of the line, offset 18" in problem.message


def test_utf_16_is_named(write):
    (problem,) = refused("text", write("text".encode("utf-16")))
    assert "UTF-16" in problem.help


def test_a_byte_order_mark_and_carriage_returns_are_left_out_and_the_mark_is_told(write):
    reader = listen(load_reader("text"))
    items = reader.read_outputs(write(b"\xef\xbb\xbfa\r\nb\r\n"), system="s", options={})["s"]
    assert items.columns["text"] == ("a", "b")
    (told,) = reader.warnings
    assert "byte order mark" in told


@pytest.mark.parametrize(
    ("content", "told"), [(b"a\r\nb\r\nc", []), (b"a\r\nb\nc\n", ["1 of 3 lines"]), (b"a\nb\r\nc\r\nd\n", ["2 of 4 lines"])]
)
def test_carriage_returns_at_the_end_of_some_lines_alone_are_told(write, content, told):
    reader = listen(load_reader("text"))
    items = reader.read_outputs(write(content), system="s", options={})["s"]
    assert "".join(items.columns["text"]) == "abcd"[: len(items.ids)]
    assert [words in warning for words, warning in zip(told, reader.warnings, strict=True)] == [True] * len(told)


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)])
@pytest.mark.parametrize("name", ["text", "labels", "scores"])
def test_an_empty_file_is_refused(write, content, name):
    assert refused(name, write(content))[0].code == "P205"


def test_a_file_that_is_not_there_and_a_folder_are_told_apart(tmp_path):
    assert refused("text", tmp_path / "no.txt")[0].code == "P201"
    assert refused("text", tmp_path)[0].code == "P202"


def test_references_are_columns_and_must_be_equally_long(write):
    reader = load_reader("text")
    a, b, c = write("1\n2\n", "a"), write("3\n\n", "b"), write("5\n", "c")
    assert reader.read_gold([a, b], {}).columns == {"reference.0": ("1", "2"), "reference.1": ("3", "")}
    with pytest.raises(DataError, match="P215") as caught:
        reader.read_gold([a, b, c], {})
    assert "2 in" in caught.value.problems[0].message
    assert reader.read_gold([], {}) is None


# --- labels


@pytest.mark.parametrize("form", ["text", "labels"])
def test_files_of_as_many_lines_share_their_numbers(write, form):
    one, other = (outputs(form, write("yes\nno\nno\n", name))["s"] for name in ("a.txt", "b.txt"))
    assert one.ids is other.ids
    assert one.lines is other.lines
    longer = outputs(form, write("yes\nno\nno\nyes\n", "c.txt"))["s"]
    assert (longer.ids, longer.lines) == (("1", "2", "3", "4"), (1, 2, 3, 4))


def test_labels_are_read_by_line_with_their_spaces(write):
    assert outputs("labels", write("cat\n dog\n\nNA\n"))["s"].columns["label"] == ("cat", " dog", "", "NA")


@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_labels_are_read_from_a_table_with_identifiers(write, delimiter):
    path = write(f"id{delimiter}label\n007{delimiter}cat\n1.0{delimiter}NA\n")
    items = outputs("labels", path)["s"]
    assert items.ids == ("007", "1.0")
    assert items.columns == {"label": ("cat", "NA")}
    assert items.lines == (2, 3)
    assert not items.numbered
    assert load_reader("labels").read_gold([path], {}).columns == {"label": ("cat", "NA")}


def test_labels_that_hold_commas_are_labels(write):
    assert outputs("labels", write("a,b\nc,d\n"))["s"].columns["label"] == ("a,b", "c,d")


def test_one_table_of_labels_holds_the_gold_and_all_systems(write):
    path = write('item,gold,"A, B",C\nx,1,1,2\ny,2,2,2\n')
    columns = {"item": "item", "label": "gold"}
    both = outputs("labels", path, system=None, columns=columns)
    assert {name: items.columns["label"] for name, items in both.items()} == {"A, B": ("1", "2"), "C": ("2", "2")}
    assert load_reader("labels").read_gold([path], {"columns": columns}).columns["label"] == ("1", "2")


def test_a_long_table_of_labels_is_split_by_system(write):
    both = outputs("labels", write("system,id,label\nA,1,x\nA,2,y\nB,2,z\nB,1,x\n"), system=None)
    assert {name: (items.ids, items.columns["label"]) for name, items in both.items()} == {
        "A": (("1", "2"), ("x", "y")),
        "B": (("2", "1"), ("z", "x")),
    }


# --- scores


def test_a_wide_table_has_one_system_a_column_and_keeps_the_strings(write):
    both = outputs("scores", write("item\tNA\t1.0\ta/b <&>\n007\t0.50\t1e-3\t-2\n8\t.5\t+3\t4.\n"), system=None)
    assert list(both) == ["NA", "1.0", "a/b <&>"]
    assert both["NA"].ids == ("007", "8")
    assert both["NA"].columns == {"score": ("0.50", ".5")}
    assert both["a/b <&>"].columns == {"score": ("-2", "4.")}


def test_a_long_table_keeps_the_names_of_its_columns(write):
    path = write("seg,sys,comet,bleu,domain\n1,A,0.5,30,news\n2,A,0.6,31,news\n1,B,0.7,32,talk\n2,B,0.1,33,talk\n")
    both = outputs("scores", path, system=None, columns={"item": "seg", "system": "sys"})
    assert both["B"].columns == {"comet": ("0.7", "0.1"), "bleu": ("32", "33")}


def test_a_table_with_one_row_a_system_has_one_item_a_column(write):
    both = outputs("scores", write("system\t0\t1\nA\t1\t2\nB\t3\t4\n"), system=None)
    assert both["B"].ids == ("0", "1")
    assert both["B"].columns == {"score": ("3", "4")}


def test_a_file_of_one_system_has_columns_of_numbers(write):
    items = outputs("scores", write("id,errors,words,document\na,1,10,d1\nb,2,20,d1\n"))["s"]
    assert items.columns == {"errors": ("1", "2"), "words": ("10", "20"), "document": ("d1", "d1")}


@pytest.mark.parametrize("value", ["nan", "NaN", "inf", "-Infinity", "", "1,5", "1_000", "0x1", "1e999", "one", "٣"])
def test_what_is_not_a_finite_number_is_refused_with_line_and_column(write, value):
    path = write(f"id\tgood\tbad\na\t1\t2\nb\t1\t{value}\n")
    (problem,) = refused("scores", path, system=None)
    assert problem.code == "P210"
    assert problem.where == f"{path}:3:bad"


def test_a_system_without_any_score_is_refused_and_not_taken_for_text(write):
    assert {p.code for p in refused("scores", write("id,A,B\n1,1,NA\n2,2,\n"), system=None)} == {"P210"}


def test_a_column_of_text_is_left_out_and_told(write):
    reader = listen(load_reader("scores"))
    assert list(reader.read_outputs(write("id,A,B,domain\n1,1,2,news\n2,3,4,talk\n"), system=None, options={})) == ["A", "B"]
    assert "'domain' holds text" in reader.warnings[0]


def test_an_item_that_occurs_twice_is_refused_with_both_lines(write):
    path = write('id,s\na,1\n"b\nc",2\na,3\n')
    (problem,) = refused("scores", path)
    assert problem.code == "P209"
    assert "on lines 2 and 5" in problem.message


def test_malformed_tables_are_refused_with_their_lines(write):
    short = write("id,A\n1,2\n3\n4,5,6\n")
    assert [(p.code, p.where) for p in refused("scores", short)] == [("P212", f"{short}:3"), ("P212", f"{short}:4")]
    assert refused("scores", write("id,A,A\n1,2,3\n"), system=None)[0].code == "P211"
    assert refused("scores", write("id,A\n"))[0].code == "P212"
    quotes = write('id,A\n1,2\n3,"4\n')
    assert (refused("scores", quotes)[0].code, refused("scores", quotes)[0].where) == ("P212", f"{quotes}:3")


def test_a_column_the_study_names_must_be_there(write):
    (problem,) = refused("scores", write("segment_id,A\n1,2\n"), system=None, columns={"item": "segmentid"})
    assert problem.code == "P211"
    assert "did you mean 'segment_id'?" in problem.help


def test_many_problems_of_a_kind_are_counted(write):
    problems = refused("scores", write("id,A\n0,1\n" + "".join(f"{k},x\n" for k in range(1, 50))))
    assert len(problems) == 10
    assert problems[-1].note == "and 39 more of this kind in the file"
