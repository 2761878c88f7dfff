"""The trainer for external systems: shell commands that read and write files train and predict."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass, field
from pipeline.errors import PipelineError, PluginError, Problem, StudyError
from pipeline.interfaces import Trainer, TrainingItems
from pipeline.trainers._kept_files import load_files, save_files
from pipeline.trainers._outcome import CommandFailed, say_wrong_number
from pipeline.trainers._template import Placeholder, fill_template, parse_template
from pipeline.trainers.process import Finished, Limits, run_command

__all__ = ["CommandModel", "CommandTrainer"]

_FIT = ("train", "model", "seed", "workdir", "path")
_PREDICT = ("input", "output", "model", "seed", "workdir", "path", "train")
_TOLD = ("seed", "notes", "seconds", "memory_bytes")
_VERSION_LIMITS = Limits(minutes=1.0)


@dataclass(frozen=True)
class CommandModel:
    """What a command left: a file or a folder of its own, in the work directory of the training.

    Parameters
    ----------
    folder : Path
        The work directory.
    seed : int
    notes : tuple of str
        What a reader of the report should know.
    seconds, memory_bytes : float, int
        What ``fit`` took.
    printed : list of str
        What each command printed, ``fit`` and every ``predict`` until now.
    """

    folder: Path
    seed: int
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    memory_bytes: int = 0
    printed: list[str] = field(default_factory=list, compare=False, repr=False)

    @property
    def log(self) -> str:
        """What the commands printed, one after the other."""
        return "\n".join(filter(None, self.printed))


class CommandTrainer(Trainer):
    """Trains any system that has a command line.

    ``fit`` is run on the sampled training items in a file of their format and leaves a model; ``predict`` reads the items of a
    test set, without what is to be predicted, and writes them with it in the same format. Commands run under ``/bin/sh -ec`` in
    the work directory of the training, which is new and is removed afterwards, without standard input and with one thread for
    BLAS and OpenMP. Placeholders are bare words: their values are quoted here.

    Parameters
    ----------
    predict : str
        Template with ``{input}``, ``{output}``, and ``{model}``, ``{train}``, ``{seed}``, ``{workdir}``, ``{path}`` as needed.
    fit : str, optional
        Template with ``{train}`` and ``{model}``, and ``{seed}``, ``{workdir}``, ``{path}`` as needed. Without it ``predict`` does
        all.
    limits : mapping, optional
        ``minutes`` (a day if not given), ``memory`` and ``disk`` such as ``4 GB``.
    environment : mapping, optional
        Variables added to the environment.
    path : str, optional
        A folder with programs of the study, for the placeholder ``{path}``.
    suffix : str, optional
        End of the names of ``{train}``, ``{input}`` and ``{output}``, where a program looks at it: ``.conllu``.
    gives : list of str, optional
        Columns that are predicted; otherwise all that the output file has and the input file had not.
    same_bits : bool, optional
        A promise: the same sample and seed give the same outputs, bit for bit.
    version : str, optional
        Of the system; another one trains again.
    version_command : str, optional
        A command whose output is part of the version.
    """

    name: ClassVar[str] = "command"
    takes: tuple[str, ...] = ()

    def __init__(
        self,
        *,
        predict: str,
        fit: str | None = None,
        limits: Mapping[str, Any] | None = None,
        environment: Mapping[str, Any] | None = None,
        path: str | None = None,
        suffix: Any = "",
        gives: Sequence[str] = (),
        same_bits: Any = False,
        version: str | float = "",
        version_command: str | None = None,
    ) -> None:
        self._problems: list[Problem] = []
        self._predict = self._template("predict", predict, _PREDICT, needs=("input", "output"))
        self._fit = None if fit is None else self._template("fit", fit, _FIT, needs=("train",))
        self._version_command = None if version_command is None else self._template("version_command", version_command, ("path",))
        for option, pieces in (("fit", self._fit), ("predict", self._predict), ("version_command", self._version_command)):
            if path is None and Placeholder("path") in (pieces or ()):
                self._refuse(f"option '{option}' has {{path}}, and no option 'path' says what it is")
        try:
            self.limits = Limits.read({} if limits is None else limits)
        except ValueError as error:
            self._refuse(str(error))
        self.environment = self._variables(environment)
        if not isinstance(suffix, str) or not re.fullmatch(r"(\.[A-Za-z0-9._-]*)?", suffix):
            self._refuse(f"option 'suffix' is the end of a file name such as '.conllu', not {suffix!r}")
        if not isinstance(same_bits, bool):
            self._refuse(f"option 'same_bits' is true or false, not {same_bits!r}")
        if isinstance(gives, (str, bytes)) or not all(isinstance(name, str) for name in gives):
            self._refuse(f"option 'gives' is a list of columns, not {gives!r}")
        if self._problems:
            raise StudyError(*self._problems)
        self._texts = (fit, predict, version_command)
        self.path = "" if path is None else str(Path(path).absolute())
        self.suffix, self.gives, self.same_bits, self.version = suffix, tuple(gives), same_bits, str(version)

    @cached_property
    def signature(self) -> str:
        """The commands, the version, and what ``version_command`` prints."""
        printed = "" if self._version_command is None else self._ask_version(self._version_command)
        return "|".join([self.name, *(repr(text) for text in self._texts), self.version, printed])

    def fit(self, items: TrainingItems, sample: NDArray[np.int64], *, seed: int, workdir: Path) -> CommandModel:
        """Write the sampled items, numbered anew, and run ``fit`` on them.

        Raises
        ------
        CommandFailed
            P411, P414–P417 as `run_command`, P412 where no model is there afterwards.
        """
        folder = workdir.absolute()
        _make_places(folder)
        train = folder / f"train{self.suffix}"
        if self._fit is None and Placeholder("train") not in self._predict:
            return CommandModel(folder, seed)
        _write(items, train, {name: [values[k] for k in sample.tolist()] for name, values in items.columns.items()}, len(sample))
        if self._fit is None:
            return CommandModel(folder, seed)
        finished = self._run("fit", self._fit, folder, {"train": str(train), **self._values(folder, seed)})
        if Placeholder("model") in self._fit and not (folder / "model").exists():
            raise CommandFailed.told("P412", "the fit command ended well and wrote no {model}", log=finished.log)
        return CommandModel(folder, seed, finished.notes, finished.seconds, finished.memory_bytes, [finished.log])

    def predict(self, model: CommandModel, items: TrainingItems) -> dict[str, Sequence[Any]]:
        """Write the items, run ``predict`` on them, and read the columns that it added.

        Raises
        ------
        CommandFailed
            As `fit`; P412 where no output is there afterwards, P413 where it cannot be read or has other items.
        """
        place = Path(tempfile.mkdtemp(prefix="predict-", dir=model.folder))
        source, target = place / f"input{self.suffix}", place / f"output{self.suffix}"
        _write(items, source, items.columns, len(items))
        values = {"input": str(source), "output": str(target), "train": str(model.folder / f"train{self.suffix}")}
        finished = self._run("predict", self._predict, model.folder, values | self._values(model.folder, model.seed))
        if not target.is_file() or (len(items) and not target.stat().st_size):
            what = "wrote no {output}" if not target.is_file() else "left {output} empty"
            raise CommandFailed.told("P412", f"the predict command ended well and {what}", log=finished.log)
        predicted = self._read(target, items, finished)
        model.printed.append(finished.log)
        shutil.rmtree(place)
        return predicted

    def save_model(self, model: CommandModel, folder: Path) -> None:
        """Keep what ``fit`` left: the model and the current folder, and the sample where ``predict`` wants it.

        Without ``fit`` there is nothing to keep.
        """
        if self._fit is None:
            return
        wanted = [f"train{self.suffix}"] if Placeholder("train") in self._predict else []
        told = {name: getattr(model, name) for name in _TOLD}
        save_files([model.folder / name for name in ("model", "work", *wanted)], folder, told)

    def load_model(self, folder: Path, workdir: Path) -> CommandModel:
        """Bring the files of a kept model to where ``fit`` would have left them."""
        place = workdir.absolute()
        told = load_files(folder, place)
        _make_places(place)
        return CommandModel(place, **{**told, "notes": tuple(told["notes"])})

    def _read(self, path: Path, items: TrainingItems, finished: Finished) -> dict[str, Sequence[Any]]:
        def unusable(why: str) -> CommandFailed:
            return CommandFailed.told(
                "P413", f"the predict command ended well and its output cannot be used: {why}", log=finished.log
            )

        assert items.reads is not None
        try:
            columns = items.reads(path)
        except PipelineError as error:
            why = "; ".join(f"{problem.message} ({problem.where or path})" for problem in error.problems)
            raise unusable(why.replace(str(path), "output")) from error
        for name, values in columns.items():
            if len(values) != len(items):
                raise unusable(say_wrong_number(path.with_name(f"input{self.suffix}"), len(values), len(items)))
            if name in items.columns and (difference := _differs(name, items.columns[name], values, items.ids)):
                raise unusable(difference)
        gives = self.gives or tuple(name for name in columns if name not in items.columns)
        lacking = [name for name in gives if name not in columns]
        if lacking or not gives:
            raise unusable(f"it lacks the column {', '.join(map(repr, lacking))}" if lacking else "it adds no column to its input")
        return {name: columns[name] for name in gives}

    def _run(self, title: str, pieces: tuple[str | Placeholder, ...], folder: Path, values: Mapping[str, str]) -> Finished:
        return run_command(
            fill_template(pieces, values),
            title=title,
            cwd=folder / "work",
            watch=folder,
            logs=folder / "logs",
            # Python's order of sets is part of its environment; what is put into a temporary folder goes with the rest.
            environment={"PYTHONHASHSEED": "0", "TMPDIR": str(folder / "temporary"), **self.environment},
            limits=self.limits,
            given=Path(values["input" if "input" in values else "train"]),
        )

    def _values(self, folder: Path, seed: int) -> dict[str, str]:
        return {"model": str(folder / "model"), "seed": str(seed), "workdir": str(folder / "work"), "path": self.path}

    def _ask_version(self, pieces: tuple[str | Placeholder, ...]) -> str:
        with tempfile.TemporaryDirectory(prefix="pipeline-version-") as made:
            folder = Path(made)
            try:
                run = run_command(
                    fill_template(pieces, {"path": self.path}),
                    title="version_command",
                    cwd=folder,
                    watch=folder,
                    logs=folder,
                    environment=self.environment,
                    limits=_VERSION_LIMITS,
                )
            except CommandFailed as error:
                told = error.problems[0]
                raise PluginError.of("P311", told.message, help="correct the option 'version_command'", note=told.note) from error
        return " ".join("".join(c if c.isprintable() else " " for c in run.log).split())

    def _template(
        self, option: str, text: Any, known: tuple[str, ...], needs: tuple[str, ...] = ()
    ) -> tuple[str | Placeholder, ...]:
        if not isinstance(text, str) or not text.strip():
            self._refuse(f"option '{option}' is a command of the shell, not {text!r}")
            return ()
        try:
            pieces = parse_template(text, known=known)
        except ValueError as error:
            self._refuse(f"option '{option}': {error}")
            return ()
        for name in needs:
            if Placeholder(name) not in pieces:
                self._refuse(f"option '{option}' has no {{{name}}}: it must say where the file goes")
        return pieces

    def _variables(self, environment: Any) -> dict[str, str]:
        if environment is None:
            return {}
        if not isinstance(environment, Mapping):
            self._refuse(f"option 'environment' is a mapping of names to values, not {environment!r}")
            return {}
        for name, value in environment.items():
            if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
                self._refuse(f"option 'environment': {name!r} is not the name of a variable")
            elif isinstance(value, bool) or not isinstance(value, (str, int, float)) or "\0" in str(value):
                self._refuse(f"option 'environment': {name} is a text or a number, not {value!r}")
        return {str(name): str(value) for name, value in environment.items()}

    def _refuse(self, message: str) -> None:
        self._problems.append(Problem("P151", f"trainer '{self.name}': {message}", help="see docs/trainers.md"))


def _make_places(folder: Path) -> None:
    for name in ("work", "temporary", "logs"):
        (folder / name).mkdir(exist_ok=True)


def _differs(name: str, given: Sequence[Any], found: Sequence[Any], ids: Sequence[str]) -> str | None:
    """Say which item came back with other tokens than it was given: sentences out of order would all be scored, and all wrong."""
    for old, new, item in zip(given, found, ids, strict=True):
        if isinstance(old, tuple) and isinstance(new, tuple) and len(old) != len(new):
            return f"item {item} has {len(new)} of '{name}', and {len(old)} were given"
        if name == "word" and tuple(old) != tuple(new):
            position = next(k for k, (a, b) in enumerate(zip(old, new, strict=True)) if a != b)
            return f"token {position + 1} of item {item} is {new[position]!r}, and {old[position]!r} was given"
    return None


def _write(items: TrainingItems, path: Path, columns: Mapping[str, Sequence[Any]], count: int) -> None:
    if items.writer is None or items.reads is None:
        raise PluginError.of(
            "P307",
            "the trainer 'command' needs items that were read from files: these cannot be written for a command",
            help="choose another trainer, or training data and test sets in a format of `pipeline formats`",
        )
    # A sample holds items several times: identifiers would not be unique.
    ids = tuple(str(number) for number in range(1, count + 1))
    try:
        items.writer(path, columns, ids)
    except OSError as error:
        raise CommandFailed.told("P414", f"{path.name} cannot be written: {error.strerror}", log="") from error
