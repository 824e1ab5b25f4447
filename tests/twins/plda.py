"""Mean-shift by PLDA scores, with the densities of Gaussians written out."""

import numpy as np
from scipy.stats import multivariate_normal


class Model:
    """Speakers y ~ N(mean, between), vectors y + e with e ~ N(0, within)."""

    def __init__(self, mean, between, within, unit):
        self.mean, self.between, self.within, self.unit = mean, between, within, unit

    def ratios(self, x, others):
        """Log-likelihood ratios "same speaker" against "different" of x and each other vector."""
        total = self.between + self.within
        pair = np.block([[total, self.between], [self.between, total]])
        same = multivariate_normal(np.r_[self.mean, self.mean], pair)
        alone = multivariate_normal(self.mean, total)
        pairs = np.column_stack([np.tile(x, (len(others), 1)), others])
        return same.logpdf(pairs) - alone.logpdf(x) - np.atleast_1d(alone.logpdf(others))

    def mean_near(self, x, vectors, weights, least, k, by_score):
        """The mean of the k best of the vectors that score at least ``least``; weights by score."""
        scores = self.ratios(x, vectors)
        order = [i for i in np.argsort(-scores, kind="stable") if scores[i] >= least]
        order = order if k is None else order[:k]
        if not order:
            return x
        shares = weights[order] * by_score(scores[order])
        mean = shares @ vectors[order] / shares.sum()
        return mean / np.linalg.norm(mean) if self.unit else mean


def climb(near, vectors, n_steps):
    """Each vector climbs over the original ones."""
    ends = vectors.copy()
    for i in range(len(vectors)):
        for _ in range(n_steps):
            ends[i] = near(ends[i], vectors)
    return ends


def wander(near, vectors, rng, n_sweeps):
    """One random vector moves at a time, and stays there."""
    vectors = vectors.copy()
    for _ in range(n_sweeps):
        for j in rng.randint(len(vectors), size=len(vectors)):
            vectors[j] = near(vectors[j], vectors)
    return vectors


def blur(near, vectors, n_sweeps):
    """All vectors move at once."""
    for _ in range(n_sweeps):
        vectors = np.array([near(x, vectors) for x in vectors])
    return vectors
