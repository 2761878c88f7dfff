"""What can be read off the counts of a procedure, and what cannot. This module is one table; what it leaves out has no number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.inference.p_values import CONVENTIONS

__all__ = ["READINGS", "Reading"]


@dataclass(frozen=True)
class Reading:
    """What the counts of one procedure say.

    Parameters
    ----------
    conventions : tuple of str
        Those of `CONVENTIONS` that mean something here; the p-values of the others are nan.
    bias : bool
        Replicates are centred at the observed gain, so that mean δ* − δ is a bias.
    interval : bool
        Their spread about it gives an interval of the gain.
    needs_units : bool
        p holds for many units only, and is too small with few of them.
    one_sided : str or None
        What the convention ``one-sided`` is here, where it is another thing than the paper's #(δ* > 2δ)/b.
    verdict : str
        The convention that verdicts use.
    mid_p : bool
        Half of the observed outcome's chance is left out of p: its floor is half of that of an exact test.
    few_units : bool
        With few units p can be corrected by Student's t, and verdicts use no p that is not; t tests are corrected by themselves.
    """

    conventions: tuple[str, ...]
    bias: bool
    interval: bool
    needs_units: bool
    one_sided: str | None = None
    verdict: str = "two-sided-plus-one"
    mid_p: bool = False
    few_units: bool = False


def _computed(
    *conventions: str, needs_units: bool = False, one_sided: str | None = None, mid_p: bool = False, few_units: bool = False
) -> Reading:
    return Reading(
        conventions or ("one-sided", "two-sided"),
        bias=False,
        interval=False,
        needs_units=needs_units,
        one_sided=one_sided,
        verdict="two-sided",
        mid_p=mid_p,
        few_units=few_units,
    )


READINGS: Mapping[str, Reading] = {
    "paired-bootstrap": Reading(CONVENTIONS, bias=True, interval=True, needs_units=True, few_units=True),
    # Swapped outputs are centred at 0, as the null has them: they tell nothing of the gain's own spread. Their two tails are
    # mirror images, so that #(δ° < −δ) is no other test than #(δ° > δ). That one leaves ties out, and serves thresholds only:
    # with + 1 it would pass for a test.
    "approximate-randomization": Reading(
        ("one-sided", "two-sided", "two-sided-plus-one"),
        bias=False,
        interval=False,
        needs_units=False,
        one_sided="#(δ° > δ)/b, the share of random swaps with a larger gain: ties are left out, so it is no test by itself",
    ),
    # What follows draws nothing: there is no count to which one could be added.
    "exact-bootstrap": _computed("one-sided", "two-sided", "below-zero", "at-or-below-zero", needs_units=True, few_units=True),
    "exact-sign-flip": _computed(one_sided="P(δ° ≥ δ), the exact sign-flip test of the system that is ahead: ties count"),
    "mcnemar": _computed(one_sided="P(X ≥ wins), X binomial over the discordant units: ties count"),
    "mcnemar-mid-p": _computed(one_sided="P(X > wins) + ½ P(X = wins), X binomial over the discordant units", mid_p=True),
    "sign": _computed(one_sided="P(X ≥ wins), X binomial over the units without a tie"),
    "paired-t": _computed(needs_units=True, one_sided="P(t_{n−1} ≥ δ / se)"),
    "wilcoxon": _computed(one_sided="the signed-rank test of the system that is ahead"),
}
"""By the procedure's name."""
