"""What is advised about files, tables of systems, limits and profiles."""

from __future__ import annotations

import gzip

from support.advice_of_items import GROUPED, SCORES, TABLES, TEXT, TEXTS, scores, text
from support.advice_of_tool_files import stat
from support.following_advice import Case

RELATED = "systems: {table: systems.csv, relation: team}\n"
RELATION = "system,team\na,x\nb,y\n"


def systems(says: str, table: str | bytes, mended: str, more: str = RELATED, right: str | None = None) -> Case:
    """Return a case of a table of systems."""
    mend = {"systems.csv": mended} if right is None else {"more": right}
    return Case(says, f"{{{SCORES}, outputs: '[ab].{{system}}'}}".replace("'{system}.csv', outputs: ", ""), {}, mend)._replace(
        test_set="{format: scores, outputs: {a: a.csv, b: b.csv}}", files={**TABLES, "systems.csv": table}, more=more
    )


HELM = "{format: helm, outputs: {m: all.json, %s: one.json}}"
TRIALS = stat()[:-1] + ", " + stat().replace('_index": 0', '_index": 1')[1:]
GROUPS = "{format: scores, outputs: one.csv%s}\n  u: {format: scores, outputs: two.csv, columns: {A: part}}"
ONE = "item,A,B,C\n1,0,3,2\n2,1,2,4\n"

FILES = {
    "survey/coordinates": [
        systems("separate them by commas or tabs", RELATION.replace(",", ";"), RELATION),
        systems("name its first column system", RELATION.replace("system", "name"), RELATION),
        systems("give systems.table a column {}, or drop systems.relation", RELATION.replace("team", "house"), RELATION),
        systems(
            "give systems.table a column {}, or drop systems.relation",
            RELATION.replace("team", "house"),
            "",
            right="systems: {table: systems.csv}\n",
        ),
        systems("correct the path", RELATION, "", "systems: {table: system.csv}\n", right="systems: {table: systems.csv}\n"),
        systems("save it as UTF-8", RELATION.replace("x", "ä").encode("latin-1"), RELATION),
        systems("an empty field stands between two separators", RELATION + "b\n", RELATION),
        systems("drop one row", RELATION + "b,z\n", RELATION),
    ],
    "survey/checks": [
        scores(
            "use `missing: drop`, or give the missing items the worst score in the file",
            {"a.csv": TABLES["a.csv"][:-4]},
            {"test_set": f"{{{SCORES}, <0>}}"},
            own=", missing: zero",
        )._replace(metric="{name: mean, higher_is_better: false}"),
        text(
            "write `method: auto`, which counts replicates where there is no exact law",
            {},
            {"more": "resampling: {<0>}\n"},
            more="resampling: {method: exact}\n",
        ),
        Case(
            "give one of them another name in `outputs:`",
            HELM % "m/0",
            {"all.json": TRIALS, "one.json": stat()},
            {"test_set": HELM % "n"},
        ),
        *(
            Case(
                "rename the column, or say that it is not a system there: `columns: {{}: {}}`",
                GROUPS % "",
                {"one.csv": ONE, "two.csv": "item,part,B,C,A\n1,x,1,2,3\n2,y,3,2,1\n"},
                mend,
                more="resampling: {unit: A}\n",
            )
            for mend in (
                {
                    "one.csv": ONE.replace("A", "Z"),
                    "test_set": (GROUPS % "").replace("A:", "Z:"),
                    "more": "resampling: {unit: Z}\n",
                },
                {"test_set": GROUPS % ", <0>"},
            )
        ),
    ],
    "items/readers/_streams": [
        text("paths are relative to the study file", {}, {"test_set": f"{{{TEXT}}}"})._replace(
            test_set=f"{{{TEXT}}}".replace("ref.txt", "'*.ref'")
        ),
        text("did you mean {}? {}", {}, {"test_set": f"{{{TEXT}}}"})._replace(
            test_set=f"{{{TEXT}}}".replace("ref.txt", "reff.txt")
        ),
        text("there are {}; {}", {}, {"test_set": f"{{{TEXT}}}"})._replace(test_set=f"{{{TEXT}}}".replace("ref.txt", "gold.en")),
        text("correct the path", {}, {"test_set": f"{{{TEXT}}}"})._replace(test_set=f"{{{TEXT}}}".replace("ref.txt", "out")),
        text(
            "copy or make the file again",
            {"ref.txt": gzip.compress(TEXTS["ref.txt"].encode())[:-9]},  # type: ignore[dict-item]
            {"ref.txt": TEXTS["ref.txt"]},
        ),
    ],
    "items/discover": [
        Case(
            "did you mean {}? ({} files match)",
            "{format: scores, outputs: '{system}.csv.gz'}",
            TABLES,
            {"test_set": "{format: scores, outputs: '{system}.csv'}"},
        ),
        Case(
            "{} folder{}: name the file in each, {}/…",
            "{format: scores, outputs: 'runs/{system}'}",
            {f"runs/{name}/s.csv": TABLES[f"{name}.csv"] for name in "ab"},
            {"test_set": "{format: scores, outputs: 'runs/{system}/s.csv'}"},
        ),
    ],
    "metrics/_columns": [
        Case(
            "did you mean '{}'?",
            "{format: scores, outputs: x.csv}",
            {"x.csv": "item,system,cost,time\n1,a,1,2\n1,b,2,3\n2,a,3,3\n2,b,1,1\n"},
            {"metric": "{name: mean, column: cost}"},
            metric="{name: mean, column: csot}",
        ),
    ],
    "metrics/classification": [
        Case(
            "say what is counted: `{name: {}, positive: LABEL}` for one label, `average: micro` or `macro` with `labels: [...]` "
            "for several",
            "{format: labels, gold: gold.csv, outputs: '{system}.csv'}",
            {"gold.csv": "id,label\n1,n\n2,v\n3,x\n", **{f"{s}.csv": f"id,label\n1,n\n2,{s}\n3,n\n" for s in "nv"}},
            {"metric": "<0>"},
            metric="f1",
            fill={"LABEL": "n"},
        ),
        Case(
            "correct `{}:` of the metric",
            "{format: labels, gold: gold.csv, outputs: '{system}.csv'}",
            {"gold.csv": "id,label\n1,n\n2,v\n3,x\n", **{f"{s}.csv": f"id,label\n1,n\n2,{s}\n3,n\n" for s in "nv"}},
            {"metric": "{name: f1, positive: n}"},
            metric="{name: f1, positive: m}",
        ),
    ],
    "metrics/chunks": [
        Case(
            "correct `types:` of the metric",
            "{format: columns, gold: gold.txt, outputs: '{system}.out'}",
            {"gold.txt": "a DT B-NP\n\nb NN O\n", "a.out": "a DT B-NP\n\nb NN O\n", "b.out": "a DT O\n\nb NN O\n"},
            {"metric": "{name: chunk-f1, types: [NP]}"},
            metric="{name: chunk-f1, types: [NQ]}",
            counts=True,
        ),
    ],
    "metrics/ranking": [
        Case(
            "use `gains: linear`, or grades from 0 to 4 or so",
            "{format: trec, gold: gold.txt, outputs: '{system}.out'}",
            {
                "gold.txt": "1 0 d1 99\n2 0 d1 1\n",
                **{f"{s}.out": f"1 Q0 d{k} 1 9 {s}\n2 Q0 d1 1 9 {s}\n" for k, s in ((1, "a"), (2, "b"))},
            },
            {"metric": "{name: ndcg, <0>}"},
            metric="{name: ndcg, gains: exponential}",
            counts=True,
        ),
    ],
    "metrics/win_rate": [
        scores(
            "a win is 1, a loss 0, a tie .5; percent are divided by 100",
            {"a.csv": "item,score\n1,50\n2,0\n3,100\n", "b.csv": "item,score\n1,1\n2,0\n3,.5\n"},
            {"a.csv": "item,score\n1,.5\n2,0\n3,1\n"},
        )._replace(metric="{name: win-rate, column: score}", counts=True),
    ],
    "metrics/ratio": [
        Case(
            "a ratio of sums is defined for denominators that are not negative",
            "{format: scores, outputs: '{system}.csv'}",
            {name: f"item,e,n\n1,1,{n}\n2,1,3\n" for name, n in (("a.csv", -2), ("b.csv", 2))},
            {"a.csv": "item,e,n\n1,1,2\n2,1,3\n"},
            metric="{name: ratio, numerator: e, denominator: n}",
            counts=True,
        ),
    ],
    "metrics/aer": [
        Case(
            says,
            "{format: links, references: [bi.txt], gold: gold.txt, outputs: '{system}.out'}",
            {"bi.txt": "a b ||| c d\ne ||| f\n", "gold.txt": "0-0\n0-0\n", "a.out": good, "b.out": stray},
            mend,
            metric="aer",
            counts=True,
        )
        for says, good, stray, mend in (
            (
                "check that the links are of this bitext, and which word has the number 0 or 1",
                "0-0\n0-0\n",
                "0-0 7-7\n0-0\n",
                {"b.out": "0-0 1-1\n0-0\n"},
            ),
            (
                'all links of the file fit if the first word has the number 1: `columns: {base: "1"}`',
                "1-1 2-2\n1-1\n",
                "1-1\n1-1\n",
                {
                    "gold.txt": "1-1\n1-1\n",
                    "test_set": "{format: links, references: [bi.txt], gold: gold.txt, outputs: '{system}.out', <0>}",
                },
            ),
        )
    ],
    "plugins": [
        scores("name each separately: {}`[{}]`", {}, {"metric": "mean"})._replace(
            test_set=f"{{{TEXT}}}", files=TEXTS, metric="'bleu,chrf'", mend={"metric": "bleu, chrf"}
        ),
    ],
    "survey/warnings": [
        Case(
            "take larger test sizes, or larger strata than those of `{}`",
            "{format: scores, outputs: x.csv}",
            GROUPED,
            {"more": "resampling: {unit: item, strata: kind, test_sizes: [4, full]}\n"},
            more="resampling: {unit: item, strata: kind, test_sizes: [2, full]}\n",
        ),
    ],
    "items/recognise": [
        Case(
            "name it: `format: …`; there are {}",
            "{format: auto, gold: gold.txt, outputs: '{system}.out'}",
            {"gold.txt": "a b\nc d\n", "a.out": "a b\nc d\n", "b.out": "a b\nc e\n"},
            {"test_set": "{<0>, gold: gold.txt, outputs: '{system}.out'}"},
            metric="accuracy",
            fill={"…": "labels"},
        ),
    ],
}
