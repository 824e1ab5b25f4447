"""Sums and minima by owner, on the device."""

import torch


def add_up(values: torch.Tensor, owners: torch.Tensor, n_owners: int) -> torch.Tensor:
    """Sum the rows of each owner, always in the same order."""
    if n_owners == 0:  # which segment_reduce refuses
        return values.new_zeros((0, *values.shape[1:]))
    order = torch.argsort(owners, stable=True)
    counts = torch.bincount(owners, minlength=n_owners)
    return torch.segment_reduce(values[order], "sum", lengths=counts)


def lowest_of(values: torch.Tensor, owners: torch.Tensor, n_owners: int) -> torch.Tensor:
    """Return the lowest of the whole numbers of each owner."""
    start = values.new_full((n_owners,), torch.iinfo(values.dtype).max)
    return start.scatter_reduce(0, owners, values, "amin")
