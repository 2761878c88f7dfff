"""The command line of `scripts/chaos`: strike, follow the messages, compare, count."""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

from faults.episode import Episode, Reference, digest_results
from faults.kinds import KINDS, missing
from faults.processes import Command
from faults.studies import STUDIES, write_study


def main(arguments: list[str]) -> int:
    """Print what happened; return 1 where anything happened that must not."""
    asked = _parse(arguments)
    if asked.list:
        for name, kind in KINDS.items():
            print(f"{name:18} {missing(kind) or ''}".rstrip())
        return 0
    unknown = sorted(set(asked.kinds) - set(KINDS))
    if unknown:
        print(f"there is no kind {', '.join(unknown)}; there are {', '.join(KINDS)}", file=sys.stderr)
        return 2
    folder = Path(asked.keep or tempfile.mkdtemp(prefix="chaos-")).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    references = {name: _make_reference(name, folder / f"undisturbed-{name}") for name in STUDIES}
    names = [name for name in asked.kinds or KINDS if missing(KINDS[name]) is None]
    rng = random.Random(asked.seed)
    # Every kind in turn, the turns shuffled: few faults are spread over many kinds.
    order = [name for _ in range(-(-asked.faults // len(names))) for name in rng.sample(names, len(names))][: asked.faults]
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    struck_since, stops = time.monotonic(), list[int]()
    # A fault that is stopped halfway would leave its namespaces, disks and SLURM behind: it is the last one.
    before = signal.signal(signal.SIGTERM, lambda number, frame: stops.append(number))
    for number, name in enumerate(order):
        if stops or (asked.seconds is not None and time.monotonic() - struck_since > asked.seconds):
            break
        study = rng.choices(list(STUDIES), weights=[4, 1])[0]
        began = time.monotonic()
        episode = Episode(folder / f"{number:04d}-{name}-{study}", references[study], random.Random(rng.random()))
        try:
            KINDS[name].strike(episode)
        except Exception as error:  # of this script: a long campaign goes on, and says so
            episode.complain(f"the fault could not be made: {type(error).__name__}: {error}")
        episode.finish(counted_once=KINDS[name].counted_once)
        counts[name]["faults"] += 1
        counts[name]["failed"] += bool(episode.complaints)
        _say(number, asked.faults, name, study, episode, time.monotonic() - began)
        if not episode.complaints:
            shutil.rmtree(episode.folder)
    signal.signal(signal.SIGTERM, before)
    _print_table(counts)
    failed, struck = (sum(row[column] for row in counts.values()) for column in ("failed", "faults"))
    if failed:
        print(f"{failed} of {struck} faults did harm; their folders are in {folder}")
    elif not asked.keep:
        shutil.rmtree(folder)
    return int(bool(failed))


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/chaos", description=__doc__)
    parser.add_argument("--faults", type=int, default=20, help="how many [20]")
    parser.add_argument("--seed", type=int, default=1, help="of their order and their moments [1]")
    parser.add_argument(
        "--kinds", type=lambda text: text.split(","), default=[], help="kinds by comma [all that this machine can do]"
    )
    parser.add_argument("--seconds", type=float, help="after which no other fault is begun [none]")
    parser.add_argument("--keep", help="the folder to work in, which is kept")
    parser.add_argument("--list", action="store_true", help="list the kinds of faults")
    return parser.parse_args(arguments)


def _make_reference(name: str, folder: Path) -> Reference:
    """Run a study undisturbed, without workers."""
    study = write_study(name, folder / "study")
    runs = folder / "runs"
    command = Command(["run", str(study), "--serial", "--runs", str(runs), "-q"], folder=folder, environment=os.environ)
    code = command.wait(300)
    if code != 0:
        raise SystemExit(f"the undisturbed run of {name} ended with {code}:\n{command.said}")
    run = Path(command.out.read_text(encoding="utf-8").strip())
    return Reference(study, runs, run.name, digest_results(run))


def _say(number: int, of: int, name: str, study: str, episode: Episode, seconds: float) -> None:
    print(f"{number + 1}/{of}  {name} ({study})  {'FAILED' if episode.complaints else 'ok'}  {seconds:.0f} s", flush=True)
    if episode.complaints:
        print("    " + "\n    ".join([*episode.history, *(f"! {complaint}" for complaint in episode.complaints)]), flush=True)


def _print_table(counts: defaultdict[str, Counter[str]]) -> None:
    """Print the table of docs/clusters.md."""
    print("\n| kind | faults | failed |\n|---|---|---|")
    for name in KINDS:
        if counts[name]["faults"]:
            print(f"| `{name}` | {counts[name]['faults']} | {counts[name]['failed']} |")
        elif (why := missing(KINDS[name])) is not None:
            print(f"| `{name}` | 0 | {why} |")
    print(f"| all | {sum(row['faults'] for row in counts.values())} | {sum(row['failed'] for row in counts.values())} |\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
