"""Study files: every problem at once, each at its place, and no word that means something else than it says."""

from __future__ import annotations

import pickle
import shlex
from pathlib import Path

import pytest

from pipeline.errors import Problem, StudyError
from pipeline.store.addresses import digest
from pipeline.study.load import LoadedStudy, load_study, resolve
from pipeline.study.marks import KeyPath

GOOD = """\
schema: 1
study: my study
test_sets:
  news:
    references: [ref.txt]
    outputs: "out/{system}.txt"
metrics: [bleu, {name: chrf, beta: 2}]
resampling:
  replicates: 1_000
"""


def load(folder: Path, text: str, *overrides: str) -> LoadedStudy:
    (folder / "study.yaml").write_text(text, encoding="utf-8")
    return load_study(folder / "study.yaml", overrides)


def problems_of(folder: Path, text: str, *overrides: str) -> list[Problem]:
    with pytest.raises(StudyError) as raised:
        load(folder, text, *overrides)
    assert raised.value.exit_code == 2
    return list(raised.value.problems)


def only(folder: Path, text: str, *overrides: str) -> tuple[str, str, str | None]:
    """Return code, message and place (without the folder) of the only problem."""
    (problem,) = problems_of(folder, text, *overrides)
    return problem.code, problem.message, problem.where and problem.where.removeprefix(f"{folder}/")


def test_a_study_file_becomes_a_study(tmp_path: Path) -> None:
    loaded = load(tmp_path, GOOD)
    assert loaded.base == tmp_path
    assert loaded.text == GOOD
    study = loaded.study
    assert study.test_sets["news"].references == ("ref.txt",)
    assert [(metric.name, metric.options) for metric in study.metrics] == [("bleu", {}), ("chrf", {"beta": 2})]
    assert (study.resampling.replicates, study.resampling.alpha, study.cluster) == (1000, 0.05, "local")
    assert pickle.loads(pickle.dumps(loaded)) == loaded


@pytest.mark.parametrize(
    ("written", "value"), [("1e6", 10**6), ("1.5e3", 1500), ("1_000_000", 10**6), ("010", 10), ("0x10", 16), ("0o10", 8), ("+7", 7)]
)
def test_whole_numbers_may_be_written_in_many_ways(tmp_path: Path, written: str, value: int) -> None:
    assert load(tmp_path, GOOD.replace("1_000", written)).study.resampling.replicates == value


@pytest.mark.parametrize("word", ["no", "on", "y", "Off", "2012-07-12", "1:30", "nan", "1.2.3", "=", "0b1", "_1"])
def test_words_stay_words(tmp_path: Path, word: str) -> None:
    assert load(tmp_path, GOOD.replace("my study", word)).study.study == word


@pytest.mark.parametrize("name", ['<a&b>/"q"\'', "新聞", "with space", "😀", "no", "2019", "1.0", "nan", "a.b"])
def test_test_sets_may_have_any_name_that_prints(tmp_path: Path, name: str) -> None:
    quoted = '"' + name.replace('"', '\\"') + '"'
    assert list(load(tmp_path, GOOD.replace("news", quoted)).study.test_sets) == [name]


def test_an_unknown_key_is_placed_and_its_meaning_guessed(tmp_path: Path) -> None:
    found = problems_of(tmp_path, GOOD + "  replicats: 7\nsytems: {}\n")
    assert [(p.code, p.message, p.help) for p in found] == [
        ("P101", "unknown key 'replicats' in resampling", "did you mean 'replicates'?"),
        ("P101", "unknown key 'sytems'", "did you mean 'systems'?"),
    ]
    assert [p.where for p in found] == [f"{tmp_path}/study.yaml:10:3", f"{tmp_path}/study.yaml:11:1"]


def test_a_key_in_the_wrong_part_of_a_study_is_sent_to_the_right_one(tmp_path: Path) -> None:
    text = GOOD.replace("  news:\n", "  news:\n    metrics: [bleu]\n") + "  seed: 5\nreps: 7\nexclude: [a]\noutputs: x\n"
    assert text.count("metrics") == 2
    found = {problem.message: problem.help for problem in problems_of(tmp_path, text)}
    assert found == {
        "unknown key 'metrics' in test_sets.news": "write `metrics:` at the top level of the study, not in test_sets.news",
        "unknown key 'seed' in resampling": "write `seed:` at the top level of the study, not in resampling",
        "unknown key 'reps'": "write it below `resampling:`, `resampling: {replicates: …}`",
        "unknown key 'outputs'": "write it in a test set, `test_sets: {NAME: {outputs: …}}`",
        "unknown key 'exclude'": "write it below `systems:`, `systems: {exclude: …}`",
    }


def test_a_misspelt_key_is_sent_to_the_part_that_has_it(tmp_path: Path) -> None:
    found = {problem.message: problem.help for problem in problems_of(tmp_path, GOOD + "  sedee: 1\nalhpa: 0.1\nsede: 5\n")}
    assert found["unknown key 'alhpa'"] == "did you mean 'alpha' below `resampling:`?"
    assert found["unknown key 'sede'"] == "did you mean 'seed'?"  # where it stands comes first
    assert found["unknown key 'sedee' in resampling"].startswith("there are: ")  # a part is not left for another


@pytest.mark.parametrize(
    ("word", "ours"),
    [("bootstrap", "paired-bootstrap"), ("Randomization", "approximate-randomization"), ("sgn", "sign")],
)
def test_a_procedure_of_which_a_part_is_written_is_named_whole(tmp_path: Path, word: str, ours: str) -> None:
    (problem,) = problems_of(tmp_path, GOOD + f"  procedures: [{word}]\n")
    assert problem.help == f"did you mean '{ours}'?"


def test_a_level_in_percent_is_told_to_be_a_share(tmp_path: Path) -> None:
    (problem,) = problems_of(tmp_path, GOOD + "  alpha: 5\n")
    assert (problem.message, problem.help) == (
        "resampling.alpha must be below 1.0, not 5",
        "a significance level is a share: 0.05 is 5 %",
    )


@pytest.mark.parametrize(
    ("old", "written", "help"),
    [
        ("replicates: 1_000", "replicates: 100k", "write 100_000"),
        ("replicates: 1_000", "replicates: 1,000,000", "write 1_000_000"),
        ("replicates: 1_000", "alpha: 5%", "write 0.05"),
        ("replicates: 1_000", "replicates: many", None),
        ("replicates: 1_000", "margin: 0.3", "a margin is in points of a metric: `margin: {bleu: 0.3}`"),
        ("metrics: [bleu, {name: chrf, beta: 2}]", "metrics: chrf", "put it in brackets: [chrf]"),
    ],
)
def test_a_value_that_another_tool_would_take_is_told_as_yaml_takes_it(
    tmp_path: Path, old: str, written: str, help: str | None
) -> None:
    assert old in GOOD
    (problem,) = problems_of(tmp_path, GOOD.replace(old, written))
    assert (problem.code, problem.help) == ("P103", help)


def test_a_study_without_a_test_set_is_sent_to_init(tmp_path: Path) -> None:
    for text in ("", "schema: 1\nstudy: x\nmetrics: [bleu]\n"):
        (problem,) = problems_of(tmp_path, text)
        assert "`pipeline init`" in (problem.help or "")


def test_a_duplicate_key_names_both_places(tmp_path: Path) -> None:
    (problem,) = problems_of(tmp_path, GOOD + "  replicates: 2000\n")
    assert (problem.code, problem.message) == ("P102", "duplicate key 'replicates'")
    assert problem.where == f"{tmp_path}/study.yaml:10:3"
    assert problem.help == f"the first one is at {tmp_path}/study.yaml:9:3"


WRONG = [
    (
        "replicates: 1_000",
        "replicates: many",
        "P103",
        "resampling.replicates: expected a whole number, found the text 'many'",
        "9:15",
    ),
    ("replicates: 1_000", 'replicates: "5"', "P103", "resampling.replicates: expected a whole number, found the text '5'", "9:15"),
    ("replicates: 1_000", "replicates: true", "P103", "resampling.replicates: expected a whole number, found true", "9:15"),
    ("replicates: 1_000", "replicates: 1.5", "P103", "resampling.replicates: expected a whole number, found 1.5", "9:15"),
    ("replicates: 1_000", "replicates:", "P103", "resampling.replicates: expected a whole number, found nothing", "9:14"),
    ("replicates: 1_000", "replicates: 0", "P104", "resampling.replicates must be at least 1, not 0", "9:15"),
    ("replicates: 1_000", "alpha: .nan", "P106", ".nan is not a number that can be used", "9:10"),
    (
        "replicates: 1_000",
        "test_sizes: [50, ful]",
        "P103",
        "resampling.test_sizes[1]: expected a whole number or 'full', found the text 'ful'",
        "9:20",
    ),
    ("replicates: 1_000", "test_sizes: [1]", "P104", "resampling.test_sizes[0] must be at least 2, not 1", "9:16"),
    (
        "replicates: 1_000",
        "margin: {ter: 1}",
        "P110",
        "resampling.margin.ter: the study has no such metric; it has bleu, chrf",
        "9:12",
    ),
    ("my study", "2020", "P103", "study: expected text, found 2020", "2:8"),
    ("[ref.txt]", "ref.txt", "P103", "test_sets.news.references: expected a list, found the text 'ref.txt'", "5:17"),
    ('"out/{system}.txt"', "[a]", "P103", "test_sets.news.outputs: expected text or a mapping, found a list of 1", "6:14"),
    ('"out/{system}.txt"', "{a: 5}", "P103", "test_sets.news.outputs.a: expected text, found 5", "6:18"),
    (
        'outputs: "out/{system}.txt"',
        "missing: drp",
        "P103",
        "test_sets.news.missing: expected 'error', 'drop' or 'zero', found the text 'drp'",
        "6:14",
    ),
    ('    outputs: "out/{system}.txt"\n', "", "P110", "test_sets.news: there are no outputs, and no training to make them", "4:3"),
    ("{name: chrf, beta: 2}", "{beta: 2}", "P105", "the key 'name' is missing in metrics[1]", "7:17"),
    ("{name: chrf, beta: 2}", "7", "P110", "metrics[1]: a metric is its name, or a mapping of its name and options", "7:17"),
    ("{name: chrf, beta: 2}", "bleu", "P110", "metrics[1]: the metric 'bleu' is named twice", "7:17"),
    ("[bleu, {name: chrf, beta: 2}]", "[]", "P104", "metrics needs at least 1, not an empty list", "7:10"),
    ("schema: 1\n", "", "P105", "the key 'schema' is missing", "1:1"),
    ("schema: 1", "schema: 2", "P103", "schema: expected 1, found 2", "1:9"),
]


@pytest.mark.parametrize(("old", "new", "code", "message", "place"), WRONG)
def test_each_wrong_value_gets_one_message_at_its_place(
    tmp_path: Path, old: str, new: str, code: str, message: str, place: str
) -> None:
    assert old in GOOD
    assert only(tmp_path, GOOD.replace(old, new)) == (code, message, f"study.yaml:{place}")


def test_all_problems_come_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = GOOD.replace("my study", "5").replace("[ref.txt]", "ref.txt").replace("1_000", "x") + "  replicates: 3\nseeed: 1\n"
    found = problems_of(tmp_path, text)
    assert [p.code for p in found] == ["P103", "P103", "P103", "P102", "P101"]
    assert [str(p.where).rsplit(":", 2)[1] for p in found] == ["2", "5", "9", "10", "11"]


def test_disagreements_of_all_test_sets_come_at_once(tmp_path: Path) -> None:
    text = GOOD.replace("metrics:", "  b: {}\n  c: {}\nmetrics:")
    assert [p.message.split(":")[0] for p in problems_of(tmp_path, text)] == ["test_sets.b", "test_sets.c"]


@pytest.mark.parametrize(
    ("data", "message", "help_"),
    [
        ("{dataset: digits, items: 1-300}", "unknown key 'items' in training.data", "there are: blur, dataset, part, rotate"),
        (
            "{path: a, format: tagged, rotate: 3}",
            "unknown key 'rotate' in training.data",
            "there are: columns, format, gold, items, path",
        ),
    ],
)
def test_a_key_of_another_kind_of_data_is_not_suggested(tmp_path: Path, data: str, message: str, help_: str) -> None:
    training = f"training:\n  data: {data}\n  resamples: [{{method: bootstrap, replicas: 1}}]\n  models: {{a: {{trainer: x}}}}\n"
    assert [(p.message, p.help) for p in problems_of(tmp_path, GOOD + training)] == [(message, help_)]


@pytest.mark.parametrize(
    ("sample", "help_"),
    [
        ("{method: seed, replicas: 2, folds: 3}", "there are: method, replicas"),
        ("{method: cross-validation, fold: 5}", "did you mean 'folds'?"),
    ],
)
def test_a_key_of_another_way_to_resample_is_not_suggested(tmp_path: Path, sample: str, help_: str) -> None:
    training = f"training:\n  data: {{dataset: digits}}\n  resamples: [{sample}]\n  models: {{a: {{trainer: x}}}}\n"
    (found,) = [p for p in problems_of(tmp_path, GOOD + training) if p.code == "P101"]
    assert found.help == help_


def test_a_trained_study_is_read_with_its_own_places(tmp_path: Path) -> None:
    training = """\
training:
  data: {dataset: digits, rotat: 3}
  resamples: [{method: boot, replicas: 1}]
  models: {a: {trainer: x, C: 0.1}}
"""
    found = problems_of(tmp_path, GOOD + training)
    assert [(p.message, p.help) for p in found] == [
        ("unknown key 'rotat' in training.data", "did you mean 'rotate'?"),
        (
            "training.resamples[0].method: expected 'bootstrap', 'quota', 'cross-validation' or 'seed', found the text 'boot'",
            "did you mean 'bootstrap'?",
        ),
    ]
    study = load(tmp_path, GOOD + training.replace("rotat", "rotate").replace("boot,", "bootstrap,")).study
    assert study.training is not None
    assert study.training.models["a"].model_extra == {"C": 0.1}


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("schema: 1\n\tstudy: x\n", "2:1", "not YAML"),
        ("schema: 1\nstudy: a: b\n", "2:9", "mapping values"),
        ("schema: [1\nstudy: x\n", "2:6", "not YAML"),
        ("schema: 1\nstudy: !!python/name:os.system x\n", "2:8", "the tag"),
        ("schema: 1\nstudy: !mine x\n", "2:8", "the tag"),
        ("schema: 1\n? [a, b]\n: 1\n", "2:3", "a key must be text"),
        ("schema: 1\nstudy: a\x07b\n", "2:9", "does not print"),
        ("schema: 1\nstudy: &a [*a]\n", "2:8", "an alias refers to"),
        ("schema: 1\n---\nstudy: 1\n", "2:1", "not YAML"),
    ],
)
def test_bad_yaml_has_a_line_and_a_column(tmp_path: Path, text: str, place: str, words: str) -> None:
    found = problems_of(tmp_path, text)
    at_place = [p for p in found if p.code == "P106"]
    assert [p.where for p in at_place] == [f"{tmp_path}/study.yaml:{place}"]
    assert words in at_place[0].message


def test_absurd_nesting_is_refused(tmp_path: Path) -> None:
    assert only(tmp_path, "a: " + "[" * 5000)[0] == "P129"


def test_a_file_that_is_not_there_empty_or_of_another_encoding_is_said(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(GOOD)
    with pytest.raises(StudyError, match="P109") as raised:
        load_study(tmp_path / "stuyd.yaml")
    assert raised.value.problems[0].help == "did you mean 'study.yaml'?"
    with pytest.raises(StudyError, match="P109"):
        load_study(tmp_path)
    for empty in ("", "\n# only a comment\n", "---\n"):
        assert only(tmp_path, empty)[0] == "P107"
    path.write_bytes(b"schema: 1\nstudy: caf\xe9\n")
    with pytest.raises(StudyError, match=r"P108.*0xe9") as raised:
        load_study(path)
    assert raised.value.problems[0].where == f"{path}:2:11"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    assert load_study(path).study.study == "my study"
    assert only(tmp_path, "- a\n- b\n") == ("P103", "the file: expected a mapping, found a list of 2", "study.yaml:1:1")


def test_flags_override_the_file_and_are_remembered(tmp_path: Path) -> None:
    flags = ("resampling.replicates=1e4", "metrics.1.beta=3", "systems.exclude=['ref*']", 'test_sets."a.b".outputs=x', "seed=5")
    loaded = load(tmp_path, GOOD, *flags)
    study = loaded.study
    assert (study.resampling.replicates, study.seed, study.systems.exclude) == (10_000, 5, ("ref*",))
    assert study.metrics[1].options == {"beta": 3}
    assert study.test_sets["a.b"].outputs == "x"
    assert loaded.overrides == flags
    assert load(tmp_path, GOOD, "metrics[0]=ter").study.metrics[0].name == "ter"


def test_a_flag_mends_what_the_file_has_wrong(tmp_path: Path) -> None:
    assert load(tmp_path, GOOD.replace("1_000", "x"), "resampling.replicates=5").study.resampling.replicates == 5


@pytest.mark.parametrize(
    ("flag", "code", "words"),
    [
        ("resampling.replicates=x", "P103", "expected a whole number, found the text 'x'"),
        ("resampling.replicats=5", "P101", "unknown key 'replicats' in resampling"),
        ("metrics.7=bleu", "P111", "metrics is a list of 2"),
        ("study.name=x", "P111", "study holds 'my study', which has no keys"),
        ("seed", "P111", "a key and its value are needed"),
        ("=5", "P111", "a key and its value are needed"),
        ("seed=[1", "P106", "not YAML"),
        ("systems={a: 1, a: 2}", "P102", "duplicate key 'a'"),
    ],
)
def test_problems_of_a_flag_name_the_flag(tmp_path: Path, flag: str, code: str, words: str) -> None:
    problem = problems_of(tmp_path, GOOD, flag)[0]
    assert (problem.code, problem.where) == (code, f"--set {flag}")
    assert words in problem.message


def test_the_resolved_study_does_not_know_how_it_was_written(tmp_path: Path) -> None:
    one = resolve(load(tmp_path, GOOD).study)
    text = GOOD.replace("1_000", "1e3").replace("bleu,", "{name: bleu},") + "seed: 20120712 # the default\n"
    other = resolve(load(tmp_path, text).study)
    assert digest(one) == digest(other)
    assert digest(one) != digest(resolve(load(tmp_path, GOOD, "seed=1").study))
    assert one["schema"] == 1


def test_every_value_tells_its_origin(tmp_path: Path) -> None:
    loaded = load(tmp_path, GOOD, "resampling.alpha=0.01")
    places: dict[KeyPath, str] = {
        ("resampling", "replicates"): "study.yaml:9:15",
        ("resampling", "alpha"): "--set resampling.alpha=0.01",
        ("metrics", 0): "study.yaml:7:11",
        ("metrics", 1, "beta"): "study.yaml:7:36",
    }
    assert {path: str(loaded.document.where(path)).rpartition("/")[2] for path in places} == places


@pytest.mark.parametrize("text", ["item,base,new\nq1,1,0\n", "1\n2\n", "He said: so: it is.\n", '{"a": 1}\n{"a": 2}\n'])
@pytest.mark.parametrize("name", ["my scores.csv", "scores"])
def test_a_table_in_place_of_a_study_is_said_to_be_none(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(StudyError) as raised:
        load_study(path)
    (problem,) = raised.value.problems
    assert (problem.code, problem.where) == ("P106", str(path))
    assert f"`pipeline compare {shlex.quote(str(path))} …`" in str(problem.help)


def test_a_file_called_like_a_study_is_read_as_one(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text("a: b: c\n")
    with pytest.raises(StudyError) as raised:
        load_study(tmp_path / "study.yaml")
    assert raised.value.problems[0].where == f"{tmp_path / 'study.yaml'}:1:5"


def test_a_study_knows_the_command_that_asks_it_again(tmp_path: Path) -> None:
    (tmp_path / "my study.yaml").write_text(GOOD)
    loaded = load_study(tmp_path / "my study.yaml", ["seed=7", "study=a b"])
    assert loaded.command == "pipeline run 'my study.yaml' --set seed=7 --set 'study=a b'"
