"""What readers of the files of tools advise."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from support.following_advice import Case

DECIDE = "say what a missing score counts as: leave the item out and set `missing:`, or write a number"


def lines(*values: Mapping[str, Any]) -> str:
    """Return a file of an object a line."""
    return "".join(json.dumps(value) + "\n" for value in values)


def sample(number: int, **more: Any) -> dict[str, Any]:
    """Return a row of lm-eval."""
    asked = {"doc_id": number, "doc": {"q": number}, "target": "x", "arguments": {"a": {"arg_0": f"q{number}"}}, "resps": [["x"]]}
    return {**asked, "filtered_resps": ["x"], "filter": "none", "metrics": ["acc"], "acc": float(number % 2), **more}


def judged(number: int, preference: Any = 1.5, model: str = "m") -> dict[str, Any]:
    """Return a row of AlpacaEval."""
    asked = {"dataset": "d", "instruction": f"i{number}", "output_1": "o", "generator_1": "plain"}
    return {**asked, "output_2": "p", "generator_2": model, "annotator": "judge", "preference": preference}


def log(status: str = "success", **scores: str) -> str:
    """Return a log of Inspect."""
    samples = [
        {"id": k, "epoch": 1, "input": f"q{k}", "target": "x", "scores": {name: {"value": value} for name, value in scores.items()}}
        for k in (1, 2, 3)
    ]
    head = {"task": "quiz", "model": "m", "dataset": {"sample_ids": [1, 2, 3]}, "config": {"epochs": 1}}
    return json.dumps({"version": 2, "status": status, "eval": head, "results": {"scores": []}, "samples": samples})


def stat(split: str = "test", value: int = 1) -> str:
    """Return statistics of HELM."""
    return json.dumps(
        [
            {
                "instance_id": f"id{k}",
                "train_trial_index": 0,
                "stats": [{"name": {"name": "em", "split": split}, "count": 1, "sum": value, "mean": 1.0 * value}],
            }
            for k in (1, 2)
        ]
    )


def line(number: int, **more: Any) -> dict[str, Any]:
    """Return an object of a file of our own form."""
    return {"id": f"i{number}", "score": number, **more}


LM = "{format: {name: lm-eval, metric: acc}, outputs: '{system}.jsonl'}"
MADE = "{format: {name: json-lines, item: id, score: score}, outputs: '{system}.jsonl'}"
GOOD = lines(line(1), line(2))
MQM = "system\tdoc\tseg_id\trater\tcategory\tseverity\n" + "".join(
    f"{system}\td{k}\t{k}\tann\tFluency\t{grade}\n" for system, grade in (("a", "Major"), ("b", "Minor")) for k in (1, 2)
)
MTME = "a 0.5\na 0.25\nb 0.125\nb 0.5\n"
STM = "s A ann 0.50 2.00 <o> so you saw it\ns A ann 2.00 3.50 <o> nobody came\n"
CTM = "s A 0.60 0.30 so\ns A 2.60 0.20 nobody\n"
CALLS = "{format: ctm, gold: gold.stm, outputs: '{system}.ctm'}"
TREC = "{format: trec, gold: gold.txt, outputs: '{system}.out'}"
SWE = json.dumps({"resolved_ids": ["x__y-1"], "unresolved_ids": ["x__y-2", "x__y-3"], "schema_version": 2})

TOOL_FILES = {
    "items/readers/lm_eval": [
        Case(
            "log samples: `lm_eval … --log_samples`",
            LM,
            {"a.jsonl": "\n", "b.jsonl": lines(sample(1), sample(2))},
            {"a.jsonl": lines(sample(1), sample(2))},
        ),
        Case(
            "name one in the study: `format: {name: lm-eval, filter: {}}`",
            LM,
            {
                name: lines(*(sample(k, filter=f) for k in (1, 2) for f in ("strict", "flexible")))
                for name in ("a.jsonl", "b.jsonl")
            },
            {"test_set": "{<0>, outputs: '{system}.jsonl'}"},
        ),
        Case(
            "name one: `filter: {}`",
            "{format: {name: lm-eval, filter: stirct}, outputs: '{system}.jsonl'}",
            {name: lines(*(sample(k, filter="strict") for k in (1, 2))) for name in ("a.jsonl", "b.jsonl")},
            {"test_set": "{format: {name: lm-eval, <0>}, outputs: '{system}.jsonl'}"},
        ),
        Case(
            "leave `filter` out",
            "{format: {name: lm-eval, filter: strict}, outputs: '{system}.jsonl'}",
            {name: lines(sample(1), sample(2)).replace('"filter": "none", ', "") for name in ("a.jsonl", "b.jsonl")},
            {"test_set": "{format: lm-eval, outputs: '{system}.jsonl'}"},
        ),
    ],
    "items/readers/_lm_eval": [
        Case(
            "keep one row for each document and filter; rows of several filters that are not named cannot be distinguished",
            LM,
            {"a.jsonl": lines(sample(1), sample(2), sample(2, acc=1.0)), "b.jsonl": lines(sample(1), sample(2))},
            {"a.jsonl": lines(sample(1), sample(2))},
        ),
    ],
    "items/readers/helm": [
        Case(
            "name both: `format: {name: helm, split: …, perturbation: …}`",
            "{format: helm, outputs: '{system}/per_instance_stats.json'}",
            {"a/per_instance_stats.json": stat("valid"), "b/per_instance_stats.json": stat("valid", 0)},
            {"test_set": "{<0>, outputs: '{system}/per_instance_stats.json'}"},
            fill={"split: …": "split: valid", "perturbation: …": "perturbation: none"},
        ),
    ],
    "items/readers/inspect_logs": [
        Case(
            "name a scorer: `format: {name: inspect, scorer: {}}`",
            "{format: inspect, outputs: '{system}.json'}",
            {"a.json": log(match="C", judge="I"), "b.json": log(match="I", judge="I")},
            {"test_set": "{<0>, outputs: '{system}.json'}"},
        ),
        Case(
            "run it to its end (`inspect eval-retry`), or say `format: {name: inspect, incomplete: true}`",
            "{format: inspect, outputs: '{system}.json'}",
            {"a.json": log("cancelled", match="C"), "b.json": log(match="I")},
            {"test_set": "{<1>, outputs: '{system}.json'}"},
        ),
    ],
    "items/readers/_scored": [
        Case(
            "name a {} that is a number: `{}: …`",
            "{format: {name: inspect, scorer: match}, outputs: '{system}.json'}",
            {"a.json": log(match="perhaps", judge="I"), "b.json": log(match="maybe", judge="I")},
            {"test_set": "{format: {name: inspect, scorer: judge}, outputs: '{system}.json'}"},
        ),
        Case(
            DECIDE,
            "{format: inspect, outputs: '{system}.json'}",
            {"a.json": log(match="C").replace('"C"', '"perhaps"', 1), "b.json": log(match="I")},
            {"a.json": log(match="C")},
        ),
    ],
    "items/readers/_records": [
        Case(
            "name one: `format: {name: …, {}: …}`",
            "{format: helm, outputs: '{system}/per_instance_stats.json'}",
            {f"{name}/per_instance_stats.json": stat()[:-1] + ", " + stat().replace('"em"', '"f1"')[1:] for name in "ab"},
            {"test_set": "{<0>, outputs: '{system}/per_instance_stats.json'}"},
            fill={"name: …": "name: helm", "metric: …": "metric: em"},
        ),
        Case(
            "name the file once, without a placeholder",
            "{format: {name: json-lines, item: id, score: score, system: who}, outputs: '{system}.jsonl'}",
            {"x.jsonl": lines(*(line(k, who=who) for k in (1, 2) for who in "ab"))},
            {"test_set": "{format: {name: json-lines, item: id, score: score, system: who}, outputs: x.jsonl}"},
        ),
    ],
    "items/readers/_json": [
        Case(
            "correct the keys in `format:` of the test set; write a key with a dot in it as a list of keys",
            "{format: {name: json-lines, item: id, score: 'f.1'}, outputs: '{system}.jsonl'}",
            {name: lines(*({"id": k, "f.1": 2} for k in (1, 2))) for name in ("a.jsonl", "b.jsonl")},
            {"test_set": "{format: {name: json-lines, item: id, score: ['f.1']}, outputs: '{system}.jsonl'}"},
        ),
        Case("copy or make the file again", MADE, {"a.jsonl": GOOD[:-5] + "\n", "b.jsonl": GOOD}, {"a.jsonl": GOOD}),
        Case("keep one of the two", MADE, {"a.jsonl": GOOD.replace("{", '{"id": 1, ', 1), "b.jsonl": GOOD}, {"a.jsonl": GOOD}),
        Case(
            "check that the file is what its format says",
            "{format: {name: helm}, outputs: '{system}.json'}",
            {"a.json": stat().replace("[", "{}", 1)[:2], "b.json": stat()},
            {"a.json": stat()},
        ),
    ],
    "items/readers/json_lines": [
        Case(
            "add `reference:` or `gold:` to the format, or leave the file out",
            "{format: {name: json-lines, item: id, score: score}, gold: a.jsonl, outputs: '{system}.jsonl'}",
            {"a.jsonl": GOOD, "b.jsonl": GOOD},
            {"test_set": MADE},
        ),
        Case(
            "correct the place of {} in `format:`",
            "{format: {name: json-lines, item: id, score: 'x.{system}.f'}, outputs: x.jsonl}",
            {"x.jsonl": lines(*({"id": k, "x": {}, "y": {"a": {"f": 1}, "b": {"f": k}}} for k in (1, 2)))},
            {"test_set": "{format: {name: json-lines, item: id, score: 'y.{system}.f'}, outputs: x.jsonl}"},
        ),
        Case("write one for each item", MADE, {"a.jsonl": "\n", "b.jsonl": GOOD}, {"a.jsonl": GOOD}),
        Case(DECIDE, MADE, {"a.jsonl": lines(line(1), line(2, score=None)), "b.jsonl": GOOD}, {"a.jsonl": GOOD}),
        Case(
            "keep one line for each item",
            MADE,
            {"a.jsonl": lines(line(1), line(2), line(2)), "b.jsonl": GOOD},
            {"a.jsonl": GOOD},
        ),
        Case(
            "give every item the same values",
            MADE.replace("score: score", "score: scores"),
            {
                "a.jsonl": lines({"id": 1, "scores": {"x": 1, "y": 2}}, {"id": 2, "scores": {"x": 1}}),
                "b.jsonl": lines({"id": 1, "scores": {"x": 1, "y": 2}}, {"id": 2, "scores": {"x": 1, "y": 1}}),
            },
            {"a.jsonl": lines({"id": 1, "scores": {"x": 1, "y": 2}}, {"id": 2, "scores": {"x": 1, "y": 3}})},
            metric="{name: mean, column: x}",
        ),
        Case(
            "write {} into `outputs:`, or into the places of `format:`, or say `system: KEY`",
            "{format: {name: json-lines, item: id, score: score}, outputs: x.jsonl}",
            {"x.jsonl": lines(*(line(k, who=who) for k in (1, 2) for who in "ab"))},
            {"test_set": "{format: {name: json-lines, item: id, score: score, <2>}, outputs: x.jsonl}"},
            fill={"KEY": "who"},
        ),
    ],
    "items/readers/alpaca_eval": [
        Case(
            "a preference is a number from 1, the first output, to 2, the second; 0 and 1.5 are draws, null is none",
            "{format: alpaca-eval, outputs: '{system}.json'}",
            {"a.json": json.dumps([judged(1, 7), judged(2)]), "b.json": json.dumps([judged(1), judged(2, 2)])},
            {"a.json": json.dumps([judged(1, 0), judged(2)])},
            metric="win-rate",
        ),
        Case(
            "give the file without {system}: systems are then its models",
            "{format: alpaca-eval, outputs: '{system}.json'}",
            {"x.json": json.dumps([judged(k, 1.5, model) for k in (1, 2) for model in "mn"])},
            {"test_set": "{format: alpaca-eval, outputs: x.json}"},
            metric="win-rate",
        ),
    ],
    "items/readers/mqm": [
        Case(
            "the first line names the columns: system, doc, seg_id, rater, category, severity, in any order, between tabs",
            "{format: mqm, outputs: x.tsv}",
            {"x.tsv": MQM.replace("severity", "grade")},
            {"x.tsv": MQM},
            metric="{name: mean, column: score, higher_is_better: false}",
        ),
        Case(
            "number segments over all documents",
            "{format: mqm, outputs: x.tsv}",
            {"x.tsv": MQM.replace("d2\t2", "d2\t1")},
            {"x.tsv": MQM},
            metric="{name: mean, column: score, higher_is_better: false}",
        ),
        Case(
            "give it one: `format: {name: mqm, weights: {{}: 1}}`, or correct the line",
            "{format: mqm, outputs: x.tsv}",
            {"x.tsv": MQM.replace("Minor", "Trivial")},
            {"test_set": "{<0>, outputs: x.tsv}"},
            metric="{name: mean, column: score, higher_is_better: false}",
        ),
    ],
    "items/readers/mt_metrics_eval": [
        Case(
            "a line is SYSTEM SCORE; those of a system stand in the order of the segments, `None` where there is no score",
            "{format: mt-metrics-eval, outputs: x.seg.score, missing: drop}",
            {"x.seg.score": MTME.replace("b 0.5", "b\na 1\nb 1").replace("b 0.125", "a 1\nb 0.125").replace("\na 1\nb 1", "\nb 1")},
            {"x.seg.score": MTME.replace("b 0.5", "b <0>\nb 1").replace("b 0.125", "a 1\nb 0.125")},
        ),
        Case(
            "{}; with three fields it may be a file of documents or domains: take the one of segments",
            "{format: mt-metrics-eval, outputs: x.doc.score}",
            {"x.doc.score": MTME.replace(" ", " news "), "x.seg.score": MTME},
            {"test_set": "{format: mt-metrics-eval, outputs: x.seg.score}"},
        ),
        Case(
            "put all lines of a system in one block, in the order of the segments",
            "{format: mt-metrics-eval, outputs: x.seg.score}",
            {"x.seg.score": "a 0.5\nb 0.125\na 0.25\nb 0.5\n"},
            {"x.seg.score": MTME},
        ),
        Case(
            "take the documents of the same test set and language pair, or say `format: {name: mt-metrics-eval, documents: none}`",
            "{format: mt-metrics-eval, outputs: metric-scores/en-de/x.seg.score}",
            {"metric-scores/en-de/x.seg.score": MTME, "documents/en-de.docs": "news d1\n"},
            {"test_set": "{<0>, outputs: metric-scores/en-de/x.seg.score}"},
        ),
        Case(
            "write the domain and the name of the document of each segment, with a blank between them",
            "{format: mt-metrics-eval, outputs: metric-scores/en-de/x.seg.score}",
            {"metric-scores/en-de/x.seg.score": MTME, "documents/en-de.docs": "news\nd1\n"},
            {"documents/en-de.docs": "news d1\nnews d2\n"},
        ),
    ],
    "items/readers/ctm": [
        Case("a line is {}", CALLS, {"gold.stm": STM, "a.ctm": CTM + "s A 3.0\n", "b.ctm": CTM}, {"a.ctm": CTM}, metric="wer"),
        Case(
            "recordings and channels must have the same names in both files",
            CALLS,
            {"gold.stm": STM, "a.ctm": CTM.replace("s A", "s 1"), "b.ctm": CTM},
            {"a.ctm": CTM},
            metric="wer",
        ),
        Case(
            "two speakers need two channels",
            CALLS,
            {"gold.stm": STM + "s A ben 0.50 2.00 <o> hm\n", "a.ctm": CTM, "b.ctm": CTM},
            {
                "gold.stm": STM + "s B ben 0.50 2.00 <o> hm\n",
                "a.ctm": CTM + "s B 0.60 0.2 hm\n",
                "b.ctm": CTM + "s B 0.60 0.2 hm\n",
            },
            metric="wer",
        ),
        Case(
            "an output has one reading: keep one of them",
            CALLS,
            {"gold.stm": STM, "a.ctm": CTM + "s A * * <ALT_BEGIN>\n", "b.ctm": CTM},
            {"a.ctm": CTM},
            metric="wer",
        ),
        Case(
            "alternatives are `{ one / two words / @ }`, and @ is not a word",
            CALLS,
            {"gold.stm": STM.replace("saw", "{ saw / see"), "a.ctm": CTM, "b.ctm": CTM},
            {"gold.stm": STM.replace("saw", "<0>")},
            metric="wer",
        ),
    ],
    "items/readers/swe_bench": [
        Case(
            "leave it out",
            "{format: swe-bench, references: [one.txt, two.txt], outputs: '{system}.json'}",
            {"one.txt": "x__y-1\nx__y-2\nx__y-3\n", "two.txt": "x__y-1\n", "a.json": SWE, "b.json": SWE},
            {"test_set": "{format: swe-bench, references: [one.txt], outputs: '{system}.json'}"},
        ),
        Case(
            "the file is of two runs: make it again, or take the name out of one of the lists",
            "{format: swe-bench, outputs: '{system}.json'}",
            {"a.json": SWE.replace("y-2", "y-1", 1), "b.json": SWE},
            {"a.json": SWE},
        ),
        Case(
            "copy or make the file again",
            "{format: swe-bench, outputs: '{system}.json'}",
            {"a.json": SWE.replace("unresolved_ids", "resolved_ids"), "b.json": SWE},
            {"a.json": SWE},
        ),
        Case(
            "keep one of them",
            "{format: {name: swe-bench, metric: cost}, outputs: '{system}.json'}",
            {
                "a.json": '{"x__y-1": {"cost": 1}, "x__y-1": {"cost": 2}, "x__y-2": {"cost": 2}}',
                "b.json": '{"x__y-1": {"cost": 1}, "x__y-2": {"cost": 2}}',
            },
            {"a.json": '{"x__y-1": {"cost": 1}, "x__y-2": {"cost": 2}}'},
        ),
    ],
    "items/readers/bitext": [
        Case(
            "give a test set of word alignments the format links",
            "{format: bitext, outputs: '{system}.out'}",
            {"a.out": "0-0\n0-0\n", "b.out": "0-0\n1-1\n", "gold.txt": "0-0\n0-0\n"},
            {"test_set": "{format: links, gold: gold.txt, outputs: '{system}.out'}"},
            metric="aer",
        ),
    ],
    "items/compare": [
        Case(
            "take outputs of one version of the test set, made with the same prompts; `agree:` of a format, where it has the "
            "option, says in what items must be the same",
            LM,
            {"a.jsonl": lines(sample(1), sample(2)), "b.jsonl": lines(sample(1), sample(2, arguments={"a": {"arg_0": "another"}}))},
            {"test_set": "{format: {name: lm-eval, metric: acc, agree: [target]}, outputs: '{system}.jsonl'}"},
        ),
    ],
    "items/readers/trec": [
        Case(
            "a line is `{}`; this looks like judgements, which are the `gold:`",
            "{format: trec, gold: b.out, outputs: '{system}.out'}",
            {"gold.txt": "1 0 d1 1\n2 0 d1 1\n", "a.out": "1 0 d1 1\n2 0 d1 1\n", "b.out": "1 0 d1 1\n2 0 d1 1\n"},
            {"a.out": "1 Q0 d1 1 9 a\n2 Q0 d1 1 9 a\n", "b.out": "1 Q0 d2 1 9 b\n2 Q0 d1 1 9 b\n"} | {"test_set": TREC},
            metric="ndcg",
        ),
        Case(
            "a line is `{}`; this looks like a run, which is one of the `outputs:`",
            "{format: trec, gold: a.out, outputs: '{system}.out'}",
            {
                "gold.txt": "1 0 d1 1\n2 0 d1 1\n",
                "a.out": "1 Q0 d1 1 9 a\n2 Q0 d1 1 9 a\n",
                "b.out": "1 Q0 d2 1 9 b\n2 Q0 d1 1 9 b\n",
            },
            {"test_set": TREC},
            metric="ndcg",
        ),
        Case(
            "correct the line",
            "{format: trec, gold: gold.txt, outputs: '{system}.out'}",
            {
                "gold.txt": "1 0 d1 1\n2 0 d1 1\n",
                "a.out": "1 Q0 d1 1 inf a\n2 Q0 d1 1 9 a\n",
                "b.out": "1 Q0 d2 1 9 b\n2 Q0 d1 1 9 b\n",
            },
            {"a.out": "1 Q0 d1 1 8 a\n2 Q0 d1 1 9 a\n"},
            metric="ndcg",
        ),
    ],
    "items/readers/labels": [
        Case(
            "name them: `columns: {system: …, label: …}`",
            "{format: {name: labels, layout: letters}, gold: gold.txt, outputs: x.tsv}",
            {"gold.txt": "A\nB\n", "x.tsv": "who\twhat\tnote\na\tAB\tx\nb\tAA\ty\n"},
            {"test_set": "{format: {name: labels, layout: letters}, gold: gold.txt, outputs: x.tsv, <0>}"},
            metric="accuracy",
            fill={"system: …": "system: who", "label: …": "label: what"},
        ),
        Case(
            "write one character for each item of the gold, in its order, and a sign of its own where there is no answer",
            "{format: {name: labels, layout: letters}, gold: gold.txt, outputs: x.tsv}",
            {"gold.txt": "A\nB\n", "x.tsv": "who\twhat\na\tA\nb\tAA\n"},
            {"x.tsv": "who\twhat\na\tA-\nb\tAA\n"},
            metric="accuracy",
        ),
        Case(
            "leave it out",
            "{format: {name: labels, layout: letters}, gold: gold.txt, outputs: x.tsv}",
            {"gold.txt": "A\nB\n", "x.tsv": "who\twhat\na\tAB\nb\tAA\nc\t\n"},
            {"x.tsv": "who\twhat\na\tAB\nb\tAA\n"},
            metric="accuracy",
        ),
    ],
    "items/readers/links": [
        Case(
            '`columns: {base: "1"}`',
            "{format: links, gold: gold.txt, outputs: '{system}.out', columns: {base: '2'}}",
            {"a.out": "1-1\n1-1\n", "b.out": "1-1\n2-2\n", "gold.txt": "1-1\n1-1\n"},
            {"test_set": "{format: links, gold: gold.txt, outputs: '{system}.out', <0>}"},
            metric="aer",
        ),
    ],
    "items/readers/_join": [
        Case(
            'write the place of the name into the path, `outputs: "systems/{system}{}"`, or map names to paths',
            "{format: trn, gold: gold.txt, outputs: systems/a.trn}",
            {"gold.txt": "a b (x_1)\nc (x_2)\n", **{f"systems/{name}.trn": f"a {name} (x_1)\nc (x_2)\n" for name in "ab"}},
            {"test_set": "{format: trn, gold: gold.txt, <0>}"},
            metric="wer",
        ),
    ],
}
