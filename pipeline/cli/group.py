"""The group that all commands join, and what they share."""

from __future__ import annotations

import click

__all__ = ["cli"]

EXAMPLES = """\b
Examples:
  pipeline compare baseline.txt new.txt -r reference.txt -m bleu -m chrf
  pipeline run study.yaml                     on this machine's cores
  pipeline submit study.yaml --cluster cluster/slurm.yaml --wait
  pipeline status                             the latest run
"""


class Group(click.Group):
    """Commands in the order in which a newcomer meets them, not alphabetically."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of this file."""
        return list(self.commands)


@click.group(
    cls=Group,
    help=EXAMPLES + "\nWhich differences between systems are real, which gains can be believed, how large a test set must be.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.option("--debug", is_flag=True, help="Show tracebacks.")
@click.version_option(package_name="pipeline", message="%(package)s %(version)s")
@click.pass_context
def cli(ctx: click.Context, debug: bool) -> None:
    """Hold what all commands share."""
    ctx.obj = {"debug": debug}
