"""What is asked: the shape of a study, the loader of study files and profiles, and the plan."""
