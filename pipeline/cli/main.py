"""The outermost border: every ending of a command has its exit code. This module catches what nothing else did."""

from __future__ import annotations

import os
import sys

import click

from pipeline.cli.group import cli

__all__ = ["main"]


def main() -> None:
    """Run the command line; every ending has its exit code."""
    import traceback

    from pipeline.errors import PipelineError, join_files, render_problems

    debug = "--debug" in sys.argv or bool(os.environ.get("PIPELINE_DEBUG"))
    try:
        code = cli.main(standalone_mode=False)
    except PipelineError as error:
        if debug:
            traceback.print_exc()
        click.echo(render_problems(join_files(error.problems)), err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output has gone: nothing more to say, and nothing went wrong.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:  # the outermost border: a fault of ours has an exit code of its own, never 1
        if debug:
            traceback.print_exc()
        click.echo(f"error[P999]: something of ours broke: {type(error).__name__}: {error}", err=True)
        click.echo("   = help: `pipeline --debug …` shows the traceback", err=True)
        sys.exit(70)
    sys.exit(code if isinstance(code, int) else 0)
