"""Sentences are read as their files say, in whatever scheme chunks are tagged, and written so that they are read again."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.listening import listen

from pipeline.errors import DataError
from pipeline.interfaces import Items
from pipeline.items.readers import load_reader
from pipeline.items.readers._schemes import to_iob2
from pipeline.plugins import import_plugin, list_plugins

Write = Callable[..., Path]

TWO = "Nell NNP B-NP\nsings VBZ B-VP\n\nshe PRP B-NP\nleft VBD B-VP\nearly RB O\n"
TAGGED = "# doc a1\nNell/np sings/vbz ./.\nshe/pps left/vbd\n# doc a2\neither/or/cc\n"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(content: str | bytes, name: str = "file.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


def gold(name: str, *paths: Path, **columns: str) -> Items:
    found = load_reader(name).read_gold(list(paths), {"columns": columns})
    assert found is not None
    return found


def outputs(name: str, path: Path, **columns: str) -> Items:
    return load_reader(name).read_outputs(path, system="s", options={"columns": columns})["s"]


def refused(name: str, path: Path, **columns: str) -> list[tuple[str, str | None]]:
    with pytest.raises(DataError) as caught:
        gold(name, path, **columns)
    return [(problem.code, problem.where) for problem in caught.value.problems]


def chunks(write: Write, *tags: str) -> tuple[tuple[str, ...], list[str]]:
    """Read one sentence with these tags; give its chunks and what was told."""
    reader = listen(load_reader("columns"))
    items = reader.read_gold([write("".join(f"w{k} T {tag}\n" for k, tag in enumerate(tags)))], {})
    assert items is not None
    return items.columns["chunk"][0], reader.warnings


# --- columns


def test_a_blank_line_ends_a_sentence_and_several_end_one(write: Write) -> None:
    items = gold("columns", write("\n" + TWO.replace("\n\n", "\n\n \n\t\n")))
    assert items.columns == {
        "word": (("Nell", "sings"), ("she", "left", "early")),
        "tag": (("NNP", "VBZ"), ("PRP", "VBD", "RB")),
        "chunk": (("B-NP", "B-VP"), ("B-NP", "B-VP", "O")),
    }
    assert (items.ids, items.lines, items.numbered) == (("1", "2"), (2, 7), True)


def test_the_mark_of_a_document_is_no_sentence(write: Write) -> None:
    content = "-DOCSTART- -X- -X- O\n\nNell NNP B-NP B-PER\n\n-DOCSTART- -X- -X- O\n\nshe PRP B-NP O\n\nleft VBD B-VP O\n"
    items = gold("columns", write(content), chunk="3")
    assert items.columns["document"] == ("1", "2", "2")
    assert items.columns["chunk"] == (("B-PER",), ("O",), ("O",))
    assert items.columns["word"] == (("Nell",), ("she",), ("left",))
    assert "document" not in outputs("columns", write(content), chunk="3").columns  # it is the gold that says so


def test_columns_are_found_by_their_places(write: Write) -> None:
    path = write("Nell NNP B-NP O\nsings VBZ I-NP B-VP\n")
    assert outputs("columns", path).columns["chunk"] == (("O", "B-VP"),)
    assert gold("columns", path, gold="-2").columns["chunk"] == (("B-NP", "I-NP"),)
    assert gold("columns", path, gold="-2").columns.keys() == {"word", "tag", "chunk"}
    assert gold("columns", path, word="1", tag="0").columns["word"] == (("NNP", "VBZ"),)
    assert gold("columns", write("Nell B-NP\n")).columns == {"word": (("Nell",),), "chunk": (("B-NP",),)}
    assert gold("columns", write("Nell NNP\n"), tag="1").columns == {"word": (("Nell",),), "tag": (("NNP",),)}


def test_a_hash_may_be_a_token_and_comments_are_none(write: Write) -> None:
    items = gold("columns", write("# text = two words\n# doc d1\n# # B-NP\n10 CD I-NP\n\n# id = 2\n# # O\n"))
    assert items.columns["word"] == (("#", "10"), ("#",))
    assert items.columns["document"] == ("d1", "d1")


def test_tabs_part_columns_where_the_first_token_has_one_and_words_may_hold_blanks(write: Write) -> None:
    items = gold("columns", write("New York\tNNP\tB-NP\n\u00a0\tSP\tO\n"))
    assert items.columns["word"] == (("New York", "\u00a0"),)
    assert gold("columns", write("a\u00a0b  NN   B-NP \n")).columns["word"] == (("a\u00a0b",),)


@pytest.mark.parametrize("wrap", [gzip.compress, lambda data: b"\xef\xbb\xbf" + data, lambda data: data.replace(b"\n", b"\r\n")])
def test_compressed_files_and_those_of_other_systems_read_alike(write: Write, wrap: Callable[[bytes], bytes]) -> None:
    assert gold("columns", write(wrap(TWO.encode()))).columns == gold("columns", write(TWO, "plain.txt")).columns
    assert gold("tagged", write(wrap(TAGGED.encode()))).columns == gold("tagged", write(TAGGED, "plain.txt")).columns


def test_several_files_are_numbered_throughout(write: Write) -> None:
    one, other = write("-DOCSTART- -X- O\n\n" + TWO, "1.txt"), write("-DOCSTART- -X- O\n\na DT O\n", "2.txt")
    items = gold("columns", one, other)
    assert items.ids == ("1", "2", "3")
    assert items.columns["document"] == ("1", "1", "2")
    assert items.columns["word"][2] == ("a",)
    assert gold("tagged", write(TAGGED, "1"), write("# doc b1\nno/at\n", "2")).columns["document"] == ("a1", "a1", "a2", "b1")


def test_what_is_malformed_is_told_with_its_line(write: Write) -> None:
    assert refused("columns", write("a DT B-NP\nb\n\nc NN I-NP x\n")) == [
        ("P240", f"{write('a DT B-NP' + chr(10) + 'b' + chr(10) * 2 + 'c NN I-NP x' + chr(10))}:{line}") for line in (2, 4)
    ]
    path = write("a DT B-NP\n\nb DT NP\nc DT B_NP\nd DT X-NP\ne DT B-\nf DT O-NP\n")
    assert refused("columns", path) == [("P242", f"{path}:{line}") for line in (3, 4, 5, 6, 7)]
    path = write("a DT S-NP\nb DT O\nc DT U-NP\n")
    assert refused("columns", path) == [("P243", f"{path}:3")]
    for content in ("\n\n", "-DOCSTART- -X- O\n", "# doc x\n\n"):
        assert [code for code, _ in refused("columns", write(content))] == ["P240"]


@pytest.mark.parametrize("columns", [{"chunk": "3"}, {"word": "-4"}, {"tag": "pos"}, {"genre": "1"}])
def test_a_column_that_lines_do_not_have_is_refused(write: Write, columns: dict[str, str]) -> None:
    assert [code for code, _ in refused("columns", write(TWO), **columns)] == ["P241"]


def test_files_with_other_columns_do_not_go_together(write: Write) -> None:
    with pytest.raises(DataError, match="P240"):
        gold("columns", write(TWO, "1"), write("a B-NP\n", "2"))


@pytest.mark.parametrize("name", ["columns", "tagged"])
def test_an_output_needs_the_name_of_its_system(write: Write, name: str) -> None:
    with pytest.raises(DataError, match="P219"):
        load_reader(name).read_outputs(write(TWO), system=None, options={})


# --- schemes of chunks


def test_iob2_is_read_as_it_is_and_nothing_is_told(write: Write) -> None:
    tags = ("B-NP", "I-NP", "B-NP", "O", "B-VP", "B-NP")
    assert chunks(write, *tags) == (tags, [])


def test_iob1_is_recognised(write: Write) -> None:
    found, (told,) = chunks(write, "I-NP", "I-NP", "B-NP", "I-VP", "O", "I-NP")
    assert found == ("B-NP", "I-NP", "B-NP", "B-VP", "O", "B-NP")
    assert "IOB1, and read as IOB2" in told


def test_an_ambiguous_file_is_told(write: Write) -> None:
    found, (told,) = chunks(write, "I-NP", "I-NP", "O", "I-NP")
    assert found == ("B-NP", "I-NP", "O", "B-NP")
    assert "IOB1 (no two chunks of a type touch: it might as well be IOB2" in told


def test_a_chunk_of_iob2_that_begins_with_i_is_counted_and_told_with_its_line(write: Write) -> None:
    found, (told,) = chunks(write, "B-NP", "B-VP", "I-NP", "I-NP", "O", "B-NP")
    assert found == ("B-NP", "B-VP", "B-NP", "I-NP", "O", "B-NP")
    assert told.endswith("IOB2, but 1 begin with I, the first on line 3; each of them is a chunk, as conlleval counts")


@pytest.mark.parametrize(("scheme", "single", "last"), [("IOBES", "S", "E"), ("BILOU", "U", "L")])
def test_schemes_with_ends_are_recognised(write: Write, scheme: str, single: str, last: str) -> None:
    tags = (f"{single}-NP", f"{single}-NP", "B-NP", "I-NP", f"{last}-NP", "B-NP", f"{last}-NP", "O", f"{single}-VP")
    found, (told,) = chunks(write, *tags)
    assert found == ("B-NP", "B-NP", "B-NP", "I-NP", "I-NP", "B-NP", "I-NP", "O", "B-VP")
    assert told.endswith(f"{scheme}, and read as IOB2")


def test_what_iobes_forbids_is_counted_as_conlleval_counts_and_told(write: Write) -> None:
    found, told = chunks(write, "E-NP", "I-NP", "O", "B-NP", "E-VP", "S-NP")
    assert found == ("B-NP", "B-NP", "O", "B-NP", "B-VP", "B-NP")
    assert "3 chunks begin with a tag that should continue one, the first on line 1" in told[1]
    assert "2 chunks are not closed as IOBES asks, the first on line 2" in told[2]


@given(st.lists(st.sampled_from(["O", "B-NP", "I-NP", "B-VP", "I-VP", "B", "I", "B-a-b", "I-a-b"]), min_size=1, max_size=12))
@settings(deadline=None)
def test_reading_twice_changes_nothing(tags: list[str]) -> None:
    once, _ = to_iob2([tuple(tags)], [1], "f")
    assert to_iob2(once, [1], "f") == (once, ())


@given(st.lists(st.tuples(st.sampled_from(["O", "NP", "VP"]), st.integers(1, 3)), min_size=1, max_size=8))
@settings(deadline=None)
def test_a_sentence_is_the_same_in_every_scheme(parts: list[tuple[str, int]]) -> None:
    written: dict[str, list[str]] = {"IOB1": [], "IOB2": [], "IOBES": [], "BILOU": []}
    before = "O"
    for kind, length in parts:
        for k in range(length):
            first, last = k == 0, k == length - 1
            letters = {
                "IOB1": "B" if first and before == kind else "I",
                "IOB2": "B" if first else "I",
                "IOBES": "S" if first and last else "B" if first else "E" if last else "I",
                "BILOU": "U" if first and last else "B" if first else "L" if last else "I",
            }
            for scheme, letter in letters.items():
                written[scheme].append("O" if kind == "O" else f"{letter}-{kind}")
        before = kind
    assert {to_iob2([tuple(tags)], [1], "f")[0] for tags in written.values()} == {(tuple(written["IOB2"]),)}


# --- tagged


def test_a_token_is_split_at_its_last_slash(write: Write) -> None:
    items = gold("tagged", write("# made up\n\n" + TAGGED))
    assert items.columns == {
        "word": (("Nell", "sings", "."), ("she", "left"), ("either/or",)),
        "tag": (("np", "vbz", "."), ("pps", "vbd"), ("cc",)),
        "document": ("a1", "a1", "a2"),
    }
    assert items.lines == (4, 5, 7)
    assert gold("tagged", write("a_b_DT  c_d/e\n"), separator="_").columns["tag"] == (("DT", "d/e"),)


def test_a_token_without_a_tag_is_refused_with_its_line(write: Write) -> None:
    path = write("a/b\n\na/b c d/ /e\n/\n")
    assert refused("tagged", path) == [("P244", f"{path}:3"), ("P244", f"{path}:4")]
    assert refused("tagged", path, separator=" ") == [("P241", str(path))]


# --- writing

SIGNS = st.sampled_from([*"aZ9#_-.:=|\"'\\", "\u00a0", "\u2028", "\u0085", "\u000b", "\u001f", "\ufeff", "\u4e2d", "\U0001f600"])
WORDS = st.lists(SIGNS, min_size=1, max_size=3).map("".join)
SENTENCE = st.lists(st.tuples(WORDS, WORDS, st.sampled_from(["O", "B-NP", "B-VP"])), min_size=1, max_size=3)


@pytest.mark.parametrize("name", ["columns", "tagged"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(items=st.lists(st.tuples(SENTENCE, WORDS), min_size=1, max_size=3))
def test_what_is_written_is_read_again(name: str, items: Any, tmp_path: Path) -> None:
    sentences, documents = [sentence for sentence, _ in items], [f"d{document}" for _, document in items]
    columns: dict[str, Any] = {
        role: tuple(tuple(token[k] for token in sentence) for sentence in sentences)
        for k, role in enumerate(("word", "tag", "chunk"))
        if (name, role) != ("tagged", "chunk")
    }
    if all(tag == "_" for tags in columns["tag"] for tag in tags):
        del columns["tag"]  # so it is written
    columns["document"] = tuple(documents)
    path = tmp_path / "written.txt"
    load_reader(name).write(path, columns, [str(k + 1) for k in range(len(sentences))])
    assert gold(name, path).columns == columns
    assert outputs(name, path).columns == {role: values for role, values in columns.items() if role != "document"}


def test_the_one_reader_whose_outputs_are_not_read_again_before_they_are_stored_is_held_to_it_above() -> None:
    """Of columns the scheme of chunks is recognised, so what is read may be written otherwise."""
    assert [name for name in list_plugins("readers") if getattr(import_plugin("readers", name), "exact", False)] == ["tagged"]


@pytest.mark.parametrize("name", ["columns", "tagged"])
def test_targets_that_are_not_there_are_blank_and_the_same_columns_are_the_same_bytes(name: str, tmp_path: Path) -> None:
    reader = load_reader(name)
    shown = {"word": (("a", "b"), ("c",))}
    for path in (tmp_path / "1.gz", tmp_path / "2.gz"):
        reader.write(path, shown, ["1", "2"])
    assert (tmp_path / "1.gz").read_bytes() == (tmp_path / "2.gz").read_bytes()
    assert gold(name, tmp_path / "1.gz").columns == shown


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("columns", {"word": (("a\tb",),)}),
        ("columns", {"word": (("a",),), "chunk": (("O", "O"),)}),
        ("columns", {"word": ((),)}),
        ("columns", {"word": (("-DOCSTART-",),)}),
        ("columns", {"word": (("a",), ("b",)), "document": ("d", "")}),
        ("columns", {"word": (("a",),), "document": ("O",)}),
        ("tagged", {"word": (("a b",),)}),
        ("tagged", {"word": (("a",),), "tag": (("x/y",),)}),
        ("tagged", {"word": (("a",), ("b",)), "document": ("d", "")}),
        ("tagged", {"word": (("a",),), "tag": (("x", "y"),)}),
        ("tagged", {"word": ((),)}),
    ],
)
def test_what_would_be_read_as_something_else_is_not_written(name: str, columns: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ValueError):
        load_reader(name).write(tmp_path / "f", columns, ["1", "2"])


# --- real data


@pytest.mark.data
@pytest.mark.parametrize("part", ["train", "test"])
def test_conll_2000_has_the_sentences_and_chunks_that_are_published(part: str, data_dir: Path) -> None:
    expected = json.loads((data_dir / "conll2000" / "expected.json").read_text())[part]
    reader = listen(load_reader("columns"))
    items = reader.read_gold([data_dir / "conll2000" / f"{part}.txt.gz"], {})
    assert items is not None
    tags = [tag for sentence in items.columns["chunk"] for tag in sentence]
    found = {"sentences": len(items), "tokens": len(tags), "B-NP": tags.count("B-NP"), "I-NP": tags.count("I-NP")}
    assert found == {key: expected[key] for key in found}
    assert sum(tag.startswith("B") for tag in tags) == expected["chunks_all_types"]
    assert not reader.warnings


@pytest.mark.data
def test_chunks_of_tweets_that_begin_with_i_are_counted_and_told(data_dir: Path) -> None:
    folder = data_dir / "twitter-chunks"
    expected = json.loads((folder / "expected.json").read_text())
    reader = listen(load_reader("columns"))
    items = reader.read_gold([folder / "test.txt.gz"], {})
    assert items is not None
    assert (len(items), sum(map(len, items.columns["word"]))) == (expected["sentences"], expected["tokens"])
    count = sum(tag == "B-NP" for sentence in items.columns["chunk"] for tag in sentence)
    assert count == expected["baseline_trained_on_conll2000_most_frequent_np_tag_per_pos"]["gold"] == expected["B-NP"] + 10
    (told,) = reader.warnings
    assert "IOB2, but 17 begin with I" in told


@pytest.mark.data
def test_the_brown_corpus_has_its_documents_and_tokens(data_dir: Path) -> None:
    expected = json.loads((data_dir / "brown" / "expected.json").read_text())["categories"]
    for genre in ("humor", "science_fiction", "reviews"):
        items = gold("tagged", data_dir / "brown" / f"{genre}.tagged.txt.gz")
        found = (len(set(items.columns["document"])), len(items), sum(map(len, items.columns["word"])))
        assert found == tuple(expected[genre][key] for key in ("documents", "sentences", "tokens"))
