"""How much gains of real systems vary, by task, metric and kinship of the systems, and what that means for a reported gain.

The standard error of a gain on n items is s/√n. The standard deviation s depends on the metric, and on how much two systems have in
common; the atlas has its quantiles over the pairs of real test sets. With them a reported gain can be judged without outputs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.dataclass import dataclass
from pipeline.interfaces.analyses import FULL
from pipeline.interfaces.wording import name_metric
from pipeline.numerics.special import ndtri

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["PERCENTS", "Chance", "Kin", "chance_of", "entries_of", "load_atlas", "select_entries", "to_json"]

PERCENTS = (2.5, 5, 10, 25, 50, 75, 90, 95, 97.5)
"""At which the quantiles of s stand."""

_FEWEST = 20  # pairs of a class
_BORDERLINE = 1.645  # gains over their standard error
_GAUSSIAN_ITEMS = 100


@dataclass(frozen=True)
class Kin:
    """An entry: the pairs of one class on one test set.

    Parameters
    ----------
    task : str
        The test set, such as ``mmlu-pro``.
    metric : str
    kinship : str
        ``all``, ``same`` or ``different``: of one family, team or base model, or of two.
    items, pairs : int
    deviations : tuple of float
        Quantiles of s at `PERCENTS`, in points of the metric.
    """

    task: str
    metric: str
    kinship: str
    items: int
    pairs: int
    deviations: tuple[float, ...]

    @property
    def name(self) -> str:
        """What `--like` calls it."""
        return f"{self.task}/{self.metric}:{self.kinship}"


@dataclass(frozen=True)
class Chance:
    """What an observed gain may be worth.

    Parameters
    ----------
    kin : Kin
    items : int
    gain : float
    alpha : float
    share : float
        Share of pairs like these for which a gain of this size is significant; read off the quantiles between .025 and .975, and
        beyond them 0 or 1.
    gains : tuple of float
        Gains that are significant for 5, 50 and 95 % of the pairs.
    """

    kin: Kin
    items: int
    gain: float
    alpha: float
    share: float
    gains: tuple[float, float, float]

    def say(self, title: str = "") -> str:
        """Return it in words; the metric has its title in the run, or its usual one."""
        few = "fewer than 3 %" if self.share == 0 else "more than 97 %" if self.share == 1 else f"{100 * self.share:.0f} %"
        low, middle, high = self.gains
        kin = {"all": "pairs", "same": "pairs of relatives", "different": "pairs that are no relatives"}.get(
            self.kin.kinship, "pairs"
        )
        return (
            f"A gain of {self.gain:g} on {self.items:,} items is significant at {self.alpha:g} (two-sided) for {few} of the {kin} "
            f"of {self.kin.task}, {title or name_metric(self.kin.metric)}.\n"
            f"Significant there: {low:.2f} for 5 % of them, {middle:.2f} for half, {high:.2f} for 95 %." + self.warn()
        )

    def warn(self) -> str:
        """Return a caution, on a line of its own, or nothing."""
        if self.items >= _GAUSSIAN_ITEMS:
            return ""
        return f"\nBelow {_GAUSSIAN_ITEMS} items standard errors say little: for right and wrong answers ask `pipeline power`."


def chance_of(kin: Kin, gain: float, items: int, *, alpha: float = 0.05) -> Chance:
    """Return how probable it is that an observed gain is significant: the share of pairs with s ≤ gain · √n / z.

    Parameters
    ----------
    kin : Kin
    gain : float
        Observed, in points of the metric.
    items : int
        Of the test set on which it was observed.
    alpha : float
        Two-sided.

    Raises
    ------
    ValueError
        If a gain is 0 or not a number.

    Examples
    --------
    >>> kin = Kin("made", "accuracy", "all", 1000, 99, tuple(40.0 + k for k in range(9)))
    >>> chance_of(kin, 1.96 * 44 / 20, 400).share, round(chance_of(kin, 9.0, 400).gains[1], 2)
    (0.5002, 4.31)
    """
    if not gain or not np.isfinite(gain):
        raise ValueError(f"a gain is a number other than 0, not {gain:g}")
    z = -float(ndtri(alpha / 2))
    scale = z / np.sqrt(items)
    percents, deviations = np.array(PERCENTS), np.array(kin.deviations)
    limit = abs(gain) / scale
    if limit < deviations[0]:
        share = 0.0
    elif limit >= deviations[-1]:
        share = 1.0
    else:
        share = float(np.interp(np.log(limit), np.log(deviations), percents)) / 100
    low, middle, high = (float(deviations[PERCENTS.index(percent)] * scale) for percent in (5, 50, 95))
    return Chance(kin, items, gain, alpha, round(share, 4), (low, middle, high))


@cache
def load_atlas() -> tuple[Kin, ...]:
    """Return the entries that come with the package."""
    text = (resources.files("pipeline.power_analysis") / "atlas.json").read_text("utf-8")
    return tuple(Kin(**{**entry, "deviations": tuple(entry["deviations"])}) for entry in json.loads(text)["entries"])


def select_entries(entries: Sequence[Kin], like: str | None) -> list[Kin]:
    """Return the entries of a name: a task or ``task/metric``, which ``:same``, ``:different`` or ``:all`` may follow.

    Examples
    --------
    >>> made = [Kin("m", "accuracy", kinship, 10, 9, ()) for kinship in ("all", "same")]
    >>> [kin.name for kin in select_entries(made, "m:same")], len(select_entries(made, "m/accuracy")), select_entries(made, "n")
    (['m/accuracy:same'], 2, [])
    """
    if like is None:
        return list(entries)
    name, _, kinship = like.partition(":")
    task, _, metric = name.partition("/")
    return [kin for kin in entries if kin.task == task and metric in ("", kin.metric) and kinship in ("", kin.kinship)]


def entries_of(cubes: Mapping[str, xr.Dataset], *, task: str | None = None) -> Iterator[Kin]:
    """Yield the entries of a run: one for every test set, metric and class of pairs with twenty pairs or more.

    Only pairs near the borderline are used, with one-sided p in [.005, .3]; if there are fewer than twenty, the twenty whose gains
    are nearest to 1.645 standard errors. Pairs with much larger gains have other standard errors.

    Parameters
    ----------
    cubes : mapping of str to Dataset
    task : str, optional
        A name to use instead of those of the test sets.
    """
    from pipeline.analyses.pair_classes import ALL, DIFFERENT, SAME, find_relation
    from pipeline.analyses.pairs import list_slices, read_pairs, read_units

    for name, cube in cubes.items():
        units = read_units(cube)[FULL]
        relation, seen = find_relation(cube, None), set()
        for metric, procedure in list_slices(cube):
            if metric in seen:
                continue
            seen.add(metric)
            table = read_pairs(cube, metric=metric, test_size=FULL, procedure=procedure)
            # Items count, whatever is drawn: a document of three items has the standard error that it has.
            items = int(cube.attrs.get("n_items", units))
            for kind in (ALL, SAME, DIFFERENT) if relation is not None else (ALL,):
                own = table.measured if kind is ALL or relation is None else table.measured & relation.mask(table, kind)
                if own.sum() < _FEWEST:
                    continue
                chosen = own & table.near
                if chosen.sum() < _FEWEST:
                    distance = np.where(own, np.abs(table.gain - _BORDERLINE * table.se), np.inf)
                    chosen = np.zeros(len(own), np.bool_)
                    chosen[np.argsort(distance / np.where(own, table.se, 1.0), kind="stable")[:_FEWEST]] = True
                deviations = np.percentile(table.se[chosen] * np.sqrt(items), PERCENTS)
                rounded = tuple(float(f"{value:.4g}") for value in deviations)
                yield Kin(task or name, metric, kind.label, items, int(chosen.sum()), rounded)


def to_json(entries: Sequence[Kin], **told: Any) -> str:
    """Return the text of an atlas, with one entry on each line."""
    lines = ",\n".join("  " + json.dumps({**vars(kin), "deviations": list(kin.deviations)}, ensure_ascii=False) for kin in entries)
    head = "".join(f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)},\n" for key, value in told.items())
    return f'{{\n{head} "entries": [\n{lines}\n ]\n}}\n'
