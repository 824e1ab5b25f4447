"""Strays: points of clusters that are too small are noise, or join their neighbours."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs

from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift

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
    estimator = MeanShift(bandwidth=0.01, min_cluster_size=2, strays="nearest")
    with pytest.warns(
        UserWarning, match="All points are strays: no cluster has min_cluster_size=2"
    ):
        fitted = estimator.fit(LINE)
    assert_array_equal(fitted.labels_, -np.ones(9))


def test_strays_is_one_of_two():
    with pytest.raises(
        ValueError, match="strays must be None, or one of 'noise', 'nearest', got 'drop'"
    ):
        MeanShift(bandwidth=1.0, strays="drop").fit(LINE)


def test_dust_of_a_chosen_bandwidth_joins_the_nearest_cluster():
    """Five blobs that touch gave 16 to 19 clusters; with a given bandwidth strays stay apart."""
    X, _ = make_blobs(1500, centers=5, random_state=3)
    chosen = StochasticMeanShift(random_state=0).fit(X)
    assert len(chosen.cluster_centers_) == 5
    assert (chosen.labels_ >= 0).all()
    again = StochasticMeanShift(random_state=0, **chosen.chosen_).fit(X)
    np.testing.assert_array_equal(again.labels_, chosen.labels_)
