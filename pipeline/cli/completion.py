"""`pipeline completion`: what makes a shell complete commands, options and names."""

from __future__ import annotations

import os
from pathlib import Path

import click

from pipeline.cli.options import cli

__all__: list[str] = []

_PROGRAM = "pipeline"


@cli.command(short_help="Print or install completion of commands for a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.option("--install", is_flag=True, help="Write it to the shell's own folder, and say where.")
def completion(shell: str, install: bool) -> None:
    """Print the shell code that completes commands, options and names.

    \b
    Examples:
      pipeline completion bash --install      for new shells
      eval "$(pipeline completion bash)"      for this one; zsh likewise
      pipeline completion fish | source       for this one
    """  # noqa: D301 - click reads \b as "keep these lines"
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:  # click has all three; it says None of others
        raise click.UsageError(f"click has no completion for {shell}")
    maker = kind(cli, {}, _PROGRAM, f"_{_PROGRAM}_COMPLETE".upper())
    # Not `source()`: for bash it starts one to ask for its version, and prints what it finds.
    script = maker.source_template % maker.source_vars()
    if not install:
        click.echo(script)
        return
    path = _place(shell)
    _write(path, script)
    click.echo(str(path))
    click.echo(_then(shell, path), err=True)


def _place(shell: str) -> Path:
    """Return the file where a shell looks for the completion of a program of one user."""
    if shell == "fish":
        return _folder("XDG_CONFIG_HOME", ".config") / "fish" / "completions" / f"{_PROGRAM}.fish"
    data = _folder("XDG_DATA_HOME", ".local/share")
    if shell == "zsh":
        return data / "zsh" / "site-functions" / f"_{_PROGRAM}"
    return Path(os.environ.get("BASH_COMPLETION_USER_DIR") or data / "bash-completion") / "completions" / _PROGRAM


def _folder(variable: str, default: str) -> Path:
    return Path(os.environ.get(variable) or Path.home() / default)


def _then(shell: str, path: Path) -> str:
    """Return what is left to do."""
    if shell == "fish":
        return "new shells complete `pipeline`"
    if shell == "zsh":
        return f"new shells complete `pipeline` if ~/.zshrc has this line before `compinit`: fpath=({path.parent} $fpath)"
    return f"new shells complete `pipeline` if bash-completion is installed; else add this line to ~/.bashrc: source {path}"


def _write(path: Path, script: str) -> None:
    from pipeline.errors import StoreError
    from pipeline.store.files import write_bytes

    try:
        write_bytes(path, script.encode())
    except StoreError as error:  # its help is about runs
        reason = getattr(error.__cause__, "strerror", None) or error.problems[0].message
        help_ = "make the folder writable, or put it elsewhere: `pipeline completion SHELL > FILE`"
        raise StoreError.of("P702", f"the completion cannot be written: {reason}", where=str(path), help=help_) from error
