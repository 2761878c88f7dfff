"""The warnings of a survey, before anything is computed.

Outputs that are annotated or written otherwise than the gold, scores whose direction the files contradict, test sizes that a test
set does not have, and units that are alone in their stratum.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from pipeline.errors import DataError, name_some
from pipeline.interfaces import usual_column
from pipeline.interfaces.wording import name_metric
from pipeline.items.frame import TRAITS, Frame, Kind, Output, Survey
from pipeline.items.names import WORDS_FOR_A_RUN
from pipeline.plan.inputs import MetricInputs
from pipeline.resampling.standard_errors.studentise_budget import replicates_within
from pipeline.study.grouping import DOCUMENT, ITEM
from pipeline.study.schema import Study

__all__ = ["warn_of_directions", "warn_of_kinds", "warn_of_max_t", "warn_of_runs", "warn_of_sizes", "warn_of_strata"]

_COMPARED = {
    "accuracy": "label", "precision": "label", "recall": "label", "f1": "label", "tag-accuracy": "tag", "las": "relation",
    "chunk-f1": "chunk", "chunk-precision": "chunk", "chunk-recall": "chunk",
    "bracket-f1": "tree", "bracket-precision": "tree", "bracket-recall": "tree",
}  # fmt: skip
"""The column of labels that a metric compares."""

_NOUNS = {"label": "labels", "tag": "tags", "relation": "relations", "chunk": "types of chunks", "tree": "labels of phrases"}

_OF_TEXTS = frozenset({"bleu", "chrf", "ter", "nist", "meteor", "wer", "cer"})
"""Metrics of texts as they are written; ROUGE leaves case and punctuation out by itself."""

_OFTEN, _HARDLY = 0.5, 0.02
"""Shares of texts: a side that has a trait has it in half of them, a side that has not in hardly any."""
_ENOUGH = 20
"""With fewer texts, or pairs with links, a trait may be missing by chance."""
_RESPELT = 0.01
"""The share of labels that must be written otherwise: fewer are slips of a system, and its own fault."""
_CLOSED = 5
"""A gold that has each label at least so often on average has a closed set of them."""


def warn_of_kinds(metrics: Sequence[MetricInputs], survey: Survey) -> tuple[str, ...]:
    """Return a sentence for each way in which outputs differ from the gold in kind, where one of the metrics counts it."""
    gold = survey.gold_kind
    if gold is None:
        return ()
    told: list[str] = []
    for names, column, cut in _by_column(metrics):
        told += _tell_labels(names, column, _count(gold, column, cut=cut), survey, cut=cut)
        if column == "relation" and not cut:
            told += _tell_subtypes(names, gold.labels.get(column, Counter()), survey)
    told += _tell_writing([metric for metric in metrics if _kind_of(metric) in _OF_TEXTS], gold, survey.kinds)
    told += _tell_bases(gold, survey.kinds) if any(_kind_of(metric) == "aer" for metric in metrics) else []
    return tuple(told)


def _kind_of(metric: MetricInputs) -> str:
    return str(metric.options.get("metric", metric.name))


def _by_column(metrics: Sequence[MetricInputs]) -> Iterator[tuple[str, str, bool]]:
    """Yield the metrics that compare a column in one way: their names, the column, and whether subtypes are left out."""
    groups: dict[tuple[str, bool], list[str]] = {}
    for metric in metrics:
        column = _COMPARED.get(_kind_of(metric))
        if column is not None:
            cut = column == "relation" and not metric.options.get("subtypes", False)
            groups.setdefault((column, cut), []).append(name_metric(metric.name))
    for (column, cut), names in groups.items():
        yield ", ".join(names), column, cut


def _count(kind: Kind, column: str, *, cut: bool) -> Counter[str]:
    counts = kind.labels.get(column, Counter())
    if not cut:
        return counts
    universal: Counter[str] = Counter()
    for label, times in counts.items():
        universal[label.split(":", 1)[0]] += times
    return universal


def _tell_labels(metric: str, column: str, gold: Counter[str], survey: Survey, *, cut: bool) -> Iterator[str]:
    """Tell labels that differ from a gold one in spelling alone, and outputs most of whose labels the gold never has."""
    noun = _NOUNS[column]
    plain: dict[str, list[str]] = {}
    for label in gold:
        plain.setdefault(_plain(label), []).append(label)
    closed = bool(gold) and gold.total() >= _CLOSED * len(gold)
    respelt: dict[str, tuple[str, str]] = {}
    foreign: dict[str, list[str]] = {}
    for system, kind in survey.kinds.items():
        found = _count(kind, column, cut=cut)
        unknown = Counter({label: times for label, times in found.items() if label not in gold})
        alike = {label: plain.get(_plain(label), []) for label in unknown}
        spelt = Counter({label: times for label, times in unknown.items() if _plain(label) and len(alike[label]) == 1})
        if spelt and spelt.total() >= _RESPELT * found.total():
            most = spelt.most_common(1)[0][0]
            respelt[system] = (most, alike[most][0])
        elif closed and 2 * unknown.total() > found.total():
            foreign[system] = [label for label, _ in unknown.most_common()]
    if respelt:
        wrong, right = next(iter(respelt.values()))
        yield (
            f"{noun} of {name_some(list(respelt))} differ from those of the gold in spelling alone, as {wrong!r} from {right!r}: "
            f"{metric} counts them as wrong; write both alike"
        )
    if foreign:
        shown = name_some([repr(label) for label in next(iter(foreign.values()))], 3)
        there = name_some([repr(label) for label, _ in gold.most_common()], 3)
        yield (
            f"most {noun} of {name_some(list(foreign))} never occur in the gold: {shown}, where the gold has {there}; "
            f"{metric} compares two ways of labelling, not systems"
        )


def _plain(label: str) -> str:
    return label.strip(" \t\"'.,:;()[]*").casefold()


def _tell_subtypes(metric: str, gold: Counter[str], survey: Survey) -> Iterator[str]:
    """Tell outputs without subtypes of relations where the gold has them, or the other way round."""
    found = {system: kind.labels["relation"] for system, kind in survey.kinds.items() if kind.labels.get("relation")}
    with_them = {system for system, labels in found.items() if any(":" in label for label in labels)}
    there = any(":" in label for label in gold)
    others = [system for system in found if (system in with_them) is not there]
    if others:
        labels = gold if there else found[others[0]]
        shown = next(label for label in labels if ":" in label)
        has, has_not = ("the gold has", "have none") if there else ("the gold has no", "have")
        yield (
            f"{has} subtypes of relations, and outputs of {name_some(others)} {has_not} ('{shown}'): {metric} with "
            "`subtypes: true` compares two ways of annotating, not systems; the shared tasks leave subtypes out"
        )


def _tell_writing(metrics: Sequence[MetricInputs], gold: Kind, kinds: Mapping[str, Kind]) -> Iterator[str]:
    """Tell texts that all have, or all lack, what the references lack or have."""
    for trait in TRAITS:
        counting = [name_metric(metric.name) for metric in metrics if _counts(metric, trait)]
        if not counting or gold.n_texts < _ENOUGH:
            continue
        there = gold.traits[trait]
        looked = {system: kind.traits[trait] for system, kind in kinds.items() if kind.n_texts >= _ENOUGH}
        without = [system for system, share in looked.items() if there >= _OFTEN and share <= _HARDLY]
        beyond = [system for system, share in looked.items() if there <= _HARDLY and share >= _OFTEN]
        who = f"{', '.join(counting)} count{'s' * (len(counting) == 1)}"
        if without:
            yield f"the references have {trait}, and outputs of {name_some(without)} none: {who} that as errors; {_HELP[trait]}"
        if beyond:
            yield f"outputs of {name_some(beyond)} have {trait}, and the references none: {who} that as errors; {_HELP[trait]}"


_HELP = {
    "upper-case letters": "write both alike, or let the metric ignore case",
    "lower-case letters": "write both alike, or let the metric ignore case",
    "punctuation": "write both alike, or let the metric leave punctuation out where it can",
    "spaces before commas and full stops": "detokenise what is tokenised",
}


def _counts(metric: MetricInputs, trait: str) -> bool:
    """Say by its signature whether a metric counts a trait."""
    fields = metric.signature.split("|")
    if trait.endswith("letters"):
        return "case:mixed" in fields
    if trait == "punctuation":
        return "punct:no" not in fields
    return "space:no" not in fields  # chrF joins words


def _tell_bases(gold: Kind, kinds: Mapping[str, Kind]) -> Iterator[str]:
    """Tell links that seem to count words from another number than those of the gold."""
    looked = {system: kind for system, kind in kinds.items() if kind.n_linked >= _ENOUGH}
    others = [system for system, kind in looked.items() if bool(kind.n_first) is not bool(gold.n_first)]
    if gold.n_linked >= _ENOUGH and others:
        systems = f"outputs of {name_some(others)}"
        from_one, from_zero = (systems, "the gold") if gold.n_first else ("the gold", systems)
        yield (
            f"no link of {from_one} has a word 0, and links of {from_zero} have: where one counts words from 0 and the other from "
            "1, all links are compared with wrong ones; a first line `# base: 1` of a file says that it counts from 1"
        )


def warn_of_directions(metrics: Sequence[MetricInputs], outputs: Sequence[Output]) -> tuple[str, ...]:
    """Return a sentence for each mean that is taken the other way than the outputs that say so; ratios and counts say nothing."""
    told = []
    for metric in metrics:
        if metric.options.get("metric", metric.name) != "mean":
            continue
        other_way = not metric.higher_is_better
        taken = {output.system: metric.options.get("column") or usual_column(output.columns) for output in outputs}
        others = [output.system for output in outputs if output.directions.get(taken[output.system]) is other_way]
        if others:
            column = taken[others[0]]
            more, less = ("more", "less") if metric.higher_is_better else ("less", "more")
            many = len(others) > 1
            who = f"the files of '{others[0]}' and {len(others) - 1} more say" if many else f"the file of '{others[0]}' says"
            told.append(
                f"{who} that {less} of '{column}' is better, and {name_metric(metric.name)} takes {more}: set "
                f"`higher_is_better: {str(other_way).lower()}` of the metric"
            )
    return tuple(told)


_RUN = re.compile(rf"(?P<model>.*?[^-_. /])(?P<mark>[-_. /]*(?:{WORDS_FOR_A_RUN})[-_. ]?)(?P<run>\d+)", re.IGNORECASE)


def warn_of_runs(study: Study, outputs: Sequence[Output], base: Path) -> tuple[str, ...]:
    """Say that all systems are called as runs of a few models are, and how the models are compared instead."""
    found = [(output, name) for output in outputs if (name := _RUN.fullmatch(output.system))]
    models = Counter(name["model"] for _, name in found)
    known = study.systems.table is not None or any("replica" in output.coordinates for output in outputs)
    if known or len(found) < len(outputs) or len(models) < 2 or min(models.values()) < 2:
        return ()
    patterns = {
        f"{before}{{system}}{name['mark']}{{replica}}{after}"
        for output, name in found
        for before, _, after in [os.path.relpath(output.path, base).rpartition(output.system)]
    }
    way = "give `systems.table` the columns system, model and replica"
    if len(patterns) == 1 and len({output.path for output in outputs}) == len(outputs):
        way = f'`outputs: "{patterns.pop()}"`'
    whose = f"{len(outputs)} systems are named like runs of {len(models)} models ({name_some(list(models))})"
    return (f"{whose}, and are compared one by one: the best of several runs is partly lucky; to compare the models, {way}",)


def warn_of_sizes(study: Study, units: int, unit: str) -> tuple[str, ...]:
    """Say which test sizes are asked that the test set does not have."""
    larger = [str(size) for size in study.resampling.test_sizes.values if isinstance(size, int) and size >= units]
    noun = f"{unit}s" if unit in {ITEM, DOCUMENT} else f"units ({unit})"
    return (f"test sizes {', '.join(larger)} are left out: there are {units} {noun}",) if larger else ()


def warn_of_max_t(study: Study, *, systems: int, units: int) -> tuple[str, ...]:
    """Say that Holm will decide where max-T of all pairs is beyond its budget, and what brings it within."""
    fitting = replicates_within(systems=systems, units=units, kept=study.resampling.scores_kept)
    if fitting is None:
        return ()
    remedy = f"set `keep_replicates: {fitting}`" if fitting else "compare fewer systems in this study"
    pairs = systems * (systems - 1) // 2
    return (f"max-T of {pairs:,} pairs on {units:,} units is beyond the budget: Holm decides; for max-T {remedy}",)


def warn_of_strata(study: Study, frame: Frame) -> tuple[str, ...]:
    """Say how many units are alone in their stratum, at each test size where any are: they add nothing to any variance.

    Raises
    ------
    DataError
        P229, where all units of a smaller test size are.
    """
    if not frame.stratum_of_unit:
        return ()
    words = []
    numbers = sorted(v for v in study.resampling.test_sizes.values if isinstance(v, int) and v < len(frame.units))
    for n in (*numbers, len(frame.units)):
        members = np.bincount(frame.stratum_of_unit[:n])
        alone = int(np.sum(members == 1))
        if alone == n:
            raise DataError.of(
                "P229",
                f"at test size {n} of '{frame.test_set}' every unit is alone in its stratum: resampling always gives the same",
                where="resampling.test_sizes",
                help=f"take larger test sizes, or larger strata than those of `{study.resampling.strata}`",
            )
        if alone:
            words.append(f"{alone} of {n} units are alone in their stratum of {study.resampling.strata}: they never vary")
    return tuple(words)
