"""A study that is wrong, the help that its message gives, and the same study with that help followed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pipeline.errors import PipelineError, Problem
from pipeline.items.outputs import load_output
from pipeline.metrics.registry import load_metric
from pipeline.store.addresses import digest_bytes
from pipeline.study.load import load_study
from pipeline.survey.survey import StudySurvey, survey_loaded

Files = Mapping[str, str | bytes | None]


class Case(NamedTuple):
    """A folder with a study.

    Parameters
    ----------
    says : str
        The help as the source has it, with braces for what is put in.
    test_set : str
        Its value in the study, in flow style.
    files : mapping
        What lies beside it.
    mend : mapping
        Files that are written anew, or removed; ``test_set``, ``metric`` and ``more`` are parts of the study. ``<0>`` is the
        first text in backticks of the help, ``<1>`` for the second: what can be taken from the message is.
    metric : str
        The metric of the study.
    more : str
        Further lines of the study.
    fill : mapping
        What is written for the ``…`` and capitals of the message.
    counts : bool
        Whether it takes the statistics of the outputs to see what is wrong.
    """

    says: str
    test_set: str
    files: Files
    mend: Files
    metric: str = "mean"
    more: str = ""
    fill: Mapping[str, str] = {}
    counts: bool = False


def template(says: str) -> re.Pattern[str]:
    """Return what a help matches that the source has so."""
    return re.compile(r".*".join(map(re.escape, says.split("{}"))), re.DOTALL)


def help_of(act: Callable[[], Any], says: str) -> str:
    """Do what is wrong, and return the help that is given."""
    with pytest.raises(PipelineError) as caught:
        act()
    said = [problem.help for problem in caught.value.problems if problem.help and template(says).fullmatch(problem.help)]
    assert said, caught.value.problems
    return said[0]


def problems_of(case: Case, folder: Path) -> tuple[Problem, ...]:
    """Return what is wrong with a case, as `pipeline check` tells it."""
    try:
        _look(case, folder)
    except PipelineError as error:
        return error.problems
    return ()


def told_of(case: Case, folder: Path) -> list[str]:
    """Return the warnings of a case, or else what messages say of it beside their helps."""
    try:
        found = _look(case, folder)
    except PipelineError as error:
        return [text for problem in error.problems for text in (problem.message, problem.note) if text]
    return [warning for test_set in found.inputs.test_sets for warning in test_set.warnings]


def _look(case: Case, folder: Path) -> StudySurvey:
    """Write the files of a case, and read them."""
    own = f"own_{digest_bytes(str(folder).encode())[:8]}"  # a module is imported once, and each folder has another
    for name, content in case.files.items():
        path = folder / name.replace("own_trainers", own)
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            path.unlink(missing_ok=True)
        elif path.suffix or content:
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        else:
            path.mkdir(exist_ok=True)
    text = f"schema: 1\nstudy: s\nseed: 7\ntest_sets:\n  t: {case.test_set}\nmetrics: [{case.metric}]\n{case.more}"
    (folder / "study.yaml").write_text(text.replace("own_trainers", own), encoding="utf-8")
    found = survey_loaded(load_study(folder / "study.yaml"))
    if case.counts:
        _count(found, folder)
    return found


def _count(found: StudySurvey, folder: Path) -> None:
    """Count the statistics of all outputs, as the first tasks of a run do."""
    for survey in found._surveys:
        for metric in found.inputs.metrics:
            counter = load_metric(metric.name, metric.options)
            prepared = counter.prepare(survey.gold)
            for output in survey.outputs:
                items = load_output(found.study.as_read(survey.frame.test_set), output, frame=survey.frame, base=folder)
                counter.extract(prepared, items)


def follow(case: Case, folder: Path) -> None:
    """Bring about what is wrong, do what the message says, and see that nothing is wrong any more."""
    said = [problem.help for problem in problems_of(case, folder) if problem.help and template(case.says).fullmatch(problem.help)]
    assert said, [(problem.code, problem.message, problem.help) for problem in problems_of(case, folder)]
    left = problems_of(_mended(case, said[0]), folder)
    assert not left, [(problem.code, problem.message, problem.help) for problem in left]


def follow_told(case: Case, folder: Path, *, again: bool = False) -> None:
    """Bring about what is warned of, do what the warning says, and see that nothing is wrong, nor said ``again``."""
    words = template(case.says)
    said = [text for text in told_of(case, folder) if words.search(text)]
    assert said, told_of(case, folder)
    mended = _mended(case, said[0])
    assert problems_of(mended, folder) == ()
    assert bool([text for text in told_of(mended, folder) if words.search(text)]) is again


def _mended(case: Case, said: str) -> Case:
    """Return a case with what its message says done."""
    commands = re.findall(r"`([^`]+)`", said)

    def filled(content: str | bytes | None) -> str | bytes | None:
        if not isinstance(content, str):
            return content
        for number, command in enumerate(commands):
            for word, value in case.fill.items():
                command = command.replace(word, value)
            content = content.replace(f"<{number}>", command)
        return content

    changed = {name: filled(content) for name, content in case.mend.items()}
    parts = {name: str(changed.pop(name)) for name in ("test_set", "metric", "more") if name in changed}
    return case._replace(files=changed, **parts)
