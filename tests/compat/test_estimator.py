"""MeanShift of modeshift.compat.sklearn: an estimator, its errors and warnings, its rules."""

import pickle

import numpy as np
import pytest
import sklearn.cluster
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from helpers import make_data
from modeshift.compat.rounding import lattice_spacing
from modeshift.compat.sklearn import MeanShift, estimate_bandwidth, get_bin_seeds, mean_shift

X = make_data("clustered", 60, 2)[0]


@parametrize_with_checks([MeanShift(), MeanShift(bin_seeding=True)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_parameters_are_those_of_scikit_learn():
    assert MeanShift().get_params() == sklearn.cluster.MeanShift().get_params()


def test_clone_and_pickle():
    fitted = MeanShift(bandwidth=1.5, cluster_all=False).fit(X)
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert not hasattr(copy, "labels_")
    again = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(again.labels_, fitted.labels_)
    assert_array_equal(again.predict(X + 1.0), fitted.predict(X + 1.0))


def test_threads_do_not_change_the_result():
    one, two = (MeanShift(bandwidth=1.5, n_jobs=n_jobs).fit(X) for n_jobs in (1, 2))
    assert_array_equal(one.cluster_centers_, two.cluster_centers_)
    assert_array_equal(one.labels_, two.labels_)


def test_of_equal_means_the_last_seed_has_the_count():
    """The mean of three points and that of the middle one are 0; scikit-learn keeps one count."""
    points = np.array([[-1.0], [0.0], [1.0], [5.0], [5.25]])
    for seeds in ([[0.0], [5.0]], [[5.0], [0.0]], [[0.5], [0.0], [5.0]]):
        theirs = sklearn.cluster.MeanShift(bandwidth=1.0, seeds=seeds).fit(points)
        found = MeanShift(bandwidth=1.0, seeds=seeds).fit(points)
        assert_array_equal(found.cluster_centers_, theirs.cluster_centers_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bandwidth": -1.0}, "'bandwidth' parameter of MeanShift"),
        ({"bandwidth": 1.0, "max_iter": -1}, "'max_iter' parameter of MeanShift"),
        ({"bandwidth": 0.1, "seeds": [[-90.0, 0.0]]}, r"No point was within bandwidth=0\.1"),
        ({"bandwidth": 1.0, "seeds": [[1.0, 2.0, 3.0]]}, "seeds has 3 features, but X has 2"),
        ({"bandwidth": 1.0, "bin_seeding": True, "min_bin_freq": 99}, "No bin has min_bin_freq=99"),
    ],
)
def test_errors(options, message):
    with pytest.raises(ValueError, match=message):
        MeanShift(**options).fit(X)
    with pytest.raises(ValueError, match=r".+"):  # scikit-learn refuses it too
        sklearn.cluster.MeanShift(**options).fit(X)


def test_functions_check_their_parameters_as_scikit_learn_does():
    with pytest.raises(ValueError, match="'quantile' parameter of estimate_bandwidth"):
        estimate_bandwidth(X, quantile=2.0)
    with pytest.raises(ValueError, match="'X' parameter of mean_shift"):
        mean_shift("points")


def test_bins_that_hold_single_points_are_replaced_by_the_points():
    with pytest.warns(UserWarning, match=r"bin_size=0\.000100 gives every point a bin of its own"):
        assert get_bin_seeds(X, 1e-4) is X
    assert get_bin_seeds(X, 0) is X


@pytest.mark.parametrize(
    ("values", "spacing"),
    [
        ([3.0, 8.0], 1.0),
        ([4.0, -8.0, 0.0], 4.0),
        ([0.375, 2.0], 0.125),
        ([0.0, 0.0], 1.0),
        ([0.1, 2.0], None),
        ([1e300, 1e-300], None),
    ],
)
def test_spacing_of_a_lattice(values, spacing):
    assert lattice_spacing(np.array(values)[:, np.newaxis]) == spacing
