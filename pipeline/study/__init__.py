"""What is asked: the shape of a study and of a profile, and the loader that fills them from files."""
