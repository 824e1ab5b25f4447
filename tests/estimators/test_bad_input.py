"""Bad input: the error names parameter and value, and nothing half-fitted is left."""

import re
import traceback
import warnings
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift

ESTIMATORS = [MeanShift, StochasticMeanShift, BlurringMeanShift]
WITH_ONE_BANDWIDTH = [MeanShift, BlurringMeanShift]
X = np.random.default_rng(0).normal(size=(12, 2))


@pytest.fixture(params=ESTIMATORS, ids=lambda estimator: estimator.__name__)
def estimator_class(request):
    return request.param


def fitted_names(estimator):
    return [name for name in vars(estimator) if name.endswith("_")]


def assert_names(message, name):
    """The message has the name as a word of its own."""
    assert re.search(rf"(?<!\w){name}(?!\w)", message), message


def assert_unfitted(estimator):
    assert fitted_names(estimator) == []
    with pytest.raises(NotFittedError):
        check_is_fitted(estimator)


def fit_fails(estimator, error, data=X, **fit_options):
    """Fit a fresh and a fitted estimator: both fail and end unfitted. Return the message."""
    parameters = estimator.get_params(deep=False)
    messages = []
    for fitted_before in (False, True):
        if fitted_before:
            estimator.set_params(**type(estimator)(bandwidth=1.0).get_params(deep=False)).fit(X)
            assert fitted_names(estimator)
            estimator.set_params(**parameters)
        with pytest.raises(error) as caught:
            estimator.fit(data, **fit_options)
        assert_unfitted(estimator)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    return messages[0]


def with_entry(array, position, value):
    array = np.array(array, copy=True)
    array[position] = value
    return array


# The data

BAD_DATA = {
    "NaN": (
        with_entry(X, (3, 1), np.nan),
        ValueError,
        r"^Input X contains NaN\. Drop these rows, or fill the values in "
        r"\(sklearn\.impute\.SimpleImputer\); see docs/missing-values\.md\.$",
    ),
    "inf": (
        with_entry(X, (3, 1), np.inf),
        ValueError,
        "^Input X contains infinity, or a value too large for float64. Drop these rows, or replace",
    ),
    "float32 inf": (
        with_entry(X, (3, 1), np.inf).astype(np.float32),
        ValueError,
        "^Input X contains infinity, or a value too large for float32",
    ),
    "minus inf": (with_entry(X, (3, 1), -np.inf), ValueError, "infinity"),
    "None inside": (with_entry(X.astype(object), (3, 1), None), ValueError, "NaN"),
    "pandas NA": (
        pd.DataFrame(X).astype("Float64").mask(X > 1),
        ValueError,
        "Input X contains NaN. Drop these rows, or fill the values in",
    ),
    "no points": (np.empty((0, 2)), ValueError, r"0 sample"),
    "no features": (np.empty((3, 0)), ValueError, r"0 feature"),
    "empty list": ([], ValueError, r"two dimensions .*, got shape \(0,\)\.$"),
    "one-dimensional": (X[:, 0], ValueError, r"got shape \(12,\)\. Reshape your data"),
    "series": (pd.Series(X[:, 0]), ValueError, r"got shape \(12,\)\. Reshape your data"),
    "zero-dimensional": (3.0, ValueError, r"two dimensions .*, got 3\.0\.$"),
    "three-dimensional": (X[np.newaxis], ValueError, "dim 3|3D|three-dimensional"),
    "None": (None, ValueError, "two dimensions .*, got None"),
    "complex": (X + 1j, ValueError, "[Cc]omplex"),
    "complex list": ([[1j, 2.0]], ValueError, "[Cc]omplex"),
    "sparse matrix": (
        scipy.sparse.csr_matrix(X),
        TypeError,
        r"^X is sparse.*TruncatedSVD.*toarray",
    ),
    "sparse array": (scipy.sparse.csr_array(X), TypeError, r"^X is sparse.*TruncatedSVD.*toarray"),
    "lazy frame": (
        pl.DataFrame(X).lazy(),
        TypeError,
        r"^X is a polars LazyFrame, which holds no data; pass X\.collect\(\)\.$",
    ),
    "polars dates": (
        pl.DataFrame({"a": [1.0], "when": [date(2020, 1, 1)]}),
        TypeError,
        "X has columns of dates or times",
    ),
    "objects": (np.full((3, 2), object(), dtype=object), TypeError, "object"),
    "words": (np.array([["red", 1.0], ["blue", 2.0]], dtype=object), ValueError, "'red'"),
    "list of words": ([["red", "blue"]], ValueError, "'red'"),
    "strings": (np.array([["red", "blue"]]), ValueError, "strings"),
    "numeric strings": (X.astype(str), ValueError, "strings"),
    "bytes": (X.astype("S"), ValueError, "strings"),
    "ragged": ([[1.0, 2.0], [3.0]], ValueError, "X must have rows of the same length"),
    "dates": (
        np.full((3, 2), np.datetime64("2020-01-01")),
        (TypeError, ValueError),
        "[Nn]umeric|date|number",
    ),
    "dates and numbers": (
        pd.DataFrame({0: pd.to_datetime(["2020-01-01"]), 1: [1.0]}),
        TypeError,
        "X has columns of dates or times",
    ),
    "names of several types": (
        pd.DataFrame(X, columns=["a", 1]),
        TypeError,
        "make all of them strings",
    ),
}


@pytest.mark.parametrize("name", BAD_DATA)
def test_bad_data_in_fit(estimator_class, name):
    data, error, pattern = BAD_DATA[name]
    message = fit_fails(estimator_class(bandwidth=1.0), error, data)
    assert re.search(pattern, message), message
    assert_names(message, "X")
    assert "\n" not in message
    assert len(message) < 200


@pytest.mark.parametrize("name", BAD_DATA)
def test_bad_data_in_predict_leaves_the_fit_alone(estimator_class, name):
    data, error, pattern = BAD_DATA[name]
    estimator = estimator_class(bandwidth=1.0).fit(X)
    before = estimator.predict(X)
    with pytest.raises(error, match=pattern) as caught:
        estimator.predict(data)
    assert_names(str(caught.value), "X")
    np.testing.assert_array_equal(estimator.predict(X), before)


@pytest.mark.parametrize("n_features", [1, 3])
def test_wrong_number_of_features_in_predict(estimator_class, n_features):
    estimator = estimator_class(bandwidth=1.0).fit(X)
    with pytest.raises(ValueError, match=f"X has {n_features} features, but .* expecting 2"):
        estimator.predict(np.ones((4, n_features)))


NAMED = pd.DataFrame(X, columns=["a", "b"])


@pytest.mark.parametrize(
    ("data", "rest"),
    [
        (NAMED[["b", "a"]], ""),
        (NAMED.rename(columns={"b": "c"}), " Unknown: c. Missing: b."),
        (NAMED[["a"]], " Missing: b."),
        (NAMED.assign(c=1.0, d=2.0), " Unknown: c, d."),
    ],
)
def test_other_columns_in_predict(data, rest):
    estimator = MeanShift(bandwidth=1.0).fit(NAMED)
    with pytest.raises(ValueError, match="columns") as caught:
        estimator.predict(data)
    assert str(caught.value) == f"X must have the columns of the fit, in the same order.{rest}"


def test_advice_of_scikit_learn_is_not_in_the_traceback(estimator_class):
    """It recommends other estimators, and those are for supervised learning."""
    with pytest.raises(ValueError, match="NaN") as caught:
        estimator_class(bandwidth=1.0).fit(BAD_DATA["NaN"][0])
    assert "GradientBoosting" not in "".join(traceback.format_exception(caught.value))


def test_predict_of_an_unfitted_estimator(estimator_class):
    with pytest.raises(NotFittedError, match=rf"{estimator_class.__name__} .*not fitted.*fit"):
        estimator_class().predict(X)


def test_predict_after_a_failed_fit(estimator_class):
    estimator = estimator_class(bandwidth=1.0).fit(X)
    with pytest.raises(ValueError, match="NaN"):
        estimator.fit(BAD_DATA["NaN"][0])
    with pytest.raises(NotFittedError):
        estimator.predict(X)


def test_fit_predict_fails_like_fit(estimator_class):
    estimator = estimator_class(bandwidth=-1.0)
    with pytest.raises(ValueError, match="bandwidth"):
        estimator.fit_predict(X)
    assert_unfitted(estimator)


# The bandwidth

BAD_BANDWIDTHS = [
    (0, ValueError),
    (0.0, ValueError),
    (-1.5, ValueError),
    (np.nan, ValueError),
    (np.inf, ValueError),
    (-np.inf, ValueError),
    (np.float32(-1), ValueError),
    ("wide", TypeError),
    ("1.5", TypeError),
    (True, TypeError),
    (np.True_, TypeError),
    (1j, TypeError),
    ({"h": 1.0}, TypeError),
]


@pytest.mark.parametrize(("bandwidth", "error"), BAD_BANDWIDTHS, ids=repr)
def test_bad_bandwidth(estimator_class, bandwidth, error):
    message = fit_fails(estimator_class(bandwidth=bandwidth), error)
    assert_names(message, "bandwidth")
    assert repr(bandwidth) in message


BAD_PAIRS = [
    ((2.0, 1.0), ValueError),
    ([2.0, 1.0], ValueError),
    (np.array([2.0, 1.0]), ValueError),
    ((0.0, 1.0), ValueError),
    ((-1.0, 1.0), ValueError),
    ((1.0, np.nan), ValueError),
    ((np.nan, 1.0), ValueError),
    ((1.0, np.inf), ValueError),
    ((), ValueError),
    ((1.0,), ValueError),
    ((1.0, 2.0, 3.0), ValueError),
    ((1.0, "wide"), TypeError),
    ((1.0, None), TypeError),
    ((True, 2.0), TypeError),
    (np.array([[1.0, 2.0], [3.0, 4.0]]), TypeError),
]


@pytest.mark.parametrize(("pair", "error"), BAD_PAIRS, ids=repr)
def test_bad_pair_of_bandwidths(pair, error):
    message = fit_fails(StochasticMeanShift(bandwidth=pair), error)
    assert_names(message, "bandwidth")
    culprits = [pair] if len(pair) != 2 else [pair, *pair]
    assert any(repr(culprit) in message for culprit in culprits), message


@pytest.mark.parametrize(
    "pair", [(1.0, 2.0), [1.0, 2.0], np.array([1.0, 2.0]), (2.0, 1.0)], ids=repr
)
@pytest.mark.parametrize("estimator_class", WITH_ONE_BANDWIDTH)
def test_pair_of_bandwidths_where_one_is_wanted(estimator_class, pair):
    message = fit_fails(estimator_class(bandwidth=pair), TypeError)
    assert_names(message, "bandwidth")
    assert repr(pair) in message
    assert "StochasticMeanShift" in message  # who does take a pair


def test_array_without_dimension_is_named_or_taken(estimator_class):
    estimator = estimator_class(bandwidth=np.array(1.0))
    try:
        estimator.fit(X)
    except TypeError as error:
        assert_names(str(error), "bandwidth")
        assert_unfitted(estimator)


# The weights

ONES = np.ones(len(X))
BAD_WEIGHTS = {
    "negative": (with_entry(ONES, 4, -1.5), r"-1\.5.*\b4\b"),
    "NaN": (with_entry(ONES, 4, np.nan), r"nan.*\b4\b"),
    "inf": (with_entry(ONES, 4, np.inf), r"inf.*\b4\b"),
    "all zero": (0 * ONES, "zero"),
    "too few": (ONES[:5], r"12.*\b5\b"),
    "too many": (np.ones(13), r"12.*\b13\b"),
    "empty": ([], r"12.*\b0\b"),
    "one number": (2.0, r"12.*\(\)"),
    "column": (ONES[:, np.newaxis], r"12.*\(12, 1\)"),
    "words": (["red"] * 12, "'red'"),
    "None inside": ([None] * 12, "nan|None"),
    "dictionary": ({"red": 1.0}, "dict"),
    "numeric strings": (ONES.astype(str), "string|'1.0'|<U"),
    "complex": (ONES + 1j, "complex"),
    "ragged": (
        [[1.0], [1.0, 2.0]],
        r"real numbers \(setting an array element with a sequence\)\.$",
    ),
}


@pytest.mark.parametrize("name", BAD_WEIGHTS)
def test_bad_weights(estimator_class, name):
    weights, pattern = BAD_WEIGHTS[name]
    message = fit_fails(estimator_class(bandwidth=1.0), ValueError, sample_weight=weights)
    assert_names(message, "sample_weight")
    assert re.search(pattern, message), message
    assert "np.float64" not in message  # the value as one would type it


def test_bad_weights_with_an_estimated_bandwidth(estimator_class):
    weights, _ = BAD_WEIGHTS["negative"]
    assert_names(fit_fails(estimator_class(), ValueError, sample_weight=weights), "sample_weight")


# The other parameters

BAD_NUMBERS = {
    "tol": [(-1e-9, ValueError), (1.0, ValueError), (np.nan, ValueError), (np.inf, ValueError)],
    "merge_radius": [(-0.1, ValueError), (np.nan, ValueError), (np.inf, ValueError)],
    "max_iter": [(0, ValueError), (-1, ValueError), (1.5, TypeError), (np.nan, TypeError)],
    "min_cluster_size": [(0, ValueError), (-3, ValueError), ("2", TypeError)],
    "n_jobs": [(0, ValueError), (1.5, TypeError)],
}
MAY_BE_NONE = ("n_jobs", "min_cluster_size")
BAD_ONES = [
    *((name, value, error) for name, cases in BAD_NUMBERS.items() for value, error in cases),
    *((name, "3", TypeError) for name in BAD_NUMBERS),
    *((name, True, TypeError) for name in BAD_NUMBERS),
    *((name, None, TypeError) for name in BAD_NUMBERS if name not in MAY_BE_NONE),
    *((name, [1, 1], TypeError) for name in BAD_NUMBERS),
    ("record", 1, TypeError),
    ("record", None, TypeError),
    ("record", "yes", TypeError),
    ("algorithm", "nonsense", ValueError),
    ("algorithm", "Brute", ValueError),
    ("algorithm", None, ValueError),
    ("algorithm", 3, ValueError),
    ("algorithm", np.array(["auto", "brute"]), ValueError),
]
BAD_ONES_OF_STOCHASTIC = [
    *(("patience", value, ValueError) for value in (0, -1.0, np.nan, np.inf)),
    *(("patience", value, TypeError) for value in ("3", True, None)),
    *(("random_state", value, ValueError) for value in (-1, 1.5, "three")),
]


def assert_bad_parameter(estimator_class, name, value, error):
    message = fit_fails(estimator_class(**{"bandwidth": 1.0, name: value}), error)
    assert_names(message, name)
    assert repr(value) in message


@pytest.mark.parametrize(("name", "value", "error"), BAD_ONES, ids=repr)
def test_bad_parameter(estimator_class, name, value, error):
    assert_bad_parameter(estimator_class, name, value, error)


@pytest.mark.parametrize(("name", "value", "error"), BAD_ONES_OF_STOCHASTIC, ids=repr)
def test_bad_parameter_of_the_stochastic_one(name, value, error):
    assert_bad_parameter(StochasticMeanShift, name, value, error)


def test_parameters_are_stored_untouched(estimator_class):
    """Nothing is checked before fit, so that set_params and clone work step by step."""
    assert estimator_class(bandwidth="wide", tol=-1).get_params()["bandwidth"] == "wide"


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("tol", -1.0, ValueError),
        ("max_iter", 0, ValueError),
        ("algorithm", "nonsense", ValueError),
        ("n_jobs", 0, ValueError),
    ],
)
def test_parameter_made_bad_before_predict(estimator_class, name, value, error):
    estimator = estimator_class(bandwidth=1.0).fit(X).set_params(**{name: value})
    with pytest.raises(error) as caught:
        estimator.predict(X)
    assert_names(str(caught.value), name)


# The starts of MeanShift

BAD_SEEDINGS = {
    "word": ("grid", ValueError, "'bins'.*'grid'"),
    "number": (0, ValueError, "at least 1"),
    "bool": (True, (TypeError, ValueError), "."),
    "dictionary": ({"x": 1}, (TypeError, ValueError), "."),
    "word in an array": (np.array("bins"), (TypeError, ValueError), "."),
    "too few features": (X[:, :1], ValueError, r"2.*\(12, 1\)"),
    "too many features": (np.ones((4, 3)), ValueError, r"2.*\(4, 3\)"),
    "one-dimensional": (X[0], ValueError, "2D|shape|two-dimensional"),
    "none": (np.empty((0, 2)), ValueError, "0 sample|shape|empty"),
    "empty list": ([], ValueError, "."),
    "NaN": (X * np.nan, ValueError, "NaN"),
    "inf": (with_entry(X, (0, 0), np.inf), ValueError, "inf"),
    "complex": (X + 1j, (TypeError, ValueError), "[Cc]omplex"),
    "sparse": (scipy.sparse.csr_array(X), TypeError, "[Ss]parse.*toarray"),
    "words": ([["red", "blue"]], ValueError, "'red'"),
    "numeric strings": (X.astype(str), ValueError, "string"),
    "far away": (X + 100.0, ValueError, "bandwidth"),
    "as far as can be": (np.full((1, 2), 1e308), ValueError, "bandwidth"),
}


@pytest.mark.filterwarnings("ignore:overflow encountered in scalar")  # with the JIT off
@pytest.mark.parametrize("name", BAD_SEEDINGS)
def test_bad_seeding(name):
    seeding, error, pattern = BAD_SEEDINGS[name]
    estimator = MeanShift(bandwidth=1.0, seeding=seeding)
    with pytest.raises(error, match=pattern) as caught:
        estimator.fit(X)
    assert_names(str(caught.value), "seeding")
    assert_unfitted(estimator)


def test_seeding_far_from_all_weight():
    """The starts see points, but these weigh nothing."""
    data = np.array([[0.0], [0.1], [50.0]])
    estimator = MeanShift(bandwidth=1.0, seeding=[[0.0]])
    with pytest.raises(ValueError, match=r"seeding.*positive weight"):
        estimator.fit(data, sample_weight=[0.0, 0.0, 1.0])
    assert_unfitted(estimator)


# Beyond the range of numbers


def test_ratio_beyond_float64(estimator_class):
    """1e300 over 1e-300 is no float64: say so and name both."""
    message = fit_fails(estimator_class(bandwidth=1e-300), ValueError, np.array([[0.0], [1e300]]))
    assert_names(message, "bandwidth")
    assert re.search(r"e-30\d", message)
    assert "1e+300" in message


def test_new_points_beyond_the_range_of_the_data(estimator_class):
    """A new point may be as far away as it likes: nobody is near it."""
    estimator = estimator_class(bandwidth=1e-300).fit([[0.0], [1e-300]])
    assert estimator.predict([[1e300]]) in estimator.labels_


def test_bad_input_gives_one_error_and_no_warning(estimator_class):
    """Whoever turns no warnings into errors sees the error alone."""
    for name in ("NaN", "inf", "complex", "words"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with pytest.raises((TypeError, ValueError)):
                estimator_class(bandwidth=1.0).fit(BAD_DATA[name][0])
        assert caught == []
