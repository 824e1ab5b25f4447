"""Several runs joined into one labelling, and strays that join their neighbours."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score

from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift
from modeshift.datasets import make_paper_set
from modeshift.estimators.voting import join_runs
from naive_choice import join_runs as naive_join_runs

# Several runs


@given(st.integers(1, 30), st.integers(1, 6), st.integers(1, 5), st.integers(0, 10_000))
def test_join_equals_its_twin(n, r, n_clusters, seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_clusters, size=n)
    runs = np.column_stack(
        [np.where(rng.random(n) < 0.7, truth, rng.integers(8, size=n)) for _ in range(r)]
    )
    weights = rng.integers(1, 4, size=n).astype(float)
    components, confidence, _ = join_runs(runs, weights)
    expected, sure = naive_join_runs(runs, weights)
    assert adjusted_rand_score(components, expected) == 1.0
    assert (np.diff(np.unique(components, return_index=True)[1]) > 0).all()
    assert_allclose(confidence, sure)


def test_runs_that_are_alike_are_joined_as_they_are():
    run = np.array([0, 0, 1, 2, 1])
    components, confidence, _ = join_runs(np.column_stack([run, run, run]), np.ones(5))
    assert_array_equal(components, run)
    assert_array_equal(confidence, np.ones(5))


def test_a_stray_in_one_of_three_runs_is_no_stray():
    runs = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 1, 0]])
    assert_array_equal(join_runs(runs, np.ones(4)).components, np.zeros(4))


def test_a_point_between_two_clusters_is_less_sure():
    runs = np.array([[0, 0, 0], [0, 0, 0], [0, 1, 0], [1, 1, 1], [1, 1, 1]])
    components, confidence, reference = join_runs(runs, np.ones(5))
    assert_array_equal(components, [0, 0, 0, 1, 1])
    assert_allclose(confidence, [1, 1, 2 / 3, 1, 1])
    assert reference in (0, 2)


@pytest.fixture(scope="module")
def paper_set():
    return make_paper_set(3, random_state=1)


def test_one_run_is_as_ever(paper_set):
    X, _ = paper_set
    one = StochasticMeanShift(bandwidth=0.9, random_state=0).fit(X)
    assert not hasattr(one, "confidence_")


def test_runs_follow_one_another_from_one_random_state(paper_set):
    """The joined labels are those of separate fits that share a generator."""
    X, _ = paper_set
    joined = StochasticMeanShift(bandwidth=0.9, n_runs=3, random_state=5).fit(X)
    rng = np.random.RandomState(5)
    single = [StochasticMeanShift(bandwidth=0.9, random_state=rng).fit(X) for _ in range(3)]
    runs = np.column_stack([fitted.labels_ for fitted in single])
    components, confidence, reference = join_runs(runs, np.ones(len(X)))
    assert adjusted_rand_score(joined.labels_, components) == 1.0
    assert_allclose(joined.confidence_, confidence)
    assert_array_equal(joined.modes_, single[reference].modes_)
    sizes = np.bincount(joined.labels_)
    assert (np.diff(sizes) <= 0).all()
    assert joined.predict(X).shape == joined.labels_.shape


def test_confidence_with_cells(paper_set):
    X, _ = paper_set
    fitted = StochasticMeanShift(bandwidth=0.9, n_runs=3, resolution=4, random_state=0).fit(X)
    assert fitted.confidence_.shape == (len(X),)
    assert ((fitted.confidence_ >= 0) & (fitted.confidence_ <= 1)).all()


def test_runs_must_be_a_number():
    with pytest.raises(ValueError, match="n_runs must be at least 1, got 0"):
        StochasticMeanShift(bandwidth=1.0, n_runs=0).fit([[0.0], [1.0]])


# Strays

LINE = np.array([0.0, 0.1, 0.2, 0.3, 5.0, 10.0, 10.1, 10.2, 6.5])[:, np.newaxis]
ESTIMATORS = [MeanShift, StochasticMeanShift, BlurringMeanShift]


@pytest.mark.parametrize("make", ESTIMATORS, ids=lambda make: make.__name__)
def test_strays_are_noise_or_join_the_nearest(make):
    settings = {"bandwidth": 1.0, "min_cluster_size": 2}
    if make is StochasticMeanShift:
        settings["random_state"] = 0
    noise = make(**settings).fit(LINE)
    assert_array_equal(noise.labels_, [0, 0, 0, 0, -1, 1, 1, 1, -1])
    joined = make(**settings, strays="nearest").fit(LINE)
    assert_array_equal(joined.labels_, [0, 0, 0, 0, 0, 1, 1, 1, 1])
    assert_allclose(joined.cluster_centers_, noise.cluster_centers_)
    assert_array_equal(joined.predict([[5.1], [6.4]]), [0, 1])


def test_clusters_are_numbered_by_size_after_the_strays_joined():
    X = np.array([0.0, 0.1, 0.2, 10.0, 10.1, 8.0, 12.0])[:, np.newaxis]
    fitted = MeanShift(bandwidth=1.0, min_cluster_size=2, strays="nearest").fit(X)
    assert_array_equal(fitted.labels_, [1, 1, 1, 0, 0, 0, 0])
    assert_allclose(fitted.cluster_centers_, [[10.05], [0.1]])


def test_where_all_are_strays_nobody_joins():
    fitted = MeanShift(bandwidth=0.01, min_cluster_size=2, strays="nearest").fit(LINE)
    assert_array_equal(fitted.labels_, -np.ones(9))


def test_strays_is_one_of_two():
    with pytest.raises(ValueError, match="strays must be one of 'noise', 'nearest', got 'drop'"):
        MeanShift(bandwidth=1.0, strays="drop").fit(LINE)
