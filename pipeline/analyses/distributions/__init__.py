"""How do the scores of a retrained model vary, and is one model better on the same training sample? Whole distributions."""
