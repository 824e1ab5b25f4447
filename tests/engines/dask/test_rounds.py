"""Fits of Dask collections without compression: the plain fit, step for step, up to rounding."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from helpers import assert_close, make_data, make_weights
from modeshift import BlurringMeanShift, Checkpoint, MeanShift, StochasticMeanShift
from modeshift.engines.kinds import is_dask

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

ESTIMATORS = [
    MeanShift(),
    BlurringMeanShift(),
    StochasticMeanShift(batch_size=19, random_state=0),
    StochasticMeanShift(batch_size=1000, random_state=0),
]


@pytest.fixture(autouse=True)
def _in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def make(estimator, **parameters):
    return clone(estimator).set_params(**parameters)


def in_chunks(X, *sizes):
    """Chunks of the given sizes, the last one takes the rest; an empty one too."""
    sizes = (*sizes, 0, len(X) - sum(sizes))
    return da.from_array(X, chunks=X.shape).rechunk((sizes, X.shape[1]))


def assert_same_fit(chunked, plain, X, h):
    assert is_dask(chunked.labels_)
    assert is_dask(chunked.modes_)
    assert_array_equal(chunked.labels_.compute(), plain.labels_)
    assert_close(chunked.modes_.compute(), plain.modes_, X, h)
    assert_close(chunked.cluster_centers_, plain.cluster_centers_, X, h)
    for name in ("bandwidth_", "scale_", "n_iter_", "n_steps_", "converged_", "n_features_in_"):
        assert getattr(chunked, name) == getattr(plain, name), name


@settings(max_examples=6)
@given(data=st.data(), maker=st.sampled_from(["clustered", "uniform", "offset"]))
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_the_run_is_that_of_one_machine(estimator, data, maker):
    n, d = data.draw(st.integers(3, 60)), data.draw(st.sampled_from([1, 2, 5]))
    X, h = make_data(maker, n, d, seed=data.draw(st.integers(0, 1000)))
    w = make_weights(data.draw(st.sampled_from([None, "whole", "real", "zeros"])), n)
    first = data.draw(st.integers(0, n))
    chunks = in_chunks(X, first, data.draw(st.integers(0, n - first)))
    plain = make(estimator, bandwidth=h).fit(X, sample_weight=w)
    chunked = make(estimator, bandwidth=h).fit(chunks, sample_weight=w)
    assert_same_fit(chunked, plain, X, h)
    assert chunked.labels_.chunks == (chunks.chunks[0],)
    assert chunked.modes_.chunks == chunks.chunks


@pytest.mark.parametrize(
    "options",
    [
        {"kernel": "gaussian", "bandwidth": 0.5},
        {"metric": "cosine", "bandwidth": 0.02},
        {"min_cluster_size": 9},
        {"max_iter": 2},
        {"algorithm": "anchors"},
        {"algorithm": "brute"},
    ],
    ids=str,
)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_options(estimator, options):
    X, h = make_data("clustered", 70, 2)
    plain = make(estimator, **{"bandwidth": h, **options}).fit(X)
    chunked = make(estimator, **{"bandwidth": h, **options}).fit(in_chunks(X, 31, 8))
    assert_same_fit(chunked, plain, X, h)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_predict(estimator):
    """The nearest points of all partitions vote."""
    X, h = make_data("clustered", 70, 3)
    new = np.concatenate([X + 0.3 * h, X[:3] + 100 * h])
    plain = make(estimator, bandwidth=h, min_cluster_size=3).fit(X)
    chunked = make(estimator, bandwidth=h, min_cluster_size=3).fit(in_chunks(X, 31, 8))
    expected = plain.predict(new)
    assert len(np.unique(expected)) > 2
    assert_array_equal(chunked.predict(new), expected)
    lazy = chunked.predict(in_chunks(new, 20))
    assert lazy.chunks == ((20, 0, 53),)
    assert_array_equal(lazy.compute(), expected)
    assert_array_equal(plain.predict(in_chunks(new, 20)).compute(), expected)
    far = new * 9.0
    apart = plain.predict(far, outliers=-1)
    assert (apart == -1).any()
    assert_array_equal(chunked.predict(far, outliers=-1), apart)
    for fitted in (plain, chunked):
        for answer in ("membership", "score_samples"):
            lazily = getattr(fitted, answer)(in_chunks(new, 20))
            assert lazily.chunks[0] == lazy.chunks[0]
            assert_allclose(lazily.compute(), getattr(plain, answer)(new), rtol=1e-7, atol=1e-9)
    assert_array_equal(chunked.predict(in_chunks(X, 20)).compute(), plain.labels_)


def test_unknown_chunk_sizes_and_float32():
    X = make_data("clustered", 60, 2)[0].astype(np.float32)
    array = da.from_array(X, chunks=(20, 2))
    chunked = MeanShift(bandwidth=1.5).fit(array[array[:, 0] > 4])
    plain = MeanShift(bandwidth=1.5).fit(X[X[:, 0] > 4])
    assert chunked.modes_.dtype == np.float32
    assert_array_equal(chunked.labels_.compute(), plain.labels_)


@pytest.mark.jit
def test_the_bandwidth_is_chosen_for_data_whose_squares_overflow():
    X = da.from_array(1e200 * np.arange(6.0)[:, np.newaxis], chunks=(2, -1))
    assert np.isfinite(MeanShift(significance=None).fit(X).bandwidth_)


def test_the_bandwidth_is_chosen():
    X, _ = make_data("clustered", 300, 2)
    plain = MeanShift().fit(X)
    chunked = MeanShift().fit(da.from_array(X, chunks=(110, 2)))
    assert chunked.bandwidth_ == plain.bandwidth_
    assert_array_equal(chunked.labels_.compute(), plain.labels_)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_the_callback_sees_what_the_plain_one_sees(estimator):
    X, h = make_data("clustered", 60, 2)
    seen, expected = [], []
    make(estimator, bandwidth=h).set_callbacks(expected.append).fit(X)
    make(estimator, bandwidth=h).set_callbacks(seen.append).fit(in_chunks(X, 25, 10))
    meeting = isinstance(estimator, MeanShift)  # on one machine, climbs that have met count once
    for ours, theirs in zip(seen, expected, strict=not meeting):
        assert ours.sweep == theirs.sweep
        if not meeting:
            assert (ours.n_steps, ours.n_moving) == (theirs.n_steps, theirs.n_moving)
            assert_close(ours.positions.compute(), theirs.positions, X, h)
        assert ours.count_clusters() == theirs.count_clusters()


def test_components_that_only_a_third_partition_connects():
    """A chain whose links lie in partitions that alternate."""
    X = np.arange(12.0)[:, np.newaxis]
    settings = {"bandwidth": 0.1, "merge_radius": 11.0}
    for order in (np.arange(12), np.arange(12).reshape(4, 3).T.ravel(), np.arange(12)[::-1]):
        chunked = MeanShift(**settings).fit(da.from_array(X[order], chunks=(3, 1)))
        assert_array_equal(chunked.labels_.compute(), 0)
    gap = np.concatenate([X, X + 13.0])[::-1]
    plain = MeanShift(**settings).fit(gap)
    chunked = MeanShift(**settings).fit(da.from_array(gap, chunks=(5, 1)))
    assert_array_equal(chunked.labels_.compute(), plain.labels_)
    assert plain.labels_.max() == 1


REFUSED = [
    (StochasticMeanShift(), "batch_size=None"),
    (StochasticMeanShift(batch_size=1), "batch_size=1"),
    (StochasticMeanShift(batch_size=9, bandwidth=(1.0, 2.0)), r"bandwidth=\(1.0, 2.0\)"),
    (StochasticMeanShift(batch_size=9).set_callbacks(Checkpoint("file")), "checkpoint"),
    (MeanShift(n_neighbors=3), "n_neighbors=3"),
    (MeanShift(seeding="bins"), "seeding='bins'"),
    (MeanShift(seeding=np.ones((2, 2))), "seeding"),
    (MeanShift(seeding=3), "seeding=3"),
    (MeanShift(record=True), "record=True"),
    (MeanShift(strays="nearest", min_cluster_size=2), "strays='nearest'"),
    (BlurringMeanShift(stop="entropy"), "stop='entropy'"),
    (BlurringMeanShift(feature_weights="learned"), "feature_weights='learned'"),
]


@pytest.mark.parametrize(("estimator", "words"), REFUSED, ids=str)
def test_what_partitions_cannot_do_is_refused_with_a_remedy(estimator, words):
    estimator = make(estimator, bandwidth=estimator.bandwidth or 1.0)
    with pytest.raises(ValueError, match=f"(?s)^{words}.*resolution=r"):
        estimator.fit(da.ones((6, 2), chunks=3))


@pytest.mark.parametrize(
    ("X", "weights", "words"),
    [
        (da.from_array(np.array([[1.0], [np.nan]]), chunks=1), None, "chunk 1 of X contains NaN"),
        (da.ones((6, 1), chunks=3), da.zeros(6, chunks=3), "above 0"),
        (da.ones((6, 1), chunks=3)[da.ones(6, chunks=3) > 2], None, "at least one row"),
    ],
)
def test_bad_input_leaves_nothing_behind(X, weights, words):
    estimator = BlurringMeanShift(bandwidth=1.0)
    with pytest.raises(ValueError, match=words):
        estimator.fit(X, sample_weight=weights)
    assert not [name for name in vars(estimator) if name.endswith("_")]
