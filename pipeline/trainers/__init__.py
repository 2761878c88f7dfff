"""Training items → models → outputs: sampling, the registry, and the families of trainers."""
