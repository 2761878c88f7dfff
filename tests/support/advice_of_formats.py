"""What readers of formats advise."""

from __future__ import annotations

from support.following_advice import Case

WIDE = "item,a,b\n1,2,3\n2,3,5\n3,4,4\n"
DECIDE = "say what a missing score counts as: leave the {} out and set `missing:`, or write a number"
CONLLU = "".join(f"{k}\t{word}\t_\tX\t_\t_\t{head}\tdep\t_\t_\n" for k, word, head in ((1, "a", 2), (2, "b", 0))) + "\n"
CONLLU += CONLLU.replace("a", "c").replace("b", "d")
TAGS = "a DT B-NP\nb NN I-NP\n\nc VB O\n"
LAST = "B-NP DT a\nI-NP NN b\n\nO VB c\n"
TREE = "(S (NP (D a) (N b)))\n(S (V c))\n"

FORMATS = {
    "items/readers/scores": [
        Case(
            "write a decimal point, or separate the fields of the table by semicolons",
            "{format: scores, outputs: '{system}.tsv'}",
            {"a.tsv": "item\tscore\n1\t0,5\n2\t1\n", "b.tsv": "item\tscore\n1\t1\n2\t2\n"},
            {"a.tsv": "item\tscore\n1\t0.5\n2\t1\n"},
        ),
        Case(
            "write a number, or say what becomes of items without one: `missing: drop` or `missing: zero`",
            "{format: scores, outputs: '{system}.csv'}",
            {"a.csv": "item,score\n1,\n2,1\n3,2\n", "b.csv": "item,score\n1,1\n2,2\n3,2\n"},
            {"test_set": "{format: scores, outputs: '{system}.csv', <0>}"},
        ),
        Case(
            "write numbers, or leave the column out: it has none",
            "{format: scores, outputs: x.csv, missing: drop}",
            {"x.csv": "item,a,b,c\n1,1,,2\n2,3,,1\n3,2,,2\n"},
            {"x.csv": "item,a,c\n1,1,2\n2,3,1\n3,2,2\n"},
        ),
        Case(
            "write a number",
            "{format: scores, outputs: '{system}.csv'}",
            {"a.csv": "item,score\n1,inf\n2,1\n3,2\n", "b.csv": "item,score\n1,1\n2,2\n3,2\n"},
            {"a.csv": "item,score\n1,0\n2,1\n3,2\n"},
        ),
        Case(
            "write all numbers of a table with the same decimal mark",
            "{format: scores, outputs: x.csv}",
            {"x.csv": "item;a;b\n1;0,5;1.5\n2;0,7;2\n"},
            {"x.csv": "item;a;b\n1;0,5;1,5\n2;0,7;2\n"},
        ),
        Case(
            "write the numbers of all systems on the same scale",
            "{format: scores, outputs: '{system}.csv'}",
            {"a.csv": "item,score\n1,50%\n2,10%\n", "b.csv": "item,score\n1,0.5\n2,0.2\n"},
            {"b.csv": "item,score\n1,50%\n2,20%\n"},
        ),
        Case(
            "write all of them in one way",
            "{format: scores, outputs: x.csv}",
            {"x.csv": "item;a;b\n1;0,5;1\n2;0.5;2\n"},
            {"x.csv": "item;a;b\n1;0,5;1\n2;0,5;2\n"},
        ),
    ],
    "items/readers/_layouts": [
        Case(
            "name the table once, without a placeholder, where it holds all systems",
            "{format: scores, outputs: '{system}.csv'}",
            {"x.csv": "item,system,score\n1,a,3\n1,b,4\n2,a,3\n2,b,5\n"},
            {"test_set": "{format: scores, outputs: x.csv}"},
        ),
        Case(
            "keep one row for each system",
            "{format: {name: scores, layout: rows}, outputs: x.csv}",
            {"x.csv": "system,q1,q2\na,1,2\na,1,2\nb,2,3\n"},
            {"x.csv": "system,q1,q2\na,1,2\nb,2,3\n"},
        ),
    ],
    "items/readers/_roles": [
        Case(
            "name it in the study: columns: {system: …}",
            "{format: {name: scores, layout: long}, outputs: x.csv}",
            {"x.csv": "item,llm,score\n1,a,3\n1,b,4\n2,a,3\n2,b,5\n"},
            {"test_set": "{format: {name: scores, layout: long}, outputs: x.csv, columns: {system: llm}}"},
        ),
    ],
    "items/readers/_tables": [
        Case(
            "give each column a name of its own",
            "{format: scores, outputs: x.csv}",
            {"x.csv": "item,a,a\n1,2,3\n2,3,5\n3,4,4\n"},
            {"x.csv": WIDE},
        ),
        Case(
            "check its quotes",
            "{format: scores, outputs: x.csv}",
            {"x.csv": 'item,a,b\n1,2,3\n"2,3,5\n3,4,4\n'},
            {"x.csv": WIDE},
        ),
        Case(
            "name it in the study: columns: {{}: …}",
            "{format: scores, outputs: x.csv, columns: {item: nothing}}",
            {"x.csv": WIDE.replace("item", "question")},
            {"test_set": "{format: scores, outputs: x.csv, columns: {item: question}}"},
        ),
        Case(
            "did you mean {}",
            "{format: scores, outputs: x.csv, columns: {item: questoin}}",
            {"x.csv": WIDE.replace("item", "question")},
            {"test_set": "{format: scores, outputs: x.csv, columns: {item: question}}"},
        ),
    ],
    "items/readers/labels": [
        Case(
            "name it in the study: columns: {label: …}",
            "{format: labels, gold: gold.csv, outputs: '{system}.csv'}",
            {"gold.csv": "id,answer\n1,n\n2,v\n", "a.csv": "id,answer\n1,n\n2,n\n", "b.csv": "id,answer\n1,n\n2,v\n"},
            {"test_set": "{format: labels, gold: gold.csv, outputs: '{system}.csv', columns: {label: answer}}"},
            metric="accuracy",
        ),
        Case(
            'write the place of the name into the path, `outputs: "labels/{system}.txt"`, or give a table of all systems',
            "{format: labels, gold: gold.txt, outputs: labels/a.txt}",
            {"gold.txt": "n\nv\n", "labels/a.txt": "n\nn\n", "labels/b.txt": "n\nv\n"},
            {"test_set": "{format: labels, gold: gold.txt, <0>}"},
            metric="accuracy",
        ),
    ],
    "items/readers/text": [
        Case(
            'write the place of the name into the path, `outputs: "systems/{system}.txt"`, or map names to paths',
            "{format: text, references: [ref.txt], outputs: systems/a.txt}",
            {"ref.txt": "a b\nc\n", "systems/a.txt": "a b\nd\n", "systems/b.txt": "a b\nc\n"},
            {"test_set": "{format: text, references: [ref.txt], <0>}"},
            metric="bleu",
        ),
        Case(
            "write `format: scores`, if it is a table of scores",
            "{outputs: x.csv}",
            {"x.csv": WIDE},
            {"test_set": "{<0>, outputs: x.csv}"},
        ),
        Case(
            "every reference file has one line for each segment; a missing reference is an empty line",
            "{format: text, references: [ref.txt, more.txt], outputs: 'systems/{system}.txt'}",
            {"ref.txt": "a b\nc\n", "more.txt": "a b\n", "systems/a.txt": "a b\nd\n", "systems/b.txt": "a b\nc\n"},
            {"more.txt": "a b\n\n"},
            metric="bleu",
        ),
    ],
    "items/readers/_files": [
        Case(
            "write one line for each item; an empty output is an empty line",
            "{format: text, references: [ref.txt], outputs: 'systems/{system}.txt'}",
            {"ref.txt": "a b\nc\n", "systems/a.txt": "", "systems/b.txt": "a b\nc\n"},
            {"systems/a.txt": "\n\n"},
            metric="bleu",
        ),
        Case(
            "leave it out of the study",
            "{format: scores, gold: gold.csv, outputs: x.csv}",
            {"x.csv": WIDE, "gold.csv": WIDE},
            {"test_set": "{format: scores, outputs: x.csv}"},
        ),
        Case(
            "save the sheet with the scores as CSV (UTF-8), and give that file",
            "{format: scores, outputs: x.xlsx}",
            {"x.xlsx": b"PK\x03\x04\xff\xff xl/\n"},
            {"x.xlsx": None, "x.csv": WIDE, "test_set": "{format: scores, outputs: x.csv}"},
        ),
        Case(
            "the file is binary, not text: check that it is the one you mean",
            "{format: text, references: [ref.txt], outputs: '{system}.x'}",
            {"ref.txt": "a b\nc\n", "a.x": b"\x89PNG\0\0\xff\xd8\n", "b.x": "a b\nc\n"},
            {"a.x": "a b\nc d\n"},
            metric="bleu",
        ),
    ],
    "items/readers/columns": [
        Case(
            '`columns: {word: "…"}` names it, by its number',
            "{format: columns, gold: gold.txt, outputs: '{system}.out', columns: {chunk: '0', tag: '1'}}",
            {"gold.txt": LAST, "a.out": LAST, "b.out": LAST.replace("I-", "B-")},
            {"test_set": "{format: columns, gold: gold.txt, outputs: '{system}.out', <0>}"},
            metric="{name: chunk-f1}",
            fill={"…": "2", "columns: {": "columns: {chunk: '0', tag: '1', "},
        ),
        Case(
            "count from 0, or back from the last, which is -1",
            "{format: columns, gold: gold.txt, outputs: '{system}.out', columns: {chunk: third}}",
            {"gold.txt": TAGS, "a.out": TAGS, "b.out": TAGS.replace("I-", "B-")},
            {"test_set": "{format: columns, gold: gold.txt, outputs: '{system}.out', columns: {chunk: '-1'}}"},
            metric="{name: chunk-f1}",
        ),
    ],
    "items/readers/_schemes": [
        Case(
            'a tag is O, or one of B, I, E, S, L, U with a hyphen and a type; `columns: {chunk: "…"}` has the number of its column',
            "{format: columns, gold: gold.txt, outputs: '{system}.out'}",
            {
                "gold.txt": "a B-NP DT\nb I-NP NN\n\nc O VB\n",
                "a.out": "a B-NP DT\nb I-NP NN\n\nc O VB\n",
                "b.out": "a B-NP DT\nb B-NP NN\n\nc O VB\n",
            },
            {"test_set": "{format: columns, gold: gold.txt, outputs: '{system}.out', <0>}"},
            metric="{name: chunk-f1}",
            fill={"…": "1", "columns: {": "columns: {tag: '2', "},
        ),
        Case(
            "write all chunks in one scheme",
            "{format: columns, gold: gold.txt, outputs: '{system}.out'}",
            {"gold.txt": "a DT B-NP\nb NN E-NP\n\nc VB B-NP\nc VB I-NP\nc VB L-NP\n", "a.out": TAGS, "b.out": TAGS},
            {"gold.txt": TAGS},
            metric="{name: chunk-f1}",
        ),
    ],
    "items/readers/_conllu_rows": [
        Case(
            "a word is ten columns separated by tabs: number, form, lemma, UPOS, XPOS, features, head, relation, two more; "
            "`_` is blank",
            "{format: conllu, gold: gold.conllu, outputs: '{system}.out'}",
            {"gold.conllu": CONLLU, "a.out": CONLLU.replace("\tdep\t_\t_\n", "\tdep\n"), "b.out": CONLLU},
            {"a.out": CONLLU.replace("\tdep\t_\t_\n", "\tdep\t<0>\t_\n")},
            metric="uas",
        ),
        Case(
            "every word has one head, the number of another word or 0, and all lead to the root",
            "{format: conllu, gold: gold.conllu, outputs: '{system}.out'}",
            {"gold.conllu": CONLLU.replace("\t0\t", "\t1\t"), "a.out": CONLLU, "b.out": CONLLU},
            {"gold.conllu": CONLLU},
            metric="uas",
        ),
    ],
    "items/readers/conllu": [
        Case(
            "outputs may divide the text into other words and sentences, with all its characters except spaces, in its order",
            "{format: conllu, gold: gold.conllu, outputs: '{system}.out'}",
            {"gold.conllu": CONLLU, "a.out": CONLLU.replace("\tb\t", "\tc\t"), "b.out": CONLLU},
            {"a.out": "1\tab\t_\tX\t_\t_\t0\tdep\t_\t_\n2\tcd\t_\tX\t_\t_\t1\tdep\t_\t_\n\n"},
            metric="uas",
        ),
    ],
    "items/readers/brackets": [
        Case(
            "a phrase is `(LABEL …)`, a word `(TAG word)`; a bracket that is a word is `-LRB-` or `-RRB-`",
            "{format: brackets, gold: gold.txt, outputs: '{system}.out'}",
            {"gold.txt": TREE, "a.out": TREE.replace("(D a)", "a"), "b.out": TREE},
            {"a.out": TREE.replace("(D a)", "(D a)")},
            metric="bracket-f1",
        ),
        Case(
            "the tree that begins there, or one after it, lacks a bracket",
            "{format: brackets, gold: gold.txt, outputs: '{system}.out'}",
            {"gold.txt": TREE, "a.out": TREE.rstrip()[:-1] + "\n", "b.out": TREE},
            {"a.out": TREE},
            metric="bracket-f1",
        ),
    ],
    "items/readers/tagged": [
        Case(
            "`columns: {separator: …}` says what stands between a word and its tag",
            "{format: tagged, gold: gold.txt, outputs: '{system}.out'}",
            {"gold.txt": "a_D b_N\nc_V\n", "a.out": "a_D b_V\nc_V\n", "b.out": "a_D b_N\nc_V\n"},
            {"test_set": "{format: tagged, gold: gold.txt, outputs: '{system}.out', <0>}"},
            metric="tag-accuracy",
            fill={"…": "_"},
        ),
    ],
    "items/readers/links": [
        Case(
            "the two go line by line; a sentence without links is an empty line",
            "{format: links, references: [bi.txt], gold: gold.txt, outputs: '{system}.out'}",
            {"bi.txt": "a b ||| c d\ne ||| f\n", "gold.txt": "0-0\n", "a.out": "0-0\n0-0\n", "b.out": "0-0 1-1\n0-0\n"},
            {"gold.txt": "0-0\n\n"},
            metric="aer",
        ),
        Case(
            "write `source ||| target ||| links` on every line",
            "{format: links, gold: gold.txt, outputs: '{system}.out'}",
            {"gold.txt": "a b ||| c d ||| 0-0\ne f 0-0\n", "a.out": "0-0\n0-0\n", "b.out": "0-0 1-1\n0-0\n"},
            {"gold.txt": "a b ||| c d ||| 0-0\n<0>\n"},
            metric="aer",
            fill={"links": "0-0"},
        ),
        Case(
            "links are `i-j`, or `ipj` where they are possible only, with a space between; or a line `sentence i j S` each",
            "{format: links, references: [bi.txt], gold: gold.txt, outputs: '{system}.out'}",
            {"bi.txt": "a b ||| c d\ne ||| f\n", "gold.txt": "0-0\n0:0\n", "a.out": "0-0\n0-0\n", "b.out": "0-0 1-1\n0-0\n"},
            {"gold.txt": "0-0 1p0\n0-0\n"},
            metric="aer",
        ),
        Case(
            'all links of the file fit if the first word has the number {}: `columns: {base: "{}"}`',
            "{format: links, references: [bi.txt], gold: gold.txt, outputs: '{system}.out'}",
            {"bi.txt": "a b ||| c d\ne ||| f\n", "gold.txt": "1-1 2-2\n1-1\n", "a.out": "1-1\n1-1\n", "b.out": "1-1 2-2\n1-1\n"},
            {"test_set": "{format: links, references: [bi.txt], gold: gold.txt, outputs: '{system}.out', <0>}"},
            metric="aer",
        ),
        Case(
            "check that the links are of this bitext, and which word has the number 0 or 1",
            "{format: links, references: [bi.txt], gold: gold.txt, outputs: '{system}.out'}",
            {"bi.txt": "a b ||| c d\ne ||| f\n", "gold.txt": "0-0 7-7\n0-0\n", "a.out": "1-1\n0-0\n", "b.out": "1-1 0-0\n0-0\n"},
            {"gold.txt": "0-0 1-1\n0-0\n"},
            metric="aer",
        ),
    ],
    "items/readers/_bitext": [
        Case(
            "write `source ||| target` on every line, words separated by spaces, or give two files, first the source",
            "{format: links, references: [bi.txt], gold: gold.txt, outputs: '{system}.out'}",
            {"bi.txt": "a b ||| c d\ne f\n", "gold.txt": "0-0\n0-0\n", "a.out": "0-0\n0-0\n", "b.out": "0-0 1-1\n0-0\n"},
            {"bi.txt": "a b ||| c d\n<0>\n"},
            metric="aer",
        ),
        Case(
            "the two go line by line; an empty sentence is an empty line",
            "{format: links, references: [one.txt, two.txt], gold: gold.txt, outputs: '{system}.out'}",
            {"one.txt": "a b\ne\n", "two.txt": "c d\n", "gold.txt": "0-0\n\n", "a.out": "0-0\n\n", "b.out": "0-0 1-1\n\n"},
            {"two.txt": "c d\n\n"},
            metric="aer",
        ),
    ],
    "items/readers/trn": [
        Case(
            "a line is `words (speaker_utterance)`; for Kaldi's `utterance words` write `format: {name: trn, layout: kaldi}`",
            "{format: trn, gold: gold.txt, outputs: '{system}.out'}",
            {"gold.txt": "x_1 a b\nx_2 c\n", "a.out": "x_1 a b\nx_2 c\n", "b.out": "x_1 a\nx_2 c\n"},
            {"test_set": "{<2>, gold: gold.txt, outputs: '{system}.out'}"},
            metric="wer",
        ),
        Case(
            "an output says what was recognised: leave one alternative",
            "{format: trn, gold: gold.txt, outputs: '{system}.out'}",
            {"gold.txt": "a b (x_1)\nc (x_2)\n", "a.out": "{ a / b } b (x_1)\nc (x_2)\n", "b.out": "a (x_1)\nc (x_2)\n"},
            {"a.out": "a b (x_1)\nc (x_2)\n"},
            metric="wer",
        ),
        Case(
            "alternatives are `{ one / two words / @ }`, and @ is not a word",
            "{format: trn, gold: gold.txt, outputs: '{system}.out'}",
            {"gold.txt": "{ a / b (x_1)\nc (x_2)\n", "a.out": "a b (x_1)\nc (x_2)\n", "b.out": "a (x_1)\nc (x_2)\n"},
            {"gold.txt": "<0> (x_1)\nc (x_2)\n"},
            metric="wer",
        ),
        Case(
            "a line is `utterance words`; an empty one has its name alone",
            "{format: {name: trn, layout: kaldi}, gold: gold.txt, outputs: '{system}.out'}",
            {"gold.txt": "x_1 a b\nx_2 c\n", "a.out": "\n", "b.out": "x_1 a\nx_2 c\n"},
            {"a.out": "x_1 a b\nx_2\n"},
            metric="wer",
        ),
    ],
    "items/readers/trec": [
        Case(
            "leave one line for each document of a topic",
            "{format: trec, gold: gold.txt, outputs: '{system}.out'}",
            {
                "gold.txt": "1 0 d1 1\n1 0 d2 0\n2 0 d1 1\n",
                "a.out": "1 Q0 d1 1 9 a\n1 Q0 d1 2 8 a\n2 Q0 d1 1 9 a\n",
                "b.out": "1 Q0 d2 1 9 b\n2 Q0 d1 1 9 b\n",
            },
            {"a.out": "1 Q0 d1 1 9 a\n2 Q0 d1 1 9 a\n"},
            metric="ndcg",
        ),
        Case(
            "a line is `{}`",
            "{format: trec, gold: gold.txt, outputs: '{system}.out'}",
            {
                "gold.txt": "1 0 d1 1\n1 0 d2\n2 0 d1 1\n",
                "a.out": "1 Q0 d1 1 9 a\n2 Q0 d1 1 9 a\n",
                "b.out": "1 Q0 d2 1 9 b\n2 Q0 d1 1 9 b\n",
            },
            {"gold.txt": "1 0 d1 1\n<0>\n2 0 d1 1\n"},
            metric="ndcg",
            fill={"topic": "1", "document": "d2", "relevance": "0", "iteration": "0", "judgement": "0", "grade": "0"},
        ),
        Case(
            "put the judgements of a topic into one file",
            "{format: trec, references: [one.txt, two.txt], outputs: '{system}.out'}",
            {
                "one.txt": "1 0 d1 1\n2 0 d1 1\n",
                "two.txt": "1 0 d2 0\n",
                "a.out": "1 Q0 d1 1 9 a\n2 Q0 d1 1 9 a\n",
                "b.out": "1 Q0 d2 1 9 b\n2 Q0 d1 1 9 b\n",
            },
            {"one.txt": "2 0 d1 1\n", "two.txt": "1 0 d2 0\n1 0 d1 1\n"},
            metric="ndcg",
        ),
    ],
}
