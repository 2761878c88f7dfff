"""What is advised about items, documents, units and where outputs are."""

from __future__ import annotations

from support.following_advice import Case

TEXTS = {"ref.txt": "a b c\nd e f\ng h i\n", "out/a.txt": "a b c\nd e x\ng h i\n", "out/b.txt": "a b c\nd e f\ny h i\n"}
TEXT = "format: text, references: [ref.txt], outputs: 'out/{system}.txt'"
JSON_RUN = '{{"id": 1, "score": {0}}}\n{{"id": 2, "score": 1}}\n{{"id": 3, "score": 2}}\n'
TABLES = {"a.csv": "item,score\n1,1\n2,2\n3,2\n", "b.csv": "item,score\n1,3\n2,2\n3,1\n"}
SCORES = "format: scores, outputs: '{system}.csv'"
MANY = "".join(f"w{k} x{k} y{k}\n" for k in range(40))
GROUPED = {"x.csv": "item,topic,kind,a,b\n1,s,k,1,2\n2,s,l,2,2\n3,t,l,3,1\n4,t,l,3,2\n"}


def text(says: str, files: dict[str, str], mend: dict[str, str], more: str = "", own: str = "", **rest: object) -> Case:
    """Return a case of a test set of texts; ``own`` is what it says besides."""
    return Case(says, f"{{{TEXT}{own}}}", {**TEXTS, **files}, mend, metric="bleu", more=more, **rest)  # type: ignore[arg-type]


def documents(says: str, table: str, mend: dict[str, str], own: str = "", **rest: object) -> Case:
    """Return a case of a test set of texts with a table of documents."""
    return text(says, {"docs.tsv": table}, mend, own=f", documents: docs.tsv{own}", **rest)  # type: ignore[arg-type]


def scores(says: str, files: dict[str, str], mend: dict[str, str], more: str = "", own: str = "", **rest: object) -> Case:
    """Return a case of a test set of scores."""
    return Case(says, f"{{{SCORES}{own}}}", {**TABLES, **files}, mend, more=more, **rest)  # type: ignore[arg-type]


ITEMS = {
    "items/align": [
        Case(
            "give each run a file of its own: a path with {system} and {replica}",
            "{format: {name: json-lines, score: score}, outputs: '{system}.jsonl', columns: {replica: seed}}",
            {f"{name}.jsonl": JSON_RUN.format(k) for k, name in enumerate("ab")},
            {
                **{f"{name}.{run}.jsonl": JSON_RUN.format(k + run) for k, name in enumerate("ab") for run in (1, 2)},
                "test_set": "{format: {name: json-lines, score: score}, outputs: '{system}.{replica}.jsonl'}",
            },
        ),
        Case(
            "give its outputs, or leave it out by `systems.exclude`",
            "{format: scores, outputs: x.csv, missing: zero}",
            {"x.csv": "system,q1,q2,q3\na,1,2,2\nb,2,3,5\nc,,,\n"},
            {"more": "systems: {exclude: [c]}\n"},
        ),
        scores("`systems.exclude` leaves out {}: leave out fewer", {}, {"more": ""}, "systems: {exclude: [a]}\n"),
        Case(
            "see `outputs:` and `systems.exclude:` in the study",
            "{format: scores, outputs: '{system}_a.csv'}",
            {"x_a.csv": TABLES["a.csv"], "y_b.csv": TABLES["b.csv"]},
            {"test_set": "{format: scores, outputs: {x: x_a.csv, y: y_b.csv}}"},
        ),
        Case(
            "rename it",
            "{format: scores, outputs: {' ': a.csv, b: b.csv}}",
            TABLES,
            {"test_set": "{format: scores, outputs: {a: a.csv, b: b.csv}}"},
        ),
        Case(
            "leave out `strata: {}`, or take larger strata",
            "{format: scores, outputs: x.csv}",
            {"x.csv": "item,topic,a,b\n1,s,1,2\n2,t,2,2\n"},
            {"more": ""},
            more="resampling: {unit: item, strata: topic}\n",
        ),
        scores(
            "a test needs at least two units, and many more to find anything",
            {name: table[:15] for name, table in TABLES.items()},
            dict(TABLES),
        ),
    ],
    "items/choices": [
        text("let no two ranges overlap", {}, {"test_set": f"{{{TEXT}, items: '1-2, 3'}}"}, own=", items: '1-2, 2-3'"),
        text(
            "items are numbered from 1 to {}, and a range goes from the lower number to the higher",
            {},
            {"test_set": f"{{{TEXT}, items: 1-3}}"},
            own=", items: 1-9",
        ),
        Case(
            "did you mean {}",
            "{format: scores, outputs: x.csv, items: {include: {kind: ll}}}",
            GROUPED,
            {"test_set": "{format: scores, outputs: x.csv, items: {include: {kind: l}}}"},
        ),
        Case(
            "give every item a document, or draw items anyway: `unit: item`",
            "{format: scores, outputs: x.csv, columns: {document: topic}}",
            {"x.csv": GROUPED["x.csv"].replace("2,s", "2,")},
            {"more": "resampling: {<0>}\n"},
        ),
    ],
    "items/compare": [
        text(
            "set `missing: drop` to test on the first {} {}, or correct the file",
            {"out/a.txt": "q\nr\n"},
            {"test_set": f"{{{TEXT}, <0>}}"},
        ),
        scores(
            "give an item the same name in all files: {}",
            {"a.csv": "item,score\nx,1\ny,2\nz,2\n"},
            {"a.csv": TABLES["a.csv"]},
            own=", missing: drop",
        ),
        text(
            "correct the file: a {} is lost, split or joined there{}",
            {"ref.txt": MANY, "out/a.txt": MANY.replace("w4 x4 y4\n", ""), "out/b.txt": MANY},
            {"out/a.txt": MANY.replace("w4 x4 y4\n", "\n")},
        ),
        scores(
            "write identifiers in one way: '{}' or '{}' in all files",
            {"a.csv": "item,score\n1.0,1\n2.0,2\n3.0,2\n"},
            {"a.csv": TABLES["a.csv"]},
        ),
        scores(
            "set `missing: drop` or `missing: zero`, or correct the file",
            {"a.csv": TABLES["a.csv"][:-4]},
            {"test_set": f"{{{SCORES}, <0>}}"},
        ),
        scores(
            "set `missing: drop` or `missing: zero`, or correct the file",
            {"a.csv": TABLES["a.csv"][:-4]},
            {"test_set": f"{{{SCORES}, <1>}}"},
        ),
        Case(
            "give `gold:`, a file of all items, and set `missing: zero`: without it, items that no file names are left out",
            "{format: swe-bench, outputs: '{system}.json'}",
            {
                "all.txt": "x__y-1\nx__y-2\nx__y-3\n",
                "a.json": '{"resolved": ["x__y-1"], "no_generation": ["x__y-2"]}',
                "b.json": '{"resolved": ["x__y-2"], "no_generation": []}',
            },
            {"test_set": "{format: swe-bench, outputs: '{system}.json', <0> all.txt, <1>}"},
        ),
        Case(
            "set `missing: drop`, or correct the file",
            "{format: labels, gold: gold.csv, outputs: '{system}.csv'}",
            {
                "gold.csv": "id,label\n1,n\n2,v\n",
                "a.csv": "id,label\n1,n\n2,v\n3,n\n",
                "b.csv": "id,label\n1,n\n2,n\n",
            },
            {"test_set": "{format: labels, gold: gold.csv, outputs: '{system}.csv', <0>}"},
            metric="accuracy",
        ),
        text(
            "check that it is the gold of this test set",
            {"ref.txt": "a b c\nd e f\n"},
            {"ref.txt": TEXTS["ref.txt"]},
        ),
    ],
    "items/discover": [
        Case(
            'write one pattern for all systems, outputs: "{system}.{replica}.txt", or a path for each run',
            "{format: text, references: [ref.txt], outputs: {a: 'a.{replica}.txt', b: 'b.{replica}.txt'}}",
            {"ref.txt": TEXTS["ref.txt"], **{f"{name}.{k}.txt": TEXTS[f"out/{name}.txt"] for name in "ab" for k in "12"}},
            {"test_set": '{format: text, references: [ref.txt], outputs: "{system}.{replica}.txt"}'},
            metric="bleu",
        ),
        Case(
            "{system} stands for the name of a system or model, {replica} for its run or seed",
            "{format: scores, outputs: '{model}.csv'}",
            TABLES,
            {"test_set": "{format: scores, outputs: '{system}.csv'}"},
        ),
        Case(
            "name both",
            "{format: scores, outputs: '{replica}.csv'}",
            {f"{name}.{k}.csv": TABLES[f"{name}.csv"] for name in "ab" for k in "12"},
            {"test_set": "{format: scores, outputs: '{system}.{replica}.csv'}"},
        ),
        Case(
            "paths are relative to the study file; {system} stands for one part of a file's name",
            "{format: scores, outputs: 'elsewhere/{system}.csv'}",
            TABLES,
            {"test_set": "{format: scores, outputs: '{system}.csv'}"},
        ),
        Case(
            'name its files: `outputs: "{}/{}"`',
            "{format: text, references: [ref.txt], outputs: out}",
            TEXTS,
            {"test_set": "{format: text, references: [ref.txt], <0>}"},
            metric="bleu",
        ),
        Case(  # what all names have in common is no part of them; what lies beside the outputs has another ending
            'name its files: `outputs: "{}/{}"`',
            "{format: scores, outputs: out/}",
            {"out/mt.a.de.csv": TABLES["a.csv"], "out/mt.b.de.csv": TABLES["b.csv"], "out/README.md": "of May"},
            {"test_set": "{format: scores, <0>}"},
        ),
        Case(  # a folder for each system
            'name its files: `outputs: "{}/{}"`',
            "{format: scores, outputs: out}",
            {"out/a/scores.csv": TABLES["a.csv"], "out/b/scores.csv": TABLES["b.csv"], "out/b/log.txt": "it went well"},
            {"test_set": "{format: scores, <0>}"},
        ),
        Case(  # one table of all systems
            'name its files: `outputs: "{}/{}"`',
            "{format: scores, outputs: out}",
            {"out/all.csv": "item,a,b\n1,1,3\n2,2,2\n3,2,1\n"},
            {"test_set": "{format: scores, <0>}"},
        ),
        Case(
            "make the pattern narrower, or map names to paths",
            "{format: text, references: [ref.txt], outputs: '*/{system}.txt'}",
            {**TEXTS, "old/a.txt": "a b\nc\nd\n"},
            {"test_set": "{format: text, references: [ref.txt], outputs: 'out/{system}.txt'}"},
            metric="bleu",
        ),
    ],
    "items/gold": [
        Case(
            "choose by a column that groups items, `items: {include: {COLUMN: GROUP}}`, or leave the others out of the files",
            "{format: scores, outputs: x.csv, items: 1-2}",
            GROUPED,
            {"test_set": "{format: scores, outputs: x.csv, <0>}"},
            fill={"COLUMN": "kind", "GROUP": "l"},
        ),
    ],
    "items/documents": [
        Case(
            "take strata that no {} crosses, or draw smaller units: `unit: item`",
            "{format: scores, outputs: x.csv}",
            GROUPED,
            {"more": "resampling: {strata: kind, <0>}\n"},
            more="resampling: {strata: kind, unit: topic}\n",
        ),
        Case(
            "did you mean {}",
            "{format: scores, outputs: x.csv}",
            GROUPED,
            {"more": "resampling: {unit: topic}\n"},
            more="resampling: {unit: topics}\n",
        ),
        Case(
            "give it in the table that `documents:` names, or in a table of outputs",
            "{format: scores, outputs: '{system}.csv'}",
            TABLES,
            {
                "docs.tsv": "item\tauthor\n1\tx\n2\tx\n3\ty\n",
                "test_set": "{format: scores, outputs: '{system}.csv', documents: docs.tsv}",
            },
            more="resampling: {unit: author}\n",
        ),
    ],
    "items/item_table": [
        documents(
            "say which column it is: `columns: {document: {}}`; a file of one document name per line has no tab, comma or "
            "semicolon in its first line",
            "line\tdocid\n1\tx\n2\tx\n3\ty\n",
            {"test_set": f"{{{TEXT}, documents: docs.tsv, <0>}}"},
        ),
        documents(
            "leave out `columns: {document: {}}` where every line is a document's name, or correct the header",
            "x\nx\ny\n",
            {"test_set": f"{{{TEXT}, documents: docs.tsv}}"},
            own=", columns: {document: docid}",
        ),
        documents(
            "did you mean {}",
            "line\tdocid\n1\tx\n2\tx\n3\ty\n",
            {"test_set": f"{{{TEXT}, documents: docs.tsv, columns: {{document: docid}}}}"},
            own=", columns: {document: docidd}",
        ),
        documents(
            "if its first line is a header, say so: `columns: {document: document}`",
            "document\nx\nx\ny\n",
            {"test_set": f"{{{TEXT}, documents: docs.tsv, <0>}}"},
        ),
        documents("write one document name per line, in the order of the items", "x\nx\n", {"docs.tsv": "x\nx\ny\n"}),
        documents("write a name, or use `unit: item`", "x\n\ny\n", {"more": "resampling: {<0>}\n"}),
        documents("write a name, or use `unit: item`", "x\n\ny\n", {"docs.tsv": "x\nx\ny\n"}),
        scores(
            "keep one row for each item",
            {"docs.tsv": "item\tdocument\n1\tx\n2\tx\n3\ty\n3\tz\n"},
            {"docs.tsv": "item\tdocument\n1\tx\n2\tx\n3\ty\n"},
            own=", documents: docs.tsv",
        ),
        scores(
            "give every item of the test set a row",
            {"docs.tsv": "item\tdocument\n1\tx\n2\tx\n4\ty\n"},
            {"docs.tsv": "item\tdocument\n1\tx\n2\tx\n3\ty\n"},
            own=", documents: docs.tsv",
            more="resampling: {unit: document}\n",
        ),
    ],
    "items/recognise": [
        Case(
            "see `outputs:` and `systems.exclude:` in the study",
            "{format: auto, outputs: '{system}.csv'}",
            TABLES,
            {"more": ""},
            more="systems: {exclude: [a, b]}\n",
        ),
        Case(
            "with an object a line, name the key: `format: {name: json-lines, text: KEY}`, or `label: KEY`, or `score: KEY`; "
            "for a table whose keys are its columns, `format: scores`; to take each line as it is for a text, name the format: "
            "`format: text`",
            "{format: auto, outputs: '{system}.jsonl'}",
            {name: '{"q": 1, "zzz": 3}\n{"q": 2, "zzz": 4}\n' for name in ("a.jsonl", "b.jsonl")},
            {"test_set": "{<0>, outputs: '{system}.jsonl'}"},
            fill={"KEY": "zzz", "text": "score"},
        ),
        Case(
            "with an object a line, name the key: `format: {name: json-lines, text: KEY}`, or `label: KEY`, or `score: KEY`; "
            "for a table whose keys are its columns, `format: scores`; to take each line as it is for a text, name the format: "
            "`format: text`",
            "{format: auto, outputs: x.jsonl}",
            {"x.jsonl": '{"name": "q1", "north": 3, "south": 1}\n{"name": "q2", "north": 4, "south": 4}\n'},
            {"test_set": "{<3>, outputs: x.jsonl, columns: {item: name}}"},
        ),
    ],
    "metrics/_columns": [
        Case(
            "give `references:` to a test set of format text, `gold:` to one of another format that has them",
            "{format: text, outputs: 'out/{system}.txt'}",
            TEXTS,
            {"test_set": "{format: text, references: [ref.txt], outputs: 'out/{system}.txt'}"},
            metric="bleu",
        ),
        Case(
            "name the column in the options of the metric (a score: `-m NAME` of `compare`), or the `format:` that gives it",
            "{format: scores, outputs: '{system}.csv'}",
            {"x.csv": "item,a,b\n1,2,3\n2,3,5\n", "y.csv": "item,a,b\n1,2,3\n2,3,4\n"},
            {"metric": "{name: mean, column: a}"},
        ),
        Case(
            "choose a metric of what the files hold, or name the `format:` that gives it",
            "{format: labels, gold: gold.csv, outputs: '{system}.csv'}",
            {"gold.csv": "id,label\n1,n\n2,v\n", "a.csv": "id,label\n1,n\n2,v\n", "b.csv": "id,label\n1,n\n2,n\n"},
            {"metric": "accuracy"},
            metric="bleu",
        ),
    ],
    "survey/needs": [
        Case(
            "choose a column of numbers, or another metric",
            "{format: labels, gold: gold.csv, outputs: '{system}.csv'}",
            {"gold.csv": "id,label\n1,n\n2,v\n", "a.csv": "id,label\n1,n\n2,v\n", "b.csv": "id,label\n1,n\n2,n\n"},
            {"metric": "accuracy"},
        ),
        scores(
            "correct it, or leave the system out; if all scores are so large, give them in a larger unit",
            {"a.csv": "item,score\n1,9e15\n2,2\n3,2\n"},
            {"a.csv": TABLES["a.csv"]},
        ),
    ],
    "survey/checks": [
        scores(
            "write `unit: document`, with sizes in documents, or `unit: item`",
            {"docs.tsv": "item\tdocument\n1\tx\n2\tx\n3\ty\n"},
            {"more": "resampling: {test_sizes: [2, full], <0>}\n"},
            own=", documents: docs.tsv",
            more="resampling: {test_sizes: [2, full]}\n",
        ),
        scores(
            "write `unit: document`, with sizes in documents, or `unit: item`",
            {"docs.tsv": "item\tdocument\n1\tx\n2\tx\n3\ty\n"},
            {"more": "resampling: {test_sizes: [2, full], <1>}\n"},
            own=", documents: docs.tsv",
            more="resampling: {test_sizes: [2, full]}\n",
        ),
        scores(
            "did you mean {}",
            {},
            {"more": "resampling: {baseline: a, family: against-baseline}\n"},
            more="resampling: {baseline: aa, family: against-baseline}\n",
        ),
        Case(
            "rename all of them but one",
            "{format: scores, outputs: {می\u200cرود: a.csv, میرود: b.csv}}",
            TABLES,
            {"test_set": "{format: scores, outputs: {می\u200cرود: a.csv, b: b.csv}}"},
        ),
    ],
}
