"""Study × inputs × what exists → open tasks: comparisons, blocks, what is missing, costs and time. Pure: it reads no file."""
