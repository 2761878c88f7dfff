"""Tables as text, once for every page. This module formats the document's rows; HTML and Markdown only lay them out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.inference.readings import READINGS
from pipeline.report.document import digits_of
from pipeline.report.procedures import WORDS
from pipeline.report.values import MISSING, format_interval, format_number, format_p, format_share
from pipeline.report.verdict import FAMILY, by_family, family_of, select

__all__ = ["MARKS", "MOST_PAIRS", "View", "mark_of", "view_all"]

MOST_PAIRS = 400
MARKS = {
    "*": "the verdict lies so near α, after Holm, that other draws may change it",
    "†": "fewer than 20 units on which the two systems differ: p is not to be trusted",
}
"""What stands behind a verdict, and what it means."""


@dataclass(frozen=True)
class View:
    """One table, formatted.

    Parameters
    ----------
    kind : str
        Section of the page it belongs to.
    title : str
        Heading.
    columns : tuple of str
        Column heads; those in ``text`` hold words, the others numbers.
    rows : tuple of tuple of str
        Cells.
    caption : str
        What must stand beside it.
    text : frozenset of str
        Columns that hold words.
    """

    kind: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    text: frozenset[str] = frozenset()


def view_all(document: Mapping[str, Any]) -> list[View]:
    """Give every table of a report in the order of the page."""
    return [
        *_leaderboards(document),
        *_thresholds(document),
        *_size_curves(document),
        *_calibrations(document),
        *_pairs(document),
    ]


def _where(document: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    for row in document["signature"]:
        yield {key: row[key] for key in FAMILY}


def _title(where: Mapping[str, Any]) -> str:
    return f"{where['test_set']} · {where['metric']} · {where['procedure']}"


def _leaderboards(document: Mapping[str, Any]) -> Iterator[View]:
    known = {(row["test_set"], row["name"]): row for row in document["systems"]}
    facts = [f for f in ("model", "group") if any(row.get(f) and row[f] != row["name"] for row in document["systems"])]
    for where in _where(document):
        digits = digits_of(document, where["metric"])
        rows = []
        for row in select(document["leaderboard"], **where):
            system = known[row["test_set"], row["name"]]
            ranks = f"{row['rank_low']}–{row['rank_high']}"
            if row["rank"] is None:
                ranks = MISSING
            cells = [
                MISSING if row["rank"] is None else str(row["rank"]),
                row["name"],
                *(system.get(f) or MISSING for f in facts),
                format_number(row["score"], digits),
            ]
            rows.append((*cells, ranks, str(row["beats"]), str(row["beaten_by"])))
        caption = (
            f"Rank interval: the ranks that pairs separated by Holm at α = {document['alpha']:g} do not exclude, all together. "
            "Better than, worse than: how many systems it is separated from. Systems with the same score share a rank."
        )
        columns = ("rank", "system", *facts, "score", "rank interval", "better than", "worse than")
        yield View("leaderboard", _title(where), columns, tuple(rows), caption, frozenset({"system", *facts}))


def _thresholds(document: Mapping[str, Any]) -> Iterator[View]:
    for where in _where(document):
        digits = digits_of(document, where["metric"])
        rows = []
        notes = []
        found = select(document["thresholds"], **where)
        z = f"{found[0]['gaussian_z']:.3f}" if found else ""
        gaussian = (
            f"{z} se: what the median of the gains in the window would be for Gaussian differences, {z} times the median se there."
        )
        for row in found:
            remark = "; ".join(words for words in (row["reason"], row["warning"]) if words)
            if row["interval_note"] and row["interval_note"] not in notes and row["interval"]:
                notes.append(row["interval_note"])
            by = f" {row['relation_by']}" if row["relation"] in {"same", "different"} else ""
            rows.append(
                (
                    f"{row['units']:,}",
                    f"{row['relation']}{by}",
                    format_number(row["gain"], digits),
                    format_interval(row["interval"], digits),
                    f"{row['pairs_in_window']:,}",
                    str(row["systems_in_window"]),
                    format_number(row["median_gain"], digits),
                    format_number(row["gaussian_gain"], digits),
                    format_number(row["logistic_gain"], digits),
                    remark or MISSING,
                )
            )
        columns = (
            "units",
            "pairs of",
            "threshold",
            "95 % interval",
            "in window",
            "systems",
            "median",
            f"{z} se",
            "logistic",
            "remark",
        )
        if rows:
            caption = " ".join(
                dict.fromkeys([*document["notes"].get("thresholds", []), gaussian, *(f"Intervals: {note}." for note in notes)])
            )
            yield View("thresholds", _title(where), columns, tuple(rows), caption, frozenset({"pairs of", "remark"}))


def _size_curves(document: Mapping[str, Any]) -> Iterator[View]:
    names = {"gain": "threshold", "median_se": "median se"}
    for curve in document["size_curve"]:
        digits = digits_of(document, curve["metric"])
        rows = []
        for fit in curve["fits"]:
            points = "  ".join(f"{p['units']:,}: {format_number(p[fit['quantity']], digits)}" for p in curve["points"])
            needed = "; ".join(
                f"{need['gain']:g}: {_units(need['by_fit'])} (c/√n: {_units(need['by_root'])})" for need in fit["units_for"]
            )
            slope = MISSING if fit["slope"] is None else f"{fit['slope']:.3f} ± {fit['slope_se']:.3f}"
            cells = (names[fit["quantity"]], points, slope, format_p(fit["p_square_root"]), format_number(fit["c"], 2))
            rows.append((*cells, needed or MISSING, fit["reason"] or MISSING))
        columns = ("what", "units: value", "slope ± se", "p of −½", "c of c/√n", "units needed for a gain of", "remark")
        words = frozenset({"what", "units: value", "units needed for a gain of", "remark"})
        yield View("size-curve", _title(curve), columns, tuple(rows), " ".join(document["notes"].get("size-curve", [])), words)


def _units(value: float | None) -> str:
    return MISSING if value is None else f"{math.ceil(value):,}"


def _calibrations(document: Mapping[str, Any]) -> Iterator[View]:
    found = document["calibration"]
    for row in select(found, kind="none"):
        title = f"{row['test_set']} → {row['against'] or 'other test sets'}"
        yield View("calibration", title, ("remark",), ((row["reason"],),), "", frozenset({"remark"}))
    there = [row for row in found if row["kind"] != "none"]
    columns = ("p on the base", "pairs", "same sign", "tied", "share", "95 % interval", "systems", "remark")
    for base, against, metric, procedure in dict.fromkeys(
        (row["test_set"], row["against"], row["metric"], row["procedure"]) for row in there
    ):
        here = select(there, test_set=base, against=against, metric=metric, procedure=procedure)
        told = dict.fromkeys(row["interval_note"] for row in here if row["interval"] and row["interval_note"])
        caption = " ".join([*document["notes"].get("calibration-transfer", []), *(f"Intervals: {note}." for note in told)])
        rows = tuple(_bin(row) for row in here)
        title = f"{base} → {against} · {metric} · {procedure}"
        yield View("calibration", title, columns, rows, caption, frozenset({"p on the base", "remark"}))


def _bin(row: Mapping[str, Any]) -> tuple[str, ...]:
    why = None if row["interval"] else row["interval_note"]
    return (
        f"{row['p_low']:g} – {row['p_high']:g}" + (" (window)" if row["kind"] == "window" else ""),
        f"{row['pairs']:,}",
        f"{row['same_sign']:,}",
        f"{row['ties']:,}",
        format_share(row["share"]),
        format_interval(row["interval"], percent=True),
        str(row["systems"]),
        "; ".join(words for words in (row["reason"], row["warning"], why) if words) or MISSING,
    )


def _pairs(document: Mapping[str, Any]) -> Iterator[View]:
    places, families = list(_where(document)), by_family(document["pairs"])
    most = max(20, MOST_PAIRS // max(1, len(places)))
    for where in places:
        rows = families[family_of(where)]
        shown = _nearest(rows, document["alpha"], most)
        digits = digits_of(document, where["metric"])
        whole = READINGS[where["procedure"]].interval
        caption = (
            "The better system comes first; p and interval are two-sided, p as (s + 1)/(b + 1) and the interval unadjusted; "
            "one-sided is the strict p of Berg-Kirkpatrick et al., where no replicate counts the upper end of its 95 % interval. "
            "The verdict is Holm's."
            if whole
            else f"The better system comes first; p is two-sided, {WORDS[where['procedure']].p}. The verdict is Holm's."
        )
        margin = next((row["margin"] for row in rows if row["margin"] is not None), None)
        if margin is not None:
            caption += f" p eq., Holm eq.: of equivalence within the margin of {margin:g}, unadjusted and by Holm."
        marks = dict.fromkeys(mark for row in shown for mark in mark_of(row))
        caption += "".join(f" {mark} {MARKS[mark]}." for mark in marks)
        if len(shown) < len(rows):
            caption += (
                f" Shown are the {len(shown):,} of {len(rows):,} pairs whose p is nearest to α; tables/pairs.csv has them all."
            )
        interval = f"{100 * (1 - document['alpha']):g} % interval"
        equivalence = ("p eq.", "Holm eq.") if margin is not None else ()
        columns = ("better", "worse", "gain", interval, "se", "m", "p", "one-sided", "Holm", "BH", *equivalence, "verdict")
        cells = tuple(_pair(row, digits, equivalence=margin is not None) for row in shown)
        if not whole:
            # Columns of which this procedure has nothing to say: a strict one-sided p of swaps is no test.
            kept = [k for k, column in enumerate(columns) if column not in {interval, "one-sided"}]
            columns, cells = tuple(columns[k] for k in kept), tuple(tuple(row[k] for k in kept) for row in cells)
        yield View("pairs", _title(where), columns, cells, caption, frozenset({"better", "worse", "verdict"}))


def mark_of(row: Mapping[str, Any]) -> str:
    """Give the marks behind a pair's verdict, keys of `MARKS`."""
    return ("*" if row["stable"] is False else "") + ("†" if row["few_discordant"] else "")


def _pair(row: Mapping[str, Any], digits: int, *, equivalence: bool) -> tuple[str, ...]:
    return (
        row["system_a"],
        row["system_b"],
        format_number(row["delta"], digits),
        format_interval(row["interval"], digits),
        format_number(row["se"], digits),
        MISSING if row["discordant"] is None else f"{row['discordant']:,}",
        format_p(row["p_plus_one"]),
        format_p(row["p_one_sided"], row["replicates"]),
        format_p(row["p_adjusted"]["holm"]),
        format_p(row["p_adjusted"]["benjamini_hochberg"]),
        *((format_p(row["p_equivalence"]), format_p(row["p_equivalence_holm"])) if equivalence else ()),
        f"{row['verdict']} {mark_of(row)}".rstrip(),
    )


def _nearest(rows: Sequence[Mapping[str, Any]], alpha: float, most: int) -> Sequence[Mapping[str, Any]]:
    """Give the rows whose p is nearest to α on a log scale, in their own order."""
    if len(rows) <= most:
        return rows
    distance = [abs(math.log((row["p_plus_one"] or 1.0) / alpha)) for row in rows]
    chosen = sorted(sorted(range(len(rows)), key=lambda k: (distance[k], k))[:most])
    return [rows[k] for k in chosen]
