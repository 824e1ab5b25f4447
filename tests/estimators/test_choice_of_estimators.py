"""What an estimator makes of the choice: warnings, scales of features, repeating it."""

import dask.array as da
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift
from modeshift.estimators.warnings import NoClustersWarning

ESTIMATORS = (MeanShift, StochasticMeanShift, BlurringMeanShift)
RNG = np.random.default_rng(0)
TWO = np.concatenate([RNG.normal(size=(150, 2)), RNG.normal(size=(150, 2)) + 8.0])


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_one_cluster_warns_and_names_the_best_bandwidth(kind):
    X = np.random.default_rng(1).normal(size=(300, 2))
    with pytest.warns(
        NoClustersWarning, match=r"no clusters beyond chance \(p = .* gives \d+ clusters"
    ):
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
    with pytest.warns(UserWarning, match="Distances hardly depend on column 0: the spread of"):
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
        ("wide", TypeError, "sequence with one number for each feature"),
        (3.0, TypeError, "sequence with one number for each feature"),
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


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("k", [1, 2, 4])
def test_a_wished_number_of_clusters(kind, k):
    seed = {} if kind is BlurringMeanShift else {"random_state": 0}
    far = np.concatenate([TWO, np.add(TWO, [60.0, 0.0])])  # four crowds in two pairs
    fitted = kind(n_clusters=k, **seed).fit(far)
    assert len(fitted.cluster_centers_) == k
    truth = np.repeat(np.arange(4), 150) * k // 4
    assert adjusted_rand_score(truth, fitted.labels_) > 0.99
    again = clone(fitted).set_params(**fitted.chosen_).fit(far)
    assert_array_equal(again.labels_, fitted.labels_)


def test_a_number_that_only_a_finer_look_finds():
    rng = np.random.default_rng(3)
    centres = np.cumsum(1.2 ** np.arange(12)) * 10.0  # pairs merge at radii close to each other
    X = np.concatenate([rng.normal(c, 1.0, 40) for c in centres])[:, None]
    plain = MeanShift().fit(X).profile_
    missing = next(k for k in range(2, 13) if not plain.gives(k))
    assert len(MeanShift(n_clusters=missing).fit(X).cluster_centers_) == missing


def test_a_number_that_no_bandwidth_gives():
    with pytest.raises(ValueError, match=r"No bandwidth gives n_clusters=299\. The nearest"):
        MeanShift(n_clusters=299).fit(TWO)


def test_a_given_bandwidth_that_gives_too_few():
    with pytest.warns(UserWarning, match=r"n_clusters=5, namely 2"):
        MeanShift(bandwidth=3.0, n_clusters=5).fit(TWO)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_given_bandwidth_that_gives_too_many(kind):
    seed = {} if kind is BlurringMeanShift else {"random_state": 0}
    far = np.concatenate([TWO, TWO[:60] + 30.0])
    fitted = kind(**seed, bandwidth=3.0, n_clusters=2, strays="nearest").fit(far)
    assert_array_equal(fitted.labels_, np.repeat([1, 0], [150, 210]))
    noise = kind(**seed, bandwidth=3.0, n_clusters=2).fit(far)
    assert_array_equal(noise.labels_, np.repeat([0, 1, -1], [150, 150, 60]))
    cells = kind(**seed, bandwidth=3.0, n_clusters=2, resolution=8)
    lazy = cells.fit(da.from_array(far, chunks=(100, 2))).labels_
    assert adjusted_rand_score(lazy.compute(), noise.labels_) > 0.95


def test_outliers_of_few_data_are_no_clusters():
    X = np.concatenate(
        [TWO[:12], TWO[150:162], np.add(TWO[:12], [20.0, 0.0]), 9.0 * TWO[:5] - 30.0]
    )
    fitted = MeanShift(n_clusters=3).fit(X)
    assert_array_equal(np.unique(fitted.labels_[:36].reshape(3, 12), axis=1)[:, 0], [0, 1, 2])


def test_one_cluster_in_many_dimensions():
    X = np.random.default_rng(4).normal(size=(120, 40))
    X[:60] += 3.0
    assert len(MeanShift(n_clusters=1).fit(X).cluster_centers_) == 1
    assert len(MeanShift(n_clusters=2).fit(X).cluster_centers_) == 2


def test_dust_is_no_wished_cluster():
    """The sixth cluster was four points, three times the next one, and fell as a stray."""
    X = make_blobs(600, centers=5, random_state=1, cluster_std=0.6)[0]
    with pytest.raises(ValueError, match="No bandwidth gives n_clusters=6"):
        StochasticMeanShift(n_clusters=6, random_state=0).fit(X)
