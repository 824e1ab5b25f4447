"""The paper's experiments: its published numbers, and the code that repeats them."""
