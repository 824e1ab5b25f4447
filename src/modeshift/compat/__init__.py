"""Names of other libraries over the engine of this one: :mod:`modeshift.compat.sklearn`."""
