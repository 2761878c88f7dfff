"""What the file of known answers says of itself: how it was made, how to use it, and what each of its fields is."""

from __future__ import annotations

ABOUT = [
    "Known answers for significance tests of paired systems: small test sets, and the exact p-values of each test on them. Any "
    "tool can be checked against this file; nothing of the package that it comes with is needed to read it.",
    "Every chance is a fraction p/q in lowest terms, as text. All were found by going through every bootstrap sample, swap, deal "
    "or permutation of runs in whole numbers and fractions "
    "(tests/support/enumeration.py, tests/support/replica_enumeration.py); no kernel was asked. Cases that are "
    "alike are counted together, none is left out.",
    "To use it: for each case make your tool's input from 'statistics', run the test, and compare. A test that computes must meet "
    "'p' to its rounding error. A test that draws b replicates and counts s of them has s binomial of b and 'p', of what is not "
    "empty: (s + 1)/(b + 1) and s/b both estimate it. A test that goes through all arrangements must meet 'p' exactly.",
    "The score of a system is the sum of its numerators over the sum of its denominators, 0/0 being no score. A case with all "
    "denominators 1 is one of means, or of right and wrong answers.",
    "Symbols: n units; delta = s(first) - s(second), or the negative of it where lower is better; delta* the gain of n units "
    "drawn with replacement, the same units for both systems; delta° the gain after outputs, or runs, have changed sides; m "
    "units on which the two differ.",
    "A pair whose statistics are identical has p = 1 throughout. Of two systems that differ and score the same, the two-sided p "
    "is 1, and p is null where a side is needed: there is no order. The conventions named riezler-maxwell are what such a tool "
    "counts there.",
    "Ties count in every p but those that say strict, below-zero and one-sided (the strict one of the paper): a tool that "
    "compares floating-point scores meets them only if it knows equal gains for equal.",
    "replica_cases have systems with several runs. A system's score is the mean of its runs' scores, but for multeval, which "
    "pools the statistics of all runs, and for segment-block with unequal numbers of runs, which averages them unit by unit.",
]

_CHANCE = "chance, of samples in which both scores are defined, of "
FIELDS = {
    "version": "grows when a field changes its meaning",
    "about": "what the file is and how to use it, a paragraph a line",
    "fields": "path of each field, [] for each member of a list and * for each name, and what it is",
    "cases[].name": "what the case is about",
    "cases[].higher_is_better": "false for errors: the system with the lower score is ahead",
    "cases[].statistics[][]": "by unit, then by system: [numerator, denominator], whole numbers",
    "cases[].pairs[].systems": "positions of the two systems, the one that is ahead first; as they come where gain is 0",
    "cases[].pairs[].gain": "delta, a fraction, not negative",
    "cases[].pairs[].discordant": "m, the units whose statistics differ",
    "cases[].pairs[].bootstrap.empty": "chance of a sample in which a score is 0/0",
    "cases[].pairs[].bootstrap.below_zero": _CHANCE + "delta* < 0",
    "cases[].pairs[].bootstrap.at_zero": _CHANCE + "delta* = 0",
    "cases[].pairs[].bootstrap.below_delta": _CHANCE + "delta* < delta",
    "cases[].pairs[].bootstrap.at_delta": _CHANCE + "delta* = delta",
    "cases[].pairs[].bootstrap.at_twice_delta": _CHANCE + "delta* = 2 delta",
    "cases[].pairs[].bootstrap.above_twice_delta": _CHANCE + "delta* > 2 delta",
    "cases[].pairs[].swaps.at_least": "chance of |delta°| >= delta, each unit's statistics changing sides with chance 1/2",
    "cases[].pairs[].swaps.above": "chance of |delta°| > delta",
    "cases[].pairs[].swaps.not_below": "chance of delta° >= delta",
    "cases[].pairs[].p.one-sided": "P(delta* > 2 delta): Berg-Kirkpatrick and others 2012, Fig. 1 (D12-1091)",
    "cases[].pairs[].p.one-sided-with-ties": "P(delta* >= 2 delta)",
    "cases[].pairs[].p.two-sided": "P(|delta* - delta| >= delta), of the bootstrap",
    "cases[].pairs[].p.below-zero": "P(delta* < 0): Koehn 2004 (W04-3250)",
    "cases[].pairs[].p.at-or-below-zero": "P(delta* <= 0)",
    "cases[].pairs[].p.riezler-maxwell": "P(|delta*| - mean |delta*| >= delta), with the exact mean: Riezler and Maxwell 2005, "
    "Fig. 2 (W05-0908). With a mean of finitely many replicates a tie may fall on either side",
    "cases[].pairs[].p.riezler-maxwell-strict": "P(|delta*| - mean |delta*| > delta), as sacreBLEU's paired bootstrap counts",
    "cases[].pairs[].p.approximate-randomization": "P(|delta°| >= delta): two-sided, the exact sign-flip test",
    "cases[].pairs[].p.approximate-randomization-strict": "P(|delta°| > delta), as sacreBLEU's paired randomization counts",
    "cases[].pairs[].p.sign-flip-one-sided": "P(delta° >= delta)",
    "cases[].pairs[].p.sign": "2 P(X >= larger of wins and losses), at most 1, X the heads of wins + losses fair coins; a win is a "
    "unit whose numerator is the better one for the first system. Only where both systems have the same denominators",
    "cases[].pairs[].p.sign-one-sided": "P(X >= wins)",
    "cases[].pairs[].p.mcnemar": "as sign, where besides all denominators are one constant and numerators have two values",
    "cases[].pairs[].p.mcnemar-one-sided": "P(X >= wins)",
    "cases[].pairs[].p.mcnemar-mid-p": "mcnemar less P(X = larger of wins and losses), before it is bounded by 1",
    "cases[].pairs[].p.mcnemar-mid-p-one-sided": "P(X > wins) + P(X = wins)/2",
    "cases[].pairs[].p.wilcoxon": "twice the smaller tail of the signed-rank sum, at most 1: units without a difference left out, "
    "midranks for equal sizes, all 2^m signs as likely; of differences of numerators",
    "cases[].pairs[].p.wilcoxon-one-sided": "chance of a signed-rank sum not below the first system's",
    "cases[].pairs[].decimals.*": "the same p to twelve digits",
    "replica_cases[].name": "what the case is about",
    "replica_cases[].higher_is_better": "as in cases",
    "replica_cases[].statistics[][][]": "by system, then by run, then by unit: [numerator, denominator], whole numbers",
    "replica_cases[].pairs[].systems": "positions of the two systems, the one whose runs are ahead on the mean first; as they come "
    "where these means are equal or undefined",
    "replica_cases[].pairs[].runs": "how many runs each of the two has, R_A and R_B",
    "replica_cases[].pairs[].identical": "run by run and unit by unit the two have the same statistics",
    "replica_cases[].pairs[].nulls.*": "a null and what is permuted. per-output: A's and B's output of a run and unit, each with "
    "chance 1/2. r-of-2r: the R_A + R_B outputs of a unit, dealt to the runs in any order. segment-block: all outputs of a unit, "
    "run against run. whole-run: which R_A of the runs are A's. paired-runs: A and B of a run number, all units at once. "
    "crossed: n units drawn with replacement, and R_A runs of A and R_B of B, each with replacement, apart from each other. "
    "multeval: of a unit a coin w for each run number and a permutation q of run numbers; X takes run q(r) of B where w(r) is "
    "heads and of A where not, Y run q^-1(r) of A where w(r) is heads and of B where not, for r = 1 ... R",
    "replica_cases[].pairs[].nulls.*.reason": "why there is no p, in place of all that follows: unequal runs, undefined score",
    "replica_cases[].pairs[].nulls.*.gain": "delta of the statistic that is permuted; it may be negative where it is another than "
    "the mean of runs' scores",
    "replica_cases[].pairs[].nulls.*.arrangements": "how many equally likely arrangements there are, the observed one among them",
    "replica_cases[].pairs[].nulls.*.empty": "share of arrangements in which a score is 0/0; p is given that it is not",
    "replica_cases[].pairs[].nulls.*.p": "P(|delta°| >= |delta|); of crossed P(|delta* - delta| >= |delta|)",
    "replica_cases[].pairs[].nulls.*.p-strict": "the same with >, as MultEval counts",
    "replica_cases[].pairs[].nulls.*.decimal": "p to twelve digits",
}
"""By path. A test holds that the file has these fields and no others."""
