"""How the numbers were made: one entry for each method, with its formula and its source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pipeline.inference.unit_diagnostics.few_units import FEW_DISCORDANT
from pipeline.interfaces import Method
from pipeline.interfaces.procedures import Procedure
from pipeline.interfaces.wording import name_metric
from pipeline.procedures.registry import PROCEDURES, exact_limit, formula_of
from pipeline.report.document import Report
from pipeline.report.families.adjustment import ACROSS_TITLES, references, replicates_of_max_t
from pipeline.report.pairs.cube_facts import BEYOND_THE_BUDGET
from pipeline.report.pairs.pair_rows import exact_procedures
from pipeline.report.pairs.pairs import join_pairs
from pipeline.report.presets import preset_methods
from pipeline.report.rows import FamilyKey
from pipeline.report.trust.units import count_units, name_units

__all__ = ["describe_methods", "methods_paragraph"]


def describe_methods(report: Report) -> list[Method]:
    """List the methods behind a document."""
    bases, families = _bases(report), report.pairs_of.values()
    methods = [
        *(method for procedure in report.procedures for method in PROCEDURES[procedure].methods),
        *(method for procedure in exact_procedures(report.pairs_of) for method in getattr(exact_limit(procedure), "methods", ())),
        *preset_methods(report),
        *([_MAX_T] if set(bases) - {"holm"} else []),
        Method(
            "Many pairs, Holm",
            "p₍ᵢ₎ · (K − i + 1), made monotone",
            "Holm's correction over the K pairs of a family, which is a test set, metric, test size and procedure: the chance of "
            "any false separation within it is at most α, as far as each p holds its level. Benjamini and Hochberg's stands beside "
            "it.",
            "Holm 1979, Scandinavian Journal of Statistics 6:65-70; Benjamini and Hochberg 1995, "
            "doi:10.1111/j.2517-6161.1995.tb02031.x",
            "https://doi.org/10.1111/j.2517-6161.1995.tb02031.x",
        ),
        Method(
            "Would other draws decide otherwise",
            "adjusted(lo) ≤ α ⟺ adjusted(hi) ≤ α",
            "lo and hi are Clopper and Pearson's bounds at level 1 − .01/K: of all p-values of a family, for Holm and for "
            "equivalence; of the adjusted ones, for max-T. Floors and corrections for few units are held against both ends too. "
            "An asterisk where the verdict is not the same at the two ends. The Monte-Carlo error of a p is half the width of its "
            "95 % interval.",
            "Clopper and Pearson 1934, doi:10.1093/biomet/26.4.404",
            "https://doi.org/10.1093/biomet/26.4.404",
        ),
        Method(
            "Few discordant units",
            "2^(1 − m)",
            "With m units on which two systems differ no exact sign-flip, sign or McNemar test has a smaller two-sided p (mid-p: "
            "2^-m). No p that decides is below it, nor, of tests that need many units, below the exact p itself where m is less "
            "than 20. Holm adjusts p-values that are not below these floors; max-T takes no |δ|/se for more than has this p. Of "
            "right or wrong answers, if not drawn within strata, it takes the quantile of the exact p by Student's law instead.",
            "Fisher 1935, The Design of Experiments, Oliver and Boyd",
        ),
        Method(
            "Interval beside a verdict",
            "δ ± c · se",
            "Of the bootstrap, at the level of the whole family: c and se are those of max-T, or Student's with the level α/K "
            "where Holm decides; where units are right or wrong and fewer than 20 differ it is Tango's at the level that c has by "
            "Student's law. The end near 0 is held to the verdict: 0, and outside, where a step down separates; 0 where a pair is "
            "kept from being separated.",
            "Strassburger and Bretz 2008, doi:10.1002/sim.3319; Guilbaud 2008, doi:10.1002/bimj.200710449; Tango 1998, "
            "doi:10.1002/(SICI)1097-0258(19980430)17:8<891::AID-SIM780>3.0.CO;2-B",
            "https://doi.org/10.1002/sim.3319",
        ),
        Method(
            "Rank intervals",
            "[1 + #(significantly better), S − #(significantly worse)]",
            "Ranks that the separated pairs leave open; all intervals hold together. Percentiles of bootstrapped ranks would "
            "fail near ties.",
            "Mogstad, Romano, Shaikh and Wilhelm 2024, doi:10.1093/restud/rdad006",
            "https://doi.org/10.1093/restud/rdad006",
        ),
    ]
    conditions = {
        _TAILS: any((pairs.known("tail") | pairs.equal("tail_reason", BEYOND_THE_BUDGET)).any() for pairs in families),
        _FEW_UNITS: any(pairs.known("p_few_units").any() for pairs in families),
        _EQUIVALENCE: any(pairs.known("margin").any() for pairs in families),
        **{_ACROSS[by]: report.families.across == by for by in _ACROSS},
    }
    return methods + [method for method, used in conditions.items() if used]


_TAILS = Method(
    "Tails",
    "P(|δ* − δ| ≥ δ)",
    "Where fewer than ten replicates count against a gain, the number that infinitely many would give stands beside the count: "
    "exact, by convolution, or tilted, from resamples that are drawn from exponentially tilted chances and weighted, with its 95 % "
    "error. Exact ones are computed within a budget, pairs with the fewest standard errors between them first; tail_reason says "
    "why one is missing. Below 1e-6 it is marked as a model tail: it says what the resampling model has, and the data cannot tell "
    "such models apart. No verdict uses it.",
    "Davison and Hinkley 1997, Bootstrap Methods and their Application, doi:10.1017/CBO9780511802843; Johns 1988, "
    "J. Amer. Statist. Assoc. 83, 709-714",
    "https://doi.org/10.1017/CBO9780511802843",
)

_FEW_UNITS = Method(
    "p few units",
    "2 · P(t > δ / se), G − 1 degrees of freedom",
    "se is the jackknife's standard error, G the effective units; of units within H strata G − H takes the place of G − 1. "
    "Exact for the mean of equally large Gaussian units, otherwise an approximation. Holm adjusts the larger of it and p; "
    "max-T has standard errors of each replicate instead.",
    "Hesterberg 2015, What Teachers Should Know About the Bootstrap, doi:10.1080/00031305.2015.1089789",
    "https://doi.org/10.1080/00031305.2015.1089789",
)

_EQUIVALENCE = Method(
    "Equivalence",
    "p = (max(#(δ* ≥ 2δ + margin), #(δ* ≤ 2δ − margin)) + 1) / (b + 1)",
    "Two one-sided tests against the margin; each count alone tests that the better, or the worse, of the two is not worse than "
    "the other by the margin (non-inferiority). Neither is below the p of its t-test, with t as it is and without its skewness "
    f"(Hall, 1992), nor, where fewer than {FEW_DISCORDANT} right and wrong answers differ, below that of Tango's score (1998). "
    "The verdict, in this order: equivalent where p, corrected by Holm's method over the pairs, is at most α; better where the "
    "pair is separated; else inconclusive. In place of the first two a pair can be not decided, where no test holds its level. "
    "The chance of any false equivalence in a family is at most about α, that of any false separation likewise.",
    "Schuirmann 1987, doi:10.1007/BF01068419",
    "https://doi.org/10.1007/BF01068419",
)

_MAX_T = Method(
    "Many pairs, max-T",
    "(#(max over k ≥ j of |δ*ₖ − δₖ|/se*ₖ ≥ |δⱼ|/seⱼ) + 1)/(b + 1), made monotone",
    "Step-down over the pairs of a family in the order of |δ|/se, on up to 9999 of the kept replicates, which all systems share, "
    "each with a standard error se* of its own, from the influence of its units: the chance of any false separation is at most "
    "about α, what pairs have in common is used, and few units and skewed scores are taken into account. A pair with m < 20 units "
    "that differ counts for no more than what its own replicates reach with the chance 2^(1 − m). A family of one pair goes the "
    "same way. It decides where enough replicates were kept that 1/(b + 1) is at most α; Holm elsewhere.",
    "Westfall and Young 1993, Resampling-Based Multiple Testing, Wiley; Romano and Wolf 2005, doi:10.1198/016214504000000539",
    "https://doi.org/10.1198/016214504000000539",
)

_ACROSS = {
    "holm": Method(
        "Many families, Holm",
        "level = α/k",
        "The F families of a procedure at the full size, one a test set and metric, and tests of equivalence as families of their "
        "own, are tested at α/k by p-values that are adjusted within each. k is at first F; a family whose pairs are all rejected "
        "leaves, and the others share its part. The chance of any false rejection in any family is at most about α, whatever "
        "their dependence. Some pair of a family differs where its smallest p is rejected by Holm over families.",
        "Holm 1979, Scandinavian Journal of Statistics 6:65-70; Goeman and Solari 2010, doi:10.1214/10-AOS829",
        "https://doi.org/10.1214/10-AOS829",
    ),
    "benjamini-bogomolov": Method(
        "Many families, Benjamini and Bogomolov",
        "level = R α/F",
        "Of the F families of a procedure at the full size, one a test set and metric, and tests of equivalence as families of "
        "their own, Benjamini and Hochberg's procedure selects R by their smallest p; all are tested at R α/F by p-values that are "
        "adjusted within each. Of the selected families a share of at most about α is expected to have a false rejection, if "
        "families are independent or positively dependent.",
        "Benjamini and Bogomolov 2014, doi:10.1111/rssb.12028",
        "https://doi.org/10.1111/rssb.12028",
    ),
}


def _bases(report: Report) -> dict[str, None]:
    return dict.fromkeys(pairs[0].adjustment.by for pairs in report.pairs_of.values() if len(pairs))


def methods_paragraph(report: Report) -> str:
    """Return a paragraph that can be pasted into a paper."""
    sets, metrics = report.test_sets, sorted({row.metric for row in report.signature})
    if not sets:
        return ""
    where = "; ".join(
        f"{t.name}: {count_units(t.items, t.units, t.unit, t.format)}, {t.systems} systems, {t.pairs:,} pairs" for t in sets
    )
    families, across = report.families.full_size, report.families.across
    units = " and ".join(dict.fromkeys(name_units(t.unit, t.format) for t in sets))
    count = "" if families == 1 else f", {families:,} families in all"
    count += "" if across == "none" else f", and by the method of {ACROSS_TITLES[across]} across them"
    procedures = [PROCEDURES[name] for name in report.procedures]
    titles = " and by ".join(procedure.title for procedure in procedures)
    judged = [of[0].adjustment.by for place, of in report.pairs_of.items() if place.procedure == procedures[0].name and len(of)]
    baseline = report.family.baseline
    what = "all pairs of systems" if baseline is None else f"all systems with {baseline}"
    first = f", verdicts those of {procedures[0].title}" if len(procedures) > 1 else ""
    told = f"{where}; {', '.join(map(name_metric, metrics))}"
    exact = _exact_families(report)
    own = {place: is_exact for place, is_exact in exact.items() if place.procedure == procedures[0].name}
    if any(procedure.draws for procedure in procedures) and not (exact and all(exact.values())):
        b = max(t.replicates or 0 for t in sets)
        drawn = f" with b = {b:,} replicates shared by all systems (seed {report.seed}; {told})"
    else:
        drawn = f" ({f'seed {report.seed}; ' if exact else ''}{told})"
    p = "(s + 1)/(b + 1) (Phipson and Smyth, 2010)" if procedures[0].draws else procedures[0].formula
    if any(own.values()):
        computed = f"{formula_of(procedures[0].name, exact=True)}, computed exactly"
        p = computed if all(own.values()) else f"{p}, of {_name_exact(own)} {computed}"
    if set(judged) == {"max_t"}:  # by the procedure's own convention is another p, in p_raw
        again = replicates_of_max_t(sets)
        over = "the replicates" if again == max(t.replicates or 0 for t in sets) else f"{again:,} of the replicates"
        p = f"(s + 1)/{again + 1:,} over {over}, each with its own standard error (Phipson and Smyth, 2010)"
    told = (
        f"We compared {what} by {titles} over {units}{drawn}. P-values are two-sided, {p}, and corrected by {references(judged)} "
        f"within each test set and metric{count}, at α = {report.alpha:g}{first}."
    )
    return " ".join([told, *_say_rest(report, procedures[0])])


def _say_rest(report: Report, judged_by: Procedure) -> Iterator[str]:
    """Say what else decides: floors of few discordant units, intervals, tests of equivalence, and the test of models."""
    pairs = join_pairs(of for place, of in report.pairs_of.items() if place.procedure == judged_by.name)
    if judged_by.needs_units and (pairs.holds("few_discordant") & pairs.holds("in_family")).any():
        yield f"Where fewer than {FEW_DISCORDANT} units differ, no p is smaller than that of the exact test of all swaps."
    methods = set(pairs.values("interval.method").tolist())
    intervals = [words for method, words in _INTERVALS.items() if method in methods]
    if intervals:
        yield f"Intervals hold for all pairs of a family together: {'; '.join(intervals)}."
    margins = dict(_margins(report, judged_by))
    if margins:
        told = ", ".join(f"{name_metric(metric)} {margin:g}" for metric, margin in margins.items())
        yield f"Equivalence within a margin ({told}) was tested by two one-sided tests (Schuirmann, 1987), and Holm's method."
    if report.model_pairs:
        first = report.model_pairs[0]
        yield f"Models, whose {first.repeated}s these are, were compared by {_MODEL_TESTS[first.claim]}, and Holm's method."


def _margins(report: Report, judged_by: Procedure) -> Iterator[tuple[str, float]]:
    """Yield the margins that verdicts on pairs of systems or of models were held against, by metric."""
    for place, of in report.pairs_of.items():
        if place.procedure == judged_by.name and len(of) and of.known("p_equivalence").any():
            yield place.metric, of[0].margin or 0.0
    yield from ((row.metric, row.margin) for row in report.model_pairs if row.margin is not None)


_INTERVALS = {
    "max-t": "gain ± c standard errors, with the critical value c of max-T",
    "bonferroni": "gain ± t standard errors, with Bonferroni's level",
    "tango": f"Tango's (1998) for paired proportions where fewer than {FEW_DISCORDANT} units differ",
}

_MODEL_TESTS = {
    "methods": "the quasi-F with Satterthwaite's degrees of freedom (Satterthwaite, 1946), a claim about new runs and new units",
    "systems": "the t-test of the means over runs of each unit, a claim about these finished systems on new units",
}


def _exact_families(report: Report) -> dict[FamilyKey, bool]:
    """Tell of each family by a procedure that draws whether its p-values are exact all the same."""
    drawn = {place: of for place, of in report.pairs_of.items() if len(of) and PROCEDURES[place.procedure].draws}
    return {place: not of.known("replicates").all() for place, of in drawn.items()}


def _name_exact(families: Mapping[FamilyKey, bool]) -> str:
    """Name the metrics whose p-values are exact, with the test sets where those of others are counted."""
    counted = {place.metric for place, is_exact in families.items() if not is_exact}
    exact = [place for place, is_exact in families.items() if is_exact]
    names = (name_metric(of.metric) + (f" on {of.test_set}" if of.metric in counted else "") for of in exact)
    return ", ".join(dict.fromkeys(names))
