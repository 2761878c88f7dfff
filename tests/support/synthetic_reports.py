"""Reports of synthetic studies, also with names that need care."""

import numpy as np

from pipeline.analyses import load_analysis
from pipeline.report.build import build_report
from pipeline.report.document import read_report, to_document
from pipeline.report.input import ReportInput
from pipeline.study.schema import Study
from support.synthetic_cubes import build_cube

ODD = ["<script>alert(1)</script>", "a & b", 'say "hi"', "中文系统", "pipe|*star*", "$x_1$"]


def make_report(cubes, *, metric="bleu", analyses=("thresholds", "size-curve", "calibration-transfer"), resampling=None, **extra):
    documents = {"documents": "documents.tsv"} if (resampling or {}).get("unit") == "document" else {}
    study = Study.model_validate(
        {
            "schema": 1,
            "study": "synthetic <study>",
            "seed": 7,
            "metrics": [metric],
            "resampling": resampling or {},
            "test_sets": {name: {"outputs": "out/{system}.txt", **documents} for name in cubes},
        }
    )
    findings = [load_analysis(name).find(cubes, {}) for name in analyses]
    alignment = [
        {"test_set": name, "system": str(s), "items": 1000, "common": 1000, "missing": 0, "duplicates": 0, "identical_to": ()}
        for name, cube in cubes.items()
        for s in cube["system"].values
    ]
    given = {"alignment": alignment, "versions": {"pipeline": "0.1.0", "numpy": "2.2"}, "run_id": "synthetic-0123", **extra}
    return ReportInput(study=study, cubes=cubes, findings=findings, **given)


def odd_cubes(systems=12, seed=4):
    rng = np.random.default_rng(seed)
    names = [*ODD, *(f"s{i}" for i in range(systems - len(ODD)))]
    models = ["m<1>" if i % 2 else "m&2" for i in range(systems)]
    sizes = {"100": 100, "200": 200, "400": 400, "full": 1000}
    n = np.array(list(sizes.values()))[:, None]
    truth = rng.normal(50, 1.0, systems)
    truth[-1] = truth[-2]
    pairs = systems * (systems - 1) // 2
    se = rng.uniform(8, 14, pairs) / np.sqrt(n)

    def cube(name, shift):
        noise = rng.normal(0, 8, (4, systems)) / np.sqrt(n)
        noise[:, -1] = noise[:, -2]
        return build_cube(
            truth + shift + noise,
            names,
            name=name,
            sizes=sizes,
            se=se,
            coords={"model": models},
            identical=[(names[-2], names[-1])],
        )

    return {"news <1>": cube("news <1>", 0.0), "other/..": cube("other/..", np.append(rng.normal(0, 0.7, systems - 2), [0.1, 0.1]))}


def hold_to_schema(document):
    """Return a document of a report after checking that it is what the published types say, with nothing lost and nothing added."""
    assert to_document(read_report(document)) == document
    return document


def build_document(given):
    """Return what ``report.json`` holds, held to its schema."""
    return hold_to_schema(to_document(build_report(given)))
