"""
A stream, batch by batch
========================

Data that do not fit into memory come in batches. ``partial_fit`` adds each batch to the sums of
grid cells, and clusters can be read at any time. The result after the last batch is that of one fit
to all points. Made data: four places, of which one appears later.
"""

import matplotlib.pyplot as plt
import numpy as np

from modeshift import MeanShift

rng = np.random.default_rng(0)
middles = np.array([[0, 0], [4, 0], [0, 4], [4, 4]])


def batches():
    """Yield 30 batches of 10,000 points; the fourth place is there from batch 15 on."""
    for number in range(30):
        kinds = rng.integers(4 if number >= 15 else 3, size=10_000)
        yield middles[kinds] + 0.7 * rng.normal(size=(10_000, 2))


settings = {"bandwidth": 1.0, "resolution": 8, "min_cluster_size": 1_000}
stream = MeanShift(**settings)
kept, found = [], []
for batch in batches():
    stream.partial_fit(batch)
    found.append(len(stream.cluster_centers_))
    kept.append(batch)
together = MeanShift(**settings).fit(np.concatenate(kept))
same = np.array_equal(together.cluster_centers_, stream.cluster_centers_)
print(f"{stream.n_samples_seen_:,} points; the centres are those of one fit to all: {same}")

# Picture: Left, the number of clusters after each batch: three, and four from batch 16 on. Right,
# the last batch in the colours of its clusters.
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
left.step(range(1, 31), found, where="mid")
left.set(xlabel="batches so far", ylabel="clusters", ylim=(0, 5))
right.scatter(*batch.T, c=stream.labels_, cmap="tab10", vmax=9, s=3)
right.plot(*stream.cluster_centers_.T, "k+", ms=14, mew=2)
right.set(aspect="equal", title="the last batch")
