"""(spec, store) → receipt: each task loads, calls one thing, writes, returns. Where families, numbers and cubes meet."""
