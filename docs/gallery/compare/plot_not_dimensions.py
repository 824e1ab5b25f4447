"""
When not: thousands of dimensions
=================================

In many dimensions all distances are nearly equal, so a radius holds nobody or everybody. Five
groups whose middles differ in 5 features only, the others are noise: made data, 500 points. With
``n_neighbors``, which the choice of a bandwidth takes by itself, mean-shift goes further, and
principal components first go further still.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score

from modeshift import MeanShift


def groups(n_features):
    """Return 500 points around 5 middles that differ in 5 features."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(5), 100)
    X = rng.normal(size=(500, n_features))
    X[np.arange(500), y] += 8
    return X, y


def best_radius(X, y):
    """Return the best score of plain radii, chosen with the labels."""
    typical = np.median(np.linalg.norm(X - X[:1], axis=1))
    models = [MeanShift(bandwidth=h * typical) for h in np.linspace(0.2, 1, 9)]
    return max(adjusted_rand_score(y, model.fit_predict(X)) for model in models)


numbers = [5, 20, 80, 320]
METHODS = {
    "plain radius, the best of 9": best_radius,
    "MeanShift(), nothing set": lambda X, y: score_of(MeanShift(), X, y),
    "PCA(5), then MeanShift()": lambda X, y: score_of(MeanShift(), PCA(5).fit_transform(X), y),
    "KMeans(5), told the number": lambda X, y: score_of(KMeans(5, n_init=10, random_state=0), X, y),
}


def score_of(model, X, y):
    """Return how well labels agree with the groups; no clusters found counts 0."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return adjusted_rand_score(y, model.fit_predict(X))


# Picture: ARI over the number of features, of which five matter. MeanShift finds the groups in up
# to 80 features and nothing in 320. After principal components it finds them always, as does
# k-means.
figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
for style, (name, method) in zip(["o-", "s-", "D--", "x:"], METHODS.items(), strict=True):
    scores = [method(*groups(n)) for n in numbers]
    print(f"{name}: {np.round(scores, 2)}")
    ax.plot(numbers, scores, style, label=name)
ax.set(xscale="log", xlabel="features, of which 5 matter", ylabel="ARI", ylim=(-0.03, 1.03))
ax.set_xticks(numbers, numbers)
ax.legend()
