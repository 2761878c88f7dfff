"""Build a report from the results of a run: the rows of every family, facts about the study, and sentences on both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.analyses.exact_laws import is_exact
from pipeline.analyses.pairs import list_slices, read_units
from pipeline.analyses.presentation import decimals_of
from pipeline.analyses.replicas.models import ModelGains
from pipeline.interfaces.analyses import FULL
from pipeline.interfaces.wording import call_metrics, name_metric, write_p_at
from pipeline.procedures.registry import PROCEDURES
from pipeline.report.alignment import spread_published
from pipeline.report.document import SCHEMA_VERSION, FullReport, Report
from pipeline.report.expectations import digest_of, judge_expectations
from pipeline.report.facts import FamilyName, ItemClusters, MetricRow, Strata, TestSetRow, TestSizeRow
from pipeline.report.families.across_families import Correction, correct_across, count_families
from pipeline.report.families.adjustment import FamilyOf
from pipeline.report.families.experiment_wise import count_errors
from pipeline.report.families.leaderboard import list_systems, rank_systems
from pipeline.report.findings import describe_findings, list_sections, refuse_unshowable
from pipeline.report.input import ReportInput
from pipeline.report.layout.tables import make_tables
from pipeline.report.models.model_detectable import add_model_effects
from pipeline.report.models.model_text import describe_models
from pipeline.report.models.models import judge_all, trust_models
from pipeline.report.pairs.cube_facts import count_of, metric_fact
from pipeline.report.pairs.detectable import add_detectable
from pipeline.report.pairs.listing import choose_pairs, count_pairs, locate_pairs, share_of_list
from pipeline.report.pairs.pair_rows import list_pairs
from pipeline.report.pairs.pair_set import PairSet
from pipeline.report.pairs.pairs import join_pairs
from pipeline.report.presets import add_tool_p, describe_preset, trust_preset
from pipeline.report.rows import BoardRow, ClusterRow, ErrorRow, FamilyKey, SignatureRow, Verdict
from pipeline.report.trainings import say_only_model
from pipeline.report.trust.trust import describe_trust
from pipeline.report.trust.units import expect_rejection, sign_strata, unit_reasons
from pipeline.report.values import plain
from pipeline.report.verdict_text import describe_verdict

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["build_report"]

NO_RANKS = {
    name: f"{what}: the family against-baseline says nothing of two systems that are not the baseline"
    for name, what in (("clusters", "no groups of systems"), ("leaderboard.rank", "no ranks"))
}


class _Family(NamedTuple):
    """The rows of one family."""

    pairs: PairSet
    board: list[BoardRow]
    clusters: list[ClusterRow]
    error: ErrorRow | None
    signature: SignatureRow


def build_report(given: ReportInput) -> FullReport:
    """Return everything that a report says; missing numbers are None, with a reason or note beside them."""
    with call_metrics(given.titles), write_p_at(given.study.resampling.alpha):
        return _build(given)


def _build(given: ReportInput) -> FullReport:
    study = given.study
    cubes = {FamilyKey(name, *place): cube for name, cube in given.cubes.items() for place in list_slices(cube)}
    refuse_unshowable(given.findings, cubes)
    asked = FamilyOf(study.resampling.family, study.resampling.family_baseline)
    within = {place: _pairs(given, cube, place, asked) for place, cube in cubes.items()}
    corrections = _correct_across(given, within)
    # Against a baseline the study names a system, and its verdicts are about systems.
    gains, across = given.models if asked.baseline is None else (), study.resampling.across_families != "none"
    margins = study.resampling.margin
    models = add_model_effects(
        judge_all(gains, alpha=study.resampling.alpha, across=across, margins=margins),
        gains,
        alpha=study.resampling.alpha,
        across=across,
    )
    counts = count_families(
        within,
        corrections,
        first=next(iter(within)).procedure if within else None,
        total=sum(cube.sizes["test_size"] for cube in cubes.values()),
        alpha=study.resampling.alpha,
    )
    families = [_family(given, cube, place, asked, within[place], corrections) for place, cube in cubes.items()]
    del within
    full = dict(zip(cubes, (family.pairs for family in families), strict=True))
    listed = _list_pairs(families, study.resampling.alpha, share_of_list(full))
    units = list(dict.fromkeys(_unit(given, cube) for cube in given.cubes.values()))
    report = FullReport(
        schema_version=SCHEMA_VERSION,
        study=study.study,
        run_id=given.run_id,
        alpha=study.resampling.alpha,
        # The cubes say what was drawn: `study` may ask for another report.
        seed=_made_with(given, "seed", study.seed),
        unit=units[0] if len(units) == 1 else None,
        signature=[family.signature for family in families],
        family=FamilyName(asked.name, asked.baseline),
        families=counts,
        preset=describe_preset(given),
        versions=plain(given.versions),
        test_sets=[_test_set(given, name, cube) for name, cube in given.cubes.items()],
        systems=[row for name, cube in given.cubes.items() for row in list_systems(cube, name)],
        models=[row for judged in models for row in judged.models],
        model_pairs=[row for judged in models for row in judged.pairs],
        leaderboard=list(chain.from_iterable(family.board for family in families)),
        all_pairs=locate_pairs(full, listed),
        pair_counts=[count_pairs(place, full[place], listed=len(rows)) for place, rows in zip(full, listed, strict=True)],
        pairs=join_pairs(listed),
        clusters=list(chain.from_iterable(family.clusters for family in families)),
        experiment_wise=[family.error for family in families if family.error is not None],
        sections=list_sections(given.findings, of_models=bool(models), pairs=max(map(len, full.values()), default=0)),
        findings=describe_findings(given.findings),
        notes={finding.analysis: list(finding.notes) for finding in given.findings},
        reasons=(NO_RANKS if asked.baseline is not None else {}) | _reasons(given) | unit_reasons(given.cubes, units),
        alignment=plain(spread_published(given.alignment)),
        warnings=[str(warning) for warning in given.warnings],
        failures=given.failures,
        trainings=given.trainings,
        verdict=(),
        trust=(),
        full=full,
        listed=listed,
    )
    # Sentences are written from the report's own rows: a verdict by the first procedure of the study, then what to trust.
    judged = [place for place in report.places if place.procedure == report.procedures[0]]
    report = replace(report, verdict=[_describe(report, place, given.models) for place in judged])
    if study.expect:
        report = _hold_to(report, given)
    return replace(report, trust=[*describe_trust(report), *trust_models(report), *trust_preset(report)])


def _hold_to(report: FullReport, given: ReportInput) -> FullReport:
    """Add the comparison with the study's known answers: a finding like those of analyses, made from the tables."""
    interval_of = {file: column for finding in given.findings for file, column in finding.interval_of.items()}
    tables = make_tables(report, given.cubes, given.findings)
    found = judge_expectations(given.study.expect, tables, interval_of=interval_of, study=digest_of(given.study))
    findings = (*given.findings, found)
    return replace(
        report,
        sections=list_sections(findings, of_models=bool(report.models), pairs=max(map(len, report.full.values()), default=0)),
        findings=describe_findings(findings),
        notes=dict(report.notes) | {found.analysis: list(found.notes)},
        held_to=found,
    )


def _describe(report: Report, place: FamilyKey, of_runs: Sequence[ModelGains]) -> Verdict:
    if report.model_pairs_of(place):
        return describe_models(report, place)
    alone = say_only_model(report, place)
    if alone is not None:
        return Verdict(*place, sentences=[alone])
    found = describe_verdict(report, place)
    run = next((gains.run for gains in of_runs if (gains.test_set, gains.metric) == (place.test_set, place.metric)), None)
    if run is None:
        return found
    told = f"These are single {run}s, not models: of models a report on all pairs has verdicts (family: all-pairs)."
    return replace(found, sentences=[*found.sentences, told])


def _list_pairs(families: Sequence[_Family], alpha: float, most: int | None) -> list[PairSet]:
    """Return the pairs of each family that the document lists."""
    if most is None:
        return [family.pairs for family in families]
    return [family.pairs.where(choose_pairs(family.pairs, family.board, alpha, most)) for family in families]


def _pairs(
    given: ReportInput, cube: xr.Dataset, place: FamilyKey, asked: FamilyOf, correction: Correction | None = None
) -> PairSet:
    resampling = given.study.resampling
    return list_pairs(
        cube,
        place,
        alpha=resampling.alpha,
        margins=resampling.margin,
        family=asked,
        unit=_unit(given, cube),
        intervals=resampling.intervals,
        correction=correction,
    )


def _correct_across(given: ReportInput, within: Mapping[FamilyKey, PairSet]) -> dict[str, Correction]:
    """Return the correction across the families of each procedure; none where a study asks for none."""
    by, alpha = given.study.resampling.across_families, given.study.resampling.alpha
    if by == "none":
        return {}
    procedures = dict.fromkeys(place.procedure for place in within)
    return {
        name: correct_across({place: rows for place, rows in within.items() if place.procedure == name}, by=by, alpha=alpha)
        for name in procedures
    }


def _family(
    given: ReportInput,
    cube: xr.Dataset,
    place: FamilyKey,
    asked: FamilyOf,
    rows: PairSet,
    corrections: Mapping[str, Correction],
) -> _Family:
    alpha, correction = given.study.resampling.alpha, corrections.get(place.procedure)
    if correction is not None:
        rows = _pairs(given, cube, place, asked, correction)
    rows = add_detectable(rows, cube, place, alpha=alpha if correction is None else correction.level)
    rows = add_tool_p(rows, cube, metric=place.metric, procedure=place.procedure)
    board, clusters = rank_systems(rows, cube, place, family=asked, alpha=alpha)
    error = count_errors(rows, cube, place, family=asked, alpha=alpha)
    return _Family(rows, board, clusters, error, _sign(given, cube, place, asked, rows))


def _reasons(given: ReportInput) -> dict[str, str]:
    """Say which fields of a pair have no value because its procedure gives none."""
    used = dict.fromkeys(procedure for cube in given.cubes.values() for _, procedure in list_slices(cube))
    found: dict[str, list[str]] = {}
    for procedure in used:
        for name, why in PROCEDURES[procedure].missing.items():
            found.setdefault(f"pairs.{name}", []).append(why)
    return {name: "; ".join(why) for name, why in found.items()}


def _test_set(given: ReportInput, name: str, cube: xr.Dataset) -> TestSetRow:
    sizes, unit, asked = read_units(cube), _unit(given, cube), given.study.test_sets.get(name)
    resting = any(PROCEDURES[procedure].few_units for _, procedure in list_slices(cube))
    effective: float | None = plain(cube.attrs.get("effective_units")) or (sizes[FULL] if unit == "item" else None)
    return TestSetRow(
        name=name,
        format=asked.format.name if asked is not None else None,
        recognised=given.recognised.get(name),
        units=sizes[FULL],
        unit=unit,
        unit_reason=given.unit_reasons.get(name),
        effective_units=effective,
        expected_rejection=plain(expect_rejection(cube, effective or sizes[FULL])) if resting else None,
        strata=Strata(**plain(dict(cube.attrs["strata"]))) if cube.attrs.get("strata") else None,
        clusters=ItemClusters(**plain(dict(cube.attrs["clusters"]))) if cube.attrs.get("clusters") else None,
        items=_items(cube),
        test_sizes=[TestSizeRow(label, units) for label, units in sizes.items()],
        systems=cube.sizes["system"],
        pairs=cube.sizes["pair"],
        replicates=_counted_replicates(cube),
        kept_replicates=plain(cube.attrs.get("kept")),
        empty_replicates=_count_empty(cube),
        metrics=[
            MetricRow(
                name=metric,
                signature=plain(metric_fact(cube, "metric_signatures", metric)),
                higher_is_better=plain(metric_fact(cube, "higher_is_better", metric)),
                title=name_metric(metric),
                decimals=decimals_of(given.cubes, metric),
            )
            for metric in map(str, cube["metric"].values.tolist())
        ],
    )


def _counted_replicates(cube: xr.Dataset) -> int | None:
    """Return b; None where all p-values of procedures that draw are exact."""
    drawing = [(metric, procedure) for metric, procedure in list_slices(cube) if PROCEDURES[procedure].draws]
    if drawing and all(is_exact(cube, {"metric": metric, "procedure": procedure}) for metric, procedure in drawing):
        return None
    found: int | None = plain(cube.attrs.get("replicates"))
    return found


def _count_empty(cube: xr.Dataset) -> int | None:
    """Return the most replicates without a score of any pair, summed over metrics and procedures; None where one is not known."""
    empty = [count_of(cube, "empty", metric=m, procedure=p, test_size=FULL) for m, p in list_slices(cube)]
    return None if any(e is None for e in empty) else sum(int(e.max(initial=0)) for e in empty if e is not None)


def _items(cube: xr.Dataset) -> int | None:
    return plain(cube.attrs.get("n_items")) or None


def _made_with(given: ReportInput, name: str, own: Any) -> Any:
    """Return the value that the cubes were made with, the same in all; the study's own value where none has it."""
    return next((plain(cube.attrs[name]) for cube in given.cubes.values() if name in cube.attrs), own)


def _unit(given: ReportInput, cube: xr.Dataset) -> str:
    """Return the unit that is drawn of a test set, by its cube, or by the study where the cube does not say."""
    return str(cube.attrs.get("unit") or given.study.resampling.unit or "item")


def _sign(given: ReportInput, cube: xr.Dataset, place: FamilyKey, asked: FamilyOf, rows: PairSet) -> SignatureRow:
    study = given.study
    units, items = int(cube["n_units"].sel(test_size=FULL).item()), _items(cube)
    parts = [
        f"pipeline:{given.versions.get('pipeline', 'unknown')}",
        place.procedure,
        f"b:{'exact' if is_exact(cube, place._asdict()) else cube.attrs.get('replicates', study.resampling.replicates)}",
        f"seed:{cube.attrs.get('seed', study.seed)}",
        f"unit:{_unit(given, cube)}",
        *sign_strata((cube.attrs.get("strata") or {}).get("column", study.resampling.strata)),
        f"n:{units}" if items in {None, units} else f"n:{items}/{units}",
        "sides:two",
        f"family:{asked.sign(rows[0].adjustment.family_size if len(rows) else 0)}",
        f"metric:{place.metric}",
    ]
    own = metric_fact(cube, "metric_signatures", place.metric)
    return SignatureRow(*place, line="|".join([*parts, str(own)] if own else parts))
