"""Tables as text, once for every page. This module formats the document's rows; HTML and Markdown only lay them out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.report.adjustment import name_adjustment
from pipeline.report.document import digits_of
from pipeline.report.finding_views import table_cells
from pipeline.report.pair_table import MARKS, mark_of, pair_table
from pipeline.report.trainings import training_views
from pipeline.report.values import MISSING, format_interval, format_number, format_p, format_share
from pipeline.report.verdict_text import FAMILY, Families, by_family, family_of, select
from pipeline.report.view import View

__all__ = ["MARKS", "View", "mark_of", "view_all"]


def view_all(document: Mapping[str, Any]) -> list[View]:
    """Give every table of a report in the order of the page."""
    families = by_family(document["pairs"])
    return [
        *_leaderboards(document, families),
        *_thresholds(document),
        *_size_curves(document),
        *_calibrations(document),
        *_findings(document),
        *training_views(document),
        *_pairs(document, families),
    ]


def _where(document: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    for row in document["signature"]:
        yield {key: row[key] for key in FAMILY}


def _title(where: Mapping[str, Any]) -> str:
    return f"{where['test_set']} · {where['metric']} · {where['procedure']}"


def _leaderboards(document: Mapping[str, Any], families: Families) -> Iterator[View]:
    known = {(row["test_set"], row["name"]): row for row in document["systems"]}
    facts = [f for f in ("model", "group") if any(row.get(f) and row[f] != row["name"] for row in document["systems"])]
    baseline = document["family"]["baseline"]
    for where in _where(document):
        digits = digits_of(document, where["metric"])
        name = name_adjustment(families[family_of(where)])
        at, rows = f"by {name} at α = {document['alpha']:g}", []
        board = select(document["leaderboard"], **where)
        for row in board:
            system = known[row["test_set"], row["name"]]
            cells = (row["name"], *(system.get(f) or MISSING for f in facts), format_number(row["score"], digits))
            if baseline is not None:
                rows.append((*cells, row["against_baseline"] or MISSING))
                continue
            ranks = MISSING if row["rank"] is None else f"{row['rank_low']}–{row['rank_high']}"
            ends = (str(row["beats"]), str(row["beaten_by"]), row["letters"] or MISSING)
            rows.append((MISSING if row["rank"] is None else str(row["rank"]), *cells, ranks, *ends))
        if baseline is not None:
            columns: tuple[str, ...] = ("system", *facts, "score", f"than {baseline}")
            caption = f"Than {baseline}: the verdict {at}, over the pairs of {baseline} alone, which give no ranks."
            yield View("leaderboard", _title(where), columns, tuple(rows), caption, frozenset({"system", *facts, columns[-1]}))
            continue
        columns = ("rank", "system", *facts, "score", "rank interval", "better than", "worse than", "letters")
        caption = (
            f"Rank interval: the ranks that pairs separated {at} do not exclude, all together. "
            "Better than, worse than: how many systems it is separated from. Systems with the same score share a rank. "
        )
        refused = [row["reason"] for row in select(document["clusters"], **where, definition="letters") if row["reason"]]
        lettered = len(rows) > 2 and not refused  # of two systems the verdict says as much
        if lettered:
            caption += "Systems share a letter exactly where they are not separated."
        elif refused:
            caption += f"No letters: {refused[0]}."
        if not lettered:
            columns, rows = columns[:-1], [row[:-1] for row in rows]
        yield View("leaderboard", _title(where), columns, tuple(rows), caption, frozenset({"system", *facts, "letters"}))


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


def _findings(document: Mapping[str, Any]) -> Iterator[View]:
    for finding in document["findings"]:
        for table in finding["tables"]:
            cells = tuple(table_cells(finding["rows"], table, digits_of(document, table["where"].get("metric"))))
            heads = tuple(column["head"] for column in table["columns"])
            words = frozenset(column["head"] for column in table["columns"] if column["form"] == "text")
            yield View("findings", table["title"], heads, cells, table["caption"], words)


def _pairs(document: Mapping[str, Any], families: Families) -> Iterator[View]:
    places = list(_where(document))
    for where in places:
        rows = families[family_of(where)]
        yield pair_table(document, where, rows, _title(where), digits=digits_of(document, where["metric"]), tables=len(places))
