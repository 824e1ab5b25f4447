"""The twin itself, against closed forms and cases worked out by hand."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import entropy as shannon

from helpers import WEIGHTS, make_data, make_weights
from twins import naive
from twins.rules import (
    PLAIN,
    entropy,
    learned_weights,
    on_sphere,
    pulls,
    put_back,
    radius,
    scale_of_nearest,
)

GAUSSIAN = PLAIN._replace(kernel="gaussian")
SPHERE = PLAIN._replace(sphere=True)
LINE = np.array([[0.0], [1.0], [2.0], [-1.0], [7.0]])
ONES = np.ones(5)


def nearest(k):
    return PLAIN._replace(n_neighbors=k)


def test_flat_counts_the_border():
    assert_array_equal(pulls(LINE, ONES, np.array([1.0]), 1.0, PLAIN), [1, 1, 1, 0, 0])


def test_gaussian_ends_at_six_bandwidths():
    pull = pulls(LINE, 2 * ONES, np.array([1.0]), 1.0, GAUSSIAN)
    expected = [2 * math.exp(-0.5), 2, 2 * math.exp(-0.5), 2 * math.exp(-2), 2 * math.exp(-18)]
    assert_allclose(pull, expected)
    assert pulls(LINE, ONES, np.array([0.99]), 1.0, GAUSSIAN)[4] == 0.0


@pytest.mark.parametrize(
    ("k", "h", "expected"),
    [
        (1, 9.0, [1, 0, 0, 0, 0]),
        (2, 9.0, [1, 1, 0, 0, 0]),  # 1.0 and -1.0 are as near: the lower index
        (3, 9.0, [1, 1, 0, 1, 0]),
        (4, 9.0, [1, 1, 1, 1, 0]),
        (4, 1.5, [1, 1, 0, 1, 0]),  # the bandwidth still holds
        (9, np.inf, [1, 1, 1, 1, 1]),
    ],
)
def test_nearest_neighbours(k, h, expected):
    assert_array_equal(pulls(LINE, ONES, np.array([0.0]), h, nearest(k)), expected)


def test_nearest_neighbours_are_counted_by_weight():
    weights = np.array([0.5, 0.0, 3.0, 1.0, 9.0])
    pull = pulls(LINE, weights, np.array([0.0]), 9.0, nearest(3))
    assert_array_equal(pull, [0.5, 0.0, 1.5, 1.0, 0.0])


def test_nearest_neighbours_with_a_gaussian():
    pull = pulls(LINE, 2 * ONES, np.array([0.0]), 1.0, GAUSSIAN._replace(n_neighbors=3))
    assert_allclose(pull, [2, math.exp(-0.5), 0, 0, 0])


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize(("n", "d"), [(1, 1), (30, 2), (25, 5)])
def test_enough_neighbours_are_all(n, d, kind):
    X, h = make_data("clustered", n, d)
    weights = np.ones(n) if kind is None else make_weights(kind, n)
    k = math.ceil(weights.sum())
    assert_allclose(
        pulls(X, weights, X[0], h, nearest(k)), pulls(X, weights, X[0], h, PLAIN), atol=1e-12
    )


@pytest.mark.parametrize("k", [1, 2, 5, 11])
def test_whole_weights_are_repeated_points(k):
    X, h = make_data("lattice", 20, 2)
    weights = make_weights("whole", 20)
    repeated = np.repeat(X, weights.astype(int), axis=0)
    for x in X:
        one = naive.mean_near(X, weights, x, 2 * h, nearest(k))
        other = naive.mean_near(repeated, np.ones(len(repeated)), x, 2 * h, nearest(k))
        assert_allclose(one[0], other[0], atol=1e-12)
        assert one[1] == other[1]


def test_cosine_as_a_chord():
    """At 60 degrees 1 - cos is 1/2 and the chord 1, as long as the radius."""
    assert_allclose(radius(0.5, SPHERE), 1.0)
    assert_allclose(radius(0.5, SPHERE._replace(kernel="gaussian")), math.sqrt(0.5))
    assert radius(0.5, PLAIN) == 0.5
    U = on_sphere(np.random.default_rng(0).normal(size=(9, 4)))
    rule = SPHERE._replace(kernel="gaussian")
    pull = pulls(U, np.ones(9), U[0], radius(0.5, rule), rule)
    assert_allclose(pull, np.exp(-(1 - U @ U[0]) / 0.5))


def test_means_are_put_back_on_the_sphere():
    assert_allclose(put_back(np.array([3.0, 4.0]), np.zeros(2)), [0.6, 0.8])
    assert_array_equal(put_back(np.array([0.0, 1e-16]), np.array([1.0, 0.0])), [1.0, 0.0])
    axes = np.eye(3)
    mean, mass = naive.mean_near(axes, np.ones(3), axes[0], radius(1.0, SPHERE), SPHERE)
    assert_allclose(mean, np.full(3, 1 / math.sqrt(3)))
    assert mass == 3


def test_weighted_distance():
    rule = PLAIN._replace(feature_weights=np.array([1.0, 0.0]))
    X = np.array([[0.0, 0.0], [0.5, 99.0], [2.0, 0.0]])
    assert_array_equal(pulls(X, np.ones(3), X[0], 1.0, rule), [1, 1, 0])


def test_learned_weights():
    start = np.zeros((2, 3))
    now = np.array([[1.0, 0.0, 2.0], [1.0, 0.0, 0.0]])
    assert_allclose(learned_weights(start, now, np.ones(2), 1e9), np.full(3, 1 / 3))
    w = np.exp([-1.0, 0.0, -2.0])
    assert_allclose(learned_weights(start, now, np.ones(2), 1.0), w / w.sum())
    w = np.exp([-0.5, 0.0, -1.5])
    assert_allclose(learned_weights(start, now, np.array([3.0, 1.0]), 2.0), w / w.sum())
    assert_array_equal(learned_weights(start, 1e6 * now, np.ones(2), 1.0), [0, 1, 0])


def test_entropy_of_updates():
    assert entropy([0.0, 0.0, 0.0]) == 0.0
    assert entropy([0.7]) == 0.0
    assert_allclose(entropy([0.0, 4.0]), 0.0)  # int(1.8) is one bin
    assert_allclose(entropy([0.0, 0.1, 4.0]), math.log(3) - 2 / 3 * math.log(2))
    updates = np.random.default_rng(0).exponential(size=50)
    counts, _ = np.histogram(updates, bins=45, range=(0, updates.max()))
    assert_allclose(entropy(list(updates)), shannon(counts))


def test_scale_of_the_nearest():
    assert scale_of_nearest(LINE, 1) == 0.0
    assert scale_of_nearest(LINE, 2) == 1.0
    assert scale_of_nearest(LINE, 3) == 2.0  # of 1, 1, 2, 2, 6
    assert scale_of_nearest(LINE, 99) == 7.0  # of 7, 6, 5, 8, 8
    assert_allclose(scale_of_nearest(5 * np.eye(2), 2, SPHERE), math.sqrt(2))


def test_two_points_blur_with_a_gaussian():
    """A gap g becomes g (1 - q) / (1 + q) with q = exp(-g^2 / 2 h^2)."""
    result = naive.blurring_mean_shift([[0.0], [1.0]], h=0.8, tol=1e-9, rule=GAUSSIAN)
    gap = 1.0
    for before, after in zip(result.paths[0], result.paths[1], strict=True):
        assert_allclose(after - before, [gap], atol=1e-14)
        q = math.exp(-(gap**2) / (2 * 0.8**2))
        gap *= (1 - q) / (1 + q)


def test_gaussian_mode_of_two_points():
    """A climb ends where the derivative of the density is 0."""
    points = np.array([[0.0], [1.0]])
    path, _ = naive.climb(points, np.ones(2), points[0], 0.45, 1e-12, 999, GAUSSIAN)
    x = path[-1][0]
    slope = x * math.exp(-(x**2) / 0.405) + (x - 1) * math.exp(-((x - 1) ** 2) / 0.405)
    assert 0 < x < 0.3
    assert abs(slope) < 1e-9


def test_batches_of_everybody_are_blurring():
    X, h = make_data("clustered", 20, 2)
    batches = naive.stochastic_mean_shift(X, h=h, tol=1e-3, batch_size=20, random_state=0)
    blurring = naive.blurring_mean_shift(X, h=h, tol=1e-3)
    assert batches.n_iter >= blurring.n_iter
    for path, expected in zip(batches.paths, blurring.paths, strict=True):
        assert_array_equal(path[: len(expected)], expected)


def test_climbers_lead_the_points_nearest_to_their_starts():
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0]])
    result = naive.mean_shift(X, h=0.5, tol=1e-3, n_climbers=2, random_state=0)
    chosen = np.sort(np.random.RandomState(0).choice(5, 2, replace=False))
    assert_array_equal([path[0, 0] for path in result.paths], X[chosen, 0])
    expected = [X[chosen[np.argmin(abs(X[chosen, 0] - x))], 0] for x in X[:, 0]]
    assert_array_equal(result.modes[:, 0], expected)


def test_entropy_stops_no_later_than_the_largest_shift():
    X, h = make_data("uniform", 40, 2)
    h = h / 3
    plain = naive.blurring_mean_shift(X, h=h, tol=1e-3, rule=GAUSSIAN)
    early = naive.blurring_mean_shift(X, h=h, tol=1e-3, rule=GAUSSIAN, stop="entropy")
    assert 1 < early.n_iter < plain.n_iter
    assert_array_equal(early.modes, [path[early.n_iter] for path in plain.paths])


def test_learning_finds_the_feature_that_does_not_move():
    """Two clumps in the first feature, noise in the second."""
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [np.repeat([0.0, 3.0], 20) + 0.05 * rng.normal(size=40), rng.normal(size=40)]
    )
    result = naive.blurring_mean_shift(X, h=0.7, tol=1e-3, temperature=0.1)
    assert result.rule.feature_weights[0] > 0.9
    labels = naive.label(naive.merge(result.modes, 0.35, result.rule))
    assert_array_equal(labels, np.repeat([0, 1], 20))
