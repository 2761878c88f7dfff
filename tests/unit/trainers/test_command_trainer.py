"""Systems that come in by commands: what they are given, what is taken from them, and how each failure is told."""

from __future__ import annotations

import pickle
import sys
from functools import partial

import numpy as np
import pytest

from pipeline.errors import DataError, PluginError, StudyError
from pipeline.interfaces import TrainingItems
from pipeline.items.readers.tagged import TaggedReader
from pipeline.trainers._outcome import CommandFailed
from pipeline.trainers.registry import load_trainer

LABELS = ("p", "q", "q", "q")
MAJORITY = {
    "fit": "cut -f2 {train} | sort | uniq -c | sort -rn | awk 'NR==1 {{print $2}}' > {model}",
    "predict": "awk -v FS='\\t' -v OFS='\\t' 'NR==FNR {{m=$1; next}} {{print $1, m}}' {model} {input} > {output}",
}


def write_table(path, columns, ids):
    """Write items as ``text TAB label``: a format as small as can be."""
    labels = columns.get("label", [""] * len(ids))
    path.write_text("".join(f"{text}\t{label}\n" for text, label in zip(columns["text"], labels, strict=True)))


def read_table(path):
    rows = [line.split("\t") for line in path.read_text().splitlines()]
    if any(len(row) != 2 for row in rows):
        raise DataError.of("P212", "a row has not two fields", where=f"{path}:1")
    return {"text": [row[0] for row in rows], "label": [row[1] for row in rows]}


def table(**columns):
    count = len(next(iter(columns.values())))
    return TrainingItems(tuple(map(str, range(count))), columns, writer=write_table, reads=read_table)


TRAIN = table(text=("a", "b", "c", "d"), label=LABELS)
TEST = table(text=("x", "y"))


def outputs(options, tmp_path, *, sample=(0, 1, 2, 3), seed=7, train=TRAIN, test=TEST):
    trainer = load_trainer("command", options)
    model = trainer.fit(train, np.array(sample, dtype=np.int64), seed=seed, workdir=tmp_path)
    return trainer.predict(model, test)


def failure(options, tmp_path, **others):
    with pytest.raises(CommandFailed) as caught:
        outputs(options, tmp_path, **others)
    return caught.value.problems[0]


def test_a_command_learns_from_the_sample_as_often_as_drawn_and_predicts_what_was_not_given(tmp_path):
    assert outputs(MAJORITY, tmp_path / "one") == {"label": ["q", "q"]}
    assert outputs(MAJORITY, tmp_path / "two", sample=(0, 1, 0, 0)) == {"label": ["p", "p"]}


@pytest.fixture(autouse=True)
def _folders(tmp_path):
    for name in ("one", "two", "it's a $(touch caught); `touch caught`\n*"):
        (tmp_path / name).mkdir()


def test_shell_metacharacters_in_paths_do_no_harm(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert outputs(MAJORITY, tmp_path / "it's a $(touch caught); `touch caught`\n*") == {"label": ["q", "q"]}
    assert not list(tmp_path.rglob("caught"))


def test_a_command_is_told_the_seed_and_files_it_may_use(tmp_path):
    fit = "mkdir {model}; cp {train} {model}/kept; echo {seed} > {model}/seed; echo here > note"
    predict = "cut -f1 {input} | awk -v s=$(cat note) '{{print $0 \"\\t\" s}}' > {output}; cp {model}/seed {workdir}/again"
    assert outputs({"fit": fit, "predict": predict}, tmp_path / "one", seed=12345) == {"label": ["here", "here"]}
    assert (tmp_path / "one" / "work" / "again").read_text() == "12345\n"
    assert (tmp_path / "one/model/kept").read_text() == "a\tp\nb\tq\nc\tq\nd\tq\n"


def test_a_system_that_is_ready_needs_no_fit(tmp_path):
    predict = "awk -v FS='\\t' -v s={seed} '{{print $1 \"\\t\" length($1) s}}' {input} > {output}"
    assert outputs({"predict": predict}, tmp_path / "one", seed=3) == {"label": ["13", "13"]}
    assert not (tmp_path / "one/train").exists()


def test_without_fit_the_training_file_may_still_be_asked_for(tmp_path):
    predict = "n=$(wc -l < {train}); awk -v FS='\\t' -v n=$n '{{print $1 \"\\t\" n}}' {input} > {output}"
    assert outputs({"predict": predict}, tmp_path / "one", sample=(0, 0, 3)) == {"label": ["3", "3"]}


def test_several_test_sets_are_predicted_with_one_model(tmp_path):
    trainer = load_trainer("command", MAJORITY)
    model = pickle.loads(pickle.dumps(trainer.fit(TRAIN, np.arange(4), seed=1, workdir=tmp_path / "one")))
    assert [trainer.predict(model, items)["label"] for items in (TEST, table(text=("z",)), TEST)] == [["q", "q"], ["q"], ["q", "q"]]
    assert not list((tmp_path / "one").glob("predict-*"))


def test_a_model_tells_what_training_took(tmp_path):
    trainer = load_trainer("command", MAJORITY | {"fit": "echo trained; sleep 0.05; cp {train} {model}"})
    model = trainer.fit(TRAIN, np.arange(4), seed=1, workdir=tmp_path / "one")
    assert model.seconds >= 0.05
    assert model.memory_bytes > 0
    assert "trained" in model.log
    assert model.notes == ()


def test_what_each_command_printed_is_kept_until_the_model_is_done(tmp_path):
    trainer = load_trainer("command", {"fit": "echo learns; cp {train} {model}", "predict": f"echo tags; {MAJORITY['predict']}"})
    model = trainer.fit(TRAIN, np.arange(4), seed=1, workdir=tmp_path / "one")
    trainer.predict(model, TEST)
    trainer.predict(model, TEST)
    assert [line for line in model.log.splitlines() if line and line[0] != "-"] == ["learns", "tags", "tags"]
    ready = load_trainer("command", {"predict": f"echo ready; {MAJORITY['predict']}".replace("{model}", "{input}")})
    alone = ready.fit(TRAIN, np.arange(4), seed=1, workdir=tmp_path / "two")
    ready.predict(alone, TEST)
    assert "ready" in alone.log


COPY = "cp {input} {output}"


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        ({"fit": "cat {train}; echo why >&2; exit 9", "predict": COPY}, "P411", "exit code 9"),
        ({"fit": ": {train} {model}", "predict": COPY}, "P412", "wrote no {model}"),
        ({"predict": ": {input} {output}"}, "P412", r"wrote no {output}"),
        ({"predict": ": {input} > {output}"}, "P412", "left {output} empty"),
        ({"predict": "mkdir {output}; : {input}"}, "P412", "wrote no {output}"),
        ({"predict": "head -1 {input} > {output}"}, "P413", "1 items, and there are 2"),
        ({"predict": "cat {input} {input} > {output}"}, "P413", "4 items, and there are 2"),
        ({"predict": "cut -f1 {input} > {output}"}, "P413", "a row has not two fields (output:1)"),
        ({"predict": COPY, "gives": ["head"]}, "P413", "lacks the column 'head'"),
        ({"predict": "sleep 60; " + COPY, "limits": {"minutes": 0.005}}, "P416", "stopped after 0.005 minutes"),
        ({"predict": "head -c 9000000 /dev/zero > {output} < {input}", "limits": {"disk": "1 MB"}}, "P414", "1.0 MB"),
        ({"predict": "nosuchprogram {input} {output}"}, "P417", "not there"),
    ],
)
def test_each_failure_of_a_command_has_its_code(tmp_path, options, code, says):
    problem = failure(options, tmp_path / "one")
    assert problem.code == code
    assert says in problem.message


@pytest.mark.parametrize(
    ("fit", "helps"),
    [
        (f"{sys.executable} train.py {{train}} {{model}}", "write `{path}/` before their names"),
        ("./train.sh {train} {model}", "write `{path}/` before programs"),
        ("sh train.sh {train} {model}", "write `{path}/` before "),
        ("exit 9; : {train} {model}", "1 line of {train} begins with `# ` and is not an item: does the program skip it?"),
    ],
)
def test_a_first_training_that_fails_is_told_what_it_may_be(tmp_path, fit, helps):
    problem = failure({"fit": fit, "predict": COPY}, tmp_path / "one", sample=(0,), train=documents(1))
    assert helps in (problem.help or "")


def test_nothing_is_guessed_where_each_line_is_an_item(tmp_path):
    assert failure({"fit": "cat {train}; exit 9", "predict": COPY}, tmp_path / "one").help is None


def documents(number):
    """Return sentences of as many documents, each of which has a line with its name where they are written."""
    reader = TaggedReader()
    names = tuple(f"letter{k}" for k in range(number))
    columns = {"word": (("a", "b"),) * number, "tag": (("T", "U"),) * number, "document": names}
    return TrainingItems(tuple(map(str, range(number))), columns, writer=reader.write, reads=partial(read_outputs, reader))


@pytest.mark.parametrize(
    ("predict", "guessed"), [("sed 's/^# .*/x\\/T/; s#/_#/T#g'", True), ("sed '1s/.*/x\\/T/; s#/_#/T#g'", False)]
)
def test_names_of_documents_that_come_back_as_items_are_recognised(tmp_path, predict, guessed):
    problem = failure({"predict": predict + " {input} > {output}"}, tmp_path / "one", sample=(0,), test=documents(2))
    assert problem.message.endswith(": the 2 lines of {input} that begin with `# ` seem to be among them") is guessed
    assert ("seem to be" in problem.message) is guessed  # nor of another number of lines
    assert "items, and there are 2 to predict" in problem.message


def test_a_sentence_that_lost_a_word_is_found(tmp_path):
    def write(path, columns, ids):
        path.write_text("".join(" ".join(words) + "\n" for words in columns["word"]))

    def read(path):
        words = [tuple(line.split()) for line in path.read_text().splitlines()]
        return {"word": words, "tag": [("T",) * len(sentence) for sentence in words]}

    items = TrainingItems(("s1", "s2"), {"word": (("a", "b"), ("c", "d"))}, writer=write, reads=read)
    assert outputs({"predict": COPY}, tmp_path / "one", sample=(0,), train=items, test=items) == {"tag": [("T", "T"), ("T", "T")]}
    problem = failure({"predict": "sed 's/ d//' {input} > {output}"}, tmp_path / "two", sample=(0,), train=items, test=items)
    assert "item s2 has 1 of 'word', and 2 were given" in problem.message


def test_sentences_that_come_back_in_another_order_are_found(tmp_path):
    reader = TaggedReader()
    words = TrainingItems(("1", "2"), {"word": (("a", "b"), ("a", "d"))}, writer=reader.write, reads=partial(read_outputs, reader))
    options = {"predict": "sed 's#/_#/T#g' {input} | sort -r > {output}"}
    problem = failure(options, tmp_path / "one", sample=(0,), train=words, test=words)
    assert "token 2 of item 1 is 'd', and 'b' was given" in problem.message


def test_identifiers_of_a_sample_are_new_for_items_come_several_times(tmp_path):
    seen = []
    items = TrainingItems(
        ("one", "two"), {"text": ("a", "b")}, writer=lambda path, columns, ids: seen.append(ids), reads=read_table
    )
    load_trainer("command", {"fit": ": {train}", "predict": COPY}).fit(items, np.array([1, 1, 0]), seed=0, workdir=tmp_path / "one")
    assert seen == [("1", "2", "3")]


def test_a_disk_that_is_full_before_the_command_starts_is_told(tmp_path):
    def full(path, columns, ids):
        raise OSError(28, "No space left on device")

    items = TrainingItems(("1",), {"text": ("a",)}, writer=full, reads=read_table)
    assert failure({"predict": COPY}, tmp_path / "one", sample=(0,), train=items, test=items).code == "P414"


def test_items_that_came_from_no_file_are_refused(tmp_path):
    items = TrainingItems(("1",), {"label": ("a",)}, np.zeros((1, 2)))
    with pytest.raises(PluginError, match="cannot be written") as caught:
        outputs(MAJORITY, tmp_path / "one", sample=(0,), train=items)
    assert caught.value.problems[0].code == "P307"


def test_programs_of_the_study_are_found_by_path(tmp_path):
    programs = tmp_path / "one"
    (programs / "double.sh").write_text('sed "s/$/$WHAT/" "$1" > "$2"\n')
    options = {"predict": "sh {path}/double.sh {input} {output}", "path": str(programs), "environment": {"WHAT": 7}}
    assert outputs(options, tmp_path / "two") == {"label": ["7", "7"]}


def test_temporary_files_go_with_the_rest(tmp_path):
    outputs({"fit": "mktemp > {model}; : {train}", "predict": COPY}, tmp_path / "one")
    assert (tmp_path / "one/model").read_text().startswith(str(tmp_path / "one/temporary/"))


def test_the_order_of_sets_in_python_is_fixed(tmp_path):
    program = f"{sys.executable} -c 'print(hash(\"a\"))' > {{model}}; : {{train}}"
    hashes = set()
    for place in ("one", "two"):
        outputs({"fit": program, "predict": COPY}, tmp_path / place)
        hashes.add((tmp_path / place / "model").read_text())
    assert len(hashes) == 1


def signature(**options):
    return load_trainer("command", MAJORITY | options).signature


def test_a_changed_command_or_version_is_another_signature_and_limits_are_not():
    assert signature() == signature()
    assert signature(limits={"minutes": 3}) == signature()
    others = {signature(), signature(version="2"), signature(fit=MAJORITY["fit"] + " "), signature(version_command="echo 1.0")}
    others.add(signature(version_command="echo 1.1"))
    assert len(others) == 5


def test_a_version_command_that_fails_is_a_plugin_error():
    with pytest.raises(PluginError, match="exit code 2") as caught:
        signature(version_command="echo no licence >&2; exit 2")
    assert caught.value.problems[0].code == "P311"
    assert "no licence" in caught.value.problems[0].note


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"predict": "p"}, "has no {input}"),
        ({"predict": "p {input}"}, "has no {output}"),
        ({"predict": COPY, "fit": "t {model}"}, "has no {train}"),
        ({"predict": COPY, "fit": "t {train} {input}"}, "no placeholder {input}"),
        ({"predict": "p '{input}' {output}"}, "within '…' quotes"),
        ({"predict": "{path}/p {input} {output}"}, "no option 'path'"),
        ({"predict": ["p"]}, "is a command of the shell"),
        ({"predict": COPY, "limits": {"minutes": -1}}, "above 0"),
        ({"predict": COPY, "environment": {"A B": 1}}, "not the name of a variable"),
        ({"predict": COPY, "environment": {"A": True}}, "text or a number"),
        ({"predict": COPY, "environment": ["A=1"]}, "is a mapping"),
        ({"predict": COPY, "same_bits": "yes"}, "true or false"),
        ({"predict": COPY, "suffix": "a/b"}, "end of a file name"),
        ({"predict": COPY, "gives": "tag"}, "list of columns"),
    ],
)
def test_options_of_no_use_are_refused_before_any_training(options, says):
    with pytest.raises(StudyError) as caught:
        load_trainer("command", options)
    assert [problem.code for problem in caught.value.problems] == ["P151"] * len(caught.value.problems)
    assert any(says in problem.message for problem in caught.value.problems)


def test_every_wrong_option_is_named_at_once():
    with pytest.raises(StudyError) as caught:
        load_trainer("command", {"predict": "p {in}", "fit": "t", "limits": 5, "suffix": 3})
    assert len(caught.value.problems) == 4


def test_a_promise_of_the_same_bits_is_the_studys_to_make():
    assert load_trainer("command", MAJORITY).same_bits is False
    assert load_trainer("command", MAJORITY | {"same_bits": True}).same_bits is True


TAG = """
tr ' ' '\\n' < {model} | awk -F/ 'NF == 2' > words
awk -F/ 'NR == FNR {{ tag[$1] = $2; next }} {{ n = split($0, token, " "); for (k = 1; k <= n; k++) {{
  split(token[k], part, "/"); printf "%s/%s%s", part[1], tag[part[1]], k < n ? " " : "\\n" }} }}' words {input} > {output}
"""


def read_outputs(reader, path):
    return reader.read_outputs(path, system="x", options={})["x"].columns


def test_a_reader_of_a_real_format_goes_with_it(tmp_path):
    reader = TaggedReader()
    kept = {"writer": reader.write, "reads": partial(read_outputs, reader)}
    train = TrainingItems(("1", "2"), {"word": (("the", "dog"), ("dogs", "bark")), "tag": (("D", "N"), ("N", "V"))}, **kept)
    test = TrainingItems(("1", "2"), {"word": (("dogs",), ("the", "dogs", "bark"))}, **kept)
    options = {"fit": "cp {train} {model}", "predict": TAG}
    assert outputs(options, tmp_path / "one", sample=(1, 0), train=train, test=test) == {"tag": (("N",), ("D", "N", "V"))}
