"""The document of a report: every number once, in values of JSON's own types. Pages and tables are views of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import xarray as xr

from pipeline.analyses.pairs import list_slices, read_units
from pipeline.procedures.registry import PROCEDURES
from pipeline.report.adjustment import FamilyOf
from pipeline.report.agreement import describe_agreement
from pipeline.report.alignment import spread_published
from pipeline.report.cube_facts import FULL, count_of, metric_fact
from pipeline.report.experiment_wise import list_errors
from pipeline.report.findings import describe_findings, list_sections, refuse_unshowable
from pipeline.report.input import ReportInput
from pipeline.report.leaderboard import list_systems, stand
from pipeline.report.pair_rows import list_pairs
from pipeline.report.presets import add_tool_p, describe_preset, trust_preset
from pipeline.report.procedures import procedures_of
from pipeline.report.trust import describe_trust
from pipeline.report.units import describe_units, expect_rejection, sign_strata, unit_reasons
from pipeline.report.values import plain
from pipeline.report.verdict_text import FAMILY, Families, by_family, describe_verdict, family_of, select

__all__ = ["SCHEMA_VERSION", "build_document", "digits_of"]

SCHEMA_VERSION = 4
NO_RANKS = {
    name: f"{what}: the family against-baseline says nothing of two systems that are not the baseline"
    for name, what in (("clusters", "no groups of systems"), ("leaderboard.rank", "no ranks"))
}


def build_document(report: ReportInput) -> dict[str, Any]:
    """Build what ``report.json`` holds and ``compare --json`` prints.

    Missing numbers are None, with a ``reason``, ``note`` or an entry of ``reasons`` beside them; nothing is NaN.
    """
    study = report.study
    alpha = study.resampling.alpha
    # What was drawn is what the cubes say: `study` may ask for another report.
    seed = _made_with(report, "seed", study.seed)
    units = list(dict.fromkeys(_unit(report, cube) for cube in report.cubes.values()))
    pairs: list[dict[str, Any]] = []
    board: list[dict[str, Any]] = []
    clusters: list[dict[str, Any]] = []
    errors: list[dict[str, Any]] = []
    family = FamilyOf(study.resampling.family, study.resampling.family_baseline)
    asked: dict[str, Any] = {"alpha": alpha, "margins": study.resampling.margin, "family": family}
    for name, cube in report.cubes.items():
        for metric, procedure in list_slices(cube):
            of: dict[str, Any] = {"metric": metric, "procedure": procedure}
            rows = list_pairs(cube, name, **of, **asked, unit=_unit(report, cube), intervals=study.resampling.intervals)
            rows = add_tool_p(rows, cube, **of)
            pairs += rows
            here = {"test_set": name, **of}
            board_here, clusters_here = stand(rows, cube, metric=metric, family=family, alpha=alpha)
            board += [here | row for row in board_here]
            clusters += [here | row for row in clusters_here]
            error = list_errors(rows, cube, **of, family=family, alpha=alpha)
            errors += [{"test_set": name, **error}] if error is not None else []
    families = by_family(pairs)
    places = {(name, *place) for name, cube in report.cubes.items() for place in list_slices(cube)}
    refuse_unshowable(report.findings, places)
    document: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "study": study.study,
        "run_id": report.run_id,
        "alpha": alpha,
        "seed": seed,
        "unit": units[0] if len(units) == 1 else None,
        "signature": [row for name, cube in report.cubes.items() for row in _signatures(report, name, cube, families)],
        "family": {"name": family.name, "baseline": family.baseline},
        "families": _families(report),
        "preset": describe_preset(report),
        "versions": plain(report.versions),
        "test_sets": [_test_set(name, cube, report) for name, cube in report.cubes.items()],
        "systems": [row for name, cube in report.cubes.items() for row in list_systems(cube, name)],
        "leaderboard": board,
        "pairs": pairs,
        "clusters": clusters,
        "experiment_wise": errors,
        "sections": list_sections(report.findings),
        "findings": describe_findings(report.findings),
        "notes": {finding.analysis: list(finding.notes) for finding in report.findings},
        "reasons": (NO_RANKS if family.baseline is not None else {}) | _reasons(report) | unit_reasons(report.cubes, units),
        "alignment": plain(spread_published(report.alignment)),
        "warnings": [str(warning) for warning in report.warnings],
        "failures": plain(list(report.failures)),
        "trainings": plain(list(report.trainings)),
    }
    document["verdict"] = [
        {**where, "sentences": [*_sentences(document, where, families), *describe_agreement(document, where, families)]}
        for where in _judged(document)
    ]
    document["trust"] = [*describe_trust(document), *trust_preset(document)]
    return document


def digits_of(document: Mapping[str, Any], metric: str | None) -> int:
    """Return the decimals to print for a metric: three in points of a hundred, five where scores do not pass 1."""
    scores = [abs(row["scores"][metric]) for row in document["systems"] if row["scores"].get(metric) is not None]
    return 5 if scores and max(scores) <= 1.5 else 3


def _judged(document: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Yield each test set and metric, to be judged by the first procedure of the study."""
    for first in procedures_of(document)[:1]:
        for row in select(document["signature"], procedure=first):
            yield {key: row[key] for key in FAMILY}


def _sentences(document: Mapping[str, Any], where: Mapping[str, str], families: Families) -> list[str]:
    return describe_verdict(document, where, families[family_of(where)], digits_of(document, where["metric"]))


def _reasons(report: ReportInput) -> dict[str, str]:
    """Say which fields of a pair have no value because its procedure gives none."""
    used = dict.fromkeys(procedure for cube in report.cubes.values() for _, procedure in list_slices(cube))
    found: dict[str, list[str]] = {}
    for procedure in used:
        for name, why in PROCEDURES[procedure].missing.items():
            found.setdefault(f"pairs.{name}", []).append(why)
    return {name: "; ".join(why) for name, why in found.items()}


def _test_set(name: str, cube: xr.Dataset, report: ReportInput) -> dict[str, Any]:
    metrics = [str(metric) for metric in cube["metric"].values.tolist()]
    sizes = read_units(cube)
    empty = [count_of(cube, "empty", metric=m, procedure=p, test_size=FULL) for m, p in list_slices(cube)]
    empty_replicates = None if any(e is None for e in empty) else sum(int(e.max(initial=0)) for e in empty if e is not None)
    unit = _unit(report, cube)
    resting = any(PROCEDURES[procedure].needs_units for _, procedure in list_slices(cube))
    effective = plain(cube.attrs.get("effective_units")) or (sizes[FULL] if unit == "item" else None)
    row: dict[str, Any] = plain(
        {
            "name": name,
            "format": asked.format.name if (asked := report.study.test_sets.get(name)) is not None else None,
            "recognised": report.recognised.get(name),
            "units": sizes[FULL],
            "unit": unit,
            "unit_reason": report.unit_reasons.get(name),
            "effective_units": effective,
            "expected_rejection": expect_rejection(cube, effective or sizes[FULL]) if resting else None,
            **describe_units(cube),
            "items": _items(cube),
            "test_sizes": [{"label": label, "units": units} for label, units in sizes.items()],
            "systems": cube.sizes["system"],
            "pairs": cube.sizes["pair"],
            "replicates": cube.attrs.get("replicates"),
            "empty_replicates": empty_replicates,
            "metrics": [
                {
                    "name": metric,
                    "signature": metric_fact(cube, "metric_signatures", metric),
                    "higher_is_better": metric_fact(cube, "higher_is_better", metric),
                }
                for metric in metrics
            ],
        }
    )
    return row


def _items(cube: xr.Dataset) -> int | None:
    return plain(cube.attrs.get("n_items")) or None


def _made_with(report: ReportInput, name: str, own: Any) -> Any:
    """Return what the cubes say that they were made with, all alike; the study's own value where none says it."""
    return next((plain(cube.attrs[name]) for cube in report.cubes.values() if name in cube.attrs), own)


def _unit(report: ReportInput, cube: xr.Dataset) -> str:
    """Return what is drawn of a test set: what its cube says, where that says nothing what the study does."""
    return str(cube.attrs.get("unit") or report.study.resampling.unit or "item")


def _families(report: ReportInput) -> dict[str, int]:
    """Count the families of tests: within one of them p-values are adjusted, between them they are not."""
    slices = {name: len(list(list_slices(cube))) for name, cube in report.cubes.items()}
    total = sum(slices[name] * cube.sizes["test_size"] for name, cube in report.cubes.items())
    return {"total": total, "full_size": sum(slices.values())}


def _signatures(report: ReportInput, name: str, cube: xr.Dataset, families: Families) -> list[dict[str, str]]:
    study = report.study
    family = FamilyOf(study.resampling.family, study.resampling.family_baseline)
    units, items = int(cube["n_units"].sel(test_size=FULL).item()), _items(cube)
    n = f"{units}" if items in {None, units} else f"{items}/{units}"
    rows = []
    for metric, procedure in list_slices(cube):
        tested = families[name, metric, procedure]
        parts = [
            f"pipeline:{report.versions.get('pipeline', 'unknown')}",
            procedure,
            f"b:{cube.attrs.get('replicates', study.resampling.replicates)}",
            f"seed:{cube.attrs.get('seed', study.seed)}",
            f"unit:{_unit(report, cube)}",
            *sign_strata((cube.attrs.get("strata") or {}).get("column", study.resampling.strata)),
            f"n:{n}",
            "sides:two",
            f"family:{family.sign(tested[0]['adjustment']['family_size'] if tested else 0)}",
            f"metric:{metric}",
        ]
        own = metric_fact(cube, "metric_signatures", metric)
        line = "|".join([*parts, str(own)] if own else parts)
        rows.append({"test_set": name, "metric": metric, "procedure": procedure, "line": line})
    return rows
