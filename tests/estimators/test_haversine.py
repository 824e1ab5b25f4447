"""Latitude and longitude: kilometres on the globe, with no special place."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import modeshift
from helpers import JIT, fit, make_weights
from modeshift import (
    BlurringMeanShift,
    Consensus,
    MeanShift,
    StochasticMeanShift,
    bandwidth_profile,
    estimate_bandwidth,
    globe,
)
from modeshift.parameters import refusal_by
from twins import naive
from twins.compare import ESTIMATORS, TWINS, make
from twins.rules import PLAIN

RADIUS = 6371.0088
SEEDS = st.integers(0, 2**32 - 1)
FEW = settings(max_examples=15 if JIT else 5)

FIJI = np.array(
    [
        [-18.14, 178.44],  # Suva
        [-17.80, 177.42],  # Nadi
        [-16.43, 179.36],  # Labasa
        [-16.78, 179.34],  # Savusavu
        [-16.84, -179.97],  # Taveuni, in the east
        [-17.25, -178.95],  # Vanua Balavu
        [-18.23, -178.79],  # Lakeba
    ]
)
SAMOA = np.array([[-13.83, -171.76], [-13.80, -172.18], [-14.28, -170.70]])


def vincenty(places, others):
    """Great-circle distances in kilometres by Vincenty's formula, for a sphere."""
    (p, a), (q, b) = np.radians(places).T, np.radians(others).T
    opposite = np.hypot(
        np.cos(q) * np.sin(b - a),
        np.cos(p) * np.sin(q) - np.sin(p) * np.cos(q) * np.cos(b - a),
    )
    adjacent = np.sin(p) * np.sin(q) + np.cos(p) * np.cos(q) * np.cos(b - a)
    return RADIUS * np.arctan2(opposite, adjacent)


def vectors(places):
    """Unit vectors, as a textbook has them."""
    latitude, longitude = np.radians(places).T
    return np.column_stack(
        [
            np.cos(latitude) * np.cos(longitude),
            np.cos(latitude) * np.sin(longitude),
            np.sin(latitude),
        ]
    )


def anywhere(rng, n):
    """Places all over the globe, the poles no more often than others."""
    return np.column_stack(
        [np.degrees(np.arcsin(rng.uniform(-1, 1, n))), rng.uniform(-180, 180, n)]
    )


def around(rng, place, n, km):
    """Places within some kilometres of another, in any direction."""
    start = vectors(np.array([place]))[0]
    offsets = rng.normal(size=(n, 3)) * km / RADIUS / 2
    return globe.to_places((start + offsets) / np.linalg.norm(start + offsets, axis=1)[:, None])


@st.composite
def places(draw, max_n=25):
    """Groups of places, some of them at a pole or on the date line, and a bandwidth in km."""
    rng = np.random.default_rng(draw(SEEDS))
    n = draw(st.integers(1, max_n))
    middles = draw(st.sampled_from(["anywhere", "pole", "date line"]))
    centers = {
        "anywhere": anywhere(rng, 3),
        "pole": np.array([[90.0, 0.0], [-90.0, 0.0], [84.0, 12.0]]),
        "date line": np.array([[0.0, 180.0], [60.0, -180.0], [-70.0, 179.9]]),
    }[middles]
    spread = draw(st.sampled_from([0.2, 30.0, 1500.0]))
    chosen = centers[rng.integers(3, size=n)]
    X = np.concatenate([around(rng, place, 1, spread) for place in chosen])
    return X, spread * rng.uniform(0.6, 1.6)


def haversine(estimator_class, h, seed=0, **parameters):
    return make(estimator_class, h, seed, metric="haversine", **parameters)


def turned(places, degrees):
    """The same places with other longitudes."""
    return np.asarray(places) + np.array([0.0, degrees])


def assert_same_places(places, others, km):
    assert_allclose(globe.distances(places, others), 0.0, atol=km)


# Distances


def far_and_near(rng, n):
    """Pairs of places at all distances: far, close, nearly opposite, at poles, on the date line."""
    first = np.concatenate([anywhere(rng, n), [[90, 5], [-90, 77], [0, 180], [45, 180], [0, 0]]])
    others = [anywhere(rng, len(first))]
    for meters in (0.1, 10.0, 1e4):
        others.append(np.concatenate([around(rng, place, 1, meters / 1000) for place in first]))
    opposite = np.column_stack([-first[:, 0], first[:, 1] + 180.0])
    others += [opposite, opposite + rng.normal(size=opposite.shape) * 1e-4]
    others += [np.full_like(first, [[90.0, -30.0]]), turned(first, 360.0)]
    others = np.concatenate(others)
    others[:, 0] = others[:, 0].clip(-90.0, 90.0)
    return np.tile(first, (len(others) // len(first), 1)), others


def test_distances_are_right_to_a_meter():
    places, others = far_and_near(np.random.default_rng(0), 400)
    expected = vincenty(places, others)
    assert_allclose(globe.distances(places, others), expected, rtol=0, atol=1e-6)
    chords = np.linalg.norm(globe.to_vectors(places, "X") - globe.to_vectors(others, "X"), axis=1)
    found = [globe.distance_of(chord) for chord in chords]
    assert_allclose(found, expected, rtol=0, atol=1e-3)
    assert expected.max() > 0.99999 * globe.HALF_WAY
    assert_allclose(globe.chords_of(expected), chords, rtol=0, atol=1e-11)


def test_a_bandwidth_is_a_distance_to_a_meter():
    """Two places are neighbours at their distance and a meter more, and not at a meter less."""
    places, others = far_and_near(np.random.default_rng(1), 4)
    for pair, distance in zip(
        np.stack([places, others], axis=1), vincenty(places, others), strict=True
    ):
        if 0.002 < distance < 0.9999 * globe.HALF_WAY:  # nearly opposite ones have no mean
            for h, together in [(distance + 1e-3, True), (distance - 1e-3, False)]:
                model = BlurringMeanShift(bandwidth=h, metric="haversine").fit(pair)
                assert (model.labels_[1] == 0) == together


def test_a_turn_brings_every_place_back_exactly():
    X = np.array([[0.0, 180.0], [12.5, -180.0], [45.0, 0.0], [-80.0, 359.0], [90.0, 7.0]])
    for turns in (-720.0, 360.0):
        assert_array_equal(globe.to_vectors(turned(X, turns), "X"), globe.to_vectors(X, "X"))
    assert_array_equal(globe.to_vectors(np.array([[90.0, 12.3], [-90.0, 45.0]]), "X")[:, :2], 0.0)
    assert_allclose(globe.to_vectors(X, "X"), vectors(X), atol=1e-15)
    back = globe.to_places(globe.to_vectors(X, "X"))
    assert_same_places(back, X, 1e-9)
    assert np.abs(back[:, 1]).max() <= 180.0


@pytest.mark.parametrize("h", [globe.HALF_WAY, 30_000.0, 1e300])
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_half_the_circumference_covers_everything(estimator_class, h, field_kind):
    """Opposite places too, whatever rounding does to their chord."""
    rng = np.random.default_rng(0)
    X = anywhere(rng, 200)
    X = np.concatenate([X, np.column_stack([-X[:, 0], X[:, 1] + 180.0]), X[:9]])
    model = haversine(estimator_class, h, algorithm=field_kind, record=False)
    assert_allclose(fit(model, X).score_samples(X), -np.log(4 * np.pi * RADIUS**2))
    if estimator_class is not StochasticMeanShift:  # every point to the mean of all
        assert_array_equal(model.labels_, 0)
        assert model.n_iter_ <= 2


# The twin


@pytest.mark.parametrize("weights", [None, "zeros"])
@pytest.mark.parametrize("kernel", ["flat", "gaussian"])
@pytest.mark.parametrize("place", [(12.0, 80.0), (-17.0, 179.95), (89.8, 0.0)], ids=str)
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_equals_the_twin(estimator_class, field_kind, place, kernel, weights):
    """On the vectors of a textbook, by cosine distance."""
    rng = np.random.default_rng(3)
    X = np.concatenate([around(rng, place, 30, 40.0), around(rng, (0.0, 0.0), 5, 40.0)])
    w, h = make_weights(weights, 35), 25.0 if kernel == "flat" else 8.0
    model = fit(haversine(estimator_class, h, kernel=kernel, algorithm=field_kind), X, w)
    chord = 2 * np.sin(h / RADIUS / 2) if kernel == "flat" else h / RADIUS
    assert model.scale_ == pytest.approx(RADIUS * chord, rel=1e-12)
    assert model.bandwidth_ == h
    rule = PLAIN._replace(sphere=True, kernel=kernel)
    names = {"tol", "max_iter", "patience", "random_state", "stop"}
    parameters = {name: v for name, v in model.get_params().items() if name in names}
    if estimator_class is MeanShift:
        del parameters["random_state"]
    cosine = chord**2 / 2 if kernel == "flat" else chord**2
    twin = TWINS[estimator_class](
        vectors(X), h=cosine, weights=w, rule=rule, scale=chord, **parameters
    )
    assert (model.n_iter_, model.n_steps_, model.converged_) == twin[2:5]
    assert_allclose(vectors(model.modes_), twin.modes, rtol=0, atol=1e-10)
    components = naive.merge(twin.modes, model.merge_radius * chord, rule)
    assert_array_equal(model.labels_, naive.label(components, w, 1))
    centers = naive.centers(twin.modes, model.labels_, w, rule)
    assert_allclose(vectors(model.cluster_centers_), centers, rtol=0, atol=1e-10)
    for path, expected in zip(model.paths_, twin.paths, strict=True):
        assert_allclose(vectors(path), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_a_mean_without_direction_moves_nobody(estimator_class, field_kind):
    """Opposite places cancel out, as with cosine distance."""
    X = np.array([[10.0, 20.0], [-10.0, -160.0]])
    model = fit(haversine(estimator_class, 30_000.0, algorithm=field_kind, merge_radius=0.1), X)
    assert_same_places(model.modes_, X, 1e-6)
    assert model.converged_
    assert_array_equal(model.labels_, [0, 1])


# No special place


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@FEW
@given(data=places(), turn=st.floats(-1000, 1000))
def test_turning_all_longitudes_changes_no_cluster(estimator_class, data, turn):
    X, h = data
    here = fit(haversine(estimator_class, h), X)
    there = fit(haversine(estimator_class, h), turned(X, turn))
    assert_array_equal(there.labels_, here.labels_)
    assert there.n_steps_ == here.n_steps_
    assert_same_places(there.modes_, turned(here.modes_, turn), 1e-6 * h + 1e-6)
    assert_same_places(there.cluster_centers_, turned(here.cluster_centers_, turn), 1e-6 * h + 1e-6)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@FEW
@given(data=places(), seed=SEEDS)
def test_turning_the_globe_in_any_way_changes_no_cluster(estimator_class, data, seed):
    """So the poles are places like all others."""
    X, h = data
    turn, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    here = fit(haversine(estimator_class, h), X)
    there = fit(haversine(estimator_class, h), globe.to_places(vectors(X) @ turn))
    assert_array_equal(there.labels_, here.labels_)
    assert_allclose(vectors(there.modes_), vectors(here.modes_) @ turn, rtol=0, atol=1e-9)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_the_islands_of_fiji_are_one_cluster(estimator_class):
    model = fit(haversine(estimator_class, 500.0), np.concatenate([FIJI, SAMOA]))
    assert_array_equal(model.labels_, [0] * len(FIJI) + [1] * len(SAMOA))
    assert globe.distances(model.cluster_centers_[:1], [[-17.3, 179.6]])[0] < 150
    flat = fit(make(estimator_class, 500.0 / 111.2, 0), np.concatenate([FIJI, SAMOA]))
    assert len(set(flat.labels_[: len(FIJI)])) == 2


def test_a_cluster_at_the_pole():
    X = np.column_stack([np.full(8, 89.0), 45.0 * np.arange(8)])
    model = fit(haversine(MeanShift, 300.0), X)
    assert_array_equal(model.labels_, 0)
    assert model.cluster_centers_[0, 0] == pytest.approx(90.0)
    assert_array_equal(model.predict([[88.5, -77.0], [90.0, 123.0]]), 0)


@pytest.mark.parametrize("estimator_class", [MeanShift, BlurringMeanShift])
@FEW
@given(data=places(max_n=15), seed=SEEDS)
def test_whole_weights_equal_repeated_points(estimator_class, data, seed):
    X, h = data
    times = np.random.default_rng(seed).integers(1, 4, len(X))
    weighted = fit(haversine(estimator_class, h), X, times)
    repeated = fit(haversine(estimator_class, h), np.repeat(X, times, axis=0))
    assert_array_equal(np.repeat(weighted.labels_, times), repeated.labels_)
    assert_same_places(np.repeat(weighted.modes_, times, axis=0), repeated.modes_, 1e-6 * h + 1e-6)


# Everything around


def scene(seed=0):
    """Three groups of towns, one of them on the date line."""
    rng = np.random.default_rng(seed)
    middles = [(-17.0, 180.0), (48.0, 2.0), (38.0, -105.0)]
    return np.concatenate([around(rng, place, 40, 150.0) for place in middles])


OPTIONS = [
    {"resolution": 6},
    {"n_neighbors": 12},
    {"n_neighbors": 12, "bandwidth": np.inf},
    {"kernel": "gaussian", "bandwidth": 120.0},
    {"min_cluster_size": 20, "strays": "nearest"},
    {"n_clusters": 3, "bandwidth": None},
    {"bandwidth": None},
    {"feature_scale": np.deg2rad([1, 1])},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_every_option_knows_the_globe(estimator_class, options, tmp_path):
    X = scene()
    factor = np.deg2rad(1) if "feature_scale" in options else 1.0
    model = haversine(estimator_class, 400.0).set_params(**options).fit(X * factor)
    groups = [set(labels) for labels in model.labels_.reshape(3, 40).tolist()]
    assert sum(map(len, groups)) == len(model.cluster_centers_)  # no cluster has towns of two
    if "n_neighbors" not in options:
        assert len(model.cluster_centers_) == 3
    assert_array_equal(model.predict(X * factor), model.labels_)
    nearby = turned(X, 360.001) * factor
    assert model.predict(nearby).shape == (120,)
    assert_array_equal(model.predict(nearby), model.predict(turned(X, 0.001) * factor))
    assert_allclose(model.membership(nearby).sum(axis=1), 1.0)
    if model.bandwidth is not None and model.bandwidth < 1000:
        assert model.predict([[-60.0 * factor, 90.0 * factor]], outliers=-1)[0] == -1
    distances = globe.distances(model.cluster_centers_ / factor, [[-17.0, 180.0]])
    assert distances.min() < 300
    modeshift.save(model, tmp_path / "model.npz")
    again = modeshift.load(tmp_path / "model.npz")
    assert_array_equal(again.predict(nearby), model.labels_)
    assert_array_equal(again.score_samples(nearby), model.score_samples(nearby))


def test_starts_are_places():
    model = haversine(MeanShift, 400.0, seeding=[[-17.0, -180.0], [50.0, 2.0], [38.0, 255.0]])
    assert len(set(fit(model, scene()).labels_)) == 3
    with pytest.raises(
        ValueError, match=r"seeding must have the same number of columns as X \(2\)"
    ):
        haversine(MeanShift, 400.0, seeding=[[0.0, 0.0, 1.0]]).fit(scene())
    with pytest.raises(ValueError, match="seeding has the latitude 95 in row 0"):
        haversine(MeanShift, 400.0, seeding=[[95.0, 0.0]]).fit(scene())


def test_batches_of_places():
    X = scene()
    stream = MeanShift(bandwidth=400.0, metric="haversine", resolution=6)
    for rows in np.array_split(np.random.default_rng(0).permutation(len(X)), 9):
        stream.partial_fit(X[rows])
    whole = MeanShift(bandwidth=400.0, metric="haversine", resolution=6).fit(X)
    assert set(map(tuple, stream.cluster_centers_)) == set(map(tuple, whole.cluster_centers_))
    assert len(set(stream.predict(X))) == 3


@pytest.mark.parametrize("dtype", [np.float32, np.float64, int])
def test_types(dtype):
    X = np.rint(scene()).astype(dtype)
    model = fit(haversine(BlurringMeanShift, 400.0), X)
    expected = np.float32 if dtype == np.float32 else np.float64
    assert model.modes_.dtype == model.cluster_centers_.dtype == expected
    assert len(set(model.labels_)) == 3


def test_runs_vote_on_the_globe():
    """The mean of modes on both sides of the date line is there, and not in Africa."""
    X = scene()
    model = Consensus(StochasticMeanShift(bandwidth=400.0, metric="haversine"), n_runs=3,
                      random_state=0).fit(X)  # fmt: skip
    assert len(model.cluster_centers_) == 3
    assert globe.distances(model.cluster_centers_, [[-17.0, 180.0]]).min() < 100
    assert_array_equal(model.predict(turned(X, 360)), model.labels_)
    votes = Consensus(
        StochasticMeanShift(bandwidth=60.0, metric="haversine", min_cluster_size=9,
                            strays="nearest"), n_runs=3, random_state=0).fit(X)  # fmt: skip
    groups = [set(labels) for labels in votes.labels_.reshape(3, 40).tolist()]
    assert sum(map(len, groups)) == len(votes.cluster_centers_)


@pytest.mark.parametrize("way", ["cells", "rounds"])
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_chunks_of_places(estimator_class, way):
    da = pytest.importorskip("dask.array")
    X = scene() * 7.0
    options = {"resolution": 6} if way == "cells" else {}
    if estimator_class is StochasticMeanShift:
        options["batch_size"] = 10
    model = haversine(estimator_class, 400.0, feature_scale=(7.0, 7.0), **options)
    model.set_params(record=False)
    plain = clone(model).fit(X)
    chunked = model.fit(da.from_array(X, chunks=(35, 1)))
    assert_array_equal(chunked.labels_.compute(), plain.labels_)
    assert_same_places(chunked.cluster_centers_ / 7, plain.cluster_centers_ / 7, 1e-6)
    assert_same_places(chunked.modes_.compute() / 7, plain.modes_ / 7, 1e-6)
    assert chunked.scale_ == pytest.approx(plain.scale_)
    new = da.from_array(X, chunks=(50, 2))
    assert_array_equal(np.asarray(chunked.predict(new)), plain.labels_)
    assert_allclose(np.asarray(chunked.score_samples(new)), plain.score_samples(X), rtol=1e-9)


# The bandwidth


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_a_chosen_bandwidth_is_in_kilometres(estimator_class):
    X = scene()
    estimator = haversine(estimator_class, None)
    profile = bandwidth_profile(X, estimator)
    assert 100 < profile.bandwidth < 6000
    assert profile.widest_bandwidth <= globe.HALF_WAY * (1 + 1e-12)
    assert estimate_bandwidth(X, estimator=estimator) == profile.bandwidth
    fit(estimator, X)
    assert estimator.bandwidth_ == profile.bandwidth
    elsewhere = bandwidth_profile(turned(X, 123.0), estimator)
    assert elsewhere.bandwidth == pytest.approx(profile.bandwidth, rel=1e-6)


@pytest.mark.jit
def test_rounded_places_are_not_their_own_clusters():
    """A sample of whole degrees: noise is added in degrees, where the grid is."""
    rng = np.random.default_rng(0)
    X = np.concatenate([around(rng, place, 500, 1200.0) for place in [(30, 179), (-40, 60)]])
    profile = bandwidth_profile(np.rint(X), MeanShift(metric="haversine"))
    assert profile.n_clusters == 2
    assert profile.bandwidth > 300


def test_densities_are_per_square_kilometre():
    """Over the whole globe they add up to 1."""
    rng = np.random.default_rng(0)
    everywhere = anywhere(rng, 40_000)
    area = 4 * np.pi * RADIUS**2
    for kernel, h in [("flat", 2000.0), ("flat", 25_000.0), ("gaussian", 900.0)]:
        model = MeanShift(bandwidth=h, metric="haversine", kernel=kernel, max_iter=1, tol=0.99)
        model.fit(anywhere(rng, 30))
        assert area * np.exp(model.score_samples(everywhere)).mean() == pytest.approx(1, abs=0.03)


# Columns


FRAMES = [pd.DataFrame, pl.DataFrame]


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize(
    "names", [("lat", "lon"), ("Latitude", "Longitude"), ("LAT", "lng"), ("latitude", " long ")]
)
def test_columns_are_found_by_name(frame, names):
    """In any order, among others; results are latitude and longitude."""
    X = scene()
    lat, lon = names
    table = frame({"town": ["a"] * 120, lon: X[:, 1], "people": [5] * 120, lat: X[:, 0]})
    model = fit(haversine(MeanShift, 400.0), table)
    plain = fit(haversine(MeanShift, 400.0), X)
    assert_array_equal(model.labels_, plain.labels_)
    assert_array_equal(model.cluster_centers_, plain.cluster_centers_)
    assert model.feature_names_in_.tolist() == [lat, lon]
    assert model.n_features_in_ == 2
    assert_array_equal(model.predict(table), plain.labels_)
    assert_array_equal(model.predict(table[[lat, lon]]), plain.labels_)
    assert_allclose(model.score_samples(table), plain.score_samples(X))
    assert bandwidth_profile(table, model).bandwidth == bandwidth_profile(X, model).bandwidth
    stream = MeanShift(bandwidth=400.0, metric="haversine", resolution=6).partial_fit(table)
    assert_array_equal(stream.predict(table), stream.labels_)


def test_columns_of_a_consensus_and_of_dask_are_found_too():
    dd = pytest.importorskip("dask.dataframe")
    X = scene()
    table = pd.DataFrame({"lon": X[:, 1], "lat": X[:, 0], "z": 0.0})
    votes = Consensus(StochasticMeanShift(bandwidth=400.0, metric="haversine"), n_runs=2,
                      random_state=0).fit(table)  # fmt: skip
    assert len(votes.cluster_centers_) == 3
    assert_array_equal(votes.predict(table), votes.labels_)
    assert votes.membership(table).shape == (120, 3)
    chunked = MeanShift(bandwidth=400.0, metric="haversine", resolution=6)
    chunked.fit(dd.from_pandas(table, npartitions=3))
    assert_array_equal(chunked.labels_.compute(), chunked.predict(table))


def test_other_names_stand_in_the_order_of_latitude_and_longitude():
    X = scene()
    model = fit(haversine(MeanShift, 400.0), pd.DataFrame(X, columns=["y", "x"]))
    assert_array_equal(model.labels_, fit(haversine(MeanShift, 400.0), X).labels_)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (["lat", "x"], r"X is not usable .* no column of longitude; name one column lon or lng or"),
        (["lon", "lat", "latitude"], r"2 columns \(lat, latitude\) of latitude"),
        (["a", "b", "c"], "X must have two columns with metric='haversine', .* got 3"),
    ],
)
def test_columns_that_cannot_be_told(columns, words):
    table = pd.DataFrame(np.ones((4, len(columns))), columns=columns)
    with pytest.raises(ValueError, match=words):
        haversine(MeanShift, 1.0).fit(table)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([[95.0, 3.0]], r"X has the latitude 95 in row 0, and latitudes are between -90 and 90 .*"),
        ([[1.0, 2.0], [-120.0, 40.0]], r"-120 in row 1.*; they seem to be swapped\."),
        ([[1.0, 2.0], [np.nan, 40.0]], "contains NaN"),
        (np.ones((3, 1)), "two columns with metric='haversine', latitude and longitude, got 1"),
    ],
)
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_places_that_are_none(estimator_class, X, words):
    with pytest.raises(ValueError, match=words):
        haversine(estimator_class, 1.0).fit(X)


def test_a_new_place_that_is_none():
    model = fit(haversine(MeanShift, 400.0), scene())
    with pytest.raises(ValueError, match="X has the latitude 91 in row 0"):
        model.predict([[91.0, 0.0]])
    with pytest.raises(ValueError, match="3 features, but MeanShift is expecting 2"):
        model.predict([[1.0, 0.0, 5.0]])


def test_the_pole_in_radians_is_no_rounding_error():
    for dtype in (np.float32, np.float64):
        X = np.array([[np.pi / 2, 0.0], [-np.pi / 2, 1.0]], dtype=dtype)
        model = haversine(MeanShift, 10.0, feature_scale=np.deg2rad([1, 1]))
        assert_allclose(np.abs(fit(model, X).cluster_centers_[:, 0]), np.pi / 2, rtol=1e-6)


def test_a_gpu_does_not_know_the_globe():
    values = MeanShift(metric="haversine").get_params()
    assert refusal_by("cuda", values)[0] == "metric='haversine'"
