"""
First clusters
==============

Test.
"""

import modeshift

X, _ = modeshift.datasets.make_paper_set(1, random_state=0)
model = modeshift.MeanShift().fit(X)
modeshift.plots.clusters(model, X)
