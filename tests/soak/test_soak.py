"""The soak test finds what it looks for, and makes it small."""

import os
import time

import pytest

from helpers import MISSING
from soak.cases import draw_case, points_of
from soak.promises import Trial, check
from soak.shrink import shrink, smaller
from soak.workers import Worker, deadline

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


def test_a_temperature_that_vanishes_in_the_units_of_the_twin_has_no_twin():
    """Seed 200416: the twin divided 0 by 0, and every point was a cluster."""
    case = {**PLAIN, "estimator": "BlurringMeanShift", "options": {"feature_weights": 0.1}}
    assert "labels_are_the_twins" in check(case)
    far = {**case, "seed": 200416, "n": 75, "d": 1, "changes": ["far outlier"], "weights": "real"}
    assert "labels_are_the_twins" not in check(far)


def test_a_stray_as_far_from_two_clusters_is_a_tie():
    """Seed 201563: whole numbers, and a stray that joined one or the other by the order of rows."""
    case = {**PLAIN, "estimator": "BlurringMeanShift", "shape": "heavy tails", "weights": "none"}
    case |= {"bandwidth": "small", "options": {"min_cluster_size": 2, "strays": "nearest"}}
    assert "order_of_rows_changes_no_cluster" in check(case)
    tied = {**case, "seed": 201563, "n": 66, "dtype": "int64"}
    assert "order_of_rows_changes_no_cluster" not in check(tied)


def test_a_temperature_that_overflows_in_the_units_of_the_twin_has_one():
    """Seed 301092: tiny points, so all features have the same weight. It was an OverflowError."""
    case = {**PLAIN, "seed": 301092, "estimator": "BlurringMeanShift", "changes": ["tiny"]}
    assert "labels_are_the_twins" in check(case | {"options": {"feature_weights": 0.1}})


@pytest.mark.skipif(bool(MISSING), reason="no PyTorch here")
def test_batches_on_a_gpu_are_of_cells():
    """Seed 700444: the CPU was given batches of points."""
    assert "engines_agree" in check(draw_case(700444))


def test_cells_are_steady_unless_a_small_movement_changes_a_label():
    case = {**PLAIN, "estimator": "StochasticMeanShift", "options": {"resolution": 1.0}}
    assert Trial(case).is_steady
    line = {**case, "seed": 700444, "n": 42, "d": 1, "shape": "line", "weights": "none"}
    assert not Trial(line).is_steady


def test_positions_have_few_digits_below_the_smallest_normal_number():
    """Seed 601080: modes of 1e-42 in float32 were said to be wrong."""
    case = {**PLAIN, "seed": 601080, "estimator": "StochasticMeanShift", "n": 28, "shape": "ring"}
    assert "labels_are_the_twins" in check(case | {"changes": ["tiny"], "dtype": "float32"})


@pytest.mark.parametrize(
    "case",
    [
        # Three points have one direction, and random steps gave one of them another label.
        {"seed": 521753, "estimator": "StochasticMeanShift", "n": 35, "d": 3, "shape": "lattice",
         "options": {"metric": "cosine"}},
        # The second feature got the weight 0 after it had set points apart.
        {"seed": 321390, "estimator": "BlurringMeanShift", "n": 35, "shape": "heavy tails",
         "dtype": "int64", "options": {"feature_weights": 0.1}},
    ],
    ids=["directions", "features without weight"],
)  # fmt: skip
def test_points_that_coincide_in_the_metric_may_have_different_labels(case):
    assert "fitted_points_keep_their_labels" in check({**PLAIN, "weights": "none", **case})


def test_a_tie_on_the_way_is_a_tie():
    """Seed 561382: 22 distances were the bandwidth; all points ended in the middle in any case."""
    case = {**PLAIN, "estimator": "BlurringMeanShift", "weights": "none", "bandwidth": "large"}
    assert Trial(case).is_clear
    assert not Trial({**case, "seed": 561382, "n": 71, "d": 6, "shape": "line"}).is_clear


def test_of_equal_distances_one_movement_keeps_the_order_and_its_opposite_does_not():
    """Seeds 300810 and 420842: points at equal distances on a line, of which the nearest count."""
    case = {**PLAIN, "weights": "none"}
    nearest = {**case, "estimator": "StochasticMeanShift", "options": {"n_neighbors": 3}}
    assert Trial(nearest).is_clear
    assert not Trial({**nearest, "seed": 300810, "n": 75, "d": 33, "shape": "line"}).is_clear
    climbers = {**case, "options": {"seeding": 5}}
    assert Trial(climbers).is_robust
    assert not Trial({**climbers, "seed": 420842, "n": 88, "shape": "line"}).is_robust


def test_drawn_cases_are_the_same_every_time_and_all_shapes_have_points():
    assert draw_case(3) == draw_case(3)
    for seed in range(300):
        case = draw_case(seed)
        assert points_of(case).shape == (case["n"], case["d"])
        assert 240 < deadline(case) < 7200


def test_a_failing_case_is_made_small():
    case = {**PLAIN, "n": 60, "options": {"kernel": "gaussian", "tol": 0.0}, "changes": ["offset"]}
    small = shrink(case, lambda other: "tol" in other["options"] and other["n"] >= 7)
    assert small["options"] == {"tol": 0.0}
    assert small["changes"] == []
    assert small["n"] == 7
    assert list(smaller({**small, "n": 1, "d": 1, "options": {}, "weights": "none"})) == []


def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


@pytest.mark.parametrize(
    ("check_one", "case", "words"),
    [
        (work, 60.0, "deadline: not ready after 1 s of a processor"),
        (time.sleep, 60.0, "deadline: no work for 8 s"),
        (os._exit, 3, "crash"),
        (int, "x", "ValueError"),
    ],
)
def test_hangs_crashes_and_errors_are_failures(check_one, case, words):
    patience = 15 if check_one is not work else 1
    worker = Worker(check_one, deadline=lambda _: patience, standstill=8.0)
    tried, failure = worker.check(case)
    assert tried == []
    assert failure.strip().splitlines()[-1].startswith(words)
    worker.stop()


def test_a_busy_machine_is_no_failure():
    """A deadline on the wall failed a fit of which other programs had taken the processor."""
    worker = Worker(time.sleep, deadline=lambda _: 15, standstill=30.0)
    assert worker.check(0.0)[1] is None  # the process is there now
    worker.deadline = lambda _: 0.5
    assert worker.check(1.5)[1] is None
    worker.stop()
