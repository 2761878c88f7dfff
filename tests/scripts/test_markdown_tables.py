"""Tables that scripts write into pages, and the marks between which they write them."""

from __future__ import annotations

from markdown_tables import fill_marked, render_table


def test_numbers_stand_to_the_right_and_words_to_the_left() -> None:
    head, rows = ["job", "kind", "seconds"], [["J1", "short", "2.5"]]
    assert render_table(head, rows, words=2) == "| job | kind | seconds |\n| --- | --- | ---: |\n| J1 | short | 2.5 |"
    assert render_table(head, rows).splitlines()[1] == "| --- | --- | --- |"


def test_each_marked_part_is_written_anew_under_its_own_name_and_nothing_else() -> None:
    page = "<!-- a: one -->\n{}\n<!-- end -->\n<!-- b: one -->\nkept\n<!-- end -->\n<!-- a: two-2 -->\n{}\n<!-- end -->\n"
    filled = fill_marked(page.format("old", "old\nold"), "a", lambda name: rf"new \{name}")
    assert filled == page.format("new \\one", "new \\two-2")


def test_the_only_part_of_a_page_needs_no_name() -> None:
    assert fill_marked("<!-- a -->\nold\n<!-- end -->", "a", lambda name: f"[{name}]") == "<!-- a -->\n[]\n<!-- end -->"
