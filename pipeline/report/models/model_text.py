"""Text about models, made from their rows: sentences for a verdict, tables for pages and the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from pipeline.inference.unit_diagnostics.undecided import explain_undecided
from pipeline.interfaces.wording import name_metric
from pipeline.report.document import Report
from pipeline.report.layout.view import View
from pipeline.report.models.model_detectable import describe_model_effects
from pipeline.report.models.model_rows import ModelPairRow, ModelRow
from pipeline.report.pairs.detectable_text import SHOWN
from pipeline.report.pairs.pair_table import MARKS
from pipeline.report.rows import FamilyKey, Verdict, family_of
from pipeline.report.trust.units import count_size
from pipeline.report.values import MISSING, format_gain, format_interval, format_number, format_p, format_share
from pipeline.report.verdict_text import all_phrase, count_phrase, say_standing

__all__ = ["MODEL_BOARD", "MODEL_PAIRS", "count_pairs", "describe_models", "model_views", "say_claim"]

PARTS = ("σ² unit", "σ² S×unit", "σ² run", "σ² e")
MODEL_BOARD = ("rank", "model", "runs", "mean", "sd", "lowest", "highest", "rank interval", "better than", "worse than")
_EQUIVALENCE = ("p eq.", "Holm eq.")
MODEL_PAIRS = (
    *("better", "worse", "gain", "interval", "p", "p adjusted", "verdict", "se", "df", "MDE", "runs' share", *PARTS, *_EQUIVALENCE),
)
"""Those of equivalence only where there is a margin."""
_TESTS = {"methods": "quasi-F", "systems": "t-test of the means over {runs} of each {unit}"}


def say_claim(claim: str, unit: str) -> str:
    """Say which claim a p tests.

    Examples
    --------
    >>> say_claim("methods", "item")
    'a claim about methods: new runs and new items'
    """
    return (
        f"a claim about methods: new runs and new {unit}s"
        if claim == "methods"
        else f"a claim about these finished systems on new {unit}s"
    )


def describe_models(report: Report, place: FamilyKey) -> Verdict:
    """Return a few sentences on the models of a test set and metric, and what analyses add."""
    models, pairs = report.models_of(place), report.model_pairs_of(place)
    # An analysis that is asked for twice may return the same sentence twice.
    headlines = dict.fromkeys(row.sentence for finding in report.findings for row in finding.headlines if family_of(row) == place)
    return Verdict(*place, sentences=[*_judge(report, place, models, pairs), *headlines])


def _judge(report: Report, place: FamilyKey, models: Sequence[ModelRow], pairs: Sequence[ModelPairRow]) -> Iterator[str]:
    digits, unit = report.decimals(place.metric), report.test_set(place.test_set).unit
    run, claim = pairs[0].repeated, pairs[0].claim
    test = _TESTS[claim].format(runs=f"{run}s", unit=unit)
    falling = report.falls(place)
    lower = " (lower is better)" if falling else ""
    if len(pairs) == 1:
        yield from _two(pairs[0], report, test, digits, unit, run, lower)
        told = pairs[0]
    else:
        ranked = [row for row in models if row.rank is not None]
        if not ranked:
            yield "No model has a defined score."
            return
        yield _leader(ranked, pairs, report, test, digits, unit, run, lower)
        told = _nearest(ranked, pairs)
        yield count_pairs(pairs)
    yield from _single(models, run, digits)
    yield from filter(None, [describe_model_effects(pairs, digits, unit)])
    yield from _budget(told, digits, unit, run, alone=len(pairs) == 1)


def _single(models: Sequence[ModelRow], run: str, digits: int) -> Iterator[str]:
    """Tell of systems with one run: a reader looks for them among the models, and one of them may have the best score of all."""
    alone = [row for row in models if row.rank is None and row.score is not None]
    if not alone:
        return
    name, score = alone[0].model, format_number(alone[0].score, digits)
    if len(alone) == 1:
        yield f"{name} has one {run}, and so no place among the models; it scores {score}."
    else:
        many = f"{len(alone):,} systems have one {run} each"
        yield f"{many}, and so no place among the models; the best of them, {name}, scores {score}."


def count_pairs(pairs: Sequence[ModelPairRow]) -> str:
    """Return how many pairs of models are separated, of those that could be tested."""
    told = Counter("identical" if row.identical else row.verdict for row in pairs)
    separated = sum(row.verdict == "better" or bool(row.differs_within_margin) for row in pairs)
    tested = sum(row.p is not None for row in pairs)
    noun = "pair of models is" if tested == 1 else f"pairs of models {'is' if separated == 1 else 'are'}"
    parts = [f"{separated:,} of {tested:,} {noun} separated"]
    if tested and separated == tested:
        parts = [
            f"{all_phrase(tested)} pairs of models are separated"
            if tested > 1
            else "The one pair that could be tested is separated"
        ]
    rest = told["not separated"] + told["inconclusive"]
    if rest:
        equal = f"which does not show that {'the two' if rest == 1 else 'they'} are equal"
        if separated:
            parts.append(f"{count_phrase(rest)} not, {equal}")
        elif rest == tested > 1:
            parts = [f"{'Neither' if tested == 2 else 'None'} of the {tested:,} pairs of models is separated, {equal}"]
        else:
            noun = "pair" if tested == 1 else "pairs"
            parts = [f"{rest:,} of {tested:,} {noun} of models {'is' if rest == 1 else 'are'} not separated, {equal}"]
    why = Counter(_why(row) for row in pairs if row.verdict == "not decided")
    parts += [f"{count_phrase(number)} not decided: {reason}" for reason, number in why.items()]
    if told["equivalent"]:
        both = sum(bool(row.differs_within_margin) for row in pairs)
        besides = f" ({both:,} of them separated from zero all the same)" if both else ""
        parts.append(f"{count_phrase(told['equivalent'])} equivalent within the margin of {pairs[0].margin:g}{besides}")
    if told["identical"]:
        parts.append(f"{count_phrase(told['identical'])} identical")
    if told["not measured"]:
        reasons = dict.fromkeys(row.reason for row in pairs if row.reason)
        parts.append(f"{told['not measured']:,} could not be tested: {', and '.join(map(str, reasons))}")
    return "; ".join(parts) + "."


def _why(row: ModelPairRow) -> str:
    return explain_undecided(row.undecided or "", units=row.units, models=True)


def _two(row: ModelPairRow, report: Report, test: str, digits: int, unit: str, run: str, lower: str) -> Iterator[str]:
    a, b = row.model_a, row.model_b
    if row.identical:
        yield f"{a} and {b} are identical, {run} by {run}: there is no difference to test."
        return
    if row.verdict == "not measured":
        yield f"{a} and {b} cannot be compared: {row.reason}."
        return
    ends = f" {format_interval({'lo': row.interval.lo, 'hi': row.interval.hi}, digits)}" if row.interval else ""
    over = f"{row.runs_a}" if row.runs_a == row.runs_b else f"{row.runs_a} and {row.runs_b}"
    means = f" (means over {over} {run}s {format_number(row.score_a, digits)} and {format_number(row.score_b, digits)}{lower})"
    gain = f"{format_gain(row.delta, digits)}{ends}{means}"
    how = f"{_say_p(row)}, two-sided {test}, α = {report.alpha:g}; {say_claim(row.claim, unit)}"
    test_set = report.test_set(row.test_set)
    size = count_size(test_set.items, row.units, test_set.unit)
    equal = f"{a} and {b} have the same mean score, {format_number(row.score_a, digits)}"
    if row.verdict == "equivalent":
        within = f"p of equivalence = {format_p(row.p_equivalence_holm)}; {how}"
        yield f"{a} and {b} differ by {gain}: equivalent within the margin of {row.margin:g} ({within})."
        if row.differs_within_margin:
            yield f"The difference is separated from zero all the same: {a} is better, by less than the margin."
        return
    if row.verdict == "not decided":
        yield f"{f'{a} is ahead of {b} by {gain}' if row.delta else equal}; not decided: {_why(row)} ({how})."
    elif row.verdict == "better":
        yield f"{a} is better than {b} by {gain}; the difference is separated from zero ({how})."
    elif not row.delta:
        yield f"{equal}: neither is ahead."
    else:
        yield f"{a} is ahead of {b} by {gain}; the two are not separated at this {size} ({how})."
    if row.p_equivalence_holm is not None:
        yield _say_margin(row, report.alpha)


def _say_margin(row: ModelPairRow, alpha: float) -> str:
    a, b, p = row.model_a, row.model_b, (row.p_equivalence_holm, row.p_behind, row.p_ahead)
    equivalent, behind, ahead = map(format_p, p)
    sides = f"that {b} is not worse by the margin has p = {behind}, that {a} is not p = {ahead}"
    if row.undecided is not None and any(of is not None and of <= alpha for of in p):
        why = "" if row.verdict == "not decided" else f": {_why(row)}"
        return f"Nor is anything decided about the margin of {row.margin:g}{why} (p of equivalence = {equivalent}; {sides})."
    return f"Equivalence within the margin of {row.margin:g} is not shown (p = {equivalent}); {sides}."


def _say_p(row: ModelPairRow) -> str:
    if row.se and row.delta and row.df is not None and row.p_floor != row.p:
        return f"t = {row.delta / row.se:.2f} with {row.df:.3g} degrees of freedom, p = {format_p(row.p)}"
    return f"p = {format_p(row.p)}"


def _leader(
    ranked: Sequence[ModelRow],
    pairs: Sequence[ModelPairRow],
    report: Report,
    test: str,
    digits: int,
    unit: str,
    run: str,
    lower: str,
) -> str:
    best = [row for row in ranked if row.rank == 1]
    score = format_number(best[0].score, digits) + lower
    family = f"{_say_family(pairs, report)}, two-sided {test}, α = {report.alpha:g}"
    how = f"{family}; {say_claim(pairs[0].claim, unit)}"
    if len(best) > 1:
        return f"{', '.join(row.model for row in best[:-1])} and {best[-1].model} share the best mean score, {score} ({how})."
    first, others = best[0], len(ranked) - 1
    spread = "" if first.sd is None else f", sd {format_number(first.sd, digits)} over {first.runs} {run}s"
    if not others:
        return f"{first.model} alone has a defined mean score, {score}{spread}."
    own = [row for row in pairs if row.verdict == "not decided" and first.model in (row.model_a, row.model_b)]
    unknown = sum(row.p_adjusted is not None and row.p_adjusted <= report.alpha for row in own)
    claim = say_standing([first.beats], [unknown], others, noun=" model")
    return f"{first.model} has the best mean score, {score}{spread}, and is {claim} ({how})."


def _say_family(pairs: Sequence[ModelPairRow], report: Report) -> str:
    """Say what Holm is over; across families the tests of equivalence are among them."""
    size = pairs[0].family_size
    of = "tests of pairs" if size > len(report.model_pairs) else "pair" if size == 1 else "pairs"
    return f"Holm over {size:,} {of} of models"


def _nearest(ranked: Sequence[ModelRow], pairs: Sequence[ModelPairRow]) -> ModelPairRow:
    """Return the pair of the best model and the next."""
    names = {ranked[0].model, ranked[1].model} if len(ranked) > 1 else set()
    return next((row for row in pairs if {row.model_a, row.model_b} == names), pairs[0])


def _budget(row: ModelPairRow, digits: int, unit: str, run: str, *, alone: bool) -> Iterator[str]:
    """Say how more runs or more units would change the standard error, and how much runs contribute."""
    if row.se is None or row.se_more_runs is None or row.se_more_units is None:
        return
    of = "the gain" if alone else f"the gain of {row.model_a} over {row.model_b}"
    share = ""
    if row.claim == "methods" and row.run_share is not None:
        share = f"{run}s make {format_share(row.run_share)} of its variance, and "
    runs, units = (format_gain(se, digits) for se in (row.se_more_runs, row.se_more_units))
    more = f"{row.more_runs:,} more {run}s of each model" if run == "run" else f"{row.more_runs:,} more {run}s of each {unit}"
    yield (
        f"The standard error of {of} is {format_gain(row.se, digits)}: {share}it would be about {runs} with {more}, {units} with "
        f"{row.more_units:,} more {unit}s."
    )
    if alone and None not in (parts := _components(row)):
        whole = sum(max(part or 0.0, 0.0) for part in parts) or 1.0
        names = (unit, f"model × {unit}", run, f"{run} × {unit}")
        told = ", ".join(f"{name} {format_share(max(part or 0.0, 0.0) / whole)}" for name, part in zip(names, parts, strict=True))
        yield f"Variance of the score of one {unit} in one {run}: {told}."


def _components(row: ModelPairRow) -> tuple[float | None, ...]:
    return (row.variance_unit, row.variance_system_unit, row.variance_run, row.variance_residual)


def model_views(report: Report, place: FamilyKey) -> Iterator[View]:
    """Yield the leaderboard of models and the table of their pairs."""
    digits, unit = report.decimals(place.metric), report.test_set(place.test_set).unit
    models, pairs = report.models_of(place), report.model_pairs_of(place)
    run, claim = pairs[0].repeated, pairs[0].claim
    title, text = f"{place.test_set} · {name_metric(place.metric)}", frozenset({"model", "better", "worse", "verdict"})
    caption = (
        f"Mean and standard deviation (sd) of the scores of a model's {run}s, and the lowest and highest of them. Rank interval: "
        f"the ranks that the separated pairs of models leave open. Models with one {run} have no rank."
    )
    yield View("models", f"{title} · models", MODEL_BOARD, tuple(_board_cells(row, digits) for row in models), caption, text)
    test = _TESTS[claim].format(runs=f"{run}s", unit=unit)
    caption = (
        f"Two-sided p by the {test}: {say_claim(claim, unit)}. p adjusted is by {_say_family(pairs, report)}, "
        f"and decides; the intervals, gain ± t se, hold for all these pairs together at 1 − α (Bonferroni), and end at 0 where "
        f"they would contradict the verdict. MDE: minimum detectable effect, the smallest gain found with {SHOWN} by as many runs "
        f"and units. Runs' share: of the variance of the gain, that due to {run}s. σ²: components of the variance of one "
        f"{unit}'s score in one {run}; S×unit is that of models and "
        f"{unit}s together. Where fewer than 20 {unit}s differ, p is at least that of swapping the outputs of whole {unit}s."
    )
    margin = pairs[0].margin
    if any(row.verdict == "not decided" for row in pairs):
        a_p, kinds = ("p", "a difference is not") if margin is None else ("a p", "neither a difference nor equivalence is")
        caption += (
            f" Not decided: {a_p} is at most α, and {kinds} claimed, as no test holds its level on such scores, nor would an "
            "interval."
        )
    if margin is not None:
        caption += (
            f" p eq., Holm eq.: of equivalence within the margin of {margin:g}, by two one-sided t-tests: p is at most α where "
            "both ends of the interval at 1 − 2α lie within the margin. Inconclusive: neither equivalent nor separated."
        )
    if any(row.differs_within_margin for row in pairs):
        caption += f" ‡ {MARKS['‡']}."
    columns = tuple(name for name in MODEL_PAIRS if margin is not None or name not in _EQUIVALENCE)
    cells = tuple(tuple(_pair_cells(row, digits)[name] for name in columns) for row in pairs)
    first = frozenset({"better", "worse", "gain", "verdict"})
    yield View("models", f"{title} · pairs of models", columns, cells, caption, text, first)


def _board_cells(row: ModelRow, digits: int) -> tuple[str, ...]:
    scores = (format_number(value, digits) for value in (row.score, row.sd, row.lowest, row.highest))
    ranks = MISSING if row.rank is None else f"{row.rank_low}–{row.rank_high}"
    return (str(row.rank or MISSING), row.model, str(row.runs), *scores, ranks, str(row.beats), str(row.beaten_by))


def _pair_cells(row: ModelPairRow, digits: int) -> dict[str, str]:
    parts, effect = (MISSING if part is None else f"{part:.3g}" for part in _components(row)), row.minimum_detectable_effect
    return {
        "better": row.model_a,
        "worse": row.model_b,
        "gain": format_gain(row.delta, digits),
        "interval": MISSING if row.interval is None else format_interval({"lo": row.interval.lo, "hi": row.interval.hi}, digits),
        "se": format_gain(row.se, digits),
        "df": MISSING if row.df is None else f"{row.df:.3g}",
        "MDE": format_gain(effect.gain if effect else None, digits),
        "p": format_p(row.p),
        "p adjusted": format_p(row.p_adjusted),
        "runs' share": MISSING if row.run_share is None else format_share(row.run_share),
        **dict(zip(PARTS, parts, strict=True)),
        "p eq.": format_p(row.p_equivalence),
        "Holm eq.": format_p(row.p_equivalence_holm),
        "verdict": f"{'equivalent (identical)' if row.identical and row.margin is not None else row.verdict}"
        + " ‡" * bool(row.differs_within_margin),
    }
