"""The gold that outputs are fitted to is read once, is all of it, and is the one that was surveyed."""

from __future__ import annotations

import pytest

from pipeline.errors import DataError
from pipeline.items.align import survey_test_set
from pipeline.items.gold import read_gold, whole_gold_once
from pipeline.items.outputs import load_output
from pipeline.study.schema import Systems
from pipeline.study.sets import TestSet
from pipeline.study.training_schema import DatasetSpec

PARTED = "1\tfog\t_\tX\tX\t_\t0\troot\t_\t_\n2\tsea\t_\tX\tX\t_\t1\tdep\t_\t_\n\n"
JOINED = "1\tfogsea\t_\tX\tX\t_\t0\troot\t_\t_\n\n"


def test_an_output_is_not_fitted_to_another_gold_than_was_surveyed(tmp_path):
    (tmp_path / "gold").write_text(PARTED + JOINED)
    for name in ("north", "south"):
        (tmp_path / name).write_text(JOINED * 2)
    spec = TestSet(format="conllu", gold="gold", outputs={"north": "north", "south": "south"}, items="1-2")
    found = survey_test_set("t", spec, base=tmp_path, systems=Systems(), unit="item")
    given = {"frame": found.frame, "base": tmp_path, "gold_digest": found.gold_digest}
    assert load_output(spec, found.outputs[0], **given).columns["aligned"] == ((0,), (1,))
    (tmp_path / "gold").write_text(JOINED + PARTED)  # the same text, in other words
    with pytest.raises(DataError) as caught:
        load_output(spec, found.outputs[1], **given)
    assert [(problem.code, problem.where) for problem in caught.value.problems] == [("P220", str(tmp_path / "gold"))]


def test_the_digest_is_that_of_the_items_that_are_chosen(tmp_path):
    (tmp_path / "gold").write_text(PARTED * 3)
    spec = TestSet(format="conllu", gold="gold", outputs={}, items="2-3")
    found = survey_test_set("t", spec, base=tmp_path, systems=Systems(), unit="item", min_systems=0)
    whole = whole_gold_once(spec, tmp_path, digest=found.gold_digest)
    assert len(whole) == 3
    assert whole_gold_once(spec, tmp_path, digest=found.gold_digest) is whole


def test_letters_are_fitted_to_all_of_an_embedded_gold_in_the_survey_and_after(tmp_path):
    gold = DatasetSpec(dataset="digits")
    given = {"format": {"name": "labels", "layout": "letters"}, "gold": gold, "outputs": "letters.tsv"}
    labels = read_gold(TestSet(**given), tmp_path).columns["label"]
    rows = {"north": "".join(map(str, labels)), "south": "".join(map(str, labels))[::-1]}
    (tmp_path / "letters.tsv").write_text("system\tanswers\n" + "".join(f"{name}\t{row}\n" for name, row in rows.items()))
    spec = TestSet(**given, items="3-7")
    chosen = read_gold(spec, tmp_path)
    found = survey_test_set("t", spec, base=tmp_path, systems=Systems(), unit="item", gold=chosen)
    assert found.frame.ids == chosen.ids
    for output in found.outputs:
        items = load_output(spec, output, frame=found.frame, base=tmp_path)
        assert "".join(items.columns["label"]) == rows[output.system][2:7]
