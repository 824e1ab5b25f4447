"""From the ends of a schedule to clusters: components, labels, strays, centres."""

from typing import Any, NamedTuple

from modeshift.engines.pose import smallest_cluster
from modeshift.engines.problem import Problem
from modeshift.engines.space import Space
from modeshift.spec import Spec


class Clusters(NamedTuple):
    """Labels of the ends, and centres in the units of the problem."""

    labels: Any
    centers: Any


def merge(space: Space, spec: Spec, problem: Problem, ends: Any) -> Any:
    """Number the connected components of the ends, with learned feature weights if any."""
    return space.connected_components(ends, spec.merge_radius * problem.scale)


def find_clusters(
    space: Space, spec: Spec, problem: Problem, ends: Any, components: Any, firsts: Any
) -> Clusters:
    """Label the components of the ends, and find the centres of the clusters.

    ``firsts`` is the number of the first original point behind each end: ties in size go by it.
    """
    components = number_by_first(space, components, firsts)
    smallest = smallest_cluster(spec, problem)
    labels = label_components(space, components, problem.weights, smallest, spec.n_clusters)
    kept = labels >= 0
    if spec.strays == "nearest":
        measured = problem.measured(ends)
        labels = join_strays(space, labels, measured, problem.weights, firsts)
    centers = cluster_centers(space, ends, space.where(kept, labels, -1), problem.weights)
    if spec.on_sphere:
        centers = space.put_back(centers, _first_ends(space, ends, labels, kept))
    return Clusters(labels, centers)


def number_by_first(space: Space, components: Any, firsts: Any) -> Any:
    """Renumber components by the lowest number among their members."""
    n = int(components.max()) + 1
    numbers = space.arange(n)
    numbers[space.ranking(space.lowest(firsts, components, n))] = space.arange(n)
    return numbers[components]


def label_components(
    space: Space, components: Any, weights: Any, smallest: float = 0.0, most: int | None = None
) -> Any:
    """Number clusters by falling size, ties by first appearance; too small clusters get -1.

    The size of a cluster is the weight of its points, which is their number without weights. With
    ``most`` only that number of clusters, the largest ones, keep their label.
    """
    n = int(components.max()) + 1
    sizes = space.sums(weights, components, n)
    labels = space.arange(n)
    labels[space.ranking(-sizes)] = space.arange(n)
    labels[sizes < smallest] = -1
    if most is not None:
        labels[labels >= most] = -1
    return labels[components]


def join_strays(space: Space, labels: Any, ends: Any, weights: Any, firsts: Any) -> Any:
    """Give points without a cluster (-1) the label of the nearest end that has one; renumber.

    Ties in size go by the lowest of ``firsts``. If there is no cluster, all stay -1.
    """
    strays, kept = space.nonzero(labels < 0), space.nonzero(labels >= 0)
    if len(strays) == 0 or len(kept) == 0:
        return labels
    joined = space.copy(labels)
    joined[strays] = labels[kept[space.nearest_search(ends[kept])(ends[strays])]]
    return label_components(space, number_by_first(space, joined, firsts), weights)


def cluster_centers(space: Space, modes: Any, labels: Any, weights: Any) -> Any:
    """Return the weighted mean of the modes of each cluster; the plain mean if it has no weight."""
    n = int(labels.max()) + 1
    kept = labels >= 0
    labels, modes, weights = labels[kept], space.in_double(modes[kept]), weights[kept]
    masses = space.sums(weights, labels, n)
    weights = space.where(masses[labels] > 0, weights, 1.0)
    masses = space.sums(weights, labels, n)
    # Offsets from a mode of the cluster are summed: far from the origin no digit is lost.
    anchors = modes[space.lowest(space.arange(len(labels)), labels, n)]
    offsets = (modes - anchors[labels]) * weights[:, None]
    return anchors + space.sums(offsets, labels, n) / masses[:, None]


def _first_ends(space: Space, ends: Any, labels: Any, kept: Any) -> Any:
    """Return the end of the first point of each cluster."""
    ends, labels = ends[kept], labels[kept]
    n = int(labels.max()) + 1 if len(labels) else 0
    return ends[space.lowest(space.arange(len(labels)), labels, n)]
