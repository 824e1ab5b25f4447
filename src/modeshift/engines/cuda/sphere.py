"""Points on the unit sphere, on the device."""

import torch

from modeshift.engines.rule import NO_DIRECTION


def normalised(rows: torch.Tensor) -> torch.Tensor:
    """Divide every row by its length."""
    largest = rows.abs().amax(dim=1, keepdim=True)
    zero = (largest[:, 0] == 0).nonzero()
    if len(zero):
        raise ValueError(
            f"X has a zero vector in row {int(zero[0])}, which has no direction; "
            "drop such rows, or take metric='euclidean'."
        )
    scaled = (rows / largest).double()
    return (scaled / torch.linalg.vector_norm(scaled, dim=1, keepdim=True)).to(rows.dtype)


def put_back(means: torch.Tensor, otherwise: torch.Tensor) -> torch.Tensor:
    """Put means back on the unit sphere; a mean of length 0 becomes ``otherwise``."""
    lengths = torch.linalg.vector_norm(means, dim=1, keepdim=True)
    clear = lengths > NO_DIRECTION
    return torch.where(clear, means / torch.where(clear, lengths, 1.0), otherwise)
