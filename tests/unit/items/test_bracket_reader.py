"""Bracketed trees: what normal trees are, what is refused and where, and that what is written is read again."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.errors import DataError
from pipeline.interfaces import Items
from pipeline.items.readers import load_reader
from pipeline.items.readers.brackets import normalise


def read(folder: Path, text: str) -> Items:
    path = folder / "gold.mrg"
    path.write_text(text)
    gold = load_reader("brackets").read_gold([path], {})
    assert gold is not None
    return gold


@pytest.mark.parametrize(
    ("given_", "normal"),
    [
        ("( (S (NP (NN fog)) (VP (VBZ lifts))))", "(S (NP (NN fog)) (VP (VBZ lifts)))"),
        ("(TOP (S (NN fog)))", "(S (NN fog))"),
        ("(ROOT(S(NN fog)))", "(S (NN fog))"),
        ("(TOP (UH Yes))", "(UH Yes)"),
        ("(UH Yes)", "(UH Yes)"),
        ("( (S (NN fog)) (. .))", "(TOP (S (NN fog)) (. .))"),
        ("(S (NP-SBJ-1 (NN fog)) (VP=2 (VB go)) (PP|ADV (IN on)))", "(S (NP (NN fog)) (VP (VB go)) (PP|ADV (IN on)))"),
        ("(S (NP (-NONE- *-1)) (VP (VB go) (SBAR (-NONE- 0) (S (-NONE- *T*)))))", "(S (VP (VB go)))"),
        ("(S (-LRB- -LRB-) (NP-x (NN-y a-b)))", "(S (-LRB- -LRB-) (NP (NN-y a-b)))"),
        ("(S (PRT (RP up)))", "(S (PRT (RP up)))"),
        ("(())", ""),
        ("()", ""),
        ("(S (NP (-NONE- *)))", ""),
        ("(TOP (ROOT (NN a)))", "(NN a)"),
        ("( (ROOT (NN a) (NN b)))", "(TOP (NN a) (NN b))"),
    ],
)
def test_traces_functions_and_a_root_that_says_nothing_are_left_out(given_: str, normal: str) -> None:
    assert normalise(given_) == normal
    assert normalise(normal or "()") == normal


def test_words_and_tags_are_the_leaves_with_punctuation(tmp_path: Path) -> None:
    gold = read(tmp_path, "( (S (NP (-NONE- *)) (VP (VB Go)) (. !)))\n")
    assert gold.columns == {"tree": ("(S (VP (VB Go)) (. !))",), "word": (("Go", "!"),), "tag": (("VB", "."),)}


def test_trees_stand_on_a_line_or_on_several_and_documents_between_them(tmp_path: Path) -> None:
    text = "# doc one\n( (S\n   (NN fog)\n\n   (# #)))\n\n# made up\n(S (NN a)) (S (NN b))\n# doc two\n(S (NN c))\n"
    gold = read(tmp_path, text)
    assert gold.columns["tree"] == ("(S (NN fog) (# #))", "(S (NN a))", "(S (NN b))", "(S (NN c))")
    assert gold.columns["document"] == ("one", "one", "one", "two")
    assert gold.lines == (2, 8, 8, 10)
    assert gold.ids == ("1", "2", "3", "4")


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("(S (NN a))\n(S (NN b)\n(S (NN c))\n", 2, "1 bracket is not closed"),
        ("(S (NN a)))\n", 1, "closed that was not opened"),
        ("(S (NN a))\nfog\n", 2, "'fog' stands outside"),
        ("\n(S (NN a) b)\n", 2, "'b' stands beside phrases"),
        ("(S (NP\n(NN a b)))\n", 1, "neither a word nor a phrase"),
        ("(S ((NN a)))\n", 1, "no label"),
        ("(S (NN a))\n(())\n", 2, "no word"),
        ("# doc x\n", 0, "no tree"),
    ],
)
def test_brackets_that_are_no_trees_are_refused_with_their_line(tmp_path: Path, text: str, line: int, says: str) -> None:
    with pytest.raises(DataError) as caught:
        read(tmp_path, text)
    (problem,) = caught.value.problems
    assert problem.code == "P256"
    assert says in problem.message
    assert problem.where == str(tmp_path / "gold.mrg") + (f":{line}" if line else "")


def test_depth_is_no_limit(tmp_path: Path) -> None:
    depth = 20_000
    deep = "(NP " * depth + "(NN x)" + ")" * depth
    assert read(tmp_path, f"{deep}\n").columns["tree"] == (deep,)


def test_an_output_may_have_given_up_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "x.mrg").write_text("(())\n(S (NN a))\n")
    items = load_reader("brackets").read_outputs(tmp_path / "x.mrg", system="x", options={})["x"]
    assert items.columns["tree"] == ("", "(S (NN a))")
    assert items.columns["word"] == ((), ("a",))


atoms = st.text(st.characters(exclude_characters="()", exclude_categories=["Cs", "Z", "C"]), min_size=1, max_size=3)
labels = st.text("ABCXYZ|", min_size=1, max_size=3)
leaves = st.builds("({} {})".format, atoms.filter(lambda tag: tag != "-NONE-"), atoms)
trees = st.recursive(
    leaves,
    lambda inner: st.builds(lambda label, parts: f"({label} {' '.join(parts)})", labels, st.lists(inner, min_size=1, max_size=3)),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(made=st.lists(trees, min_size=1, max_size=4))
def test_what_is_written_is_read_again(tmp_path: Path, made: list[str]) -> None:
    reader, path = load_reader("brackets"), tmp_path / "x.mrg"
    ids = tuple(str(k + 1) for k in range(len(made)))
    reader.write(path, {"tree": made, "document": ["d"] * len(made)}, ids)
    again = reader.read_gold([path], {})
    assert again is not None
    assert list(again.columns["tree"]) == made
    blind = {name: again.columns[name] for name in ("word", "tag")}
    reader.write(path, blind, ids)
    assert {
        name: values for name, values in reader.read_outputs(path, system="x", options={})["x"].columns.items() if name in blind
    } == blind


def test_a_file_is_written_to_the_byte_and_blanks_are_flat(tmp_path: Path) -> None:
    reader, path = load_reader("brackets"), tmp_path / "x.mrg"
    reader.write(path, {"tree": ("(S (NN a))", ""), "document": ("d", "e")}, ("1", "2"))
    assert path.read_text() == "# doc d\n(S (NN a))\n# doc e\n(())\n"
    reader.write(path, {"word": (("a", "b"),)}, ("1",))
    assert path.read_text() == "(TOP (X a) (X b))\n"


@pytest.mark.parametrize("word", ["", "a b", "(", "a)"])
def test_words_that_could_not_be_read_again_are_not_written(tmp_path: Path, word: str) -> None:
    with pytest.raises(ValueError, match="bracket"):
        load_reader("brackets").write(tmp_path / "x", {"word": ((word,),)}, ("1",))
