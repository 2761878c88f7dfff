"""(spec, store) → receipt: each task loads, calls one thing, writes, returns. The place where families, numbers and cubes meet."""
