"""The engine of arrays in memory: compiled kernels on the cores of the machine."""
