"""Say of a finding that its systems are single runs of models: another run of the same model may say otherwise."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from pipeline.analyses.replicas.data import group_runs
from pipeline.analyses.replicas.models import name_run
from pipeline.interfaces import Finding

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["find_run", "say_single_runs"]


def find_run(cubes: Iterable[xr.Dataset]) -> str | None:
    """Return what the systems are called of which a model has several: run, sample or prompt; None where no model has."""
    found = set()
    for cube in cubes:
        if {"model", "replica"} <= set(cube.variables):
            several = [model for model in group_runs(cube, model="model", replica="replica") if len(model.systems) > 1]
            found |= {name_run(cube, model.systems) for model in several}
    return (found.pop() if len(found) == 1 else "run") if found else None


def say_single_runs(finding: Finding, run: str) -> Finding:
    """Return a finding that says so: in its notes, under its first table and its figures, and in its sentences for verdicts.

    Examples
    --------
    >>> from pipeline.interfaces import Headline
    >>> said = say_single_runs(Finding("gaps", (), headlines=(Headline({}, "Gains above 2 are usually significant."),)), "run")
    >>> said.headlines[0].sentence
    'Gains above 2 are usually significant. This is about single runs, not about models.'
    """
    briefly = f"This is about single {run}s, not about models."
    fully = f"Systems are single {run}s of models here: what is said of a pair need not hold of another {run} of the same models."
    tables, figures = finding.tables, finding.figures
    if tables:  # tables of one caption show it once
        first = tables[0].caption
        tables = tuple(replace(one, caption=f"{fully} {first}".rstrip()) if one.caption == first else one for one in tables)
    figures = tuple(replace(one, caption=f"{one.caption} {briefly}".lstrip()) for one in figures)
    headlines = tuple(replace(one, sentence=f"{one.sentence} {briefly}") for one in finding.headlines)
    return replace(finding, notes=(fully, *finding.notes), tables=tables, figures=figures, headlines=headlines)
