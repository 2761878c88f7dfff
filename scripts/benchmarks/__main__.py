"""The command line of `scripts/bench`: what is measured, and where the records go."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.document import merge_records, read_results, update_document, write_results
from benchmarks.exact import measure_exact
from benchmarks.extraction import measure_extraction
from benchmarks.family import measure_family
from benchmarks.jobs import BEYOND_KEPT, FLOATS, Job, Reference, Replicates, Settings, measure_job, questions, select_jobs, warm_up
from benchmarks.machine import describe_machine
from benchmarks.profiles import measure_profile, profile_fixed
from benchmarks.reading import measure_reading
from benchmarks.scaling import Axes, measure_scaling, measure_workers
from benchmarks.shipped import measure_shipped, shipped_studies
from benchmarks.start import measure_fixed, measure_start
from benchmarks.studies import Bench, Question
from benchmarks.tables import render_all
from benchmarks.trainings import NEWS, SMALLER, Between, Corpus, measure_loop, measure_rate
from pipeline.resampling.products.byte_product import forms
from pipeline.resampling.products.contract import FORM_VARIABLE

PARTS = {
    "jobs": "J1 to J5 through `pipeline run`, beside plain NumPy and the matrix product alone",
    "exact": "the exact kernel over all pairs",
    "scaling": "cost against replicates, items and systems",
    "workers": "one worker against two",
    "family": "a whole run of J1 with max-T, ranks and intervals, and without",
    "trainings": "trainings of a base model in a study against a plain loop, and how many that take no time are done a second",
    "fixed": "what a run costs apart from its replicates",
    "start": "`pipeline --help` and `pipeline compare` from the shell",
    "shipped": "every study of workflows/ whose data are here, once: cubes and report beside resampling",
    "extraction": "BLEU's statistics against a new sacreBLEU object for each system",
    "reading": "19 systems of text with BLEU's counts beside a new sacreBLEU object each, 28 strings of answers, a parsed treebank",
    "profile": "where the time goes: of the jobs that miss a target, or of --jobs",
}


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    lines = [f"  {name:<11} {text}" for name, text in PARTS.items()]
    parser = argparse.ArgumentParser(
        prog="scripts/bench",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Measure the package beside plain NumPy. One JSON line a record on stdout, tables on stderr.",
        epilog="\n".join(["parts:", *lines]),
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help="what is measured [jobs and exact]")
    parser.add_argument("--quick", action="store_true", help="few replicates, extrapolated; rough figures in under two minutes")
    parser.add_argument("--full", action="store_true", help="every part; about an hour on a quiet machine")
    parser.add_argument("--jobs", default="", help="some of them, for example J1,J4")
    parser.add_argument("--repeat", type=int, help="repetitions [two to five, one with --quick]")
    parser.add_argument("--replicates", metavar="FEW,MANY", help="of the two runs of a job [147456,1000000]")
    parser.add_argument("--systems", type=int, help="in place of the jobs' numbers")
    parser.add_argument("--items", type=int, default=2034, help="of the test set [2034]")
    parser.add_argument(
        "--product", metavar="FORM", help="of ours, float as on a processor that multiplies no bytes [the best of this one]"
    )
    parser.add_argument(
        "--studies", default="", help="of workflows/, for shipped: quickstart,papers/09-domains, or parts of names [all]"
    )
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep outputs of trainings for the next call of shipped")
    parser.add_argument("--reference", type=Path, help="another program in place of scripts/benchmarks/reference.py")
    parser.add_argument("--budget", type=float, help="CPU seconds of the reference at a time [4, 1.2 with --quick]")
    parser.add_argument("--out", type=Path, help="keep the records in this JSON file, in place of those of the same measurement")
    parser.add_argument("--document", type=Path, help="write the tables of this document anew from the records")
    parser.add_argument("--render", action="store_true", help="measure nothing: only write --document from --out")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.parts) - set(PARTS))
    if unknown:
        parser.error(f"there is no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    if (options.render or options.document) and not (options.out and options.document):
        parser.error("tables are written into --document from the records in --out: both are needed")
    options.parts = list(PARTS) if options.full else options.parts or ["jobs", "exact"]
    if options.product not in (None, FLOATS, *forms()):
        parser.error(f"there is no product {options.product} here; there are {', '.join((*forms(), FLOATS))}")
    options.product = options.product or next(iter(forms()), FLOATS)
    try:
        names = options.jobs.split(",") if options.jobs else ["J1", "J2", "J3", "J4", "J5"]
        options.chosen = select_jobs(names, options.systems, quick=options.quick)
        options.replicates = Replicates(*map(int, options.replicates.split(","))) if options.replicates else None
    except (TypeError, ValueError) as error:
        parser.error(str(error))
    return options


class Measurement:
    """What one call measures, part by part."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options, self.jobs = options, list[Job](options.chosen)
        program = options.reference or Path(__file__).with_name("reference.py")
        self.reference = Reference(program.resolve(), options.budget or (1.2 if options.quick else 4.0))
        replicates = options.replicates or (None if options.quick else BEYOND_KEPT)
        self.settings = Settings(
            replicates=replicates,
            items=options.items,
            repeat=options.repeat or (1 if options.quick else None),
            side_by_side=options.quick,
            reference=self.reference,
            product=options.product,
        )
        most = max(job.systems for job in self.jobs)
        self.bench = Bench(folder, {"bleu": max(most, 150) if self._scales else most, "accuracy": most}, is_quick=options.quick)
        self.missed: list[Job] = []

    @property
    def _scales(self) -> bool:
        return "scaling" in self.options.parts

    def records(self) -> Iterator[dict[str, Any]]:
        """Measure the parts in their order."""
        asked = list(questions(self.jobs, self.settings.items)) if self._runs else []
        axes = Axes.quick() if self.options.quick else Axes.full()
        self._prepare([*asked, *(axes.questions if self._scales else [])])
        for part in self.options.parts:
            if part == "scaling":
                yield from measure_scaling(self.bench, axes, repeat=self.options.repeat or 1)
            else:
                yield from getattr(self, f"_{part}")()

    @property
    def _runs(self) -> bool:
        return bool({"jobs", "workers", "family", "fixed", "profile"} & set(self.options.parts))

    def _prepare(self, asked: Sequence[Question]) -> None:
        for question, run in warm_up(self.bench, asked, side_by_side=self.settings.side_by_side).items():
            if run.tasks.get("extract"):
                say(f"extracted {run.tasks['extract']} x {question.metric}: {run.seconds['extract']:.1f} s in tasks")

    def _jobs(self) -> Iterator[dict[str, Any]]:
        for job in self.jobs:
            record = measure_job(self.bench, job, self.settings)
            if not all(target["met"] for target in record["targets"].values()):
                self.missed.append(job)
            yield record

    def _exact(self) -> Iterator[dict[str, Any]]:
        sizes = sorted({job.systems for job in self.jobs if job.metric == "accuracy"} or {31, 150})
        yield from measure_exact(sizes, items=self.settings.items, most=10**6, repeat=self._times(5))

    def _workers(self) -> Iterator[dict[str, Any]]:
        job = self.jobs[0]
        between = self.settings.replicates_of(job)
        yield measure_workers(self.bench, job, self.reference, items=self.settings.items, between=between, repeat=self._times(3))

    def _family(self) -> Iterator[dict[str, Any]]:
        job = self.jobs[0]
        few = self.settings.replicates_of(job).many
        yield measure_family(self.bench, job, items=self.settings.items, replicates=few, repeat=self._times(3))

    def _trainings(self) -> Iterator[dict[str, Any]]:
        quick = self.options.quick
        between = Between(2, 8) if quick else Between(5, 35)
        folder = self.bench.folder / "trainings"
        for corpus in [Corpus(1000, 200)] if quick else [NEWS, *SMALLER]:
            yield measure_loop(folder, between=between, corpus=corpus, repeat=self._times(3), target=corpus == NEWS)
        yield measure_rate(folder, number=100 if quick else 300, repeat=self._times(3))

    def _fixed(self) -> Iterator[dict[str, Any]]:
        asked = [q for q in questions(self.jobs, self.settings.items) if q.procedure == "bootstrap"]
        records = measure_fixed(self.bench, asked, repeat=self._times(3))
        yield from records
        for question, record in zip(asked, records, strict=True):
            if not record["targets"]["cpu_s"]["met"]:
                yield profile_fixed(self.bench, question)

    def _start(self) -> Iterator[dict[str, Any]]:
        yield from measure_start(self.bench.folder, repeat=self._times(5))

    def _shipped(self) -> Iterator[dict[str, Any]]:
        chosen = shipped_studies([name for name in self.options.studies.split(",") if name])
        yield from measure_shipped(chosen, self.options.keep or self.bench.folder / "shipped", workers=2, say=say)

    def _extraction(self) -> Iterator[dict[str, Any]]:
        yield measure_extraction(self.bench.folder, items=self.settings.items, repeat=self._times(5))

    def _reading(self) -> Iterator[dict[str, Any]]:
        yield measure_reading(self.bench.folder, repeat=self._times(5))

    def _profile(self) -> Iterator[dict[str, Any]]:
        for job in self.missed if "jobs" in self.options.parts else self.jobs:
            cells = job.quick_cells if self.options.quick else 32
            between = Replicates(2**17, 2**17 + cells * 2**14)  # scores are kept up to 2^17
            yield measure_profile(self.bench, job, items=self.settings.items, replicates=between)

    def _times(self, usual: int) -> int:
        return int(self.options.repeat or (1 if self.options.quick else usual))


def say(text: str) -> None:
    """Tell a person."""
    print(text, file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, keep and render."""
    options = parse(arguments)
    if not options.render:
        _measure(options)
    if options.document:
        update_document(options.document, read_results(options.out))
        say(f"tables of {options.document} written from {options.out}")
    return 0


def _measure(options: argparse.Namespace) -> None:
    os.environ[FORM_VARIABLE] = options.product
    machine = describe_machine()
    mode = "full" if options.full else "quick" if options.quick else "chosen"
    say(f"{mode} measurement on {machine['processor']}, {', '.join(machine['instructions'])}")
    say(f"BLAS: {machine['blas']}; our product: {machine['product']}")
    # A full measurement replaces all; others replace what they measured.
    kept = read_results(options.out) if options.out and options.out.exists() and not options.full else []
    records, start = [], time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        for record in Measurement(options, Path(folder)).records():
            records.append({**record, "mode": mode, **machine})
            print(json.dumps(records[-1], ensure_ascii=False), flush=True)
            say(f"[{time.perf_counter() - start:6.0f} s] {record['kind']} {record.get('job', '')} {record.get('systems', '')}")
            if options.out:
                write_results(options.out, merge_records(kept, records))
    say("\n" + "\n\n".join(render_all(records).values()))


if __name__ == "__main__":
    sys.exit(main())
