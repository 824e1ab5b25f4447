"""An estimator beside its twin: the parameters translated, both run, and all results compared."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from helpers import fit
from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift
from twins import naive
from twins.rules import PLAIN, on_sphere, radius

ESTIMATORS = (MeanShift, StochasticMeanShift, BlurringMeanShift)
TWINS = {
    MeanShift: naive.mean_shift,
    StochasticMeanShift: naive.stochastic_mean_shift,
    BlurringMeanShift: naive.blurring_mean_shift,
}


def make(estimator_class, h, seed=0, **parameters):
    """An estimator whose run is recorded, and fixed by a seed."""
    parameters = {"tol": 1e-3, "merge_radius": 0.25, "max_iter": 100, "record": True, **parameters}
    if estimator_class is StochasticMeanShift or isinstance(parameters.get("seeding"), int):
        parameters["random_state"] = seed
    return estimator_class(bandwidth=h, **parameters)


def rule_of(estimator):
    """The rule of the neighbourhood that the parameters ask for."""
    return PLAIN._replace(
        kernel=estimator.kernel,
        n_neighbors=estimator.n_neighbors,
        sphere=estimator.metric == "cosine",
    )


def run_twin(estimator, X, weights=None):
    """Run the twin with the parameters of a fitted estimator."""
    names = {"tol", "max_iter", "patience", "random_state", "batch_size", "stop"}
    parameters = {k: v for k, v in estimator.get_params().items() if k in names}
    if parameters.get("batch_size", 1) is None:
        parameters["batch_size"] = 1
    if getattr(estimator, "feature_weights", None) is not None:
        learned = estimator.feature_weights == "learned"
        parameters["temperature"] = 1.0 if learned else estimator.feature_weights
    if isinstance(estimator, MeanShift):
        parameters["n_climbers"] = estimator.seeding
        if estimator.seeding is None:
            del parameters["random_state"], parameters["n_climbers"]
    h = estimator.bandwidth_ if estimator.bandwidth is None else estimator.bandwidth
    twin = TWINS[type(estimator)]
    return twin(
        X, h=h, weights=weights, rule=rule_of(estimator), scale=estimator.scale_, **parameters
    )


def check_scale(estimator):
    """scale_ is the length of the bandwidth; where that is infinite, some finite length."""
    assert type(estimator.scale_) is float
    if np.isinf(estimator.bandwidth_):
        assert 0 <= estimator.scale_ < np.inf
    else:
        expected = radius(estimator.bandwidth_, rule_of(estimator))
        assert_allclose(estimator.scale_, expected, rtol=1e-12)


def fit_and_compare(estimator, X, weights=None, *, atol=None):
    """Fit, and check every fitted attribute against the twin. Returns the twin's result.

    `atol` is how far positions may be apart, by default 1e-9 of the extent of the data, and what
    their type rounds off.
    """
    fit(estimator, X, weights)
    check_scale(estimator)
    twin = run_twin(estimator, np.asarray(X, dtype=float), weights)
    start = np.array([path[0] for path in twin.paths])
    extent = max(np.ptp(start, axis=0).max(), estimator.scale_)
    if atol is None:
        atol = 1e-9 * extent + 2 * np.finfo(estimator.modes_.dtype).eps * abs(start).max()
    counts = (estimator.n_iter_, estimator.n_steps_, estimator.converged_)
    assert counts == (twin.n_iter, twin.n_steps, twin.converged)
    assert [type(count) for count in counts] == [int, int, bool]
    assert_allclose(estimator.modes_, twin.modes, rtol=0, atol=atol)
    reach = estimator.merge_radius * estimator.scale_
    components = naive.merge(twin.modes, reach, twin.rule)
    labels = naive.label(components, weights, estimator.min_cluster_size or 1)
    assert_array_equal(estimator.labels_, labels)
    centers = naive.centers(twin.modes, labels, weights, twin.rule)
    assert_allclose(estimator.cluster_centers_, centers, rtol=0, atol=atol)
    if estimator.record:
        check_paths(estimator.paths_, twin.paths, atol)
    return twin


def check_paths(paths, expected, atol):
    """As many paths, of the same lengths, through the same positions, whatever their order."""
    paths, expected = _by_start(paths), _by_start(expected)
    assert [len(path) for path in paths] == [len(path) for path in expected]
    assert_allclose(np.concatenate(paths), np.concatenate(expected), rtol=0, atol=atol)


def _by_start(paths):
    """The paths in the order of their first positions; coincident ones in the order given."""
    return sorted(paths, key=lambda path: np.round(path[0], 5).tolist())


def check_predictions(estimator, twin, X, X_new, weights=None):
    """Fitted points have their labels, and new ones those of the twin, where that is clear."""
    expected, clear = naive.predict(X, weights, estimator.labels_, X_new, twin.rule)
    actual = estimator.predict(X_new)
    assert actual.shape == (len(X_new),)
    assert np.mean(clear) > 0.5
    assert_array_equal(actual[clear], expected[clear])
    assert_keeps_labels(estimator, X)


def assert_keeps_labels(estimator, X):
    """Fitted points are predicted as they were labelled.

    Points that coincide can have different labels; then one of these is right. Random steps move
    them apart. Learned feature weights become 0 after the features have set points apart.
    """
    places = np.unique(_as_measured(estimator, X), axis=0, return_inverse=True)[1].ravel()
    fitted = set(zip(places.tolist(), np.asarray(estimator.labels_).tolist(), strict=True))
    found = set(zip(places.tolist(), np.asarray(estimator.predict(X)).tolist(), strict=True))
    assert found <= fitted


def _as_measured(estimator, X):
    """Points that are equal, up to rounding, where the metric of the estimator sees no distance."""
    X = np.asarray(X)
    if estimator.metric == "cosine":
        return on_sphere(X.astype(float)).round(12)
    weights = getattr(estimator, "feature_weights_", None)
    return X if weights is None else X[:, weights > 0]


def new_points(X, h, seed=0):
    """Places around the points, and some anywhere."""
    rng = np.random.default_rng(seed)
    near = X + rng.normal(size=X.shape) * h / np.sqrt(X.shape[1])
    anywhere = rng.uniform(X.min(axis=0) - 3 * h, X.max(axis=0) + 3 * h, (8, X.shape[1]))
    return np.concatenate([near[:12], anywhere])


def make_directions(n, d, seed=0):
    """Rows in three directions, of all lengths, and a cosine bandwidth that no pair meets."""
    rng = np.random.default_rng([seed, n, d])
    axes = rng.normal(size=(3, d))
    X = axes[rng.integers(3, size=n)] + 0.3 * rng.normal(size=(n, d))
    X *= rng.uniform(0.1, 10.0, (n, 1))
    U = on_sphere(X)
    distances = np.unique(np.append(np.round(1 - U @ U.T, 12), [0.0, 0.5]))
    at = len(distances) // 4
    return X, float(distances[at : at + 2].mean())
