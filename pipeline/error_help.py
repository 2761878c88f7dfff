"""What to do about an error: a sentence for every family of codes, another for codes that need their own, and all exit codes.

``python -m pipeline.error_help docs/errors.md`` writes the lists of that page. The message of an error says more, because it knows
the file and the value; these sentences are for people who look a code up later.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

from pipeline.error_codes import CODES

__all__ = ["EXIT_CODES", "FAMILIES", "Ending", "Family", "family_of", "format_page", "help_of", "say_exit"]


class Family(NamedTuple):
    """Codes about one subject, from ``first`` up to the next family, and what to do about any of them."""

    first: str
    title: str
    help: str


class Ending(NamedTuple):
    """What an exit code means, and what to do next."""

    meaning: str
    help: str


FAMILIES: tuple[Family, ...] = (
    Family(
        "P001",
        "The command line",
        "`pipeline COMMAND --help` shows the arguments, options and examples of a command, `pipeline --help` all commands.",
    ),
    Family(
        "P010",
        "What `compare` and `init` are given",
        "Say what the files do not: the metric with `-m`, references or gold with `-r`, the format with `--format`, names as "
        "`NAME=PATH`; `pipeline compare --help` has examples.",
    ),
    Family(
        "P101",
        "The study file",
        "Correct the value at the place that the message names; `pipeline check` reads the study again and computes nothing, and "
        "with `pipeline schema` an editor proposes keys and names.",
    ),
    Family(
        "P150",
        "Options of metrics, formats and trainers",
        "`pipeline metrics` and `pipeline formats` list the options of each, docs/trainers.md those of trainers.",
    ),
    Family(
        "P201",
        "Outputs, references and their items",
        "Correct the file at the place that the message names, or the path in the study; `pipeline check` aligns all files again "
        "and computes nothing.",
    ),
    Family(
        "P240",
        "Files of a format",
        "Correct the file at the line that the message names, or name the format that it has; `pipeline formats` lists them, and "
        "docs/formats/ has a page with an example of each.",
    ),
    Family("P270", "Training data", "Correct `training.data` in the study, or the file it names; docs/trainers.md has examples."),
    Family(
        "P275",
        "Tables, JSON and labels",
        "Add what the file does not say, or write all numbers of a column in the same form; docs/formats.md says what is "
        "recognised.",
    ),
    Family(
        "P285",
        "Limits of inputs",
        "Check that the file is what you think it is; if so, the environment variable `PIPELINE_MAX_INPUT` raises the limits "
        "(docs/formats.md, Limits).",
    ),
    Family("P290", "What can be compared", "Check how many systems the pattern of the outputs finds, and `systems.exclude`."),
    Family(
        "P301",
        "Metrics, formats, trainers, procedures, presets and analyses",
        "`pipeline metrics`, `formats`, `procedures`, `presets` and `analyses` list what is installed; what another package "
        "provides must be installed in the same environment, and CONTRIBUTING.md says what your own must have.",
    ),
    Family(
        "P401", "Tasks", "What is done is kept: `pipeline logs` says what happened, and `pipeline resume` computes what is missing."
    ),
    Family(
        "P410",
        "Trainings",
        "`pipeline logs` has the last lines that the training printed; correct the program and `pipeline resume`, or the study and "
        "`pipeline run`. Trainings that are done are kept.",
    ),
    Family(
        "P451",
        "Known answers",
        "The run is complete, and its report shows both numbers; if the new one is right, change `expect` in the study.",
    ),
    Family(
        "P501",
        "Runs",
        "`pipeline list` shows the runs of a folder, `--runs` names another folder; without a name, commands take the latest.",
    ),
    Family(
        "P601",
        "Clusters",
        "What is done is kept: correct the profile (docs/clusters.md), then `pipeline resume`; `pipeline resume --cluster local` "
        "continues on this machine.",
    ),
    Family(
        "P701",
        "Disk and stored files",
        "`pipeline resume` checks every stored byte and computes again what is missing or damaged.",
    ),
    Family(
        "P720",
        "Clearing up, and runs from elsewhere",
        "Nothing was removed and nothing was unpacked; `pipeline gc --help` and `pipeline import --help` say what they take.",
    ),
    Family(
        "P740",
        "Histories",
        "A history belongs to one study and one plan of looks: keep both, or name another folder with `--history`; docs/nights.md "
        "says why.",
    ),
    Family(
        "P801",
        "Runs that another process writes",
        "Only one process at a time may write a run: wait until it ends (`pipeline status`), or stop it with `pipeline cancel`.",
    ),
    Family(
        "P999",
        "Internal errors",
        "This is a fault of the program, not yours: report it with the command and what `pipeline --debug …` prints.",
    ),
)
"""In the order of the codes; a code belongs to the last family that begins with it or before it."""

OWN_HELP: dict[str, str] = {
    "P113": "Set the variable, or give the path a default: `${NAME:-a default}`.",
    "P116": "Compare fewer systems, or ask for `bca` intervals, which are read off the kept scores.",
    "P117": "Choose another procedure with `--procedure`; `pipeline procedures` says what each tests.",
    "P125": "Ask for fewer replicates with `-b`: a million finds p-values down to 1e-6.",
    "P128": "A study is a page or two: check that the file is the study, and use a pattern to name many systems.",
    "P133": "Write `method: auto`, which counts replicates where there is no exact law.",
    "P134": "Unset the variable: a suitable form is then chosen, and no number depends on it.",
    "P203": "A line is lost, split or joined near the place that the message names; an empty output is an empty line.",
    "P204": "Write the file again as UTF-8, for example with `iconv -f LATIN1 -t UTF-8 old.txt > new.txt`.",
    "P209": "Keep one row for each item.",
    "P213": "Units are what is resampled, and a single one says nothing about chance: add items, or use items as units.",
    "P214": "Find the line where the shift begins; leaving out the last lines would compare outputs of different items.",
    "P216": "Add the missing items, or say how to treat them: `missing: drop` or `missing: zero`.",
    "P220": "Start the study again: with the changed file it is a new run, which reuses what is still valid.",
    "P238": "Rename the column, or list it in `columns:` of that test set, so that it is not taken for a system.",
    "P239": "Write `method: monte-carlo`, which counts replicates.",
    "P266": "Run it to its end (`inspect eval-retry`), or write `format: {name: inspect, incomplete: true}`.",
    "P270": "Start the study again: with the changed data it is a new run, which reuses what is still valid.",
    "P285": "Write it to a file first, and name that file: inputs are read several times.",
    "P289": "Write a size such as `8GiB` or `500 MB`, or unset the variable.",
    "P291": "Write `unit: document`, with sizes in documents, or `unit: item`.",
    "P311": "Correct the option `version_command` of the model.",
    "P401": "`pipeline logs` has the traceback; the fault is the program's or that of a plugin, and what is done is kept.",
    "P403": "Give workers more memory or fewer threads, or compare fewer systems at a time; then `pipeline resume`.",
    "P404": "Install the same versions on every worker, then `pipeline resume`.",
    "P405": "Install the same versions on every worker, then `pipeline resume`.",
    "P414": "Free disk space, or raise `limits: {disk: …}` of the model; then start the study again.",
    "P415": "Raise `limits: {memory: …}` of the model, or give the command less to do.",
    "P416": "Raise `limits: {minutes: …}` of the model if it is slow but not stuck.",
    "P502": "Give more of the run's id; `pipeline list` shows them.",
    "P606": "Only a cluster with TLS is started: docs/clusters.md says what a profile needs.",
    "P610": "Correct `options:` of the profile: queue, account, memory, walltime; then `pipeline resume`.",
    "P620": "Do what it says below each line that begins with `fail`, then run `pipeline doctor` again.",
    "P701": "Free disk space, or name another folder with `--runs`; then `pipeline resume`. What was written before is kept.",
    "P702": "Make the folder writable for you, or name another folder with `--runs`.",
    "P703": "Check the file system of the place that the message names; then `pipeline resume`.",
    "P714": "`pipeline run` the study again with the options of that run; all that is stored is used again.",
    "P720": "Run it as a user who may read all runs of the folder, or move the run that the message names out of the folder.",
    "P721": "If no other folder of runs uses the store, say so with `--linked-store`.",
    "P733": "Name another folder with `--output`.",
    "P735": "Install it with `pip install 'pipeline[objects]'`, or name files.",
    "P736": "Check the address, the account and its rights; AWS_ENDPOINT_URL names a store that is not Amazon's.",
}
"""For codes about which more can be said than about their family."""

EXIT_CODES: dict[int, Ending] = {
    0: Ending("done", "Nothing is wrong."),
    1: Ending(
        "only of `pipeline gate` and `pipeline reanalyse --baseline`: worse than the baseline",
        "The answer names the systems and gains; docs/gate.md says how it is found.",
    ),
    2: Ending("the command line, the study file or a profile is wrong", "Correct what the message names; nothing was computed."),
    3: Ending("data are wrong: misaligned, missing, unreadable", "Correct the file; `pipeline check` reads everything again."),
    4: Ending(
        "incomplete: some tasks failed; what is done is kept", "`pipeline logs` says which and why, `pipeline resume` continues."
    ),
    5: Ending("nothing to compare: fewer than two systems", "Check the pattern of the outputs and `systems.exclude`."),
    6: Ending(
        "only of `pipeline gate --fail-on inconclusive`: neither a difference nor equivalence is shown",
        "More items may decide it; docs/gate.md says how the answer is found.",
    ),
    7: Ending("complete, but results are not what the study expects", "The report shows each known answer beside the new number."),
    66: Ending("no such run", "`pipeline list` shows the runs, `--runs` names another folder."),
    69: Ending(
        "the cluster cannot be reached or gives no workers", "Correct the profile (docs/clusters.md), then `pipeline resume`."
    ),
    70: Ending("internal error", "Report it with the command and what `pipeline --debug …` prints."),
    73: Ending(
        "disk full, not writable, or stored bytes damaged", "Free disk space or correct permissions, then `pipeline resume`."
    ),
    74: Ending("another process writes this run", "Wait until it ends (`pipeline status`), or stop it with `pipeline cancel`."),
    75: Ending("interrupted or cancelled; `pipeline resume` continues it", "What is done is kept."),
    130: Ending("Ctrl-C", "What is done is kept: `pipeline resume` continues a run."),
}
"""Every way in which a command can end; docs/command_line.md lists them too."""


def family_of(code: str) -> Family:
    """Return the family of a code.

    Examples
    --------
    >>> family_of("P203").title
    'Outputs, references and their items'
    """
    return [family for family in FAMILIES if family.first <= code][-1]


def help_of(code: str) -> str:
    """Return what to do about an error: the sentence of its code, or else of its family.

    Examples
    --------
    >>> help_of("P404")
    'Install the same versions on every worker, then `pipeline resume`.'
    """
    return OWN_HELP.get(code, family_of(code).help)


def say_exit(code: str) -> str:
    """Return the exit code of an error in words; that of P409 depends on the run.

    Examples
    --------
    >>> say_exit("P203"), say_exit("P409")
    ('3', 'that of the run')
    """
    status = CODES[code].exit
    return "that of the run" if status is None else str(status)


def format_page() -> str:
    """Return all codes as Markdown: for each family what to do, and a table."""
    parts = []
    for family in FAMILIES:
        rows = []
        for code, known in CODES.items():
            if family_of(code) is family:
                more = f". {OWN_HELP[code]}" if code in OWN_HELP else ""
                rows.append(f"| {code} | {say_exit(code)} | {known.meaning}{more} |")
        parts.append("\n".join([f"## {family.title}", "", family.help, "", "| code | exit | meaning |", "|---|---|---|", *rows]))
    return "\n\n".join(parts)


def _write_page(path: Path) -> None:
    page = path.read_text(encoding="utf-8")
    lists = f"<!-- codes -->\n\n{format_page()}\n\n<!-- end -->"
    path.write_text(re.sub(r"<!-- codes -->.*<!-- end -->", lambda _: lists, page, flags=re.DOTALL), encoding="utf-8")


if __name__ == "__main__":
    _write_page(Path(sys.argv[1]))
