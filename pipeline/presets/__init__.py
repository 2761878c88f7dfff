"""One published procedure or tool a module; `registry` finds them by name, those of other installed packages too."""
