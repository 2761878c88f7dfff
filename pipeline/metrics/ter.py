"""TER as edits over reference words, counted with sacreBLEU; both sums stay whole numbers."""

from __future__ import annotations

import math
from functools import partial
from typing import Literal

import numpy as np
import sacrebleu
from sacrebleu.metrics.ter import TER

from pipeline.interfaces import Items, Metric, ScoreFunction, Statistics
from pipeline.metrics._columns import output_column, reference_columns
from pipeline.metrics.kernels import score_ratio
from pipeline.options import check_flag

__all__ = ["Ter"]


class Ter(Metric):
    """Translation edit rate (Snover and others 2006) as sacreBLEU computes it; lower is better.

    With R references sacreBLEU divides the fewest edits by the *mean* reference length. Here edits × R are divided by the *sum* of
    the R lengths: the same number, in integers. If segments have different numbers of references, R is their least common multiple.
    A replicate without any reference word has no TER (nan); sacreBLEU prints 0 or 100 there.

    Parameters
    ----------
    normalized : bool
        Normalize and split off punctuation.
    no_punct : bool
        Remove punctuation.
    asian_support : bool
        Treat Asian characters one by one, if normalized.
    case_sensitive : bool
        Keep case.
    """

    name = "ter"
    form: Literal["ratio", "general"] = "ratio"
    needs_of_outputs: tuple[str, ...] = ("text",)
    needs_of_gold: tuple[str, ...] = ("reference",)
    denominators: Literal["unknown", "own", "shared", "items"] = "shared"
    higher_is_better = False
    factor = 100.0
    statistics: tuple[str, ...] = ("edits", "reference_length")

    def __init__(
        self, *, normalized: bool = False, no_punct: bool = False, asian_support: bool = False, case_sensitive: bool = False
    ) -> None:
        self.normalized = check_flag("normalized", normalized)
        self.no_punct = check_flag("no_punct", no_punct)
        self.asian_support = check_flag("asian_support", asian_support)
        self.case_sensitive = check_flag("case_sensitive", case_sensitive)

    @property
    def signature(self) -> str:
        """Name, case, normalization, and the version of sacreBLEU."""
        flags = {"norm": self.normalized, "punct": not self.no_punct, "asian": self.asian_support}
        shown = "|".join(f"{name}:{'yes' if flag else 'no'}" for name, flag in flags.items())
        case = "mixed" if self.case_sensitive else "lc"
        return f"TER|case:{case}|tok:tercom|{shown}|sacrebleu:{sacrebleu.__version__}"

    def prepare(self, gold: Items | None) -> TER:
        """Tokenize all references once."""
        references = reference_columns(self.name, gold)
        return TER(
            normalized=self.normalized,
            no_punct=self.no_punct,
            asian_support=self.asian_support,
            case_sensitive=self.case_sensitive,
            references=references,
        )

    def extract(self, prepared: TER, output: Items) -> Statistics:
        """Count the edits of each segment to its nearest reference, times R, and the mean of their words, times R."""
        rows = prepared._extract_corpus_statistics(output_column(self.name, output, "text"), None)
        multiple = _common_multiple(prepared)
        values = np.array([(edits * multiple, round(mean * multiple)) for edits, mean in rows], dtype=np.int64)
        return Statistics(values.reshape(-1, 2), (0, 0))

    def scorer(self, decimals: tuple[int, ...]) -> ScoreFunction:
        """Return TER in percent of summed counts."""
        return partial(score_ratio, decimals=decimals, factor=self.factor)


def _common_multiple(prepared: TER) -> int:
    """Return the least number that the references of every segment divide."""
    if prepared.num_refs > 0:
        return int(prepared.num_refs)
    return math.lcm(*{len(segment["ref_words"]) for segment in prepared._ref_cache or ()})
