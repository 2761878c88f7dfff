"""Base noun phrases made from dependency trees: what they hold and where they end, on trees drawn by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from reference_systems.base_noun_phrases import BaseNounPhraseReader, mark_base_noun_phrases

TREES = {
    "[The very old tree] of [a village] fell": "The DET 4 det, very ADV 3 advmod, old ADJ 4 amod, tree NOUN 8 nsubj, of ADP 7 case,"
    " a DET 7 det, village NOUN 4 nmod, fell VERB 0 root",
    # A possessor is a phrase of its own, and its mark begins the next one; a pronoun that possesses is within.
    "[Rockwell] ['s new unit] sold [its boats]": "Rockwell PROPN 4 nmod:poss, 's PART 1 case, new ADJ 4 amod, unit NOUN 5 nsubj,"
    " sold VERB 0 root, its PRON 7 nmod:poss, boats NOUN 5 obj",
    # Nouns that are joined are two phrases, adjectives that are joined are within one.
    "[cats] and [small , red and blue dogs]": "cats NOUN 0 root, and CCONJ 8 cc, small ADJ 8 amod, , PUNCT 5 punct, red ADJ 3 conj,"
    " and CCONJ 7 cc, blue ADJ 3 conj, dogs NOUN 1 conj",
    # The rest of a name and a number follow the head; a clause and what else follows do not belong to it.
    "[John Smith] saw [Boeing 747] [that] crashed": "John PROPN 3 nsubj, Smith PROPN 1 flat, saw VERB 0 root, Boeing PROPN 3 obj,"
    " 747 NUM 4 nummod, that PRON 7 nsubj, crashed VERB 4 acl:relcl",
    # A number in the place of a noun is a phrase; one that only counts is not one by itself.
    "[two] of [the three flights] leave": "two NUM 6 nsubj, of ADP 5 case, the DET 5 det, three NUM 5 nummod, flights NOUN 1 nmod,"
    " leave VERB 0 root",
    # The comma before an apposition is in neither phrase.
    "[Nihad] , [executive director] left": "Nihad PROPN 5 nsubj, , PUNCT 4 punct, executive ADJ 4 amod, director NOUN 1 appos,"
    " left VERB 0 root",
    # The second of two modifiers is one as well, and no phrase; the second of two numbers that are phrases is another.
    "[the Bill and Melinda Fund] gave [5] or [6]": "the DET 5 det, Bill PROPN 5 compound, and CCONJ 4 cc, Melinda PROPN 2 conj,"
    " Fund PROPN 6 nsubj, gave VERB 0 root, 5 NUM 6 obj, or CCONJ 9 cc, 6 NUM 7 conj",
    # What stands between a modifier and its head parts them.
    "all of [trees]": "all DET 3 det, of ADP 3 case, trees NOUN 0 root",
    "go away !": "go VERB 0 root, away ADV 1 advmod, ! PUNCT 1 punct",
}


def take_apart(tree):
    rows = [word.strip().rsplit(" ", 3) for word in tree.replace(", ,", ", ;").split(", ")]
    return [("," if row[0] == ";" else row[0], row[1], int(row[2]), row[3]) for row in rows]


def bracketed(words, chunks):
    shown = [("[" if chunk == "B-NP" else "") + word for word, chunk in zip(words, chunks, strict=True)]
    for place, chunk in enumerate(chunks):
        if chunk != "O" and (place + 1 == len(chunks) or chunks[place + 1] != "I-NP"):
            shown[place] += "]"
    return " ".join(shown)


@pytest.mark.parametrize("expected", TREES)
def test_phrases_of_a_tree(expected):
    words, tags, heads, relations = zip(*take_apart(TREES[expected]), strict=True)
    assert bracketed(words, mark_base_noun_phrases(tags, heads, relations)) == expected


def test_a_treebank_is_read_with_its_phrases_and_outputs_are_read_as_they_were_written(tmp_path: Path):
    rows = take_apart(TREES["[two] of [the three flights] leave"])
    lines = [f"{k}\t{w}\t_\t{t}\t_\t_\t{h}\t{r}\t_\t_" for k, (w, t, h, r) in enumerate(rows, start=1)]
    (tmp_path / "trees.conllu").write_text("# sent_id = s1\n" + "\n".join(lines) + "\n\n", "utf-8")
    reader = BaseNounPhraseReader()
    gold = reader.read_gold([tmp_path / "trees.conllu"], {})
    assert gold is not None
    assert set(gold.columns) == {"word", "tag", "chunk"}  # heads would tell where phrases are
    assert gold.columns["tag"] == (("NUM", "ADP", "DET", "NUM", "NOUN", "VERB"),)
    assert gold.columns["chunk"] == (("B-NP", "O", "B-NP", "I-NP", "I-NP", "O"),)
    reader.write(tmp_path / "chunks.txt", gold.columns, gold.ids)
    output = reader.read_outputs(tmp_path / "chunks.txt", system="a", options={})["a"]
    assert output.columns["chunk"] == gold.columns["chunk"]
    assert reader.read_gold([], {}) is None


def test_trees_behind_tagged_sentences_have_tags_of_that_kind_and_the_same_phrases(tmp_path: Path):
    rows = take_apart(TREES["[two] of [the three flights] leave"])
    lines = [f"{k}\t{w}\t_\t{t}\t_\t_\t{h}\t{r}\t_\t_" for k, (w, t, h, r) in enumerate(rows, start=1)]
    (tmp_path / "trees.conllu").write_text("\n".join(lines) + "\n\n", "utf-8")
    known = ["Two CD B-NP", "of IN O", "The DT B-NP", "three CD I-NP", "nights NNS I-NP", "leave VBP O"]
    (tmp_path / "known.txt").write_text("\n".join(known) + "\n\n", "utf-8")
    reader = BaseNounPhraseReader()
    plain = reader.read_gold([tmp_path / "trees.conllu"], {})
    tagged = reader.read_gold([tmp_path / "known.txt", tmp_path / "trees.conllu"], {})
    assert plain is not None
    assert tagged is not None
    assert list(tagged.columns["tag"]) == [("CD", "IN", "DT", "CD", "NNS", "VBP")]
    assert {**tagged.columns, "tag": ()} == {**plain.columns, "tag": ()}
