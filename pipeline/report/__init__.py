"""Findings and cubes as pages, tables and figures. Import from the modules themselves: drawing is slow to import."""
