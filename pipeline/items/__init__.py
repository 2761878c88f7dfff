"""Items: files to aligned items, or a refusal that names every problem."""
