"""Commands about what runs leave on disk: clear up the store, pack a run into a file, unpack one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline.cli.actions import find, print_json
from pipeline.cli.options import cli, complete_runs, json_option, quiet_option, runs_option

if TYPE_CHECKING:
    from pipeline.store.garbage import Garbage

if TYPE_CHECKING:
    _FloatType = click.ParamType[float]
else:
    _FloatType = click.ParamType  # generic from click 8.2 on only

__all__: list[str] = []


class _Size(_FloatType):
    """A size as people write it: 10GB, 512 MiB."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        from pipeline.amounts import parse_bytes

        try:
            return parse_bytes(str(value))
        except ValueError as error:
            self.fail(f"{error}.", param, ctx)


@cli.command()
@runs_option
@click.option("--dry-run", is_flag=True, help="Say what would be removed; remove nothing.")
@click.option("--to", type=_Size(), help="Stop once the store is no larger, for example 10GB. [all that no run needs]")
@click.option("--linked-store", is_flag=True, help="The store is a link to another place; clear up there.")
@json_option
def gc(runs: Path, dry_run: bool, to: float | None, linked_store: bool, as_json: bool) -> None:
    """Remove stored results, and inputs fetched from object stores, that no run needs, oldest first.

    \b
    Examples:
      rm -r runs/old-0123456789ab; pipeline gc   what only this run needed
      pipeline gc --dry-run --to 10GB

    Safe while studies run: nothing younger than an hour, or than a running study, is removed.
    """  # noqa: D301 - click reads \b as "keep these lines"
    from pipeline.store.garbage import find_garbage, remove_garbage

    garbage = find_garbage(runs, to=to, linked=linked_store)
    freed = garbage.bytes if dry_run else remove_garbage(runs, garbage)
    if as_json:
        facts = {"dry_run": dry_run, "runs": garbage.runs, "files": len(garbage.files), "freed_bytes": freed}
        sizes = {"store_bytes": garbage.store_bytes, "unnamed_bytes": garbage.unnamed_bytes, "young_bytes": garbage.young_bytes}
        print_json({**facts, **sizes, "kinds": _by_kind(garbage)})
        return
    for line in _say(garbage, freed, dry_run=dry_run, to=to):
        click.echo(line)


@cli.command()
@click.argument("run", shell_complete=complete_runs)
@click.argument("file", type=click.Path(dir_okay=False))
@runs_option
@quiet_option
def export(run: str, file: str, runs: Path, quiet: bool) -> None:
    """Pack a run into one file, to send or to keep.

    \b
    Examples:
      pipeline export first run.zip
      pipeline export first s3://bucket/runs/first.zip
      pipeline export first s3://bucket/runs/     not packed: to be read there

    It holds the report, the cubes, the study, the plan and the ledger; the same run gives the same bytes. `pipeline import`
    unpacks it, and so does any program for zip files.
    """  # noqa: D301 - click reads \b as "keep these lines"
    from pipeline.inputs import size_text
    from pipeline.store.archive import pack_run, send_run
    from pipeline.store.objects import is_object

    found = find(runs, run)
    size = send_run(found, file) if is_object(file) else pack_run(found, Path(file))
    if not quiet:
        click.echo(f"{file}: {size_text(size)}", err=True)


@cli.command("import")
@click.argument("file", type=click.Path(dir_okay=False))
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("imported"),
    help="A folder for runs from elsewhere. [imported]",
)
@click.option("--max-size", type=_Size(), help="The largest unpacked run to accept. [20 GB]")
def import_(file: str, output: Path, max_size: float | None) -> None:
    """Unpack a run that `pipeline export` has packed.

    \b
    Examples:
      pipeline import run.zip; pipeline list --runs imported
      pipeline import s3://bucket/runs/first.zip

    Prints the run directory. Imported runs have a folder of their own, and your studies reuse nothing from them.
    """  # noqa: D301 - click reads \b as "keep these lines"
    from pipeline.store.archive import LARGEST, fetch_run, unpack_run
    from pipeline.store.objects import is_object

    most = max_size or LARGEST
    run = fetch_run(file, output, most=most) if is_object(file) else unpack_run(Path(file), output, most=most)
    click.echo(str(run.root))


def _by_kind(garbage: Garbage) -> dict[str, dict[str, int]]:
    files, sizes = Counter[str](), Counter[str]()
    for file in garbage.files:
        files[file.kind] += 1
        sizes[file.kind] += file.bytes
    return {kind: {"files": files[kind], "bytes": sizes[kind]} for kind in sorted(files)}


def _say(garbage: Garbage, freed: int, *, dry_run: bool, to: float | None) -> list[str]:
    from pipeline.inputs import size_text

    lines = [f"  {kind}: {each['files']:,} files, {size_text(each['bytes'])}" for kind, each in _by_kind(garbage).items()]
    kept = garbage.store_bytes - freed
    done = "would free" if dry_run else "freed"
    runs = f"{garbage.runs:,} run{'s' * (garbage.runs != 1)}"
    lines += [  # what was brought, and may be needed by runs that could not be asked
        f"{note.parents[1]} stays as it is: {runs} read it, which is not there; if it is gone for good, remove {note}"
        for note, runs in garbage.missing
    ]
    lines.append(f"{done} {size_text(freed)} of {size_text(garbage.store_bytes)}; {size_text(kept)} stay for {runs}")
    if garbage.young_bytes:
        lines.append(f"{size_text(garbage.young_bytes)} that no run names are too new to remove: a study may be about to use them")
    if to is not None and kept > to:
        lines.append(
            f"that is more than {size_text(to)}: to free more, remove runs that are no longer needed, then call this again"
        )
    return lines
