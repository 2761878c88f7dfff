"""Words with their times go to the segments that sclite scores them in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.studies import run_cli

from pipeline.errors import DataError
from pipeline.interfaces import Items
from pipeline.items.readers import load_reader
from pipeline.items.readers.ctm import CtmReader
from pipeline.metrics import load_metric
from pipeline.testing import ReaderContract, ReaderExample

GOLD = """;; two calls
sw1 A ann 0.50 2.00 <o,f> so you { saw / see } it
sw1 A ann 2.00 3.50 <o,f> (uh) nobody came
sw1 A ann 3.50 5.00 IGNORE_TIME_SEGMENT_IN_SCORING
sw1 A ann 5.00 6.00 <o,f>
sw1 B ben 0.00 4.00 <o,m> going home
sw2 A eve 1.00 2.00 <n,f> yes
"""
WORDS = """;; words need not be in order
sw1 A 0.10 0.20 oh 0.99
sw1 A 1.40 1.00 see 0.80
sw1 A 0.60 0.30 you 0.97
sw1 A 1.90 0.20 nobody 0.75
sw1 A 3.00 0.30 came 0.51
sw1 A 4.00 0.50 cough 0.51
sw1 A 9.00 0.50 bye 0.51
sw1 B 0.50 0.20 @ 0.3
sw1 B 1.50 0.20 home 0.3
"""


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def gold_of(folder: Path, text: str = GOLD, columns: dict[str, str] | None = None, **options: Any) -> Items:
    reader = load_reader({"name": "ctm", **options})
    gold = reader.read_gold([write(folder, "gold.stm", text)], {"columns": columns or {}})
    assert gold is not None
    return gold


def words_of(folder: Path, text: str = WORDS) -> Items:
    return load_reader("ctm").read_outputs(write(folder, "north.ctm", text), system="north", options={})["north"]


def fitted(folder: Path, words: str = WORDS, gold: str = GOLD) -> Items:
    return load_reader("ctm").fit(gold_of(folder, gold), words_of(folder, words))


class TestCtm(ReaderContract):
    def example(self) -> ReaderExample:
        items = (b"sw1 A 0.10 0.20 oh 0.99\nsw1 A 1.00 0.50 see\n", b"sw1 B 0.50 0.20 well 0.3\n", b"sw2 A 1.00 0.10 yes\n")
        return ReaderExample(CtmReader, items, gold={"gold.stm": GOLD.encode()}, file="north.ctm", writes=False)


def test_a_segment_is_an_item_and_has_what_may_be_said(tmp_path: Path) -> None:
    gold = gold_of(tmp_path, columns={"sex": "label.2"})
    assert gold.ids == ("sw1-A-0.50-2.00", "sw1-A-2.00-3.50", "sw1-A-5.00-6.00", "sw1-B-0.00-4.00", "sw2-A-1.00-2.00")
    assert gold.lines == (2, 3, 5, 6, 7)
    assert gold.columns["reference.0"] == ("so you saw it", "uh nobody came", "", "going home", "yes")
    assert gold.columns["reference.alternatives"][1] == ((("uh",), ("",)), (("nobody",),), (("came",),))
    assert gold.columns["document"] == ("sw1", "sw1", "sw1", "sw1", "sw2")
    assert gold.columns["speaker"] == ("ann", "ann", "ann", "ben", "eve")
    assert gold.columns["sex"] == ("f", "f", "f", "m", "f")
    assert gold_of(tmp_path, optional=False).columns["reference.0"][1] == "(uh) nobody came"


def test_a_word_goes_to_the_first_segment_that_ends_after_its_middle(tmp_path: Path) -> None:
    output = fitted(tmp_path)
    # `oh` begins before any segment; the middle of `nobody` is the end of the first one, so it is in the second; `cough` is in one
    # that is not scored; `bye` comes after the last one. Of sw2 there is no word: its segment is missing, and not empty.
    assert dict(zip(output.ids, output.columns["text"], strict=True)) == {
        "sw1-A-0.50-2.00": "oh you see",
        "sw1-A-2.00-3.50": "nobody came",
        "sw1-A-5.00-6.00": "bye",
        "sw1-B-0.00-4.00": "home",
    }
    wer = load_metric("wer")
    gold = gold_of(tmp_path, GOLD[: GOLD.index("sw2")])
    assert wer.extract(wer.prepare(gold), output).values.tolist() == [[2, 4], [0, 3], [1, 0], [1, 2]]


def test_no_word_goes_before_one_that_began_earlier(tmp_path: Path) -> None:
    gold = "a 1 s 0 1.0 long\na 1 s 1.0 2.0 short\n"
    # `long` begins first and has its middle in the second segment; `short` has its own in the first, and follows all the same.
    output = fitted(tmp_path, "a 1 0.5 2.0 long\na 1 0.6 0.2 short\n", gold)
    assert output.columns["text"] == ("", "long short")


def test_what_lies_outside_the_gold_is_told(tmp_path: Path) -> None:
    output = fitted(tmp_path, WORDS + "sw9 A 1.0 0.1 stray\n")
    (warning,) = output.warnings
    assert "1 channels, the first is 'sw9 A'" in warning
    with pytest.raises(DataError) as caught:
        fitted(tmp_path, "sw1 1 1.0 0.1 stray\n")
    (problem,) = caught.value.problems
    assert problem.code == "P217"
    assert "'sw1 1'" in problem.message
    assert "'sw1 A'" in problem.message


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("sw1 A 0.1 oh", "not a word with its time"),
        ("sw1 A 0.1 -0.2 oh", "not a word with its time"),
        ("sw1 A 1e9 0.2 oh", "not a word with its time"),
        ("sw1 A * * <ALT_BEGIN>", "alternatives"),
    ],
)
def test_a_line_that_is_no_word_is_refused(tmp_path: Path, line: str, words: str) -> None:
    with pytest.raises(DataError) as caught:
        words_of(tmp_path, f"sw1 A 0.10 0.20 oh\n{line}\n")
    (problem,) = caught.value.problems
    assert (problem.code, str(problem.where).rpartition("/")[2]) == ("P264", "north.ctm:2")
    assert words in problem.message


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("sw1 A ann 0.5 words", "P264"),
        ("sw1 A ann 2.0 1.0 words", "P264"),
        ("sw1 A ann 2.0 3.0 { a / b", "P264"),
        ("sw1 A eve 0.5 2.0 twice", "P209"),
    ],
)
def test_a_line_that_is_no_segment_is_refused(tmp_path: Path, line: str, code: str) -> None:
    with pytest.raises(DataError) as caught:
        gold_of(tmp_path, f"sw1 A ann 0.5 2.0 words\n{line}\n")
    (problem,) = caught.value.problems
    assert (problem.code, str(problem.where).rpartition("/")[2]) == (code, "gold.stm:2")


@pytest.mark.parametrize(("text", "what"), [(";; nothing\n", "word"), ("a 1 s 0 1 IGNORE_TIME_SEGMENT_IN_SCORING\n", "segment")])
def test_a_file_of_nothing_is_refused(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(DataError, match=f"P264.*no {what}"):
        (words_of if what == "word" else gold_of)(tmp_path, text)


def test_recognisers_are_compared_without_naming_a_format(tmp_path: Path) -> None:
    gold = "".join(f"c{k} A s{k} 0.0 2.0 one two three four\n" for k in range(12))
    write(tmp_path, "gold.stm", gold)
    for name, said in (("north", "one two three four"), ("south", "one too three for")):
        places = "".join(f"c{k} A {0.1 + 0.4 * i:.1f} 0.2 {word}\n" for k in range(12) for i, word in enumerate(said.split()))
        write(tmp_path, f"{name}.ctm", places)
    done = run_cli("compare", "north.ctm", "south.ctm", "-r", "gold.stm", cwd=tmp_path)
    assert "north.ctm is read as ctm: every line has a recording, a channel and two times" in done.stderr
    assert {line.split()[1]: line.split()[2] for line in done.stdout.splitlines() if line.startswith("   ")} == {
        "north": "0.000",
        "south": "50.000",
    }
