"""Where the lines of a page may not break."""

from __future__ import annotations

from pipeline.report.layout.breaks import LineBreaks, break_between_parts, keep_together


def test_a_sign_stays_with_its_number_and_a_number_with_its_unit() -> None:
    kept = keep_together("58 of 66 pairs, n = 3,000, 95 % interval")
    assert kept.replace("\u00a0", "~") == "58 of 66~pairs, n~=~3,000, 95~% interval"


def test_names_are_marked_in_sentences_and_not_in_code() -> None:
    breaks = LineBreaks(["a-b", "a-b-c", "plain"])
    assert breaks.sentence("a-b-c, a-b and plain") == '<span class="name">a-b-c</span>, <span class="name">a-b</span> and plain'
    assert breaks.coded("as `--set x=a-b`") == "as <code>--set x=a-b</code>"


def test_code_stays_with_its_brackets_and_the_comma_behind_it() -> None:
    coded = LineBreaks([]).coded
    assert coded("a set (`s_dev`) too") == 'a set <span class="name">(<code>s_dev</code>)</span> too'
    assert coded("`a`, `b` & c") == '<span class="name"><code>a</code>,</span> <code>b</code> &amp; c'
    assert coded(f"(`{'long ' * 8}`)") == f"(<code>{'long ' * 8}</code>)"  # which may fill a line


def test_max_t_is_never_broken_at_its_hyphen_and_is_copied_as_it_is_typed() -> None:
    kept = '<span class="name">max-T</span>'
    assert LineBreaks([]).sentence("corrected by max-T, studentised") == f"corrected by {kept}, studentised"
    assert LineBreaks(["a-b"]).sentence("Max-T over a-b") == '<span class="name">Max-T</span> over <span class="name">a-b</span>'


def test_a_small_number_is_not_broken_at_its_hyphen() -> None:
    assert LineBreaks([]).sentence("p = 1.0e-03, b = 3") == '<span class="name">p = 1.0e-03</span>, b\u00a0=\u00a03'


def test_names_are_escaped() -> None:
    assert LineBreaks(["<b>-x"]).coded("<b>-x & <i>") == '<span class="name">&lt;b&gt;-x</span> &amp; &lt;i&gt;'


def test_a_name_that_fills_a_line_may_break() -> None:
    long = "a-name-" * 5
    assert LineBreaks([long, "a-b"]).sentence(f"{long} and a-b") == f'{long} and <span class="name">a-b</span>'


def test_a_cell_of_a_name_breaks_between_its_parts_and_a_sentence_only_between_words() -> None:
    assert break_between_parts("abs.pointer_gen / b.c") == "abs.<wbr>pointer_<wbr>gen / b.<wbr>c"
    assert break_between_parts("<i>.OnlineAcademy") == "&lt;i&gt;.<wbr>Online<wbr>Academy"
    assert break_between_parts("abs.pointer_gen is better (p = 0.04)") == "abs.pointer_gen is better (p = 0.04)"


def test_negative_numbers_of_a_cell_have_a_true_minus_and_names_keep_their_hyphen() -> None:
    assert break_between_parts("no gain is below -0.3") == "no gain is below −0.3"
    assert [str(break_between_parts(cell)) for cell in ("[-0.3, 0.1]", "(-1, -0.5]", "-5", "a -5")] == [
        "[−0.3, 0.1]",
        "(−1, −0.5]",
        "-5",
        "a -5",
    ]


def test_the_longest_of_several_names_stays_as_it_is_in_a_description() -> None:
    told = LineBreaks(["run -1", "run -1 -2", "-1"]).plain("run -1 -2 beats run -1 by -1.5 and -1")
    assert told == "run -1 -2 beats run -1 by −1.5 and -1"


def test_a_number_does_not_begin_with_a_name() -> None:
    said = LineBreaks(["-1"]).sentence("-1 is ahead by -1.5.")
    assert said == '<span class="name">-1</span> is ahead by −1.5.'


def test_a_name_that_is_written_from_right_to_left_is_marked() -> None:
    assert LineBreaks(["שלום", "abc"]).sentence("שלום, abc") == '<span class="name">שלום</span>, abc'
