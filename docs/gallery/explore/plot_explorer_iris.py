"""
Explore flowers: four features, two axes
========================================

Petals and sepals of 150 iris flowers, in centimetres (from scikit-learn). The choice is two
clusters. Three species were measured; a smaller bandwidth tells more of them apart.
"""

from sklearn.datasets import load_iris

from modeshift import MeanShift, plots, report

X = load_iris(as_frame=True).data
model = MeanShift().fit(X)
# Picture: The tree of clusters over the bandwidth. One cluster, then two, which stay for long.
plots.cluster_tree(model.profile_, title="150 flowers")

# %%
# The same tree is in the explorer, with the points beside it. Below the picture of the points are
# the two axes to choose.

# Picture: The explorer of 150 flowers. The fit has two clusters.
report.explore(model, X)

# %%
# **What to try.** Show the length of the petals across and their width up: the smaller cluster is
# the species *setosa*. Slide to the finer alternative and see what becomes of the larger one.
