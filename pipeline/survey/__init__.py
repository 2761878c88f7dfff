"""Every input looked at once: aligned and described, or all problems together; and what `compare` has to guess."""
