"""Bad values of the options of the family: the error names parameter, value and remedy."""

import inspect
import re

import numpy as np
import pytest

from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift

ESTIMATORS = [MeanShift, StochasticMeanShift, BlurringMeanShift]
X = np.random.default_rng(0).normal(size=(12, 2))

CHOICES = {
    "kernel": (ESTIMATORS, ("flat", "gaussian")),
    "metric": (ESTIMATORS, ("euclidean", "cosine")),
    "stop": ([BlurringMeanShift], ("shift", "entropy")),
    "feature_weights": ([BlurringMeanShift], ("learned",)),
}
BAD_CHOICES = [
    (estimator_class, name, value)
    for name, (classes, _) in CHOICES.items()
    for estimator_class in classes
    for value in ("nonsense", "Flat", 3, True, None, [1.0, 2.0], np.array(["flat"]))
    if not (name == "feature_weights" and (value is None or isinstance(value, int)))
]
WHOLE = [
    *((estimator_class, "n_neighbors") for estimator_class in ESTIMATORS),
    (StochasticMeanShift, "batch_size"),
    (MeanShift, "seeding"),
]
BAD_WHOLE = [
    (0, ValueError),
    (-3, ValueError),
    (1.5, TypeError),
    (2.0, TypeError),
    (np.nan, TypeError),
    (np.inf, TypeError),
    ("5", TypeError),
    (True, TypeError),
    ([1, 2], TypeError),
]


def failing_fit(estimator, error, data=X):
    """The message of the error, after which nothing fitted is left."""
    with pytest.raises(error) as caught:
        estimator.fit(data)
    assert [name for name in vars(estimator) if name.endswith("_")] == []
    return str(caught.value)


def assert_names(message, *words):
    for word in words:
        assert re.search(rf"(?<!\w){re.escape(word)}(?!\w)", message), (word, message)


@pytest.mark.parametrize(("estimator_class", "name", "value"), BAD_CHOICES, ids=repr)
def test_bad_choice(estimator_class, name, value):
    estimator = estimator_class(**{"bandwidth": 1.0, name: value})
    message = failing_fit(estimator, (TypeError, ValueError))
    assert_names(message, name)
    assert repr(value) in message
    for choice in CHOICES[name][1]:
        assert repr(choice) in message


@pytest.mark.parametrize(("value", "error"), BAD_WHOLE, ids=repr)
@pytest.mark.parametrize(("estimator_class", "name"), WHOLE, ids=repr)
def test_bad_whole_number(estimator_class, name, value, error):
    if name == "seeding" and isinstance(value, str | list):
        error = ValueError  # a word that is not "bins", an array of another shape
    message = failing_fit(estimator_class(**{"bandwidth": 1.0, name: value}), error)
    assert_names(message, name)
    assert repr(value) in message or isinstance(value, list)


def test_batch_size_none_is_one_point_at_a_time():
    X = np.random.RandomState(0).randn(30, 2)
    runs = [
        StochasticMeanShift(bandwidth=1.0, batch_size=size, random_state=0).fit(X)
        for size in (None, 1)
    ]
    np.testing.assert_array_equal(runs[0].modes_, runs[1].modes_)


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (0.0, ValueError),
        (-1.0, ValueError),
        (np.nan, ValueError),
        (np.inf, ValueError),
        ("1", TypeError),
        (True, TypeError),
        ([0.5, 0.5], TypeError),
    ],
    ids=repr,
)
def test_bad_temperature(value, error):
    estimator = BlurringMeanShift(bandwidth=1.0, feature_weights=value)
    message = failing_fit(estimator, error)
    assert message == (
        "feature_weights must be None, 'learned' or a temperature (a finite number above 0), "
        f"got {value!r}."
    )


@pytest.mark.parametrize("value", [-1, 1.5, "three"], ids=repr)
def test_bad_random_state_of_climbers(value):
    estimator = MeanShift(bandwidth=1.0, seeding=3, random_state=value)
    message = failing_fit(estimator, ValueError)
    assert_names(message, "random_state")
    assert repr(value) in message


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_an_infinite_bandwidth_needs_neighbours(estimator_class):
    message = failing_fit(estimator_class(bandwidth=np.inf), ValueError)
    assert_names(message, "bandwidth", "n_neighbors", "inf")


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@pytest.mark.parametrize("bandwidth", [-np.inf, np.nan, 0.0, -1.0], ids=repr)
def test_other_bad_bandwidths_stay_bad_with_neighbours(estimator_class, bandwidth):
    message = failing_fit(estimator_class(bandwidth=bandwidth, n_neighbors=3), ValueError)
    assert_names(message, "bandwidth")
    assert repr(bandwidth) in message


@pytest.mark.parametrize("pair", [(1.0, np.inf), (np.inf, np.inf)], ids=repr)
def test_no_radius_can_be_drawn_from_an_infinite_range(pair):
    message = failing_fit(StochasticMeanShift(bandwidth=pair, n_neighbors=3), ValueError)
    assert_names(message, "bandwidth", "inf")


REFUSED = [
    (BlurringMeanShift, {"feature_weights": "learned", "metric": "cosine"}),
    (BlurringMeanShift, {"feature_weights": 2.0, "metric": "cosine"}),
    (MeanShift, {"bandwidth": np.inf, "n_neighbors": 3, "seeding": "bins"}),
    *((c, {"bandwidth": np.inf, "n_neighbors": 3, "resolution": 4.0}) for c in ESTIMATORS),
    *((c, {"bandwidth": np.inf, "n_neighbors": 3, "kernel": "gaussian"}) for c in ESTIMATORS),
]


@pytest.mark.parametrize(("estimator_class", "parameters"), REFUSED)
def test_refused_together(estimator_class, parameters):
    """Both options are named, whatever the data."""
    named = [name for name in parameters if name != "n_neighbors"]
    message = failing_fit(estimator_class(**{"bandwidth": 1.0, **parameters}), ValueError)
    assert_names(message, *named)


def test_a_long_value_is_named_but_not_shown():
    options = {"bandwidth": 1.0, "feature_scale": [1.5] * 200, "metric": "cosine"}
    message = failing_fit(MeanShift(**options), ValueError)
    assert_names(message, "feature_scale", "metric")
    assert len(message) < 300


def test_parameters_are_stored_untouched():
    """Nothing is checked before fit, so that set_params and clone work step by step."""
    for estimator_class, name in WHOLE:
        assert estimator_class(**{name: "many"}).get_params()[name] == "many"
    for name, (classes, _) in CHOICES.items():
        assert classes[0](**{name: 3}).get_params()[name] == 3


@pytest.mark.parametrize(("name", "value"), [("kernel", "x"), ("metric", "x"), ("n_neighbors", 0)])
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_parameter_made_bad_before_predict(estimator_class, name, value):
    estimator = estimator_class(bandwidth=1.0).fit(X).set_params(**{name: value})
    with pytest.raises(ValueError, match=name):
        estimator.predict(X)


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("seeds", "use seeding=seeds."),
        ("bin_seeding", "use seeding='bins'."),
        ("min_bin_freq", "use seeding='bins', which starts from every occupied bin."),
        ("cluster_all", "use min_cluster_size and strays='noise' for points without a cluster."),
    ],
)
def test_parameters_of_scikit_learn_name_ours(name, remedy):
    expected = f"MeanShift has no parameter {name}; {remedy} modeshift.compat.sklearn.MeanShift"
    with pytest.raises(TypeError, match=re.escape(expected)):
        MeanShift(bandwidth=1.0, **{name: None})
    with pytest.raises(ValueError, match=re.escape(expected)):
        MeanShift().set_params(**{name: None})


def test_parameters_of_scikit_learn_name_the_estimator_that_has_ours():
    with pytest.raises(TypeError, match="no parameter bin_seeding; use MeanShift with seeding="):
        BlurringMeanShift(bin_seeding=True)


def test_other_unknown_parameters_have_the_usual_errors():
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        MeanShift(colour="red")
    with pytest.raises(ValueError, match="Invalid parameter 'colour' for estimator MeanShift"):
        MeanShift().set_params(colour="red")


def test_a_subclass_may_have_such_a_parameter():
    class Seeded(MeanShift):
        def __init__(self, *, seeds=None):
            super().__init__(seeding=seeds)
            self.seeds = seeds

    assert Seeded(seeds=3).set_params(seeds=4).seeds == 4


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_the_signature_shows_the_parameters(estimator_class):
    assert (
        list(inspect.signature(estimator_class).parameters)
        == list(inspect.signature(estimator_class.__init__).parameters)[1:]
    )
