"""A fit on a GPU that is stopped and goes on later ends as one that was never stopped."""

import numpy as np
import pytest

from modeshift import BlurringMeanShift, Checkpoint, MeanShift, StochasticMeanShift
from modeshift.engines.cuda import few_field
from modeshift.watching.watch import Watch
from on_gpu import tensor

RNG = np.random.default_rng(0)
PLANE = RNG.normal(size=(60, 2)) + 3 * RNG.integers(3, size=(60, 1))
SPACE = RNG.normal(size=(60, 12)) + 4 * RNG.integers(2, size=(60, 1))
CASES = {
    "stochastic": (StochasticMeanShift(bandwidth=1.0, random_state=0), PLANE),
    "stochastic, 12-D": (StochasticMeanShift(bandwidth=4.0, batch_size=20, random_state=0), SPACE),
    "climbs": (MeanShift(bandwidth=1.0, tol=1e-9), PLANE),
    "climbs, 12-D": (MeanShift(bandwidth=4.0), SPACE),
    "drawn starts": (MeanShift(bandwidth=1.0, seeding=20, random_state=0, tol=1e-9), PLANE),
    "bins": (MeanShift(bandwidth=1.0, seeding="bins"), PLANE),
    "climbs to the nearest": (MeanShift(bandwidth=np.inf, n_neighbors=7, tol=1e-9), PLANE),
    "the nearest, stochastic": (
        StochasticMeanShift(bandwidth=1.0, n_neighbors=7, random_state=0),
        PLANE,
    ),
    "the nearest, blurring": (BlurringMeanShift(bandwidth=4.0, n_neighbors=7), SPACE),
    "blurring": (BlurringMeanShift(bandwidth=1.0), PLANE),
    "blurring, 12-D": (BlurringMeanShift(bandwidth=4.0), SPACE),
}


def stop_after(monkeypatch, n_beats):
    """Ctrl-C at the n-th time that a schedule passes a place where it might be stopped."""
    beats, beat = [], Watch.beat

    def stop_or_go_on(watch):
        beats.append(watch)
        if len(beats) == n_beats:
            raise KeyboardInterrupt
        beat(watch)

    monkeypatch.setattr(Watch, "beat", stop_or_go_on)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("as_tensor", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_stopped_fits_go_on(name, as_tensor, tmp_path, monkeypatch):
    estimator, X = CASES[name]
    X = tensor(X) if as_tensor else X
    monkeypatch.setattr(few_field, "_LEAP", 2)
    estimator.set_params(device="cuda", max_iter=40)
    path = tmp_path / "fit.checkpoint"
    labels, modes, n_steps = _result(estimator.set_callbacks(), X)
    estimator.set_callbacks(Checkpoint(path))
    for n_beats in (1, 2):
        with monkeypatch.context() as patch:
            stop_after(patch, n_beats)
            with pytest.raises(KeyboardInterrupt):
                _result(estimator, X)
        assert path.exists()
    found = _result(estimator, X)
    np.testing.assert_array_equal(found[0], labels)
    np.testing.assert_array_equal(found[1], modes)  # bit for bit
    assert found[2] == n_steps
    assert not path.exists()


def _result(estimator, X):
    fitted = estimator.fit(X)
    return np.asarray(fitted.labels_.tolist()), np.asarray(fitted.modes_.tolist()), fitted.n_steps_


def test_other_data_are_refused(tmp_path, monkeypatch):
    estimator = BlurringMeanShift(bandwidth=1.0, device="cuda")
    estimator.set_callbacks(Checkpoint(tmp_path / "fit.checkpoint"))
    with monkeypatch.context() as patch:
        stop_after(patch, 2)
        with pytest.raises(KeyboardInterrupt):
            estimator.fit(PLANE)
    with pytest.raises(ValueError, match="was written for other data, other parameters"):
        estimator.fit(PLANE + 1e-9)
