"""Messages as `compare` has to say them: with its options in place of the keys of a study, since there is none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from pipeline.errors import PipelineError, Problem

__all__ = ["in_words_of_compare", "speaking_of_compare"]

_NAMED = "give each system a file of its own, `NAME=PATH`"

_WORDS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r"paths are relative to the study file.*", "paths are relative to the current folder"),
        (
            r"see `outputs:` and `systems\.exclude:` in the study",
            "give two outputs or more, or one table of all systems: a column each, or rows with the columns `system`, `item` and "
            "`score`; `--columns '{system: …, item: …}'` says which columns these are",
        ),
        (r"write the place of the name into the path, `outputs: [^`]*`, or map names to paths", _NAMED),
        (r"write the place of the name into the path, `outputs: [^`]*`, or give a table of all systems", _NAMED),
        (r"write (\S+) into `outputs:`, or into", r"write \1 into"),
        (r"start the study again: .*", "compare the files again"),
        (r"start the study (again|in a new process)", "compare the files again"),
        (r"the study names a file of references or gold", "`-r` gives a file"),
        (r"folders without a file that `outputs:` names", "folders without a file"),
        (r"give `references:` to a test set of format text, `gold:` to one of another format that has them", "give them with `-r`"),
        (r"add `reference:` or `gold:` to the format", "name their key in `--format`, as `reference` or `gold`"),
        (r"(?<!`)columns: (\{[^`]*\})$", r"`--columns '\1'`"),
        (r"`columns: (\{.*?\})`", r"`--columns '\1'`"),
        (r"`format: (\{.*?\})`", r"`--format '\1'`"),
        (r"`format: ([^`]*)`", r"`--format \1`"),
        (r"`(missing|documents|unit): ([^`]*)`", r"`--\1 \2`"),
        (r"`(missing|documents|columns|format|unit):`", r"`--\1`"),
        (r"^missing: (?=drop|zero)", "--missing "),
        (r"the `(gold|references|documents):`", r"the \1"),
        (r"`(gold|references):`", "`-r`"),
        (r"one of the `outputs:`", "one of the outputs"),
        (r"otherwise in `outputs:`", "otherwise, `NAME=PATH`"),
        (r" of the test set(?=;|$)", ""),
        (r"leave it out of the study", "leave it out"),
        (r" (in|of) (the|this) study", ""),
        (r"\bresampling\.(alpha|replicates|unit)\b", r"--\1"),
        (r"\bresampling\.procedures(\[\d+\])?", "--procedure"),
        (r"\bmetrics(\[\d+\])(\.\w+)?", "-m"),
        (r"\btest_sets\.test set\.(format|missing|columns|documents)\b", r"--\1"),
    )
)


def in_words_of_compare(text: str) -> str:
    """Give a message with options of `compare` in place of keys of a study.

    Examples
    --------
    >>> in_words_of_compare("set `missing: drop`, or mend the file; `format: {name: lm-eval, filter: …}`")
    "set `--missing drop`, or mend the file; `--format '{name: lm-eval, filter: …}'`"
    """
    for pattern, words in _WORDS:
        text = pattern.sub(words, text)
    return text


@contextmanager
def speaking_of_compare() -> Iterator[None]:
    """Raise what is wrong in the words of `compare`."""
    try:
        yield
    except PipelineError as error:
        problems = [_translate(problem) for problem in error.problems]
        if problems == list(error.problems):
            raise
        raise type(error)(*problems) from error


def _translate(problem: Problem) -> Problem:
    said = {name: getattr(problem, name) for name in ("message", "help", "note")}
    return replace(problem, **{name: text and in_words_of_compare(text) for name, text in said.items()})
