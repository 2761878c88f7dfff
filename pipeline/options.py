"""Options that people write, checked in one place.

The options of a reader, metric or trainer are the parameters of its class: `check_options` compares names with the signature, and
the class calls `check_flag` and its siblings for values. Those of an analysis are the fields of a dataclass, which `read_options`
builds. Whatever was misspelt, `suggest` is the one "did you mean".
"""

from __future__ import annotations

import dataclasses
import difflib
import inspect
import re
import typing
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from pipeline.errors import Problem, StudyError

__all__ = [
    "KINDS",
    "OTHER_WORDS",
    "check_choice",
    "check_count",
    "check_flag",
    "check_names",
    "check_number",
    "check_options",
    "check_words",
    "meant",
    "nearest",
    "read_options",
    "suggest",
]

T = TypeVar("T")
OtherWords: TypeAlias = Mapping[str, str] | None

KINDS = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "mapping_type": "a mapping",
}
"""What a type asks for, in the words that are used of the rest of a study."""


OTHER_WORDS: Mapping[str, str] = {
    **dict.fromkeys(("b", "boot", "bootstraps", "n_boot", "n_resamples", "reps", "resamples", "samples", "trials"), "replicates"),
    **dict.fromkeys(("ref", "refs", "truth"), "references"),
    **dict.fromkeys(("hyps", "hypotheses", "predictions"), "outputs"),
    **dict.fromkeys(("level", "significance"), "alpha"),
}
"""What other tools call what we have another word for; no likeness of letters would find it."""


_LONG_ENOUGH = 3
"""Letters of the beginning of a word that is cut short."""


def _bare(word: str) -> str:
    """Return a word as it is compared: dashes before the names of options would make any two of them alike."""
    return word.casefold().lstrip("-")


def _as_letters(name: str) -> str:
    """Return a name without what differs between tools that mean the same: case, dashes, "test" at its end, -ise and -ize."""
    return re.sub(r"[^a-z0-9]", "", name.casefold()).removesuffix("test").replace("z", "s")


def nearest(word: str, known: Iterable[str], *, cutoff: float = 0.6, others: OtherWords = None) -> str | None:
    """Return the known word that is most like one that is not known, whatever their case; None where none is like it.

    A word that other tools use for a known one comes first, then, for a word that ends in "test", what the rest of it names, then
    the only one that begins with the word, then the first that has it between dashes. ``others`` has more words of other tools,
    with the known ones.

    Examples
    --------
    >>> nearest("BLUE", ["bleu", "chrf"]), nearest("items", ["path", "rotate"])
    ('bleu', None)
    >>> nearest("bootstraps", ["replicates", "seed"]), nearest("--refs", ["--references"])
    ('replicates', '--references')
    >>> nearest("paired-boot", ["paired-t", "paired-bootstrap"])
    'paired-bootstrap'
    >>> nearest("t-test", ["mcnemar", "paired-t"]), nearest("sign-test", ["exact-sign-flip", "sign"])
    ('paired-t', 'sign')
    >>> nearest("bootstrap", ["paired-bootstrap", "exact-bootstrap"])
    'paired-bootstrap'
    >>> nearest("Randomisation", ["swaps"], others={"randomization test": "swaps"})
    'swaps'
    """
    spelled = {_bare(one): one for one in known if one != word}
    bare = _bare(word)
    ours = {_as_letters(name): one for name, one in {**OTHER_WORDS, **(others or {})}.items()}.get(_as_letters(word))
    if ours in spelled:
        return spelled[ours]
    stem = re.sub(r"[-_ ]?test$", "", bare)
    if stem not in {"", bare}:
        named = [one for one in spelled if stem in {one, *one.split("-")}]
        if named:
            whole = [one for one in named if one == stem] or named
            return spelled[whole[0]] if len(whole) == 1 else nearest(stem, known, cutoff=cutoff)
    begun = [one for one in spelled if one.startswith(bare)]
    if len(begun) == 1 and len(bare) >= _LONG_ENOUGH:
        return spelled[begun[0]]
    part_of = [one for one in spelled if bare in one.split("-")]
    close = part_of if len(bare) >= _LONG_ENOUGH and part_of else difflib.get_close_matches(bare, spelled, n=1, cutoff=cutoff)
    return spelled[close[0]] if close else None


def meant(word: str, known: Iterable[str], *, others: OtherWords = None) -> str | None:
    """Return the help for a word that is not known where one is like it, for messages that list the known words themselves."""
    close = nearest(word, known, others=others)
    return f"did you mean '{close}'?" if close is not None else None


def suggest(
    word: str, known: Iterable[str], *, otherwise: str | None = None, listed: bool = False, others: OtherWords = None
) -> str | None:
    """Return the help for a word that is not known: the one that was meant, or those there are.

    Parameters
    ----------
    word : str
    known, others
        The words that are known, and those of other tools, as `nearest` takes them.
    otherwise : str, optional
        What to say in place of listing all words, where none is like it.
    listed : bool
        Whether to list all words beside the one that was meant.

    Examples
    --------
    >>> suggest("replicats", ["seed", "replicates"])
    "did you mean 'replicates'?"
    >>> suggest("BLUE", ["bleu", "chrf"], listed=True)
    "did you mean 'bleu'? (there are: bleu, chrf)"
    >>> suggest("x", ["bleu", "chrf"])
    'there are: bleu, chrf'
    """
    names = [*known]
    did_you_mean = meant(word, names, others=others)
    there_are = f"there are: {', '.join(names)}" if names else "there are none" if listed else None
    if did_you_mean is not None:
        return f"{did_you_mean} ({there_are})" if listed else did_you_mean
    return otherwise or there_are


def check_options(kind: str, name: str, made: Any, options: Mapping[str, Any]) -> None:
    """Compare options with the parameters of the class that is to be made with them.

    Raises
    ------
    StudyError
        P150 for each option the class does not take, P151 for each one that it needs and is missing; all at once.
    """
    parameters = inspect.signature(made).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return  # the class says itself what it takes
    problems = [
        Problem("P150", f"{kind} '{name}' has no option '{option}'", help=suggest(str(option), parameters, listed=True))
        for option in options
        if option not in parameters
    ]
    problems += [
        Problem("P151", f"{kind} '{name}' needs the option '{option}'", help="write it beside the name")
        for option, parameter in parameters.items()
        if parameter.default is parameter.empty and option not in options
    ]
    if problems:
        raise StudyError(*problems)


def check_flag(option: str, value: Any) -> bool:
    """Return a value that is true or false; a ValueError refuses what merely looks like one."""
    if not isinstance(value, bool):
        raise ValueError(f"option '{option}' is true or false, not {value!r}")
    return value


def check_count(option: str, value: Any, *, least: int, most: int) -> int:
    """Return a whole number within bounds; a ValueError refuses anything else."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"option '{option}' is a whole number from {least} to {most}, not {value!r}")
    return value


def check_number(
    option: str, value: Any, *, above: float | None = None, least: float = float("-inf"), most: float = float("inf")
) -> float:
    """Return a finite number above a bound, or from one to another; a ValueError refuses anything else."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if above is not None:
        if not number or not above < value < float("inf"):
            raise ValueError(f"option '{option}' is a number above {above:g}, not {value!r}")
    elif not number or not least <= value <= most:
        raise ValueError(f"option '{option}' is a number from {least:g} to {most:g}, not {value!r}")
    return float(value)


def check_choice(option: str, value: Any, choices: Collection[str]) -> str:
    """Return one of the words that are allowed; a ValueError refuses anything else and suggests the nearest."""
    if value not in choices:
        help_ = meant(value, choices) if isinstance(value, str) else None
        raise ValueError(f"option '{option}' is one of {', '.join(choices)}, not {value!r}{f'; {help_}' if help_ else ''}")
    return str(value)


def check_words(option: str, value: Any) -> tuple[str, ...]:
    """Return a list of different words in the order of the alphabet, at least one; a ValueError refuses anything else."""
    if not isinstance(value, (list, tuple)) or not value or not all(isinstance(word, str) and word for word in value):
        raise ValueError(f"option '{option}' is a list of words, not {value!r}")
    if len(set(value)) < len(value):
        raise ValueError(f"option '{option}' names a word twice: {', '.join(value)}")
    return tuple(sorted(value))


def check_names(option: str, value: Sequence[str] | str | None) -> tuple[str, ...]:
    """Return the names that an option of an analysis gives, none where it is left out, which means all there are.

    Raises
    ------
    ValueError
        For an empty list, which would mean all of them without saying so.

    Examples
    --------
    >>> check_names("against", None), check_names("against", "news"), check_names("against", ("news", "talks"))
    ((), ('news',), ('news', 'talks'))
    """
    names = () if value is None else (value,) if isinstance(value, str) else tuple(value)
    if value is not None and not names:
        raise ValueError(f"{option} is an empty list: leave it out for all, or name some")
    return names


def read_options(kind: type[T], options: Mapping[str, Any], *, analysis: str) -> T:
    """Return the options of an analysis: ``kind``, a frozen dataclass that validates itself, from the keys of a study file.

    The annotations of its fields say what types values have: a number in quotes is none, and 100.5 no whole number.

    Raises
    ------
    StudyError
        P101 for each key that ``kind`` does not have, P103 for each value of another type, P104 for a value it refuses.
    """
    known = [f.name for f in dataclasses.fields(kind)]  # type: ignore[arg-type]  # T is a dataclass by contract
    said = f"the analysis {analysis!r} has no option "
    problems = [
        Problem("P101", f"{said}{str(key)!r}", where=f"analyses.{analysis}.{key}", help=suggest(str(key), known))
        for key in options
        if key not in known
    ]
    if problems:
        raise StudyError(*problems)
    types = typing.get_type_hints(kind)
    values = {key: _as_written(value, types[key]) for key, value in options.items()}
    problems = [problem for key, value in values.items() for problem in _wrong_type(key, value, types[key], analysis)]
    if problems:
        raise StudyError(*problems)
    try:
        return kind(**values)
    except ValueError as error:
        # Most refusals begin with the name of the option.
        named = str(error).split(" ", 1)[0].rstrip(":,")
        where = f"analyses.{analysis}" + (f".{named}" if named in known else "")
        raise StudyError.of("P104", f"an option of the analysis {analysis!r}: {error}", where=where) from error


def _as_written(value: Any, kind: Any) -> Any:
    """Return lists as tuples, those within them too, and 1e3 as a whole number where one is asked for, as elsewhere in a study."""
    if kind is int and isinstance(value, float) and value.is_integer():
        return int(value)
    return tuple(_as_written(part, None) for part in value) if isinstance(value, list) else value


def _wrong_type(key: str, value: Any, kind: Any, analysis: str) -> list[Problem]:
    from pydantic import TypeAdapter, ValidationError  # whoever checks other options need not load it

    try:
        TypeAdapter(kind).validate_python(value, strict=True)
    except ValidationError as error:
        # How many members there are is for the options themselves to say.
        details = [detail for detail in error.errors(include_url=False) if detail["type"] not in ("missing", "too_long")]
    else:
        details = []
    if not details:
        return []
    # A tuple's members complain at their own places: where any does, the list itself is as it should be.
    inside = [detail for detail in details if isinstance(value, tuple) and any(isinstance(part, int) for part in detail["loc"])]
    wanted = dict.fromkeys(_wanted(detail) for detail in inside or details)
    place = next(int(part) for part in inside[0]["loc"] if isinstance(part, int)) if inside else None
    path = f"analyses.{analysis}.{key}" + (f"[{place}]" if place is not None else "")
    found = value[place] if place is not None else value
    told = " or ".join(word for word in wanted if word)
    return [Problem("P103", f"{path}: expected {told}, found {_shown(found)}", path)]


def _wanted(detail: Any) -> str:
    if detail["type"] == "literal_error":
        return str(detail["ctx"]["expected"])
    return KINDS.get(detail["type"], "" if detail["type"] == "none_required" else str(detail["msg"]))


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"the text {value!r}"
    if isinstance(value, Mapping):
        return "a mapping"
    return f"a list of {len(value)}" if isinstance(value, tuple) else str(value)
