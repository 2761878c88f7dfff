"""A graph-based dependency parser: score every arc by itself and take the best tree (McDonald et al. 2005)."""

from __future__ import annotations

from typing import ClassVar

from reference_systems._options import check_choice
from reference_systems._parser_base import ParserTrainer

__all__ = ["GraphParserTrainer"]


class GraphParserTrainer(ParserTrainer):
    """Fits a first-order graph-based parser: the best tree over arcs that are scored one by one.

    ``score(tree) = Σ w · f(head, dependent)``; the weights are a structured averaged perceptron's with a margin, over hashed
    features (McDonald, Crammer and Pereira 2005, doi:10.3115/1219840.1219852). Relations are chosen afterwards.

    Parameters
    ----------
    epochs : int
        Passes over the sample.
    trees : {"projective", "any"}
        The best tree without crossing arcs (Eisner 1996) or the best of all (Chu, Liu and Edmonds; McDonald et al. 2005,
        doi:10.3115/1220575.1220641).
    tags : {"both", "tag", "upos"}
        What is seen of a token besides its word.
    bits : int
        Features are hashed to ``2 ** bits`` rows.
    """

    name: ClassVar[str] = "graph-parser"
    signature = "graph-parser|1"

    def __init__(self, *, epochs: int = 8, trees: str = "projective", tags: str = "both", bits: int = 22) -> None:
        projective = check_choice(self.name, "trees", trees, ("projective", "any")) == "projective"
        super().__init__("projective arcs" if projective else "arcs", epochs=epochs, tags=tags, bits=bits, most_bits=28)
