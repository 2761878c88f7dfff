"""Show records as Markdown tables. Nothing else turns figures into text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

__all__ = ["TABLES", "render_all", "tabulate"]

Record = Mapping[str, Any]
MEBIBYTE = 2**20
UNITS = {"outside_blocks": "{:.0%}", "added": "{:.0%}", "overhead": "{:.0%}", "peak_memory_bytes": "1 GiB"}
UNITS |= dict.fromkeys(("beside_s", "asked_s", "analyses_s"), "{:.1f}")
MODES = {
    "full": "full measurement",
    "chosen": "a measurement of chosen parts",
    "quick": "quick measurement, extrapolated from few replicates: rough",
}


def tabulate(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; the first column to the left, all others to the right.

    Examples
    --------
    >>> print(tabulate(["job", "s"], [["J1", "2.5"]]))
    | job | s |
    |---|---:|
    | J1 | 2.5 |
    """
    lines = [list(header), *rows]
    rule = "|---|" + "---:|" * (len(header) - 1)
    return "\n".join(f"| {' | '.join(line)} |" if line is not None else rule for line in [lines[0], None, *lines[1:]])


def seconds(value: float) -> str:
    """Three digits, and no more than hundredths."""
    return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f}"


def _ranged(found: Mapping[str, float], *, count: int) -> str:
    middle = f"{found['median']:.2f}"
    return middle if count < 2 else f"{middle} ({found['min']:.2f}–{found['max']:.2f})"


def _judged(record: Record, name: str, shown: str, *, of: str = "targets") -> str:
    """Add the target to a figure, and by what share it is missed."""
    target = record[of].get(name)
    if target is None:
        return shown
    sign, bound = ("≤", target["at_most"]) if "at_most" in target else ("≥", target["at_least"])
    asked = f"{sign} {UNITS.get(name, '{:g}').format(bound)}"
    if target["met"]:
        return f"{shown}, {asked}"
    found = record[name] if name in record else record["ours"][name]
    value = found["median"] if isinstance(found, Mapping) else found
    return f"**{shown}**, not {asked}: {'+' if sign == '≤' else '−'}{abs(value / bound - 1):.0%}"


def _question(record: Record) -> str:
    return f"{record['metric']}, {record['systems']} systems, {record['procedure']}"


_FORMS = {"float": "in single precision", "avx2": "by AVX2", "vnni-512": "by VNNI", "amx": "by AMX"}


def _form_of(record: Record) -> str:
    form = record.get("product_form")
    return f", ours {_FORMS.get(form, form)}" if form else ""


def render_jobs(records: Sequence[Record]) -> str:
    """Marginal CPU seconds of ours, of plain NumPy and of the product alone, and both ratios."""
    rows = [
        [
            f"{r['job']}: {_question(r)}{_form_of(r)}",
            seconds(r["ours"]["cpu_s"]["median"]),
            seconds(r["reference"]["cpu_s"]["median"]),
            seconds(r["product_cpu_s"]["median"]),
            _judged(r, "ratio_to_reference", _ranged(r["ratio_to_reference"], count=r["repeat"])),
            _judged(r, "ratio_to_product", _ranged(r["ratio_to_product"], count=r["repeat"])),
        ]
        for r in records
    ]
    return tabulate(["job", "ours, CPU-s", "NumPy, CPU-s", "product, CPU-s", "ours / NumPy", "ours / product"], rows)


def render_outside(records: Sequence[Record]) -> str:
    """What is spent outside the blocks, apart from replicates, and in memory."""
    rows = [
        [
            f"{r['job']}: {_question(r)}{_form_of(r)}",
            seconds(r["ours"]["wall_s"]["median"]),
            seconds(r["ours"]["fixed_cpu_s"]["median"]),
            _judged(r, "outside_blocks", f"{r['ours']['outside_blocks']['median']:.1%}", of="limits"),
            f"{r['ours']['outside_tasks']['median']:.1%}",
            _judged(r, "peak_memory_bytes", _memory(r["ours"]), of="limits"),
        ]
        for r in records
        if "outside_blocks" in r["limits"]
    ]
    header = ["job", "wall s", "fixed CPU-s", "outside blocks", "outside tasks", "worker's peak memory, few → many"]
    return tabulate(header, rows)


def _memory(ours: Record) -> str:
    few, many = (ours[name] / MEBIBYTE for name in ("peak_memory_bytes_of_few", "peak_memory_bytes"))
    return f"{few:.0f} → {many:.0f} MiB"


def render_exact(records: Sequence[Record]) -> str:
    """CPU seconds of the exact kernel."""
    rows = [
        [
            f"{r['metric']}, {r['systems']} systems, {r['items']} items",
            str(r["pairs"]),
            _judged(r, "cpu_s", _ranged(r["ours"]["cpu_s"], count=r["repeat"])),
        ]
        for r in records
    ]
    return tabulate(["statistics in memory", "pairs", "CPU-s"], rows)


def render_fixed(records: Sequence[Record]) -> str:
    """CPU seconds of a run with one cell, and wall seconds of its tasks."""
    rows = [
        [
            _question(r),
            str(r["pairs"]),
            _judged(r, "cpu_s", _ranged(r["cpu_s"], count=r["repeat"])),
            *(seconds(r["tasks_s"][kind]) for kind in ("resample", "collect", "report")),
        ]
        for r in records
    ]
    return tabulate(["run of 2^14 replicates", "pairs", "CPU-s", "resample, s", "collect, s", "report, s"], rows)


def render_start(records: Sequence[Record]) -> str:
    """Wall seconds at the shell."""
    rows = [[f"`{r['command']}`", _judged(r, "wall_s", _ranged(r["wall_s"], count=r["repeat"]))] for r in records]
    return tabulate(["command", "wall s"], rows)


def render_shipped(records: Sequence[Record]) -> str:
    """CPU seconds in tasks of the studies of `workflows/`, and what the cube and the report take beside resampling."""
    rows = []
    for r in records:
        stages = [seconds(r[f"{stage}_s"]) for stage in ("train", "extract", "resample", "collect", "report")]
        held = [_judged(r, name, seconds(r[name])) if name in r else "not told" for name in ("analyses_s", "asked_s", "beside_s")]
        rows.append([r["study"], *stages, *held])
    header = ["study", "trainings", "extraction", "resampling", "collect", "report"]
    header += ["analyses, of the report", "collect and analyses", "collect and report"]
    return tabulate(header, rows)


def render_extraction(records: Sequence[Record]) -> str:
    """CPU seconds of both sides."""
    rows = [
        [
            f"{r['systems']} systems of {r['items']} segments",
            seconds(r["ours_cpu_s"]["median"]),
            seconds(r["fresh_cpu_s"]["median"]),
            _judged(r, "ratio_to_fresh", _ranged(r["ratio_to_fresh"], count=r["repeat"])),
        ]
        for r in records
    ]
    return tabulate(["BLEU", "ours, CPU-s", "a new object for each, CPU-s", "ratio"], rows)


def render_reading(records: Sequence[Record]) -> str:
    """CPU seconds of what is read and counted, and of sacreBLEU on its own."""
    rows = []
    for r in records:
        beside = _judged(r, "ratio_to_fresh", _ranged(r["ratio_to_fresh"], count=r["repeat"]))
        texts, fresh = (seconds(r[name]["median"]) for name in ("bleu_cpu_s", "fresh_cpu_s"))
        rows.append(["19 systems of 1000 segments, BLEU", f"{texts}; a new sacreBLEU object for each: {fresh}; ratio {beside}"])
        for name, what in READING.items():
            rows.append([what, _judged(r, name, _ranged(r[name], count=r["repeat"]))])
    return tabulate(["read and counted", "CPU-s"], rows)


READING = {
    "letters_cpu_s": "28 strings of 12 002 answers, accuracy: surveyed, read and counted",
    "conllu_cpu_s": "one run of 2000 parsed sentences, UAS and LAS, and its gold",
}


def render_workers(records: Sequence[Record]) -> str:
    """Wall seconds with one and two workers."""
    rows = [
        [
            f"{r['job']}: {_question(r)}",
            seconds(r["wall_s"]["1"]["median"]),
            seconds(r["wall_s"]["2"]["median"]),
            _judged(r, "speedup", _ranged(r["speedup"], count=r["repeat"])),
            _ranged(r["speedup_of_reference"], count=r["repeat"]),
        ]
        for r in records
    ]
    header = ["job", "one worker, wall s", "two, wall s", "speed-up", "two copies of NumPy at once"]
    return tabulate(header, rows)


def render_family(records: Sequence[Record]) -> str:
    """CPU seconds of whole runs with what is told of the family, and without."""
    rows = [
        [
            f"{r['job']}: {_question(r)}, {r['replicates']:,} replicates".replace(",000", " 000"),
            seconds(r["cpu_s_without"]["median"]),
            seconds(r["cpu_s"]["median"]),
            _judged(r, "added", _percents(r["added"])),
        ]
        for r in records
    ]
    return tabulate(["run", "without, CPU-s", "with max-T, ranks and intervals, CPU-s", "added"], rows)


def render_trainings(records: Sequence[Record]) -> str:
    """CPU and wall seconds of one training, in a study and in a plain loop."""
    rows = [
        [
            f"`{r['job']}`, {r['sentences']} sentences, {r['test_sentences']} tagged; {r['few']} and {r['many']} trainings",
            *(f"{r[what][side]['median']:.3f}" for what in ("cpu_s", "wall_s") for side in ("loop", "ours")),
            _judged(r, "overhead", _percents(r["overhead"])),
            _percents(r["overhead_of_wall"]),
        ]
        for r in records
    ]
    header = ["one training", "loop, CPU-s", "study, CPU-s", "loop, wall s", "study, wall s", "overhead of CPU", "of wall"]
    return tabulate(header, rows)


def render_training_rate(records: Sequence[Record]) -> str:
    """Trainings a second that take no time."""
    rows = [
        [
            f"{r['number']} trainings that give a constant, {r['workers']} workers",
            f"{r['tasks_per_s']['median']:.0f} ({r['tasks_per_s']['min']:.0f}–{r['tasks_per_s']['max']:.0f})",
            f"{1000 / r['tasks_per_s']['median']:.1f}",
        ]
        for r in records
    ]
    return tabulate(["", "tasks a second", "ms from task to task"], rows)


def _percents(found: Mapping[str, float]) -> str:
    return f"{found['median']:.1%} ({found['min']:.1%}–{found['max']:.1%})"


def render_scaling(records: Sequence[Record]) -> str:
    """A table for each axis, with its straight line."""
    parts = []
    for r in records:
        line = r["line"]
        rows = [
            [f"{x:,}".replace(",", " "), seconds(y), f"{y / (line['intercept'] + line['slope'] * x) - 1:+.1%}"]
            for x, y in zip(r["x"], r["cpu_s"], strict=True)
        ]
        named = r["axis"].replace(" x ", " × ")
        fit = f"{line['intercept']:.3g} + {line['slope']:.3g} × {named}; no point is off by more than {line['worst_residual']:.1%}."
        parts.append(tabulate([named, r["quantity"], "off the line"], rows) + f"\n\nThe line: {fit}")
    return "\n\n".join(parts)


def render_profile(records: Sequence[Record]) -> str:
    """Seconds by module, the largest first."""
    parts = []
    for r in records:
        title = f"{r['job']}: {_question(r)}, 10^6 replicates" if r["kind"] == "profile" else f"{_question(r)}, 2^14 replicates"
        whole = sum(r["seconds"].values()) or 1.0
        rows = [[name, seconds(value), f"{value / whole:.0%}"] for name, value in r["seconds"].items()]
        parts.append(tabulate([title, "s", "share"], rows))
    return "\n\n".join(parts)


def render_machine(records: Sequence[Record]) -> str:
    """Processor, instructions, BLAS kernel and versions, and how it was measured."""
    lines = dict.fromkeys(_machine_line(r) for r in records)
    return "\n\n".join(lines)


def _machine_line(record: Record) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    named = [f"{record['processor']}, {record['cores']} cores"]
    if "blas" in record:
        named += [f"instructions {', '.join(record['instructions'])}", f"NumPy's products by {record['blas']}"]
        named.append(f"ours by {record['product']}")
    return f"{'; '.join([*named, versions, MODES[record['mode']]])}."


TABLES: dict[str, tuple[tuple[str, ...], Callable[[Sequence[Record]], str]]] = {
    "machine": ((), render_machine),
    "jobs": (("job",), render_jobs),
    "outside": (("job",), render_outside),
    "exact": (("exact",), render_exact),
    "fixed": (("fixed",), render_fixed),
    "start": (("start",), render_start),
    "shipped": (("shipped",), render_shipped),
    "extraction": (("extraction",), render_extraction),
    "reading": (("reading",), render_reading),
    "workers": (("workers",), render_workers),
    "family": (("family",), render_family),
    "trainings": (("trainings",), render_trainings),
    "training_rate": (("training-rate",), render_training_rate),
    "scaling": (("scaling",), render_scaling),
    "profile": (("profile", "fixed-profile"), render_profile),
}
"""The tables by name: of which kinds of records, and how."""


def render_all(records: Sequence[Record]) -> dict[str, str]:
    """Return every table that has records, by its name."""
    chosen = {name: [r for r in records if not kinds or r["kind"] in kinds] for name, (kinds, _) in TABLES.items()}
    shown = {name: TABLES[name][1](found) for name, found in chosen.items() if found}
    # But for a heading without rows.
    return {name: text for name, text in shown.items() if not (text.startswith("|") and len(text.splitlines()) == 2)}
