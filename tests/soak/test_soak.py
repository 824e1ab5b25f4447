"""The soak test finds what it looks for, and makes it small."""

import os
import time

import pytest

from soak.cases import draw_case, points_of
from soak.promises import check
from soak.shrink import shrink, smaller
from soak.workers import Worker, deadline, kind_of

PLAIN = {
    "seed": 7, "estimator": "MeanShift", "engine": "cpu", "n": 30, "d": 2, "shape": "blobs",
    "changes": [], "dtype": "float64", "frame": "array", "weights": "whole",
    "bandwidth": "middle", "options": {},
}  # fmt: skip


@pytest.mark.parametrize("estimator", ["MeanShift", "StochasticMeanShift", "BlurringMeanShift"])
def test_a_plain_case_tries_most_promises(estimator):
    tried = check({**PLAIN, "estimator": estimator})
    assert "labels_are_the_twins" in tried
    assert "a_stopped_fit_goes_on" in tried
    assert len(tried) >= 10


def test_a_wrong_label_is_found(monkeypatch):
    """A fit that merges at another radius than it was asked for."""
    from modeshift import MeanShift

    fit = MeanShift.fit

    def fit_loosely(self, X, y=None, sample_weight=None):
        self.set_params(merge_radius=8.0)
        return fit(self, X, y, sample_weight=sample_weight)

    monkeypatch.setattr(MeanShift, "fit", fit_loosely)
    with pytest.raises(AssertionError):
        check(PLAIN)


def test_a_refusal_is_no_failure():
    (tried,) = check({**PLAIN, "options": {"feature_scale": "drawn", "metric": "cosine"}})
    assert tried.startswith("refused")


def test_drawn_cases_are_the_same_every_time_and_all_shapes_have_points():
    assert draw_case(3) == draw_case(3)
    for seed in range(300):
        case = draw_case(seed)
        assert points_of(case).shape == (case["n"], case["d"])
        assert 240 < deadline(case) < 3600


def test_a_failing_case_is_made_small():
    case = {**PLAIN, "n": 60, "options": {"kernel": "gaussian", "tol": 0.0}, "changes": ["offset"]}
    small = shrink(case, lambda other: "tol" in other["options"] and other["n"] >= 7)
    assert small["options"] == {"tol": 0.0}
    assert small["changes"] == []
    assert small["n"] == 7
    assert list(smaller({**small, "n": 1, "d": 1, "options": {}, "weights": "none"})) == []


@pytest.mark.parametrize(
    ("check_one", "case", "kind"),
    [(time.sleep, 60, "deadline"), (os._exit, 3, "crash"), (int, "x", "ValueError")],
)
def test_hangs_crashes_and_errors_are_failures(check_one, case, kind):
    worker = Worker(check_one, deadline=lambda _: 15 if check_one is not time.sleep else 0.2)
    tried, failure = worker.check(case)
    assert tried == []
    assert kind_of(failure).startswith(kind)
    worker.stop()
