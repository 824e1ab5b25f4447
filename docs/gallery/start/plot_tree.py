"""
Two clusters or four? The tree over the bandwidth
=================================================

Four crowds in two pairs: from far away they are two, from near four. Both are true. Many
bandwidths are tried, each gets a score, and the best one is taken. The profile keeps the others
(made data, 600 points).
"""

import numpy as np

from modeshift import MeanShift, plots

rng = np.random.default_rng(0)
middles = np.array([[0.0, 0.0], [3.0, 0.0], [12.0, 0.0], [15.0, 0.0]])
X = np.concatenate([middle + 0.6 * rng.normal(size=(150, 2)) for middle in middles])
profile = MeanShift().fit(X).profile_
print(profile)
print(f"a finer choice: {profile.finer}, a coarser one: {profile.coarser}")
# Picture: Score, number of clusters and share of dust over the bandwidth. A solid line marks the
# chosen bandwidth, a dashed line its alternative.
plots.bandwidth_profile(profile, title="Four crowds in pairs")

# %%
# **How to read it.** Above is the score: how firmly the clusters stand. In the middle is the number
# of clusters. The solid line is the choice. A dashed line is another bandwidth that answers another
# question; ``MeanShift(bandwidth=profile.finer[0])`` takes it.
#
# The tree shows which clusters split into which as the bandwidth falls.

# Picture: A tree. One cluster at large bandwidths splits into two, and each of them into two.
plots.cluster_tree(profile, title="Four crowds in pairs")
