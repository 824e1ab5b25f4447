"""
Dask: the same labels from chunks
=================================

A Dask array is clustered where its chunks are; only sums of grid cells travel. Here 400,000 made
points in eight chunks, on two threads of one machine; with a cluster of machines the code is the
same. The labels are those of the plain fit, for any chunks.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np

from modeshift import MeanShift

rng = np.random.default_rng(0)
middles = rng.uniform(0, 20, size=(12, 2))
X = middles[rng.integers(12, size=400_000)] + rng.normal(scale=0.7, size=(400_000, 2))
settings = {"bandwidth": 1.5, "resolution": 8}

plain = MeanShift(**settings).fit(X)
chunks = da.from_array(X, chunks=(50_000, 2))
labels = MeanShift(**settings).fit(chunks).labels_
print(labels)
print("the same labels:", np.array_equal(labels.compute(), plain.labels_))

# Picture: A sample of the points in the colours of their clusters, with black crosses at the
# centres.
some = rng.choice(len(X), 6_000, replace=False)
figure, ax = plt.subplots(figsize=(7, 5.6), layout="constrained")
ax.scatter(*X[some].T, c=plain.labels_[some] % 20, cmap="tab20", s=4)
ax.plot(*plain.cluster_centers_.T, "k+", ms=12, mew=2)
ax.set(
    aspect="equal", title=f"{len(plain.cluster_centers_)} clusters in {chunks.numblocks[0]} chunks"
)
