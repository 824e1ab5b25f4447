"""
Clusterers compared
===================

Scikit-learn's table of clusterers on toy data, with this library beside them: the same data, the
same settings for scikit-learn's methods as in `its example
<https://scikit-learn.org/stable/auto_examples/cluster/plot_cluster_comparison.html>`__. In each
picture: seconds for the fit, and the adjusted Rand index.

Some methods are told more than others. The first three rows of the list below are told the number
of clusters; for the others scikit-learn's example sets their main parameter by hand, row by row.
Of this library nothing is set, except where a name says so. Times are the best of three runs in
one thread, after one that compiles. The last row of data has no clusters; there the index is 1 for
one cluster.
"""

import warnings
from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
from sklearn import cluster, datasets, mixture
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import modeshift

warnings.simplefilter("ignore")  # no clusters found, no convergence: the pictures show it

N = 500
stretched, y_stretched = datasets.make_blobs(N, random_state=170)
DATA = [
    ("rings", datasets.make_circles(N, factor=0.5, noise=0.05, random_state=30)),
    ("moons", datasets.make_moons(N, noise=0.05, random_state=30)),
    ("varied", datasets.make_blobs(N, cluster_std=[1.0, 2.5, 0.5], random_state=170)),
    ("stretched", (stretched @ [[0.6, -0.6], [-0.4, 0.8]], y_stretched)),
    ("blobs", datasets.make_blobs(N, random_state=30)),
    ("paper's Set 2", modeshift.datasets.make_paper_set(2, random_state=0)),
    ("uniform", (np.random.RandomState(30).rand(N, 2), np.zeros(N))),
]
# Of scikit-learn's example, by name of the data: number of clusters, radius, neighbours, sizes.
USUAL = {"k": 3, "eps": 0.3, "near": 3, "least": 7, "xi": 0.05, "quantile": 0.3}
TUNED = {
    "rings": {"k": 2, "quantile": 0.2, "least": 7, "xi": 0.08},
    "moons": {"k": 2, "least": 7, "xi": 0.1},
    "varied": {"eps": 0.18, "near": 2, "xi": 0.01},
    "stretched": {"eps": 0.15, "near": 2, "xi": 0.1},
    "blobs": {"xi": 0.1},
}


def methods(X, name):
    """Return the methods by name; the first ones are told the number of clusters."""
    tuned = USUAL | TUNED.get(name, {})
    k, links = tuned["k"], kneighbors_graph(X, tuned["near"], include_self=False)
    h = cluster.estimate_bandwidth(X, quantile=tuned["quantile"])
    return {
        "KMeans\n(told the number)": cluster.MiniBatchKMeans(k, random_state=42),
        "Ward\n(told)": cluster.AgglomerativeClustering(k, connectivity=0.5 * (links + links.T)),
        "Gaussian mixture\n(told)": mixture.GaussianMixture(k, random_state=42),
        "DBSCAN": cluster.DBSCAN(eps=tuned["eps"]),
        "HDBSCAN": cluster.HDBSCAN(min_cluster_size=15, copy=True),
        "scikit-learn\nMeanShift": cluster.MeanShift(bandwidth=h, bin_seeding=True),
        "modeshift\nMeanShift": modeshift.MeanShift(),
        "modeshift\nStochasticMeanShift": modeshift.StochasticMeanShift(random_state=0),
        "modeshift\nBlurringMeanShift": modeshift.BlurringMeanShift(),
        "StochasticMeanShift\n(told)": modeshift.StochasticMeanShift(n_clusters=k, random_state=0),
    }


def fitted(model, X):
    """Return labels and seconds, or None where a method finds no such number of clusters."""
    try:
        model.fit_predict(X)
        seconds = []
        for _ in range(3):
            start = perf_counter()
            labels = model.fit_predict(X)
            seconds.append(perf_counter() - start)
        return labels, min(seconds)
    except ValueError:
        return None, 0.0


# Picture: A table of small pictures: seven data sets in rows, ten clusterers in columns, with
# the time and the adjusted Rand index of each. HDBSCAN and DBSCAN find rings and moons;
# the estimators of this library find the blobs, the paper's Set 2, and that uniform data have none.
threadpool_limits(1)
figure, axes = plt.subplots(len(DATA), 10, figsize=(20, 14), layout="constrained")
for number, (row, (name, (points, y))) in enumerate(zip(axes, DATA, strict=True)):
    X = StandardScaler().fit_transform(points)
    for ax, (method, model) in zip(row, methods(X, name).items(), strict=True):
        labels, seconds = fitted(model, X)
        ax.set(xticks=[], yticks=[], xlim=(-2.6, 2.6), ylim=(-2.6, 2.6), aspect="equal")
        if number == 0:
            ax.set_title(method, fontsize=12)
        if ax is row[0]:
            ax.set_ylabel(name, fontsize=13)
        if labels is None:
            ax.text(0, 0, "no such\nnumber", ha="center", va="center", fontsize=11)
            continue
        noise = labels < 0
        ax.scatter(*X[noise].T, color="0.75", s=4)
        ax.scatter(*X[~noise].T, c=labels[~noise] % 10, cmap="tab10", vmin=0, vmax=9, s=5)
        score = adjusted_rand_score(y, labels)
        ax.text(-2.5, -2.45, f"{1000 * seconds:.0f} ms", fontsize=10)
        ax.text(2.5, -2.45, f"{score:.2f}", fontsize=10, ha="right", weight="bold")
