"""
First clusters
==============

Nothing is set: the number of clusters and the bandwidth come from the data. Set 1 of the paper,
750 points around three middles.
"""

import modeshift

X, y = modeshift.datasets.make_paper_set(1, random_state=0)
model = modeshift.StochasticMeanShift(random_state=0).fit(X)
print(f"bandwidth {model.bandwidth_:.2f}, p = {model.profile_.p_value:.1g} against no clusters")
# Picture: Three clusters of 750 points in three colours, with a ring at each centre.
modeshift.plots.clusters(model, X)
