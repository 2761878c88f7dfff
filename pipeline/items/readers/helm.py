"""Runs of HELM: the statistics of each instance for one metric, split and perturbation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from pipeline.errors import DataError, name_some
from pipeline.interfaces import FileSample, Items, Recognised
from pipeline.items.readers._files import with_warnings
from pipeline.items.readers._join import need_system
from pipeline.items.readers._json import digest_of, need, read_json_list, refuse_shape
from pipeline.items.readers._records import (
    ScoredFormat,
    asked_groups,
    check_name,
    choose_one,
    find_beside,
    name_of,
    score_of,
    text_of,
    twice,
)
from pipeline.items.readers._tables import refuse

__all__ = ["HelmReader"]

_NONE = "none"
_PERTURBED = "perturbed"
"""What a perturbation is computed on where nothing is said: not the instances before it, and not the worst of both."""


class _Name(NamedTuple):
    """What a statistic is of: metric, split, perturbation, what that was computed on, and a part of the split."""

    metric: str
    split: str
    perturbation: str
    on: str
    part: str


class _Stat(NamedTuple):
    """One statistic of one instance: where it stands, what it is of, and its record."""

    line: int
    trial: int
    instance: str
    of: _Name
    record: Mapping[str, Any]


@dataclass
class _Trial:
    """What is known of the instances of a trial: line, part of the split, and values by metric, each with its line."""

    lines: dict[str, int] = field(default_factory=dict)
    parts: dict[str, str] = field(default_factory=dict)
    values: dict[str, dict[str, tuple[int, str]]] = field(default_factory=dict)

    def whole(self, metrics: Sequence[str]) -> tuple[str, ...]:
        """Return the instances that have all of some metrics, in file order."""
        return tuple(name for name in self.lines if all(name in self.values[metric] for metric in metrics))


class HelmReader(ScoredFormat):
    """``per_instance_stats.json`` of a run of HELM: a list of instances, each with its statistics.

    An instance may stand in several elements, one for each of HELM's metric classes. Its value is the mean of the statistic.
    Trials (``train_trial_index``) are replicas where there are several. ``stats.json`` beside it has the published mean, and
    ``instances.json`` what each instance is.

    Parameters
    ----------
    metric : str or list of str, optional
        Needed where the file has several; each is the name of a column.
    split : str
        ``test``, ``valid`` or ``train``; ``none`` for statistics without one.
    perturbation : str, optional
        Name of a perturbation; ``none`` for instances as they are.
    """

    name: ClassVar[str] = "helm"
    endings: ClassVar[tuple[str, ...]] = (".json",)
    named_scores: ClassVar[bool] = True

    def __init__(
        self, *, metric: str | Sequence[str] | None = None, split: str | None = "test", perturbation: str | None = None
    ) -> None:
        super().__init__()
        several = metric if isinstance(metric, list | tuple) and metric else [metric]
        self.metrics = tuple(dict.fromkeys(check_name("metric", name) for name in several))
        self.split = check_name("split", split) or _NONE
        self.perturbation = check_name("perturbation", perturbation) or _NONE

    @staticmethod
    def recognise(sample: FileSample) -> Recognised | None:
        """Take a list of objects with an instance, a trial and statistics."""
        head = sample.head.removeprefix(b"\xef\xbb\xbf").lstrip()
        if head.startswith(b"[") and all(key in head for key in (b'"instance_id"', b'"train_trial_index"', b'"stats"')):
            return Recognised(0.95, "a list of objects with instance_id, train_trial_index and stats")
        return None

    @with_warnings
    def read_outputs(self, path: Path, *, system: str | None, options: Mapping[str, Any]) -> dict[str, Items]:
        """Return the values of one system, or of each of its trials."""
        named = need_system(system, path, "statistics of HELM")
        source = str(path)
        stats = self._read(path)
        metrics = self._choose(stats, source)
        trials = _gather(stats, metrics, source)
        published = find_beside([path.with_name("stats.json")], lambda beside: self._read_means(beside, metrics), self._told)
        contents = find_beside([path.with_name("instances.json")], self._read_contents, self._told)
        groups = [role for role, key in asked_groups(options).items() if key == "sub_split"]
        result = {}
        for number, trial in sorted(trials.items()):
            ids = trial.whole(metrics)
            self.tell_missing(
                source, [name for name in trial.lines if name not in ids], len(trial.lines), f"without {' and '.join(metrics)}"
            )
            columns: dict[str, Sequence[str]] = {metric: tuple(trial.values[metric][name][1] for name in ids) for metric in metrics}
            columns |= {role: tuple(trial.parts[name] for name in ids) for role in groups}
            if contents is not None:
                columns |= self._content(ids, contents, path)
            # The name of the trial is part of the system's only where there are several.
            alone = len(trials) == 1
            result[named if alone else f"{named}/{number}"] = Items(
                ids,
                columns,
                source,
                tuple(trial.values[metrics[0]][name][0] for name in ids),
                numbered=False,
                coordinates={} if alone else {"model": named, "replica": str(number), "runs_are": "prompts"},
                # With several trials the file tells the mean over them, which is that of no system.
                published=published if alone and published is not None else {},
            )
        return result

    def _read(self, path: Path) -> list[_Stat]:
        """Return all statistics of the split and the perturbation."""
        entries, odd = read_json_list(path)
        self._told.extend(odd)
        source = str(path)
        every = [stat for line, entry in entries for stat in _statistics(line, entry, source)]
        stats = [stat for stat in every if (stat.of.split, stat.of.perturbation) == (self.split, self.perturbation)]
        if not stats:
            there = sorted({f"{stat.of.split} with perturbation {stat.of.perturbation}" for stat in every})
            raise DataError.of(
                "P261",
                f"the file has no statistics of the split {self.split} with perturbation {self.perturbation}; "
                f"it has {'; '.join(there[:10]) or 'none at all'}",
                where=source,
                help="name both: `format: {name: helm, split: …, perturbation: …}`",
            )
        return stats

    def _choose(self, stats: Sequence[_Stat], source: str) -> tuple[str, ...]:
        # A name that no instance has a value of is no choice.
        there = dict.fromkeys(stat.of.metric for stat in stats if stat.record.get("count"))
        return tuple(choose_one(metric, there, option="metric", what="metric", source=source) for metric in self.metrics)

    def _read_means(self, path: Path, metrics: Sequence[str]) -> dict[str, float]:
        """Return the means that the run tells of itself, of the metrics it tells one of."""
        entries, _ = read_json_list(path)
        found: dict[str, list[str]] = {}
        for line, entry in entries:
            of = _name_of_stat(entry, str(path), line)
            if of.metric in metrics and (of.split, of.perturbation) == (self.split, self.perturbation) and of.on == _PERTURBED:
                mean = score_of(entry.get("mean"), f"the mean of '{of.metric}'", f"{path}:{line}")
                found.setdefault(of.metric, []).append(mean)
        # Several are those of parts of the split.
        return {metric: float(means[0]) for metric, means in found.items() if len(means) == 1}

    def _content(self, ids: Sequence[str], contents: Mapping[str, str], path: Path) -> dict[str, tuple[str, ...]]:
        lacking = [name for name in ids if name not in contents]
        if lacking:
            beside = path.with_name("instances.json")
            self._told.append(f"{beside} lacks {len(lacking)} of {len(ids)} instances, {name_some(lacking)}: none is compared")
            return {}
        return {"content": tuple(contents[name] for name in ids)}

    def _read_contents(self, path: Path) -> dict[str, str]:
        """Return a digest of each instance of the perturbation: its text and its references."""
        entries, _ = read_json_list(path)
        source = str(path)
        found = {}
        for line, entry in entries:
            if _perturbation(entry, source, line)[0] == self.perturbation:
                text = need(need(entry, "input", dict, source, line), "text", str, source, line)
                references = need(entry, "references", list, source, line) if "references" in entry else []
                answers = []
                for reference in references:
                    output = need(reference, "output", dict, source, line)
                    tags = need(reference, "tags", list, source, line) if "tags" in reference else []
                    answers.append([need(output, "text", str, source, line), "correct" in tags])
                found[name_of(entry, "id", source, line)] = digest_of([text, answers])
        return found


def _statistics(line: int, entry: Mapping[str, Any], source: str) -> Iterator[_Stat]:
    instance = name_of(entry, "instance_id", source, line)
    trial = need(entry, "train_trial_index", int, source, line)
    perturbation, _ = _perturbation(entry, source, line)
    for record in need(entry, "stats", list, source, line):
        of = _name_of_stat(record, source, line)
        if of.perturbation != perturbation:
            what = f"the perturbation of '{of.metric}'"
            raise refuse_shape(source, line, what, f"that of its instance, {perturbation}", of.perturbation)
        yield _Stat(line, trial, instance, of, record)


def _name_of_stat(record: Any, source: str, line: int) -> _Name:
    name = need(record, "name", dict, source, line)
    perturbation, on = _perturbation(name, source, line)
    return _Name(
        name_of(name, "name", source, line),
        text_of(name, "split", source, line, default=_NONE),
        perturbation,
        on,
        text_of(name, "sub_split", source, line),
    )


def _perturbation(of: Mapping[str, Any], source: str, line: int) -> tuple[str, str]:
    """Return the name of a perturbation, and what it was computed on."""
    if of.get("perturbation") is None:
        return _NONE, _PERTURBED
    found = need(of, "perturbation", dict, source, line)
    return name_of(found, "name", source, line), text_of(found, "computed_on", source, line, default=_PERTURBED)


def _gather(stats: Sequence[_Stat], metrics: Sequence[str], source: str) -> dict[int, _Trial]:
    """Return the values of some metrics by trial."""
    trials: dict[int, _Trial] = {}
    problems = []
    for stat in stats:
        trial = trials.setdefault(stat.trial, _Trial(values={metric: {} for metric in metrics}))
        trial.lines.setdefault(stat.instance, stat.line)
        trial.parts.setdefault(stat.instance, stat.of.part)
        if stat.of.metric not in metrics or need(stat.record, "count", int, source, stat.line) < 1:
            continue
        values = trial.values[stat.of.metric]
        if stat.instance in values:
            help_ = f"an instance has one '{stat.of.metric}' in each trial; copy or make the file again"
            problems.append(twice(stat.instance, source, values[stat.instance][0], stat.line, help_=help_))
            continue
        values[stat.instance] = (stat.line, _mean(stat, source))
    refuse(problems)
    return trials


def _mean(stat: _Stat, source: str) -> str:
    mean = stat.record.get("mean")
    if mean is None:
        try:
            mean = need(stat.record, "sum", (int, float), source, stat.line) / stat.record["count"]
        except OverflowError:  # a whole number of hundreds of digits
            mean = float("inf")
    return score_of(mean, f"the {stat.of.metric} of '{stat.instance}'", f"{source}:{stat.line}")
