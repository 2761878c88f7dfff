"""A transition-based dependency parser: build a tree step by step, greedily (Goldberg and Nivre 2012, 2013)."""

from __future__ import annotations

from typing import ClassVar

from reference_systems._options import check_choice
from reference_systems._parser_base import ParserTrainer

__all__ = ["TransitionParserTrainer"]


class TransitionParserTrainer(ParserTrainer):
    """Fits a greedy arc-hybrid parser with a dynamic oracle; its time is linear in the words.

    The next step is the one with the highest ``w_step · f(stack, buffer, arcs so far)``; the weights are an averaged
    perceptron's, and the learner mostly follows its own steps (Goldberg and Nivre 2013, doi:10.1162/tacl_a_00237). Of sentences
    with crossing arcs it learns those arcs that can be reached. Relations are chosen afterwards.

    Parameters
    ----------
    epochs : int
        Passes over the sample.
    direction : {"forwards", "backwards"}
        Whether sentences are read from left to right or from right to left.
    tags : {"both", "tag", "upos"}
        What is seen of a token besides its word.
    bits : int
        Features are hashed to ``2 ** bits`` rows.
    """

    name: ClassVar[str] = "transition-parser"
    signature = "transition-parser|1"

    def __init__(self, *, epochs: int = 10, direction: str = "forwards", tags: str = "both", bits: int = 21) -> None:
        forwards = check_choice(self.name, "direction", direction, ("forwards", "backwards")) == "forwards"
        super().__init__("steps forwards" if forwards else "steps backwards", epochs=epochs, tags=tags, bits=bits, most_bits=26)
