"""The document laid out: as a page, Markdown, LaTeX, CSV, and on a terminal."""
