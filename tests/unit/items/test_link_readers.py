"""Word alignments and bitexts: notations, bases, files side by side; what is refused, and that writing is undone by reading."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.errors import DataError
from pipeline.interfaces import Items
from pipeline.items.readers import load_reader

PAIRS = "the red boat ||| das rote Boot\nfog ||| Nebel kommt\n"


def files(folder: Path, *texts: str) -> list[Path]:
    paths = [folder / f"file{k}.txt" for k in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    return paths


def gold(folder: Path, *texts: str, **columns: str) -> Items:
    items = load_reader("links").read_gold(files(folder, *texts), {"columns": columns})
    assert items is not None
    return items


def output(folder: Path, text: str, **columns: str) -> Items:
    return load_reader("links").read_outputs(files(folder, text)[0], system="x", options={"columns": columns})["x"]


def refused(folder: Path, *texts: str, **columns: str) -> DataError:
    with pytest.raises(DataError) as caught:
        gold(folder, *texts, **columns)
    return caught.value


def test_sure_and_possible_links_are_told_apart_and_the_sure_are_possible_too(tmp_path: Path) -> None:
    items = gold(tmp_path, PAIRS, "0-0 2-2 1p1 0p0\n\n")
    assert items.columns["source"] == (("the", "red", "boat"), ("fog",))
    assert items.columns["target"] == (("das", "rote", "Boot"), ("Nebel", "kommt"))
    assert items.columns["sure"] == (((0, 0), (2, 2)), ())
    assert items.columns["possible"] == (((0, 0), (1, 1), (2, 2)), ())


def test_the_first_word_is_0_or_1_as_the_study_says_or_the_file_itself(tmp_path: Path) -> None:
    plain = gold(tmp_path, PAIRS, "0-0 1p2\n0-1\n")
    assert gold(tmp_path, PAIRS, "1-1 2p3\n1-2\n", base="1").columns == plain.columns
    said = gold(tmp_path, PAIRS, "# base: 1\n1-1 2p3\n1-2\n")
    assert said.columns == plain.columns
    assert said.ids == ("1", "2")
    assert output(tmp_path, "# base: 0\n0-1 0-0\n", base="1").columns["link"] == (((0, 0), (0, 1)),)
    assert output(tmp_path, "2-1 1-1\n", base="1").columns["link"] == (((0, 0), (1, 0)),)


def test_one_file_may_hold_pairs_and_links(tmp_path: Path) -> None:
    together = gold(tmp_path, "the red boat ||| das rote Boot ||| 0-0 2-2 1p1\nfog ||| Nebel kommt |||\n")
    assert together.columns == gold(tmp_path, PAIRS, "0-0 2-2 1p1\n\n").columns


@pytest.mark.parametrize("links", ["0-0 2-2 1p1\n\n0-1\n", "1 1 1 S\n1 3 3 S\n1 2 2 P\n3 1 2 S\n"])
def test_links_need_no_sentences(tmp_path: Path, links: str) -> None:
    alone = gold(tmp_path, links)
    assert dict(alone.columns) == {
        "sure": (((0, 0), (2, 2)), (), ((0, 1),)),
        "possible": (((0, 0), (1, 1), (2, 2)), (), ((0, 1),)),
    }
    assert gold(tmp_path, "# base: 1\n1-1 3-3 2p2\n\n1-2\n").columns == alone.columns


def test_a_gold_that_holds_neither_links_nor_pairs_is_refused_with_its_line(tmp_path: Path) -> None:
    (problem,) = refused(tmp_path, "0-0\nthe red boat\n").problems
    assert (problem.code, problem.where) == ("P253", f"{tmp_path / 'file0.txt'}:2")


def test_source_and_target_may_be_two_files(tmp_path: Path) -> None:
    items = gold(tmp_path, "the red boat\nfog\n", "das rote Boot\nNebel kommt\n", "0-0\n0-1\n")
    assert items.columns == gold(tmp_path, PAIRS, "0-0\n0-1\n").columns


def test_the_notation_of_the_shared_task_is_read_alike(tmp_path: Path) -> None:
    naacl = gold(tmp_path, PAIRS, "0001 1 1 S\n0001 2 2 P\n0002 1 2 S 0.9\n0002 0 1 S\n")
    assert naacl.columns == gold(tmp_path, PAIRS, "0-0 1p1\n0-1\n").columns
    assert output(tmp_path, "1 1 1\n3 0 0\n").columns["link"] == (((0, 0),), (), ())


def test_a_no_break_space_is_part_of_a_word(tmp_path: Path) -> None:
    assert gold(tmp_path, "5\u00a0% more ||| mehr", "1-0\n").columns["source"] == (("5\u00a0%", "more"),)


@pytest.mark.parametrize(("line", "base", "other"), [("3-3", "0", "1"), ("0-0", "1", "0")])
def test_a_link_beyond_its_sentence_is_refused_and_the_other_base_offered(tmp_path: Path, line: str, base: str, other: str) -> None:
    (problem,) = refused(tmp_path, "fog in May ||| Nebel im Mai\n", f"{line}\n", base=base).problems
    assert problem.code == "P254"
    assert problem.where == f"{tmp_path / 'file1.txt'}:1"
    assert f'base: "{other}"' in (problem.help or "")


def test_the_other_base_is_not_offered_where_it_does_not_fit_either(tmp_path: Path) -> None:
    (problem,) = refused(tmp_path, PAIRS, "0-0 3-3\n\n").problems
    assert problem.code == "P254"
    assert "base:" not in (problem.help or "")


@pytest.mark.parametrize(
    ("texts", "code", "place"),
    [
        ((PAIRS, "0-0\n0:1\n"), "P253", "file1.txt:2"),
        ((PAIRS, "0-0\n"), "P255", "file1.txt"),
        ((PAIRS, "1 1 1 S\n3 1 1 S\n"), "P253", "file1.txt:2"),
        ((PAIRS, "1 1 1 S\n1 1\n"), "P253", "file1.txt:2"),
        (("the ||| boat\nfog\n", "0-0\n\n"), "P255", "file0.txt:2"),
        (("the boat\n", "0-0\n"), "P255", "file0.txt:1"),
        (("the\nboat\n", "das\n", "0-0\n"), "P255", "file1.txt"),
        (("a ||| b ||| 0-0\na ||| b\n",), "P255", "file0.txt:2"),
        (("a ||| b ||| 0-0\na ||| b ||| 1-0\n",), "P254", "file0.txt:2"),
    ],
)
def test_what_does_not_fit_together_is_refused_with_its_line(tmp_path: Path, texts: tuple[str, ...], code: str, place: str) -> None:
    (problem,) = refused(tmp_path, *texts).problems
    assert problem.code == code
    assert problem.where == str(tmp_path / place)


def test_a_base_that_is_neither_0_nor_1_is_refused(tmp_path: Path) -> None:
    assert refused(tmp_path, PAIRS, "0-0\n\n", base="2").problems[0].code == "P254"


words = st.lists(
    st.text(st.characters(exclude_characters=" \t\n\r|", exclude_categories=["Cs"]), min_size=1, max_size=3), max_size=4
)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[tuple[str, ...], tuple[str, ...], tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
    source, target = tuple(draw(words)), tuple(draw(words))
    every = [(i, j) for i in range(len(source)) for j in range(len(target))]
    possible = sorted(draw(st.sets(st.sampled_from(every)))) if every else []
    sure = sorted(draw(st.sets(st.sampled_from(possible)))) if possible else []
    return source, target, tuple(sure), tuple(possible)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(made=st.lists(pairs(), min_size=1, max_size=4), base=st.sampled_from("01"))
def test_what_is_written_is_read_again_whatever_the_base_of_the_study(
    tmp_path: Path, made: list[tuple[object, ...]], base: str
) -> None:
    columns = dict(zip(("source", "target", "sure", "possible"), zip(*made, strict=True), strict=True))
    ids = tuple(str(k + 1) for k in range(len(made)))
    reader, path, options = load_reader("links"), tmp_path / "x.txt.gz", {"columns": {"base": base}}
    reader.write(path, columns, ids)
    again = reader.read_gold([path], options)
    assert again is not None
    assert dict(again.columns) == columns
    alone = {name: columns[name] for name in ("sure", "possible")}
    reader.write(path, alone, ids)
    again = reader.read_gold([path], options)
    assert again is not None
    assert dict(again.columns) == alone
    reader.write(path, {"link": columns["possible"]}, ids)
    assert reader.read_outputs(path, system="x", options=options)["x"].columns["link"] == columns["possible"]
    blind = {name: columns[name] for name in ("source", "target")}
    for name in ("links", "bitext"):
        load_reader(name).write(path, blind, ids)
        plain = load_reader(name).read_gold([path], options)
        assert plain is not None
        assert dict(plain.columns) == blind
        assert plain.ids == ids


def test_a_bitext_is_one_file_or_two_and_files_follow_one_another(tmp_path: Path) -> None:
    reader = load_reader("bitext")
    assert reader.targets == ()
    one = reader.read_gold(files(tmp_path, PAIRS, "rain ||| Regen\n"), {})
    two = reader.read_gold(files(tmp_path, "the red boat\nfog\n", "das rote Boot\nNebel kommt\n", "rain\n", "Regen\n"), {})
    assert one is not None
    assert two is not None
    assert one.columns == two.columns
    assert one.ids == two.ids == ("1", "2", "3")


def test_a_bitext_is_no_output(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="P219"):
        load_reader("bitext").read_outputs(files(tmp_path, PAIRS)[0], system="x", options={})


@pytest.mark.parametrize("word", ["", "a b", "|||", "a\tb"])
def test_words_that_could_not_be_read_again_are_not_written(tmp_path: Path, word: str) -> None:
    for name in ("links", "bitext"):
        with pytest.raises(ValueError, match="word"):
            load_reader(name).write(tmp_path / "x", {"source": ((word,),), "target": (("b",),)}, ("1",))
