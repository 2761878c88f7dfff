"""Weights times columns, in exact products: of floats, of bytes, of bits, and by tiles; the same sums on every processor."""
