"""Which nulls are simulated, and what was expected of them before anything was run: two tables."""

from __future__ import annotations

from levels_table.nulls import Alike, Binary, Gaussian, Precision, Skewed
from levels_table.rates import Case

__all__ = ["CASES", "SAID"]

_BOOTSTRAP = ("one-sided", "two-sided", "two-sided-plus-one", "below-zero", "at-or-below-zero", "riezler-maxwell")
_SWAPS = ("approximate-randomization", "approximate-randomization, strict")
_PRESETS = ("sacrebleu-bs", "sacrebleu-ar")
_EXACT = ("exact-bootstrap", "exact-sign-flip")
_COINS = ("mcnemar", "mcnemar-mid-p", "sign")
_MEANS = ("paired-t", "wilcoxon")
_BINARY = (*_BOOTSTRAP, *_SWAPS, *_EXACT, *_COINS, *_MEANS)
_GAUSSIAN = (*_BOOTSTRAP, *_SWAPS, "sign", *_MEANS)
_FAMILY = (
    "max-t",
    "max-t, not corrected",
    "unadjusted, any pair",
)
_REACH = ("max-t", "max-t with floors", "max-t, not corrected", "max-t with floors, not corrected", "unadjusted, any pair")
_RANKS = ("rank intervals", "rank intervals, not corrected")
_APART = (0.0, 0.1, 0.2, 3.0, 3.1, 9.0)

CASES = (
    Case("m1", Binary(100, 0.01, fixed=True), _BINARY, _PRESETS),
    Case("m2", Binary(100, 0.02, fixed=True), _BINARY, _PRESETS),
    Case("n20", Binary(20, 0.20), _BINARY, _PRESETS),
    Case("n20-some", Binary(20, 0.30), _BINARY, _PRESETS),
    Case("n20-all", Binary(20, 1.0, fixed=True), _BINARY, _PRESETS),
    Case("n100", Binary(100, 0.20), _BINARY, _PRESETS),
    Case("n1000", Binary(1000, 0.20, fixed=True), _BINARY, _PRESETS),
    Case("gaussian20", Gaussian(20), _GAUSSIAN, (*_EXACT, *_PRESETS)),
    Case("gaussian100", Gaussian(100), _GAUSSIAN, (*_EXACT, *_PRESETS)),
    Case("precision", Precision(100, (5.0, 5.0)), (*_BOOTSTRAP, *_SWAPS, "paired-t"), _PRESETS),
    Case("lengths", Precision(100, (2.0, 8.0)), (*_BOOTSTRAP, *_SWAPS, "paired-t"), _PRESETS),
    Case("family20", Gaussian(20, systems=6), _FAMILY),
    Case("family100", Gaussian(100, systems=6), _FAMILY),
    Case("family1000", Gaussian(1000, systems=6), _FAMILY),
    Case("many20", Gaussian(20, systems=20), _FAMILY),
    Case("skewed20", Skewed(20, systems=6), _FAMILY),
    Case("skewed100", Skewed(100, systems=6), _FAMILY),
    Case("discordant20", Alike(100, 0.20, systems=6), _REACH),
    Case("discordant5", Alike(100, 0.05, systems=6), _REACH),
    Case("ranks20", Gaussian(20, systems=6, means=_APART), _RANKS),
    Case("ranks100", Gaussian(100, systems=6, means=_APART), _RANKS),
)

_FAMILIES = ("family20", "family100", "family1000", "many20", "skewed20", "skewed100", "discordant20", "discordant5")
_FOLD = "11.0 (24.6 at .10), in the limit"
SAID = {
    ("m1", "below-zero"): "100",
    ("m2", "below-zero"): "50",
    **{(key, "one-sided"): "17 to 26" for key in ("n20", "n20-some", "n20-all")},
    **{(key, "approximate-randomization, strict"): "11.5 to 15.4" for key in ("n20", "n20-some", "n20-all")},
    **{(key, "approximate-randomization"): "1.3 to 4.1" for key in ("n20", "n20-some", "n20-all")},
    ("n100", "one-sided"): "13",
    **{(key, "one-sided"): "10, in the limit" for key in ("n1000", "gaussian100", "precision", "lengths")},
    **{(key, "riezler-maxwell"): _FOLD for key in ("n1000", "gaussian100", "precision", "lengths")},
    **{(key, "sacrebleu-bs"): _FOLD for key in ("n1000", "gaussian100", "precision", "lengths")},
    ("gaussian20", "two-sided"): "7.1",
    **{(key, "exact-sign-flip"): "5" for key in ("gaussian20", "gaussian100")},
    **{(key, "approximate-randomization"): "5" for key in ("gaussian20", "gaussian100", "precision")},
    ("lengths", "approximate-randomization"): "not assured",
    **{(key, "max-t"): "5" for key in _FAMILIES},
    **{(key, "rank intervals"): "at most 5" for key in ("ranks20", "ranks100")},
}
"""Per cent of true nulls rejected at .05, by case and rule: what the specification of the procedures says; of intervals, how
many may miss."""
