"""Many pairs: what is streamed is what rows say, the document lists the pairs that matter, and a table in columns has them all."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from support.synthetic_cubes import build_cube, undecide
from support.synthetic_reports import build_document, hold_to_schema, make_report, odd_cubes

from pipeline.report.build import build_report
from pipeline.report.document import FullReport, encode_document, read_report, to_document
from pipeline.report.layout import csv_cells
from pipeline.report.layout.csv_cells import lines_of
from pipeline.report.layout.files import Files, csv_lines
from pipeline.report.layout.summary import summarise
from pipeline.report.layout.tables import encode_csv, make_tables
from pipeline.report.pairs import listing, pair_files, pair_json, pair_set
from pipeline.report.pairs.columns import Column, coded, constant, counts, flags, numbers
from pipeline.report.pairs.cube_facts import NO_SPREAD
from pipeline.report.pairs.listing import choose_pairs
from pipeline.report.pairs.pair_parts import Interval
from pipeline.report.pairs.pair_set import PairSet
from pipeline.report.pairs.pair_table import pair_table
from pipeline.report.pairs.pairs import ListedPairs, as_pairs, join_pairs
from pipeline.report.rows import PairRow, PairTails, Tail
from pipeline.report.values import format_p
from pipeline.report.write import encode_report, write_report

PATHS = (
    "p",
    "system_a",
    "verdict",
    "undecided",
    "separated",
    "stable",
    "ties",
    "units",
    "p_raw.one_sided",
    "interval.lo",
    "interval",
)
PATHS += (
    "minimum_detectable_effect",
    "minimum_detectable_effect.law",
    "adjustment.others.max_t",
    "leverage.share",
    "margin",
    "note_",
)


def several(**resampling: Any) -> FullReport:
    """Three test sets, one of them with pairs that are not decided, one with pairs that nothing was written of."""
    cubes = odd_cubes()
    few = build_cube(np.array([50.0, 53.0, 50.2, 51.0]), list("abcd"), name="few", sizes={"30": 30, "full": 40}, se=1.2)
    few = few.assign({name: few[name].where(few["system_b"] != "d") for name in ("p_value", "se", "p_error")})
    cubes["few"] = undecide(few, [0, 1, 0, 2, 0, 3])
    return build_report(make_report(cubes, resampling=resampling))


def many(systems: int = 70, **resampling: Any) -> tuple[Any, FullReport]:
    rng = np.random.default_rng(3)
    cube = build_cube(rng.normal(50, 1.2, systems), [f"s{i:02d}" for i in range(systems)])
    given = make_report({"news": cube}, analyses=(), resampling=resampling)
    return given, build_report(given)


@pytest.mark.parametrize(
    "resampling", [{}, {"across_families": "holm"}, {"margin": {"bleu": 0.4}}, {"family": "against-baseline", "baseline": "a & b"}]
)
def test_streamed_csv_is_that_of_the_rows(resampling: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    report = build_report(make_report(odd_cubes(), resampling=resampling)) if "baseline" in resampling else several(**resampling)
    of_rows = encode_csv(to_document(report)["pairs"])
    for size in (pair_set.CHUNK, 7):
        monkeypatch.setattr(pair_files, "CHUNK", size)
        monkeypatch.setattr(csv_cells, "MANY", size)  # a chunk of 7 is many then
        assert make_tables(report, {})["pairs.csv"] == of_rows


@pytest.mark.parametrize(
    "resampling",
    [
        {"intervals": ["percentile", "studentised"]},
        {"across_families": "holm"},
        {"margin": {"bleu": 0.4}},
        {"family": "against-baseline", "baseline": "a & b"},
    ],
)
def test_a_document_written_from_columns_is_that_of_the_rows(resampling: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    report = build_report(make_report(odd_cubes(), resampling=resampling)) if "baseline" in resampling else several(**resampling)
    part = report.listed[0]
    size, some = len(part.remarks.against), np.arange(len(part.remarks.against)) % 3 - 1
    part = part.with_columns(
        {
            "p": numbers(np.where(some < 0, np.inf, 0.1 * some), size),
            "p_reason": coded(some, ['100 % "sure"', "ŝ <1>\n"]),
            "tool_p.koehn-2004": numbers(np.where(some > 0, 0.25, np.nan), size),
            "tool_p.tool-1.2": numbers(np.where(some < 0, 0.5, np.nan), size),
            "tool_p.reason": coded(some, ["no margin", None]),
            "adjustment.across.by": coded(np.minimum(some, 0), ["holm"]),
            "adjustment.across.families": counts(some + 2, size),
            "adjustment.across.level": constant(0.025, size),
            "adjustment.across.within": numbers(None, size),
        }
    )
    listed = [part, *report.listed[1:]]
    report = replace(report, listed=listed, pairs=join_pairs(listed))
    for most in (pair_set.CHUNK, 7):
        monkeypatch.setattr(pair_json, "CHUNK", most)
        assert encode_report(report) == encode_document(to_document(report))
    empty = replace(report, listed=[], pairs=())
    assert encode_report(empty) == encode_document(to_document(empty))


def test_columns_say_of_all_pairs_what_their_rows_say() -> None:
    for pairs in several(margin={"bleu": 0.4}).full.values():
        rows = ListedPairs(list(pairs))
        chosen = np.random.default_rng(0).random(len(pairs)) < 0.4
        for one, other in ((pairs, rows), (pairs.where(chosen), rows.where(chosen)), (pairs[2:9], rows[2:9])):
            for path in PATHS[:-1]:
                np.testing.assert_array_equal(one.known(path), other.known(path), path)
                if path not in {"interval", "minimum_detectable_effect"}:
                    assert one.values(path).tolist() == other.values(path).tolist(), path
                    for value in {*other.values(path).tolist()} - {None}:
                        np.testing.assert_array_equal(one.equal(path, value), other.equal(path, value), path)
            for path in ("p", "ties", "margin", "interval.lo"):
                np.testing.assert_array_equal(one.floats(path), other.floats(path))
            assert list(one) == list(other)


def test_those_chosen_of_several_families_are_those_of_each_and_none_of_no_family() -> None:
    rows = list(next(iter(several().full.values())))
    joined = join_pairs([as_pairs(rows[:2]), as_pairs([]), as_pairs(rows[2:])])
    chosen = np.arange(len(rows)) % 3 != 1
    assert list(joined.where(chosen)) == [row for row, is_chosen in zip(rows, chosen, strict=True) if is_chosen]
    assert list(join_pairs([]).where(np.zeros(0, np.bool_))) == []


def test_a_pair_that_is_not_asked_for_a_note_has_none() -> None:
    told = 0
    for given in ({}, {"margin": {"bleu": 0.4}}, {"across_families": "holm"}):
        for pairs in several(**given).full.values():
            notes = pairs.write_notes(pairs.order)
            assert notes == [row.note for row in pairs]
            told += sum(note is None for note in notes)
    assert told  # else nothing was left out


def vary_one_at_a_time(pairs: PairSet, profiles: int = 150) -> PairSet:
    """Return pairs of which many differ from another in one field alone, of all that notes are written from."""
    rng = np.random.default_rng(11)
    nan, flag = np.nan, np.array([False, True])
    fields: dict[str, tuple[Callable[[Any], Column], Any]] = {
        **{name: (flags, flag) for name in ("in_family", "identical", "differs_within_margin", "few_discordant")},
        "stable": (lambda codes: coded(codes, (False, True)), [-1, 0, 1]),
        "p_reason": (lambda codes: coded(codes, (NO_SPREAD, "it has none")), [-1, 0, 1]),
        "adjustment.by": (lambda codes: coded(codes, ("max_t", "holm")), [-1, 0, 1]),
        "verdict": (lambda codes: coded(codes, ("better", "not decided", "inconclusive")), [-1, 0, 1, 2]),
        "undecided": (lambda codes: coded(codes, ("few units", "no level")), [-1, 0, 1]),
        "interval.method": (lambda codes: coded(codes, ("max_t",)), [-1, 0]),
        **{name: (lambda codes: coded(codes, ("a", "b")), [0, 1]) for name in ("system_a", "system_b")},
        **{name: (lambda values: counts(values, len(values)), [0, 3, 5]) for name in ("empty_replicates", "discordant")},
        "replicates": (lambda values: counts(values, len(values)), [-1, 100, 200]),
    }
    plain = {"p": [nan, 0.01, 1.0], "delta": [0.0, 1.5], "se": [nan, 0.0, 1.0], "bias": [0.0, 5.0], "margin": [nan, 0.4]}
    plain |= {"monte_carlo_error": [nan, 0.1], "effective_units": [nan, 50.0], "design_effect": [nan, 1.0, 1.5, 1.8]}
    plain |= {"p_exact": [nan, 0.02, 0.0], "log10_p_exact": [-400.0, -500.0], "p_floor": [0.5, 0.6]}
    plain |= {"units": [40.0], "items": [40.0]}
    fields |= {name: (lambda values: numbers(np.asarray(values, float), len(values)), values) for name, values in plain.items()}
    hidden = {"against": flag, "held_back": flag}
    known = {name: values for name, (_, values) in fields.items()} | hidden
    # Dull pairs, so that a remark of one field is not hidden by what others say.
    dull = dict.fromkeys(("in_family", "p", "delta", "monte_carlo_error", "effective_units", "interval.method"), 1)
    dull |= {"se": 2, "stable": 2}
    drawn: dict[str, list[Any]] = {name: [] for name in known}
    for _ in range(profiles):
        place = {name: dull.get(name, 0) if rng.random() < 0.8 else rng.integers(len(values)) for name, values in known.items()}
        for varied, values in known.items():
            for at in range(len(values)):
                for name, column in drawn.items():
                    column.append(known[name][at if name == varied else place[name]])
    columns = {name: make(np.array(drawn[name])) for name, (make, _) in fields.items()}
    size = len(drawn["p"])
    others = {name: constant(column.take(np.array([0]))[0], size) for name, column in pairs.columns.items() if name not in columns}
    remarks = replace(pairs.remarks, against=np.array(drawn["against"]), held_back=np.array(drawn["held_back"]))
    return PairSet(others | columns, rng.permutation(size), remarks)


def test_a_note_is_written_once_for_all_pairs_that_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = vary_one_at_a_time(next(iter(several().full.values())))
    rows = list(pairs)
    notes = pairs.write_notes(pairs.order)
    assert notes == [row.note for row in rows]
    assert len(set(notes)) > 100
    made: list[PairRow] = []
    assemble = PairSet._assemble
    _, report = many(100, margin={"bleu": 0.4})
    (of,) = report.full.values()
    monkeypatch.setattr(PairSet, "_assemble", lambda self, *of: made.extend(assemble(self, *of)) or made[-len(of[0]) :])
    noted = sum(note is not None for note in of.write_notes(of.order))
    assert noted > 1000
    assert 0 < len(made) < 20
    assert all(
        row.p_raw is row.intervals is row.tail is row.minimum_detectable_effect is None for row in made
    )  # no note reads them


@pytest.mark.parametrize("margin", [{}, {"bleu": 0.4}])
@pytest.mark.parametrize("most", [20, 10**6])
def test_the_cells_of_columns_are_those_of_rows_and_hardly_a_row_is_made(monkeypatch, margin, most) -> None:
    _, report = many(100, margin=margin)
    ((where, pairs),) = report.pairs_of.items()
    given: dict[str, Any] = {"title": "pairs", "digits": 2, "tables": 1, "most": most}
    of_rows = pair_table(report, where, ListedPairs(list(pairs)), **given)
    assert len(of_rows.rows) == min(most, len(pairs))
    made: list[PairRow] = []
    assemble = PairSet._assemble
    monkeypatch.setattr(PairSet, "_assemble", lambda self, *of: made.extend(assemble(self, *of)) or made[-len(of[0]) :])
    assert pair_table(report, where, replace(pairs), **given) == of_rows
    assert 0 < len(made) < 10


def test_the_cells_of_few_pairs_of_every_kind_are_those_of_their_rows() -> None:
    report = several(intervals=["percentile", "basic"])
    for where, pairs in report.pairs_of.items():
        given: dict[str, Any] = {"title": "pairs", "digits": 2, "tables": 1, "most": 20}
        assert pair_table(report, where, pairs, **given) == pair_table(report, where, ListedPairs(list(pairs)), **given)


def test_each_cell_of_a_pair_tells_what_its_row_has() -> None:
    report = several()
    where, pairs = next(iter(report.pairs_of.items()))
    plain = replace(pairs[0], stable=True, few_discordant=False, design_effect=None, tail=None, interval=None, p_exact=None)
    odd = replace(
        plain,
        interval=Interval("max-t", 0.95, 0.0, 1.5, open=True),
        p=0.0,
        log10_p=-412.4,
        p_adjusted=0.0,
        tail=PairTails(None, Tail(2e-9, -8.7, 1e-10, "tilted", "tilted")),
        stable=False,
        few_discordant=True,
        p_exact=0.0042,
        in_family=True,
    )
    wide = replace(odd, tail=PairTails(None, Tail(2e-9, -8.7, 1e-10, "exact", "exact")), p_adjusted=0.5)
    known = replace(odd, tail=PairTails(None, Tail(2e-9, -8.7, 1e-11, "exact", "exact")), in_family=False)
    table = pair_table(report, where, [known, plain, odd, wide], "pairs", digits=2, tables=1)
    cells = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    assert [row["95 % interval"] for row in cells] == ["–", "(0.00, 1.50]", "(0.00, 1.50]", "(0.00, 1.50]"]
    assert [row["p"] for row in cells[1:]] == ["4.0e-413"] * 3
    assert [row["p adjusted"] for row in cells[1:]] == ["4.0e-413", format_p(0.5), "4.0e-413"]
    assert [row["tail"] for row in cells] == [
        "–",
        "2.0e-09 ± 1.0e-10 tilted",
        "2.0e-09 ± 1.0e-10 exact",
        "2.0e-09 exact",  # outside the family, and so the last
    ]
    assert [row["exact"] for row in cells] == ["–", *[format_p(0.0042)] * 3]
    assert [row["verdict"].partition(" *†")[1] for row in cells] == ["", *[" *†"] * 3]


def test_few_pairs_are_all_listed_and_no_second_table_is_written() -> None:
    report = several()
    document = hold_to_schema(to_document(report))
    assert document["all_pairs"] == {"pairs": 138, "listed": 138, "rule": None, "csv": "tables/pairs.csv", "parquet": None}
    assert len(document["pairs"]) == 138
    assert "pairs.parquet" not in make_tables(report, {})


def test_of_many_pairs_those_that_matter_are_listed() -> None:
    _, report = many()
    document = hold_to_schema(json.loads(json.dumps(to_document(report))))
    (counts,) = document["pair_counts"]
    (pairs,) = report.full.values()
    assert document["all_pairs"]["pairs"] == counts["pairs"] == len(pairs) == 70 * 69 // 2
    assert document["all_pairs"]["listed"] == counts["listed"] == len(document["pairs"]) == listing.MOST_LISTED
    everybody = {(row.system_a, row.system_b): row for row in pairs}
    listed = {(row["system_a"], row["system_b"]): row for row in document["pairs"]}
    assert list(listed) == [names for names in everybody if names in listed]  # in the same order
    ranked = [row["name"] for row in document["leaderboard"]]
    assert {(ranked[0], other) for other in ranked[1:]} | set(pairwise(ranked)) <= {*listed}
    distance = {names: abs(np.log((row.p or 1.0) / 0.05)) for names, row in everybody.items()}
    near = sorted(distance.values())
    others = [distance[names] for names in listed if ranked[0] not in names]
    assert max(others) < near[-1]
    left_out = [names for names in everybody if names not in listed]
    assert min(distance[names] for names in left_out) >= sorted(others)[len(others) // 2]


def test_counts_are_of_all_pairs_and_agree_with_rows() -> None:
    _, report = many(margin={"bleu": 1.0})
    (counts,) = report.pair_counts
    rows: list[PairRow] = list(report.pairs_of[report.places[0]])
    assert counts.listed < counts.pairs == len(rows)
    assert counts.separated == sum(row.separated for row in rows) > 0
    assert counts.measured == sum(row.p is not None for row in rows)
    assert counts.unstable == sum(row.stable is False for row in rows)
    assert dict(counts.verdicts) == {word: sum(row.verdict == word for row in rows) for word in counts.verdicts}
    assert sum(counts.verdicts.values()) == len(rows)


def test_a_baseline_s_pairs_are_listed_before_all_others() -> None:
    _, report = many(family="against-baseline", baseline="s07")
    assert sum(row.in_family for row in report.pairs) == 69
    assert len(report.pairs) == listing.MOST_LISTED


def test_what_a_terminal_shows_needs_the_document_alone() -> None:
    _, report = many()
    again = read_report(to_document(report))
    assert summarise(again) == summarise(report)
    assert f"{70 * 69 // 2 - 20:,} more pairs" in summarise(again, most_pairs=20) or "more pairs" in summarise(again)


def test_columns_in_parquet_are_the_rows_of_the_document() -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    given, report = many(across_families="holm")
    content = make_tables(report, given.cubes)["pairs.parquet"]
    table = parquet.read_table(io.BytesIO(content))
    assert table.schema.metadata[pair_files.METADATA.encode()] == str(report.schema_version).encode()
    (pairs,) = report.full.values()
    stored = table.to_pylist()
    assert len(stored) == len(pairs)
    for row, found in zip(map(flatten, to_document(report_of(report, pairs))["pairs"]), stored, strict=True):
        assert {name: value for name, value in found.items() if value is not None} == row
    assert make_tables(report, given.cubes)["pairs.parquet"] == content


def test_a_column_of_words_has_each_text_once_in_its_dictionary() -> None:
    pa = pytest.importorskip("pyarrow")
    column = Column(np.array([0, 3, -1, 1, 4, 2], np.int8), (None, "few", None, "many", "few"))
    found = pair_files._arrow(pa, column, np.arange(6), str, pa.dictionary(pa.int32(), pa.string()))
    assert found.to_pylist() == [None, "many", None, "few", "few", None]
    assert found.dictionary.to_pylist() == ["few", "many"]
    unknown = pair_files._arrow(pa, Column(np.array([-1, 0], np.int8), (None,)), np.arange(2), str, found.type)
    assert (unknown.to_pylist(), unknown.dictionary.to_pylist()) == ([None, None], [""])


@pytest.mark.parametrize(("kept", "times"), [(2**17, 1), (0, 2)])
def test_notes_are_written_once_for_both_files_where_there_is_room(monkeypatch: pytest.MonkeyPatch, kept: int, times: int) -> None:
    pytest.importorskip("pyarrow.parquet")
    given, report = many(margin={"bleu": 0.4})
    expected = dict(make_tables(report, given.cubes))
    written: list[int] = []
    write = PairSet.write_notes
    monkeypatch.setattr(PairSet, "write_notes", lambda self, at: written.append(len(at)) or write(self, at))
    monkeypatch.setattr(pair_files, "NOTES_KEPT", kept)
    monkeypatch.setattr(pair_files, "CHUNK", 64)
    assert dict(make_tables(report, given.cubes)) == expected
    assert sum(written) == times * report.all_pairs.pairs
    # A file alone has its notes too, wherever the other one has stopped.
    tables = make_tables(report, given.cubes)
    next(tables.stream("pairs.csv"))
    assert tables["pairs.parquet"] == expected["pairs.parquet"]


def test_the_first_row_which_tells_what_pairs_share_is_made_once() -> None:
    for pairs in several().full.values():
        assert pairs[0] is pairs[0]
        assert pairs[0] == next(iter(pairs))
        assert pairs[3:][0] == pairs[3] == list(pairs)[3]


def test_tables_of_many_pairs_are_written_without_what_imports_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    pa = pytest.importorskip("pyarrow")
    given, report = many()
    expected = make_tables(report, given.cubes)

    def refuse(*arguments: Any, **options: Any) -> None:
        raise AssertionError("pyarrow imports pandas to make an array of anything")

    monkeypatch.setattr(pa, "array", refuse)
    monkeypatch.setattr(csv_cells, "MANY", 1)
    found = make_tables(report, given.cubes)
    assert all(found[name] == expected[name] for name in ("pairs.csv", "pairs.parquet"))


def test_columns_of_parquet_do_not_depend_on_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(listing, "MOST_LISTED", 1)
    monkeypatch.setattr(listing, "FEWEST_LISTED", 1)
    schemas = [parquet.read_schema(io.BytesIO(make_tables(report, {})["pairs.parquet"])) for report in (several(), many()[1])]
    assert schemas[0].equals(schemas[1])


def report_of(report: FullReport, pairs: pair_set.PairSet) -> Any:
    from dataclasses import replace

    return replace(report, pairs=list(pairs))


def flatten(row: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in row.items():
        found |= flatten(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: value}
    return {name: value for name, value in found.items() if value is not None}


def test_a_choice_of_pairs_without_ranks_is_of_those_nearest_to_alpha() -> None:
    rows = as_pairs(list(many(10)[1].pairs))
    chosen = rows.where(choose_pairs(rows, [], 0.05, 12))
    distance = np.sort(np.abs(np.log(rows.floats("p") / 0.05)))
    assert len(chosen) == 12
    np.testing.assert_allclose(np.sort(np.abs(np.log(chosen.floats("p") / 0.05))), distance[:12])


def test_rows_are_made_a_chunk_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the tables of many pairs are written, rows exist for a chunk of them at most."""
    given, report = many()
    made: list[int] = []
    original = pair_set.PairSet._assemble

    def counted(self: pair_set.PairSet, at: Any, left_out: Any) -> list[PairRow]:
        made.append(len(at))
        return original(self, at, left_out)

    monkeypatch.setattr(pair_set.PairSet, "_assemble", counted)
    monkeypatch.setattr(pair_files, "CHUNK", 64)
    parts = list(make_tables(report, given.cubes).stream("pairs.csv"))
    assert len(parts) == 1 + -(-len(report.full[report.places[0]]) // 64)
    assert max(made) <= 64


def test_a_report_at_another_size_of_cube_is_streamed_too() -> None:
    cubes: dict[str, xr.Dataset] = odd_cubes()
    report = build_report(make_report(cubes))
    parts = list(make_tables(report, cubes).stream("pair_sizes.csv"))
    assert len(parts) == 1 + 2 * 3  # a header, and one part of each of three sizes of two test sets
    assert build_document(make_report(cubes))["pair_counts"][0]["pairs"] == 66


class Stopped(BaseException):
    """As the signal of a stop raises it."""


def test_a_stop_amid_a_table_leaves_the_old_one_and_nothing_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "MOST_LISTED", 100)  # so that not all pairs are listed, and all are in Parquet
    rng = np.random.default_rng(3)
    cube = build_cube(rng.normal(50, 1.2, 20), [f"s{i:02d}" for i in range(20)], sizes={"200": 200, "full": 1000})
    given = make_report({"news": cube}, analyses=(), resampling={})
    write_report(given, tmp_path)
    files = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    original = Files.stream
    for name in ("pairs.csv", "pairs.parquet", "pair_sizes.csv"):
        assert tmp_path / "tables" / name in files

        def interrupted(self: Files, path: str, name: str = name) -> Iterator[bytes]:
            for number, part in enumerate(original(self, path)):
                if number and path.endswith(name):
                    raise Stopped
                yield part

        with monkeypatch.context() as patch:
            patch.setattr(Files, "stream", interrupted)
            with pytest.raises(Stopped):
                write_report(given, tmp_path)
        assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == files
    write_report(given, tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == files


AWKWARD = [0.0, 1.0, 72.0, 1e-5, 9.999e-5, 1e-4, 0.00012345, 5e-324, 1e9, 999999999.5, 1e16, 123456789012.5, -3.5, -1e-7, 1e22]


def test_lines_are_those_of_csv(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    many = [rng.random(5000), 100 * rng.random(5000), 10 ** rng.uniform(-300, 300, 5000), 10 ** rng.uniform(-6, 12, 20_000)]
    many += [rng.integers(0, 4000, 3000) / 2000, rng.integers(0, 9000, 3000) / 90, np.nextafter(rng.integers(1, 99, 500), 0)]
    values = np.concatenate([AWKWARD, *many, [np.nan, np.inf]])
    whole = rng.integers(-1, 50, len(values))
    words = ["plain", "a, b", 'say "hi"', "line\nbreak", "中文", 0.95, True, None]
    columns = [numbers(values, len(values)), counts(whole, len(values)), flags(whole > 20), coded(whole % 9 - 1, words)]
    columns += [numbers(np.ceil(values), len(values), whole=True), constant(None, len(values)), constant("x", len(values))]
    columns += [constant("a, b", len(values)), numbers(None, len(values)), columns[0], constant(0.5, len(values))]
    at = rng.permutation(len(values))
    expected = csv_lines([column.take(at) for column in columns])
    for most in (1, len(at) + 1):
        monkeypatch.setattr(csv_cells, "MANY", most)
        assert lines_of(columns, at, len(at)) == expected


def test_few_pairs_do_not_load_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_cells.importlib, "import_module", None)
    assert make_tables(several(), odd_cubes())["pairs.csv"]
    assert make_tables(several(), odd_cubes())["pair_sizes.csv"]
