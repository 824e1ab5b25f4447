"""Batches: the model of one fit, bit for bit; old points that count less; what is refused."""

import pickle
from copy import deepcopy
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

import modeshift
from helpers import JIT, make_data, make_weights
from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift
from modeshift.engines.cpu.stream import HORIZON
from twins import naive

SAVED = Path(__file__).parent / "saved"
ESTIMATORS = [MeanShift, StochasticMeanShift, BlurringMeanShift]
FEW = settings(max_examples=25 if JIT else 5)


def make(estimator_class, **parameters):
    chance = {"random_state": 0} if estimator_class is StochasticMeanShift else {}
    return estimator_class(**{"bandwidth": 1.5, "resolution": 3, **chance, **parameters})


def feed(estimator, X, w, batches, **settings):
    """Give a stream the rows of each batch."""
    for rows in batches:
        estimator.partial_fit(X[rows], sample_weight=None if w is None else w[rows], **settings)
    return estimator


def assert_same_model(stream, whole, X):
    """The clusters of the stream are those of one fit, to the last bit."""
    assert_array_equal(stream.cluster_centers_, whole.cluster_centers_)
    for name in ("bandwidth_", "scale_", "n_iter_", "n_steps_", "converged_", "n_features_in_"):
        assert getattr(stream, name) == getattr(whole, name)
    assert_array_equal(stream.predict(X), whole.labels_)
    places = X + 0.3
    assert_array_equal(stream.predict(places), whole.predict(places))
    assert_array_equal(stream.score_samples(places), whole.score_samples(places))


@st.composite
def batchings(draw, n, *, shuffled):
    """Rows of batches that hold every row once, in their order or in any."""
    rows = np.array(draw(st.permutations(range(n)))) if shuffled else np.arange(n)
    cuts = sorted(set(draw(st.lists(st.integers(1, n), max_size=8))) | {0, n})
    return [rows[a:b] for a, b in pairwise(cuts)]


@st.composite
def weighted_data(draw):
    n, d = draw(st.integers(1, 40)), draw(st.sampled_from([1, 2, 3]))
    maker = draw(st.sampled_from(["clustered", "duplicates", "offset", "lattice"]))
    X, h = make_data(maker, n, d, seed=draw(st.integers(0, 1000)))
    return X, h, make_weights(draw(st.sampled_from([None, "whole", "real", "zeros"])), n)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@FEW
@given(data=st.data(), sample=weighted_data())
def test_batches_of_any_size_give_the_model_of_one_fit(estimator_class, data, sample):
    X, h, w = sample
    batches = data.draw(batchings(len(X), shuffled=False))
    whole = make(estimator_class, bandwidth=h).fit(X, sample_weight=w)
    stream = feed(make(estimator_class, bandwidth=h), X, w, batches)
    assert_same_model(stream, whole, X)
    assert_array_equal(stream.labels_, whole.labels_[batches[-1]])
    assert_array_equal(stream.modes_, whole.modes_[batches[-1]])
    assert stream.n_samples_seen_ == len(X)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@FEW
@given(data=st.data(), sample=weighted_data())
def test_the_order_of_the_batches_does_not_matter(estimator_class, data, sample):
    """It equals one fit of the rows in that order; only ties in size depend on the order."""
    X, h, w = sample
    batches = data.draw(batchings(len(X), shuffled=True))
    order = np.concatenate(batches)
    shuffled = None if w is None else w[order]
    stream = feed(make(estimator_class, bandwidth=h), X, w, batches)
    whole = make(estimator_class, bandwidth=h).fit(X[order], sample_weight=shuffled)
    assert_same_model(stream, whole, X[order])
    centers = make(estimator_class, bandwidth=h).fit(X, sample_weight=w).cluster_centers_
    assert set(map(tuple, stream.cluster_centers_)) == set(map(tuple, centers))


OPTIONS = [
    {"kernel": "gaussian"},
    {"metric": "cosine", "bandwidth": 0.05},
    {"n_neighbors": 7},
    {"min_cluster_size": 5, "strays": "nearest"},
    {"feature_scale": [2.0, 0.5], "bandwidth": 1.0},
    {"record": True},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_every_option_works_on_streams(estimator_class, options):
    X, _ = make_data("clustered", 120, 2)
    whole = make(estimator_class, **options).fit(X)
    stream = feed(make(estimator_class, **options), X, None, np.split(np.arange(120), [30, 31, 90]))
    assert_same_model(stream, whole, X)
    assert hasattr(stream, "paths_") == hasattr(whole, "paths_")
    assert not hasattr(stream, "feature_weights_")


@pytest.mark.parametrize(
    "estimator",
    [
        MeanShift(seeding="bins"),
        MeanShift(seeding=9, random_state=0),
        StochasticMeanShift(batch_size=4, random_state=0),
        BlurringMeanShift(feature_weights="learned"),
    ],
    ids=str,
)
def test_options_of_one_estimator_work_on_streams(estimator):
    X, _ = make_data("clustered", 120, 2)
    estimator.set_params(resolution=3.0, bandwidth=1.5)
    stream = feed(clone(estimator), X, None, np.split(np.arange(120), 4))
    assert_same_model(stream, estimator.fit(X), X)


@pytest.mark.parametrize("dtypes", [(np.float32, np.float32), (np.float32, np.float64), (int, int)])
def test_types_are_those_of_all_batches_together(dtypes):
    X = np.rint(3 * make_data("clustered", 60, 2)[0])
    stream = make(MeanShift)
    for rows, dtype in zip((slice(0, 20), slice(20, 60)), dtypes, strict=True):
        stream.partial_fit(X[rows].astype(dtype))
    expected = np.float32 if set(dtypes) == {np.float32} else np.float64
    assert stream.cluster_centers_.dtype == stream.modes_.dtype == expected
    assert_same_model(stream, make(MeanShift).fit(X.astype(expected)), X)


def test_a_fit_goes_on_as_a_stream():
    X, _ = make_data("clustered", 90, 2)
    stream = make(MeanShift).fit(X[:50]).partial_fit(X[50:])
    assert stream.n_samples_seen_ == 90
    assert_same_model(stream, make(MeanShift).fit(X), X)
    assert_array_equal(stream.fit(X[:9]).labels_, make(MeanShift).fit(X[:9]).labels_)
    assert not hasattr(stream, "n_samples_seen_")


def test_a_fit_in_units_of_its_own_goes_on_as_a_stream():
    """Weights that streams refuse decide the units of a fit; the stream stays in them."""
    X, _ = make_data("clustered", 40, 2)
    stream = make(MeanShift).fit(X[:20], sample_weight=np.full(20, 1e300))
    stream.partial_fit(X[20:], sample_weight=np.full(20, 1e300))
    assert_array_equal(stream.predict(X), make(MeanShift).fit(X).labels_)


def test_a_batch_without_weight_is_a_batch():
    X, _ = make_data("clustered", 40, 2)
    w = np.repeat([0.0, 1.0], 20)
    stream = make(MeanShift).partial_fit(X[:20], sample_weight=w[:20])
    with pytest.raises(ValueError, match="weight above 0, got only zeros"):
        stream.predict(X)
    stream.partial_fit(X[20:], sample_weight=w[20:])
    assert_same_model(stream, make(MeanShift).fit(X, sample_weight=w), X)


# When clusters are computed


def test_a_thousand_batches_are_clustered_once():
    """When an attribute of the clusters is asked for, and not before."""
    began = []

    class Watcher:
        def __call__(self, state):
            pass

        def on_begin(self, unit):
            began.append(unit)

    X, _ = make_data("clustered", 1000, 2)
    stream = make(MeanShift).set_callbacks(Watcher())
    for x in X:
        stream.partial_fit(x[np.newaxis])
    assert (stream.bandwidth_, stream.n_samples_seen_, stream.engine_) == (1.5, 1000, "cpu")
    assert began == []
    first = stream.predict(X)
    assert_array_equal(stream.predict(X), first)
    assert stream.labels_.shape == (1,)
    assert began == ["step"]
    stream.partial_fit(X[:1])
    assert hasattr(stream, "cluster_centers_")
    assert began == ["step", "step"]


def test_a_change_of_parameters_counts_from_the_next_batch_on():
    X, _ = make_data("clustered", 60, 2)
    stream = make(MeanShift).partial_fit(X).set_params(min_cluster_size=20, strays="noise")
    assert (stream.predict(X) >= 0).all()
    stream.partial_fit(X)
    expected = make(MeanShift, min_cluster_size=20).fit(np.concatenate([X, X]))
    assert_array_equal(stream.predict(X), expected.labels_[60:])


def test_clusters_that_are_not_final_warn_when_they_are_computed():
    X, _ = make_data("clustered", 60, 2)
    stream = make(MeanShift, max_iter=1).partial_fit(X)
    with pytest.warns(ConvergenceWarning, match="did not converge within max_iter=1"):
        assert not stream.converged_


def test_memory_grows_with_the_cells_and_not_with_the_points():
    X, _ = make_data("clustered", 500, 2)
    stream = make(MeanShift).partial_fit(X)
    size = len(pickle.dumps(stream))
    feed(stream, X, None, [np.arange(500)] * 20)
    assert len(pickle.dumps(stream)) < size + 100
    assert stream.n_samples_seen_ == 21 * 500


# Saved, copied, shown


@pytest.mark.parametrize("half_life", [None, 13.0])
@pytest.mark.parametrize("way", ["save", "pickle", "deepcopy"])
def test_a_stream_goes_on_after_it_was_saved(way, half_life, tmp_path):
    X, _ = make_data("clustered", 90, 2)
    stream = feed(
        make(StochasticMeanShift), X, None, np.split(np.arange(60), 3), half_life=half_life
    )
    if way == "save":
        modeshift.save(stream, tmp_path / "stream.npz")
        again = modeshift.load(tmp_path / "stream.npz")
    else:
        again = deepcopy(stream) if way == "deepcopy" else pickle.loads(pickle.dumps(stream))
    assert_array_equal(again.predict(X), stream.predict(X))
    assert_array_equal(again.labels_, stream.labels_)
    for each in (stream, again):
        each.partial_fit(X[60:], half_life=half_life)
        assert each.n_samples_seen_ == 90
    assert_array_equal(again.cluster_centers_, stream.cluster_centers_)
    assert_array_equal(again.labels_, stream.labels_)


def test_a_model_of_an_older_version_cannot_go_on():
    """Its file has no sums."""
    model = modeshift.load(SAVED / "cells.format2.npz")
    with pytest.raises(ValueError, match=r"goes on from .* Call partial_fit of a clone"):
        model.partial_fit(pd.DataFrame({"x": [1.0], "y": [1.0]}))
    assert model.predict(pd.DataFrame({"x": [0.0], "y": [1.0]})).tolist() == [0]


def test_notebooks_say_how_many_points_a_stream_has_seen():
    X, _ = make_data("clustered", 60, 2)
    stream = make(MeanShift).partial_fit(X).partial_fit(X[:7])
    assert f"{len(stream.cluster_centers_)} clusters of 67 points" in stream._repr_html_inner()


# Half-life


@pytest.mark.parametrize("weights", [None, "real", "zeros"])
@pytest.mark.parametrize("half_life", [1.0, 3.3, 40.0, 1e6])
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_a_half_life_equals_a_fit_with_weights_that_have_fallen(
    estimator_class, half_life, weights
):
    X, h = make_data("clustered", 300, 2)
    w = make_weights(weights, 300)
    stream = make(estimator_class, bandwidth=h)
    feed(stream, X, w, np.split(np.arange(300), [7, 250]), half_life=half_life)
    means, masses = naive.aged_cells(X, h / 3, w, half_life)
    if half_life < 10:
        assert len(means) < len(naive.compress(X, h / 3)[0])
    problem = stream._model_.problem
    assert_allclose(np.ldexp(problem.points, problem.exponent), means, atol=1e-9 * h)
    assert_allclose(problem.weights, masses, rtol=1e-9)
    whole = make(estimator_class, bandwidth=h, resolution=None).fit(means, sample_weight=masses)
    # Clusters without weight are all of the same size.
    centers = [np.unique(model.cluster_centers_.round(6), axis=0) for model in (stream, whole)]
    assert_allclose(*centers)


@pytest.mark.parametrize("half_life", [1.0, 2.7, 30.0, 1e4])
@FEW
@given(data=st.data(), sample=weighted_data())
def test_the_sizes_of_batches_do_not_matter_with_a_half_life_either(half_life, data, sample):
    """To the last bit, although the order does."""
    X, h, w = sample
    X, w = np.tile(X, (20, 1)), None if w is None else np.tile(w, 20)
    models = []
    for _ in range(2):
        batches = data.draw(batchings(len(X), shuffled=False))
        models.append(feed(make(MeanShift, bandwidth=h), X, w, batches, half_life=half_life))
    one, other = (model._model_ for model in models)
    assert_array_equal(one.problem.weights, other.problem.weights)
    assert_array_equal(one.problem.points, other.problem.points)
    assert_array_equal(one.grid.firsts, other.grid.firsts)
    assert_array_equal(models[0].cluster_centers_, models[1].cluster_centers_)


def test_each_batch_may_have_a_half_life_of_its_own():
    """Rows age all rows before them by their own half-life; None: they age nothing."""
    X = np.arange(60.0).reshape(-1, 1) % 7
    stream = make(MeanShift, bandwidth=1.0, resolution=1)
    ages, age = [], 0.0
    for rows, half_life in zip(np.split(np.arange(60), 4), [None, 5.0, None, 9.0], strict=True):
        stream.partial_fit(X[rows], half_life=half_life)
        ages.append(age + (np.arange(1, 16) / half_life if half_life else np.zeros(15)))
        age = ages[-1][-1]
    weights = 0.5 ** (age - np.concatenate(ages))
    expected = [weights[X[:, 0] == x].sum() for x in range(7)]
    assert_allclose(stream._model_.problem.weights, expected, rtol=1e-12)


def test_a_stream_of_many_half_lives_neither_overflows_nor_grows():
    X = np.random.default_rng(0).uniform(0, 1000, (20_000, 1))
    stream = feed(make(MeanShift, bandwidth=1.0), X, None, np.split(np.arange(20_000), 40),
                  half_life=2.0)  # fmt: skip
    weights = stream._model_.problem.weights
    assert 40 <= len(weights) <= 2 * (HORIZON + 2)
    assert weights.sum() == pytest.approx(1 / (1 - 0.5**0.5), rel=1e-5)


def test_points_whose_cell_is_gone_have_no_label():
    X = np.array([[0.0], *[[9.0]] * 40])
    stream = make(MeanShift, bandwidth=1.0).partial_fit(X, half_life=1.0)
    assert stream.labels_.tolist() == [-1] + [0] * 40
    assert np.isnan(stream.modes_[0, 0])
    assert stream.cluster_centers_.tolist() == [[9.0]]
    assert stream.predict([[0.0]], outliers=-1).tolist() == [-1]


def test_drift_is_followed():
    """A cluster that is no longer fed goes, and a new one is the largest."""
    rng = np.random.default_rng(0)
    stream = make(MeanShift, bandwidth=1.0).partial_fit(rng.normal(0, 0.1, (5000, 1)))
    for _ in range(30):
        stream.partial_fit(rng.normal(9, 0.1, (100, 1)), half_life=100)
    assert_allclose(stream.cluster_centers_, [[9.0]], atol=0.1)


# What is refused


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"resolution": None}, r"partial_fit needs resolution=r, .* resolution=8"),
        ({"bandwidth": None}, r"partial_fit needs a bandwidth, .* Pass a number"),
    ],
)
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_without_cells_of_a_known_size_there_is_no_partial_fit(estimator_class, parameters, words):
    estimator = make(estimator_class, **parameters)
    assert not hasattr(estimator, "partial_fit")
    with pytest.raises(ValueError, match=words):
        estimator.partial_fit([[0.0, 1.0]])
    with pytest.raises(AttributeError, match="no attribute 'colour'"):
        estimator.colour  # noqa: B018
    assert hasattr(make(estimator_class), "partial_fit")


X_GOOD = make_data("clustered", 30, 2)[0]
BAD_BATCHES = [
    ((X_GOOD[:, :1],), {}, "1 features, but MeanShift is expecting 2"),
    ((X_GOOD * np.nan,), {}, "contains NaN"),
    ((X_GOOD[:0],), {}, "0 sample"),
    ((X_GOOD * 1e306,), {}, "bandwidth is too small for values as large as"),
    ((X_GOOD,), {"sample_weight": -np.ones(30)}, "must be finite and not negative"),
    ((X_GOOD,), {"sample_weight": np.full(30, 1e290)}, r"1e280 for streams, got 1e\+290. Divide"),
    ((X_GOOD,), {"half_life": 0.5}, "half_life must be at least 1 and finite, got 0.5"),
    ((X_GOOD,), {"half_life": np.inf}, "half_life must be at least 1 and finite, got inf"),
]


@pytest.mark.parametrize(("batch", "given", "words"), BAD_BATCHES)
def test_a_bad_batch_is_refused_and_changes_nothing(batch, given, words):
    fresh, stream = make(MeanShift), make(MeanShift).partial_fit(X_GOOD)
    if "features" not in words:
        with pytest.raises(ValueError, match=words):
            fresh.partial_fit(*batch, **given)
        assert [name for name in vars(fresh) if name.endswith("_")] == []
        with pytest.raises(NotFittedError):
            fresh.predict(X_GOOD)
    with pytest.raises(ValueError, match=words):
        stream.partial_fit(*batch, **given)
    assert_same_model(stream.partial_fit(X_GOOD), make(MeanShift).fit(np.tile(X_GOOD, (2, 1))),
                      np.tile(X_GOOD, (2, 1)))  # fmt: skip


def test_half_life_must_be_a_number():
    with pytest.raises(TypeError, match="half_life must be a number, got 'long'"):
        make(MeanShift).partial_fit(X_GOOD, half_life="long")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"bandwidth": 2.0}, r"bandwidth=2.0 differs from bandwidth=1.5, with which .* began"),
        ({"resolution": 4}, "resolution=4.0 differs from resolution=3.0"),
        ({"metric": "cosine"}, "metric='cosine' differs from metric='euclidean'"),
        (
            {"feature_scale": (1.0, 2.0)},
            r"feature_scale=\(1.0, 2.0\) differs from feature_scale=None",
        ),
    ],
)
def test_other_cells_in_the_middle_of_a_stream(change, words):
    stream = make(MeanShift).partial_fit(X_GOOD).set_params(**change)
    with pytest.raises(ValueError, match=words):
        stream.partial_fit(X_GOOD)


def test_names_of_features_stay_the_same():
    frame = pd.DataFrame(X_GOOD, columns=["x", "y"])
    stream = make(MeanShift).partial_fit(frame).partial_fit(frame)
    assert stream.feature_names_in_.tolist() == ["x", "y"]
    with pytest.raises(ValueError, match="X must have the columns of the fit"):
        stream.partial_fit(frame[["y", "x"]])


def test_a_fit_without_cells_does_not_go_on():
    model = make(MeanShift, resolution=None).fit(X_GOOD).set_params(resolution=3)
    labels = model.labels_
    with pytest.raises(
        ValueError, match=r"was fitted in another way\. Call partial_fit of a clone"
    ):
        model.partial_fit(X_GOOD)
    assert model.labels_ is labels
    assert clone(model).partial_fit(X_GOOD).labels_.shape == (30,)


def test_dask_data_are_for_fit():
    da = pytest.importorskip("dask.array")
    with pytest.raises(TypeError, match=r"Dask collection\. Pass it to fit"):
        make(MeanShift).partial_fit(da.ones((4, 2)))
    model = make(MeanShift).fit(da.from_array(X_GOOD, chunks=(9, 2)))
    with pytest.raises(ValueError, match="was fitted in another way"):
        model.partial_fit(X_GOOD)


@parametrize_with_checks(
    [
        MeanShift(bandwidth=1.0, resolution=4, algorithm="brute"),
        StochasticMeanShift(bandwidth=1.0, resolution=4, algorithm="brute"),
        BlurringMeanShift(bandwidth=1.0, resolution=4, algorithm="brute"),
    ]
)
@pytest.mark.filterwarnings("ignore:bandwidth=")
def test_scikit_learn_checks(estimator, check):
    if "sample_weight_equivalence" in str(check):  # with clusters of single points sizes are equal
        estimator = clone(estimator).set_params(bandwidth=20.0)
    check(estimator)
