"""The estimators in scikit-learn's world: its checks, pipelines, searches, frames, pickles."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn import config_context
from sklearn.base import clone, is_clusterer
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from helpers import fit, make_data
from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift, metrics

PARAMETERS = {"bandwidth": 1.0, "tol": 1e-3, "merge_radius": 0.2, "max_iter": 200}
ESTIMATORS = [
    MeanShift(**PARAMETERS),
    MeanShift(**PARAMETERS, seeding="bins"),
    StochasticMeanShift(**PARAMETERS, random_state=0),
    BlurringMeanShift(**PARAMETERS),
]


@pytest.fixture(params=ESTIMATORS, ids=["MeanShift", "bins", "Stochastic", "Blurring"])
def estimator(request):
    return clone(request.param)


@parametrize_with_checks(
    [MeanShift(), MeanShift(seeding="bins"), StochasticMeanShift(), BlurringMeanShift()]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_is_a_clusterer(estimator):
    assert is_clusterer(estimator)
    X, _ = make_data("clustered", 30, 2)
    assert_array_equal(estimator.fit_predict(X), fit(estimator, X).labels_)


def test_clone_has_the_parameters_and_not_the_fit(estimator):
    X, _ = make_data("clustered", 30, 2)
    copy = clone(fit(estimator, X))
    assert copy.get_params() == estimator.get_params()
    assert not hasattr(copy, "labels_")
    assert_array_equal(fit(copy, X).modes_, estimator.modes_)


def test_clone_keeps_an_array_of_seeds():
    X, _ = make_data("clustered", 30, 2)
    seeded = MeanShift(**PARAMETERS, seeding=X[:5])
    assert_array_equal(clone(seeded).seeding, X[:5])


@pytest.mark.parametrize("weighted", [False, True])
def test_pickle_round_trip(estimator, weighted):
    X, _ = make_data("clustered", 30, 2)
    fit(estimator, X, np.arange(30.0) if weighted else None)
    copy = pickle.loads(pickle.dumps(estimator))
    X_new = make_data("uniform", 40, 2)[0] * 2
    assert_array_equal(copy.predict(X_new), estimator.predict(X_new))
    assert_array_equal(copy.modes_, estimator.modes_)
    assert_array_equal(copy.labels_, estimator.labels_)


@pytest.mark.parametrize("frames", [False, True])
def test_pipeline(estimator, frames):
    X, _ = make_data("clustered", 40, 2)
    pipeline = make_pipeline(StandardScaler(), estimator)
    name = pipeline.steps[-1][0]
    pipeline.set_params(**{f"{name}__bandwidth": 0.5})
    data = X
    if frames:
        pipeline.set_output(transform="pandas")
        data = pd.DataFrame(X, columns=["height", "width"])
    weights = np.arange(40.0)
    labels = pipeline.fit_predict(data, **{f"{name}__sample_weight": weights})
    alone = clone(estimator).set_params(bandwidth=0.5)
    scaled = StandardScaler().fit_transform(X)
    assert_array_equal(labels, fit(alone, scaled, weights).labels_)
    assert not np.array_equal(labels, fit(clone(alone), scaled).labels_)  # the weights arrived
    assert_array_equal(pipeline.predict(data), alone.predict(scaled))
    if frames:
        assert list(pipeline[-1].feature_names_in_) == ["height", "width"]
    else:
        assert not hasattr(pipeline[-1], "feature_names_in_")


def test_grid_search_over_the_bandwidth(estimator):
    """Three classes far apart: 1.5 finds them, 0.05 leaves single points, 50 takes all for one."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 30)
    X = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])[y] + 0.4 * rng.normal(size=(90, 2))
    order = rng.permutation(90)
    search = GridSearchCV(
        estimator,
        {"bandwidth": [0.05, 1.5, 50.0]},
        scoring=make_scorer(metrics.k_score),
        cv=3,
        error_score="raise",
    ).fit(X[order], y[order])
    assert search.best_params_ == {"bandwidth": 1.5}
    assert search.best_score_ == 1.0
    assert (search.cv_results_["mean_test_score"] < 1.0).sum() == 2
    assert_array_equal(search.predict(X), search.best_estimator_.predict(X))


@pytest.mark.parametrize("make_frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames(estimator, make_frame):
    X, _ = make_data("clustered", 30, 2)
    frame = make_frame({"height": X[:, 0], "width": X[:, 1]})
    fit(estimator, frame)
    assert list(estimator.feature_names_in_) == ["height", "width"]
    assert estimator.n_features_in_ == 2
    plain = fit(clone(estimator), X)
    assert_array_equal(estimator.modes_, plain.modes_)
    assert_array_equal(estimator.predict(frame), plain.predict(X))
    with pytest.raises(ValueError, match="X must have the columns of the fit"):
        estimator.predict(make_frame({"width": X[:, 1], "height": X[:, 0]}))
    with pytest.raises(ValueError, match="3 features"):
        plain.predict(np.zeros((2, 3)))


def test_frames_of_float32_stay_float32(estimator):
    X = make_data("clustered", 30, 2)[0].astype(np.float32)
    frame = pd.DataFrame(X, columns=["a", "b"])
    assert fit(estimator, frame).modes_.dtype == np.float32


@pytest.mark.parametrize("make_series", [pd.Series, pl.Series, list])
def test_weights_of_any_kind(estimator, make_series):
    X, _ = make_data("clustered", 30, 2)
    weights = np.arange(30.0)
    expected = fit(clone(estimator), X, weights).modes_
    assert_array_equal(fit(estimator, X, make_series(weights)).modes_, expected)


def test_metadata_routing_brings_the_weights(estimator):
    X, _ = make_data("clustered", 40, 2)
    weights = np.append(np.zeros(20), np.ones(20))
    with config_context(enable_metadata_routing=True):
        asking = clone(estimator).set_fit_request(sample_weight=True)
        refusing = clone(estimator).set_fit_request(sample_weight=False)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        asked = make_pipeline(scaler, asking).fit(X, sample_weight=weights)
        refused = make_pipeline(scaler, refusing).fit(X)
    scaled = StandardScaler().fit_transform(X)
    assert_array_equal(asked[-1].modes_, fit(clone(estimator), scaled, weights).modes_)
    assert_array_equal(refused[-1].modes_, fit(clone(estimator), scaled).modes_)
    assert not np.array_equal(asked[-1].modes_, refused[-1].modes_)
