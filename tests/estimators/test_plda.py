"""Estimators with PLDA scores against mean-shift by direct Gaussian ratios."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

import modeshift
from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift
from modeshift.engines.cpu.fields import make_field
from modeshift.engines.rule import Flat, nearest, space_of
from modeshift.plda import PLDAMetric
from modeshift.speech import TwoCovariancePLDA
from modeshift.speech.plda import diagonalised
from twins import plda as twin

D = 4
SWEEPS = 3


def model_and_metric(unit, seed=0):
    """A model, written out and as the metric of the estimators, with a projection before it."""
    rng = np.random.RandomState(seed)
    first, second = rng.standard_normal((2, D, D))
    between, within = first @ first.T + 0.2 * np.eye(D), 0.1 * second @ second.T + 0.05 * np.eye(D)
    mean = 0.1 * rng.standard_normal(D)
    projection = rng.standard_normal((D, D)) + 2.0 * np.eye(D)
    if unit:
        between, within = 0.25 * between, 0.25 * within
    psi, basis = diagonalised(between, within)
    metric = PLDAMetric.of(rng.standard_normal(D), projection, unit, mean, basis, psi)
    return twin.Model(mean, between, within, unit), metric


def rows(n=24, n_speakers=4, seed=1):
    rng = np.random.RandomState(seed)
    return (rng.standard_normal((n_speakers, D)) * 2.0)[rng.randint(n_speakers, size=n)] + (
        0.4 * rng.standard_normal((n, D))
    )


def ends_of(kind, X, metric, least, k, kernel):
    settings = {
        "bandwidth": np.inf if least is None else metric.bandwidth_at(least),
        "n_neighbors": k, "metric": metric, "kernel": kernel, "tol": 0.0, "max_iter": SWEEPS,
    }  # fmt: skip
    if kind is StochasticMeanShift:
        settings |= {"batch_size": 1, "random_state": 5}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return kind(**settings).fit(X)


@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize(
    ("least", "k", "kernel"),
    [(-1.0, None, "flat"), (None, 5, "flat"), (-3.0, 6, "flat"), (-2.0, None, "gaussian")],
)
def test_modes_are_those_of_direct_ratios(unit, least, k, kernel):
    model, metric = model_and_metric(unit)
    X = rows()
    vectors, weights = metric.vectors(X), np.ones(len(X))
    h = np.inf if least is None else metric.bandwidth_at(least)

    def by_score(scores):
        return np.ones(len(scores)) if kernel == "flat" else np.exp(scores / h**2)

    # The Gaussian kernel ends at 6 bandwidths.
    bound = metric.score_at(6.0 * h) if kernel == "gaussian" else metric.score_at(h)

    def near(x, others):
        return model.mean_near(x, others, weights, bound, k, by_score)

    rng = np.random.RandomState(5)
    for kind, expected in (
        (MeanShift, twin.climb(near, vectors, SWEEPS)),
        (BlurringMeanShift, twin.blur(near, vectors, SWEEPS)),
        (StochasticMeanShift, twin.wander(near, vectors, rng, SWEEPS)),
    ):
        fitted = ends_of(kind, X, metric, least, k, kernel)
        assert_allclose(metric.vectors(fitted.modes_), expected, atol=1e-8, err_msg=kind.__name__)


def test_the_nearest_are_those_of_the_highest_score():
    model, metric = model_and_metric(False)
    X = rows(n=40)
    vectors, u = metric.vectors(X), metric.coordinates(X)
    weights, space = np.ones(len(X)), space_of(metric)
    for k in (1, 3, 40):
        field = make_field(u, weights, np.inf, rule=nearest(Flat(space), float(k), weights))
        for x, place in zip(vectors[:10], u[:10], strict=True):
            best = np.argsort(-model.ratios(x, vectors), kind="stable")[:k]
            mean, mass = field.mean_near(place, np.inf)
            assert mass == k
            assert_allclose(mean, u[best].mean(axis=0), atol=1e-10)


def test_a_moved_point_has_the_score_of_its_place():
    _, metric = model_and_metric(False)
    u = metric.coordinates(rows())
    weights = np.ones(len(u))
    field = make_field(u, weights, np.inf, rule=nearest(Flat(space_of(metric)), 3.0, weights))
    field.move(0, 2.0 * u[5])
    moved = u.copy()
    moved[0] = 2.0 * u[5]
    again = make_field(moved, weights, np.inf, rule=field.rule)
    for place in u:
        assert_allclose(field.mean_near(place, np.inf)[0], again.mean_near(place, np.inf)[0])


@pytest.mark.parametrize("kind", [MeanShift, StochasticMeanShift, BlurringMeanShift])
def test_speakers_are_found_and_predicted_and_saved(kind, tmp_path):
    rng = np.random.RandomState(0)
    speakers = rng.standard_normal((60, 6))
    others = np.arange(8, 60).repeat(6)
    trained = TwoCovariancePLDA().fit(
        speakers[others] + 0.2 * rng.standard_normal((len(others), 6)), others
    )
    y = np.arange(8).repeat(10)
    X = speakers[y] + 0.2 * rng.standard_normal((len(y), 6))
    metric = trained.metric_
    seed = {} if kind is BlurringMeanShift else {"random_state": 0}
    estimator = kind(bandwidth=metric.bandwidth_at(0.0), n_neighbors=8, metric=metric, **seed)
    fitted = clone(estimator).fit(X)
    assert fitted.labels_.max() == 7
    assert len({(a, b) for a, b in zip(y, fitted.labels_, strict=True)}) == 8
    np.testing.assert_array_equal(fitted.predict(X), fitted.labels_)
    new = speakers[y] + 0.2 * rng.standard_normal(X.shape)
    assert (fitted.predict(new) == fitted.labels_).mean() > 0.95
    assert fitted.cluster_centers_.shape == (8, 6)
    modeshift.save(fitted, tmp_path / "model.npz")
    again = modeshift.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.predict(new), fitted.predict(new))
    assert again.metric == metric
    assert np.isfinite(fitted.score_samples(X)).all()


def test_the_bandwidth_is_chosen():
    rng = np.random.RandomState(0)
    y = np.arange(50).repeat(8)
    X = rng.standard_normal((50, 12))[y] + 0.2 * rng.standard_normal((400, 12))
    metric = TwoCovariancePLDA().fit(X, y).metric_
    found = StochasticMeanShift(metric=metric, random_state=0).fit(X[:80]).labels_
    assert adjusted_rand_score(y[:80], found) > 0.8


def test_options_that_do_not_go_together():
    _, metric = model_and_metric(False)
    X = rows()
    for options in ({"resolution": 2.0}, {"algorithm": "tree"}, {"feature_scale": np.ones(D)}):
        with pytest.raises(ValueError, match="PLDA"):
            MeanShift(bandwidth=1.0, metric=metric, **options).fit(X)
    with pytest.raises(ValueError, match=r"metric must be one of .* got TwoCovariancePLDA"):
        MeanShift(bandwidth=1.0, metric=TwoCovariancePLDA()).fit(X)
    with pytest.raises(ValueError, match=r"trained PLDA .* got 'plda'"):
        MeanShift(bandwidth=1.0, metric="plda").fit(X)
    with pytest.raises(ValueError, match="X has 3 features, but the PLDA was trained on 4"):
        MeanShift(bandwidth=1.0, metric=metric).fit(X[:, :3])
