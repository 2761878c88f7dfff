"""Does a small p on one test set predict the sign on another? Table 1 of Berg-Kirkpatrick and others (2012).

Pairs are ordered by their gain on the base test set at its full size and binned by their one-sided strict p there; the share
of each bin with a gain of the same sign on another test set is what is found. The pairs are joined by the names of their
systems. A pair that is tied on the other test set has no sign: it is counted apart and is not in the share. Beside signs stands
the gain that is kept, Σ δ there over Σ δ on the base: of gains that stand out by chance, little is left elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from pipeline.analyses.calibration_transfer.gains import draw_gains, find_line, list_points, show_lines
from pipeline.analyses.calibration_transfer.options import CalibrationOptions
from pipeline.analyses.calibration_transfer.pages import SECTION, list_figures, list_tables
from pipeline.analyses.calibration_transfer.rows import Carried, carry, list_bins, list_levels, nothing
from pipeline.analyses.pairs import describe_copies, describe_one_sided
from pipeline.analyses.units import count_shared
from pipeline.dataclass import dataclass, field
from pipeline.interfaces import Analysis, Finding, ScoredStatistics
from pipeline.options import meant, read_options

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["CalibrationTransfer"]

NOTES = (
    "A bin holds the pairs with low < p ≤ high (the first includes p = 0), p one-sided and strict, on the base test set at its "
    "full size; the row called window is the text's [0.04, 0.06], both ends included, and overlaps its neighbours.",
    "Pairs tied on the other test set have no sign there: counted apart, not in the share. A share of 50 % says that p on the "
    "base test set says nothing about the other.",
    "Gain kept: the sum of the gains on the other test set over that on the base. Gains that stood out by chance shrink; where the "
    "other test set tells systems further apart, all grow.",
    "Pairs share systems: intervals resample systems, not pairs. Agreement is not 1 − p.",
)


@dataclass(frozen=True, eq=False)
class CalibrationTransfer(Analysis):
    """The share of pairs that keep their order on another test set, by p-value."""

    name: ClassVar[str] = "calibration-transfer"
    of_single_runs: ClassVar[bool] = True
    items: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Names of the items by test set, where they are known."""

    def with_statistics(self, statistics: Mapping[str, Mapping[str, ScoredStatistics]]) -> CalibrationTransfer:
        """Return the analysis that knows which items test sets have in common."""
        some = {name: next(iter(of_set.values())) for name, of_set in statistics.items() if of_set}
        return CalibrationTransfer({name: tuple(map(str, one.data["item"].values.tolist())) for name, one in some.items()})

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options that are unknown or of no use."""
        read_options(CalibrationOptions, options, analysis=self.name)

    def find(self, cubes: Mapping[str, xr.Dataset], options: Mapping[str, Any]) -> Finding:
        """Return a row for each other test set, metric, procedure and bin of p."""
        chosen = read_options(CalibrationOptions, options, analysis=self.name)
        base = chosen.base or next(iter(cubes), None)
        others = chosen.others or tuple(name for name in cubes if name != base)
        rows: list[dict[str, Any]] = []
        levels: list[dict[str, Any]] = []
        lines: list[dict[str, Any]] = []
        points: list[dict[str, Any]] = []
        if base is None or base not in cubes:
            rows = [nothing(base, None, _absent(str(base), cubes))]
        elif not others:
            rows = [nothing(base, None, "there is one test set: nothing to carry over to")]
        else:
            for other in others:
                found = self._find(base, other, cubes, chosen)
                for known, new in zip((rows, levels, lines, points), found, strict=True):
                    known += new
        of_base = {base: cubes[base]} if base is not None and base in cubes else {}
        copies = describe_copies(of_base)
        shared = _describe_shared(rows, self.items)
        notes = (*NOTES, *describe_one_sided(of_base), *([copies] if copies else []))
        return Finding(
            self.name,
            tuple(rows),
            (*notes, *shared),
            {"base": base, "bins": list(chosen.bins)},
            tables=(*list_tables(rows, levels, notes, shared), *show_lines(lines, SECTION.key, shared)),
            figures=(*list_figures(cubes, rows), *draw_gains(cubes, lines, points, SECTION.key)),
            sections=(SECTION,),
            csv={
                "calibration": rows,
                "calibration_levels": levels,
                "calibration_slopes": lines,
                "calibration_gains": points,
            },
            interval_of={"calibration": "share", "calibration_levels": "share", "calibration_slopes": "slope"},
        )

    def _find(
        self, base: str, other: str, cubes: Mapping[str, xr.Dataset], chosen: CalibrationOptions
    ) -> tuple[list[dict[str, Any]], ...]:
        """Return the rows of bins, of levels, of slopes and of pairs, of one other test set."""
        if other == base:
            return [nothing(base, other, "a test set is not compared with itself")], [], [], []
        if other not in cubes:
            return [nothing(base, other, _absent(other, cubes))], [], [], []
        rows: list[dict[str, Any]] = []
        levels: list[dict[str, Any]] = []
        lines: list[dict[str, Any]] = []
        points: list[dict[str, Any]] = []
        shared = count_shared(self.items.get(base, ()), self.items.get(other, ()))
        for one in carry(base, other, cubes):
            if isinstance(one, Carried):
                rows += list_bins(one, chosen)
                levels += list_levels(one, chosen)
                lines.append(find_line(one, replicates=chosen.interval_replicates, shared=shared))
                points += list_points(one)
            else:
                rows.append(one)
        return [row | {"shared_items": shared} for row in rows], levels, lines, points


def _describe_shared(rows: Sequence[Mapping[str, Any]], items: Mapping[str, Sequence[str]]) -> list[str]:
    """Say which other test sets are not of other items; items are called the same in both."""
    told = {row["against"]: row for row in rows if row["shared_items"]}
    return [
        f"{other} has {row['shared_items']:,} of its {len(items[other]):,} items in common with {row['test_set']}, by their names: "
        "signs agree more often there than on items of its own."
        for other, row in told.items()
    ]


def _absent(name: str, cubes: Mapping[str, xr.Dataset]) -> str:
    return "; ".join(filter(None, [f"there are no results for the test set {name!r}", meant(name, cubes)]))
