"""One published procedure or tool in each module; `registry` finds them by name, and those of other installed packages."""
