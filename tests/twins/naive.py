"""The slow, obvious twin of everything in modeshift, written from the paper and the contract.

Nothing here is clever: plain NumPy, one point at a time. ``weights=None`` means weight 1 a point.
``h``, ``tol`` and ``max_iter`` are the bandwidth, Th1 as a fraction of it, and the cap of a loop.
``rule`` is the rule of the neighbourhood (rules.py). ``scale`` is the length that tol is a
fraction of: the bandwidth, unless that is infinite.
"""

import math
from collections import namedtuple

import numpy as np
from sklearn.utils import check_random_state

from twins.rules import (
    PLAIN,
    entropy,
    learned_weights,
    length,
    on_sphere,
    pulls,
    put_back,
    radius,
    squared_distances,
)

Result = namedtuple("Result", "modes paths n_iter n_steps converged rule")


def near(points, x, h):
    """Mask of S_h(x) = { p : |p - x|^2 <= h^2 } (Algorithms; Euclidean, border included)."""
    return np.sum((points - x) ** 2, axis=1) <= h * h


def mean_near(points, weights, x, h, rule=PLAIN):
    """Weighted mean of S_h(x), and its mass; x itself and 0 where there is no mass.

    m_h(x) = sum w_i (p_i - x) / sum w_i over S_h(x), and the mean is x + m_h(x). The sum runs
    over differences, so that data far from the origin lose no digits. `h` is a length here.
    """
    pull = pulls(points, weights, x, h, rule)
    mass = float(np.sum(pull))
    if mass == 0:
        return x.copy(), 0.0
    mean = x + pull @ (points - x) / mass
    return put_back(mean, x) if rule.sphere else mean, mass


def climb(points, weights, x, h, tol, max_iter, rule=PLAIN, scale=None):
    """Repeat x <- x + m_h(x) over fixed points until the shift is <= tol*h (Algorithm 1).

    Returns the positions visited, the start first, and whether the last shift was small enough.
    """
    scale = h if scale is None else scale
    path = [np.array(x, dtype=float)]
    for _ in range(max_iter):
        mean, _ = mean_near(points, weights, path[-1], h, rule)
        path.append(mean)
        if length(path[-1] - path[-2], rule) <= tol * scale:
            return np.array(path), True
    return np.array(path), False


def mean_shift(
    X,
    *,
    h,
    tol,
    max_iter=300,
    weights=None,
    seeds=None,
    n_climbers=None,
    random_state=None,
    rule=PLAIN,
    scale=None,
):
    """Deterministic mean-shift (Algorithm 1): each climber climbs over the original points.

    Without `seeds` every point climbs. With them, starts without mass are dropped, and every
    point follows the climb that passes nearest to it. With `n_climbers` that many points, drawn at
    random, climb; every other one follows the climber that starts nearest to it.
    """
    X, weights = _placed(X, weights, rule)
    h = radius(h, rule)
    climbers = np.arange(len(X))
    if n_climbers is not None and n_climbers < len(X):
        climbers = check_random_state(random_state).choice(len(X), n_climbers, replace=False)
        climbers = np.sort(climbers)
    starts = X[climbers]
    if seeds is not None:
        seeds = np.asarray(seeds, dtype=float)
        starts = [s for s in seeds if mean_near(X, weights, s, h, rule)[1] > 0]
        if not starts:
            raise ValueError("no seed has mass within h")
    climbs = (climb(X, weights, s, h, tol, max_iter, rule, scale) for s in starts)
    paths, ended = zip(*climbs, strict=True)
    if seeds is None:
        modes = np.array([paths[_nearest(starts, x, rule)][-1] for x in X])
        modes[climbers] = [path[-1] for path in paths]
    else:
        modes = np.array([paths[_climb_passing_nearest(paths, x)][-1] for x in X])
    steps = [len(path) - 1 for path in paths]
    return Result(modes, list(paths), max(steps), sum(steps), all(ended), rule)


def _climb_passing_nearest(paths, x):
    """Index of the climb that visits the position nearest to x (ties: the first climb)."""
    return int(np.argmin([np.min(np.sum((path - x) ** 2, axis=1)) for path in paths]))


def bin_seeds(X, h, weights=None):
    """One start a cell floor((x - min X) / h): its point nearest to the cell's weighted mean.

    Only points of positive weight count. Starts come in the order of their index in X.
    """
    X, weights = _checked(X, weights)
    members = {}
    for i, x in enumerate(X):
        if weights[i] > 0:
            cell = tuple(np.floor((x - X.min(axis=0)) / h))
            members.setdefault(cell, []).append(i)
    chosen = [_most_central(X, weights, indices, h) for indices in members.values()]
    return X[sorted(chosen)]


def _most_central(X, weights, indices, h):
    """The index whose point is nearest to the weighted mean of these points (ties: the lowest)."""
    first = X[indices[0]]
    offsets = X[indices] - first
    w = weights[indices]
    distances = np.sum((offsets - w @ offsets / np.sum(w)) ** 2, axis=1)
    # The two points of a cell of two are always a tie: rounding must not decide it.
    return indices[np.flatnonzero(distances <= distances.min() + 1e-9 * h * h)[0]]


def stochastic_mean_shift(
    X,
    *,
    h,
    tol,
    patience=1.0,
    max_iter=300,
    weights=None,
    random_state=None,
    batch_size=1,
    rule=PLAIN,
    scale=None,
    verify=True,
):
    """Stochastic mean-shift (Algorithm 2): one random point, one step, and it stays there.

    With h = (low, high) the radius of each step is drawn too; `high` is then the h of the
    threshold tol*h and of the test (doubly stochastic mean-shift, arXiv 2602.15393). With
    `batch_size` above 1 a sweep is a permutation, cut into batches whose points move together.
    Without `verify` the quiet steps alone end the run: the paper's words taken literally.
    """
    X, weights = _placed(X, weights, rule)
    rng = check_random_state(random_state)
    n = len(X)
    high = radius(h if np.isscalar(h) else h[1], rule)
    scale = high if scale is None else scale
    Y = X.copy()
    paths = [[x] for x in X]
    quiet = 0
    n_steps = 0
    for sweep in range(1, max_iter + 1):
        order = rng.randint(n, size=n) if batch_size == 1 else rng.permutation(n)
        drawn = np.full(n, h) if np.isscalar(h) else rng.uniform(h[0], h[1], size=n)
        radii = [radius(bandwidth, rule) for bandwidth in drawn]
        for first in range(0, n, batch_size):
            batch = range(first, min(first + batch_size, n))
            means = [mean_near(Y, weights, Y[order[t]], radii[t], rule)[0] for t in batch]
            for t, mean in zip(batch, means, strict=True):
                j = order[t]
                shift = length(mean - Y[j], rule)
                Y[j] = mean
                paths[j].append(mean)
                n_steps += 1
                quiet = quiet + 1 if shift <= tol * scale else 0
            if quiet >= math.ceil(patience * n):
                still = max(_shifts(Y, _means(Y, weights, high, rule), rule)) <= tol * scale
                if not verify or still:
                    return Result(Y, [np.array(p) for p in paths], sweep, n_steps, True, rule)
                quiet = 0
    return Result(Y, [np.array(p) for p in paths], max_iter, n_steps, False, rule)


def blurring_mean_shift(
    X,
    *,
    h,
    tol,
    max_iter=300,
    weights=None,
    stop="shift",
    temperature=None,
    rule=PLAIN,
    scale=None,
):
    """Blurring mean-shift (Cheng 1995): all points move at once, over the current positions.

    `stop="entropy"`: until the mean update is small, or the entropy of the histogram of updates
    stands still (Carreira-Perpinan 2006). With a `temperature` the features have weights that are
    learned anew after each sweep (Chakraborty, Paul & Das 2021); `rule` of the result has the last.
    """
    X, weights = _placed(X, weights, rule)
    h = radius(h, rule)
    scale = h if scale is None else scale
    if temperature is not None:
        rule = rule._replace(feature_weights=np.full(X.shape[1], 1 / X.shape[1]))
    sweeps = [X]
    entropies = []
    converged = False
    while not converged and len(sweeps) <= max_iter:
        sweeps.append(_means(sweeps[-1], weights, h, rule))
        updates = _shifts(sweeps[-2], sweeps[-1], rule)
        if stop == "shift":
            converged = max(updates) <= tol * scale
        else:
            entropies.append(entropy(updates))
            stands_still = len(entropies) > 1 and abs(entropies[-1] - entropies[-2]) < 1e-8
            converged = np.mean(updates) <= tol * scale or stands_still
        if temperature is not None:
            learned = learned_weights(X, sweeps[-1], weights, temperature)
            rule = rule._replace(feature_weights=learned)
    n_iter = len(sweeps) - 1
    paths = [np.array([Y[i] for Y in sweeps]) for i in range(len(X))]
    return Result(sweeps[-1], paths, n_iter, len(X) * n_iter, bool(converged), rule)


def merge(positions, reach, rule=PLAIN):
    """Component numbers, in order of first appearance, under |p - q|^2 <= reach^2 (Th2)."""
    positions = np.asarray(positions, dtype=float)
    components = np.full(len(positions), -1)
    n_components = 0
    for start in range(len(positions)):
        if components[start] >= 0:
            continue
        components[start] = n_components
        to_visit = [start]
        while to_visit:
            i = to_visit.pop()
            squares = squared_distances(positions, positions[i], rule)
            reached = (squares <= reach * reach) & (components < 0)
            components[reached] = n_components
            to_visit.extend(np.flatnonzero(reached))
        n_components += 1
    return components


def label(components, weights=None, min_cluster_size=1):
    """Number the clusters down by size (total weight), ties by first appearance; small ones -1."""
    components = np.asarray(components)
    weights = _weights(components, weights)
    size = {}  # a dict keeps the order of first appearance, and sorted() is stable
    for component, weight in zip(components, weights, strict=True):
        size[component] = size.get(component, 0.0) + weight
    ranked = sorted(size, key=lambda component: -size[component])
    if min_cluster_size > 1:
        ranked = [component for component in ranked if size[component] >= min_cluster_size]
    number = {component: k for k, component in enumerate(ranked)}
    return np.array([number.get(component, -1) for component in components])


def join_strays(modes, labels, weights=None, rule=PLAIN, slack=0.0):
    """Strays (-1) get the label of the nearest mode that has one, and labels count down again.

    Returns the labels, and whether they are clear: no stray has two clusters as near, but for
    `slack`.
    """
    labels = np.asarray(labels)
    kept = np.flatnonzero(labels >= 0)
    joined, clear = labels.copy(), True
    if len(kept) == 0:
        return joined, clear
    for i in np.flatnonzero(labels < 0):
        distances = np.sqrt(squared_distances(modes[kept], modes[i], rule))
        joined[i] = labels[kept[np.argmin(distances)]]
        near = labels[kept[distances <= (1 + 1e-9) * distances.min() + slack]]
        clear = clear and np.ptp(near) == 0
    return label(joined, weights), clear


def centers(modes, labels, weights=None, rule=PLAIN):
    """Weighted mean of the modes of each cluster; the plain mean where the weights are all 0."""
    modes, weights = _checked(modes, weights)
    result = np.empty((max(labels) + 1, modes.shape[1]))
    for k in range(len(result)):
        members = np.asarray(labels) == k
        w = weights[members]
        if np.sum(w) == 0:
            w = np.ones(len(w))
        first = modes[members][0]
        result[k] = first + w @ (modes[members] - first) / np.sum(w)
    return on_sphere(result) if rule.sphere else result


VOTERS = 10


def votes(points, weights, labels, x, rule=PLAIN):
    """Share of the votes for each label: the ten nearest points vote with weight / distance.

    At distance 0 only the points there vote. Without any weight all count alike. Returns labels,
    from the nearest voter on, and their shares.
    """
    points, weights = _placed(points, weights, rule)
    x = _placed(x[np.newaxis], None, rule)[0][0]
    distances = np.sqrt(squared_distances(points, x, rule))
    order = np.argsort(distances, kind="stable")[:VOTERS]
    if distances[order[0]] == 0:
        order = order[distances[order] == 0]
        strengths = np.ones(len(order))
    else:
        strengths = 1.0 / distances[order]
    if np.any(weights[order] > 0):
        strengths = strengths * weights[order]
    shares = {}
    for i, strength in zip(order, strengths, strict=True):
        shares[labels[i]] = shares.get(labels[i], 0.0) + strength / strengths.sum()
    return shares


def predict(points, weights, labels, X_new, rule=PLAIN):
    """Label with most votes, for each new point, and whether rounding cannot decide.

    Rounding decides where two labels have as many votes, and where the last voter and the next
    point are as far.
    """
    result, clear = [], []
    for x in X_new:
        shares = votes(points, weights, labels, x, rule)
        most = max(shares.values())
        result.append(next(label for label, share in shares.items() if share == most))
        rivals = [share for share in shares.values() if share > most - 1e-9]
        clear.append(len(rivals) == 1 and _last_is_clear(points, labels, x, rule))
    return np.array(result, dtype=int), np.array(clear)


def _last_is_clear(points, labels, x, rule):
    """Whether all points as far as the last voter have one label, or all of them vote."""
    placed, _ = _placed(points, None, rule)
    x = _placed(x[np.newaxis], None, rule)[0][0]
    squares = squared_distances(placed, x, rule)
    if len(squares) <= VOTERS or squares.min() == 0:
        return True
    last = np.sort(squares)[VOTERS - 1]
    as_far = np.abs(squares - last) <= 1e-9 * last
    return np.sum(squares <= last * (1 + 1e-9)) == VOTERS or np.ptp(labels[as_far]) == 0


def compress(X, side, weights=None):
    """Replace points by the weighted means of grid cells floor(x / side), in order of the cells.

    A cell in which nothing has weight takes the plain mean. Returns the means, the masses and the
    number of the cell of each point.
    """
    X, weights = _checked(X, weights)
    members = {}
    for i, x in enumerate(X):
        members.setdefault(tuple(np.floor(x / side)), []).append(i)
    means, masses, cell_of = [], [], np.empty(len(X), dtype=int)
    for number, cell in enumerate(sorted(members)):
        indices = members[cell]
        w, first = weights[indices], X[indices[0]]
        w = w if w.any() else np.ones(len(w))
        means.append(first + w @ (X[indices] - first) / w.sum())
        masses.append(weights[indices].sum())
        cell_of[indices] = number
    return np.array(means), np.array(masses), cell_of


def aged_cells(X, side, weights, half_life):
    """Means and masses of the cells of a stream in which point i counts w_i 2^(-(n - i) / H).

    At every second half-life the cells go to which no point has come for 20 half-lives.
    """
    X, weights = _checked(X, weights)
    members = {}
    for i, x in enumerate(X):
        before, now = i / half_life, (i + 1) / half_life
        if now // 2 > before // 2:
            limit = 2 * (now // 2) - 20
            members = {
                c: rows for c, rows in members.items() if (rows[-1] + 1) / half_life >= limit
            }
        members.setdefault(tuple(np.floor(x / side)), []).append(i)
    means, masses = [], []
    for cell in sorted(members):
        rows = members[cell]
        pull = weights[rows] * 0.5 ** ((len(X) - 1 - np.array(rows)) / half_life)
        masses.append(pull.sum())
        means.append(np.average(X[rows], axis=0, weights=pull if pull.any() else None))
    return np.array(means), np.array(masses)


def potential(points, h):
    """Phi = sum over unordered pairs of min(|x_i - x_j|^2, h^2), which no flat step raises."""
    points = np.asarray(points, dtype=float)
    total = 0.0
    for i, x in enumerate(points):
        total += np.sum(np.minimum(np.sum((points[:i] - x) ** 2, axis=1), h * h))
    return float(total)


def contingency(labels_true, labels_pred):
    """Counts n_qr as a dict {(cluster q, class r): n}; each noise point is a cluster of its own."""
    counts = {}
    for r, q in zip(labels_true, labels_pred, strict=True):
        # A fresh object() equals no label, so this cluster can hold no other point.
        cell = (object() if q == -1 else q, r)
        counts[cell] = counts.get(cell, 0) + 1
    return counts


def purity_columns(labels_true, labels_pred, weighted=False):
    """The columns (acp, asp, k, pur_c, pur_d, g, n_clusters) of the paper's tables (Criteria).

    ACP = (1/Q) sum_q p_q with p_q = sum_r n_qr^2 / n_q.^2; Pur_C = (1/N) sum_q max_r n_qr;
    ASP and Pur_D likewise with q and r exchanged; K = sqrt(ACP ASP); G = sqrt(Pur_C Pur_D).
    `weighted` is the older form (Ajmera 2002): ACP = (1/N) sum_q n_q. p_q.
    """
    counts = contingency(labels_true, labels_pred)
    clusters = _group(counts, by=0)
    classes = _group(counts, by=1)
    acp, asp = _average_purity(clusters, weighted), _average_purity(classes, weighted)
    pur_c, pur_d = _purity(clusters), _purity(classes)
    k, g = math.sqrt(acp * asp), math.sqrt(pur_c * pur_d)
    return acp, asp, k, pur_c, pur_d, g, len(clusters)


def _group(counts, by):
    """The counts of each cluster (by=0) or of each class (by=1), as a list of lists."""
    groups = {}
    for cell, n in counts.items():
        groups.setdefault(cell[by], []).append(n)
    return list(groups.values())


def _average_purity(groups, weighted):
    """Mean over groups of sum n^2 / (sum n)^2, each group counted once or by its size."""
    total = 0.0
    divisor = 0
    for group in groups:
        size = sum(group)
        times = size if weighted else 1
        total += times * sum(n**2 for n in group) / size**2
        divisor += times
    return total / divisor


def _purity(groups):
    """Share of the points that are in the largest cell of their group."""
    return sum(max(group) for group in groups) / sum(sum(group) for group in groups)


def _weights(X, weights):
    return np.ones(len(X)) if weights is None else np.asarray(weights, dtype=float)


def _checked(X, weights):
    """Float64 points, and a weight for each."""
    X = np.asarray(X, dtype=float)
    return X, _weights(X, weights)


def _placed(X, weights, rule):
    """Float64 points, on the sphere if the rule says so, and a weight for each."""
    X, weights = _checked(X, weights)
    return on_sphere(X) if rule.sphere else X, weights


def _means(points, weights, h, rule):
    """The mean near each point, over the same positions for all."""
    return np.array([mean_near(points, weights, x, h, rule)[0] for x in points])


def _shifts(before, after, rule):
    return [length(a - b, rule) for a, b in zip(after, before, strict=True)]


def _nearest(points, x, rule):
    """Index of the point nearest to x (ties: the lowest)."""
    return int(np.argmin(squared_distances(points, x, rule)))
