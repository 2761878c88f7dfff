"""The luck of one training run: what trained replicas say about differences."""

OF_RUNS = True
