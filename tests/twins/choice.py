"""The automatic choice of a bandwidth, and the join of runs, as plain loops over all points."""

import numpy as np
from sklearn.metrics import adjusted_rand_score


def distance(x, y):
    return np.sqrt(((x - y) ** 2).sum())


def depth(points, labels, radius):
    """Depth of the valleys, as docs/bandwidth.md has it, with density counted within the radius."""
    n = len(points)
    near = np.array([[distance(x, y) <= radius for y in points] for x in points])
    counts = near.sum(axis=1)
    shares, depths = [], []
    for c in range(labels.max() + 1):
        peak, highest_pass = max(counts[labels == c]), 0
        for i in range(n):
            for j in range(n):
                if near[i, j] and labels[i] == c and labels[j] != c:
                    highest_pass = max(highest_pass, min(counts[i], counts[j]))
        chance = 1 + 1.5 * np.sqrt(peak + highest_pass)
        shares.append(np.mean(labels == c))
        depths.append(max(0.0, (peak - highest_pass - chance) / peak))
    return different_and_apart(shares, depths)


def kept(points, labels, radius, n_neighbors=None):
    """Share of the pairs of neighbours that share a cluster."""
    n, same, pairs = len(points), 0, 0
    reach = np.full(n, np.inf)
    if n_neighbors is not None:
        reach = [sorted(distance(x, y) for y in points)[min(n_neighbors, n - 1)] for x in points]
    for i in range(n):
        for j in range(i):
            far = distance(points[i], points[j])
            if far <= radius and far <= max(reach[i], reach[j]):
                pairs += 1
                same += labels[i] == labels[j]
    return same / pairs if pairs else 1.0


def distinct(points, labels, dimension):
    """Silhouettes of clusters of two points and more among their rivals, beyond chance."""
    clusters = [np.flatnonzero(labels == c) for c in range(labels.max() + 1)]
    clusters = [members for members in clusters if len(members) >= 2]
    if len(clusters) < 2:
        return 0.0
    values = []
    for i in range(len(clusters)):
        rivals = [j for j in range(len(clusters)) if j != i]
        rivals = [j for j in rivals if len(clusters[j]) >= 0.2 * len(clusters[i])]
        values.append(silhouette(points, clusters, i, rivals) if rivals else 0.0)
    shares = [len(members) / len(points) for members in clusters]
    c = 0.7 * np.exp(-dimension / 4)
    return max(0.0, (different_and_apart(shares, values) - c) / (1 - c))


def different_and_apart(shares, apart):
    """Chance that two points are in different set-apart clusters, times how far set apart."""
    total = 0.0
    q = sum(p for p, x in zip(shares, apart, strict=True) if x > 0)
    for p, x in zip(shares, apart, strict=True):
        if x > 0:
            total += p * (1 - p / q) * x
    return total


def silhouette(points, clusters, i, rivals):
    values = []
    for a in clusters[i]:
        own = np.mean([distance(points[a], points[b]) for b in clusters[i] if b != a])
        other = min(np.mean([distance(points[a], points[b]) for b in clusters[j]]) for j in rivals)
        values.append((other - own) / max(own, other))
    return max(0.0, np.mean(values))


def evidence(agreement, second, kept, depth, n_radii):
    """Mean over all pairs of radii of ARI^4 times what the labels at the first are worth."""
    total = 0.0
    for a in range(len(depth)):
        for b in range(len(depth)):
            total += agreement[a][b] ** 4 * (second[a] * kept[a] ** 15 + depth[a] / 2)
    return total / n_radii**2


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
