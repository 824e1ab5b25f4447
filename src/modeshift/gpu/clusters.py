"""From components to clusters on the device, as :mod:`modeshift.clusters` does it."""

import torch

from modeshift.gpu.components import number_by_first
from modeshift.gpu.nearest import nearest_rows


def add_up(values: torch.Tensor, owners: torch.Tensor, n_owners: int) -> torch.Tensor:
    """Sum the rows of each owner, always in the same order."""
    order = torch.argsort(owners, stable=True)
    counts = torch.bincount(owners, minlength=n_owners)
    return torch.segment_reduce(values[order], "sum", lengths=counts)


def label_components(
    components: torch.Tensor, weights: torch.Tensor, min_size: float = 0.0
) -> torch.Tensor:
    """Number clusters by falling size, ties by first appearance; -1 for those too small."""
    sizes = add_up(weights, components, int(components.max()) + 1)
    labels = torch.empty(len(sizes), dtype=torch.int64, device=sizes.device)
    ranking = torch.argsort(-sizes, stable=True)
    labels[ranking] = torch.arange(len(sizes), device=sizes.device)
    labels[sizes < min_size] = -1
    return labels[components]


def join_strays(labels: torch.Tensor, ends: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Give points without a cluster the label of the nearest end that has one; renumber."""
    strays, kept = (labels < 0).nonzero()[:, 0], (labels >= 0).nonzero()[:, 0]
    if len(strays) == 0 or len(kept) == 0:
        return labels
    joined = labels.clone()
    joined[strays] = labels[kept[nearest_rows(ends[kept], ends[strays])]]
    return label_components(number_by_first(joined), weights)


def cluster_centers(
    modes: torch.Tensor, labels: torch.Tensor, weights: torch.Tensor
) -> torch.Tensor:
    """Weighted mean of the modes of each cluster; the plain mean where nothing has weight."""
    n_clusters = int(labels.max()) + 1
    kept = labels >= 0
    labels, modes, weights = labels[kept], modes[kept].double(), weights[kept]
    masses = add_up(weights, labels, n_clusters)
    weights = torch.where(masses[labels] > 0, weights, 1.0)
    masses = add_up(weights, labels, n_clusters)
    rows = torch.arange(len(labels), device=labels.device)
    firsts = rows.new_full((n_clusters,), len(rows)).scatter_reduce(0, labels, rows, "amin")
    anchors = modes[firsts]
    moments = add_up((modes - anchors[labels]) * weights[:, None], labels, n_clusters)
    return anchors + moments / masses[:, None]
