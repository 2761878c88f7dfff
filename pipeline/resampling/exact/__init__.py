"""Probabilities without Monte-Carlo error: sign-flips and bootstrap samples by convolution, tails by tilting, enclosures."""
