"""Every error code: its exit status and what it means. `docs/errors.md` is made from this table.

``python -m pipeline.error_codes docs/errors.md`` writes the table of that page anew.

A code names what a reader of the documentation looks up, not a line of code: P219 is every way in which outputs can be named so
that they cannot be followed, P151 every value that an option of a plugin refuses, P104 every value out of bounds, P257 all JSON of
another shape. Their messages tell the causes apart, and are written where the code is raised: search the package for it. Codes are
never given a new meaning: scripts compare them.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

__all__ = ["CODES", "Code", "format_table"]


class Code(NamedTuple):
    """What a code stands for: the exit status of an error that carries it alone, and its meaning.

    The status is None where it is that of something else, as of the run.
    """

    exit: int | None
    meaning: str


CODES: dict[str, Code] = {
    "P010": Code(2, "`compare` was given a format without a usual metric, and no metric"),
    "P011": Code(2, "labels, columns and the like need exactly one gold file"),
    "P012": Code(2, "text needs at least one reference"),
    "P013": Code(2, "an output is given twice"),
    "P014": Code(2, "`compare` was given a reference for outputs that are scores already"),
    "P015": Code(2, "`compare` was given a format in braces that has no name"),
    "P016": Code(2, "the name of a score leaves open whether more or less is better"),
    "P017": Code(2, "two outputs of `compare` have the same name"),
    "P018": Code(2, "`compare` was given `NAME=PATH` without a name or a path, or `--columns` without names"),
    "P019": Code(2, "what `compare` was given for a file is the name of a metric"),
    "P101": Code(2, "an unknown key, or an option that an analysis does not have"),
    "P102": Code(2, "a key is given twice"),
    "P103": Code(2, "a value is of the wrong type"),
    "P104": Code(2, "a value is out of range or has no effect"),
    "P105": Code(2, "a key is missing"),
    "P106": Code(2, "the file is not YAML"),
    "P107": Code(2, "the file is empty"),
    "P108": Code(2, "the file is not UTF-8"),
    "P109": Code(2, "the file is not there or cannot be read"),
    "P110": Code(2, "parts of the study do not go together"),
    "P111": Code(
        2, "`--set` changes nothing, or names what it cannot change: in a report, anything that the run's numbers depend on"
    ),
    "P112": Code(2, "there is no such cluster profile"),
    "P113": Code(2, "a path names an environment variable that is not set"),
    "P114": Code(2, "`missing: zero` would reward missing items"),
    "P115": Code(2, "the baseline is not a system of a test set"),
    "P116": Code(2, "studentised intervals of so many pairs, units and replicates would take too long"),
    "P117": Code(2, "`compare` with a procedure that cannot test the metric"),
    "P118": Code(2, "a trainer fits to a column that the training data do not have"),
    "P119": Code(2, "a trainer does not predict what a test set is scored on"),
    "P120": Code(2, "a test set is to be predicted and has no gold"),
    "P121": Code(2, "more folds than the training data have units"),
    "P122": Code(2, "the training data have none of the instances that a quota counts"),
    "P123": Code(2, "the training data have no column, or an item no value, that units are made of"),
    "P124": Code(2, "a range of `items:` names items that are not there, or one twice"),
    "P125": Code(2, "`compare` is asked for more replicates than there can be"),
    "P126": Code(2, "a trainer predicts from a column, or from features, that a test set does not have"),
    "P127": Code(2, "systems are trained, and no test set is to be predicted"),
    "P128": Code(2, "a study file, a profile or a value of the command line is too large, or has too many values, aliases counted"),
    "P129": Code(2, "a study file, a profile or a value of the command line is nested too deeply"),
    "P132": Code(2, "a parameter of an estimator is unknown, refused, or `random_state`"),
    "P133": Code(2, "`resampling.method: exact` of p-values that have no exact law"),
    "P134": Code(2, "`PIPELINE_PRODUCT` names no form of products that this processor has"),
    "P150": Code(2, "a metric, format or trainer has no such option"),
    "P151": Code(2, "a metric, format or trainer needs an option that is missing, or refuses a value"),
    "P201": Code(3, "a file is not there"),
    "P202": Code(3, "a file cannot be read: no permission, or not a file"),
    "P203": Code(3, "items do not align: another number of lines"),
    "P204": Code(3, "a line is not UTF-8"),
    "P205": Code(3, "a file is empty"),
    "P206": Code(3, "a compressed file is damaged, or nothing installed can decompress it"),
    "P207": Code(3, "no file matches the pattern of the outputs"),
    "P208": Code(3, "a system name occurs twice"),
    "P209": Code(3, "an item occurs twice"),
    "P210": Code(3, "a score is not a finite number"),
    "P211": Code(3, "a column of a table is missing, or there twice"),
    "P212": Code(3, "a row of a table is malformed"),
    "P213": Code(3, "a test set has fewer than two units"),
    "P214": Code(3, "lines are shifted: dropping or filling the last ones would pair the wrong items"),
    "P215": Code(3, "references, gold or documents have different numbers of lines"),
    "P216": Code(3, "items of a system are missing"),
    "P217": Code(3, "a system has items that are not in the gold"),
    "P218": Code(3, "a test set has no items that all systems have"),
    "P219": Code(3, "the outputs are not named in a way that can be followed"),
    "P220": Code(3, "an output changed after it was surveyed"),
    "P221": Code(3, "a system name is empty or does not print"),
    "P222": Code(3, "an item has no document, or no other group that units or strata are made of, or two"),
    "P223": Code(3, "no column of a test set has the name that units or strata are to be made of"),
    "P224": Code(3, "a unit lies in several strata"),
    "P225": Code(3, "a metric needs references or gold labels that the test set does not have"),
    "P226": Code(3, "a metric needs a column that the outputs do not have"),
    "P227": Code(3, "numbers are too large to be added exactly"),
    "P228": Code(3, "a denominator is negative"),
    "P229": Code(3, "every unit is alone in its stratum: resampling always gives the same test set"),
    "P230": Code(3, "a system has neither an output nor a training"),
    "P231": Code(3, "a system is both a file and a training"),
    "P232": Code(3, "systems have no value of the coordinate that `systems.relation` names"),
    "P233": Code(3, "`systems.table` cannot be read"),
    "P234": Code(3, "`systems.table` is not UTF-8"),
    "P235": Code(3, "`systems.table` has no column `system`"),
    "P236": Code(3, "`systems.table` names a system twice"),
    "P237": Code(3, "scores of two systems cannot be added exactly together"),
    "P238": Code(3, "a system of one test set is a column that groups the items of another"),
    "P239": Code(3, "`resampling.method: exact`, and systems do not share denominators, or one is negative"),
    "P240": Code(
        3, "a file of tokens has no sentence, a line with another number of columns, or other columns than the files beside it"
    ),
    "P241": Code(3, "`columns:` places something that lines of tokens do not have"),
    "P242": Code(3, "a tag does not belong to a chunk"),
    "P243": Code(3, "the chunks of a file are tagged in two schemes"),
    "P244": Code(3, "a token is not a word and its tag"),
    "P245": Code(3, "the tokens of an output are not those of the gold"),
    "P246": Code(3, "the gold has no chunk of the types, or no item of the labels, that a metric counts"),
    "P250": Code(3, "a line of CoNLL-U is not a word, or the file ends within a sentence"),
    "P251": Code(3, "heads do not make a tree: out of range, in a circle, or with several roots in the gold"),
    "P253": Code(3, "a line holds something that is not a link of words"),
    "P254": Code(3, "a link is beyond the words of its sentences: most often, words are numbered from another start"),
    "P255": Code(3, "a line is not a pair of sentences, or bitext and links have different lengths"),
    "P256": Code(3, "brackets do not make a tree"),
    "P257": Code(3, "a line is not JSON, or not of the shape of the format"),
    "P258": Code(3, "a zip is damaged, or a part that the format needs is missing"),
    "P259": Code(3, "`format: auto`, and no format is recognised in a file"),
    "P260": Code(3, "`format: auto`, and a file may have either of two formats"),
    "P261": Code(
        3, "the task, metric, filter or scorer that is asked for is missing in a file, or there are several and none is named"
    ),
    "P262": Code(3, "an item of a system differs from the item of this name of other systems"),
    "P263": Code(3, "the text of an output is not the gold's, character by character"),
    "P264": Code(3, "a line is not a transcript, judgement or retrieved document"),
    "P265": Code(3, "a line is longer than 50 million characters, so it cannot be the text of one item"),
    "P266": Code(3, "a run is not complete: it was started, cancelled, or has failed"),
    "P267": Code(3, "a preference is not one that the format has, or a win is not from 0 to 1"),
    "P270": Code(3, "the training data changed after they were surveyed"),
    "P271": Code(3, "no file matches the pattern of the training data"),
    "P273": Code(3, "the training data have no items"),
    "P274": Code(3, "the format of the training data has no gold"),
    "P275": Code(3, "`format: auto`, and a file is JSON without anything that says where the outputs are"),
    "P276": Code(3, "a column of a table writes numbers in two ways, for example true and false beside numbers"),
    "P277": Code(3, "a table writes some numbers in percent, or with decimal commas, and others not"),
    "P280": Code(3, "precision, recall or F1 do not know which label is the positive one, or how labels are averaged"),
    "P285": Code(3, "an input is a pipe, a device, a socket or an open stream, not a regular file"),
    "P286": Code(3, "an input, or a part of it, would take too much memory: [limits](formats.md#limits)"),
    "P287": Code(3, "what is compressed is more than 200 times its size on disk"),
    "P288": Code(3, "decompressing would take too much memory"),
    "P289": Code(3, "`PIPELINE_MAX_INPUT` is no size"),
    "P290": Code(5, "there are fewer than two systems"),
    "P291": Code(2, "test sizes in numbers, where the study leaves open whether items or documents are drawn"),
    "P301": Code(2, "there is no such metric, reader, trainer, analysis, procedure or preset"),
    "P302": Code(2, "a metric, reader, trainer, analysis, procedure or preset cannot be loaded"),
    "P304": Code(2, "there is no such embedded data set"),
    "P306": Code(2, "an estimator cannot be imported, or is not one"),
    "P307": Code(2, "items have no form that a trainer can learn from: no file for `command`, no features or text for `sklearn`"),
    "P308": Code(2, "a reader, metric, trainer or analysis has not all members of its base class"),
    "P309": Code(2, "an object of your own (trainer `python`, metric `module:name`) cannot be imported, or changed since it was"),
    "P310": Code(2, "an object of the trainer `python` predicts what it should not"),
    "P311": Code(2, "a `version_command` fails"),
    "P312": Code(2, "an analysis brings a table, figure, section or file that a report cannot show"),
    "P313": Code(2, "two installed packages bring a metric, reader, trainer, analysis, procedure or preset of one name"),
    "P314": Code(2, "an analysis returns something other than a finding of its own"),
    "P401": Code(70, "internal error in a task"),
    "P402": Code(4, "a task's worker died"),
    "P403": Code(4, "a worker, or the command itself, ran out of memory"),
    "P404": Code(4, "a worker counts statistics with another version than the study was planned with"),
    "P405": Code(4, "a worker cannot count a procedure that the study was planned with"),
    "P406": Code(4, "a metric of your own failed, or counts what it should not"),
    "P409": Code(None, "a run started from Python did not end well"),
    "P410": Code(4, "a training failed"),
    "P411": Code(4, "a command of a training failed: its exit code, or the signal that ended it"),
    "P412": Code(4, "a command ended well and wrote no model or no output"),
    "P413": Code(4, "the output of a command cannot be read, or has other items"),
    "P414": Code(4, "a command filled the disk, or passed its limit of it"),
    "P415": Code(4, "a command used more memory than its limit"),
    "P416": Code(4, "a command was stopped at its time limit"),
    "P417": Code(4, "a command cannot be started"),
    "P420": Code(4, "a trainer gave another number of outputs than there are items"),
    "P421": Code(4, "a trainer gave no outputs in a column that was asked"),
    "P422": Code(4, "an output has another number of tokens than its item"),
    "P423": Code(4, "outputs cannot be read back as they were given"),
    "P424": Code(4, "a trainer predicts what is not a number"),
    "P425": Code(4, "a trainer predicts nothing: all outputs of a test set are blank"),
    "P451": Code(7, "known answers of a study have turned: numbers are not what `expect` says"),
    "P501": Code(66, "no run has this name"),
    "P502": Code(66, "several runs have it"),
    "P601": Code(69, "the cluster cannot be started or reached"),
    "P602": Code(69, "no worker came within the profile's `start_seconds`, or none was left for ten minutes"),
    "P603": Code(69, "the scheduler is gone"),
    "P604": Code(69, "the cluster class cannot be imported, or is not a cluster class"),
    "P605": Code(4, "no worker has the memory, cores or tag that a training asks for"),
    "P606": Code(69, "a cluster would not be encrypted: whoever reaches it could run code as you"),
    "P610": Code(69, "the batch system refuses every job of a worker; its own words are in the message"),
    "P611": Code(69, "the path of the logs has a character that is not safe in a job script"),
    "P612": Code(69, "workers of this machine die while they start, three times in a row"),
    "P613": Code(69, "a coordinator that was started elsewhere ended before it started; the end of its log is in the note"),
    "P701": Code(73, "the disk is full, or the quota used up"),
    "P702": Code(73, "a place cannot be written, or its folder cannot be made"),
    "P703": Code(73, "input or output failed otherwise"),
    "P704": Code(73, "a stored file is not there"),
    "P705": Code(73, "a stored file is damaged"),
    "P706": Code(73, "a line of the ledger is damaged"),
    "P707": Code(73, "a chunk of a cube is missing or damaged"),
    "P708": Code(73, "a cube, or its description, is missing or damaged"),
    "P709": Code(73, "`plan.json` is of another version"),
    "P710": Code(73, "the outputs of a test set are missing in a stored training"),
    "P714": Code(73, "`plan.json` cannot be read, and the run's `study.yaml` does not give it again"),
    "P801": Code(74, "another process writes this run, or may do so: its lease is damaged and less than a minute old"),
    "P802": Code(74, "another process has taken this run over, or somebody has removed the lease of this one"),
    "P999": Code(70, "internal error"),
}
"""By code, in the order of the codes."""


def format_table() -> str:
    """Return the table of all codes as Markdown."""
    rows = [
        f"| {code} | {'that of the run' if known.exit is None else known.exit} | {known.meaning} |" for code, known in CODES.items()
    ]
    return "\n".join(["| code | exit | meaning |", "|---|---|---|", *rows])


def _write_page(path: Path) -> None:
    page = path.read_text(encoding="utf-8")
    path.write_text(
        re.sub(r"^\| code \| exit \| meaning \|$(\n\|.*$)*", lambda _: format_table(), page, flags=re.MULTILINE), encoding="utf-8"
    )


if __name__ == "__main__":
    _write_page(Path(sys.argv[1]))
