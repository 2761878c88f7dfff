"""The commands as Python functions: compare outputs, run studies and open their cubes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.errors import UsageError
from pipeline.store.files import read_json, scratch_directory
from pipeline.store.outputs import write_output
from pipeline.store.runs import RunDirectory, find_run
from pipeline.store.syncing import without_sync
from pipeline.tracebacks import shortened

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]
    import xarray as xr
    from numpy.typing import ArrayLike

    from pipeline.engine.coordinator import Progress
    from pipeline.report.results import Results
    from pipeline.study.load import LoadedStudy

__all__ = ["compare", "compare_study", "open_history", "open_run", "run", "submit"]


@shortened
def open_history(path: str | Path) -> xr.Dataset:
    """Open the history that `pipeline reanalyse` keeps of a study: one Dataset, with all its slots along ``slot``."""
    from pipeline.cubes.history import open_history as open_slots

    return open_slots(path)


@shortened
def open_run(path: str | Path) -> xr.DataTree:
    """Open the cubes of a run: an xarray DataTree with a node for each test set, whose pairs are selected by two names.

    Parameters
    ----------
    path : str or Path
        The run's directory, or the beginning of its name, such as ``runs/wmt24``.

    Returns
    -------
    xarray.DataTree
        Dimensions ``pair``, ``replicate``, ``test_size``, ``system``, ``metric`` and more; each variable says in its attributes
        what it is. ``tree["news"]["p"].sel(first="x", second="y")``; values are read when they are used.
    """
    from pipeline.cubes.tree import open_tree

    return open_tree((RunDirectory(at) if (at := Path(path)).is_dir() else find_run(at.parent, at.name)).cubes)


@shortened
def run(
    study: str | Path, *, runs: str | Path = "runs", workers: int | None = None, serial: bool = False, overrides: Sequence[str] = ()
) -> RunDirectory:
    """Run a study on this machine and return its run directory.

    Parameters
    ----------
    study : str or Path
        The study file.
    runs : str or Path
        The folder of runs.
    workers : int, optional
        Worker processes; by default one per core.
    serial : bool
        Run in this process, without a cluster; results are the same.
    overrides : sequence of str
        Values of the study to replace, ``key.path=value``, as for ``--set``.

    Raises
    ------
    PipelineError
        With the exit code that the command would have had.
    """
    from pipeline.engine.launch import Launch, execute, is_complete, prepare, raise_unless_done
    from pipeline.study.load import load_study

    launch = Launch("serial" if serial else "local", workers)
    directory = prepare(load_study(Path(study), overrides), Path(runs), launch)
    if not is_complete(directory):
        raise_unless_done(execute(directory, launch), directory)
    return directory


@shortened
def submit(
    study: str | Path,
    *,
    runs: str | Path = "runs",
    cluster: str = "local",
    workers: int | None = None,
    overrides: Sequence[str] = (),
) -> RunDirectory:
    """Start a study on a cluster, a profile or ``local``, and return its run directory at once; the rest is as in `run`."""
    from pipeline.engine.launch import Launch, is_complete, prepare, start_detached
    from pipeline.study.load import load_study, locate_profile

    loaded = load_study(Path(study), overrides)
    launch = Launch(locate_profile(cluster, loaded.base), workers)
    directory = prepare(loaded, Path(runs), launch)
    if not is_complete(directory):
        start_detached(directory, launch)
    return directory


def compare_study(
    outputs: Mapping[str, str | Path],
    references: str | Path | Sequence[str | Path],
    *,
    metrics: str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]] = (),
    procedures: str | Sequence[str] = (),
    format: str | Mapping[str, Any] = "auto",
    missing: str = "error",
    documents: str | Path | None = None,
    unit: str | None = None,
    columns: Mapping[str, str] | None = None,
    filter: Mapping[str, str | Sequence[str]] | None = None,
    exclude: str | Sequence[str] = (),
    replicates: int | None = None,
    seed: int | None = None,
    across_families: str = "none",
    alpha: float = 0.05,
    preset: str | None = None,
    baseline: str | None = None,
) -> LoadedStudy:
    """Return the study that `compare` runs: one test set, all pairs or one system against all others, the full size.

    Parameters
    ----------
    outputs : mapping of str to str or Path
        Path of each system's output; the single key ``*`` has a table that holds all systems, or a pattern with ``{system}``. The
        rest is as in `compare`.
    """
    from pipeline.survey.compare import find_format, place_metrics, usual_metrics
    from pipeline.survey.compare_arguments import as_paths, files_of, name_outputs, name_systems, refuse_settings

    refuse_settings(preset, procedures, replicates)
    base, outputs = Path.cwd(), name_systems(outputs)
    files = files_of(outputs, base=base)
    paths = list(files.values())
    found = find_format(format, paths, as_paths(references), base=base, columns=columns)
    metrics = [metrics] if isinstance(metrics, (str, Mapping)) else metrics
    placed = place_metrics(metrics or usual_metrics(found, files, base=base).metrics, found, files, base=base)
    from pipeline.analyses.registry import analyses_of_compare  # only now: a mistyped metric need not wait for these
    from pipeline.presets.registry import PRESETS
    from pipeline.study.load import study_from_value
    from pipeline.study.writing import UNNAMED_SET, UNNAMED_STUDY

    named: str | dict[str, str] = outputs
    if files != outputs or (set(outputs) == {"*"} and found.holds_systems):
        named = outputs["*"]
    elif set(outputs) == {"*"}:
        named = name_outputs(paths)
    procedures = [procedures] if isinstance(procedures, str) else procedures
    test_set: dict[str, Any] = {"format": found.value, "outputs": named, **found.gold}
    if missing != "error":
        test_set["missing"] = missing
    if columns:
        test_set["columns"] = dict(columns)
    if filter:
        kept = {column: [value] if isinstance(value, str) else list(value) for column, value in filter.items()}
        test_set["items"] = {"include": kept}
    if documents is not None:
        test_set["documents"] = str(documents)
    resampling: dict[str, Any] = {"alpha": alpha, "across_families": across_families}
    if preset is None:
        resampling["replicates"] = 100_000
    given = {"procedures": list(procedures) or None, "replicates": replicates, "unit": unit or ("document" if documents else None)}
    resampling |= {key: found for key, found in given.items() if found is not None}
    if baseline is not None:
        resampling |= {"family": "against-baseline", "baseline": baseline}
    value: dict[str, Any] = {
        "schema": 1,
        "study": UNNAMED_STUDY,
        "test_sets": {UNNAMED_SET: test_set},
        "metrics": placed,
        "resampling": resampling,
    }
    if preset is None or preset not in PRESETS or ("analyses",) not in PRESETS[preset].values:
        value["analyses"] = list(analyses_of_compare(runs=isinstance(named, str) and "{replica}" in named))
    if exclude:
        value["systems"] = {"exclude": [exclude] if isinstance(exclude, str) else list(exclude)}
    value |= {key: found for key, found in {"seed": seed, "preset": preset}.items() if found is not None}
    return study_from_value(value, base=base)


@shortened
def compare(
    outputs: pd.DataFrame | Mapping[str, ArrayLike] | Mapping[str, str | Path] | str | Path | Sequence[str | Path],
    references: str | Path | Sequence[str | Path] = (),
    *,
    metrics: str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]] = (),
    procedures: str | Sequence[str] = (),
    format: str | Mapping[str, Any] = "auto",
    missing: str = "error",
    documents: str | Path | None = None,
    unit: str | None = None,
    columns: Mapping[str, str] | None = None,
    filter: Mapping[str, str | Sequence[str]] | None = None,
    exclude: str | Sequence[str] = (),
    replicates: int | None = None,
    seed: int | None = None,
    across_families: str = "none",
    alpha: float = 0.05,
    preset: str | None = None,
    baseline: str | None = None,
    runs: str | Path | None = None,
    page: str | Path | None = None,
    save_study: str | Path | None = None,
    command: str = "",
    progress: Progress | None = None,
) -> Results:
    """Compare outputs without a study file. The result displays itself in a notebook, and is the document of ``report.json``.

    Parameters
    ----------
    outputs : DataFrame, mapping of str to array, mapping of str to str or Path, str or Path, or sequence of them
        A table with a row for each item and a column for each system; scores of the items by system name; paths by system name; or
        paths whose file names are the names of the systems. One file may hold all systems, a folder stands for the outputs in it,
        and ``{system}`` and ``{replica}`` in a path stand for names and runs, as in a study.
    references : str or Path, or sequence of them
        References (text) or one gold file (labels, columns and the others); none for scores.
    metrics : str or mapping, or sequence of them
        Metrics as a study names them, or names of scores in the files. By default the usual metric of the format.
    procedures : str or sequence of str
        Significance tests; the first one decides the verdicts. By default the paired bootstrap, or those of the preset.
    format : str or mapping
        A format as a study names it, or ``auto``: recognised from the first output.
    missing : {"error", "drop", "zero"}
        How to treat items that a system lacks.
    documents, unit : str or Path, optional
        A file with the document of each item; what is resampled: ``item``, a column, or ``document``, the default if known.
    columns : mapping of str to str, optional
        What the columns of tables hold: ``{"system": "llm", "item": "question"}``.
    filter : mapping of str to str, or to sequence of them, optional
        By column, the values of the items to keep: ``{"domain": ["news", "social"]}``.
    exclude : str or sequence of str
        Names or shell patterns of systems to leave out.
    replicates, seed, alpha : int, int and float, optional
        The number of replicates and the seed, by default 100 000 and 20120712 or those of the preset; the significance level.
    across_families : {"none", "holm", "benjamini-bogomolov"}
        How p is corrected for the number of metrics.
    preset : str, optional
        A paper or tool whose settings are used where none are given; its own p is shown beside the others.
    baseline : str, optional
        Compare all other systems with this one only. By default all pairs are compared.
    runs, page, save_study, command : str or Path, optional
        Where to keep the run (by default nowhere), where to write its page and its study, and the command that the page shows.
    progress : callable, optional
        Called with the state of the run while it proceeds.
    """
    from pipeline.survey.compare_arguments import speaking_of_compare
    from pipeline.survey.in_memory import settle_outputs

    with scratch_directory("compare") as scratch, without_sync(scratch), speaking_of_compare(scratch, runs, references) as say:
        groups = {*([unit] if unit else ()), *(columns or {}).values(), *(filter or ())}
        given = settle_outputs(outputs, references, folder=scratch, groups=groups)
        if given.in_memory and not (runs is None and save_study is None):
            asked, help = "runs" if runs else "save_study", "write it to a file, such as scores.csv, and compare that"
            raise UsageError.of("P005", "a table in memory cannot be read again by a run that is kept", where=asked, help=help)
        loaded = compare_study(
            given.outputs,
            given.references,
            metrics=metrics,
            procedures=procedures,
            format={"name": "scores", "layout": given.layout} if given.in_memory and format == "auto" else format,
            missing=missing,
            documents=documents,
            unit=unit,
            columns=columns,
            filter=filter,
            exclude=exclude,
            replicates=replicates,
            seed=seed,
            across_families=across_families,
            alpha=alpha,
            preset=preset,
            baseline=baseline,
        )
        from pipeline.analyses.registry import are_own  # what is refused above waits for none of these
        from pipeline.cubes.held import hold_cubes
        from pipeline.engine.launch import Launch, execute, is_complete, prepare, raise_unless_done, show_command
        from pipeline.report.held import hold_reports
        from pipeline.study.load import override_study
        from pipeline.survey.checks import refuse_untestable

        refuse_untestable(loaded.study, loaded.base)
        if save_study is not None:
            from pipeline.study.writing import write_study

            write_output(Path(save_study), write_study(loaded, Path(save_study)).encode())
        if runs is None:  # nothing is kept: without a page nothing is drawn
            formats = "[json]" if page is None else "[json, html]"
            loaded = replace(loaded, study=override_study(loaded.study, [f"report.formats={formats}"]))
        launch, loaded = Launch("serial"), replace(loaded, command=command)
        directory = prepare(loaded, Path(runs) if runs else scratch, launch)
        # Analyses of other packages are promised cubes of xarray, and figures are drawn from them.
        held = runs is None and page is None and are_own(spec.name for spec in loaded.study.asked_analyses)
        with hold_reports(directory.report) as made, hold_cubes(directory.cubes) if held else nullcontext():
            if not is_complete(directory):
                raise_unless_done(execute(directory, launch, progress=progress or (lambda state: None)), directory)
        show_command(directory, loaded)
        document: dict[str, Any] = read_json(directory.report / "report.json")
        if page is not None:
            from pipeline.report.layout.pages import without_files

            write_output(Path(page), without_files((directory.report / "index.html").read_text("utf-8")).encode())
    if runs is None:  # nothing is kept: there is no study that a warning could speak of
        document["all_pairs"] |= {"csv": None, "parquet": None}
        document["warnings"] = [*map(say, document["warnings"])]
    from pipeline.report.results import Results

    return Results.of(document, made[-1]) if made else Results(document)
