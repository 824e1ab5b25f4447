"""Engine-internal checks of the variants: fast fields against the plain one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from conftest import fit, make_data
from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift
from modeshift.fields import FIELDS


@pytest.mark.parametrize("kind", sorted(FIELDS))
@pytest.mark.parametrize("record", [False, True])
def test_a_batch_of_all_is_blurring(kind, record):
    X, h = make_data("clustered", 40, 3)
    sweeps = 3
    parameters = {"bandwidth": h, "tol": 0.0, "max_iter": sweeps, "field": kind, "record": record}
    batch = fit(StochasticMeanShift(batch_size=99, random_state=0, **parameters), X)
    assert_allclose(batch.modes_, fit(BlurringMeanShift(**parameters), X).modes_, atol=1e-12)
    assert batch.n_steps_ == sweeps * len(X)


@pytest.mark.parametrize("kind", sorted(FIELDS))
def test_batches_agree_between_fields(kind):
    X, h = make_data("clustered", 60, 5)
    parameters = {"bandwidth": h, "batch_size": 7, "random_state": 0}
    fast, brute = (
        fit(StochasticMeanShift(field=field, **parameters), X) for field in (kind, "brute")
    )
    assert_allclose(fast.modes_, brute.modes_, atol=1e-9)
    assert fast.n_steps_ == brute.n_steps_


@pytest.mark.jit
def test_a_batch_may_found_more_anchors_than_there_is_room():
    """Points on a line with a short reach: a batch sends nearly all to places of their own."""
    X = np.cumsum(np.random.default_rng(0).uniform(0.5, 1.0, 600))[:, np.newaxis]
    parameters = {"bandwidth": 1.2, "batch_size": 600, "random_state": 0, "tol": 0.0, "max_iter": 4}
    fast, brute = (
        fit(StochasticMeanShift(field=field, **parameters), X) for field in ("anchors", "brute")
    )
    assert_allclose(fast.modes_, brute.modes_, atol=1e-9)


def test_climbers_and_followers():
    X, h = make_data("clustered", 50, 2)
    some = fit(MeanShift(bandwidth=h, n_climbers=8, random_state=3, record=True), X)
    climbers = np.sort(np.random.RandomState(3).choice(50, 8, replace=False))
    assert_array_equal([path[0] for path in some.paths_], X[climbers])
    alone = fit(MeanShift(bandwidth=h), X).modes_
    nearest = [climbers[np.argmin(((X[climbers] - x) ** 2).sum(axis=1))] for x in X]
    assert_array_equal(some.modes_, alone[nearest])
