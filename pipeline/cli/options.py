"""The group that all commands join, and the options and arguments that several of them have, each declared once."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from pipeline.cli.advice import remember_named
from pipeline.cli.help_page import Command, Context

__all__ = [
    "COUNT",
    "CommandWithNames",
    "UnknownCommand",
    "cli",
    "cluster_option",
    "complete_files",
    "complete_profiles",
    "complete_runs",
    "json_option",
    "override_options",
    "place_options",
    "quiet_option",
    "run_argument",
    "runs_option",
    "study_argument",
]

EXAMPLES = """\b
Examples:
  pipeline compare base.txt new.txt -r ref.txt -m bleu
  pipeline run study.yaml         on this machine's cores
  pipeline submit study.yaml --cluster slurm --wait
  pipeline status                 the latest run
"""


SECTIONS = {
    "Compare": ("compare",),
    "Run a study": ("init", "check", "config", "plan", "run", "report"),
    "Follow a run": ("status", "logs", "cancel", "resume", "list"),
    "Plan before you measure": ("power", "expect"),
    "Every night and in CI": ("gate", "reanalyse"),
    "On a cluster": ("submit", "profiles", "doctor"),
    "Keep and share": ("export", "import", "gc"),
    "What there is": ("metrics", "formats", "procedures", "presets", "analyses"),
    "Help": ("explain", "schema", "completion"),
}
"""The commands grouped by purpose, as `pipeline --help` shows them."""

KINDS = {"analyses": "analyses", "procedures": "procedures", "presets": "presets", "metrics": "metrics", "formats": "readers"}
"""The families whose names help shows, by the command that lists them with what each is."""


def write_names(formatter: click.HelpFormatter, kinds: Collection[str]) -> None:
    """Write the installed names of some families below a help page: entry points are read, and no member is imported."""
    import textwrap

    from pipeline.plugins import list_plugins

    column = 4 + max(map(len, kinds))
    with formatter.section("Installed (`pipeline metrics` says more, and so on)"):
        for kind in kinds:
            names = ", ".join(list_plugins(KINDS[kind]))
            head, below = f"  {kind}".ljust(column), " " * column
            formatter.write(
                textwrap.fill(names, formatter.width, initial_indent=head, subsequent_indent=below, break_on_hyphens=False) + "\n"
            )


class CommandWithNames(Command):
    """A command whose help ends with the installed names of some kinds."""

    def __init__(self, *args: Any, kinds: Collection[str] = KINDS, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.kinds = kinds

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the installed names."""
        write_names(formatter, self.kinds)


class UnknownCommand(click.UsageError):
    """There is no command of this name; click has such an error from 8.4 on only."""

    def __init__(self, name: str, ctx: click.Context) -> None:
        super().__init__(f"there is no command {name!r}", ctx)
        self.name = name


class Group(click.Group):
    """Commands by what one wants, in the order in which a newcomer meets them."""

    context_class = Context
    command_class = Command

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the installed names."""
        write_names(formatter, KINDS)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of the help page."""
        known = [name for names in SECTIONS.values() for name in names if name in self.commands]
        return [*known, *(name for name in self.commands if name not in known)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under their headings, all descriptions in one column and none cut short."""
        column = max(len(name) for names in SECTIONS.values() for name in names)
        for heading, names in SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(column), self.commands[name].get_short_help_str(limit=200)) for name in names])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that was typed."""
        if not ctx.resilient_parsing and args[0] not in self.commands and not args[0].startswith("-"):
            raise UnknownCommand(args[0], ctx)
        return super().resolve_command(ctx, args)


@click.group(
    cls=Group,
    help=EXAMPLES
    + "\nFind out which differences between systems are real, which gains to believe, and how large a test set must be.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.option("--debug", is_flag=True, help="Show tracebacks.")
@click.option("--color/--no-color", default=None, help="Colours or none. [on a terminal, unless NO_COLOR is set]")
@click.version_option(package_name="pipeline", message="%(package)s %(version)s")
@click.pass_context
def cli(ctx: click.Context, debug: bool, color: bool | None) -> None:
    """Hold what all commands share."""
    if color is not None:  # where progress bars and the processes that are started look, too
        asked, other = ("FORCE_COLOR", "NO_COLOR") if color else ("NO_COLOR", "FORCE_COLOR")
        os.environ[asked] = "1"
        os.environ.pop(other, None)
    ctx.obj = {"debug": debug}


_NUMBER = re.compile(r"[0-9]+(_[0-9]+)*(\.[0-9]+)?([eE]\+?[0-9]{1,2})?")


if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    _IntType = click.ParamType[int]
else:
    _IntType = click.ParamType  # generic from click 8.2 on only


class _Count(_IntType):
    """A number of things, at least one: 10000, 10_000 or 1e4, as in a study."""

    name = "count"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        text = str(value)
        number = float(text) if _NUMBER.fullmatch(text) else 0.0
        if not (number.is_integer() and 1 <= number < 2**53):
            self.fail(f"{text!r} is not a whole number of at least 1, such as 10000 or 1e4.", param, ctx)
        return int(number)


COUNT = _Count()


def complete_files(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete names of files."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def complete_names(family: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Return what lets the shell complete the names of a family of plugins."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
        from pipeline.plugins import list_plugins

        return [name for name in list_plugins(family) if name.startswith(incomplete)]

    return complete


def complete_profiles(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str | CompletionItem]:
    """Return the profiles that come with the package, and let the shell add files."""
    from click.shell_completion import CompletionItem

    from pipeline.study.profile import list_profiles

    return [*(name for name in list_profiles() if name.startswith(incomplete)), CompletionItem(incomplete, type="file")]


def cluster_option(help: str) -> Callable[[F], F]:
    """Return the option that names a cluster."""
    return click.option("--cluster", shell_complete=complete_profiles, help=help)


def complete_runs(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Return the runs whose names begin so, in the folder that is asked for."""
    from pipeline.store.runs import list_runs

    runs = ctx.params.get("runs") or Path(os.environ.get("PIPELINE_RUNS") or "runs")
    return [run.id for run in list_runs(Path(runs)) if run.id.startswith(incomplete)]


F = TypeVar("F", bound=Callable[..., Any])


def _combine(*options: Callable[[F], F]) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


runs_option = click.option(
    "--runs",
    type=click.Path(file_okay=False, readable=False, path_type=Path),  # whoever looks there says whose it is
    envvar="PIPELINE_RUNS",
    default=Path("runs"),
    callback=remember_named,
    help="Folder of runs. [PIPELINE_RUNS, else ./runs]",
)
format_option = click.option(
    "--format",
    "format_",
    default="auto",
    show_default=True,
    shell_complete=complete_names("readers"),
    help="One of `pipeline formats`; auto looks into the files.",
)
missing_option = click.option(
    "--missing",
    type=click.Choice(["error", "drop", "zero"]),
    default="error",
    show_default=True,
    help="How to treat items that a system did not answer.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")
quiet_option = click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
study_argument = click.argument("study", type=click.Path(path_type=Path), callback=remember_named)
run_argument = click.argument("run", required=False, shell_complete=complete_runs)
override_options: Callable[[F], F] = _combine(
    click.option("-b", "--replicates", type=COUNT, help="Number of replicates, for example 1e6."),
    click.option("--seed", type=int, help="Seed of all random draws."),
    click.option("--test-sizes", help="Test sizes, for example 100,200,full."),
    click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="KEY=VALUE",
        help="Override any value of the study, for example resampling.alpha=0.01.",
    ),
)
place_options: Callable[[F], F] = _combine(
    click.option(
        "--workers",
        type=click.IntRange(min=1),
        help="Worker processes. [one per core, or the profile's; none for a few seconds of work]",
    ),
    click.option("--block-cells", type=click.IntRange(min=1), help="Cells of 16384 replicates per task; changes no result."),
)
