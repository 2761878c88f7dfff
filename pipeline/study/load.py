"""Study files and cluster profiles as values, with all errors at once.

`load_study` reads a file, `study_from_value` takes plain values, `override_study` changes one as ``--set`` does. In paths of a
study ``${NAME}`` and ``${NAME:-default}`` are replaced by environment variables (`_expand_paths`).
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from pipeline.dataclass import dataclass, field
from pipeline.errors import Problem, StudyError
from pipeline.inputs import read_input, size_text
from pipeline.options import suggest
from pipeline.study.complaints import complain
from pipeline.study.frozen import Frozen
from pipeline.study.marks import Document, KeyPath
from pipeline.study.presets import set_preset
from pipeline.study.profile import FILLED_IN, LOCAL, PROFILES, ClusterProfile, list_profiles
from pipeline.study.schema import Study
from pipeline.study.yaml_values import MOST_BYTES, parse_yaml

__all__ = ["LoadedStudy", "load_profile", "load_study", "locate_profile", "override_study", "resolve", "study_from_value"]

VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")

PATH_KEYS = ("references", "gold", "outputs", "documents")


def _expand_paths(document: Document) -> tuple[tuple[str, ...], list[Problem]]:
    """Replace variables in the paths of a document; return their names, and problems of those neither set nor with a default."""
    problems: list[Problem] = []
    named: dict[str, None] = {}

    def expand(text: str, path: KeyPath) -> str:
        def value_of(match: re.Match[str]) -> str:
            named[match[1]] = None
            value = os.environ.get(match[1]) or match[2]
            if value is None:
                where = document.where(path)
                problems.append(
                    Problem(
                        "P113",
                        f"the environment variable {match[1]} is not set",
                        where,
                        f"set it, or write ${{{match[1]}:-a default}}",
                    )
                )
                return match[0]
            return value

        return VARIABLE.sub(value_of, text)

    for holder, key, path in _paths(document.value):
        holder[key] = expand(holder[key], path)
    return tuple(named), problems


def _paths(value: Any) -> Iterator[tuple[Any, Any, KeyPath]]:
    """Yield every path in a study as the container and key that hold it, and where it stands."""
    if not isinstance(value, Mapping):
        return
    test_sets = value.get("test_sets")
    for name, test_set in test_sets.items() if isinstance(test_sets, Mapping) else ():
        for key in PATH_KEYS if isinstance(test_set, Mapping) else ():
            yield from _strings(test_set, key, ("test_sets", name, key))
    training = value.get("training")
    data = training.get("data") if isinstance(training, Mapping) else None
    for key in ("path", "gold") if isinstance(data, Mapping) else ():
        yield from _strings(data, key, ("training", "data", key))
    models = training.get("models") if isinstance(training, Mapping) else None
    for name, model in models.items() if isinstance(models, Mapping) else ():
        if isinstance(model, Mapping):
            yield from _strings(model, "path", ("training", "models", name, "path"))
    metrics = value.get("metrics")
    for k, metric in enumerate(metrics if isinstance(metrics, list) else ()):
        if isinstance(metric, Mapping):
            yield from _strings(metric, "path", ("metrics", k, "path"))
    systems = value.get("systems")
    if isinstance(systems, Mapping):
        yield from _strings(systems, "table", ("systems", "table"))


def _strings(holder: Any, key: Any, path: KeyPath) -> Iterator[tuple[Any, Any, KeyPath]]:
    found = holder.get(key) if isinstance(holder, Mapping) else holder[key]
    if isinstance(found, str):
        yield holder, key, path
    elif isinstance(found, list):
        for i in range(len(found)):
            yield from _strings(found, i, (*path, i))
    elif isinstance(found, Mapping) and path[-1] == "outputs":
        for name in found:
            yield from _strings(found, name, (*path, name))


_Model = TypeVar("_Model", bound=Frozen)


@dataclass(frozen=True)
class LoadedStudy:
    """A study and its origin.

    Parameters
    ----------
    study : Study
        What is asked.
    path : Path
        The file, as it was named.
    base : Path
        Its directory: relative paths in the study start here.
    text : str
        The file's text.
    overrides : tuple of str
        What the command line changed, ``key.path=value``.
    document : Document
        The values as they were written, with their places.
    variables : tuple of str
        The environment variables that its paths name.
    command : str
        What asks it again, from the folder where its paths start; empty where no command does.
    """

    study: Study
    path: Path
    base: Path
    text: str
    overrides: tuple[str, ...] = ()
    document: Document = field(default_factory=Document, repr=False, compare=False)
    variables: tuple[str, ...] = ()
    command: str = ""


def load_study(path: Path | str, overrides: Sequence[str] = ()) -> LoadedStudy:
    """Read a study file.

    Parameters
    ----------
    path : Path
        The file.
    overrides : sequence of str
        Changes from the command line, ``key.path=value``: the value is YAML, a position in a list counts from 0, and a key
        that holds a dot stands in double quotes.

    Raises
    ------
    StudyError
        With every problem there is (P1xx), each with its line and column, or the flag it came from.
    """
    text = _read(Path(path), "the study file")
    try:
        document, problems = parse_yaml(text, str(path))
    except StudyError as error:
        raise error if _has_ending(path) else _no_study(path) from error
    if isinstance(document.value, str) or not (isinstance(document.value, Mapping) or document.value is None or _has_ending(path)):
        raise _no_study(path)
    if document.value is None and not problems:
        help = "`pipeline init` writes one from your files"
        raise StudyError(Problem("P107", "the study file is empty", str(path), help))
    problems += [problem for override in overrides for problem in _override(document, override)]
    set_preset(document)
    variables, unset = _expand_paths(document)
    study = _validate(Study, document, problems + unset)
    asked = shlex.join(["pipeline", "run", Path(path).name, *(word for override in overrides for word in ("--set", override))])
    return LoadedStudy(study, Path(path), Path(path).absolute().parent, text, tuple(overrides), document, variables, asked)


def _has_ending(path: Path | str) -> bool:
    """Say whether a file has a study's ending."""
    return Path(path).suffix.lower() in {".json", ".yaml", ".yml"}


def _no_study(path: Path | str) -> StudyError:
    """Refuse what may be an output or a table of scores: both are given where a study is asked for."""
    name = shlex.quote(str(path))
    help = f"`pipeline compare {name} …` compares outputs and tables without a study, `pipeline init {name} …` writes one for them"
    return StudyError(
        Problem("P106", "this is not a study: a study is a file in YAML that begins with `schema: 1`", str(path), help)
    )


def study_from_value(value: dict[str, Any], *, base: Path) -> LoadedStudy:
    """Return a study that was never in a file, from plain values as a file would hold them."""
    text = json.dumps(value, indent=2) + "\n"
    document = Document(json.loads(text))
    set_preset(document)
    return LoadedStudy(_validate(Study, document, []), Path("study"), base, text, (), document)


def override_study(study: Study, overrides: Sequence[str]) -> Study:
    """Return another study, changed as ``--set`` changes one."""
    document = Document(resolve(study))
    problems = [problem for override in overrides for problem in _override(document, override)]
    return _validate(Study, document, problems)


def locate_profile(name: str, base: Path) -> str:
    """Return the absolute path of a profile that is in order, or its name: what a coordinator elsewhere can read again."""
    load_profile(name, base)
    found = next((path for path in (Path(name), base / name) if path.is_file()), None)
    return name if name == "local" or found is None else str(found.absolute())


def _find_profile(name: str, base: Path | None) -> Path:
    """Return the file of a profile: one that is there, or else the one of this name that comes with the package."""
    candidates = [Path(name), *([base / name] if base else [])]
    there = next((path for path in candidates if path.is_file()), None)
    if there is not None:
        return there
    known = list_profiles()
    if name in FILLED_IN:
        raise StudyError(Problem("P112", f"the profile {name!r} does not know your machines", None, _filling_in(name)))
    if name in known:
        return PROFILES / f"{name}.yaml"
    if candidates[0].exists() or re.search(r"[/\\]|\.ya?ml$", name):
        ours = candidates[0].stem
        if ours in known and not candidates[0].exists():
            help = _filling_in(ours) if ours in FILLED_IN else f"the package brings one: --cluster {ours}"
            raise StudyError(Problem("P109", "the cluster profile does not exist", name, help))
        return candidates[0]
    help_ = suggest(name, known, otherwise="`pipeline profiles` lists those that are known by name; a file needs its path")
    raise StudyError(Problem("P112", f"there is no cluster profile {name!r}", None, help_))


def _filling_in(name: str) -> str:
    return f"write it down, fill it in, and name the file: `pipeline profiles {name} > {name}.yaml`"


def load_profile(name: Path | str, base: Path | None = None, overrides: Sequence[str] = ()) -> ClusterProfile:
    """Read a cluster profile: ``local``, a file, found from the current directory or else from ``base``, or one of the package.

    ``overrides`` change it as they change a study, for example ``options.interface=lo``. A relative ``scheduler_file`` is
    relative to the profile.
    """
    if str(name) == "local":
        return LOCAL
    path = _find_profile(str(name), base)
    text = _read(path, "the cluster profile")
    document, problems = parse_yaml(text, str(path))
    if document.value is None and not problems:
        raise StudyError(Problem("P107", "the cluster profile is empty", str(path), "`pipeline profiles local` shows one"))
    if isinstance(document.value, dict):
        document.value.setdefault("name", path.stem)
    problems += [problem for override in overrides for problem in _override(document, override)]
    profile = _validate(ClusterProfile, document, problems)
    if profile.scheduler_file is None:
        return profile
    file = path.absolute().parent / os.path.expanduser(os.path.expandvars(profile.scheduler_file))
    return profile.model_copy(update={"scheduler_file": str(file)})


def resolve(study: Study) -> dict[str, Any]:
    """Return the whole study, defaults included, as plain JSON values, from which digests are made."""
    return study.model_dump(mode="json", by_alias=True)


def _validate(model: type[_Model], document: Document, problems: list[Problem]) -> _Model:
    try:
        # Strict JSON: lists become tuples, and neither "5" nor true is a number.
        value = model.model_validate_json(json.dumps(document.value), strict=True)
    except ValidationError as error:
        # What could not be read stands there as nothing: no second complaint about that.
        unread = {problem.where for problem in problems if problem.code == "P106"}
        problems = problems + [problem for problem in complain(error, document, model) if problem.where not in unread]
        raise StudyError(*sorted(problems, key=_position)) from error
    if problems:
        raise StudyError(*sorted(problems, key=_position))
    return value


def _position(problem: Problem) -> tuple[int, int]:
    """Order problems as they stand in the file, those of flags last."""
    found = re.search(r":([0-9]+):([0-9]+)$", problem.where or "")
    return (int(found[1]), int(found[2])) if found and not (problem.where or "").startswith("--") else (2**31, 0)


def _read(path: Path, what: str) -> str:
    try:
        data = read_input(path, MOST_BYTES)
    except FileNotFoundError as error:
        near = suggest(path.name, sorted(found.name for found in path.parent.glob("*.y*ml"))) if path.parent.is_dir() else None
        raise StudyError(Problem("P109", f"{what} does not exist", str(path), near)) from error
    except OSError as error:
        help_ = "name the file itself" if isinstance(error, IsADirectoryError) else None
        raise StudyError(Problem("P109", f"{what} cannot be read: {str(error.strerror).lower()}", str(path), help_)) from error
    if data is None:
        raise StudyError(
            Problem("P128", f"{what} has more than {size_text(MOST_BYTES)}", str(path), "check that it is the right file")
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
        message = f"{what} is not UTF-8: the byte 0x{data[error.start]:02x}"
        raise StudyError(Problem("P108", message, f"{path}:{line}:{column}", "save it as UTF-8")) from error


def _override(document: Document, override: str) -> list[Problem]:
    flag = f"--set {override}"
    path, equals, text = override.partition("=")
    parts = re.findall(r'"((?:[^"\\]|\\.)*)"|([^.\[\]]+)', path)
    if not equals or not parts:
        return [Problem("P111", f"a key and its value are needed, not {override!r}", flag, "write --set key.path=value")]
    try:
        other, problems = parse_yaml(text, flag)
    except StudyError as error:
        return [replace(problem, where=flag) for problem in error.problems]
    hindrance = document.put(tuple(quoted or plain for quoted, plain in parts), other, flag)
    if hindrance:
        return [Problem("P111", hindrance, flag)]
    return [replace(problem, where=flag) for problem in problems]
