"""Findings and cubes as pages, tables and figures. The parts are imported from their modules: drawing is heavy."""
