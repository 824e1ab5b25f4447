"""Mean-shift on a GPU: the three schedules over a field of PyTorch tensors and Triton kernels.

Needs the extra ``modeshift[gpu]``. With ``TRITON_INTERPRET=1`` in the environment the same code
runs without a GPU, but slowly.
"""
