"""Answers about scores of 0 and 1, from counts, from two accuracies, or from expected shares; each can be put into words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pipeline.dataclass import dataclass
from pipeline.inference.sample_size.planning import MOST_UNITS, bootstrap_p, mcnemar_p, power_of, smallest_gain, units_needed
from pipeline.interfaces.wording import format_p, write_p_at

__all__ = [
    "LIKELY",
    "MOST_UNITS",
    "Counted",
    "Planned",
    "Scenario",
    "any_of",
    "from_accuracies",
    "from_counts",
    "from_gain",
    "say_scenarios",
]

LIKELY = 0.58
"""Of the items that a better system would hurt if it and the other failed independently, one hurts about this share.

The median over those 68 pairs of 28 language models on MMLU-Pro that are less than 5 points apart; nine in ten have .46 to .65."""


@dataclass(frozen=True)
class Counted:
    """Two systems on the same items, on some of which the first helps and on others hurts.

    Parameters
    ----------
    items, helped, hurt : int
        ``helped``: right where the other is wrong; ``hurt``: the other way round.
    gain : float
        In points: percent of the items.
    bootstrap : float
        P(δ* ≤ 0), the plug-in p of the paired bootstrap without Monte-Carlo error.
    mcnemar : float
        Two-sided, exact.
    alpha : float
    """

    items: int
    helped: int
    hurt: int
    gain: float
    bootstrap: float
    mcnemar: float
    alpha: float

    def say(self) -> str:
        """Return it in words."""
        found = "significant" if self.mcnemar <= self.alpha else "not significant"
        with write_p_at(self.alpha):
            p = format_p(self.mcnemar)
        return (
            f"{self.helped:,} helped and {self.hurt:,} hurt of {self.items:,} items: a gain of {self.gain:.2f} points.\n"
            f"McNemar's exact test: p = {p}, two-sided: {found} at {self.alpha:g}.\n"
            f"Plug-in bootstrap, P(δ* ≤ 0): p = {format_p(self.bootstrap)}, one-sided, ties counted (preset jansen-blog)."
        )


@dataclass(frozen=True)
class Scenario:
    """One way in which two accuracies may arise.

    Parameters
    ----------
    name : str
    counted : Counted
    """

    name: str
    counted: Counted


@dataclass(frozen=True)
class Planned:
    """What it takes to find a true gain.

    Parameters
    ----------
    helped, hurt : float
        Expected, in percent of the items.
    alpha, target : float
        The level, two-sided, and the power to reach.
    items : int or None
    power : float or None
        On so many items.
    smallest_gain : float or None
        In points: found on so many items with that power, for the given share that is hurt.
    items_needed : int or None
        None where there is no gain, or more than a million are needed.
    """

    helped: float
    hurt: float
    alpha: float
    target: float
    items: int | None
    power: float | None
    smallest_gain: float | None
    items_needed: int | None

    def say(self) -> str:
        """Return it in words."""
        gain, hurt, sure = self.helped - self.hurt, _plain(self.hurt), f"with {_plain(100 * self.target)} % power"
        lines = [f"A true gain of {_plain(gain)} points: {_plain(self.helped)} % of the items helped and {hurt} % hurt."]
        test = f"McNemar's exact test at {self.alpha:g}, two-sided"
        if self.items is not None and self.power is not None:
            lines.append(f"On {self.items:,} items it is found with a power of {100 * self.power:.1f} % ({test}).")
            if self.smallest_gain is None:
                lines.append(f"No gain is found there {sure}, if {hurt} % are hurt.")
            else:
                smallest = _round_up(self.smallest_gain)
                lines.append(f"The smallest gain found there {sure} is {smallest} points, if {hurt} % are hurt.")
        if self.items_needed is None:
            lines.append(f"No number of items up to a million finds it {sure}.")
        else:
            lines.append(f"It takes {self.items_needed:,} items to be found {sure} ({test}).")
        return "\n".join(lines)


def _plain(number: float) -> str:
    """Return a number as it was given."""
    return f"{number:.10g}"


def _round_up(gain: float) -> str:
    """Return a gain that is no smaller, with two decimals or three digits: one that is shown has the power that is said of it.

    Examples
    --------
    >>> _round_up(4.0811), _round_up(0.0007904), _round_up(1.1)
    ('4.09', '0.000791', '1.10')
    """
    decimals = 2 if gain >= 1 else 2 - math.floor(math.log10(gain))
    return f"{math.ceil(gain * 10**decimals * (1 - 1e-12)) / 10**decimals:.{decimals}f}"


def from_counts(items: int, helped: int, hurt: int, *, alpha: float = 0.05) -> Counted:
    """Return the p-values of counts; ValueError if they exceed the items."""
    if min(helped, hurt) < 0 or helped + hurt > items:
        raise ValueError(f"{helped} helped and {hurt} hurt do not fit into {items} items")
    gain = 100 * (helped - hurt) / items
    return Counted(items, helped, hurt, gain, bootstrap_p(helped, hurt, items), mcnemar_p(helped, hurt), alpha)


def from_accuracies(items: int, better: float, worse: float, *, alpha: float = 0.05) -> tuple[Scenario, ...]:
    """Return the p that two accuracies may have: if no item is hurt, if as many are as is typical of models, and at most.

    Parameters
    ----------
    items : int
    better, worse : float
        In percent; the nearest whole numbers of items are taken.
    alpha : float

    Raises
    ------
    ValueError
        If an accuracy is not a percentage, or the first is not the larger.
    """
    if not 0 <= worse <= better <= 100:
        raise ValueError(f"accuracies are percentages, the better one first, not {better:g} and {worse:g}")
    if 0 < better <= 1:
        told = f"{100 * better:g} {100 * worse:g}"
        raise ValueError(f"accuracies are percentages: write {told}; where both are at most 1 %, give --helped and --hurt")
    right, other = round(items * better / 100), round(items * worse / 100)
    gain, most = right - other, min(other, items - right)
    independent = other * (items - right) / items
    hurt = {
        "nobody hurt": 0,
        "typical of models": round(LIKELY * independent),
        "independent failures": round(independent),
        "as many hurt as can be": most,
    }
    return tuple(Scenario(name, from_counts(items, gain + many, many, alpha=alpha)) for name, many in hurt.items())


def from_gain(gain: float, hurt: float, *, items: int | None = None, alpha: float = 0.05, power: float = 0.8) -> Planned:
    """Return the power for a true gain, the items that it needs, and the smallest gain that is found.

    Parameters
    ----------
    gain : float
        In points: percent of the items helped minus percent hurt.
    hurt : float
        Percent of the items that are hurt.
    items : int, optional
    alpha, power : float

    Raises
    ------
    ValueError
        If helped and hurt are not shares of the items, or if the gain is a loss.
    """
    helped = gain + hurt
    if not (hurt >= 0 and helped >= 0 and helped + hurt <= 100 * (1 + 1e-12)):  # sums of decimals are rounded
        raise ValueError(f"{helped:g} % helped and {hurt:g} % hurt are not shares of the items")
    if gain < 0:
        raise ValueError(f"a gain of {gain:g} points is a loss: ask for the gain of the other system and the items that it hurts")
    shares = helped / 100, hurt / 100
    smallest = None if items is None else smallest_gain(items, hurt / 100, alpha=alpha, power=power)
    return Planned(
        helped=helped,
        hurt=hurt,
        alpha=alpha,
        target=power,
        items=items,
        power=None if items is None else power_of(items, *shares, alpha=alpha),
        smallest_gain=None if smallest is None else 100 * smallest,
        items_needed=units_needed(*shares, alpha=alpha, power=power),
    )


def any_of(pairs: int, *, alpha: float = 0.05) -> float:
    """Return the chance that some of so many independent tests of true nulls is significant, 1 − (1 − α)^k.

    Riezler and Maxwell 2005 (W05-0908), 4.4: 105 pairs at .05.

    Examples
    --------
    >>> round(any_of(105), 4)
    0.9954
    """
    return 1 - (1 - alpha) ** pairs


def say_scenarios(scenarios: Sequence[Scenario]) -> str:
    """Return a table of scenarios in words."""
    head = f"{'':24}{'helped':>9}{'hurt':>9}{'McNemar p':>12}{'bootstrap p':>13}"
    rows = (
        f"{one.name:24}{one.counted.helped:>9,}{one.counted.hurt:>9,}"
        f"{format_p(one.counted.mcnemar):>12}{format_p(one.counted.bootstrap):>13}"
        for one in scenarios
    )
    return "\n".join([head, *rows])
