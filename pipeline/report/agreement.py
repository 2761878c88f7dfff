"""Do further procedures decide as the first one? This module says so in a sentence for each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.report.adjustment import name_adjustment
from pipeline.report.p_value_notes import say_missing, say_p
from pipeline.report.procedures import procedures_of
from pipeline.report.verdict_text import Families, family_of

__all__ = ["describe_agreement"]

MOST_NAMED = 5


def describe_agreement(document: Mapping[str, Any], where: Mapping[str, str], families: Families) -> Iterator[str]:
    """Compare the pairs that other procedures separate with those of ``where``'s, at the same α, each by its own adjustment."""
    judged = families[family_of(where)]
    first = {(row["system_a"], row["system_b"]): row["separated"] for row in judged}
    for procedure in procedures_of(document):
        rows = families[family_of({**where, "procedure": procedure})]
        tested = [row for row in rows if row["in_family"] and row["p"] is not None and not row["identical"]]
        if procedure == where["procedure"]:
            continue
        if not tested:
            missing = say_missing(rows)
            if missing:
                yield f"By {procedure} no pair could be measured: {missing}."
            continue
        separated = [row for row in tested if row["separated"]]
        # Pairs without an order stand in the order of the cube under every procedure: the names are the same.
        turned = [row for row in tested if row["separated"] != first[row["system_a"], row["system_b"]]]
        # Two procedures may be adjusted in two ways: then the way is told, as it may be why they differ.
        by = procedure if name_adjustment(rows) == name_adjustment(judged) else f"{procedure} ({name_adjustment(rows)})"
        if sum(row["in_family"] for row in rows) == 1:
            yield _one(procedure, tested[0], agrees=not turned)
            continue
        family = rows[0]["adjustment"]["family_size"]
        count = f"{len(separated):,} of {family:,} pair{'' if family == 1 else 's'} {'is' if len(separated) == 1 else 'are'}"
        if not turned:
            same = ", the same ones" if len(separated) > 1 else ", the same one" if separated else ""
            yield f"By {by} {count} separated{same}."
            continue
        named = ", ".join(f"{row['system_a']} – {row['system_b']}" for row in turned[:MOST_NAMED])
        more = f" and {len(turned) - MOST_NAMED:,} more" if len(turned) > MOST_NAMED else ""
        verb = "verdict differs" if len(turned) == 1 else "verdicts differ"
        yield f"By {by} {count} separated; {len(turned):,} {verb} from those of {where['procedure']}: {named}{more}."


def _one(procedure: str, row: Mapping[str, Any], *, agrees: bool) -> str:
    found = "separated from zero" if row["separated"] else "not separated"
    so = ("as well" if row["separated"] else "either") if agrees else "which is another verdict"
    return f"By {procedure} ({say_p(row)}) the difference is {found}{' ' if agrees else ', '}{so}."
