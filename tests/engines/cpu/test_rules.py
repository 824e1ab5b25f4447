"""Engine-internal checks of the variants: fast fields against the plain one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from helpers import fit, make_data
from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift
from modeshift.engines.cpu.fields import FIELDS, make_field
from modeshift.engines.rule import TRUNCATION, Flat, Gaussian, Plane, Sphere, nearest


@pytest.mark.parametrize("kind", sorted(FIELDS))
@pytest.mark.parametrize("record", [False, True])
def test_a_batch_of_all_is_blurring(kind, record):
    X, h = make_data("clustered", 40, 3)
    sweeps = 3
    parameters = {
        "bandwidth": h,
        "tol": 0.0,
        "max_iter": sweeps,
        "algorithm": kind,
        "record": record,
    }
    batch = fit(StochasticMeanShift(batch_size=99, random_state=0, **parameters), X)
    assert_allclose(batch.modes_, fit(BlurringMeanShift(**parameters), X).modes_, atol=1e-12)
    assert batch.n_steps_ == sweeps * len(X)


@pytest.mark.parametrize("kind", sorted(FIELDS))
def test_batches_agree_between_fields(kind):
    X, h = make_data("clustered", 60, 5)
    parameters = {"bandwidth": h, "batch_size": 7, "random_state": 0}
    fast, brute = (
        fit(StochasticMeanShift(algorithm=field, **parameters), X) for field in (kind, "brute")
    )
    assert_allclose(fast.modes_, brute.modes_, atol=1e-9)
    assert fast.n_steps_ == brute.n_steps_


@pytest.mark.jit
def test_a_batch_may_found_more_anchors_than_there_is_room():
    """Points on a line with a short reach: a batch sends nearly all to places of their own."""
    X = np.cumsum(np.random.default_rng(0).uniform(0.5, 1.0, 600))[:, np.newaxis]
    parameters = {"bandwidth": 1.2, "batch_size": 600, "random_state": 0, "tol": 0.0, "max_iter": 4}
    fast, brute = (
        fit(StochasticMeanShift(algorithm=field, **parameters), X) for field in ("anchors", "brute")
    )
    assert_allclose(fast.modes_, brute.modes_, atol=1e-9)


def test_climbers_and_followers():
    X, h = make_data("clustered", 50, 2)
    some = fit(MeanShift(bandwidth=h, seeding=8, random_state=3, record=True), X)
    climbers = np.sort(np.random.RandomState(3).choice(50, 8, replace=False))
    assert_array_equal([path[0] for path in some.paths_], X[climbers])
    alone = fit(MeanShift(bandwidth=h), X).modes_
    nearest = [climbers[np.argmin(((X[climbers] - x) ** 2).sum(axis=1))] for x in X]
    assert_array_equal(some.modes_, alone[nearest])


def naive_nearest(points, weights, x, k, kernel, h, on_sphere):
    """Mean of the k nearest, by weight, of the points that count under the kernel."""
    squares = ((points - x) ** 2).sum(axis=1)
    reach = h * h if kernel is Flat else (TRUNCATION * h) ** 2
    total, mean, left = 0.0, np.zeros(len(x)), k
    for i in np.argsort(squares, kind="stable"):
        if squares[i] > reach or left <= 0.0:
            break
        share = min(weights[i], left)
        left -= share
        share *= 1.0 if kernel is Flat else np.exp(-squares[i] / (2 * h * h))
        total += share
        mean += share * points[i]
    if total == 0.0:
        return x
    mean /= total
    return mean / np.linalg.norm(mean) if on_sphere else mean


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("kernel", "space"), [(Flat, Plane()), (Gaussian, Sphere())])
@pytest.mark.parametrize("kind", sorted(FIELDS))
def test_nearest_in_every_field_while_points_move(kind, space, kernel, weighted):
    rng = np.random.default_rng(1)
    on_sphere = isinstance(space, Sphere)
    points = rng.normal(size=(60, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True) if on_sphere else 1.0
    weights = rng.integers(0, 4, 60) / 2.0 if weighted else np.ones(60)
    h = 0.5
    field = make_field(points, weights, h, kind, rule=nearest(kernel(space), 6.0, weights))
    for _ in range(3):
        current = field.points.copy()
        means = field.means_near(field.points, h).means
        expected = [naive_nearest(current, weights, x, 6.0, kernel, h, on_sphere) for x in current]
        assert_allclose(means, expected, atol=1e-12)
        for j in range(0, 60, 2):
            field.move(j, means[j])


@pytest.mark.parametrize("kind", sorted(FIELDS))
def test_gathered_points_count_as_one_under_the_gaussian(kind):
    """Points within a millionth of the bandwidth are taken together, to 1e-10 of it."""
    rng = np.random.default_rng(2)
    points = rng.normal(size=(6, 2))[rng.integers(6, size=120)] + 1e-8 * rng.normal(size=(120, 2))
    weights = rng.uniform(0.5, 2.0, 120)
    fast, brute = (
        make_field(points, weights, 0.4, field, rule=Gaussian()) for field in (kind, "brute")
    )
    fast.tend()
    places = np.concatenate([points, rng.normal(size=(30, 2))])
    assert_allclose(
        fast.means_near(places, 0.4).means, brute.means_near(places, 0.4).means, atol=4e-11
    )


def test_points_that_coincide_go_on_as_one():
    X = np.repeat(make_data("clustered", 20, 2)[0], 3, axis=0)
    for kernel in ("flat", "gaussian"):
        model = BlurringMeanShift(bandwidth=1.5, kernel=kernel, record=True)
        alone, together = fit(clone(model), X), fit(clone(model), X[::3], np.full(20, 3.0))
        assert_allclose(alone.modes_[::3], together.modes_, atol=1e-12)
        assert alone.n_steps_ == 60 * alone.n_iter_
        assert len(alone.paths_) == 60


def test_learned_weights_drop_a_feature_of_noise():
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [np.repeat([0.0, 5.0], 40) + 0.1 * rng.normal(size=80), rng.normal(size=80)]
    )
    model = fit(BlurringMeanShift(bandwidth=1.0, feature_weights=0.2), X)
    assert model.feature_weights_[0] > 0.9
    assert_allclose(model.feature_weights_.sum(), 1.0)
    assert_array_equal(model.labels_, np.repeat([0, 1], 40))
    assert_array_equal(model.predict([[0.2, 3.0], [4.9, -3.0]]), [0, 1])
