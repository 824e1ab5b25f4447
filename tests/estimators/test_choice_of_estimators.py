"""What an estimator makes of the choice: warnings, scales of features, repeating it."""

import dask.array as da
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift
from modeshift.estimators.warnings import NoClustersWarning

ESTIMATORS = (MeanShift, StochasticMeanShift, BlurringMeanShift)
RNG = np.random.default_rng(0)
TWO = np.concatenate([RNG.normal(size=(150, 2)), RNG.normal(size=(150, 2)) + 8.0])


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_one_cluster_warns_and_names_the_best_bandwidth(kind):
    X = np.random.default_rng(1).normal(size=(300, 2))
    with pytest.warns(NoClustersWarning, match=r"No clusters beyond chance \(p = .*would give"):
        fitted = kind().fit(X)
    assert len(fitted.cluster_centers_) == 1
    assert fitted.profile_.one_cluster
    untested = kind(significance=None).fit(X)
    assert untested.bandwidth_ == fitted.profile_.best_bandwidth


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_the_chosen_parameters_repeat_the_fit(kind):
    seed = {} if kind is BlurringMeanShift else {"random_state": 0}
    fitted = kind(**seed).fit(TWO)
    assert set(fitted.chosen_) == {"bandwidth", "n_neighbors", "min_cluster_size", "strays"}
    again = kind(**seed, **fitted.chosen_).fit(TWO)
    assert_array_equal(again.labels_, fitted.labels_)
    assert_array_equal(again.modes_, fitted.modes_)
    assert not hasattr(again, "chosen_")


def test_features_of_different_scales_are_named():
    X = TWO * [1.0, 1000.0]
    with pytest.warns(UserWarning, match="Distances hardly depend on column 0: column 1 spreads"):
        MeanShift().fit(X)
    MeanShift(feature_scale=[1.0, 1000.0]).fit(X)  # no warning: they are errors here


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_scale_for_each_feature_is_a_change_of_units(kind):
    scale = np.array([10.0, 0.25])
    seed = {} if kind is BlurringMeanShift else {"random_state": 0}
    plain = kind(bandwidth=2.0, **seed).fit(TWO)
    scaled = kind(bandwidth=2.0, feature_scale=scale, **seed).fit(TWO * scale)
    assert_array_equal(scaled.labels_, plain.labels_)
    assert_allclose(scaled.modes_, plain.modes_ * scale)
    assert_allclose(scaled.cluster_centers_, plain.cluster_centers_ * scale)
    assert_array_equal(scaled.predict(TWO * scale + 0.1), plain.predict(TWO + 0.1 / scale))
    cells = kind(bandwidth=2.0, feature_scale=scale, resolution=8, **seed)
    expected = kind(bandwidth=2.0, resolution=8, **seed).fit(TWO)
    found = cells.fit(da.from_array(TWO * scale, chunks=(100, 2)))
    assert_array_equal(found.labels_.compute(), expected.labels_)
    assert_allclose(found.cluster_centers_, expected.cluster_centers_ * scale)


@pytest.mark.parametrize(
    ("scale", "error", "words"),
    [
        ([1.0], ValueError, "one number for each of the 2 features of X, got 1"),
        ("wide", TypeError, "sequence of one number a feature"),
        (3.0, TypeError, "sequence of one number a feature"),
        ([1.0, 0.0], ValueError, r"feature_scale\[1\] must be greater than 0"),
    ],
)
def test_bad_scales(scale, error, words):
    with pytest.raises(error, match=words):
        MeanShift(bandwidth=1.0, feature_scale=scale).fit(TWO)


def test_callbacks_hear_of_the_choice():
    class Listener:
        heard = ()

        def __call__(self, progress):
            pass

        def on_choice(self, done, total):
            self.heard += ((done, total),)

    listener = Listener()
    MeanShift().set_callbacks(listener).fit(TWO)
    assert listener.heard
    assert all(0 < done <= total for done, total in listener.heard)
