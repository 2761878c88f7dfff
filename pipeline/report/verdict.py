"""What the numbers say, in sentences, and how far they can be trusted. This module writes both from the document's own rows.

A verdict and the number beside it come from one place: Holm's adjusted two-sided p against the study's α.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.report.values import format_interval, format_number, format_p

__all__ = ["describe_trust", "describe_verdict", "select"]

FEW_UNITS = 50
DRAFT = 100_000


def select(rows: Sequence[Mapping[str, Any]], **where: Any) -> list[Mapping[str, Any]]:
    """Give the rows with these values."""
    return [row for row in rows if all(row.get(key) == value for key, value in where.items())]


def describe_verdict(document: Mapping[str, Any], where: Mapping[str, str], digits: int) -> list[str]:
    """Give about three sentences for one (test set, metric, procedure)."""
    pairs = select(document["pairs"], **where)
    board = select(document["leaderboard"], **where)
    if not pairs:
        return ["There is no pair to compare."]
    alpha, size = document["alpha"], pairs[0]["units"]
    sentences = _two(pairs[0], alpha, digits) if len(pairs) == 1 else _many(pairs, board, alpha, digits)
    thresholds = select(document["thresholds"], **where, test_size="full", relation="all")
    if thresholds and thresholds[0]["gain"] is not None:
        sentences.append(_borderline(thresholds[0], size, digits))
    return sentences


def _borderline(row: Mapping[str, Any], size: int, digits: int) -> str:
    pairs, gain = row["pairs_in_window"], format_number(row["gain"], digits)
    if row["warning"]:
        count = "1 pair is" if pairs == 1 else f"{pairs} pairs are"
        return f"Only {count} borderline at this size (n = {size:,}): too few for the threshold, {gain}, to be leaned on."
    interval = f" {format_interval(row['interval'], digits)}" if row["interval"] else ""
    share = f"{row['percentile']:g} %"
    return f"Of the {pairs:,} pairs that are borderline at this size (n = {size:,}), {share} gain less than {gain}{interval}."


def _two(row: Mapping[str, Any], alpha: float, digits: int) -> list[str]:
    a, b = row["system_a"], row["system_b"]
    if row["verdict"] == "identical":
        return [f"{a} and {b} are identical on every unit: there is no difference to test."]
    gain = f"{format_number(row['delta'], digits)} {format_interval(row['interval'], digits)}"
    p = f"two-sided p = {format_p(row['p_plus_one'])}, {row['procedure']}, α = {alpha:g}"
    if row["verdict"] == "better":
        return [f"{a} scores higher than {b} by {gain}; the difference is separated from zero ({p})."]
    if row["verdict"] == "equivalent":
        return [f"{a} and {b} differ by {gain}: equivalent within the margin of {row['margin']:g} ({p})."]
    return [f"{a} scores higher than {b} by {gain}; the two are not separated at this n = {row['units']:,} ({p})."]


def _many(pairs: Sequence[Mapping[str, Any]], board: Sequence[Mapping[str, Any]], alpha: float, digits: int) -> list[str]:
    best, others = board[0], len(board) - 1
    first = select(pairs, system_a=best["name"])
    beaten = sum(row["separated"] for row in first)
    if beaten == others:
        claim = "separated from all others"
    elif beaten:
        claim = f"separated from {beaten} of the {others} others"
    else:
        claim = f"not separated from any of the {others} others"
    family = f"Holm over {len(pairs):,} pairs, two-sided {pairs[0]['procedure']}, α = {alpha:g}"
    sentences = [f"{best['name']} has the best score, {format_number(best['score'], digits)}, and is {claim} ({family})."]
    separated = sum(row["separated"] for row in pairs)
    identical = sum(row["identical"] for row in pairs)
    rest = len(pairs) - separated - identical
    tail = f"; {identical:,} {'is' if identical == 1 else 'are'} identical on every unit" if identical else ""
    sentences.append(
        f"{separated:,} of {len(pairs):,} pairs are separated; {rest:,} are not separated at this n = {pairs[0]['units']:,}, "
        f"which does not show that they are equal{tail}."
    )
    return sentences


def describe_trust(document: Mapping[str, Any]) -> list[dict[str, str]]:
    """Give each check with its outcome, also those that found nothing and those that were not made."""
    pairs = document["pairs"]
    replicates = min((t["replicates"] for t in document["test_sets"] if t["replicates"]), default=0)
    units = {t["name"]: t["units"] for t in document["test_sets"]}
    few = [f"{name} ({n})" for name, n in units.items() if n < FEW_UNITS]
    missing = sum(int(row.get("missing") or 0) for row in document["alignment"])
    identical = [row for row in pairs if row["identical"]]
    unstable = [row for row in pairs if row["stable"] is False]
    discordant = [row for row in pairs if not row["identical"] and row["discordant"] is not None and row["discordant"] < 20]
    errors = [row["monte_carlo_error"] for row in pairs if row["monte_carlo_error"] is not None]
    biased = [row for row in pairs if row["bias"] is not None and row["se"] and abs(row["bias"]) > 0.25 * row["se"]]
    empty = sum(t["empty_replicates"] or 0 for t in document["test_sets"])
    aligned = "; ".join(f"{t['name']}: {t['units']:,} units, {t['systems']} systems" for t in document["test_sets"])
    checks = [
        ("Items aligned", bool(missing), f"{aligned}. {missing:,} missing outputs{' filled or dropped' if missing else ''}."),
        ("Identical outputs", bool(identical), _identical(identical)),
        (
            "Monte-Carlo error",
            0 < replicates < DRAFT,
            f"b = {replicates:,}; the 95 % half width of any p is at most {format_p(max(errors))}." if errors else "not known.",
        ),
        (
            "Unstable decisions",
            bool(unstable),
            f"{len(unstable):,} of {len(pairs):,} tests lie so near α that other draws may decide otherwise.",
        ),
        (
            "Few units",
            bool(few),
            ("Fewer than 50 units, p-values are too small: " + ", ".join(few)) if few else "Every test set has 50 units or more.",
        ),
        (
            "Few discordant units",
            bool(discordant),
            f"{len(discordant):,} of {len(pairs):,} tests rest on fewer than 20 units on which the systems differ"
            + ("; an exact sign or McNemar test is safer there." if discordant else "."),
        ),
        (
            "Bias of the bootstrap",
            bool(biased),
            f"{len(biased):,} of {len(pairs):,} tests have a bias above a quarter of the standard error.",
        ),
        ("Empty replicates", bool(empty), f"{empty:,} replicates where a score is undefined."),
        (
            "Failures",
            bool(document["failures"]),
            f"{len(document['failures'])} tasks or systems failed and are not in these numbers.",
        ),
    ]
    rows = [{"check": name, "status": "look" if bad else "fine", "detail": detail} for name, bad, detail in checks]
    unchecked = "sampling under a true null on this study's own data, and the shape of the distribution of δ*."
    return [
        *rows,
        {"check": "Calibration of the test", "status": "not checked", "detail": f"Not made by this version: {unchecked}"},
    ]


def _identical(rows: Sequence[Mapping[str, Any]]) -> str:
    names = sorted({f"{row['system_a']} = {row['system_b']} ({row['test_set']})" for row in rows})
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return f"Left out of thresholds, p = 1: {shown}." if names else "No two systems agree on every unit."
