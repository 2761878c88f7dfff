"""What warnings and notes advise that are no helps of errors, as cases of studies and command lines."""

from __future__ import annotations

import json

from support.advice_of_compares import Typed
from support.advice_of_items import MANY, TEXT, TEXTS
from support.advice_of_studies import study
from support.advice_of_tool_files import MQM, lines, sample
from support.advice_of_trainings import FILES as TRAINED
from support.advice_of_trainings import GOOD
from support.following_advice import Case

TABLE = "item,A,B,C\n1,0,3,2\n2,1,2,4\n3,0,2,4\n"
SCORED = "{format: scores, outputs: x.csv%s}"
SEGMENTS = "".join(f"{system}\t{score}\n" for system in ("refA", "a", "b") for score in (1, 2, 3))
REPEATED = {"scores_per_repeat": {"acc": [1, 0]}, "words": 2}
KEPT = {"gold.csv": "id,label\n1,n\n2,v\n", "a.csv": "id,label\n1,n\n2,n\n", "b.csv": "id,label\n1,v\n2,v\n"}
LABELLED = "{format: labels, gold: gold.csv, outputs: '{system}.csv'%s}"
ONE_UP = "1-1 2-2\n" * 25
ITEMS = "--items 100"
PREDICTED = "{format: labels, gold: test.csv, predicted: false%s}\n  u: {format: labels, gold: test.csv}"

WARNINGS = {
    "items/outputs": [
        Case(
            "'{}' looks like a list of document names, not like an output: give it by `documents:`, and leave it out by "
            "`systems.exclude`",
            f"{{{TEXT}}}",
            {name: MANY for name in TEXTS} | {"out/docs.txt": "".join(f"d{k // 4}\n" for k in range(40))},
            {"test_set": f"{{{TEXT}, <0> out/docs.txt}}", "more": "systems: {exclude: [docs]}\n"},
            metric="bleu",
        ),
    ],
    "items/readers/_lm_eval": [
        Case(
            "{}: the metric '{}' has one value a document, where others have one an answer, and was left out; `metric: {}` takes "
            "it alone",
            "{format: lm-eval, outputs: '{system}.jsonl'}",
            {f"{system}.jsonl": lines(*(sample(k, metrics=["acc", "words"], **REPEATED) for k in (1, 2))) for system in "ab"},
            {"test_set": "{format: {name: lm-eval, <0>}, outputs: '{system}.jsonl'}", "metric": "mean"},
        ),
    ],
    "items/readers/text": [
        Case(
            "to take what is between tabs for references, say `format: {name: text, split_references: true}`",
            f"{{{TEXT}}}",
            {**TEXTS, "ref.txt": TEXTS["ref.txt"].replace("\n", "\tx y\n")},
            {"test_set": f"{{{TEXT}}}".replace("format: text", "<0>")},
            metric="bleu",
        ),
    ],
    "items/readers/trn": [
        Case(
            "{}: {}; see `speaker:` of the format",
            "{format: trn, gold: gold.trn, outputs: '{system}.trn', columns: {document: speaker}}",
            {f"{name}.trn": f"so {name} it (abc1)\nno (abc2)\nyes (xyz1)\n" for name in ("gold", "a", "b")},
            {"test_set": "{format: {name: trn, <0> 3}, gold: gold.trn, outputs: '{system}.trn', columns: {document: speaker}}"},
            metric="wer",
        ),
    ],
    "study/agreement": [
        study(
            "all pairs have no baseline; add `family: against-baseline`",
            "resampling: {baseline: a}\n",
            "resampling: {baseline: a, <0>}\n",
        ),
        study(
            "against which system? add `baseline: NAME`",
            "resampling: {family: against-baseline}\n",
            "resampling: {family: against-baseline, <0>}\n",
            fill={"NAME": "a"},
        ),
    ],
    "survey/checks": [
        Case(
            "the column '{}' is not a system, because {} names it; if that is meant, say so: `columns: {{}: {}}`",
            SCORED % "",
            {"x.csv": TABLE},
            {"test_set": SCORED % ", <0>"},
            more="resampling: {unit: A}\n",
        ),
    ],
    "survey/warnings": [
        Case(
            "give `systems.table` the columns system, model and replica",
            "{format: scores, outputs: x.csv}",
            {"x.csv": "item,big.run1,big.run2,new.run1,new.run2\n1,1,2,3,4\n2,2,2,1,5\n3,4,3,2,1\n"},
            {
                "systems.csv": "system,model,replica\n"
                + "".join(f"{model}.run{k},{model},{k}\n" for model in ("big", "new") for k in (1, 2)),
                "more": "systems: {table: systems.csv}\n",
            },
        ),
        Case(
            "to compare the models, {}",
            "{format: scores, outputs: '{system}.csv'}",
            {f"{model}.run{k}.csv": f"item,score\n1,{k}\n2,2\n3,4\n" for model in ("big", "new") for k in (1, 2)},
            {"test_set": "{format: scores, <0>}"},
        ),
        Case(
            "no link of {} has a word 0, and links of {} have: where one counts words from 0 and the other from 1, all links are "
            "compared with wrong ones; a first line `# base: 1` of a file says that it counts from 1",
            "{format: links, references: [bi.txt], gold: gold.txt, outputs: '{system}.out'}",
            {
                "bi.txt": "a b c ||| d e f\n" * 25,
                "gold.txt": "0-0 1-1\n" * 25,
                "a.out": ONE_UP,
                "b.out": ONE_UP.replace("2-2", "2-1"),
            },
            {"a.out": f"<0>\n{ONE_UP}", "b.out": f"<0>\n{ONE_UP}".replace("2-2", "2-1")},
            metric="aer",
        ),
        Case(
            "{} that {} of '{}' is better, and {} takes {}: set `higher_is_better: {}` of the metric",
            "{format: mqm, outputs: x.tsv}",
            {"x.tsv": MQM},
            {"metric": "{name: mean, <0>}"},
            metric="mean",
        ),
    ],
}
"""Followed as `follow_told` does."""

AGAIN = {
    "items/readers/mt_metrics_eval": [
        Case(
            "{}: the system '{}' is the reference the scores are made with: leave it out by `systems.exclude`",
            "{format: mt-metrics-eval, outputs: metric-scores/en-de/M-refA.seg.score}",
            {
                "metric-scores/en-de/M-refA.seg.score": SEGMENTS,
                "documents/en-de.docs": "sea log1\nsea log1\nsky log1\n",
                **{f"system-outputs/en-de/{name}.txt": "a\nb\nc\n" for name in ("refA", "a", "b")},
                "references/en-de.refA.txt": "a\nb\nc\n",
            },
            {"more": "systems: {exclude: [refA]}\n"},
        ),
    ],
    "items/readers/swe_bench": [
        Case(
            "{} names instances that are resolved, and of the others only some: those in no list are missing items; `gold:`, a "
            "file of all instances, and `missing: zero` is how the leaderboard counts",
            "{format: swe-bench, outputs: '{system}.json', missing: drop}",
            {
                "all.txt": "x__y-1\nx__y-2\nx__y-3\nx__y-4\n",
                **{
                    f"{s}.json": json.dumps({"resolved": [f"x__y-{k}", "x__y-3", "x__y-4"], "no_generation": []})
                    for k, s in ((1, "a"), (2, "b"))
                },
            },
            {"test_set": "{format: swe-bench, outputs: '{system}.json', <0> all.txt, <1>}"},
        ),
    ],
}
"""Followed so too, but said again: a reader sees the file, and not what the study makes of it."""

AGREEMENTS = {
    "study/agreement": [
        Case(
            "add `documents: FILE`, a table or a file with one name per line, or name a column, `columns: {document: …}`",
            "{format: labels, gold: gold.csv, outputs: '{system}.out'}",
            {"gold.csv": "n\nv\n", "a.out": "n\nn\n", "b.out": "v\nv\n", "docs.txt": "d1\nd2\n"},
            {"test_set": "{format: labels, gold: gold.csv, outputs: '{system}.out', <0>}"},
            metric="accuracy",
            more="resampling: {unit: document}\n",
            fill={"FILE": "docs.txt"},
        ),
        Case(
            "add `training:`, or drop the key", LABELLED % ", predicted: true", KEPT, {"test_set": LABELLED % ""}, metric="accuracy"
        ),
        Case(
            "give its `outputs:`, or drop the key",
            PREDICTED % "",
            {**TRAINED, "b.csv": TRAINED["a.csv"].replace(",a", ",b")},
            {"test_set": PREDICTED % ", <0> {x: a.csv, y: b.csv}"},
            metric="accuracy",
            more=GOOD,
        ),
    ],
}
"""Helps that the source has as parts of a tuple."""

TOLD = {
    "cli/answers": [
        Typed(
            "--margin {}: a metric and points above 0, such as bleu=0.3",
            "gate three.yaml --baseline a --margin mean",
            "gate three.yaml --baseline a --margin <0>",
            "such as (.*)",
            (("bleu", "mean"),),
        ),
    ],
    "cli/compare": [
        Typed(
            "`--json` takes no file; `--json={}` writes the document to it",
            "compare a.csv b.csv --json out.json",
            "compare a.csv b.csv -b 100 <0>",
            "; `([^`]+)`",
        ),
    ],
    "cli/gate": [
        Typed(
            "--baseline-window chooses baselines and candidate itself: no --baseline, --candidate, --all-pairs",
            "gate three.yaml --baseline-window 1 --baseline a",
            "gate three.yaml --baseline-window 1",
        ),
        Typed(
            "--confirm {} asks for {} builds in succession that are worse than the same earlier one, which the window of the last "
            "of them must still hold: --baseline-window {} or more",
            "gate three.yaml --baseline-window 1 --confirm 2",
            "gate three.yaml <0> --confirm 2",
            "hold: (--baseline-window [0-9]+)",
        ),
        Typed(
            "there is no baseline: give --baseline SYSTEM, or the study `resampling: {family: against-baseline, baseline: …}`",
            "gate three.yaml",
            "gate three.yaml <0>",
            "give (--baseline SYSTEM)",
            (("SYSTEM", "a"),),
        ),
        Typed(
            "there is no baseline: give --baseline SYSTEM, or the study `resampling: {family: against-baseline, baseline: …}`",
            "gate three.yaml",
            "gate three.yaml --set resampling.family=against-baseline --set resampling.baseline=a",
        ),
    ],
    "cli/planning": [
        *(
            Typed("say what you expect: give --helped and --hurt, --accuracy or --gain", "power", f"power {ITEMS} <0> {then}", take)
            for take, then in (("give (--helped)", "7 --hurt 2"), ("(--accuracy)", "71 69"), ("or (--gain)", "2"))
        ),
        Typed(
            "give --items with {}, the number of items",
            "power --helped 7 --hurt 2",
            "power <0> 100 --helped 7 --hurt 2",
            "(--items)",
        ),
        Typed("--items {} must be between 1 and {}", "power --items 1e9 --gain 2", "power --items 1000 --gain 2"),
        Typed(
            "--hurt-percent belongs to --gain: a share of items that the better system is expected to hurt",
            f"power {ITEMS} --helped 7 --hurt 2 --hurt-percent 5",
            f"power {ITEMS} <0> 2 --hurt-percent 5",
            "belongs to (--gain)",
        ),
        Typed(
            "--helped and --hurt are given together; either may be 0",
            f"power {ITEMS} --helped 7",
            f"power {ITEMS} --helped 7 --hurt 0",
        ),
        Typed("--alpha {} must be between 0 and 1", f"power {ITEMS} --gain 2 --alpha 5", f"power {ITEMS} --gain 2 --alpha 0.5"),
        Typed("--gain {} must be a number other than 0", f"expect --gain 0 {ITEMS}", f"expect --gain 2 {ITEMS}"),
        Typed(
            "--gain {} is more than there is: metrics of the atlas go from 0 to {}",
            f"expect --gain 101 {ITEMS}",
            f"expect --gain <0> {ITEMS}",
            "from 0 to ([0-9]+)",
        ),
        Typed(
            "two accuracies are needed, the better one first, `--accuracy 71.2 69.8`; after one stands {}",
            f"power --accuracy 71.2 {ITEMS}",
            f"power {ITEMS} <0>",
        ),
    ],
    "power_analysis/answers": [
        Typed(
            "accuracies are percentages: write {}; where both are at most 1 %, give --helped and --hurt",
            f"power {ITEMS} --accuracy 0.71 0.69",
            f"power {ITEMS} --accuracy <0>",
            "write ([0-9. ]+);",
        ),
        Typed(
            "accuracies are percentages: write {}; where both are at most 1 %, give --helped and --hurt",
            f"power {ITEMS} --accuracy 1 0.5",
            f"power {ITEMS} <0> 1 --hurt 0",
            "give (--helped)",
        ),
    ],
    "cli/reanalyse": [
        Typed(
            "--slot {}: letters, digits and . _ + - only, and it begins with a letter or digit",
            "reanalyse three.yaml --slot ../x",
            "reanalyse three.yaml --slot x",
        ),
        Typed(
            "--candidate says what is compared with --baseline SYSTEM, which is missing",
            "reanalyse three.yaml --slot x --candidate b",
            "reanalyse three.yaml --slot x --candidate b <0>",
            "(--baseline SYSTEM)",
            (("SYSTEM", "a"),),
        ),
    ],
    "store/garbage": [
        Typed("there is no such folder of runs; name it with --runs", "gc --runs nowhere", "gc --dry-run <0> .", "with (--runs)"),
    ],
}
"""Followed as those of `COMMANDS`, wherever in what is printed they stand."""
