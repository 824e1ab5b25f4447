"""The paper's seven data sets: every published number, and samples that follow them."""

import contextlib
import math
import re

import numpy as np
import pytest

from modeshift import datasets

MEANS_2D = [[1, 1], [-1, -1], [1, -1]]
MEANS_3D = [[1, 1, 1], [-1, -1, 0], [1, -1, 0], [-2, 2, 2]]
NARROW = [[0.36, 0], [0, 0.36]]
WIDE = [[0.64, 0], [0, 0.64]]
COVARIANCES_6 = [
    WIDE,
    [[0.73, 0.48], [0.48, 0.73]],
    [[1.09, -0.60], [-0.60, 1.09]],
]
COVARIANCES_7 = [
    [[0.64, 0, 0], [0, 0.64, 0], [0, 0, 0.64]],
    [[0.74, 0.50, -0.20], [0.50, 0.77, -0.31], [-0.20, -0.31, 0.41]],
    [[1.09, -0.60, -0.24], [-0.60, 1.73, 1.60], [-0.24, 1.60, 1.64]],
    [[0.77, 0.58, 0.73], [0.58, 0.56, 0.46], [0.73, 0.46, 0.78]],
]
PUBLISHED = {
    1: (MEANS_2D, [NARROW] * 3, [250, 250, 250]),
    2: (MEANS_2D, [WIDE] * 3, [250, 250, 250]),
    3: (MEANS_2D, [WIDE] * 3, [50, 50, 50]),
    4: (MEANS_2D, [WIDE] * 3, [1500, 1500, 1500]),
    5: (MEANS_2D, [WIDE] * 3, [100, 300, 20]),
    6: (MEANS_2D, COVARIANCES_6, [250, 250, 250]),
    7: (MEANS_3D, COVARIANCES_7, [250, 300, 200, 200]),
}
every_set = pytest.mark.parametrize("index", PUBLISHED)


# The descriptions


@every_set
def test_description_is_the_published_one(index):
    means, covariances, sizes = PUBLISHED[index]
    description = datasets.paper_set(index)
    np.testing.assert_array_equal(description.means, means)
    np.testing.assert_array_equal(description.covariances, covariances)
    np.testing.assert_array_equal(description.sizes, sizes)


@every_set
def test_shapes_of_the_description(index):
    n_classes, n_features = np.shape(PUBLISHED[index][0])
    description = datasets.paper_set(index)
    assert np.shape(description.means) == (n_classes, n_features)
    assert np.shape(description.covariances) == (n_classes, n_features, n_features)
    assert np.shape(description.sizes) == (n_classes,)


@every_set
def test_covariances_are_positive_definite(index):
    for covariance in datasets.paper_set(index).covariances:
        np.testing.assert_array_equal(covariance, np.transpose(covariance))
        assert np.all(np.linalg.eigvalsh(covariance) > 0)


@every_set
def test_a_changed_description_changes_no_other(index):
    description = datasets.paper_set(index)
    # Arrays that refuse to be written to are as good as copies.
    with contextlib.suppress(ValueError):
        description.means[:] = 0
    with contextlib.suppress(ValueError):
        description.covariances[:] = 0
    with contextlib.suppress(ValueError):
        description.sizes[:] = 0
    test_description_is_the_published_one(index)


# The samples


@every_set
def test_sample_has_the_published_sizes(index):
    means, _, sizes = PUBLISHED[index]
    X, y = datasets.make_paper_set(index, random_state=0)
    assert X.shape == (sum(sizes), len(means[0]))
    assert X.dtype == np.float64
    assert np.all(np.isfinite(X))
    assert np.issubdtype(y.dtype, np.integer)
    # The classes come one after the other, in the paper's order.
    np.testing.assert_array_equal(y, np.repeat(np.arange(len(sizes)), sizes))


@pytest.mark.parametrize(
    ("index", "scale", "sizes"),
    [
        (5, 12.5, [1250, 3750, 250]),  # the larger variant in the paper's text
        (5, 1, [100, 300, 20]),
        (5, 0.5, [50, 150, 10]),
        (5, 0.1, [10, 30, 2]),
        (5, 0.37, [37, 111, 7]),  # 20 * 0.37 = 7.4
        (5, 0.39, [39, 117, 8]),  # 20 * 0.39 = 7.8
        (1, 2, [500, 500, 500]),
        (1, np.float64(0.2), [50, 50, 50]),
        (7, 0.04, [10, 12, 8, 8]),
    ],
)
def test_scale_multiplies_the_class_sizes(index, scale, sizes):
    X, y = datasets.make_paper_set(index, scale=scale, random_state=0)
    assert len(X) == len(y)
    assert np.bincount(y).tolist() == sizes


@every_set
def test_large_samples_follow_the_description(index):
    means, covariances, sizes = PUBLISHED[index]
    # 20,000 points in the smallest class: standard errors below 0.01 (means) and 0.02.
    X, y = datasets.make_paper_set(index, scale=20_000 / min(sizes), random_state=0)
    for r in range(len(sizes)):
        np.testing.assert_allclose(X[y == r].mean(axis=0), means[r], atol=0.05)
        np.testing.assert_allclose(np.cov(X[y == r].T), covariances[r], atol=0.08)


@pytest.mark.parametrize(("index", "accuracy"), [(1, 0.935), (2, 0.854)])
def test_bayes_accuracy_shows_that_the_matrices_are_right(index, accuracy):
    # The text's variances, 0.36^2 and 0.64^2, would make it much higher. With one spherical
    # covariance and equal sizes the best classifier is the nearest mean.
    X, y = datasets.make_paper_set(index, scale=200, random_state=0)
    distances = np.linalg.norm(X[:, None, :] - np.array(MEANS_2D), axis=2)
    assert np.mean(distances.argmin(axis=1) == y) == pytest.approx(accuracy, abs=0.004)


@every_set
def test_random_state_fixes_the_sample(index):
    X, y = datasets.make_paper_set(index, random_state=3)
    again_X, again_y = datasets.make_paper_set(index, random_state=3)
    other_X, _ = datasets.make_paper_set(index, random_state=4)
    np.testing.assert_array_equal(X, again_X)
    np.testing.assert_array_equal(y, again_y)
    assert not np.any(other_X == X)


def test_random_state_may_be_a_generator_which_moves_on():
    rng = np.random.RandomState(3)
    first, _ = datasets.make_paper_set(1, random_state=rng)
    second, _ = datasets.make_paper_set(1, random_state=rng)
    from_seed, _ = datasets.make_paper_set(1, random_state=3)
    np.testing.assert_array_equal(first, from_seed)
    assert not np.any(first == second)


def test_without_random_state_samples_differ():
    first, _ = datasets.make_paper_set(1)
    second, _ = datasets.make_paper_set(1)
    assert not np.any(first == second)


def test_classes_are_drawn_apart():
    # One draw shifted to each mean would have the right moments, and be wrong.
    X, y = datasets.make_paper_set(1, random_state=0)
    assert not np.any(np.isclose(X[y == 0] - MEANS_2D[0], X[y == 1] - MEANS_2D[1]).all(axis=1))


def test_index_may_be_a_numpy_integer():
    np.testing.assert_array_equal(datasets.paper_set(np.int64(5)).sizes, [100, 300, 20])


def test_options_are_keyword_only():
    with pytest.raises(TypeError):
        datasets.make_paper_set(1, 2)


# Errors


@pytest.mark.parametrize("function", [datasets.paper_set, datasets.make_paper_set])
@pytest.mark.parametrize("index", [0, 8, -1, "a", 1.5, True, None])
def test_bad_index(function, index):
    with pytest.raises((ValueError, TypeError), match=rf"index.*{re.escape(repr(index))}"):
        function(index)


@pytest.mark.parametrize("scale", [0, -1, math.nan, math.inf, "x", None])
def test_bad_scale(scale):
    with pytest.raises((ValueError, TypeError), match=rf"scale.*{re.escape(repr(scale))}"):
        datasets.make_paper_set(1, scale=scale)
