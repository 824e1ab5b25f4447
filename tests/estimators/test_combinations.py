"""Every two options either work together or are refused at once, by name."""

import pickle
import re
import warnings
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift

# Three clumps in three directions: good for distances and for angles.
RNG = np.random.default_rng(3)
ANGLES = 2 * np.pi / 3 * np.arange(36)
X = 2.0 * np.column_stack([np.cos(ANGLES), np.sin(ANGLES)]) + 0.03 * RNG.normal(size=(36, 2))
WEIGHTS = RNG.integers(0, 3, 36).astype(float)

COMMON = {
    "gaussian": {"kernel": "gaussian"},
    "cosine": {"metric": "cosine"},
    "nearest": {"n_neighbors": 7},
    "infinite": {"bandwidth": np.inf, "n_neighbors": 7},
    "estimated": {"bandwidth": None},
    "resolution": {"resolution": 3.0},
    "brute": {"algorithm": "brute"},
    "tree": {"algorithm": "tree"},
    "anchors": {"algorithm": "anchors"},
    "threads": {"n_jobs": 2},
    "record": {"record": True},
    "noise": {"min_cluster_size": 3},
}
OPTIONS = {
    MeanShift: {
        **COMMON,
        "bins": {"seeding": "bins"},
        "seeds": {"seeding": X[::4]},
        "climbers": {"seeding": 9, "random_state": 0},
    },
    StochasticMeanShift: {
        **COMMON,
        "pair": {"bandwidth": (0.06, 0.1)},
        "batches": {"batch_size": 5},
        "patience": {"patience": 0.5},
    },
    BlurringMeanShift: {
        **COMMON,
        "entropy": {"stop": "entropy"},
        "learned": {"feature_weights": 2.0},
    },
}
PAIRS = [
    (estimator_class, first, second)
    for estimator_class, options in OPTIONS.items()
    for first, second in combinations(options, 2)
    if not any(
        options[first][name] is not options[second][name]
        for name in options[first].keys() & options[second].keys()
    )
]
# Every pair with weights or without them, in turn; the other way round it is slow.
CASES = [
    pytest.param(
        *(kind, *options, weights),
        marks=[pytest.mark.slow] if number % 2 == is_weighted else [],
        id="-".join([kind.__name__, *options, "weighted" if is_weighted else "plain"]),
    )
    for number, (kind, *options) in enumerate(PAIRS)
    for is_weighted, weights in enumerate((None, WEIGHTS))
]
# By the contract these go together, and the others may be refused.
MUST_WORK = [
    {"gaussian", "cosine"},
    {"cosine", "nearest"},
    {"cosine", "pair"},
    {"nearest", "pair"},
    {"gaussian", "pair"},
    {"entropy", "record"},
    {"gaussian", "entropy"},
    {"gaussian", "learned"},
    {"cosine", "climbers"},
    {"gaussian", "batches"},
    {"cosine", "batches"},
    {"nearest", "batches"},
    {"pair", "batches"},
]
PLAIN = {"threads", "record", "noise", "patience", "estimated", "brute", "tree", "anchors"}
MUST_FAIL = [
    {"cosine", "learned"},
    {"infinite", "resolution"},
    {"infinite", "bins"},
    {"infinite", "gaussian"},
]


def make(estimator_class, first, second):
    """An estimator with both options, and the names of the parameters that they set."""
    options = OPTIONS[estimator_class]
    parameters = {"bandwidth": 0.1, "max_iter": 60, **options[first], **options[second]}
    if estimator_class is StochasticMeanShift:
        parameters["random_state"] = 0
    return estimator_class(**parameters), (set(options[first]), set(options[second]))


def check_fit(estimator, weights):
    """Labels, modes, centres and predictions that make sense; a fit again gives the same."""
    n_clusters = estimator.labels_.max() + 1
    assert estimator.labels_.shape == (36,)
    assert set(range(n_clusters)) <= set(estimator.labels_) <= set(range(-1, n_clusters))
    assert estimator.modes_.shape == X.shape
    assert estimator.cluster_centers_.shape == (n_clusters, 2)
    for values in (estimator.modes_, estimator.cluster_centers_):
        assert np.all(np.isfinite(values))
        if estimator.metric == "cosine":
            assert_allclose(np.linalg.norm(values, axis=1), 1.0)
    assert hasattr(estimator, "paths_") == estimator.record
    sizes = np.bincount(estimator.labels_[estimator.labels_ >= 0], minlength=n_clusters)
    if weights is None:
        assert np.all(np.diff(sizes) <= 0)
        # No cluster has points of two clumps, and no clump falls to pieces.
        assert 3 <= n_clusters <= 12
        clumps = [set(estimator.labels_[clump::3]) - {-1} for clump in range(3)]
        assert sum(len(labels) for labels in clumps) == n_clusters
    predicted = estimator.predict(X + 0.01)
    assert set(predicted) <= set(estimator.labels_)
    again = clone(estimator)
    fit_quietly(again, weights)
    assert_array_equal(again.modes_, estimator.modes_)
    assert_array_equal(pickle.loads(pickle.dumps(estimator)).predict(X + 0.01), predicted)


def fit_quietly(estimator, weights):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        estimator.fit(X, sample_weight=weights)


def assert_refusal(error, option_names):
    """The message names a parameter of each of the two options, and what to do."""
    message = str(error)
    for names in option_names:
        assert any(re.search(rf"(?<!\w){name}(?!\w)", message) for name in names), message


@pytest.mark.parametrize(("estimator_class", "first", "second", "weights"), CASES)
def test_two_options(estimator_class, first, second, weights):
    estimator, option_names = make(estimator_class, first, second)
    together = {first, second}
    try:
        fit_quietly(estimator, weights)
    except ValueError as error:
        assert_refusal(error, option_names)
        assert [name for name in vars(estimator) if name.endswith("_")] == []
        assert together not in MUST_WORK
        assert not together & PLAIN, "this option has nothing to refuse"
    else:
        assert together not in MUST_FAIL
        check_fit(estimator, weights)


@pytest.mark.product
@pytest.mark.parametrize(
    ("first", "second"),
    list(combinations(["gaussian", "cosine", "nearest", "infinite"], 2)),
)
@pytest.mark.parametrize("third", ["brute", "tree", "anchors"])
@pytest.mark.parametrize("estimator_class", OPTIONS)
def test_fields_agree_on_every_rule(estimator_class, first, second, third):
    """A field that cannot answer a rule says so; the others give the labels of "auto"."""
    if {first, second} in MUST_FAIL or {first, second} == {"nearest", "infinite"}:
        return
    estimator, _ = make(estimator_class, first, second)
    fit_quietly(estimator, None)
    forced = clone(estimator).set_params(algorithm=third)
    try:
        fit_quietly(forced, None)
    except ValueError as error:
        assert_refusal(error, [{"algorithm"}, set(OPTIONS[estimator_class][first])])
        assert third != "brute"
    else:
        assert_array_equal(forced.labels_, estimator.labels_)
        assert_allclose(forced.modes_, estimator.modes_, atol=1e-7)


# The checks set n_clusters, which a given bandwidth may miss.
# By brute force: the checks bring data of many dimensions, for each of which a tree is compiled.
@parametrize_with_checks(
    [
        MeanShift(kernel="gaussian", algorithm="brute"),
        MeanShift(seeding=10, random_state=0, algorithm="brute"),
        # With few neighbours the end of a point of weight 0 can lie where it joins two clusters, so
        # that leaving the point out, which scikit-learn compares with, is not the same.
        MeanShift(bandwidth=np.inf, n_neighbors=15, algorithm="brute"),
        StochasticMeanShift(batch_size=8, algorithm="brute"),
        BlurringMeanShift(kernel="gaussian", stop="entropy", algorithm="brute"),
        BlurringMeanShift(feature_weights="learned", algorithm="brute"),
    ]
)
@pytest.mark.filterwarnings("ignore:bandwidth=")
def test_scikit_learn_checks(estimator, check):
    check(estimator)
