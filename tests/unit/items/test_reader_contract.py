"""Every reader of the package meets the contract that plugins meet: one class a format, with a file of ours in pieces."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pipeline.errors import DataError
from pipeline.interfaces import FileSample, Items, Recognised
from pipeline.items.readers.bitext import BitextReader
from pipeline.items.readers.brackets import BracketReader
from pipeline.items.readers.columns import ColumnsReader
from pipeline.items.readers.conllu import ConlluReader
from pipeline.items.readers.labels import LabelReader
from pipeline.items.readers.links import LinksReader
from pipeline.items.readers.scores import ScoreReader
from pipeline.items.readers.tagged import TaggedReader
from pipeline.items.readers.text import TextReader
from pipeline.items.readers.trec import TrecReader
from pipeline.testing import ReaderContract, ReaderExample


def below(header: bytes):
    """Put a line above the pieces."""

    def join(pieces: Sequence[bytes]) -> bytes:
        return header + b"".join(pieces)

    return join


class TestText(ReaderContract):
    def example(self) -> ReaderExample:
        references = {"ref.0.txt": b"the ship left\nnobody saw it\n", "ref.1.txt": b"the boat left\nno one did\n"}
        return ReaderExample(
            TextReader, (b"the ship sailed\n", "niemand sah es\u2028ja\n".encode()), gold=references, numbered=True
        )


class TestLabels(ReaderContract):
    def example(self) -> ReaderExample:
        return ReaderExample(LabelReader, (b"noun\n", b"verb\n", b"noun\n"), gold={"gold": b"noun\nverb\nverb\n"}, numbered=True)


class TestTableOfLabels(ReaderContract):
    def example(self) -> ReaderExample:
        gold = {"gold.csv": b"id,label\nq1,yes\nq2,no\nq3,yes\n"}
        return ReaderExample(LabelReader, (b"q1,yes\n", b"q2,no\n", b'"q,3","n ""o"""\n'), below(b"id,label\n"), gold=gold)


class TestScores(ReaderContract):
    def example(self) -> ReaderExample:
        rows = (b"q1\t0.71\t0.640\n", b"q2\t1\t-2e-1\n", b"q3\t.5\t0\n")
        return ReaderExample(ScoreReader, rows, below(b"item\tnorth\tsouth\n"), system=None, file="all.tsv")


class TestScoresOfOneSystem(ReaderContract):
    def example(self) -> ReaderExample:
        return ReaderExample(ScoreReader, (b"q1,0.71,3\n", b"q2,1,4\n"), below(b"id,f1,cost\n"), file="north.csv")


class TestColumns(ReaderContract):
    def example(self) -> ReaderExample:
        sentences = (b"Nell NNP B-NP\nsings VBZ B-VP\nold JJ B-NP\nsongs NNS I-NP\n\n", b"She PRP B-NP\nleft VBD O\n\n")
        gold = {"gold": b"-DOCSTART- letter1 O\n\n" + b"".join(sentences).replace(b"left VBD O", b"left VBD B-VP")}
        return ReaderExample(ColumnsReader, sentences, gold=gold, numbered=True)


class TestTagged(ReaderContract):
    def example(self) -> ReaderExample:
        gold = {"gold": b"# doc letter1\nNell/np sings/vbz ./.\nshe/pps left/vbd\n"}
        return ReaderExample(TaggedReader, (b"Nell/np sings/nns ./.\n", b"she/pps either/or/cc\n"), gold=gold, numbered=True)


class TestConllu(ReaderContract):
    def example(self) -> ReaderExample:
        first = b"# sent_id = h-1\n1\tGulls\t_\tNOUN\tNNS\t_\t2\tnsubj\t_\t_\n2\tcry\t_\tVERB\tVBP\t_\t0\troot\t_\t_\n\n"
        second = b"# sent_id = h-2\n1\tFog\t_\tNOUN\tNN\t_\t0\troot\t_\t_\n\n"
        return ReaderExample(ConlluReader, (first, second), gold={"gold.conllu": first + second}, file="north.conllu")


class TestLinks(ReaderContract):
    def example(self) -> ReaderExample:
        gold = {"bitext": b"the red boat ||| das rote Boot\nfog ||| Nebel kommt\n", "links": b"0-0 2-2 1p1\n0-0 0p1\n"}
        return ReaderExample(LinksReader, (b"0-0 1-1\n", b"0-0\n"), gold=gold, numbered=True)


class TestBitext(ReaderContract):
    def example(self) -> ReaderExample:
        return ReaderExample(BitextReader, (b"the red boat ||| das rote Boot\n", b"fog ||| Nebel\n"), numbered=True, outputs=False)


class TestBrackets(ReaderContract):
    def example(self) -> ReaderExample:
        trees = (b"( (S (NP (NNP Nell)) (VP (VBZ sings))) )\n", b"(S (NP (PRP She))\n   (VP (VBD left)))\n")
        return ReaderExample(BracketReader, trees, gold={"gold": b"# doc letter1\n" + b"".join(trees)}, numbered=True)


class TestTrec(ReaderContract):
    def example(self) -> ReaderExample:
        lines = (b"q1 Q0 d1 1 7.5 north\nq1 Q0 d2 2 7.5 north\n", b"q2 Q0 d1 1 -1e-3 north\n", b"q3\tQ0  d9 1 4 north\n")
        return ReaderExample(TrecReader, lines, gold={"qrels": b"q1 0 d1 1\nq1 0 d2 -1\nq2 0 d7 2\n"}, writes=False)


class TestTrecRunsByTag(ReaderContract):
    def example(self) -> ReaderExample:
        lines = (b"q1 Q0 d1 1 7.5 north\n", b"q1 Q0 d2 2 7 south\n", b"q2 Q0 d1 1 1 south\n", b"q2 Q0 d3 1 1 north\n")
        return ReaderExample(TrecReader, lines, system=None, writes=False)


class _Careless:
    """A reader that breaks the contract: it drops what it does not know, and falls over what it does not expect."""

    name = "careless"
    targets = ()
    compares_with = "nothing"
    usual_metric = None
    blank = ""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    @staticmethod
    def recognise(sample: FileSample) -> Recognised:
        return Recognised(0.3, "anything")

    def read_gold(self, paths, options):
        return None

    def read_outputs(self, path, *, system, options):
        if not path.is_file():
            raise DataError.of("P201", "not there")
        rows = [line.split() for line in path.read_text().splitlines()]
        ids = tuple(row[0] for row in rows)
        items = Items(ids, {"score": tuple(row[1] for row in rows)}, str(path), tuple(range(1, len(rows) + 1)), False)
        return {system: Items(ids, items.columns, str(path), items.lines, False, published={"f1": 0.5})}

    def write(self, path, columns, ids):
        path.write_text("".join(f"{name} {score}0\n" for name, score in zip(ids, columns["score"], strict=True)))


class _OfCareless(ReaderContract):
    fuzz_examples, fuzz_shrinks = 20, False

    def example(self) -> ReaderExample:
        return ReaderExample(_Careless, (b"q1 0.5\n", b"q2 0.7\n"))


@pytest.mark.parametrize(
    ("claim", "says"),
    [
        ("test_items_of_its_example_are_whole", "what is published is not a column"),
        ("test_the_same_content_is_the_same_compressed_or_not", "decode"),
        ("test_a_byte_order_mark_and_carriage_returns_change_nothing", "mark"),
        ("test_a_file_that_is_not_there_empty_or_no_text_is_refused", "not a column|decode|index out of range"),
        ("test_garbled_files_are_read_or_refused_with_a_data_error", "not a column|decode|index out of range|distinct"),
        ("test_what_is_written_is_read_back", "read as something else"),
        ("test_it_recognises_its_own_file_and_no_other_reader_is_as_sure", "does not recognise"),
    ],
)
def test_the_contract_finds_what_a_careless_reader_does(claim, says, tmp_path):
    with pytest.raises((AssertionError, IndexError, ValueError, BaseExceptionGroup), match=says):
        getattr(_OfCareless(), claim)(tmp_path)
