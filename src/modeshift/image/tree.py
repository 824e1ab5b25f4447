"""A hierarchy of regions: from the finest segmentation to one region, without a new run."""

from typing import Any

import numpy as np

from modeshift.checks import check_real, check_whole
from modeshift.image.graph import RegionGraph, joined
from modeshift.image.merging import Merges

LEVEL = 10.0
"""Default height of a cut, chosen on 20 pictures of BSDS500 (docs/images.md)."""


class Hierarchy:
    """Regions of an image, and the order in which they join.

    ``hierarchy(image)`` makes one. The first segmentation is the finest: regions of the climb, with
    those below ``min_size`` joined to a neighbour. Every step of the hierarchy joins two regions
    that touch, the most similar pair first.

    Attributes
    ----------
    labels : ndarray or dask array of the shape of the image, without bands
        The finest segmentation. Regions are numbered by size from 1; 0 is "no data".
    n_regions : int
        Number of regions there.
    sizes : ndarray of shape (n_regions,)
        Number of pixels of each region.
    colors : ndarray of shape (n_regions, bands)
        Mean mode of each region, in CIELAB or in the units of the bands.
    graph : RegionGraph
        The regions, and which of them touch (``graph.edges``, counted from 0).
    merges : ndarray of shape (m, 2)
        Step k joins the second region to the first, which keeps its number (counted from 0).
    heights : ndarray of shape (m,)
        Cost of each step, never less than that of the step before. It grows with the differences of
        colour and texture, the contrast along the border (both in ranges), and the sizes.

    Examples
    --------
    >>> import numpy as np
    >>> from modeshift.image import hierarchy
    >>> picture = np.repeat(np.uint8([0, 60, 200]), 20) * np.ones((40, 1), dtype=np.uint8)
    >>> tree = hierarchy(picture)
    >>> tree
    Hierarchy(labels of shape (40, 60), 1 to 3 regions)
    >>> tree.sizes, tree.merges
    (array([800, 800, 800]), array([[0, 1],
           [0, 2]]))
    """

    def __init__(self, labels: Any, graph: RegionGraph, colors: np.ndarray, merges: Merges) -> None:
        self.labels = labels
        self.graph = graph
        self.colors = colors
        self.merges = merges.pairs
        self.heights = merges.heights

    @property
    def n_regions(self) -> int:
        """Number of regions of the finest segmentation."""
        return len(self.graph.sizes)

    @property
    def sizes(self) -> np.ndarray:
        """Number of pixels of each region of the finest segmentation."""
        return self.graph.sizes

    def __repr__(self) -> str:
        """Return the numbers of regions."""
        fewest = self.n_regions - len(self.merges)
        return (
            f"Hierarchy(labels of shape {self.labels.shape}, {fewest} to {self.n_regions} regions)"
        )

    def cut(self, n_regions: Any = None, *, level: Any = None) -> Any:
        """Return the label image with this number of regions, or of this level.

        Regions are numbered by size from 1; among equal ones the first comes first.

        Parameters
        ----------
        n_regions : int, default=None
            Number of regions. More than the finest segmentation has give the finest one. Fewer than
            it has separate parts give one region for each part.
        level : float, default=None
            Join all regions up to this height; 0 joins none. The default is 10, if n_regions is
            None as well.

        Examples
        --------
        >>> import numpy as np
        >>> from modeshift.image import hierarchy
        >>> picture = np.repeat(np.uint8([0, 60, 200]), 20) * np.ones((40, 1), dtype=np.uint8)
        >>> hierarchy(picture).cut(2)[0, [0, 20, 40]]
        array([1, 1, 2], dtype=int32)
        """
        return self.paint(self.regions_at(n_regions, level=level) + 1)

    def regions_at(self, n_regions: Any = None, *, level: Any = None) -> np.ndarray:
        """Return the region of a cut that each region of the finest segmentation is a part of.

        Both are counted from 0.
        """
        owners = np.arange(self.n_regions)
        for into, other in self.merges[: self._n_merges(n_regions, level)][::-1]:
            owners[other] = owners[into]
        kept, numbers = np.unique(owners, return_inverse=True)
        graph = joined(self.graph, numbers, len(kept))
        return by_size(graph)[numbers]

    def paint(self, values: np.ndarray) -> Any:
        """Return an image in which every region has its value; pixels without data are 0.

        Parameters
        ----------
        values : ndarray of shape (n_regions,) or (n_regions, bands)
            A value for each region of the finest segmentation.

        Examples
        --------
        >>> import numpy as np
        >>> from modeshift.image import hierarchy
        >>> picture = np.repeat(np.uint8([0, 60, 200]), 20) * np.ones((40, 1), dtype=np.uint8)
        >>> tree = hierarchy(picture)
        >>> tree.paint(np.array([10.0, 20.0, 30.0]))[0, [0, 20, 40]]
        array([10., 20., 30.])
        """
        table = np.concatenate([np.zeros_like(values[:1]), values])
        if values.ndim == 1 and values.dtype.kind in "iu":
            table = table.astype(np.int32)
        if isinstance(self.labels, np.ndarray):
            return table[self.labels]
        return self.labels.map_blocks(lambda block: table[block], dtype=table.dtype)

    def _n_merges(self, n_regions: Any, level: Any) -> int:
        if n_regions is not None and level is not None:
            raise ValueError(
                "n_regions and level do not go together: either one says where to cut."
            )
        if n_regions is not None:
            wanted = check_whole("n_regions", n_regions, low=1)
            return min(max(self.n_regions - wanted, 0), len(self.merges))
        height = LEVEL if level is None else check_real("level", level, low=0.0, high=np.inf)
        return int(np.searchsorted(self.heights, height, side="right"))


def by_size(graph: RegionGraph) -> np.ndarray:
    """Return the rank of each region: 0 is the largest, the first one among equals."""
    ranks = np.empty(len(graph.sizes), dtype=np.int64)
    ranks[np.lexsort((graph.firsts, -graph.sizes))] = np.arange(len(graph.sizes))
    return ranks
