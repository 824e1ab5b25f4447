"""
The paper's panels: paths, modes, clusters
==========================================

Set 4 of the paper (I. Lapidot, `arXiv 2312.15684 <https://arxiv.org/abs/2312.15684>`__): 4,500
points in three classes that overlap. Above is the deterministic algorithm, below the stochastic
one, with the same bandwidth.
"""

from modeshift import MeanShift, StochasticMeanShift, datasets, metrics, plots

X, y = datasets.make_paper_set(4, random_state=0)
fitted = [
    MeanShift(bandwidth=0.8, record=True).fit(X),
    StochasticMeanShift(bandwidth=0.8, record=True, random_state=0).fit(X),
]
for model in fitted:
    print(type(model).__name__, metrics.purity_report(y, model.labels_))
# Picture: Eight panels. Left the true classes and the data; then paths, modes and clusters, the
# deterministic ones above and the stochastic ones below.
plots.paper_panels(X, y, *fitted, title="Set 4 of the paper, h = 0.8")
