"""The figures that say where systems stand: scores with intervals and ranks, and all pairs as a matrix."""
