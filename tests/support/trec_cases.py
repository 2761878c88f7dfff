"""Runs and judgements that nobody made, with all that trec_eval decides in its own way; as a program, asks trec_eval about them.

``python tests/support/trec_cases.py`` needs pytrec-eval-terrier and writes ``tests/golden/trec_eval.json``.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

MEASURES = {"map", "map_cut_5", "ndcg", "ndcg_cut_5", "recip_rank", "P_5", "P_10"}
CASES = ("grid", "close", "plain")
LEVELS = (1, 2)
VALUES = Path(__file__).resolve().parents[1] / "golden" / "trec_eval.json"


def make_case(name: str) -> tuple[str, str]:
    """Return qrels and a run: few different scores, scores that differ in double precision alone, or any.

    Documents are judged from −2 to 3 or not at all, some that are judged are not found, one topic has nothing relevant. Ranks in
    the run are wrong, and its lines in no order.
    """
    draw = random.Random(f"trec {name}").random
    qrels, run = [], []
    for topic in range(12):
        for document in range(40):
            judged, found = draw(), draw()
            level = int(draw() * 6) - 2 if topic else min(0, int(draw() * 3) - 1)
            if judged < 0.6:
                qrels.append(f"t{topic} 0 d{document} {level}")
            score = {
                "grid": float(int(draw() * 4)),
                "close": 7.0 + int(draw() * 8) * 2e-7 + draw() * 1e-9,
                "plain": draw() * 20 - 10,
            }
            if found < 0.8:
                run.append((draw(), f"t{topic} Q0 d{document} {int(draw() * 99)} {score[name]!r} mine"))
    return "\n".join(qrels) + "\n", "\n".join(line for _, line in sorted(run)) + "\n"


def main() -> None:
    import pytrec_eval

    found: dict[str, object] = {"tool": f"pytrec-eval-terrier {sys.argv[1] if len(sys.argv) > 1 else ''}".strip()}
    for name in CASES:
        qrels, run = make_case(name)
        for level in LEVELS:
            judged = pytrec_eval.parse_qrel(qrels.splitlines())
            tool = pytrec_eval.RelevanceEvaluator(judged, MEASURES, relevance_level=level)
            found[f"{name} {level}"] = tool.evaluate(pytrec_eval.parse_run(run.splitlines()))
    VALUES.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
