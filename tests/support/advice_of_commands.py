"""What is advised about commands that are typed wrong, each in a folder with a study and its files."""

from __future__ import annotations

from support.advice_of_compares import Typed

STUDY = """\
schema: 1
study: small
test_sets: {t: {format: scores, outputs: "[ab].{system}"}}
metrics: [mean]
"""
TABLE = "item,score\n1,1\n2,2\n3,2\n4,{}\n"
PLACES: dict[str, str | bytes] = {
    "study.yaml": STUDY.replace('"[ab].{system}"', "{a: a.csv, b: b.csv}"),
    "a.csv": TABLE.format(3),
    "b.csv": TABLE.format(5),
    "three.yaml": STUDY.replace('"[ab].{system}"', "{a: a.csv, b: b.csv, c: c.csv}"),
    "c.csv": TABLE.format(2),
    "latin.yaml": STUDY.encode().replace(b"small", b"sm\xe4ll"),
    "bare.yaml": STUDY.replace("schema: 1\n", "").replace('"[ab].{system}"', "{a: a.csv, b: b.csv}"),
    "empty_profile.yaml": "",
    "aimless.yaml": STUDY.replace('"[ab].{system}"', "{a: a.csv, b: b.csv}").replace("metrics: [mean]\n", ""),
    "later.yaml": STUDY.replace('"[ab].{system}"', "{a: a.csv, b: b.csv}").replace("schema: 1", "schema: 2"),
    "profile.yaml": "cluster: distributed.LocalCluster\n",
}
MEND = "python -c 'pass'"

COMMANDS = {
    "cli/misuse": [
        Typed("`{} --help` shows its arguments and options", "list study.yaml", "<0>"),
        Typed("did you mean {}", "chekc study.yaml", "<0> study.yaml", "'(.*)'"),
        Typed("write `--set {}=VALUE`", "check study.yaml --alpha 0.1", "check study.yaml <0>", fill=(("VALUE", "0.1"),)),
        Typed("did you mean '{}'?", "compare a.csv b.csv --method paired-t", "compare a.csv b.csv -b 100 <0> paired-t", "'(.*)'"),
        Typed("it is an option of {}", "list --linked-store", "<0> --linked-store --dry-run --runs ."),
        Typed("write {}", "compare a.csv b.csv --alpha 5%", "compare a.csv b.csv -b 100 --alpha <0>", "write (.*)"),
        Typed("write `{}`; {}", "check", "<0>", fill=(("STUDY", "study.yaml"),)),
        Typed("write `{} {}`", "list --runs", "list <0>"),
        Typed(
            "write `{} {}`",
            "power --items 500 --accuracy 71.2",
            "power --items 500 <0>",
            fill=(("BETTER", "71.2"), ("WORSE", "69.8")),
        ),
    ],
    "cli/explain": [
        Typed("there are: {}", "explain P20", "explain <0>", r"are: (\w+)"),
        Typed("did you mean {}", "explain P2O3", "explain <0>", "'(.*)'"),
    ],
    "cli/catalogue": [Typed("did you mean {}", "metrics belu", "metrics <0>", "'(.*)'")],
    "cli/start": [Typed("name another with -o, or remove it", "init a.csv b.csv", "init a.csv b.csv -o other.yaml")],
    "study/load": [
        Typed("name the file itself", "check .", "check study.yaml"),
        Typed("did you mean {}", "check studdy.yaml", "check <0>", "'(.*)'"),
        Typed(
            "write --set key.path=value",
            "check study.yaml --set seed",
            "check study.yaml <0>",
            "write (.*)",
            (("key.path=value", "seed=8"),),
        ),
        Typed(
            "did you mean {}",
            "submit study.yaml --dry-run --cluster lokal",
            "submit study.yaml --dry-run --cluster <0>",
            "'(.*?)'",
        ),
        Typed(
            "the package brings one: --cluster {}",
            "submit study.yaml --dry-run --cluster cluster/local.yaml",
            "submit study.yaml --dry-run <0>",
            "(--cluster .*)",
        ),
    ],
    "study/complaints": [
        Typed(
            "name one or more, such as `metrics: [bleu]`",
            "check aimless.yaml",
            "check aimless.yaml --set metrics=<0>",
            r"(\[bleu\])",
            (("bleu", "mean"),),
        ),
        Typed(
            "write `schema: 1`, the only version there is", "check later.yaml", "check later.yaml --set schema=<0>", "schema: (1)"
        ),
        Typed(
            "write {}",
            "check study.yaml --set resampling.replicates=100k",
            "check study.yaml --set resampling.replicates=<0>",
            "write (.*)",
        ),
    ],
}
