"""Compressed fits of Dask collections, without workers: test_dask_cluster.py has those."""

import pickle
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import modeshift
from helpers import make_data, make_weights
from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift
from modeshift.engines.kinds import is_dask

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

ESTIMATORS = [MeanShift, StochasticMeanShift, BlurringMeanShift]


@pytest.fixture(autouse=True)
def _in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def make(estimator_class, **parameters):
    chance = {"random_state": 0} if estimator_class is StochasticMeanShift else {}
    return estimator_class(**{"bandwidth": 1.5, "resolution": 3, **chance, **parameters})


def assert_same_fit(chunked, plain):
    """Lazy where it should be, and the same to the last bit."""
    for name in ("labels_", "modes_"):
        lazy = getattr(chunked, name)
        assert is_dask(lazy)
        assert_array_equal(lazy.compute(), getattr(plain, name))
    assert_array_equal(chunked.cluster_centers_, plain.cluster_centers_)
    for name in ("bandwidth_", "scale_", "n_iter_", "n_steps_", "converged_", "n_features_in_"):
        assert getattr(chunked, name) == getattr(plain, name)


@st.composite
def chunkings(draw, n):
    """Sizes of chunks that add up to n; some are empty."""
    cuts = sorted(draw(st.lists(st.integers(0, n), max_size=12)))
    return tuple(np.diff([0, *cuts, n]).tolist())


@settings(max_examples=20)
@given(data=st.data(), maker=st.sampled_from(["clustered", "duplicates", "offset", "lattice"]))
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_any_chunking_gives_the_labels_of_the_plain_fit(estimator_class, data, maker):
    n, d = data.draw(st.integers(1, 50)), data.draw(st.sampled_from([1, 2, 3]))
    X, h = make_data(maker, n, d, seed=data.draw(st.integers(0, 1000)))
    w = make_weights(data.draw(st.sampled_from([None, "whole", "real", "zeros"])), n)
    sizes = data.draw(chunkings(n))
    columns = data.draw(st.sampled_from([(d,), (1,) * d]))
    chunked = da.from_array(X, chunks=(n, d)).rechunk((sizes, columns))
    weights = None if w is None else da.from_array(w, chunks=n)
    estimator = make(estimator_class, bandwidth=h)
    plain = make(estimator_class, bandwidth=h).fit(X, sample_weight=w)
    estimator.fit(chunked, sample_weight=weights)
    assert_same_fit(estimator, plain)
    assert estimator.labels_.chunks == (sizes,)
    assert estimator.modes_.chunks == (sizes, (d,))
    new = X + 0.2 * h
    expected = plain.predict(new)
    assert_array_equal(estimator.predict(new), expected)
    new = da.from_array(new, chunks=(n, d)).rechunk((sizes, columns))
    for fitted in (estimator, plain):
        assert fitted.predict(new).chunks == (sizes,)
        assert_array_equal(fitted.predict(new).compute(), expected)


OPTIONS = [
    {"kernel": "gaussian"},
    {"metric": "cosine", "bandwidth": 0.05},
    {"n_neighbors": 7},
    {"min_cluster_size": 5},
    {"min_cluster_size": 5, "strays": "nearest"},
    {"record": True},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_every_option_of_all_estimators_works_on_cells(estimator_class, options):
    X, _ = make_data("clustered", 120, 2)
    plain = make(estimator_class, **options).fit(X)
    chunked = make(estimator_class, **options).fit(da.from_array(X, chunks=(25, 1)))
    assert_same_fit(chunked, plain)


@pytest.mark.parametrize(
    "estimator",
    [
        MeanShift(seeding="bins"),
        MeanShift(seeding=20, random_state=0),
        StochasticMeanShift(bandwidth=(1.0, 1.5), batch_size=4, random_state=0),
        BlurringMeanShift(stop="entropy"),
        BlurringMeanShift(feature_weights="learned"),
    ],
    ids=str,
)
def test_options_of_one_estimator_work_on_cells(estimator):
    X, _ = make_data("clustered", 120, 2)
    estimator.set_params(resolution=3.0)
    if estimator.bandwidth is None:
        estimator.set_params(bandwidth=1.5)
    plain = pickle.loads(pickle.dumps(estimator)).fit(X)
    chunked = estimator.fit(da.from_array(X, chunks=(50, 2)))
    assert_same_fit(chunked, plain)


# Dataframes, Parquet, unknown sizes


@pytest.fixture
def frame():
    X, _ = make_data("clustered", 90, 2)
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "w": make_weights("real", 90)})


def test_dataframes(frame):
    plain = make(MeanShift).fit(frame[["a", "b"]], sample_weight=frame["w"])
    parts = dd.from_pandas(frame, npartitions=4)
    chunked = make(MeanShift).fit(parts[["a", "b"]], sample_weight=parts["w"])
    assert_same_fit(chunked, plain)
    assert chunked.feature_names_in_.tolist() == ["a", "b"]
    assert np.isnan(chunked.labels_.shape[0])
    assert chunked.labels_.numblocks == (4,)
    expected = plain.predict(frame[["a", "b"]])
    assert_array_equal(chunked.predict(parts[["a", "b"]]).compute(), expected)
    with pytest.raises(ValueError, match="X must have the columns of the fit"):
        chunked.predict(parts[["b", "a"]])


@pytest.mark.parametrize("dtype", ["Int64", "Float32", "boolean"])
def test_nullable_columns_in_which_nothing_is_missing(frame, dtype):
    """And the error where something is."""
    whole = (frame[["a", "b"]] > 5).astype(dtype)
    chunked = make(MeanShift).fit(dd.from_pandas(whole, npartitions=3))
    assert_array_equal(chunked.labels_.compute(), make(MeanShift).fit(whole).labels_)
    whole.iloc[-1, 0] = None
    with pytest.raises((TypeError, ValueError), match="chunk 2 of X"):
        make(MeanShift).fit(dd.from_pandas(whole, npartitions=3))


@pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame:DeprecationWarning")  # Dask's
def test_parquet(frame, tmp_path):
    pytest.importorskip("pyarrow")
    dd.from_pandas(frame[["a", "b"]], npartitions=3).to_parquet(tmp_path / "points")
    chunked = make(StochasticMeanShift).fit(dd.read_parquet(tmp_path / "points"))
    assert_same_fit(chunked, make(StochasticMeanShift).fit(frame[["a", "b"]]))


def test_unknown_chunk_sizes_and_empty_partitions(frame):
    points = frame[["a", "b"]].to_numpy()
    array = da.from_array(points, chunks=(20, 2))
    kept = array[(array[:, 0] > array[:, 1]) & (array[:, 0] < np.inf)]
    assert np.isnan(kept.shape[0])
    plain = make(MeanShift).fit(points[points[:, 0] > points[:, 1]])
    assert_same_fit(make(MeanShift).fit(kept), plain)


@pytest.mark.parametrize("dtype", ["float32", "int32", "bool", "object"])
def test_types(dtype):
    X = np.rint(make_data("clustered", 50, 2)[0]).astype(dtype)
    plain = make(MeanShift).fit(X)
    chunked = make(MeanShift).fit(da.from_array(X, chunks=(20, 2)))
    assert_same_fit(chunked, plain)
    assert chunked.modes_.dtype == plain.modes_.dtype


def test_labels_are_not_computed_by_the_fit():
    passes = []

    def look(block):
        passes.append(len(block))
        return block

    X, _ = make_data("clustered", 60, 2)
    array = da.from_array(X, chunks=(20, 2)).map_blocks(look, dtype=float, meta=np.empty((0, 2)))
    chunked = make(MeanShift).fit(array)
    assert passes == [20] * 3
    chunked.labels_.compute()
    assert passes == [20] * 6


# The bandwidth


@pytest.mark.jit
def test_a_sample_of_everything_chooses_the_bandwidth_of_the_plain_fit():
    X, _ = make_data("clustered", 400, 2)
    plain = MeanShift(resolution=8).fit(X)
    chunked = MeanShift(resolution=8).fit(da.from_array(X, chunks=(150, 2)))
    assert_same_fit(chunked, plain)


def test_the_sample_depends_neither_on_the_chunks_nor_on_their_order():
    from modeshift.engines.cpu.chart import Chart
    from modeshift.engines.dask.rows import as_rows
    from modeshift.engines.dask.sample import draw_rows

    X, _ = make_data("clustered", 5000, 2)
    w = np.random.default_rng(0).uniform(0, 3, 5000)
    draws = [
        draw_rows(as_rows(da.from_array(X, chunks=(size, 2)), X.dtype, w), Chart())
        for size in (5000, 700, 33)
    ]
    for draw in draws[1:]:
        assert_array_equal(draw.points, draws[0].points)
    assert len(draws[0].points) == 1500
    assert draws[0].n_rows == 5000
    assert draws[0].mass == pytest.approx(w.sum())
    assert_array_equal(draws[0].low, X.min(axis=0))
    assert_array_equal(draws[0].high, X.max(axis=0))


def test_heavy_rows_are_drawn_more_often():
    from modeshift.engines.cpu.chart import Chart
    from modeshift.engines.dask.rows import as_rows
    from modeshift.engines.dask.sample import draw_rows

    X = np.repeat([[0.0], [1.0]], 20_000, axis=0)
    w = np.repeat([1.0, 3.0], 20_000)
    rows = as_rows(da.from_array(X, chunks=(3000, 1)), X.dtype, w)
    assert draw_rows(rows, Chart()).points.mean() == pytest.approx(0.75, abs=0.04)  # 3.5 sigma


@pytest.mark.jit
def test_one_cluster_is_as_wide_as_all_the_data():
    """Not only as the sample."""
    X = np.random.default_rng(0).normal(size=(4000, 2))
    X[17] = [60.0, 0.0]
    chunked = MeanShift(resolution=8).fit(da.from_array(X, chunks=(900, 2)))
    assert_array_equal(chunked.labels_.compute(), 0)


# Progress, all or nothing


def test_the_callback_sees_every_sweep_and_lazy_positions():
    seen, expected = [], []
    X, _ = make_data("clustered", 80, 2)
    make(BlurringMeanShift).set_callbacks(expected.append).fit(X)
    chunked = da.from_array(X, chunks=(30, 2))
    make(BlurringMeanShift).set_callbacks(seen.append).fit(chunked)
    assert len(seen) == len(expected) > 1
    for ours, theirs in zip(seen, expected, strict=True):
        assert ours.n_moving == theirs.n_moving
        assert_array_equal(ours.positions.compute(), theirs.positions)
        assert ours.count_clusters() == theirs.count_clusters()


def test_a_fit_that_fails_leaves_nothing_behind():
    X = da.from_array(np.ones((9, 2)), chunks=(3, 2))
    estimator = make(MeanShift).fit(X)
    broken = da.concatenate([X, np.nan * X])
    with pytest.raises(ValueError, match=r"chunk [345] of X contains NaN"):
        estimator.fit(broken)
    assert not [name for name in vars(estimator) if name.endswith("_")]


def test_a_fitted_estimator_can_be_pickled():
    X, _ = make_data("clustered", 60, 2)
    chunked = make(MeanShift).fit(da.from_array(X, chunks=(25, 2)))
    again = pickle.loads(pickle.dumps(chunked))
    assert_array_equal(again.labels_.compute(), chunked.labels_.compute())


def test_rows_that_change_from_pass_to_pass_are_noticed():
    rng = np.random.default_rng(0)
    array = da.ones((40, 2), chunks=(20, 2)).map_blocks(
        lambda block: rng.uniform(0, 1000, block.shape), dtype=float, meta=np.empty((0, 2))
    )
    chunked = make(MeanShift).fit(array)
    with pytest.raises(RuntimeError, match="same rows each time"):
        chunked.labels_.compute()


# Bad input

GOOD = da.ones((6, 2), chunks=(2, 2))
BAD = [
    (da.ones(6, chunks=2), None, "two dimensions"),
    (da.ones((6, 2, 2), chunks=2), None, "two dimensions"),
    (da.ones((0, 2), chunks=2), None, "at least one row"),
    (da.ones((4, 0), chunks=2), None, "at least one row"),
    (GOOD.astype(complex), None, "must be real"),
    (GOOD.astype("U8"), None, "must be numeric"),
    (GOOD * np.inf, None, r"chunk \d of X contains infinity"),
    (GOOD[GOOD[:, 0] > 5], None, "at least one row"),
    (GOOD, np.ones(5), "sample_weight must have shape"),
    (GOOD, da.ones(5, chunks=2), "sample_weight must have shape"),
    (GOOD, da.zeros(6, chunks=4), "above 0"),
    (GOOD, -da.ones(6, chunks=4), r"chunk \d of sample_weight must be finite and not negative"),
    (GOOD, da.ones((6, 2), chunks=4), "one dimension"),
    (GOOD, da.full(6, 1e-200, chunks=4), "must be between .*, got 1e-200. Multiply all weights"),
    (GOOD, da.full(6, 1e290, chunks=4), r"must be between .*, got 1e\+290. Divide all weights"),
    (GOOD[GOOD[:, 0] > 0], np.ones(6), "must be a Dask collection"),
    (GOOD[GOOD[:, 0] > 0], da.ones(6, chunks=6), "3"),
    (GOOD[GOOD[:, 0] > 0], da.ones(6, chunks=(1, 2, 3)), r"shape \(2,\)|one weight"),
    (GOOD * 1e308, None, "bandwidth is too small"),
]


@pytest.mark.parametrize(("X", "weight", "words"), BAD)
def test_bad_input(X, weight, words):
    with pytest.raises(ValueError, match=words):
        make(MeanShift).fit(X, sample_weight=weight)


def test_a_zero_vector_has_no_direction():
    X = da.concatenate([GOOD, da.zeros((2, 2), chunks=2)])
    with pytest.raises(ValueError, match="chunk 3 of X has a zero vector in row 0"):
        make(MeanShift, metric="cosine").fit(X)
    fitted = make(MeanShift, metric="cosine").fit(GOOD)
    with pytest.raises(ValueError, match=r"In chunk 3 of X: X has a zero vector in row 0"):
        fitted.predict(X).compute()


def test_chunks_of_other_widths():
    """The columns that Dask announces are not those of a chunk."""
    X = da.from_array(np.ones((4, 2)), chunks=(2, 2)).map_blocks(
        lambda block, block_id: block[:, : 2 - block_id[0]], dtype=float, chunks=((2, 2), (2,))
    )
    with pytest.raises(ValueError, match="chunk 1 of X has 1 columns, but X has 2"):
        make(MeanShift).fit(X)


def test_chunks_of_weights_of_another_length():
    """The numbers of weights are those of the chunk."""
    X = GOOD[GOOD[:, 0] > 0]  # chunks of unknown size
    weights = da.ones(7, chunks=(2, 2, 3))
    with pytest.raises(
        ValueError, match=r"chunk 2 of sample_weight must have shape \(2,\).*got \(3,\)"
    ):
        make(MeanShift).fit(X, sample_weight=weights)


def test_other_collections_are_refused():
    with pytest.raises(TypeError, match="Dask array or dataframe, got Delayed"):
        make(MeanShift).fit(dask.delayed(np.ones)((5, 2)))


def test_predict_checks_the_number_of_features():
    estimator = make(MeanShift).fit(GOOD)
    with pytest.raises(ValueError, match="3 features"):
        estimator.predict(da.ones((6, 3), chunks=2))


def test_plain_fits_do_not_ask_for_dask(monkeypatch):
    monkeypatch.delitem(sys.modules, "dask")
    modeshift.MeanShift(bandwidth=1.0).fit(np.ones((3, 2)))
