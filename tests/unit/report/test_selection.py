"""Numbers that expectations name, read off tables of a few lines."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from pipeline.interfaces import Finding
from pipeline.report.expectations import Turned, digest_of, judge_expectations, list_turned
from pipeline.report.layout.files import Files
from pipeline.report.selection import select_numbers
from pipeline.study.expectations import Expectation
from pipeline.study.schema import Study

ODD = ["nan", "1e5", "100000", "01", "1", "True", "<5", "<unk>", "a\nb", "so\u2028so", "ü", ""]


def table(*rows: dict[str, Any]) -> bytes:
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue().encode()


def files(content: bytes, name: str = "board", *, step: int | None = None) -> Files:
    parts = [content] if step is None else [content[at : at + step] for at in range(0, len(content), step)]
    take: Callable[[], Iterable[bytes]] = partial(iter, parts)
    return Files({f"{name}.csv": lambda: take()})


def ask(**changes: Any) -> Expectation:
    return Expectation(**{"table": "board", "column": "score", "at_least": 0, **changes})


BOARD = table(*({"name": name, "score": float(place), "rank": place % 3} for place, name in enumerate(ODD)))


@pytest.mark.parametrize("step", [None, 1, 7])
@pytest.mark.parametrize("place", range(len(ODD)))
def test_a_system_is_found_by_its_very_name(place: int, step: int | None) -> None:
    name = ODD[place]
    (found,) = select_numbers([ask(where={"name": name})], files(BOARD, step=step), {})
    if name == "<5":  # it compares as well, and a name such as 1 is a number
        assert found.reason is not None
        assert found.reason.startswith("3 rows of 12 are left, one is needed")
    else:
        assert (found.number, found.reason) == (float(place), None)


def test_a_cell_may_be_long() -> None:
    name = "x" * 200_000
    (found,) = select_numbers([ask(where={"name": name})], files(table({"name": name, "score": 4.0})), {})
    assert found.number == 4.0


def test_a_number_is_compared_as_one() -> None:
    (found,) = select_numbers([ask(where={"name": 100000}, count=True, column=None)], files(BOARD), {})
    assert found.number == 2  # 1e5 and 100000
    (found,) = select_numbers([ask(where={"name": 1}, count=True, column=None)], files(BOARD), {})
    assert found.number == 2  # 01 and 1, but not True
    (found,) = select_numbers([ask(where={"name": True})], files(BOARD), {})
    assert found.number == ODD.index("True")


@pytest.mark.parametrize(
    ("where", "count"), [({"score": "<= 3"}, 4), ({"score": "≥ 3"}, 9), ({"score": "< 3"}, 3), ({"score": "> 3"}, 8), ({}, 12)]
)
def test_texts_that_compare_select_rows(where: dict[str, str], count: int) -> None:
    (found,) = select_numbers([ask(where=where, count=True, column=None)], files(BOARD), {})
    assert found.number == count
    assert found.reason is None


def test_two_tables_and_several_questions_keep_their_order() -> None:
    both = Files({"board.csv": lambda: iter([BOARD]), "other.csv": lambda: iter([table({"x": "a", "score": 7})])})
    asked = [ask(where={"name": "ü"}), ask(table="other"), ask(where={"name": "01"}), ask(table="bord")]
    found = select_numbers(asked, both, {})
    assert [one.number for one in found] == [10, 7, 3, None]
    assert found[3].reason == "there is no table 'bord'; did you mean 'board'?"


ROW = {"name": "a", "delta": 2.0, "interval.lo": 1.0, "interval.hi": 3.0, "p": 0.5, "p_interval.lo": 0.4, "p_interval.hi": 0.6}


@pytest.mark.parametrize(
    ("name", "column", "interval_of", "interval"),
    [
        ("pairs", "delta", {}, {"lo": 1.0, "hi": 3.0}),
        ("pairs", "p", {}, {"lo": 0.4, "hi": 0.6}),  # its own before the plain one
        ("mine", "delta", {}, None),
        ("mine", "delta", {"mine": "delta"}, {"lo": 1.0, "hi": 3.0}),
        ("mine", "delta", {"mine": "p"}, None),
    ],
)
def test_the_interval_beside_a_number_is_its_own(name: str, column: str, interval_of: dict[str, str], interval: Any) -> None:
    (found,) = select_numbers([ask(table=name, column=column)], files(table(ROW), name), interval_of)
    assert found.number == ROW[column]
    assert found.interval == interval


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"where": {"nam": "a"}}, "the table board has no column 'nam'; did you mean 'name'?"),
        ({"column": "scor"}, "the table board has no column 'scor'; did you mean 'score'?"),
        ({"where": {"name": "uu"}}, "no row of 3 is left, one is needed; no row has the name 'uu'; there are: a, b, c"),
        ({}, "3 rows of 3 are left, one is needed; they differ in name"),
        ({"where": {"name": "b"}}, "score has no number there: no pairs"),
        ({"where": {"name": "c"}}, "score has no number there"),
    ],
)
def test_what_is_not_found_is_told(asked: dict[str, Any], said: str) -> None:
    rows = [("a", "1.5", "", "A"), ("b", "", "no pairs", "B"), ("c", "inf", "", "C")]
    content = table(*(dict(zip(("name", "score", "reason", "letters"), row, strict=True)) for row in rows))
    (found,) = select_numbers([ask(**asked)], files(content), {})
    assert found.number is None
    assert found.reason == said
    assert found.found == said.startswith("score has no number")  # the row is there


@pytest.mark.parametrize("content", [b"name,score\na\n", b"name,score\na,\xff\n", b""])
def test_a_damaged_table_has_no_numbers(content: bytes) -> None:
    (found,) = select_numbers([ask()], files(content), {})
    assert found.number is None
    assert found.reason
    assert not found.found


def judge(number: float, **asked: Any) -> Any:
    (row,) = judge_expectations([ask(**{"at_least": None, **asked})], files(table({"name": "a", "score": number}))).rows
    return row["agrees"]


@pytest.mark.parametrize(
    ("asked", "inside", "outside"),
    [
        ({"value": 2, "within": 0.5}, [1.5, 2.5], [1.49, 2.51]),
        ({"value": -200, "within": "5 %"}, [-210, -190], [-211, -189]),
        ({"value": 2, "within": 0.5, "at_most": 2.2}, [1.5, 2.2], [1.4, 2.3]),
        ({"value": 2, "within": 0.5, "at_least": 1.8}, [1.8, 2.5], [1.7, 2.6]),
        ({"at_most": 1e-13}, [1e-13, 0, -5], [1.1e-13]),
        ({"value": 0.3, "within": 0}, [0.1 + 0.2], [0.3000001]),
        ({"value": 0, "within": 0}, [0], [1e-300]),
    ],
)
def test_limits_hold_both_ends_and_nothing_beyond_but_rounding(asked: Any, inside: list[float], outside: list[float]) -> None:
    assert [judge(number, **asked) for number in inside] == [True] * len(inside)
    assert [judge(number, **asked) for number in outside] == [False] * len(outside)


def test_a_row_that_is_not_there_has_turned_although_its_number_need_not_agree(tmp_path: Path) -> None:
    content = table({"name": "new", "score": 5.0, "reason": ""}, {"name": "bare", "score": "", "reason": "no pairs"})
    of = {"at_least": None, "value": 1, "differs": "other data"}
    asked = [ask(where={"name": "new"}, **of), ask(name="gone", where={"name": "newer"}, **of), ask(where={"name": "bare"}, **of)]
    found = judge_expectations(asked, files(content), study=digest_of(own := study_of(*asked)))
    assert [(row["found"], row["turned"]) for row in found.rows] == [(True, False), (False, True), (True, False)]
    assert [row["agrees"] for row in found.tables[0].rows or ()] == ["need not", "not found", "need not"]
    lacking = "no row of 2 is left, one is needed; no row has the name 'newer'; did you mean 'new'?"
    assert found.checks[0].detail == f"1 of 3 is not found in the results: gone: {lacking}."
    assert found.checks[0].status == "check"
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "expectations.csv").write_bytes(_written(found.csv["expectations"]))
    assert list_turned(tmp_path, own, lambda: pytest.fail("it says so itself")) == [Turned("gone", lacking)]
    assert list_turned(tmp_path / "nowhere", own, lambda: found) == [Turned("gone", lacking)]


def test_a_value_alone_with_a_reason_is_shown_and_never_judged() -> None:
    assert judge(5, value=1, differs="other data") is None


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"value": 5, "within": 1, "at_least": 10}, "nothing can agree"),
        ({"value": 0, "within": "5 %"}, "5 % of 0 is 0"),
        ({"count": True, "column": None, "at_most": -1}, "rows are counted"),
        ({"count": True, "column": None, "value": 2.5, "within": 0.1}, "rows are counted"),
        ({"value": 1, "within": True}, "a distance is a number"),
        *(({"at_least": 0, "where": {"p": text}}, "a comparison is") for text in ("= 5", "== 5", "!= 4", "<= 5 %", "> .5x")),
    ],
)
def test_what_can_never_agree_is_refused(asked: Any, said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Expectation(**{"table": "board", "column": "score", **asked})


def study_of(*expected: Expectation, **changes: Any) -> Study:
    """A study that expects these."""
    return Study.model_validate(
        {
            "schema": 1,
            "study": "s",
            "test_sets": {"news": {"format": "scores", "outputs": "scores.csv"}},
            "metrics": ["mean"],
            "analyses": ["thresholds"],
            "expect": [one.model_dump(exclude_none=True, exclude_defaults=True) for one in expected],
            **changes,
        }
    )


def test_a_run_is_held_to_its_own_study_whatever_its_report_was_made_with(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    content = table({"name": "a", "score": 5.0})
    low, high = ask(name="low", at_least=9), ask(name="high", at_least=None, at_most=9)
    own = study_of(low, high)
    made: list[int] = []

    def anew() -> Finding:
        made.append(1)
        return judge_expectations(own.expect, files(content))

    assert list_turned(tmp_path, own, anew) == [Turned("low")]  # nothing says how they fared
    others = [study_of(high), study_of(low, high, analyses=["size-curve"]), study_of(high, low)]
    for other in others:
        found = judge_expectations(other.expect, files(table({"name": "a", "score": 9.0})), study=digest_of(other))
        (tmp_path / "tables" / "expectations.csv").write_bytes(_written(found.csv["expectations"]))
        assert list_turned(tmp_path, own, anew) == [Turned("low")]
        assert list_turned(tmp_path, other, anew) == []  # that is the study it was made for
    assert len(made) == 4
    assert list_turned(tmp_path, study_of(), anew) == []
    for damaged in (b"", b"name\nlow\n", b"\xff\n"):
        (tmp_path / "tables" / "expectations.csv").write_bytes(damaged)
        assert list_turned(tmp_path, own, anew) == [Turned("low")]


def _written(rows: Any) -> bytes:
    return table(*({key: "" if value is None else value for key, value in row.items() if key != "interval"} for row in rows))
