"""The bandwidth that estimators choose when they are given none, and the profile behind it."""

import pickle
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score

from modeshift import (
    BlurringMeanShift,
    MeanShift,
    StochasticMeanShift,
    bandwidth_profile,
    estimate_bandwidth,
)
from modeshift.choice.agreement import agreement, agreements
from modeshift.choice.axes import on_leading_axes
from modeshift.choice.curve import dust_limit
from modeshift.choice.evidence import evidence_limit, evidence_of, p_value_of, roundness
from modeshift.choice.factors import Factors, factors_of, ground_of
from modeshift.choice.normal import normal_radius
from modeshift.choice.pairs import order_pairs
from modeshift.choice.radii import distance_quantiles, radii_between, rows_to_measure
from modeshift.choice.rounding import undo_rounding
from modeshift.choice.sample import draw_sample
from modeshift.choice.score import middle_of, peaks_of, scores_of
from modeshift.choice.tree import tree_of
from modeshift.estimators.base import asked_to_profile, profile_for
from modeshift.spec import Sampled
from twins import choice as naive

ESTIMATORS = [MeanShift, StochasticMeanShift, BlurringMeanShift]
all_estimators = pytest.mark.parametrize("make", ESTIMATORS, ids=lambda make: make.__name__)


def blobs(n_each, centers, seed=0, spread=1.0):
    rng = np.random.default_rng(seed)
    centers = np.asarray(centers, dtype=float)
    X = np.concatenate([c + spread * rng.normal(size=(n_each, centers.shape[1])) for c in centers])
    return X, np.repeat(np.arange(len(centers)), n_each)


def sample_of(X, weights=None):
    weights = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=float)
    return draw_sample(np.asarray(X, dtype=float), weights, 1500, np.random.RandomState(0))


def by_size(labels):
    """Number labels by falling size, as estimators do."""
    _, labels, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    return np.argsort(np.argsort(-sizes, kind="stable"))[labels]


def profile(X, make=MeanShift, **settings):
    """Profile through the inner door, which knows level and progress."""
    spec = asked_to_profile(make(), X.shape[1])[0]
    weights = settings.pop("sample_weight", np.ones(len(X)))
    sampled = Sampled(np.asarray(X, dtype=float), np.asarray(weights, dtype=float))
    return profile_for(spec, sampled, **settings)


# The parts, against their twins


@pytest.mark.parametrize("n_neighbors", [None, 3])
@pytest.mark.parametrize(
    ("n", "d", "n_clusters"), [(60, 2, 3), (60, 1, 2), (50, 5, 7), (40, 3, 20), (30, 2, 1)]
)
def test_factors_equal_their_twins(n, d, n_clusters, n_neighbors):
    seen = []
    for seed in range(2):
        rng = np.random.default_rng([seed, n])
        places = rng.normal(size=(n_clusters, d)) * 6
        y = rng.integers(n_clusters, size=n)
        X = places[y] + 0.5 * rng.normal(size=(n, d))
        rows = np.stack([by_size(y), by_size(rng.integers(3, size=n)), by_size(y)])
        radii, dimension = np.array([0.9, 1.7, 3.1, 9.0]), 2.5
        ground = ground_of(cdist(X, X), np.ones(n), radii, dimension, many=True)
        got = factors_of(rows, ground, n_neighbors)
        assert got.n_radii == 4
        for i, row in enumerate(rows):
            core = radii[i] * 0.25 ** (1 / dimension)
            assert_allclose(got.depth[i], naive.depth(X, row, core), atol=1e-12)
            assert_allclose(got.kept[i], naive.kept(X, row, radii[i], n_neighbors), atol=1e-12)
            assert_allclose(got.distinct[i], naive.distinct(X, row, dimension), atol=1e-9)
            sizes = np.sort(np.bincount(row))[::-1]
            second = sizes[1] if len(sizes) > 1 else 0
            assert_allclose(got.second[i], max(0, second - 1 - 1.5 * np.sqrt(second)) / n)
            shares = sizes / n
            assert_allclose(got.effective[i], np.exp(-(shares * np.log(shares)).sum()))
        seen.append((got.depth.max(), got.distinct.max(), got.kept.min(), got.second.max()))
        expected = naive.evidence(got.agreement, got.second, got.kept, got.depth, 4)
        assert_allclose(evidence_of(got), expected)
    if n_clusters == 3:  # the twins are not compared on zeros only
        assert min(np.max(seen, axis=0)[[0, 1, 3]]) > 0.05
        assert np.min(seen, axis=0)[2] < 0.9


@given(st.integers(2, 30), st.integers(1, 9), st.integers(0, 1000))
def test_pairs_are_sorted_by_radius(n, n_radii, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, size=(n, 2)) * 0.5  # many distances equal a radius
    radii = np.unique(rng.integers(1, 9, size=n_radii) * 0.5)
    distances = cdist(X, X)
    pairs = order_pairs(distances, radii)
    lengths = distances[pairs.first, pairs.second]
    upper = distances[np.tril_indices(n, -1)]
    assert_array_equal(pairs.within, [(upper <= r).sum() for r in radii])
    for r in radii:
        inside = lengths[: pairs.number_within(r)]
        assert (inside <= r).all()
    assert len(set(zip(pairs.first, pairs.second, strict=True))) == len(pairs.first)


@given(st.integers(2, 40), st.integers(0, 1000))
def test_agreement_is_the_adjusted_rand_index(n, seed):
    rng = np.random.default_rng(seed)
    rows = np.stack([rng.integers(k, size=n) for k in (4, 4, 1, 9)])
    weights = rng.integers(1, 4, size=n)
    matrix = agreements(rows, weights.astype(float))
    for a in range(len(rows)):
        for b in range(len(rows)):
            expected = adjusted_rand_score(np.repeat(rows[a], weights), np.repeat(rows[b], weights))
            assert_allclose(matrix[a, b], max(expected, 0.0), atol=1e-12)
            one = agreement(rows[a], rows[b], weights.astype(float))
            assert_allclose(one, matrix[a, b], atol=1e-12)


@pytest.mark.parametrize("n", [2, 7, 50])
def test_quantiles_of_distances(n):
    X = np.random.default_rng(n).normal(size=(n, 2))
    weights = np.random.default_rng(n).integers(1, 4, size=n)
    levels = (1 / n, 0.5, 0.6)
    for counts in (np.ones(n, dtype=int), weights):
        repeated = np.repeat(X, counts, axis=0)
        pairs = cdist(repeated, repeated)[np.triu_indices(len(repeated), 1)]
        expected = np.quantile(pairs, levels, method="inverted_cdf")
        got = distance_quantiles(cdist(X, X), np.arange(n), counts.astype(float), levels)
        assert_allclose(got, expected)


def test_radii_run_from_four_neighbours_to_most():
    X = np.random.default_rng(0).uniform(size=(400, 2))
    some = rows_to_measure(400)
    distances = cdist(X[some], X)
    radii, dimension = radii_between(distances, some, np.ones(400))
    assert len(radii) == 20
    assert_allclose((distances <= radii[0]).sum(axis=1).mean() - 1, 4, atol=0.05)
    assert_allclose(((distances <= radii[-1]).sum(axis=1) - 1).mean() / 399, 0.6, atol=0.001)
    assert 1.5 < dimension < 2.2
    raised, _ = radii_between(distances, some, np.ones(400), least=0.3)
    assert_allclose(raised[[0, -1]], [0.3, radii[-1]])
    assert len(rows_to_measure(1500)) < 400


def test_quality_rises_with_the_distance_of_clusters():
    values = []
    for gap in (0.0, 2.0, 4.0, 8.0):
        X, y = blobs(100, [[0.0, 0.0], [gap, 0.0]])
        ground = ground_of(cdist(X, X), np.ones(200), np.array([1.5]), 2.0)
        values.append(factors_of(y[np.newaxis], ground).depth[0])
    assert values[0] < 0.05
    assert values == sorted(values)
    assert values[-1] > 0.3


def test_one_cluster_and_strays_have_no_depth():
    X, _ = blobs(100, [[0.0, 0.0]])
    ground = ground_of(cdist(X, X), np.ones(100), np.array([0.5, 1.0, 2.0]), 2.0)
    rows = np.stack([np.zeros(100, int), np.r_[np.zeros(97, int), 1, 2, 3], np.arange(100)])
    assert_array_equal(factors_of(rows, ground).depth, np.zeros(3))
    assert_array_equal(factors_of(rows, ground).second, np.zeros(3))


def test_score_by_hand():
    ones = np.ones(2)
    factors = Factors(np.eye(2), 0.5 * ones, 0.25 * ones, 0.9 * ones, ones, 16 * ones, 4)
    assert_allclose(scores_of(factors, many=False), 0.25 * 0.6 * 0.5)
    assert_allclose(scores_of(factors, many=True), 0.25 * 0.75 * 0.9**10)


def test_peaks_and_the_middle_of_a_plateau():
    score = np.array([0.1, 0.6, 0.59, 0.1, 1.0, 0.99, 0.2, 0.3])
    assert peaks_of(score) == [4, 1]
    alike = np.ones((6, 6))
    alike[3, 0] = alike[3, 5] = 0.5
    assert middle_of(alike, 3) == 2
    assert middle_of(np.eye(3), 1) == 1


def test_roundness_of_known_shapes():
    rng = np.random.default_rng(0)
    for d in (1, 3):
        assert_allclose(roundness(rng.normal(size=(90_000, d)), np.ones(90_000)), 1.0, atol=0.05)
        assert_allclose(roundness(rng.uniform(size=(90_000, d)), np.ones(90_000)), 0.0, atol=0.05)
    stretched = rng.uniform(size=(20_000, 2)) @ [[3.0, 1.0], [0.0, 1e-3]]
    assert_allclose(roundness(stretched, np.ones(20_000)), 0.0, atol=0.05)
    assert roundness(rng.standard_t(3, size=(5000, 2)), np.ones(5000)) > 1.5
    assert roundness(np.ones((5, 2)), np.ones(5)) == 0.0
    points, weights = rng.normal(size=(20, 2)), rng.integers(1, 4, size=20)
    repeated = np.repeat(points, weights, axis=0)
    expected = roundness(repeated, np.ones(len(repeated)))
    assert_allclose(roundness(points, weights.astype(float)), expected)


def test_p_value_is_005_at_the_limit_and_falls_with_evidence():
    limit = evidence_limit(500.0, 2.0, 0.1)
    assert_allclose(p_value_of(limit, limit), 0.05)
    values = [p_value_of(x * limit, limit) for x in (0.0, 0.1, 0.5, 1.0, 2.0, 100.0)]
    assert values == sorted(values, reverse=True)
    assert values[0] == values[1] == 1.0
    assert 0.0 < values[-1] < 1e-7
    assert evidence_limit(500.0, 2.0, 1.0) < limit < evidence_limit(100.0, 2.0, 0.1)


def test_leading_axes_keep_what_lies_in_them():
    """Data in a 20-dimensional plane of 100 dimensions keep all distances, on the sphere too."""
    rng = np.random.default_rng(0)
    for n in (90, 300):
        X = rng.normal(size=(n, 20)) @ rng.normal(size=(20, 100))
        for on_sphere in (False, True):
            Y = X / np.linalg.norm(X, axis=1, keepdims=True) if on_sphere else X + 7.0
            fewer = on_leading_axes(sample_of(Y), on_sphere)
            assert fewer.places.shape == (n, 64)
            expected = cdist(sample_of(Y).points, sample_of(Y).points)
            assert_allclose(cdist(fewer.points, fewer.points), expected, atol=1e-5)
    few = sample_of(rng.normal(size=(50, 100)))
    assert on_leading_axes(few, False) is few


def test_normal_rule_by_hand():
    """In 2-D: sigma (4 / (6 n))^(1 / 8) sqrt(6)."""
    X = np.array([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])
    assert_allclose(normal_radius(sample_of(X)) * 2.0, (4 / 24) ** (1 / 8) * np.sqrt(6), rtol=1e-12)


def test_neighbors_rule_by_hand():
    """Of 9 points on a line each has its third nearest at 1, itself included; the ends at 2."""
    assert estimate_bandwidth(np.arange(9.0)[:, np.newaxis], method="neighbors") == 1.0


# Rounded data


def test_rounding_is_undone_within_the_cells():
    rng = np.random.default_rng(0)
    exact = rng.normal(size=(800, 2)) * [1.0, 10.0]
    X = np.rint(exact / [0.5, 5.0]) * [0.5, 5.0]
    sample, step = undo_rounding(sample_of(X), 1500, False)
    assert np.ldexp(step, sample.exponent) == 5.0
    assert len(sample.rows) == 800
    assert_array_equal(sample.weights, np.ones(800))
    moved = np.abs(sample.points - X[sample.rows])
    assert (moved <= [0.25, 2.5]).all()
    assert (moved.max(axis=0) > [0.24, 2.4]).all()
    assert_array_equal(np.sort(X[sample.rows], axis=0), np.sort(X, axis=0))


def test_rounded_data_of_which_an_outlier_is_too_light_to_be_observed():
    """In the unit of the outlier all other distances vanished, and the bandwidth was 1."""
    X = np.rint(3.0 * blobs(100, [[0, 0], [8, 8]])[0])
    expected = profile(X).bandwidth
    far, weights = np.r_[X, [[0.0, 1e200]]], np.r_[np.full(200, 1.5), 0.1]
    for exponent in (-100, 0, 100):
        got = profile(far * 2.0**exponent, sample_weight=weights)
        assert not got.one_cluster
        assert got.bandwidth / 2.0**exponent == pytest.approx(expected, rel=0.2)


def test_data_that_are_not_rounded_stay():
    sample = sample_of(np.random.default_rng(0).normal(size=(50, 2)))
    assert undo_rounding(sample, 1500, False) == (sample, 0.0)


def test_heavy_places_are_drawn_from():
    """A weight of a million is no million points."""
    weights = np.array([1e6, 1e6, 2e6])
    sample, _ = undo_rounding(sample_of([[0.0], [1.0], [5.0]], weights), 1000, False)
    assert len(sample.rows) == 1000
    assert_allclose(np.bincount(sample.rows) / 1000, [0.25, 0.25, 0.5], atol=0.05)


ROUNDED = {
    "ages": lambda r: np.rint(np.r_[r.normal(20, 5, 500), r.normal(60, 5, 500)])[:, None],
    "grid of one, n = 100": lambda r: np.rint(blobs(50, [[0, 0], [8, 0]])[0]),
    "grid of one, n = 4,000": lambda r: np.rint(blobs(2000, [[0, 0], [8, 0]])[0]),
    "a fifth, in 1-D": lambda r: np.rint(blobs(500, [[0], [10]])[0] / 0.2) * 0.2,
    "answers 1 to 5": lambda r: np.clip(
        np.rint(np.r_[r.normal(1.8, 0.7, (200, 3)), r.normal(4.2, 0.7, (200, 3))]), 1, 5
    ),
    "two places and zeros": lambda r: np.r_[np.zeros(200), r.normal(5, 0.3, 200)][:, None],
}


@all_estimators
@pytest.mark.parametrize("name", ROUNDED)
def test_rounded_clusters_are_found(make, name):
    X = ROUNDED[name](np.random.default_rng(0))
    y = np.repeat([0, 1], len(X) // 2)
    found = bandwidth_profile(X, make())
    assert not found.one_cluster
    assert found.n_clusters == 2
    settings = {"bandwidth": found.bandwidth, "n_neighbors": found.n_neighbors}
    assert adjusted_rand_score(y, make(**settings).fit_predict(X)) > 0.94


@all_estimators
def test_places_that_are_repeated_are_clusters(make):
    X = np.repeat([[0.0, 0.0], [5.0, 1.0], [2.0, 6.0]], 200, axis=0)
    found = bandwidth_profile(X, make())
    assert not found.one_cluster
    labels = make(bandwidth=found.bandwidth).fit_predict(X)
    assert adjusted_rand_score(np.repeat([0, 1, 2], 200), labels) == 1.0


def test_rounded_data_without_clusters_are_seldom_taken_for_clusters():
    wrong = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        for X in (rng.normal(size=(400, 2)), rng.normal(size=(300, 1)), rng.uniform(size=(300, 2))):
            step = 0.5 * X.std()
            wrong += not profile(np.rint(X / step) * step).one_cluster
    assert wrong <= 3


@pytest.mark.parametrize(
    "places", [[[0.0], [1.0]], [[0, 0], [1, 0], [0, 1]], [[0, 0], [10, 0], [0, 7]]]
)
@all_estimators
def test_few_places_are_clusters_and_no_grid(make, places):
    X = np.repeat(np.array(places, dtype=float), 200, axis=0)
    assert len(make().fit(X).cluster_centers_) == len(places)


@pytest.mark.parametrize("step", [0.05, 0.2, 1.0])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_quantised_clusters_are_those_of_exact_data(step, d):
    centers = 7.0 * np.eye(3)[:, :d] if d > 1 else [[0.0], [7.0], [15.0]]
    X, y = blobs(120, centers)
    for data in (X, np.rint(X / step) * step):
        found = bandwidth_profile(data, MeanShift())
        assert not found.one_cluster
        labels = MeanShift(bandwidth=found.bandwidth).fit_predict(data)
        assert adjusted_rand_score(y, labels) > 0.95


# What is chosen


@all_estimators
@pytest.mark.parametrize("seed", range(3))
def test_clusters_that_are_plain_to_see_are_found(make, seed):
    X, y = blobs(60, [[0, 0], [8, 0], [0, 8], [8, 8]], seed)
    found = bandwidth_profile(X, make())
    assert found.n_clusters == 4
    assert found.p_value < 0.001
    assert adjusted_rand_score(y, make().fit_predict(X)) > 0.95


@all_estimators
@pytest.mark.parametrize("kind", ["uniform", "normal", "laplace"])
def test_one_cluster_is_one_cluster(make, kind):
    X = getattr(np.random.default_rng(0), kind)(size=(200, 2))
    found = bandwidth_profile(X, make())
    assert found.one_cluster
    assert (make(bandwidth=found.bandwidth).fit_predict(X) == 0).all()


@pytest.mark.parametrize("kind", ["uniform", "normal"])
@pytest.mark.parametrize("d", [1, 2, 3, 8])
def test_data_without_clusters_are_seldom_taken_for_clusters(kind, d):
    wrong = 0
    for seed in range(8):
        X = getattr(np.random.default_rng([seed, d]), kind)(size=(150, d))
        wrong += not profile(X).one_cluster
    assert wrong <= 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["uniform", "normal", "t"])
@pytest.mark.parametrize("n", [100, 500])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_level_of_the_decision(kind, n, d):
    """At most 12% in each cell; 60 draws may have 10 by chance."""
    wrong = 0
    for seed in range(60):
        rng = np.random.default_rng([seed, d, n, 77])
        X = rng.uniform(size=(n, d)) if kind == "uniform" else rng.normal(size=(n, d))
        if kind == "t":
            X /= np.sqrt(rng.chisquare(3, (n, 1)) / 3)
        wrong += not profile(X).one_cluster
    assert wrong <= 10


def test_the_decision_can_be_turned_off_and_moved():
    X = np.random.default_rng(1).normal(size=(150, 2))
    strict, off = profile(X), profile(X, level=None)
    assert strict.one_cluster
    assert not off.one_cluster
    assert off.bandwidth == off.best_bandwidth == strict.best_bandwidth < strict.bandwidth
    assert off.p_value == strict.p_value > 0.05
    assert not profile(X, level=1.0).one_cluster
    clear, _ = blobs(60, [[0, 0], [9, 0]])
    assert profile(clear, level=1e-30).one_cluster


@all_estimators
def test_rejected_profiles_offer_alternatives(make):
    X = np.random.default_rng(0).normal(size=(150, 2))
    found = bandwidth_profile(X, make())
    assert found.one_cluster
    assert found.best_bandwidth in found.finer
    assert len(found.finer) >= 2
    assert found.coarser == ()
    assert found.n_clusters >= 1
    assert set(found.finer) <= set(found.chosen.bandwidths)


@all_estimators
def test_estimators_take_what_the_profile_says(make):
    X, _ = blobs(40, [[0, 0], [6, 0]])
    weights = np.random.default_rng(0).integers(1, 3, size=len(X))
    fitted = make().fit(X, sample_weight=weights)
    found = bandwidth_profile(X, make(), sample_weight=weights)
    assert fitted.bandwidth_ == found.bandwidth == fitted.profile_.bandwidth
    assert fitted.n_neighbors_ == found.n_neighbors
    assert_array_equal(fitted.profile_.chosen.labels, found.chosen.labels)


def test_a_given_bandwidth_and_number_of_neighbours_stay():
    X, _ = blobs(20, [[0, 0], [6, 0]])
    assert MeanShift(bandwidth=1.0).fit(X).n_neighbors_ is None
    assert not hasattr(MeanShift(bandwidth=1.0).fit(X), "profile_")
    assert MeanShift(bandwidth=1.0, n_neighbors=7).fit(X).n_neighbors_ == 7
    assert MeanShift(n_neighbors=7).fit(X).n_neighbors_ == 7


@pytest.mark.jit
def test_in_many_dimensions_neighbours_are_chosen_too():
    """Where the plain radius makes one cluster of all."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(150, 16)), rng.normal(size=(150, 16)) + 1.3])
    y = np.repeat([0, 1], 150)
    found = bandwidth_profile(X, StochasticMeanShift())
    assert found.dimension > 4
    assert [curve.n_neighbors for curve in found.curves] == [5, 40]
    assert found.chosen.n_neighbors in (5, 40)
    assert adjusted_rand_score(y[found.rows], found.labels_at(found.best_bandwidth)) > 0.8
    plain = estimate_bandwidth(X, estimator=StochasticMeanShift())
    assert 0.0 < plain < np.inf


@pytest.mark.jit
def test_in_more_dimensions_than_axes_the_radius_is_that_of_all_axes():
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(10, 128)) * 1.2
    X, y = blobs(20, centers)
    found = bandwidth_profile(X, MeanShift())
    assert not found.one_cluster
    settings = {"bandwidth": found.bandwidth, "n_neighbors": found.n_neighbors}
    assert adjusted_rand_score(y, MeanShift(**settings).fit_predict(X)) > 0.95
    cosine = bandwidth_profile(X, MeanShift(metric="cosine"))
    assert not cosine.one_cluster
    assert 0.0 < cosine.bandwidth < 2.0


# Symmetries


@given(st.lists(st.integers(1, 4), min_size=6, max_size=30), st.integers(0, 1000))
def test_weights_equal_repetition(weights, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(len(weights), 2)) + 9.0 * rng.integers(2, size=(len(weights), 1))
    one = profile(X, sample_weight=weights)
    other = profile(np.repeat(X, weights, axis=0))
    assert one.bandwidth == other.bandwidth
    assert one.p_value == other.p_value
    assert_array_equal(one.chosen.labels, other.chosen.labels)
    assert one.smallest_cluster == other.smallest_cluster


def test_repetition_is_evidence():
    X, _ = blobs(12, [[0, 0], [7, 0]])
    assert profile(X, sample_weight=np.full(24, 30)).p_value < profile(X).p_value


@pytest.mark.parametrize("scale", [1e-300, 0.37, 1e300])
def test_scale_of_the_weights_does_not_matter(scale):
    X, _ = blobs(40, [[0, 0], [7, 0]])
    expected, got = profile(X), profile(X, sample_weight=np.full(80, scale))
    assert got.bandwidth == expected.bandwidth
    assert_allclose(got.smallest_cluster / scale, expected.smallest_cluster, rtol=1e-9)


@all_estimators
def test_scales_with_the_data(make):
    X, _ = blobs(30, [[0, 0], [7, 0]])
    for data in (X, np.rint(X)):
        expected = bandwidth_profile(data, make()).bandwidth
        for exponent in (-400, 3, 400):
            got = bandwidth_profile(data * 2.0**exponent, make()).bandwidth
            assert got == expected * 2.0**exponent


def test_turning_and_moving_change_nothing():
    X, _ = blobs(60, [[0, 0], [7, 0], [3, 8]])
    expected = profile(X)
    turn = np.array([[np.cos(1.0), -np.sin(1.0)], [np.sin(1.0), np.cos(1.0)]])
    got = profile(X @ turn + [100.0, -3.0])
    assert_allclose(got.best_bandwidth, expected.best_bandwidth, rtol=1e-9)
    assert_allclose(got.p_value, expected.p_value, rtol=1e-6)
    assert got.n_clusters == expected.n_clusters == 3


def test_order_and_chance_do_not_matter():
    X, _ = blobs(40, [[0, 0], [7, 0]])
    shuffled = X[np.random.default_rng(0).permutation(len(X))]
    expected = bandwidth_profile(X, StochasticMeanShift(random_state=0))
    other = bandwidth_profile(shuffled, StochasticMeanShift(random_state=1))
    assert other.bandwidth == expected.bandwidth
    assert other.p_value == expected.p_value


def test_the_test_does_not_depend_on_the_schedule():
    X, _ = blobs(50, [[0, 0], [4, 0]])
    tested = {bandwidth_profile(X, make(tol=0.01)).p_value for make in ESTIMATORS}
    assert len(tested) == 1


def test_many_points_are_sampled():
    X, _ = blobs(1500, [[0, 0], [9, 0]])
    found = bandwidth_profile(X, n_samples=200, n_bandwidths=9)
    assert len(found.rows) == 200
    assert found.chosen.labels.shape[1] == 200
    assert len(found.chosen.bandwidths) <= 9
    assert_allclose(found.smallest_cluster, 0.05 * 3000 / 2, rtol=0.1)
    again, other = (bandwidth_profile(X, n_samples=200, random_state=s).bandwidth for s in (0, 1))
    assert again == bandwidth_profile(X, n_samples=200).bandwidth
    assert_allclose(other, again, rtol=0.5)


# The profile


@pytest.fixture(scope="module")
def pairs():
    """Four clusters, and two pairs of them: both are answers."""
    X, y = blobs(50, [[0, 0], [3, 0], [30, 0], [33, 0]], spread=0.4)
    return X, y, bandwidth_profile(X, MeanShift())


def test_profile_holds_the_curves(pairs):
    X, _, found = pairs
    curve = found.chosen
    assert (np.diff(curve.bandwidths) > 0).all()
    assert found.bandwidth in curve.bandwidths
    for values in (curve.share_small, curve.persistence, curve.quality, curve.score):
        assert values.shape == curve.bandwidths.shape
        assert (values >= 0).all()
        assert (values <= 1).all()
    for labels, count, share in zip(curve.labels, curve.n_clusters, curve.share_small, strict=True):
        sizes = np.bincount(labels)
        shares = sizes / sizes.sum()
        least = 0.05 * len(X) / np.exp(-(shares * np.log(shares)).sum())
        assert_allclose(dust_limit(labels, np.ones(len(X))), least)
        assert count == (sizes >= least).sum()
        assert_allclose(share, sizes[sizes < least].sum() / len(X))
    assert curve.n_clusters[0] > curve.n_clusters[-1]
    others = {*found.finer, *found.coarser}
    assert others <= set(curve.bandwidths)
    assert all(h < found.bandwidth for h in found.finer)
    assert all(h > found.bandwidth for h in found.coarser)
    assert 0.0 <= found.p_value <= 1.0
    counts = {len(set(MeanShift(bandwidth=h).fit_predict(X))) for h in (found.bandwidth, *others)}
    assert counts >= {2, 4}


def test_repr_is_one_line(pairs):
    text = repr(pairs[2])
    assert "\n" not in text
    assert len(text) < 200
    assert f"n_clusters={pairs[2].n_clusters}" in text
    nothing = profile(np.random.default_rng(0).normal(size=(60, 2)))
    assert "one_cluster=True" in repr(nothing)
    assert f"best_bandwidth={nothing.best_bandwidth:.6g}" in repr(nothing)


def test_profile_can_be_pickled(pairs):
    again = pickle.loads(pickle.dumps(pairs[2]))
    assert repr(again) == repr(pairs[2])
    assert_array_equal(again.chosen.labels, pairs[2].chosen.labels)


def test_labels_at_the_nearest_bandwidth(pairs):
    _, _, found = pairs
    curve = found.chosen
    for i, h in enumerate(curve.bandwidths):
        assert_array_equal(found.labels_at(h), curve.labels[i])
    between = np.sqrt(curve.bandwidths[3] * curve.bandwidths[4])
    assert_array_equal(found.labels_at(0.99 * between), curve.labels[3])
    assert_array_equal(found.labels_at(1.01 * between), curve.labels[4])
    assert_array_equal(found.labels_at(1e9), curve.labels[-1])
    with pytest.raises(ValueError, match="bandwidth must be positive, got 0"):
        found.labels_at(0)


@pytest.mark.parametrize("k", [2, 4])
def test_pick_gives_a_number_of_clusters(pairs, k):
    X, y, found = pairs
    bandwidth, n_neighbors, smallest = found.pick(k)
    assert n_neighbors is None
    assert_allclose(smallest, 0.05 * len(X) / k, rtol=0.02)
    truth = y if k == 4 else y // 2
    labels = MeanShift(bandwidth=bandwidth).fit_predict(X)
    assert adjusted_rand_score(truth, labels) > 0.99
    curve = found.chosen
    alike = np.flatnonzero(curve.n_clusters == k)
    best = alike[np.argmax(curve.persistence[alike])]
    assert bandwidth == curve.bandwidths[best]


def test_pick_names_what_there_is(pairs):
    found = pairs[2]
    known = ", ".join(str(k) for k in sorted(set(found.chosen.n_clusters.tolist()))[-8:])
    with pytest.raises(ValueError, match=rf"n_clusters=999\. .* give: {known}\."):
        found.pick(999)


def test_tree_is_that_of_the_labels(pairs):
    _, _, found = pairs
    tree, curve = found.tree(), found.chosen
    assert_array_equal(tree.bandwidths, curve.bandwidths)
    lived = [[] for _ in tree.parent]
    for h, labels, members in zip(curve.bandwidths, curve.labels, tree.members, strict=True):
        large = np.bincount(labels)[labels] >= found.smallest_cluster
        assert_array_equal(members >= 0, large)
        if large.any():
            assert adjusted_rand_score(labels[large], members[large]) == 1.0
        for node in set(members[large]):
            lived[node].append(h)
    for node, parent in enumerate(tree.parent):
        assert tree.low[node] == min(lived[node])
        assert tree.high[node] == max(lived[node])
        assert parent < node
        if parent >= 0:
            assert len(tree.children(parent)) > 1
            assert tree.low[parent] > tree.high[node]
    chosen = np.flatnonzero(curve.bandwidths == found.bandwidth)[0]
    pair_of_pairs = np.unique(tree.members[chosen])
    assert len(pair_of_pairs) == 2
    assert [len(tree.children(node)) for node in pair_of_pairs] == [2, 2]
    assert_allclose(tree.share[pair_of_pairs], 0.5)


def test_tree_by_hand():
    labels = np.array([[0, 0, 1, 1, 2, 3], [0, 0, 0, 0, 1, 2], [0, 0, 0, 0, 0, 0]])
    tree = tree_of(np.array([1.0, 2.0, 4.0]), labels, np.ones(6), 2.0)
    assert_array_equal(tree.parent, [-1, 0, 0])
    assert_array_equal(tree.low, [2.0, 1.0, 1.0])
    assert_array_equal(tree.high, [4.0, 1.0, 1.0])
    assert_allclose(tree.share, [1.0, 1 / 3, 1 / 3])
    assert_array_equal(tree.members[1], [0, 0, 0, 0, -1, -1])


def test_progress_counts_up_to_all():
    X, _ = blobs(40, [[0, 0], [7, 0]])
    for make, series in ((MeanShift, 1), (StochasticMeanShift, 2)):
        seen = []
        profile(X, make, progress=lambda done, total, seen=seen: seen.append((done, total)))
        assert {total for _, total in seen} == {20 * series}
        assert [done for done, _ in seen] == sorted({done for done, _ in seen})
        assert seen[-1][0] == 20 * series


def test_gaussian_kernel_and_learned_weights_have_ranges_of_their_own():
    X, y = blobs(60, [[0, 0], [8, 0]])
    for estimator in (
        MeanShift(kernel="gaussian"),
        BlurringMeanShift(feature_weights="learned", kernel="gaussian"),
    ):
        assert adjusted_rand_score(y, estimator.fit_predict(X)) > 0.9
    flat, gaussian = (bandwidth_profile(X, MeanShift(kernel=k)) for k in ("flat", "gaussian"))
    n = min(len(flat.chosen.bandwidths), len(gaussian.chosen.bandwidths))
    wide, narrow = (found.chosen.bandwidths[:n] for found in (flat, gaussian))
    assert_allclose(wide / narrow, np.sqrt(flat.dimension + 4))
    assert_allclose(flat.p_value, gaussian.p_value, rtol=0.5)


def test_options_that_start_climbs_elsewhere_do_not_disturb_the_choice():
    X, _ = blobs(60, [[0, 0], [8, 0]])
    expected = MeanShift().fit(X).bandwidth_
    for options in (
        {"seeding": "bins"}, {"seeding": 5}, {"resolution": 4}, {"min_cluster_size": 30},
        {"record": True},
    ):  # fmt: skip
        assert MeanShift(**options).fit(X).bandwidth_ == expected


# Bad input

METHODS = ["stability", "quantile", "normal", "neighbors"]
DEGENERATE = {
    "all equal": np.full((20, 3), 7.0),
    "one point": np.array([[0.0, 1.0]]),
    "two points": np.array([[0.0], [5.0]]),
    "three points": np.array([[0.0, 1.0], [5.0, 2.0], [1.0, 1.0]]),
    "three alike": np.eye(3),
    "two places": np.repeat([[0.0, 0.0], [1.0, 1.0]], 10, axis=0),
    "n < 10": np.random.default_rng(0).normal(size=(7, 2)),
    "d > n": np.random.default_rng(0).normal(size=(6, 9)),
    "d > n, more than the axes": np.random.default_rng(0).normal(size=(80, 90)),
    "huge": np.array([[1e300], [0.0], [-1e300], [1e-300]]),
    "tiny": np.array([[5e-324], [0.0], [1e-323]]),
    "constant feature": np.c_[np.random.default_rng(0).normal(size=30), np.zeros(30)],
    "differences vanish": np.array([[1.0, 0.0], [1.0, 1e-200], [1.0, 2e-200]]),
    "far from 0": np.random.default_rng(0).normal(size=(60, 2)) + 1e12,
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", DEGENERATE)
def test_always_positive_and_finite(method, name):
    assert 0.0 < estimate_bandwidth(DEGENERATE[name], method=method) < np.inf


@all_estimators
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_data_have_a_whole_profile(make, name):
    X = DEGENERATE[name]
    for level in (0.05, None):
        found = profile(X, make, level=level)
        assert 0.0 < found.bandwidth < np.inf
        assert 0.0 < found.best_bandwidth < np.inf
        assert 0.0 <= found.p_value <= 1.0
        assert found.n_clusters >= 1
        assert 0.0 < found.smallest_cluster <= len(X)
        assert found.labels_at(1.0).shape == found.rows.shape
        assert len(found.tree().parent) >= 1
        assert found.pick(int(found.chosen.n_clusters[0])).bandwidth > 0
        assert repr(found).startswith("BandwidthProfile(")
    assert profile(X, make).one_cluster or name in ("constant feature", "two places")


@all_estimators
@pytest.mark.parametrize("far", [1e3, 1e6, 1e12])
def test_one_far_outlier_does_not_hide_clusters(make, far):
    X, _ = blobs(100, [[0, 0], [8, 8]])
    found = bandwidth_profile(np.r_[X, [[far, far]]], make())
    assert not found.one_cluster
    assert found.n_clusters == 2
    assert 1.0 < found.bandwidth < 8.0


def test_heavy_duplicates_end_soon():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))[rng.integers(30, size=20_000)]
    profile(X[:100])  # compiles
    started = time.perf_counter()
    found = profile(X)
    assert time.perf_counter() - started < 20
    assert 0.0 <= found.p_value <= 1.0


@all_estimators
def test_coinciding_points_are_one_cluster(make):
    fitted = make().fit(np.full((20, 3), 7.0))
    assert fitted.bandwidth_ == 1.0
    assert_array_equal(fitted.labels_, np.zeros(20))


@pytest.mark.parametrize(
    ("method", "ignored"),
    [
        ("stability", {"quantile": 0.3}),
        ("normal", {"quantile": 0.3}),
        ("quantile", {"estimator": MeanShift()}),
        ("neighbors", {"n_samples": 100}),
    ],
)
def test_no_argument_is_ignored_in_silence(method, ignored):
    X, _ = blobs(5, [[0, 0]])
    (name,) = ignored
    with pytest.raises(ValueError, match=rf"{name}.* and method='{method}' do not go together"):
        estimate_bandwidth(X, method=method, **ignored)


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


# The pictures


def test_picture_of_the_profile_marks_the_choice(pairs):
    pytest.importorskip("matplotlib")
    from modeshift import plots

    found = pairs[2]
    figure = plots.bandwidth_profile(found, title="pairs")
    marked = {
        line.get_xdata()[0] for line in figure.axes[1].lines if len(set(line.get_xdata())) == 1
    }
    assert marked == {found.bandwidth, *found.finer, *found.coarser}
    assert f"{found.bandwidth:.3g}" in figure.axes[0].get_title(loc="left")
    nothing = bandwidth_profile(np.random.default_rng(0).normal(size=(60, 2)), MeanShift())
    title = plots.bandwidth_profile(nothing).axes[0].get_title(loc="left")
    assert "one cluster" in title
    assert f"{nothing.best_bandwidth:.3g}" in title


def test_picture_of_the_tree_has_a_line_for_each_cluster(pairs):
    pytest.importorskip("matplotlib")
    from modeshift import plots

    found = pairs[2]
    tree = found.tree()
    lines = plots.cluster_tree(found, title="pairs").axes[0].lines
    upright = [line for line in lines if len(set(line.get_xdata())) == 1]
    assert len(upright) == len(tree.parent)
    assert_allclose(sorted(max(line.get_ydata()) for line in upright), sorted(tree.high))
    plots.cluster_tree(bandwidth_profile(np.ones((5, 2)), MeanShift()))


def test_a_profile_tests_at_the_level_of_the_estimator_and_tells_its_callbacks():
    X = np.random.default_rng(1).normal(size=(200, 2))
    heard = []

    class Listener:
        def __call__(self, progress):
            pytest.fail("no fit")

        def on_choice(self, done, total):
            heard.append((done, total))

    assert bandwidth_profile(X, MeanShift()).one_cluster
    untested = bandwidth_profile(X, MeanShift(significance=None).set_callbacks(Listener()))
    assert not untested.one_cluster
    assert heard[-1][0] == heard[-1][1]
