"""The subjects of the benchmark: each has ``rows(quick)``, a generator of rows of the table."""
