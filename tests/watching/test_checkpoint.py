"""A fit that is stopped, anywhere, and goes on later ends as one that was never stopped."""

import io
import os
import pickle
import signal
import subprocess
import sys
import time
import warnings
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from modeshift import BlurringMeanShift, Checkpoint, MeanShift, StochasticMeanShift
from modeshift.engines.cpu import parallel as parallel_module
from modeshift.watching.checkpoint import CheckpointFile
from modeshift.watching.progress import Progress
from modeshift.watching.watch import Watch

RNG = np.random.default_rng(0)
PLANE = RNG.normal(size=(90, 2)) + 3 * RNG.integers(3, size=(90, 1))
SPACE = RNG.normal(size=(60, 40)) + 4 * RNG.integers(2, size=(60, 1))
WEIGHTS = RNG.integers(1, 4, 90).astype(float)

CASES = {
    "stochastic": (StochasticMeanShift(bandwidth=1.0, random_state=0), PLANE),
    "brute": (StochasticMeanShift(bandwidth=1.0, algorithm="brute", random_state=0), PLANE),
    "anchors": (StochasticMeanShift(bandwidth=8.0, random_state=0), SPACE),
    "balls": (StochasticMeanShift(bandwidth=np.inf, n_neighbors=8, random_state=0), SPACE),
    "pair": (StochasticMeanShift(bandwidth=(0.6, 1.2), random_state=0), PLANE),
    "batches": (StochasticMeanShift(bandwidth=1.0, batch_size=25, random_state=0), PLANE),
    "gaussian": (StochasticMeanShift(bandwidth=0.4, kernel="gaussian", random_state=0), PLANE),
    "cells": (StochasticMeanShift(bandwidth=1.0, resolution=4, random_state=0), PLANE),
    "paths": (StochasticMeanShift(bandwidth=1.0, record=True, random_state=0), PLANE),
    "late": (StochasticMeanShift(bandwidth=1.0, max_iter=4, random_state=0), PLANE),
    "climbs": (MeanShift(bandwidth=1.0), PLANE),
    "climbs with paths": (MeanShift(bandwidth=1.0, record=True), PLANE),
    "seeds": (MeanShift(bandwidth=1.0, seeding="bins"), PLANE),
    "climbers": (MeanShift(bandwidth=1.0, seeding=20, random_state=0), PLANE),
    "blurring": (BlurringMeanShift(bandwidth=1.0), PLANE),
    "entropy": (BlurringMeanShift(bandwidth=0.4, kernel="gaussian", stop="entropy"), PLANE),
    "learned": (BlurringMeanShift(bandwidth=0.7, feature_weights="learned"), PLANE),
    "sphere": (BlurringMeanShift(bandwidth=0.02, metric="cosine", record=True), PLANE),
}


def fit(estimator, X, weights=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator.fit(X, sample_weight=weights)


def result(estimator):
    """All that a fit has found, by name."""
    found = {name: value for name, value in vars(estimator).items() if name.endswith("_")}
    for inner in ("_model_", "_index_", "_stream_"):
        found.pop(inner, None)
    if "paths_" in found:
        found["paths_"] = np.concatenate(found["paths_"])
    return found


def assert_same_result(actual, expected):
    assert set(actual) == set(expected)
    for name, value in expected.items():
        assert_array_equal(actual[name], value, err_msg=name)  # bit for bit


class Stops:
    """Ctrl-C at the n-th time that a schedule passes a place where it might be stopped."""

    def __init__(self, monkeypatch, after):
        self.left = after
        beat = Watch.beat

        def stop_or_go_on(watch):
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
            beat(watch)

        monkeypatch.setattr(Watch, "beat", stop_or_go_on)


@pytest.mark.product
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_stopped_fits_go_on(name, weighted, tmp_path, monkeypatch):
    """Stopped several times: after 1 beat, 2 beats, 4 beats and so on."""
    estimator, X = CASES[name]
    weights = WEIGHTS[: len(X)] if weighted else None
    expected = result(fit(estimator.set_callbacks(), X, weights))
    # Bites of 16 steps, so that there is much to stop.
    monkeypatch.setattr(parallel_module.Pace, "learn", lambda *_: None)
    path = tmp_path / "fit.checkpoint"
    estimator.set_callbacks(Checkpoint(path))
    stops = 0
    for after in [1, 2, 4, 8, 16, 32, 64, 128, 10**9]:
        with monkeypatch.context() as patch:
            Stops(patch, after)
            try:
                fit(estimator, X, weights)
                break
            except KeyboardInterrupt:
                stops += 1
                assert list(tmp_path.iterdir()) == [path]
    assert stops >= 1
    assert_same_result(result(estimator), expected)
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(["stochastic", "batches", "climbs", "blurring"]),
    moments=st.lists(st.integers(1, 30), min_size=1, max_size=6),
)
def test_stopped_at_random(name, moments, tmp_path, monkeypatch):
    estimator, X = CASES[name]
    expected = result(fit(estimator.set_callbacks(), X))
    path = tmp_path / "fit.checkpoint"
    path.unlink(missing_ok=True)
    estimator.set_callbacks(Checkpoint(path))
    with monkeypatch.context() as patch:
        patch.setattr(parallel_module.Pace, "learn", lambda *_: None)
        for after in moments:
            with monkeypatch.context() as inner, suppress(KeyboardInterrupt):
                Stops(inner, after)
                fit(estimator, X)
                break
        else:
            fit(estimator, X)
    assert_same_result(result(estimator), expected)


# What a file must be


@pytest.fixture
def stopped(tmp_path, monkeypatch):
    """An estimator whose fit was stopped, and the file that it left."""
    path = tmp_path / "fit.checkpoint"
    estimator = StochasticMeanShift(bandwidth=1.0, random_state=0)
    estimator.set_callbacks(Checkpoint(path))
    with monkeypatch.context() as patch:
        Stops(patch, 3)
        with pytest.raises(KeyboardInterrupt):
            estimator.fit(PLANE)
    return estimator, path


@pytest.mark.parametrize(
    ("X", "parameters"),
    [
        (PLANE + 1e-9, {}),
        (PLANE[:-1], {}),
        (PLANE, {"bandwidth": 1.1}),
        (PLANE, {"random_state": 1}),
        (PLANE, {"patience": 2.0}),
    ],
)
def test_other_data_or_parameters_are_refused(X, parameters, stopped):
    estimator, path = stopped
    content = path.read_bytes()
    with pytest.raises(ValueError, match="was written for other data, other parameters"):
        estimator.set_params(**parameters).fit(X)
    assert path.read_bytes() == content
    assert not hasattr(estimator, "labels_")


def test_what_changes_no_result_may_change(stopped):
    estimator, path = stopped
    estimator.set_callbacks(lambda state: None, Checkpoint(path, every=0.0))
    estimator.set_params(n_jobs=2).fit(PLANE)
    expected = StochasticMeanShift(bandwidth=1.0, random_state=0).fit(PLANE)
    assert_same_result(result(estimator), result(expected))
    assert not path.exists()


@pytest.mark.parametrize("damage", [lambda c: c[:-50], lambda c: b"no", lambda c: b""])
def test_damaged_files_are_refused(damage, stopped):
    estimator, path = stopped
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match="cannot be read"):
        estimator.fit(PLANE)


def test_pickles_are_refused(stopped):
    estimator, path = stopped
    content = io.BytesIO()
    np.savez(content, fingerprint=np.array([object()]), allow_pickle=True)
    path.write_bytes(content.getvalue())
    with pytest.raises(ValueError, match="cannot be read"):
        estimator.fit(PLANE)


def test_written_at_intervals(tmp_path):
    """With 0 seconds between them there is a file after every bite, and none in the end."""
    path = tmp_path / "fit.checkpoint"
    seen = []
    estimator = MeanShift(bandwidth=1.0)
    estimator.set_callbacks(lambda state: seen.append(path.exists()), Checkpoint(path, every=0.0))
    estimator.fit(PLANE)
    assert seen[0] is False
    assert all(seen[1:])
    assert not path.exists()


@pytest.mark.parametrize(
    ("callbacks", "words"),
    [
        ((3,), "set_callbacks takes functions and modeshift.Checkpoint objects, got 3"),
        ((print, "x"), "set_callbacks takes functions and modeshift.Checkpoint"),
        ((Checkpoint("x"), Checkpoint("y")), "set_callbacks takes one Checkpoint, got 2"),
    ],
)
def test_bad_callbacks(callbacks, words):
    estimator = MeanShift().set_callbacks(print)
    with pytest.raises((TypeError, ValueError), match=words):
        estimator.set_callbacks(*callbacks)
    assert estimator._callbacks == (print,)


@pytest.mark.parametrize(("every", "error"), [(-1.0, ValueError), ("1", TypeError)])
def test_bad_seconds(every, error):
    with pytest.raises(error, match="every must be "):
        Checkpoint("x", every=every)


def test_starts_that_are_drawn_need_a_seed_that_is_a_number(tmp_path):
    estimator = MeanShift(bandwidth=1.0, seeding=5).set_callbacks(Checkpoint(tmp_path / "x"))
    with pytest.raises(ValueError, match="Pass an int as random_state"):
        estimator.fit(PLANE)
    assert estimator.set_params(random_state=0).fit(PLANE).converged_


def test_clones_and_copies_keep_what_watches(tmp_path):
    seen, checkpoint = [], Checkpoint(tmp_path / "fit.checkpoint", every=5)
    estimator = MeanShift(bandwidth=1.0).set_callbacks(seen.append, checkpoint)
    assert clone(estimator)._callbacks == (seen.append, checkpoint)
    clone(estimator).fit(PLANE)
    assert len(seen) > 1
    again = pickle.loads(pickle.dumps(MeanShift().set_callbacks(checkpoint)))
    assert repr(again._callbacks) == repr((checkpoint,))
    assert repr(checkpoint) == f"Checkpoint({str(tmp_path / 'fit.checkpoint')!r}, every=5)"


def test_callbacks_are_called_in_order_and_replace_each_other():
    seen = []
    estimator = MeanShift(bandwidth=1.0, max_iter=300)
    assert estimator.set_callbacks(lambda _: seen.append("old")) is estimator
    estimator.set_callbacks(lambda _: seen.append(1), lambda _: seen.append(2)).fit(PLANE)
    assert seen == [1, 2] * (len(seen) // 2) != []


@pytest.fixture
def ctrl_c():
    """Ctrl-C interrupts, also in processes that were started in the background, which ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_waits_while_things_are_halfway(tmp_path):
    watch = Watch(None, CheckpointFile(tmp_path / "x", 60.0, "mark"))
    done = []

    def press_while_halfway():
        with watch.steady():
            signal.raise_signal(signal.SIGINT)
            done.append("the other half")

    with pytest.raises(KeyboardInterrupt):
        press_while_halfway()
    assert done == ["the other half"]
    with pytest.raises(KeyboardInterrupt):  # and then it is as before
        signal.raise_signal(signal.SIGINT)


# Callbacks


@pytest.mark.parametrize("name", CASES)
def test_callback_sees_every_sweep(name):
    estimator, X = CASES[name]
    seen: list[Progress] = []
    fit(estimator.set_callbacks(seen.append), X)
    estimator.set_callbacks()
    assert [state.sweep for state in seen] == list(range(1, len(seen) + 1))
    for state in seen:
        assert state.max_iter == estimator.max_iter
        assert np.isfinite(state.positions).all()
        assert 0 <= state.n_moving <= len(X)
    steps = [state.n_steps for state in seen]
    assert steps == sorted(steps)
    assert steps[-1] <= estimator.n_steps_
    assert seen[0].n_moving > seen[-1].n_moving or not estimator.converged_


@pytest.mark.parametrize("name", ["climbs", "blurring", "learned", "sphere"])
def test_last_positions_are_the_modes(name):
    estimator, X = CASES[name]
    seen = []
    fit(estimator.set_callbacks(seen.append), X)
    estimator.set_callbacks()
    assert_array_equal(seen[-1].positions, estimator.modes_)
    assert seen[-1].count_clusters() == len(estimator.cluster_centers_)


# Real processes

CHILD = """
import sys, numpy as np
from modeshift import *
X = np.random.default_rng(1).uniform(size=(5_000, 2))
name, path, out = sys.argv[1:]
options = {"bandwidth": 0.05, "algorithm": "brute"}
if name == "StochasticMeanShift":
    options["random_state"] = 0
estimator = globals()[name](**options).set_callbacks(Checkpoint(path, every=0.05))
estimator.fit(X)
np.save(out, estimator.labels_)
"""


@pytest.mark.slow
@pytest.mark.jit
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("name", ["StochasticMeanShift", "MeanShift", "BlurringMeanShift"])
def test_killed_and_interrupted_processes(name, tmp_path):
    path, out = tmp_path / "fit.checkpoint", tmp_path / "labels.npy"
    command = [sys.executable, "-c", CHILD, name, path, out]

    def run_until_written(signal_number):
        written = path.stat().st_mtime_ns if path.exists() else 0
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        while process.poll() is None:
            time.sleep(0.02)
            if path.exists() and path.stat().st_mtime_ns > written:
                process.send_signal(signal_number)
                process.wait(timeout=60)
                return True
        return False

    assert run_until_written(signal.SIGKILL)
    assert not out.exists()
    for number in (signal.SIGINT, signal.SIGKILL, signal.SIGINT):
        run_until_written(number)
    if not out.exists():
        subprocess.run(command, check=True, timeout=300)
    labels = np.load(out)
    out.unlink()
    assert not path.exists()
    subprocess.run(command, check=True, timeout=300)
    assert_array_equal(labels, np.load(out))
    assert os.listdir(tmp_path) == ["labels.npy"]


def test_the_folder_of_a_checkpoint_must_exist(tmp_path):
    """An error before the fit, and not when the file is written."""
    with pytest.raises(ValueError, match=r"the folder .*none does not exist; create it first"):
        Checkpoint(tmp_path / "none" / "fit.checkpoint")
    with pytest.raises(ValueError, match="is a folder; name a file in it"):
        Checkpoint(tmp_path)


def test_a_checkpoint_needs_a_path():
    with pytest.raises(TypeError, match="path of a Checkpoint must be a str or a path, got 3"):
        Checkpoint(3)
