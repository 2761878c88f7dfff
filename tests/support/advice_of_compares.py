"""What `pipeline compare` advises: a command line that is wrong, and the one that its message gives."""

from __future__ import annotations

from typing import NamedTuple


class Typed(NamedTuple):
    """A command line, what its help says, and what is typed then: ``<0>`` is the first part of the help that ``take`` finds."""

    says: str
    line: str
    then: str
    take: str = "`([^`]+)`"
    fill: tuple[tuple[str, str], ...] = ()


FILES = {
    "a.txt": "a b c\nd e f\ng h i\nj k l\n",
    "b.txt": "a b c\nd e f\ng h i\nj k m\n",
    "ref.txt": "a b c\nd e f\ng h x\nj k l\n",
    "gold.lab": "n\nv\nn\nv\n",
    "a.lab": "n\nn\nn\nv\n",
    "b.lab": "n\nv\nv\nv\n",
    "a.csv": "item,score\n1,1\n2,2\n3,2\n4,5\n",
    "b.csv": "item,score\n1,3\n2,2\n3,1\n4,4\n",
    "more/a.csv": "item,score\n1,1\n2,3\n3,2\n4,5\n",
    "long.csv": "question,llm,score\n1,a,3\n1,b,4\n2,a,3\n2,b,5\n3,a,1\n3,b,2\n",
    "loss.csv": "item,a_x,b_x\n1,2,3\n2,3,5\n3,4,4\n",
    "cost_a.csv": "item,cost,latency\n1,2,3\n2,3,5\n3,4,4\n",
    "cost_b.csv": "item,cost,latency\n1,1,3\n2,2,5\n3,3,5\n",
    "two/a.txt": "a b c\nd e f\ng h i\nj k l\n",
    "two/b.txt": "a b c\nd e f\ng h i\nj k m\n",
    "two/c.csv": "x,y\n1,2\n",
    "two/d.csv": "x,y\n1,2\n",
    "two/e.txt": "a b c\nd e f\ng h i\nj k m\n",
    "none/a.bin": "\n",
    "bare.csv": "item,score\n",
    "ragged.csv": "item,score\n1,1\n2,2\n3, or so,2\n4,5\n",
    "quoted.csv": "item,score\n1,1\n2,2\n3,2\n4,5\n",
    "words.csv": "item,x,y\n1,n,v\n2,v,v\n3,n,n\n4,v,n\n",
    "tags.csv": "item,x,y\nq1,n,v\nq2,v,v\nq3,n,n\n",
    "tagged.csv": "item,label\nq1,n\nq2,v\nq3,n\n",
    "pipes.csv": "item|score\n1|1\n2|2\n",
    "title.csv": "Scores of May,,\nitem,x,y\n1,1,2\n2,2,3\n",
    "right.csv": "item,label\n1,n\n2,v\n3,n\n4,v\n",
}

COMPARES = {
    "survey/compare_arguments": [
        Typed("give each a name of its own: {}", "a.csv more/a.csv b.csv a=b.csv a=a.csv", "<0>", "own: (.*)"),
        Typed("give each a name of its own: {}", "a=a.csv a=b.csv", "<0>", "own: (.*)"),
        Typed("write NAME=PATH, for example base=out/base.txt", "=a.csv b.csv", "x=a.csv b.csv"),
        Typed(
            "write roles and names in braces, --columns '{system: llm, item: question}'",
            "long.csv --columns llm",
            "long.csv <0>",
            "braces, (.*)",
        ),
        Typed("write COLUMN=VALUE, for example --filter domain=news", "a.csv b.csv --filter item", "a.csv b.csv"),
        Typed(
            "give -m with each metric: -m {}",
            "a.txt b.txt -r ref.txt -m bleu chrf",
            "a.txt b.txt -r ref.txt -m bleu <0>",
            "metric: (.*)",
        ),
        Typed(
            "b = 1,000,000 finds p-values down to 1e-6, within seconds for a handful of systems",
            "a.csv b.csv -b 1000000000000",
            "a.csv b.csv",
        ),
    ],
    "survey/compare": [
        Typed("give one reference file with -r", "a.lab b.lab --format labels", "a.lab b.lab --format labels -r gold.lab"),
        Typed(
            "give it with -r {}",
            "a.txt b.txt --format text -m bleu",
            "a.txt b.txt --format text -m bleu <0>",
            "with (-r ref.txt)",
        ),
        Typed("leave out -r, or name another --format", "a.csv b.csv -r ref.txt --format scores", "a.csv b.csv --format scores"),
        Typed(
            "write `--format '{name: lm-eval, …}'`",
            "a.csv b.csv --format '{layout: long}'",
            "a.csv b.csv <0>",
            fill=(("lm-eval, …", "scores, layout: wide"),),
        ),
        Typed("say it: {}", "cost_a.csv cost_b.csv -m cost", "cost_a.csv cost_b.csv <0>", "say it: (.*), or true"),
    ],
    "items/readers/_tables": [
        Typed("write a row for each item below the header", "bare.csv b.csv --format scores", "a.csv b.csv"),
        Typed(
            "give every row as many fields as the header; a field with a comma in it needs double quotes",
            "ragged.csv b.csv",
            "quoted.csv b.csv",
        ),
    ],
    "items/recognise": [
        Typed("begin the file with a header, with commas between names", "pipes.csv", "b.csv a.csv"),
        Typed("begin the file with a header that names every column, and nothing above it", "title.csv", "b.csv a.csv"),
        Typed(
            "write numbers, or true and false; labels and texts are compared with a file of them, `-r FILE`",
            "tags.csv",
            "tags.csv -r tagged.csv",
        ),
        Typed("write a row for each item below the header", "bare.csv", "a.csv b.csv"),
    ],
    "items/readers/scores": [
        Typed(
            "give a column of scores to each system; labels need a gold file to be compared with",
            "words.csv --format scores",
            "words.csv -r right.csv",
        ),
    ],
    "survey/folders": [
        Typed("name those of one kind: {}/*{}", "two -r ref.txt", "<0> -r ref.txt", "kind: (.*)"),
        Typed("name the outputs themselves: `pipeline formats` lists what is read", "none", "a.csv b.csv"),
        Typed(
            "fetch it first, and name the file; only studies name objects, `s3://…`, `gs://…` or `az://…`",
            "s3://bucket/a.csv b.csv",
            "a.csv b.csv",
        ),
    ],
    "survey/checks": [
        Typed(
            "there are {}",
            "a.txt b.txt -r ref.txt -m bleu --procedure wilcoxon",
            "a.txt b.txt -r ref.txt -m bleu --procedure <0>",
            "are ([a-z-]+)",
        ),
    ],
    "metrics/_columns": [
        Typed(
            "did you mean the metric '{}'? it is computed from texts or labels; `mean` takes numbers like these",
            "a.csv b.csv -m belu",
            "a.csv b.csv -m <0>",
            "`(mean)`",
        ),
        Typed(
            "the metric `mean` takes it (without `-m`, `compare` does); other metrics are computed from texts or labels",
            "a.csv b.csv -m something",
            "a.csv b.csv -m <0>",
        ),
    ],
    "items/names": [Typed("give each file once", "a.csv a.csv b.csv", "a.csv b.csv")],
}
