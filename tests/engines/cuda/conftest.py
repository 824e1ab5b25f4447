"""Without PyTorch and Triton the GPU's kernels are not tested."""

from helpers import MISSING

collect_ignore_glob = ["test_*.py"] if MISSING else []
