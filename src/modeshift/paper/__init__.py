"""The paper's experiments: what was published, and the code that repeats it."""
