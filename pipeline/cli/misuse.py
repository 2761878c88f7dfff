"""What is wrong with a command line, in the form of all other errors: click finds it, and words it in its own way."""

from __future__ import annotations

import re

import click

from pipeline.cli.options import UnknownCommand, cli
from pipeline.errors import Problem
from pipeline.options import meant

__all__ = ["find_misuse"]

IN_A_STUDY = {"--alpha": "resampling.alpha", "--baseline": "resampling.baseline", "--family": "resampling.family"}
"""What people look for among the options of commands that have it as a value of the study."""

OPTIONS_ELSEWHERE = {"--method": "--procedure", "--test": "--procedure"}
"""What other programs call our options, where no likeness of letters finds them."""

COMMANDS_ELSEWHERE = {
    "help": "`pipeline --help` lists the commands, `pipeline COMMAND --help` explains one",
    "version": "write `pipeline --version`",
}
"""What other programs have as commands."""

_TOO_MANY = re.compile(r"Got unexpected extra arguments? \((.*)\)", re.DOTALL)


def find_misuse(error: click.ClickException) -> Problem | None:
    """Return what is wrong with a command line; None for what is no mistake, as a call without arguments, which shows help."""
    if not isinstance(error, click.UsageError) or isinstance(error, _SHOWS_HELP):
        return None
    ctx = error.ctx
    help_ = _look_up(ctx)
    if isinstance(error, UnknownCommand):
        elsewhere = COMMANDS_ELSEWHERE.get(error.name) or meant(error.name, _visible())
        return Problem("P002", error.message, help=elsewhere or "`pipeline --help` lists the commands")
    if isinstance(error, click.NoSuchOption):
        return _no_such_option(error.option_name, error.ctx)
    if isinstance(error, click.MissingParameter):
        return _missing(error)
    if isinstance(error, click.BadParameter):
        if (number := _meant(error.message)) is not None:
            help_ = f"write {number}"
        return Problem("P004", _say(error.message), where=_written(error.param) if error.param else None, help=help_)
    if isinstance(error, click.BadOptionUsage):  # click does not say of which command
        return Problem("P004", _say(error.message), help=f"write `{error.option_name} {_value_of(error.option_name)}`")
    if ctx and (extra := _TOO_MANY.fullmatch(error.message)):
        return Problem("P005", f"`{_path(ctx)}` takes {_arguments(ctx.command)}: what is {extra[1]}?", help=help_)
    return Problem("P005", _say(error.message), help=help_)


_SHOWS_HELP: tuple[type, ...] = tuple(filter(None, [getattr(click.exceptions, "NoArgsIsHelpError", None)]))
"""Click has it from 8.2 on; before, it shows help by itself."""


def _meant(message: str) -> str | None:
    """Return the number that a value stands for, 0.05 for 5%, where a message says that it is none."""
    from pipeline.study.complaints import meant_number

    found = re.match(r"'([^']*)' is not a (?:valid|whole)", message)
    return meant_number(found[1]) if found else None


def _no_such_option(option: str, ctx: click.Context | None) -> Problem:
    """Say which option was meant: one that is written like it, a value of the study, or one that stands elsewhere."""
    command = ctx.command if ctx else cli
    known = _options(command)
    others = [name for name in _visible() if option in _options(cli.commands[name])]
    if not option.startswith("--"):
        help_ = None
    elif command is cli:
        help_ = meant(option, known)
    elif option in _options(cli):
        help_ = f"write it before the command: `pipeline {option} {command.name} …`"
    elif option in IN_A_STUDY and "--set" in known:
        help_ = f"write `--set {IN_A_STUDY[option]}=VALUE`"
    elif OPTIONS_ELSEWHERE.get(option) in known:
        help_ = f"did you mean '{OPTIONS_ELSEWHERE[option]}'?"
    elif 0 < len(others) < 3 or (len(others) == 3 and not meant(option, known)):
        *most, last = (f"`pipeline {name}`" for name in others)
        help_ = f"it is an option of {' and '.join([', '.join(most), last] if most else [last])}"
    else:
        help_ = meant(option, known)
    return Problem("P001", f"`{_path(ctx)}` has no option '{option}'", help=help_ or _look_up(ctx))


def _missing(error: click.MissingParameter) -> Problem:
    """Say which arguments a command lacks, with an example of a call."""
    if error.ctx is None or error.param is None:
        return Problem("P003", _say(error.format_message()), help=_look_up(error.ctx))
    help_ = _look_up(error.ctx)
    if isinstance(error.param, click.Argument):
        pieces = [
            piece for piece in error.ctx.command.collect_usage_pieces(error.ctx) if piece != error.ctx.command.options_metavar
        ]
        usage = " ".join([_path(error.ctx), *pieces])
        help_ = f"write `{_first_example(error.ctx.command) or usage}`; {help_}"
    return Problem("P003", f"`{_path(error.ctx)}` needs {_written(error.param).removesuffix('...')}", help=help_)


def _first_example(command: click.Command) -> str | None:
    """Return the first call that the help of a command shows, where it stands on one line."""
    lines = (line.strip() for line in (command.help or "").splitlines())
    first = next((line for line in lines if line.startswith(f"pipeline {command.name} ")), "")
    return None if not first or first.endswith("\\") or "  " in first else first


def _written(param: click.Parameter) -> str:
    """Return a parameter as it is written on the command line."""
    return max(param.opts, key=len) if isinstance(param, click.Option) else param.human_readable_name


def _value_of(option: str) -> str:
    """Return the placeholder that help shows for the value of an option."""
    params = [param for name in _visible() for param in cli.commands[name].params if option in param.opts]
    values = {param.metavar or param.type.name.upper() for param in params if not isinstance(param.type, click.Choice)}
    return values.pop() if len(values) == 1 else "VALUE"


def _arguments(command: click.Command) -> str:
    """Say which arguments a command takes."""
    names = [param.human_readable_name for param in command.params if isinstance(param, click.Argument)]
    return f"{' and '.join(names)}, and no more" if names else "options, and no arguments"


def _options(command: click.Command) -> list[str]:
    """Return all options of a command, and those that ask for help."""
    own = [opt for param in command.params if isinstance(param, click.Option) and not param.hidden for opt in param.opts]
    return [*own, *(["--help"] if command is not cli else [])]


def _visible() -> list[str]:
    return [name for name, command in cli.commands.items() if not command.hidden]


def _path(ctx: click.Context | None) -> str:
    """Return the words that name a command, whatever the path of the program."""
    return f"pipeline {ctx.command.name}" if ctx and ctx.command is not cli else "pipeline"


def _look_up(ctx: click.Context | None) -> str:
    return f"`{_path(ctx)} --help` shows its arguments and options"


def _say(message: str) -> str:
    """Return a message of click's as ours begin and end."""
    message = message.strip().removesuffix(".")
    message = re.sub("is not a valid float( range)?", "is not a number, such as 0.05", message)
    message = re.sub("is not a valid integer( range)?", "is not a whole number, such as 10", message)
    message = re.sub(r"is not in the range x>=(\S+)$", r"is too small: it must be at least \1", message)
    return message[:1].lower() + message[1:] if message[1:2].islower() else message
