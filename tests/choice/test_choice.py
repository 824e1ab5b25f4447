"""The bandwidth that estimators choose when they are given none, and the profile behind it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score

from modeshift import (
    BlurringMeanShift,
    MeanShift,
    StochasticMeanShift,
    bandwidth_profile,
    estimate_bandwidth,
)
from modeshift.choice.agreement import agreement, neighbour_agreement
from modeshift.choice.normal import normal_radius
from modeshift.choice.profile import chance_score
from modeshift.choice.sample import draw_sample, pair_quantiles
from modeshift.choice.separation import quality
from twins.choice import quality as naive_quality

ESTIMATORS = [MeanShift, StochasticMeanShift, BlurringMeanShift]
all_estimators = pytest.mark.parametrize("make", ESTIMATORS, ids=lambda make: make.__name__)


def blobs(n_each, centers, seed=0, spread=1.0):
    rng = np.random.default_rng(seed)
    centers = np.asarray(centers, dtype=float)
    X = np.concatenate([c + spread * rng.normal(size=(n_each, centers.shape[1])) for c in centers])
    return X, np.repeat(np.arange(len(centers)), n_each)


def sample_of(X, weights=None):
    weights = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=float)
    return draw_sample(X, weights, 1500, np.random.RandomState(0))


def by_size(labels):
    """Number labels by falling size, as estimators do."""
    _, labels, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    return np.argsort(np.argsort(-sizes, kind="stable"))[labels]


# The parts, against their twins


@pytest.mark.parametrize("dimension", [2.0, 9.0])
@pytest.mark.parametrize("on_sphere", [False, True])
@pytest.mark.parametrize(
    ("n", "d", "n_clusters"), [(60, 2, 3), (90, 1, 2), (80, 1, 5), (80, 5, 12), (40, 3, 20)]
)
def test_quality_equals_its_twin(n, d, n_clusters, on_sphere, dimension):
    if on_sphere and d == 1:
        pytest.skip("the sphere in one dimension is two places")
    seen = []
    for seed in range(4):
        rng = np.random.default_rng([seed, n])
        centers = rng.normal(size=(n_clusters, d)) * 6
        labels = by_size(rng.integers(n_clusters, size=n))
        X = centers[labels] + rng.normal(size=(n, d))
        if on_sphere:
            X /= np.linalg.norm(X, axis=1, keepdims=True)
        sample = sample_of(X)
        labels = labels[sample.rows]
        seen.append(quality(sample, labels, dimension, on_sphere))
        expected = naive_quality(sample.points, labels, dimension, on_sphere)
        assert_allclose(seen[-1], expected, atol=1e-9)
    assert n_clusters > 3 or max(seen) > 0.1


def test_quality_rises_with_the_distance_of_clusters():
    values = []
    for gap in (0.0, 2.0, 4.0, 8.0):
        X, y = blobs(100, [[0.0, 0.0], [gap, 0.0]])
        sample = sample_of(X)
        values.append(quality(sample, y[sample.rows]))
    assert values[0] < 0.05
    assert values == sorted(values)
    assert values[-1] > 0.3


def test_one_cluster_and_strays_have_no_quality():
    X, _ = blobs(100, [[0.0, 0.0]])
    for labels in (np.zeros(100, int), np.r_[np.zeros(97, int), 1, 2, 3], np.arange(100)):
        assert quality(sample_of(X), labels) == 0.0


@given(st.lists(st.integers(1, 4), min_size=4, max_size=20), st.integers(0, 1000))
def test_quality_of_repeated_points_is_that_of_weighted_ones(weights, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(len(weights), 2)) + 5.0 * rng.integers(2, size=(len(weights), 1))
    one, other = sample_of(X, weights), sample_of(np.repeat(X, weights, axis=0))
    labels = (one.points[:, 0] > 2.5).astype(int)
    if np.bincount(labels, weights=one.weights, minlength=2).argmax() == 1:
        labels = 1 - labels
    assert_array_equal(one.points, other.points)
    assert quality(one, labels) == quality(other, labels)


def test_repeated_points_are_no_clusters():
    """Fifteen random places in 30 dimensions, each up to four times: nothing is set apart."""
    rng = np.random.RandomState(42)
    X, weights = rng.rand(15, 30), rng.randint(0, 5, size=15)
    for make in ESTIMATORS:
        assert bandwidth_profile(X, make(), sample_weight=weights).one_cluster


@given(st.integers(2, 40), st.integers(0, 1000))
def test_agreement_is_the_adjusted_rand_index(n, seed):
    rng = np.random.default_rng(seed)
    first, second = rng.integers(4, size=(2, n))
    weights = rng.integers(1, 4, size=n)
    expected = adjusted_rand_score(np.repeat(first, weights), np.repeat(second, weights))
    assert_allclose(agreement(first, second, weights.astype(float)), max(expected, 0.0), atol=1e-12)


def test_agreement_with_the_rows_beside():
    runs = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1]])
    low = max(0.0, adjusted_rand_score(runs[1], runs[2]))
    assert_allclose(neighbour_agreement(runs, np.ones(4)), [1.0, (1 + low) / 2, low])


@pytest.mark.parametrize("n", [2, 7, 50])
def test_quantiles_of_pairs(n):
    X = np.random.default_rng(n).normal(size=(n, 2))
    sample = sample_of(X)
    pairs = sample.distances[np.triu_indices(n, 1)]
    levels = (1 / n, 0.5, 0.6)
    expected = np.quantile(pairs, levels, method="inverted_cdf")
    assert_allclose(pair_quantiles(sample, levels), expected)
    weights = np.random.default_rng(n).integers(1, 4, size=n)
    repeated = np.repeat(X, weights, axis=0)
    pairs = np.linalg.norm(repeated[:, np.newaxis] - repeated, axis=2)[
        np.triu_indices(len(repeated), 1)
    ]
    expected = np.quantile(pairs[pairs > 0], levels, method="inverted_cdf")
    got = sample_of(X, weights).in_user_units(pair_quantiles(sample_of(X, weights), levels))
    assert_allclose(got, expected)


def test_normal_rule_by_hand():
    """In 2-D: sigma (4 / (6 n))^(1 / 8) sqrt(6)."""
    X = np.array([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])
    assert_allclose(normal_radius(sample_of(X)) * 2.0, (4 / 24) ** (1 / 8) * np.sqrt(6), rtol=1e-12)


def test_neighbors_rule_by_hand():
    """Of 9 points on a line each has its third nearest at 1, itself included; the ends at 2."""
    assert estimate_bandwidth(np.arange(9.0)[:, np.newaxis], method="neighbors") == 1.0


# What is chosen


@all_estimators
@pytest.mark.parametrize("seed", range(3))
def test_clusters_that_are_plain_to_see_are_found(make, seed):
    X, y = blobs(60, [[0, 0], [8, 0], [0, 8], [8, 8]], seed)
    labels = make().fit_predict(X)
    assert adjusted_rand_score(y, labels) > 0.95


@all_estimators
@pytest.mark.parametrize("kind", ["uniform", "normal", "standard_cauchy"])
def test_one_cluster_is_one_cluster(make, kind):
    X = getattr(np.random.default_rng(0), kind)(size=(200, 2))
    fitted = make().fit(X)
    assert (fitted.labels_ == 0).mean() > 0.95
    assert bandwidth_profile(X, make()).one_cluster


@all_estimators
def test_on_a_line(make):
    rng = np.random.default_rng(0)
    assert bandwidth_profile(rng.uniform(size=(400, 1)), make()).one_cluster
    y = rng.integers(3, size=200)
    X = (6.0 * y + rng.normal(size=200))[:, np.newaxis]
    assert adjusted_rand_score(y, make().fit_predict(X)) > 0.95


def test_threshold_falls_with_the_number_of_points():
    rng = np.random.default_rng(0)
    for n, expected in ((20, 0.05), (400, 0.0225), (1500, 0.017)):
        assert_allclose(chance_score(sample_of(rng.normal(size=(n, 2)))), expected)
    repeated = np.repeat(rng.normal(size=(400, 2)), 3, axis=0)  # no more evidence than once
    assert_allclose(chance_score(sample_of(repeated)), 0.0225)


@all_estimators
def test_estimators_take_what_the_profile_says(make):
    X, _ = blobs(40, [[0, 0], [6, 0]])
    weights = np.random.default_rng(0).integers(1, 3, size=len(X))
    fitted = make().fit(X, sample_weight=weights)
    profile = bandwidth_profile(X, make(), sample_weight=weights)
    assert fitted.bandwidth_ == profile.bandwidth == fitted.profile_.bandwidth
    assert fitted.n_neighbors_ == profile.n_neighbors
    assert_array_equal(fitted.profile_.chosen.labels, profile.chosen.labels)


def test_a_given_bandwidth_and_number_of_neighbours_stay():
    X, _ = blobs(20, [[0, 0], [6, 0]])
    assert MeanShift(bandwidth=1.0).fit(X).n_neighbors_ is None
    assert not hasattr(MeanShift(bandwidth=1.0).fit(X), "profile_")
    assert MeanShift(bandwidth=1.0, n_neighbors=7).fit(X).n_neighbors_ == 7
    assert MeanShift(n_neighbors=7).fit(X).n_neighbors_ == 7


@pytest.mark.jit
def test_in_many_dimensions_neighbours_are_chosen_too():
    """Where the plain radius makes one cluster of all, and says so."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(150, 16)), rng.normal(size=(150, 16)) + 1.3])
    y = np.repeat([0, 1], 150)
    profile = bandwidth_profile(X, StochasticMeanShift(), n_bandwidths=13)
    assert profile.dimension > 4
    assert profile.n_neighbors is not None
    plain = profile.curves[0].score.max()
    assert profile.chosen.score.max() > plain
    fitted = StochasticMeanShift(
        bandwidth=profile.bandwidth, n_neighbors=profile.n_neighbors, random_state=0
    ).fit(X)
    assert adjusted_rand_score(y, fitted.labels_) > 0.8


@all_estimators
def test_scales_with_the_data(make):
    X, _ = blobs(30, [[0, 0], [7, 0]])
    expected = make().fit(X).bandwidth_
    for exponent in (-400, 3, 400):
        assert make().fit(X * 2.0**exponent).bandwidth_ == expected * 2.0**exponent


def test_order_and_chance_do_not_matter():
    X, _ = blobs(40, [[0, 0], [7, 0]])
    shuffled = X[np.random.default_rng(0).permutation(len(X))]
    expected = StochasticMeanShift(random_state=0).fit(X)
    other = StochasticMeanShift(random_state=1).fit(shuffled)
    assert other.bandwidth_ == expected.bandwidth_


def test_many_points_are_sampled():
    X, _ = blobs(1500, [[0, 0], [9, 0]])
    profile = bandwidth_profile(X, n_samples=200, n_bandwidths=9)
    assert len(profile.rows) == 200
    assert profile.chosen.labels.shape == (9, 200)
    again, other = (bandwidth_profile(X, n_samples=200, random_state=s).bandwidth for s in (0, 1))
    assert again == bandwidth_profile(X, n_samples=200).bandwidth
    assert_allclose(other, again, rtol=0.5)


def test_profile_holds_the_curves():
    X, _ = blobs(50, [[0, 0], [3, 0], [30, 0], [33, 0]], spread=0.4)
    profile = bandwidth_profile(X, MeanShift())
    curve = profile.chosen
    assert (np.diff(curve.bandwidths) > 0).all()
    assert profile.bandwidth in curve.bandwidths
    for values in (curve.share_small, curve.agreement, curve.quality, curve.score):
        assert values.shape == curve.bandwidths.shape
        assert (values >= 0).all()
        assert (values <= 1).all()
    assert_array_equal(curve.n_clusters, [len(set(labels)) for labels in curve.labels])
    assert curve.n_clusters[0] > curve.n_clusters[-1]
    others = {*profile.finer, *profile.coarser}
    assert others <= set(curve.bandwidths)
    assert all(h < profile.bandwidth for h in profile.finer)
    assert all(h > profile.bandwidth for h in profile.coarser)
    assert len(others) == 1
    # Four clusters and two pairs of them are both answers.
    counts = {len(set(MeanShift(bandwidth=h).fit_predict(X))) for h in (profile.bandwidth, *others)}
    assert counts == {2, 4}


def test_gaussian_kernel_and_learned_weights_have_ranges_of_their_own():
    X, y = blobs(60, [[0, 0], [8, 0]])
    for estimator in (
        MeanShift(kernel="gaussian"),
        BlurringMeanShift(feature_weights="learned", kernel="gaussian"),
    ):
        assert adjusted_rand_score(y, estimator.fit_predict(X)) > 0.9
    flat, gaussian = (bandwidth_profile(X, MeanShift(kernel=k)) for k in ("flat", "gaussian"))
    wide, narrow = (profile.curves[0].bandwidths[:15] for profile in (flat, gaussian))
    assert_allclose(wide / narrow, np.sqrt(flat.dimension + 4))


def test_options_that_start_climbs_elsewhere_do_not_disturb_the_choice():
    X, _ = blobs(60, [[0, 0], [8, 0]])
    expected = MeanShift().fit(X).bandwidth_
    for options in (
        {"seeding": "bins"}, {"seeding": 5, "random_state": 0}, {"resolution": 4},
        {"min_cluster_size": 30}, {"record": True},
    ):  # fmt: skip
        assert MeanShift(**options).fit(X).bandwidth_ == expected


# Bad input

METHODS = ["stability", "quantile", "normal", "neighbors"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "X",
    [
        np.full((20, 3), 7.0),
        np.array([[0.0, 1.0]]),
        np.array([[0.0], [5.0]]),
        np.repeat([[0.0, 0.0], [1.0, 1.0]], 10, axis=0),
        np.random.default_rng(0).normal(size=(7, 2)),
        np.random.default_rng(0).normal(size=(6, 9)),
        np.array([[1e300], [0.0], [-1e300], [1e-300]]),
        np.array([[5e-324], [0.0], [1e-323]]),
        np.c_[np.random.default_rng(0).normal(size=30), np.zeros(30)],
    ],
    ids=[
        "constant", "one point", "two points", "two places", "n < 10", "d > n", "huge", "tiny",
        "constant feature",
    ],
)  # fmt: skip
def test_always_positive_and_finite(method, X):
    assert 0.0 < estimate_bandwidth(X, method=method) < np.inf
    for make in ESTIMATORS:
        assert 0.0 < make().fit(X).bandwidth_ < np.inf


@all_estimators
def test_coinciding_points_are_one_cluster(make):
    fitted = make().fit(np.full((20, 3), 7.0))
    assert fitted.bandwidth_ == 1.0
    assert_array_equal(fitted.labels_, np.zeros(20))


def test_errors_name_the_parameter():
    X, _ = blobs(5, [[0, 0]])
    with pytest.raises(ValueError, match=r"method must be one of .*'normal'.*got 'silverman'"):
        estimate_bandwidth(X, method="silverman")
    with pytest.raises(ValueError, match="n_bandwidths must be at least 2, got 1"):
        bandwidth_profile(X, n_bandwidths=1)
    with pytest.raises(ValueError, match="zero vector in row 0"):
        bandwidth_profile(np.zeros((3, 2)), MeanShift(metric="cosine"))
    with pytest.raises(TypeError, match="estimator must be"):
        bandwidth_profile(X, "MeanShift")


# The picture


def test_picture_of_the_profile_marks_the_choice():
    pytest.importorskip("matplotlib")
    from modeshift.plots import draw_bandwidth_profile

    X, _ = blobs(50, [[0, 0], [3, 0], [30, 0], [33, 0]], spread=0.4)
    profile = bandwidth_profile(X, MeanShift())
    figure = draw_bandwidth_profile(profile, title="pairs")
    marked = {
        line.get_xdata()[0] for line in figure.axes[1].lines if len(set(line.get_xdata())) == 1
    }
    assert marked == {profile.bandwidth, *profile.finer, *profile.coarser}
    assert f"{profile.bandwidth:.3g}" in figure.axes[0].get_title(loc="left")
    nothing = bandwidth_profile(np.random.default_rng(0).normal(size=(60, 2)), MeanShift())
    assert "one cluster" in draw_bandwidth_profile(nothing).axes[0].get_title(loc="left")
