"""`pipeline power` and `pipeline expect`: what it takes to find a gain, and how far to believe one, without any outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline.cli.actions import print_json
from pipeline.cli.options import COUNT, cli, json_option, runs_option
from pipeline.cli.terminal import tell

if TYPE_CHECKING:
    from pipeline.power_analysis.atlas import Kin
    from pipeline.store.runs import RunDirectory

    _FloatType = click.ParamType[float]
else:
    _FloatType = click.ParamType  # generic from click 8.2 on only

__all__: list[str] = []

_MOST_GAIN = 100
"""Points between the worst and the best score of every metric of the atlas."""


class _SecondAccuracy(_FloatType):
    """A number that must follow another: where it was left out, the next option stands in its place."""

    name = "float"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number, or say that one is missing."""
        try:
            return float(value)
        except ValueError:
            self.fail(
                f"two accuracies are needed, the better one first, `--accuracy 71.2 69.8`; after one stands {value!r}", param, ctx
            )


_SECOND_ACCURACY = _SecondAccuracy()

_ASKS = """\b
Three questions:
  is 7 helped and 2 hurt of 100 significant?
    pipeline power --items 100 --helped 7 --hurt 2
  what p may two accuracies have?
    pipeline power --items 500 --accuracy 71.2 69.8
  will a true gain of 2 points be found, and on how many items?
    pipeline power --gain 2 --hurt-percent 3 --items 500
"""


@cli.command(
    short_help="p, power and test-set size for right and wrong answers.",
    help=_ASKS
    + "\nFor scores of 0 and 1, by binomial sums and without simulation. A system helps where it is right and the other is not.",
)
@click.option("-n", "--items", type=COUNT, help="Number of items.")
@click.option("--helped", type=click.IntRange(0), help="Items that the first system alone gets right.")
@click.option("--hurt", type=click.IntRange(0), help="Items that the other alone gets right.")
@click.option(
    "--accuracy", type=(float, _SECOND_ACCURACY), metavar="BETTER WORSE", help="Two accuracies in percent, the better one first."
)
@click.option("--gain", type=float, help="A true gain, in points.")
@click.option("--hurt-percent", type=float, help="Expected share of the items that the better system hurts. [0]")
@click.option("--power", "target", type=float, default=0.8, show_default=True, help="The power to reach.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Significance level, two-sided.")
@click.option("--pairs", type=COUNT, help="Also show the chance that any true null among this many pairs is significant.")
@click.option(
    "--charts",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for p against the share of items hurt, as SVG and CSV.",
)
@json_option
def power(
    items: int | None,
    helped: int | None,
    hurt: int | None,
    accuracy: tuple[float, float] | None,
    gain: float | None,
    hurt_percent: float | None,
    target: float,
    alpha: float,
    pairs: int | None,
    charts: Path | None,
    as_json: bool,
) -> None:
    from pipeline.power_analysis.answers import MOST_UNITS, any_of, from_accuracies, from_counts, from_gain, say_scenarios

    for name, value in (("--power", target), ("--alpha", alpha)):
        if not 0 < value < 1:
            raise click.UsageError(f"{name} {value:g} must be between 0 and 1")
    asked = {
        "--helped and --hurt": helped is not None or hurt is not None,
        "--accuracy": accuracy is not None,
        "--gain": gain is not None,
    }
    several = [name for name, given in asked.items() if given]
    if len(several) > 1:
        raise click.UsageError(f"{' and '.join(several)} ask different questions: give one of them")
    if not several and pairs is None and charts is None:
        raise click.UsageError("say what you expect: give --helped and --hurt, --accuracy or --gain")
    if several and several[0] != "--gain" and items is None:
        raise click.UsageError(f"give --items with {several[0]}, the number of items")
    if items is not None and not 1 <= items <= MOST_UNITS:
        raise click.UsageError(f"--items {items:,} must be between 1 and {MOST_UNITS:,}")
    if hurt_percent is not None and gain is None:
        raise click.UsageError("--hurt-percent belongs to --gain: a share of items that the better system is expected to hurt")
    if (helped is None) != (hurt is None):
        raise click.UsageError("--helped and --hurt are given together; either may be 0")
    for name, asked_for in (("--gain", gain), ("--hurt-percent", hurt_percent)):
        if asked_for is not None and not isfinite(asked_for):
            raise click.UsageError(f"{name} {asked_for:g} must be a number")
    told: dict[str, Any] = {}
    lines: list[str] = []
    try:
        if several == ["--gain"]:
            planned = from_gain(gain or 0.0, hurt_percent or 0.0, items=items, alpha=alpha, power=target)
            told["planned"], lines = asdict(planned), [planned.say()]
        elif accuracy is not None and items is not None:
            scenarios = from_accuracies(items, *accuracy, alpha=alpha)
            told["scenarios"] = [{"name": one.name, **asdict(one.counted)} for one in scenarios]
            lines = [
                f"{accuracy[0]:g} and {accuracy[1]:g} % of {items:,} items, McNemar's test two-sided:",
                say_scenarios(scenarios),
            ]
        elif several and items is not None:
            counted = from_counts(items, helped or 0, hurt or 0, alpha=alpha)
            told["counted"], lines = asdict(counted), [counted.say()]
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    if pairs is not None:
        told["any_of"] = {"pairs": pairs, "alpha": alpha, "chance": any_of(pairs, alpha=alpha)}
        lines.append(
            f"Of {pairs:,} independent tests of true nulls at {alpha:g}, some are significant with a chance of "
            f"{told['any_of']['chance']:.4f}."
        )
    if charts is not None:
        told["charts"] = _write_charts(charts)
        lines += told["charts"]
    if as_json:
        print_json(told)
    else:
        for line in "\n".join(lines).splitlines():
            tell(line, err=False)


def _write_charts(folder: Path) -> list[str]:
    from pipeline.errors import StoreError
    from pipeline.power_analysis.charts import draw_charts, list_points, write_points
    from pipeline.store.files import write_bytes

    points = list(list_points())
    written = {"p-against-hurt.csv": write_points(points), "p-against-hurt.svg": draw_charts(points)}
    try:
        for name, text in written.items():
            write_bytes(folder / name, text.encode())
    except StoreError as error:  # its help is about runs
        reason = getattr(error.__cause__, "strerror", None) or error.problems[0].message
        help_ = "name a folder that can be written with --charts"
        raise StoreError.of("P702", f"the charts cannot be written: {reason}", where=str(folder), help=help_) from error
    return [str(folder / name) for name in written]


@cli.command(short_help="Say how likely it is that a reported gain is significant.")
@click.option("--gain", type=float, required=True, help="The observed gain, in points of the metric.")
@click.option("-n", "--items", type=COUNT, required=True, help="Items of the test set it was observed on.")
@click.option(
    "--like",
    help="A task of the atlas, as in mmlu-pro:same or wmt22-en-de/bleu, or a run of yours, as in RUN/bleu. [all of the atlas]",
)
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Significance level, two-sided.")
@runs_option
@json_option
def expect(gain: float, items: int, like: str | None, alpha: float, runs: Path, as_json: bool) -> None:
    """Say how likely it is that a gain you read about is significant.

    The atlas records how much gains vary between pairs of real systems, related or not, by task and metric.
    """
    from pipeline.power_analysis.atlas import chance_of, load_atlas, select_entries

    if not 0 < alpha < 1:
        raise click.UsageError(f"--alpha {alpha:g} must be between 0 and 1")
    if not gain or not isfinite(gain):
        raise click.UsageError(f"--gain {gain:g} must be a number other than 0")
    atlas = load_atlas()
    entries = select_entries(atlas, like)
    if entries and abs(gain) > _MOST_GAIN:
        raise click.UsageError(f"--gain {gain:g} is more than there is: metrics of the atlas go from 0 to {_MOST_GAIN}")
    if not entries and like is not None:
        there = select_entries(atlas, like.partition(":")[0])
        if there:
            raise click.UsageError(f"the atlas has no {like!r}, but {', '.join(kin.name for kin in there)}")
        entries, titles = _select_of_run(like, runs, atlas)
    else:
        titles = {}
    chances = [chance_of(kin, gain, items, alpha=alpha) for kin in entries]
    if as_json:
        print_json({"chances": [{**asdict(one), "name": one.kin.name} for one in chances]})
    elif len(chances) == 1:
        for line in chances[0].say(titles.get(chances[0].kin.metric, "")).splitlines():
            tell(line, err=False)
    else:
        click.echo(_say_all(chances, gain, items, alpha) + chances[0].warn())


def _select_of_run(like: str, runs: Path, atlas: Sequence[Kin]) -> tuple[list[Kin], dict[str, str]]:
    """Return the entries of a run that `--like` names, and what its study calls its metrics.

    They are all of the run, or those of a metric, test set or class of pairs behind its name.
    """
    from pipeline.api import open_run
    from pipeline.errors import StoreError
    from pipeline.power_analysis.atlas import entries_of
    from pipeline.record.manifest import read_manifest

    name, _, kinship = like.partition(":")
    run, part = _find(name, runs, atlas)
    cubes = [cube.to_dataset() for cube in open_run(run.root).values()]
    entries = list(entries_of({str(cube.attrs["test_set"]): cube for cube in cubes}))
    if not entries:
        raise click.UsageError(f"the run {name!r} has no class of twenty pairs")
    named = [kin for kin in entries if part in ("", kin.metric, kin.task, f"{kin.task}/{kin.metric}")]
    chosen = [kin for kin in named if kinship in ("", kin.kinship)]
    if not chosen:
        asked = name.removesuffix(f"/{part}") if part else name
        there = ", ".join(f"{asked}/{kin.name}" for kin in named or entries)
        raise click.UsageError(f"the run has no {like!r} of twenty pairs or more, but {there}")
    try:
        titles = {metric.name: metric.title for metric in read_manifest(run).inputs.metrics}
    except StoreError:  # the numbers are there: names of the registry will do
        titles = {}
    return chosen, titles


def _find(name: str, runs: Path, atlas: Sequence[Kin]) -> tuple[RunDirectory, str]:
    """Find a run and what is named behind it, as in RUN/bleu; say what there is where no run answers."""
    from pipeline.errors import RunNotFound
    from pipeline.store.runs import find_run

    cuts = [len(name), *(place for place in range(len(name) - 1, 0, -1) if name[place] == "/")]
    for cut in cuts if name else ():
        try:
            run = find_run(runs, name[:cut])
        except RunNotFound as error:
            if error.problems[0].code != "P501":
                raise
        else:
            return run, name[cut + 1 :]
    there = ", ".join(dict.fromkeys(f"{kin.task}/{kin.metric}" for kin in atlas))
    raise click.UsageError(f"{name!r} is not a task of the atlas and no run in {runs}; the atlas has {there}")


def _say_all(chances: Any, gain: float, items: int, alpha: float) -> str:
    lines = [f"A gain of {gain:g} on {items:,} items is significant at {alpha:g} (two-sided) for this", "share of pairs:", ""]
    width = max(len(one.kin.name) for one in chances)
    lines.append(f"{'':{width}} {'':6}  gain significant for")
    lines.append(f"{'':{width}} {'share':>6} {'5 %':>6} {'50 %':>6} {'95 %':>6} {'pairs':>6}")
    for one in chances:
        share = "< 3 %" if one.share == 0 else "> 97 %" if one.share == 1 else f"{100 * one.share:.0f} %"
        low, middle, high = one.gains
        lines.append(f"{one.kin.name:{width}} {share:>6} {low:>6.2f} {middle:>6.2f} {high:>6.2f} {one.kin.pairs:>6,}")
    return "\n".join(lines)
