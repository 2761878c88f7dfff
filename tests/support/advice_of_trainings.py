"""What is advised about trainings, trainers and code of one's own."""

from __future__ import annotations

from support.following_advice import Case

LABELS = "id,label,text,size,who\n" + "".join(f"i{k},{'ab'[k % 2]},{'xy'[k % 2]} w{k},{k},p{k // 2}\n" for k in range(8))
WORDS = "".join(f"w{k}/{'NV'[k % 2]} v{k}/N\n" for k in range(8))
DIGITS = "{format: labels, gold: {dataset: digits, part: test}}"
SEEDS = "resamples: [{method: seed, replicas: 1}]"
TREE = "{trainer: sklearn, estimator: sklearn.tree.DecisionTreeClassifier}"
OWN = """
class Constant:
    takes = ()
    gives = ("label",)
    def fit(self, items, sample, *, seed, workdir):
        return None
    def predict(self, model, items):
        return {"label": ["a"] * len(items)}
class Half:
    def fit(self, items, sample, *, seed, workdir):
        return None
number = 3
"""
FILES = {
    "train.csv": LABELS,
    "test.csv": LABELS,
    "train.txt": WORDS,
    "own_trainers.py": OWN,
    "a.csv": "id,label\n" + "".join(f"i{k},a\n" for k in range(8)),
}
LEARN = "{format: labels, gold: test.csv, columns: {text: text, who: who}}"
DATA = "data: {path: train.csv, format: labels, columns: {text: text, who: who, size: size}}"


def models(one: str, other: str = "{trainer: python, object: 'own_trainers:Constant', path: .}") -> str:
    """Return the models of a study."""
    return f"models: {{m: {one}, n: {other}}}"


CONSTANT = models("{trainer: python, object: 'own_trainers:Constant', path: .}")


def training(*parts: str) -> str:
    """Return a training."""
    return f"training: {{{', '.join(parts)}}}\n"


def learnt(says: str, wrong: str, right: str, test_set: str = LEARN, metric: str = "accuracy") -> Case:
    """Return a case of trainings on labels."""
    return Case(says, test_set, FILES, {"more": right}, metric=metric, more=wrong)


def model(says: str, wrong: str, right: str) -> Case:
    """Return a case of one model's options, on digits."""
    digits = "data: {dataset: digits, part: train}"
    return learnt(says, *(training(digits, SEEDS, models(one, TREE)) for one in (wrong, right)), DIGITS)


def own(says: str, wrong: str, right: str) -> Case:
    """Return a case of an object of one's own."""
    return learnt(says, *(training(DATA, SEEDS, models(f"{{trainer: python, {one}}}")) for one in (wrong, right)))


GOOD = training(DATA, SEEDS, CONSTANT)
BITEXT = "{format: links, gold: gold.txt}"
PREDICTED = "{format: labels, gold: test.csv, predicted: true, columns: {text: text}, outputs: {%s: a.csv}}"
CONST = "object: 'own_trainers:Constant'"

TRAININGS = {
    "survey/training": [
        Case(
            "leave out `training:`, or the `outputs:` of a test set, or say there `predicted: true` to have both",
            "{format: labels, gold: test.csv, outputs: '[a].{system}'}",
            {**FILES, "[a].x": FILES["a.csv"]},
            {"test_set": "{format: labels, gold: test.csv, outputs: '[a].{system}', <2>}"},
            metric="accuracy",
            more=GOOD,
        ),
        Case(
            "give its `gold:`, or the `outputs:` of systems that are there",
            "{format: labels}",
            FILES,
            {"test_set": "{format: labels, gold: test.csv}"},
            metric="accuracy",
            more=GOOD,
        ),
        learnt(
            "take at most {} folds, or smaller units",
            training(DATA, "resamples: [{method: cross-validation, folds: 9}]", CONSTANT),
            training(DATA, "resamples: [{method: cross-validation, folds: 8}]", CONSTANT),
        ),
        learnt(
            "take a trainer or a test set of the other kind",
            GOOD,
            training("data: {path: train.txt, format: tagged}", SEEDS, CONSTANT),
            "{format: tagged, gold: train.txt}",
            "tag-accuracy",
        )._replace(mend={"test_set": LEARN, "metric": "accuracy"}),
        learnt(
            "train on and predict data of one kind",
            training(DATA, SEEDS, models(TREE)),
            training(DATA, SEEDS, models(TREE)),
            DIGITS,
        )._replace(mend={"test_set": LEARN}),
        learnt(
            "did you mean {}",
            training(DATA, "unit: whoo", SEEDS, CONSTANT),
            training(DATA, "unit: who", SEEDS, CONSTANT),
        ),
        Case(
            "give its bitext as `references:`",
            BITEXT,
            {"bitext.txt": "the boat ||| das Boot\nfog ||| Nebel\n", "gold.txt": "0-0 1-1\n0-0\n"},
            {"test_set": BITEXT.replace("gold:", "<0> [bitext.txt], gold:")},
            metric="aer",
            more=training(
                "data: {path: bitext.txt, format: bitext}", SEEDS, models("{trainer: ibm1}", "{trainer: ibm1, iterations: 2}")
            ),
        ),
    ],
    "survey/checks": [
        Case("rename one", PREDICTED % "m/seed/0", FILES, {"test_set": PREDICTED % "other"}, metric="accuracy", more=GOOD),
    ],
    "items/training": [
        learnt(
            "name another format",
            training("data: {path: train.csv, format: scores}", SEEDS, CONSTANT),
            training("data: {path: train.csv, format: labels}", SEEDS, CONSTANT),
        ),
        learnt(
            "did you mean {}",
            training(DATA, "unit: whoo", SEEDS, CONSTANT),
            training(DATA, "unit: who", SEEDS, CONSTANT),
        ),
        learnt(
            "give it one, or resample items",
            training(DATA.replace("train.csv", "gap.csv"), "unit: who", SEEDS, CONSTANT),
            training(DATA.replace("train.csv", "gap.csv"), "unit: item", SEEDS, CONSTANT),
        )._replace(files={**FILES, "gap.csv": LABELS.replace("0,p0", "0,")}),
        learnt(
            "correct `training.data.path`",
            training(DATA.replace("train.csv", "'trian*.csv'"), SEEDS, CONSTANT),
            training(DATA.replace("train.csv", "'train*.csv'"), SEEDS, CONSTANT),
        ),
        learnt(
            "items, tokens, chunks:TYPE, or a column of whole numbers; the data have {}",
            training(DATA, "resamples: [{method: quota, replicas: 1, instances: weight}]", CONSTANT),
            training(DATA, "resamples: [{method: quota, replicas: 1, instances: size}]", CONSTANT),
        ),
    ],
    "items/datasets": [
        learnt(
            "there are: {}",
            training("data: {dataset: digtis, part: train}", SEEDS, models(TREE, TREE)),
            training("data: {dataset: digits, part: train}", SEEDS, models(TREE, TREE)),
            DIGITS,
        ),
    ],
    "trainers/sklearn": [
        model("write it in full, for example sklearn.linear_model.LogisticRegression", "{trainer: sklearn, estimator: tree}", TREE),
        model("did you mean {}", "{trainer: sklearn, estimator: sklearn.tree.DecisionTreeClassifer}", TREE),
        model("is its package installed?", "{trainer: sklearn, estimator: sklearn.trees.Tree}", TREE),
        model(
            "write `estimator:` with `options:`, or `steps:` as a list of them",
            "{trainer: sklearn}",
            "{trainer: sklearn, steps: [{estimator: sklearn.tree.DecisionTreeClassifier, options: {max_depth: 2}}]}",
        ),
        model("name a class with the methods {}", "{trainer: sklearn, estimator: sklearn.tree.plot_tree}", TREE),
        model("see `options:` of the model", TREE[:-1] + ", options: {max_depth: -2}}", TREE[:-1] + ", options: {max_depth: 2}}"),
        model("leave it out", TREE[:-1] + ", options: {random_state: 2}}", TREE),
        model("did you mean {}", TREE[:-1] + ", options: {max_dept: 2}}", TREE[:-1] + ", options: {max_depth: 2}}"),
    ],
    "trainers/python": [
        own(
            "fit(items, sample, *, seed, workdir) returns a model, predict(model, items) a mapping of columns",
            "object: 'own_trainers:Half', path: .",
            f"{CONST}, path: .",
        ),
    ],
    "own_code": [
        own("write module:name, for example models:Baseline", "object: 'own trainers:Constant', path: .", f"{CONST}, path: ."),
        own("name a class, or a function that makes the object", "object: 'own_trainers:number', path: .", f"{CONST}, path: ."),
        own("`path:` is the folder of the module", f"{CONST}, path: gone", f"{CONST}, path: ."),
        own("install its package, or name its folder as `path:`", "object: 'own_trainers_elsewhere:Constant'", f"{CONST}, path: ."),
    ],
    "trainers/command": [
        own("see docs/trainers.md", f"{CONST}, path: .", f"{CONST}, path: .")._replace(
            more=training(DATA, SEEDS, models("{trainer: command, fit: 3, predict: 'true {items} {output}'}")), mend={"more": GOOD}
        ),
    ],
}
