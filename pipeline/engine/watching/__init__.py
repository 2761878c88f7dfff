"""Watch runs from outside: state and events in files, progress, the end, and what tasks have taken."""
