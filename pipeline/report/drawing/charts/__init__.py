"""Charts of points, lines and areas, drawn as SVG."""
