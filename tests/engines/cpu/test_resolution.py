"""Compression: cells that stand for points."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score

from helpers import make_data, make_weights
from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift
from modeshift.datasets import make_paper_set
from modeshift.engines.cpu.compress import compress
from twins import naive

ESTIMATORS = [MeanShift, StochasticMeanShift, BlurringMeanShift]


def make(estimator_class, **parameters):
    chance = {"random_state": 0} if estimator_class is StochasticMeanShift else {}
    return estimator_class(**chance, **parameters)


@pytest.mark.product
@pytest.mark.parametrize("weights", [None, "zeros", "real"])
@pytest.mark.parametrize("maker", ["clustered", "uniform", "duplicates", "lattice", "offset"])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (7, 2), (60, 2), (40, 3), (30, 9)])
def test_cells_equal_the_twin(maker, n, d, weights):
    X, h = make_data(maker, n, d)
    w = make_weights(weights, n)
    cells = compress(X, np.ones(n) if w is None else w, h / 3)
    means, masses, cell_of = naive.compress(X, h / 3, w)
    assert_allclose(cells.points, means, rtol=0, atol=1e-9 * (h + 1e-6 * np.abs(X).max()))
    assert_allclose(cells.weights, masses, rtol=1e-12)
    assert_array_equal(cells.cell_of, cell_of)
    assert_array_equal(cells.firsts, [np.flatnonzero(cell_of == c)[0] for c in range(len(means))])


def test_minus_zero_is_zero():
    cells = compress(np.array([[-0.0], [0.3], [0.0]]), np.ones(3), 1.0)
    assert_array_equal(cells.cell_of, [0, 0, 0])


def test_cells_do_not_depend_on_the_order_of_the_points():
    X, h = make_data("clustered", 80, 2)
    shuffled = np.random.default_rng(0).permutation(80)
    cells = compress(X, np.ones(80), h / 4)
    other = compress(X[shuffled], np.ones(80), h / 4)
    assert_allclose(other.points, cells.points, atol=1e-12)
    assert_array_equal(other.cell_of, cells.cell_of[shuffled])


@pytest.mark.parametrize("resolution", [1, 2.5, 8, 100])
@pytest.mark.parametrize("maker", ["clustered", "uniform", "duplicates", "offset"])
def test_no_point_is_further_than_a_diagonal_from_its_cell(maker, resolution):
    """The stated bound: bandwidth * sqrt(d) / resolution."""
    X, h = make_data(maker, 60, 3)
    cells = compress(X, np.ones(60), h / resolution)
    distances = np.linalg.norm(X - cells.points[cells.cell_of], axis=1)
    rounding = 1e-9 * h + 1e-15 * np.abs(X).max()
    assert distances.max() <= h * np.sqrt(3) / resolution + rounding


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@pytest.mark.parametrize("weights", [None, "zeros", "real"])
def test_a_compressed_fit_is_a_fit_of_the_weighted_cells(estimator_class, weights):
    X, h = make_data("clustered", 60, 2)
    w = make_weights(weights, 60)
    means, masses, cell_of = naive.compress(X, h / 4, w)
    parameters = {"bandwidth": h, "record": True}
    compressed = make(estimator_class, resolution=4, **parameters).fit(X, sample_weight=w)
    plain = make(estimator_class, **parameters).fit(means, sample_weight=masses)
    assert_allclose(compressed.modes_, plain.modes_[cell_of], atol=1e-9 * h)
    assert adjusted_rand_score(compressed.labels_, plain.labels_[cell_of]) == 1.0
    assert compressed.n_steps_ == plain.n_steps_
    assert len(compressed.paths_) == len(means)
    assert_array_equal(compressed.predict(X), compressed.labels_)
    occupied = set(map(tuple, np.floor(4 * X / h)))
    new = np.random.default_rng(0).uniform(X.min(), X.max(), (60, 2))
    new = np.array([x for x in new if tuple(np.floor(4 * x / h)) not in occupied])
    assert adjusted_rand_score(compressed.predict(new), plain.predict(new)) == 1.0


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_a_fine_grid_changes_nothing(estimator_class):
    """With every point in a cell of its own the fit is exact, in the order of the cells."""
    X, h = make_data("clustered", 50, 2)
    X = X[np.lexsort(X.T[::-1])]
    exact = make(estimator_class, bandwidth=h).fit(X)
    fine = make(estimator_class, bandwidth=h, resolution=1e6).fit(X)
    assert_array_equal(fine.labels_, exact.labels_)
    assert_allclose(fine.modes_, exact.modes_, atol=1e-9 * h)


def test_ties_in_size_go_by_the_first_point_not_by_the_first_cell():
    X = np.array([[9.0], [0.0], [0.1], [9.1]])
    labels = make(MeanShift, bandwidth=1.0, resolution=8).fit(X).labels_
    assert_array_equal(labels, [0, 1, 1, 0])


@pytest.mark.jit
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_close_to_exact_on_the_papers_set_4(estimator_class):
    """Resolution 8: the agreement with the classes is that of the exact fit, within 0.05."""
    X, y = make_paper_set(4, random_state=0)
    exact = make(estimator_class, bandwidth=0.8).fit(X)
    compressed = make(estimator_class, bandwidth=0.8, resolution=8).fit(X)
    scores = [adjusted_rand_score(y, fitted.labels_) for fitted in (exact, compressed)]
    assert abs(scores[0] - scores[1]) < 0.05


def test_min_cluster_size_counts_points_not_cells():
    X = np.array([[0.0]] * 5 + [[9.0]])
    labels = make(MeanShift, bandwidth=1.0, resolution=4, min_cluster_size=3).fit(X).labels_
    assert_array_equal(labels, [0, 0, 0, 0, 0, -1])


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@pytest.mark.parametrize("bad", [0, -1.0, np.nan, np.inf, "fine", True])
def test_bad_resolution(estimator_class, bad):
    with pytest.raises((TypeError, ValueError), match="resolution"):
        make(estimator_class, bandwidth=1.0, resolution=bad).fit([[0.0], [1.0]])
