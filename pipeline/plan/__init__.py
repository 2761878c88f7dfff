"""Study × inputs × existing results → open tasks: comparisons, blocks, missing cells, costs and time. Pure: reads no file."""
