"""CoNLL-U: what is read of it, what is refused and where, and that what is written is read again."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.listening import listen

from pipeline.errors import DataError
from pipeline.interfaces import Items
from pipeline.items.readers import load_reader

GULLS = """# newdoc id = harbour
# weather = fair
# sent_id = h-1
1-2	Gullsn't	_	_	_	_	_	_	_	_
1	Gulls	gull	NOUN	NNS	_	2	nsubj	_	_
2	cry	cry	VERB	VBP	_	0	root	_	_
2.1	loudly	_	_	_	_	_	_	_	_
3	.	.	PUNCT	.	_	2	punct	_	_

# sent_id = h-2
1	Boats	boat	NOUN	NNS	_	2	nsubj	_	_
2	wait	wait	VERB	VBP	_	0	root	_	_

# newdoc id = hill
# sent_id = l-1
1	Fog	fog	NOUN	NN	_	2	nsubj:late	_	_
2	lifts	lift	VERB	VBZ	_	0	root	_	_

"""


def row(number: int | str, word: str, head: int | str, relation: str = "dep") -> str:
    return f"{number}\t{word}\t_\tX\tX\t_\t{head}\t{relation}\t_\t_\n"


def read(folder: Path, text: str, **columns: str) -> Items:
    path = folder / "gold.conllu"
    path.write_bytes(text.encode())
    gold = load_reader("conllu").read_gold([path], {"columns": columns})
    assert gold is not None
    return gold


def read_output(folder: Path, text: str) -> Items:
    path = folder / "north.conllu"
    path.write_bytes(text.encode())
    return load_reader("conllu").read_outputs(path, system="north", options={})["north"]


def refused(folder: Path, text: str) -> DataError:
    with pytest.raises(DataError) as caught:
        read(folder, text)
    return caught.value


def test_words_tags_heads_and_relations_are_columns_of_tuples(tmp_path: Path) -> None:
    gold = read(tmp_path, GULLS)
    assert gold.columns["word"] == (("Gulls", "cry", "."), ("Boats", "wait"), ("Fog", "lifts"))
    assert gold.columns["upos"][0] == ("NOUN", "VERB", "PUNCT")
    assert gold.columns["tag"][0] == ("NNS", "VBP", ".")
    assert gold.columns["head"] == ((2, 0, 2), (2, 0), (2, 0))
    assert gold.columns["relation"][2] == ("nsubj:late", "root")
    assert gold.lines == (5, 11, 16)


def test_sentences_have_their_names_where_all_are_different(tmp_path: Path) -> None:
    named = read(tmp_path, GULLS)
    assert (named.ids, named.numbered) == (("h-1", "h-2", "l-1"), False)
    twice = read(tmp_path, GULLS.replace("h-2", "h-1"))
    assert (twice.ids, twice.numbered) == (("1", "2", "3"), True)
    assert read(tmp_path, GULLS.replace("# sent_id = h-2\n", "")).numbered


def test_documents_and_comments_that_are_asked_for_are_columns_of_the_gold_only(tmp_path: Path) -> None:
    gold = read(tmp_path, GULLS, weather="weather", sky="weather", document="anything")
    assert gold.columns["document"] == ("harbour", "harbour", "hill")
    assert gold.columns["weather"] == gold.columns["sky"] == ("fair", "fair", "")  # a new document begins anew
    assert set(read_output(tmp_path, GULLS).columns) == {"word", "upos", "tag", "head", "relation", "range"}


def test_paragraphs_without_names_are_numbered_throughout_the_files(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).write_text(
            f"# newdoc id = {name}\n# newpar\n{row(1, 'Fog', 0)}\n{row(1, 'Mist', 0)}\n# newpar id = p-7\n{row(1, 'Rain', 0)}\n"
        )
    gold = load_reader("conllu").read_gold([tmp_path / "one", tmp_path / "two"], {"columns": {"paragraph": "newpar"}})
    assert gold is not None
    assert gold.columns["paragraph"] == ("paragraph 1", "paragraph 1", "p-7", "paragraph 3", "paragraph 3", "p-7")
    assert gold.columns["document"] == ("one",) * 3 + ("two",) * 3


def test_comments_wait_for_words_over_empty_lines(tmp_path: Path) -> None:
    gold = read(tmp_path, "# newdoc id = harbour\n\n\n# sent_id = h-1\n" + row(1, "Fog", 0) + "\n")
    assert (gold.ids, gold.columns["document"], gold.lines) == (("h-1",), ("harbour",), (5,))


def test_tokens_of_several_words_are_a_column_where_there_are_any(tmp_path: Path) -> None:
    assert read(tmp_path, GULLS).columns["range"] == (((1, 2, "Gullsn't"),), (), ())
    plain = GULLS.replace("1-2\tGullsn't\t_\t_\t_\t_\t_\t_\t_\t_\n", "")
    assert "range" not in read(tmp_path, plain).columns
    for name, text in (("one", plain), ("two", GULLS)):
        (tmp_path / name).write_text(text)
    both = load_reader("conllu").read_gold([tmp_path / "one", tmp_path / "two"], {})
    assert both is not None
    assert both.columns["range"] == ((),) * 3 + (((1, 2, "Gullsn't"),), (), ())


def test_tokens_of_several_words_are_written_and_read_again(tmp_path: Path) -> None:
    gold = read(tmp_path, GULLS)
    load_reader("conllu").write(tmp_path / "x.conllu", gold.columns, gold.ids)
    again = load_reader("conllu").read_gold([tmp_path / "x.conllu"], {})
    assert again is not None
    assert dict(again.columns) == dict(gold.columns)
    with pytest.raises(ValueError, match="range 1-2"):
        load_reader("conllu").write(tmp_path / "x.conllu", {"word": (("a", "b"),), "range": (((1, 2, "a\tb"),),)}, ("1",))


def test_a_file_may_end_without_an_empty_line_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "north.conll"
    for end in ("", "\n"):
        path.write_text((row(1, "Fog", 2) + row(2, "lifts", 0)).removesuffix("\n") + end)
        reader = listen(load_reader("conllu"))
        assert reader.read_outputs(path, system="north", options={})["north"].columns["head"] == ((2, 0),)
        (warning,) = reader.warnings
        assert warning == f"{path} ends without an empty line after its last word: the last sentence is taken for whole"


def test_a_line_separator_within_a_form_ends_no_line(tmp_path: Path) -> None:
    assert read(tmp_path, row(1, "Fo\u2028g", 0) + "\n").columns["word"] == (("Fo\u2028g",),)


def test_latin_1_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "old.conll"
    path.write_bytes((row(1, "Fog", 0) + "\n" + row(1, "Höhe", 0) + "\n").encode("latin-1"))
    with pytest.raises(DataError) as caught:
        load_reader("conllu").read_gold([path], {})
    (problem,) = caught.value.problems
    assert (problem.code, problem.where) == ("P204", f"{path}:3")


def test_documents_without_names_are_numbered_throughout_the_files(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).write_text(f"# newdoc\n{row(1, 'Fog', 0)}\n# newdoc\n{row(1, 'Rain', 0)}\n")
    gold = load_reader("conllu").read_gold([tmp_path / "one", tmp_path / "two"], {})
    assert gold is not None
    assert gold.columns["document"] == ("document 1", "document 2", "document 3", "document 4")
    assert gold.columns["word"] == (("Fog",), ("Rain",)) * 2


def test_conll_x_without_comments_is_read_alike(tmp_path: Path) -> None:
    plain = "".join(f"{line}\n" for line in GULLS.split("\n")[:-1] if not line.startswith(("#", "1-2", "2.1")))
    assert read(tmp_path, plain).columns["head"] == read(tmp_path, GULLS).columns["head"]


def test_a_byte_order_mark_carriage_returns_and_gzip_change_nothing(tmp_path: Path) -> None:
    path = tmp_path / "odd.conllu.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbf" + GULLS.replace("\n", "\r\n").encode()))
    reader = listen(load_reader("conllu"))
    gold = reader.read_gold([path], {})
    assert gold is not None
    assert gold.columns == read(tmp_path, GULLS).columns
    assert len(reader.warnings) == 1


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (row(1, "Fog", 0).replace("\t_\n", "\n"), 1, "9 columns in place of 10"),
        (row(1, "Fog", 0) + row(3, "lifts", 1), 2, "'3' where 2 comes next"),
        (row(1, "", 0), 1, "column 2 is empty"),
        (row(1, "Fog", 0) + "# late\n", 2, "1 columns"),
        (row("9" * 5000, "Fog", 0), 1, "'9999999999999999999999999999999999999999' where 1 comes next"),
        (row("2-3", "Fog", 0) + row(1, "F", 0), 1, "the range 2-3 stands before word 1"),
        (row(1, "F", 0) + row("2-1", "Fog", 0) + row(2, "og", 0), 2, "the range 2-1 stands before word 2"),
        (row("1-3", "Fog", 0) + row(1, "F", 0) + row("2-3", "og", 0), 3, "ranges do not overlap"),
        (row("1-2", "", 0) + row(1, "F", 0) + row(2, "og", 0), 1, "the range 1-2 has no form"),
        (row("1-3", "Fog", 0) + row(1, "F", 0) + row(2, "og", 0), 3, "ends at word 2, within the range 1-3"),
        (row("1-2", "Fog", 0) + "\n" + row(1, "F", 0), 1, "ends at word 0, within the range 1-2"),
    ],
)
def test_lines_that_are_no_words_are_refused_with_their_line(tmp_path: Path, text: str, line: int, says: str) -> None:
    (problem,) = refused(tmp_path, text + "\n").problems
    assert problem.code == "P250"
    assert says in problem.message
    assert problem.where == f"{tmp_path / 'gold.conllu'}:{line}"


@pytest.mark.parametrize(
    ("heads", "word", "says"),
    [
        ((2, 0, 4), 3, "head 4 is not in the sentence, which has 3 words"),
        ((2, 0, "x"), 3, "'x' is not a number"),
        ((2, 0, "9" * 5000), 3, "is not a number"),  # more digits than Python reads
        ((2, 0, "_"), 3, "'_' is not a number"),
        ((2, 0, -1), 3, "'-1' is not a number"),
        ((0, 3, 2), 2, "circle"),
        ((1, 0, 2), 1, "circle"),
        ((2, 3, 1), 1, "circle"),
        ((0, 1, 0), 3, "2 roots, the words 1, 3"),
    ],
)
def test_heads_that_make_no_tree_are_refused(tmp_path: Path, heads: tuple[int | str, ...], word: int, says: str) -> None:
    text = "\n" + "".join(row(k + 1, "w", head) for k, head in enumerate(heads)) + "\n"
    (problem,) = refused(tmp_path, text).problems
    assert problem.code == "P251"
    assert says in problem.message
    assert problem.where == f"{tmp_path / 'gold.conllu'}:2, word {word}"


def test_all_broken_trees_are_told_at_once(tmp_path: Path) -> None:
    assert len(refused(tmp_path, f"{row(1, 'a', 1)}\n{row(1, 'b', 0)}\n{row(1, 'c', 7)}\n").problems) == 2


def test_outputs_may_have_several_roots_but_no_circle(tmp_path: Path) -> None:
    assert read_output(tmp_path, row(1, "Fog", 0) + row(2, "lifts", 0) + "\n").columns["head"] == ((0, 0),)
    with pytest.raises(DataError, match="P251"):
        read_output(tmp_path, row(1, "Fog", 2) + row(2, "lifts", 1) + "\n")


def test_a_file_of_blank_heads_has_words_and_no_trees(tmp_path: Path) -> None:
    gold = read(tmp_path, row(1, "Fog", "_", "_") + row(2, "lifts", "_", "_") + "\n")
    assert set(gold.columns) == {"word", "upos", "tag"}


def test_an_output_without_a_system_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="P219"):
        load_reader("conllu").read_outputs(tmp_path / "x.conllu", system=None, options={})


values = st.text(st.characters(exclude_characters="\t\n\r", exclude_categories=["Cs"]), min_size=1, max_size=4)


@st.composite
def sentences(draw: st.DrawFn) -> dict[str, tuple[object, ...]]:
    words = tuple(draw(st.lists(values, min_size=1, max_size=5)))
    order = draw(st.permutations(range(1, len(words) + 1)))
    heads = {word: draw(st.sampled_from(order[:k])) if k else 0 for k, word in enumerate(order)}
    named = {name: tuple(draw(values) for _ in words) for name in ("upos", "tag", "relation")}
    return {"word": words, "head": tuple(heads[k + 1] for k in range(len(words))), **named}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(given_=st.lists(sentences(), min_size=1, max_size=4), numbered=st.booleans(), blind=st.booleans())
def test_what_is_written_is_read_again(
    tmp_path: Path, given_: list[dict[str, tuple[object, ...]]], numbered: bool, blind: bool
) -> None:
    columns = {name: tuple(one[name] for one in given_) for name in given_[0] if not (blind and name in {"head", "relation"})}
    columns["document"] = tuple(f"d{k // 2}" for k in range(len(given_)))
    ids = tuple(str(k + 1) if numbered else f"s{k}" for k in range(len(given_)))
    reader = load_reader("conllu")
    reader.write(tmp_path / "x.conllu", columns, ids)
    again = reader.read_gold([tmp_path / "x.conllu"], {})
    assert again is not None
    assert dict(again.columns) == columns
    assert (again.ids, again.numbered) == (ids, numbered)


@pytest.mark.parametrize("words", [(), ("",), ("a\tb",), ("a\nb",)])
def test_words_that_could_not_be_read_again_are_not_written(tmp_path: Path, words: tuple[str, ...]) -> None:
    with pytest.raises(ValueError):
        load_reader("conllu").write(tmp_path / "x.conllu", {"word": (words,)}, ("1",))
