"""The command line: parse, call one thing, print, exit. Commands import what they call inside, so that help comes at once."""

# In the order in which a newcomer meets the commands, which is that of `--help`.
from pipeline.cli import compare, start, studies, gate, reanalyse, runs, storage, doctor, planning, catalogue, explain, completion  # noqa: F401, I001 - each adds its commands
from pipeline.cli.main import main
from pipeline.cli.options import cli

__all__ = ["cli", "main"]
