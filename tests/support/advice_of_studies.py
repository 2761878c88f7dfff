"""What is advised about the words of a study file."""

from __future__ import annotations

from support.following_advice import Case

FILES = {"a.csv": "item,score\n1,1\n2,2\n3,2\n", "b.csv": "item,score\n1,3\n2,2\n3,1\n"}


def study(says: str, more: str, mended: str, *, metric: str = "mean", better: str = "", own: str = "", **rest: object) -> Case:
    """Return a case of a study of scores, that has further lines."""
    test_set = "{format: scores, outputs: '{system}.csv'" + own + "}"
    mend = {"more": mended, **({"metric": better} if better else {})}
    return Case(says, test_set, FILES, mend, metric=metric, more=more, **rest)  # type: ignore[arg-type]


STUDIES = {
    "study/complaints": [
        study("write it below `{}:`, `{}: {{}: …}`", "replicates: 300\n", "<1>\n", fill={"…": "300"}),
        study("write it in a test set, `test_sets: {NAME: {{}: …}}`", "missing: drop\n", "")._replace(
            mend={"more": "", "test_set": "{format: scores, outputs: '{system}.csv', missing: drop}"}
        ),
        study("did you mean {}", "resampling: {replicatse: 300}\n", "resampling: {replicates: 300}\n"),
        study("did you mean '{}' below `{}:`?", "replicatse: 300\n", "resampling: {replicates: 300}\n"),
        study("leave the key out for its default", "resampling:\n", ""),
        study("put it in quotes", "systems: {exclude: [3]}\n", "systems: {exclude: ['3']}\n"),
        study("put it in brackets: [{}]", "analyses: thresholds\n", "analyses: [thresholds]\n"),
        study("a significance level is a share: 0.05 is 5 %", "resampling: {alpha: 5}\n", "resampling: {alpha: 0.05}\n"),
        study(
            "b = 1,000,000 finds p-values down to 1e-6; smaller ones are computed (`tails`), not counted",
            "resampling: {replicates: 1000000000000}\n",
            "resampling: {replicates: 1000000}\n",
        ),
        study(
            "a margin is in points of a metric: `margin: {{}: {}}`",
            "resampling: {margin: 2}\n",
            "resampling: {<0>}\n",
        ),
        study(
            "write `{}:` at the top level of the study, not in {}",
            "resampling: {seed: 3}\n",
            "",  # where it stands already
        ),
    ],
    "study/yaml_values": [
        study("the first one is at {}", "seed: 8\n", ""),
        study("write the same mark where the text ends", "preset: 'koehn-2004\n", "preset: 'koehn-2004'\n"),
        study(
            "put a comma, or the closing '{}', into the {} that begins at {}:{}",
            "analyses: [thresholds\n",
            "analyses: [thresholds]\n",
        ),
        study("indent with spaces, not with tabs", "resampling:\n\treplicates: 300\n", "resampling:\n  replicates: 300\n"),
        study(
            "put text that holds ': ' in quotes", "systems:\n  exclude:\n    - a: b: c\n", "systems:\n  exclude:\n    - 'a: b: c'\n"
        ),
    ],
    "options": [
        study("did you mean {}", "", "", metric="{name: mean, colum: score}", better="{name: mean, column: score}"),
        study(
            "write it beside the name",
            "",
            "",
            metric="{name: ratio, numerator: score}",
            better="{name: ratio, numerator: score, denominator: score}",
        ),
    ],
    "plugins": [
        study("did you mean {}", "", "", metric="maen", better="mean"),
    ],
    "analyses/registry": [
        study("did you mean {}", "analyses: [{name: thresholds, options: {alhpa: 0.1}}]\n", "analyses: [thresholds]\n"),
    ],
    "study/load": [
        Case(
            "set it, or write ${{}:-a default}",
            "{format: scores, outputs: '${NOT_SET_HERE}/{system}.csv'}",
            FILES,
            {"test_set": "{format: scores, outputs: '${NOT_SET_HERE:-.}/{system}.csv'}"},
        ),
    ],
}
