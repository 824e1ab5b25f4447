"""Presets: one function a paper, which returns a configured estimator and cites its source."""

import inspect
import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from helpers import fit, make_data
from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift, presets
from modeshift.plda import PLDAMetric

PLDA = PLDAMetric.of(np.zeros(2), np.eye(2), False, np.zeros(2), np.eye(2), [3.0, 1.0])

# The function, what it needs, the estimator, options that the paper is known by, and its authors.
PRESETS = {
    "comaniciu2002": ({}, MeanShift, {"metric": "euclidean"}, "Comaniciu", "2002"),
    "carreira2006": (
        {},
        BlurringMeanShift,
        {"kernel": "gaussian", "stop": "entropy"},
        "Carreira",
        "2006",
    ),
    "senoussaoui2014": ({}, MeanShift, {"metric": "cosine"}, "Senoussaoui", "2014"),
    "lapidot2023": (
        {},
        StochasticMeanShift,
        {"kernel": "flat", "batch_size": 1},
        "Lapidot",
        "2312.15684",
    ),
    "lapidot2025": (
        {"plda": PLDA, "n_neighbors": 6},
        StochasticMeanShift,
        {"metric": PLDA, "batch_size": 1, "n_neighbors": 6},
        "Lapidot",
        "2511.09202",
    ),
    "salmun2015": ({}, MeanShift, {"metric": "cosine"}, "Salmun", "2015"),
    "salmun2017": (
        {"plda": PLDA, "n_neighbors": 6},
        MeanShift,
        {"metric": PLDA, "bandwidth": np.inf, "n_neighbors": 6},
        "Salmun",
        "45, 2017",
    ),
    "chakraborty2021": (
        {},
        BlurringMeanShift,
        {"kernel": "gaussian", "feature_weights": 1.0},
        "Chakraborty",
        "2012.10929",
    ),
    "trigano2026": (
        {"low": 0.4, "high": 1.2},
        StochasticMeanShift,
        {"bandwidth": (0.4, 1.2)},
        "Trigano",
        "2602.15393",
    ),
}


@pytest.fixture(params=PRESETS)
def preset(request):
    return getattr(presets, request.param), PRESETS[request.param]


def test_every_preset_is_tested():
    public = {
        name
        for name, function in vars(presets).items()
        if inspect.isfunction(function) and function.__module__ == presets.__name__
    }
    assert {name for name in public if not name.startswith("_")} == set(PRESETS)


def test_estimator_and_options(preset):
    make, (needed, estimator_class, options, _, _) = preset
    estimator = make(**needed)
    assert type(estimator) is estimator_class
    for name, value in options.items():
        assert getattr(estimator, name) == value


def test_fits_and_predicts(preset):
    make, (needed, *_) = preset
    X, _ = make_data("clustered", 40, 2)
    X = X + 1.0
    estimator = fit(clone(make(**needed)), X)
    assert estimator.labels_.shape == (40,)
    assert estimator.cluster_centers_.shape == (estimator.labels_.max() + 1, 2)
    assert set(estimator.predict(X)) <= set(estimator.labels_)


def test_cites_its_source(preset):
    make, (*_, author, source) = preset
    text = inspect.getdoc(make)
    assert author in text
    assert source in text
    year = re.search(r"\d{4}", make.__name__).group()
    assert year in text


def test_overrides_pass_through(preset):
    make, (needed, *_) = preset
    estimator = make(**needed, tol=0.05, merge_radius=0.125, max_iter=17, algorithm="brute")
    options = (estimator.tol, estimator.merge_radius, estimator.max_iter, estimator.algorithm)
    assert options == (0.05, 0.125, 17, "brute")
    with pytest.raises(TypeError, match="nonsense"):
        make(**needed, nonsense=1)


def test_what_a_preset_sets_can_be_overridden_too(preset):
    make, (needed, _, options, _, _) = preset
    others = {"kernel": "flat", "stop": "shift", "feature_weights": None, "batch_size": 3}
    for name in options.keys() & others.keys():
        assert getattr(make(**needed, **{name: others[name]}), name) == others[name]


@pytest.mark.parametrize("name", sorted(set(PRESETS) - {"trigano2026"}))
def test_bandwidth_is_a_parameter(name):
    make = getattr(presets, name)
    assert make(**PRESETS[name][0], bandwidth=0.75).bandwidth == 0.75


def test_selective_climbers_are_a_parameter():
    assert presets.senoussaoui2014(seeding=7).seeding == 7


def test_a_preset_is_the_estimator_one_could_write(preset):
    """No state is shared between calls, and nothing but parameters is set."""
    make, (needed, *_) = preset
    first, second = make(**needed), make(**needed)
    assert first is not second
    assert vars(first) == {name: getattr(first, name) for name in first.get_params()}
    X = np.abs(make_data("clustered", 30, 2)[0]) + 0.5
    seed = {"random_state": 0} if "random_state" in first.get_params() else {}
    runs = [fit(estimator.set_params(**seed), X) for estimator in (first, second)]
    assert_array_equal(runs[0].labels_, runs[1].labels_)
