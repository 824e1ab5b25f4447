"""The automatic choice of a bandwidth, and the join of runs, as plain loops over all points."""

import numpy as np
from sklearn.metrics import adjusted_rand_score


def distance(x, y):
    return np.sqrt(((x - y) ** 2).sum())


def quality(points, labels, dimension=0.0, on_sphere=False):
    """As docs/bandwidth.md has it, for points of weight 1 that all differ."""
    clusters = [np.flatnonzero(labels == c) for c in range(labels.max() + 1)]
    clusters = [members for members in clusters if len(members) >= 2]
    depths, distant = [], []
    for i in range(len(clusters)):
        rivals = [j for j in range(len(clusters)) if j != i]
        rivals = [j for j in rivals if len(clusters[j]) >= 0.2 * len(clusters[i])]
        centers = [center(points[members], on_sphere) for members in clusters]
        nearest = sorted(rivals, key=lambda j, i=i: distance(centers[i], centers[j]))
        line = points.shape[1] == 1
        nearest = nearest[: 2 if line else 8]
        z = (2.0 if line else 1.5) - 0.25 * np.log2(len(nearest)) if nearest else 0.0
        valleys = [valley(points, clusters[i], clusters[j], on_sphere, z) for j in nearest]
        depths.append(min(valleys, default=0.0))
        distant.append(silhouette(points, clusters, i, rivals) if rivals else 0.0)
    shares = np.array([len(members) for members in clusters]) / len(points)
    best = different_and_apart(shares, np.sqrt(np.array(depths) * distant))
    if dimension > 4:
        c = 0.7 * np.exp(-dimension / 4)
        best = max(best, (different_and_apart(shares, np.array(distant)) - c) / (1 - c))
    return best


def different_and_apart(shares, apart):
    """Chance that two points are in different set-apart clusters, times how far set apart."""
    total = 0.0
    q = sum(p for p, x in zip(shares, apart, strict=True) if x > 0)
    for p, x in zip(shares, apart, strict=True):
        if x > 0:
            total += p * (1 - p / q) * x
    return total


def center(members, on_sphere):
    mean = members.mean(axis=0)
    return mean / np.linalg.norm(mean) if on_sphere else mean


def core_radius(points, members, c):
    n = len(members)
    wanted = max(min(n, 8), int(np.ceil(0.25 * n)))
    return sorted(distance(points[a], c) for a in members)[wanted - 1] * (1 + 1e-9)


def valley(points, first, second, on_sphere, z):
    c, other = center(points[first], on_sphere), center(points[second], on_sphere)
    r = max(core_radius(points, first, c), core_radius(points, second, other))

    def count(x):
        x = x / np.linalg.norm(x) if on_sphere else x
        return sum(distance(p, x) <= r for p in points)

    top = min(count(c), count(other))
    low = min(top, min(count((1 - t) * c + t * other) for t in np.arange(1, 10) / 10))
    return max(0.0, (top - low - 1 - z * np.sqrt(top + low)) / top)


def silhouette(points, clusters, i, rivals):
    values = []
    for a in clusters[i]:
        own = np.mean([distance(points[a], points[b]) for b in clusters[i] if b != a])
        other = min(np.mean([distance(points[a], points[b]) for b in clusters[j]]) for j in rivals)
        values.append((other - own) / max(own, other))
    return max(0.0, np.mean(values))


def join_runs(runs, weights):
    """Vote point by point; the reference is the run that agrees best with the others."""
    r = runs.shape[1]
    repeated = np.repeat(runs, weights.astype(int), axis=0)
    closeness = [
        sum(max(0.0, adjusted_rand_score(repeated[:, a], repeated[:, b])) for b in range(r))
        for a in range(r)
    ]
    reference = runs[:, int(np.argmax(np.round(closeness, 9)))]
    components, confidence = [], []
    for i in range(len(runs)):
        votes = []
        for run in runs.T:
            mates = run == run[i]
            shared = [weights[mates & (reference == c)].sum() for c in range(reference.max() + 1)]
            votes.append(int(np.argmax(shared)))
        counts = np.bincount(votes)
        components.append(int(counts.argmax()))
        confidence.append(counts.max() / r)
    return np.array(components), np.array(confidence)
