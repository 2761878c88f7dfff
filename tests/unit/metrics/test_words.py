"""Words are sacreBLEU's, whatever a text is made of and whatever stands before and after it."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU

from pipeline.metrics._words import Splitter, check_tokenizer

PIECES = (
    *(".", ",", "-", "0", "7", "a", "Ä", "ß", "İ", "Σ", "٣", "²", "…", "–", "'", "\\", "|", "[", "{", "!"),
    *(
        " ",
        "\n",
        "\r",
        "\t",
        "\v",
        "\f",
        "\x1c",
        "\x1f",
        "\x85",
        "\xa0",
        "\u1680",
        "\u200b",
        "\u2028",
        "\u2029",
        "\u3000",
        "\ufeff",
    ),
    *("<skipped>", "<skip", "ped>", "&quot;", "&amp;", "&lt;", "&gt;", "&amp;lt;", "&", "-\n", "...", "1.5", "\ud800", "😀"),
)
TEXTS = st.lists(st.lists(st.one_of(st.sampled_from(PIECES), st.characters(codec=None)), max_size=12).map("".join), max_size=6)


def theirs(texts: list[str], tokenize: str, *, lowercase: bool) -> list[list[str]]:
    metric = BLEU(tokenize=tokenize, lowercase=lowercase, force=True)
    return [metric._preprocess_segment(text).split() for text in texts]


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.sampled_from(("13a", "none")), st.booleans())
@example(["a.,5", "5.,5", "a..5", "5..5", "5...5", "a...5", ".5", "5.", "5,", ",5"], "13a", False)
@example(["-", "5-", "-5", "5--5", "a-5-", "5.-5", "5-.5"], "13a", False)
@example(["ends in \x1c", "\x85begins", "has\u2028one", "and\na line feed", "a word-\nbroken", "-\n", "\n"], "13a", False)
@example(["<skip<skipped>ped>", "-<skipped>\n", "&amp;quot;", "&am<skipped>p;lt;"], "13a", False)
@example(["", " ", ""], "none", True)
def test_words_of_many_texts_are_sacrebleus_of_each(texts: list[str], tokenize: str, lowercase: bool) -> None:
    assert Splitter(tokenize, lowercase=lowercase)(texts) == theirs(texts, tokenize, lowercase=lowercase)


def test_every_character_is_split_as_sacrebleu_splits_it() -> None:
    for form in ("a{0}b", "1{0}.5,{0}-{0}"):
        texts = [form.format(chr(code)) for code in range(sys.maxunicode + 1) if code < 0x3100 or code % 997 == 0]
        assert Splitter("13a", lowercase=False)(texts) == theirs(texts, "13a", lowercase=False)


def test_every_order_of_marks_and_digits_is_split_as_sacrebleu_splits_it() -> None:
    texts = ["".join("a1.,-"[number // 5**place % 5] for place in range(6)) for number in range(5**6)]
    assert Splitter("13a", lowercase=False)(texts) == theirs(texts, "13a", lowercase=False)


@pytest.mark.parametrize("value", [["13a"], {"13a": {}}, None, "words"])
def test_what_is_no_tokenizer_is_refused_with_their_names(value: object) -> None:
    with pytest.raises(ValueError, match="is one of none, zh, 13a"):
        check_tokenizer(value)


@pytest.mark.parametrize("tokenize", ["intl", "char", "zh"])
def test_other_tokenizers_are_sacrebleus_own(tokenize: str) -> None:
    texts = ["“Yes”, he said: 1.5 is 他的 1,5!", "", "a-b ²"]
    assert Splitter(tokenize, lowercase=True)(texts) == theirs(texts, tokenize, lowercase=True)


@pytest.mark.data
@pytest.mark.parametrize("name", ["wmt21-de-en", "wmt22-en-de", "wmt24-en-de"])
def test_words_of_systems_of_wmt_are_sacrebleus(data_dir: Path, name: str) -> None:
    for path in sorted((data_dir / name / "systems").iterdir())[::8]:
        texts = gzip.decompress(path.read_bytes()).decode().split("\n")[:-1]
        assert Splitter("13a", lowercase=False)(texts) == theirs(texts, "13a", lowercase=False), path.name


def test_what_is_usual_is_split_without_sacrebleu() -> None:
    program = """
import sys
from pipeline.metrics._words import Splitter
found = Splitter("13a", lowercase=True)(["One, two: 1.5."])
print(found, "sacrebleu" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[['one', ',', 'two', ':', '1.5', '.']] False"
