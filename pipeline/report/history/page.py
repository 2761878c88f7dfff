"""A history as a page: what changed and what a gate answers, slot by slot; styled like a report, without scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from pipeline.report.history.gate import Judged
from pipeline.report.history.slot_text import changes_by_kind, say_changed, say_level
from pipeline.report.layout.templates import make_environment
from pipeline.report.values import format_level

__all__ = ["render_history"]


def render_history(
    study: str, accounts: Sequence[Mapping[str, Any]], missed: Mapping[str, Mapping[str, Any]], pages: Mapping[str, str]
) -> str:
    """Return the page as text; every name of the study is escaped.

    Parameters
    ----------
    study : str
        Its name.
    accounts : sequence of mappings
        Of all slots, in order.
    missed : mapping
        Slots that could not be measured, with why.
    pages : mapping of str to str
        The page of each run that has one, as a path from the folder of the history.
    """
    environment = make_environment()
    text = environment.get_template("history.html.j2").render(
        study=study,
        slots=[_slot(account, pages) for account in reversed(accounts)],
        missed=[(slot, each["why"]) for slot, each in sorted(missed.items())],
    )
    return text.rstrip() + "\n"


def _slot(account: Mapping[str, Any], pages: Mapping[str, str]) -> dict[str, Any]:
    look = account["look"]
    of = "" if look["looks"] is None else f" of {look['looks']}"
    return {
        "name": account["slot"],
        "answer": account["answer"] or "",
        "changes": account["changes"],
        "look": f"{look['look']}{of}" + (f", period {look['period']}" if look["period"] > 1 else ""),
        "level": format_level(account["level"]),
        "run": account["run"],
        "page": quote(pages.get(account["run"], "")),
        "said": say_changed(account),
        "kinds": changes_by_kind(account),
        "comparisons": [Judged(**one).say() for one in account["comparisons"]],
        "limits": say_level(account),
        "notes": account["notes"],
    }
