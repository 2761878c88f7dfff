"""The outermost border: every ending of a command has its exit code, and what nothing else caught is caught here."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys

import click

from pipeline.cli.advice import forget_named
from pipeline.cli.options import cli
from pipeline.cli.terminal import show_problems
from pipeline.engine.signals import StopAsked, StopRequest, listen

__all__ = ["main"]

MOST_PROBLEMS = 200
"""Problems that a terminal shows: a file of another kind may have one on every line."""

_AGAIN = "give the same command again; what is stored by now is used"
"""What is said where no run had begun that could be resumed, and the command does not know better (`saying_if_interrupted`)."""

_OBJECTS_UNTIL_COLLECTION = 200_000
"""Objects that are made before Python looks for cycles among the young ones: 700 by itself, while modules make none. A small
comparison makes some 100,000 that stay; as many in cycles take some 20 MB."""


def main() -> None:
    """Run the command line; every ending has its exit code."""
    gc.set_threshold(_OBJECTS_UNTIL_COLLECTION, *gc.get_threshold()[1:])
    # Tasks have one thread of BLAS anyway, and OpenBLAS has the others spin for a while after each change of their number.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Python looks for cycles among all objects when it ends, though the memory of the process is given back anyway.
    atexit.register(gc.freeze)
    import traceback

    from pipeline.errors import Interrupted, PipelineError, join_files
    from pipeline.tracebacks import is_debugging

    forget_named()
    stop = StopRequest()
    debug = is_debugging()
    try:
        # A run in this process listens by itself, and lets its tasks end.
        with listen(stop, (signal.SIGTERM, signal.SIGHUP)), stop.interrupting():
            code = cli.main(standalone_mode=False)
    except PipelineError as error:
        if debug:
            traceback.print_exc()
        problems = join_files(error.problems)
        show_problems(problems[:MOST_PROBLEMS])
        if len(problems) > MOST_PROBLEMS:
            click.echo(f"… and {len(problems) - MOST_PROBLEMS} more problems", err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        from pipeline.cli.misuse import find_misuse

        misuse = find_misuse(error)
        forget_named()  # these messages speak of commands as such
        if misuse is None:
            error.show()
        else:
            show_problems([misuse])
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt) as error:
        _say_interrupted(error)
        sys.exit(130)
    except StopAsked as error:
        _say_interrupted(error)
        sys.exit(Interrupted.exit_code)
    except BrokenPipeError:
        # The reader of our output has gone: nothing more to say, and nothing went wrong.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except MemoryError:
        if debug:
            traceback.print_exc()
        click.echo("error[P403]: the command needs more memory than it may have", err=True)
        click.echo(
            "   = help: free memory or raise its limit (`ulimit -v`, the job's `--mem`), or compare fewer or smaller files",
            err=True,
        )
        sys.exit(4)
    except Exception as error:  # the outermost border: a fault of ours has an exit code of its own, never 1
        if debug:
            traceback.print_exc()
        _refuse_paths_of_others(error)
        click.echo(f"error[P999]: internal error: {type(error).__name__}: {error}", err=True)
        click.echo("   = help: `pipeline --debug …` shows the traceback", err=True)
        sys.exit(70)
    sys.exit(code if isinstance(code, int) else 0)


def _refuse_paths_of_others(error: Exception) -> None:
    """End where a path of another user was looked at, wherever that was first: then it is no fault of ours."""
    from pipeline.store.files import other_owner, store_error

    if isinstance(error, PermissionError) and error.filename and other_owner(error.filename):
        refused = store_error(error, error.filename)
        show_problems(refused.problems)
        sys.exit(refused.exit_code)


def _say_interrupted(error: BaseException) -> None:
    # click raises an exception of its own from that of Ctrl-C
    notes = [note for one in (error, error.__cause__) for note in getattr(one, "__notes__", ())]
    click.echo(f"interrupted: {notes[0] if notes else _AGAIN}", err=True)
