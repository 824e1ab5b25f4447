"""Estimators on the GPU give what they give on the CPU: labels, steps, arrays or tensors."""

import pickle
import warnings

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from helpers import make_weights
from modeshift import BlurringMeanShift, Consensus, MeanShift, StochasticMeanShift
from modeshift.engines.cuda import engine
from on_gpu import tensor

ESTIMATORS = [
    (MeanShift, {}),
    (StochasticMeanShift, {"batch_size": 20, "random_state": 3}),
    (BlurringMeanShift, {}),
]
SPACES = [
    (2, {"bandwidth": 1.0}),
    (2, {"bandwidth": 0.5, "kernel": "gaussian"}),
    (12, {"bandwidth": 3.0}),
    (12, {"bandwidth": 0.3, "metric": "cosine"}),
    (40, {"bandwidth": 3.0, "kernel": "gaussian"}),
    (40, {"bandwidth": 0.05, "kernel": "gaussian", "metric": "cosine"}),
]


def crowds(d, n=60, seed=0):
    rng = np.random.RandomState(seed)
    return 4.0 * rng.randn(4, d)[rng.randint(4, size=n)] + 0.5 * rng.randn(n, d)


@pytest.mark.parametrize(("kind", "more"), ESTIMATORS)
@pytest.mark.parametrize(("d", "options"), SPACES)
def test_labels_and_steps_are_those_of_the_cpu(kind, more, d, options):
    X = crowds(d)
    w = make_weights("real", len(X)) if options["bandwidth"] >= 1.0 else None
    here = kind(**options, **more).fit(X, sample_weight=w)
    there = kind(**options, **more, device="cuda").fit(X, sample_weight=w)
    np.testing.assert_array_equal(there.labels_, here.labels_)
    np.testing.assert_allclose(there.modes_, here.modes_, atol=1e-4)
    np.testing.assert_allclose(there.cluster_centers_, here.cluster_centers_, atol=1e-4)
    for name in ("n_iter_", "n_steps_", "converged_", "bandwidth_", "n_features_in_"):
        assert getattr(there, name) == getattr(here, name), name
    assert there.scale_ == pytest.approx(here.scale_)
    new = crowds(d, 30, seed=1)
    np.testing.assert_array_equal(there.predict(new), here.predict(new))
    np.testing.assert_array_equal(there.predict(X), there.labels_)
    far = new * 5.0
    np.testing.assert_array_equal(there.predict(far, outliers=-1), here.predict(far, outliers=-1))
    np.testing.assert_allclose(there.membership(new), here.membership(new), atol=1e-5)
    np.testing.assert_allclose(there.score_samples(new), here.score_samples(new), rtol=1e-3)


@pytest.mark.parametrize(("kind", "more"), ESTIMATORS)
@pytest.mark.parametrize(
    ("d", "weights", "options"),
    [
        (2, None, {"bandwidth": np.inf, "n_neighbors": 7}),
        (2, "zeros", {"bandwidth": 2.0, "n_neighbors": 30, "kernel": "gaussian"}),
        (12, None, {"bandwidth": np.inf, "n_neighbors": 9, "metric": "cosine"}),
        (12, "real", {"bandwidth": 4.0, "n_neighbors": 5}),
    ],
)
def test_n_neighbors_gives_the_result_of_the_cpu(kind, more, d, weights, options):
    X = crowds(d).round(1)  # ties
    w = make_weights(weights, len(X))
    here = kind(**options, **more).fit(X, sample_weight=w)
    there = kind(**options, **more, device="cuda").fit(X, sample_weight=w)
    np.testing.assert_array_equal(there.labels_, here.labels_)
    np.testing.assert_allclose(there.modes_, here.modes_, atol=1e-9)
    for name in ("n_iter_", "n_steps_", "converged_", "n_neighbors_"):
        assert getattr(there, name) == getattr(here, name), name
    assert there.scale_ == pytest.approx(here.scale_)
    new = crowds(d, 30, seed=1)
    np.testing.assert_array_equal(there.predict(new), here.predict(new))
    np.testing.assert_allclose(there.score_samples(new), here.score_samples(new), rtol=1e-3)


def test_n_neighbors_of_tensors():
    X = crowds(2)
    found = MeanShift(bandwidth=np.inf, n_neighbors=7, device="cuda").fit(tensor(X))
    expected = MeanShift(bandwidth=np.inf, n_neighbors=7).fit(X)
    assert found.labels_.tolist() == expected.labels_.tolist()


@pytest.mark.parametrize("algorithm", ["auto", "fast"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [3, 12])
def test_both_algorithms_find_the_crowds(d, dtype, algorithm):
    X = crowds(d).astype(dtype)
    expected = MeanShift(bandwidth=3.0).fit(X)
    found = MeanShift(bandwidth=3.0, device="cuda", algorithm=algorithm).fit(X)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    assert found.modes_.dtype == dtype
    assert found.cluster_centers_.dtype == dtype


@pytest.mark.parametrize(("kind", "more"), ESTIMATORS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.int32])
def test_tensors_give_tensors(kind, more, dtype):
    X = (4 * crowds(2)).round()
    model = kind(bandwidth=6.0, **more, device="cuda").fit(tensor(X).to(dtype))
    expected = kind(bandwidth=6.0, **more).fit(X)
    for name in ("labels_", "modes_", "cluster_centers_"):
        assert isinstance(getattr(model, name), torch.Tensor), name
    assert model.labels_.tolist() == expected.labels_.tolist()
    kept = dtype if dtype in (torch.float32, torch.float64) else None
    assert kept in (None, model.modes_.dtype)
    predicted = model.predict(tensor(X).to(dtype))
    assert isinstance(predicted, torch.Tensor)
    assert predicted.tolist() == expected.predict(X).tolist()


def test_the_input_is_left_alone():
    X = tensor(crowds(3))
    before = X.clone()
    for kind, more in ESTIMATORS:
        kind(bandwidth=2.0, **more, device="cuda").fit(X)
        assert torch.equal(X, before)


@pytest.mark.parametrize("strays", ["noise", "nearest"])
def test_strays(strays):
    X = np.vstack([crowds(2), [[50.0, 50.0], [52.0, 50.0], [-60.0, 0.0]]])
    options = {"bandwidth": 1.0, "min_cluster_size": 3, "strays": strays}
    expected = MeanShift(**options).fit(X)
    found = MeanShift(**options, device="cuda").fit(X)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_allclose(found.cluster_centers_, expected.cluster_centers_, atol=1e-6)
    far = np.array([[1e4, 0.0], [50.0, 51.0]])
    np.testing.assert_array_equal(found.predict(far), expected.predict(far))


@pytest.mark.parametrize("strays", ["noise", "nearest"])
def test_all_points_may_be_strays(strays):
    """The sums of no clusters failed."""
    options = {"bandwidth": 1.0, "min_cluster_size": 100, "strays": strays}
    with pytest.warns(UserWarning, match="min_cluster_size"):
        found = MeanShift(**options, device="cuda").fit(crowds(2, 6))
    np.testing.assert_array_equal(found.labels_, -1)
    assert found.cluster_centers_.shape == (0, 2)


@pytest.mark.parametrize("offset", [1e10, 1e200])
def test_points_far_from_the_origin(offset):
    """Tiles of points were bounded in float32, where different points became one."""
    X = np.linspace(0.0, 70.0, 100)[:, np.newaxis] + offset
    options = {"bandwidth": 5.0, "merge_radius": 0.1}
    expected = BlurringMeanShift(**options).fit(X)
    found = BlurringMeanShift(**options, device="cuda").fit(X)
    np.testing.assert_array_equal(found.labels_, expected.labels_)


@pytest.mark.parametrize(("place", "d", "dtype"), [(1e38, 2, "float32"), (-1e81, 32, "float64")])
def test_points_that_coincide_near_the_end_of_the_range(place, d, dtype):
    X = np.full((130, d), place, dtype=dtype)
    model = BlurringMeanShift(bandwidth=1.0, device="cuda").fit(X)
    np.testing.assert_array_equal(model.labels_, 0)
    np.testing.assert_array_equal(model.modes_, X)


def test_a_bandwidth_is_chosen():
    X = crowds(2, 120)
    found = MeanShift(device="cuda").fit(X)
    expected = MeanShift().fit(X)
    assert found.bandwidth_ == pytest.approx(expected.bandwidth_)
    np.testing.assert_array_equal(found.labels_, expected.labels_)


@pytest.mark.slow
def test_a_number_of_neighbours_is_chosen_in_many_dimensions():
    X = crowds(20, 120) + 3.0 * np.random.RandomState(0).randn(120, 20)
    found = MeanShift(device="cuda").fit(X)
    expected = MeanShift().fit(X)
    assert found.n_neighbors_ == expected.n_neighbors_ is not None
    assert found.bandwidth_ == pytest.approx(expected.bandwidth_)
    np.testing.assert_array_equal(found.labels_, expected.labels_)


def test_the_choice_knows_the_weight_of_all_points(monkeypatch):
    """Limits for small clusters were those of the sample."""
    monkeypatch.setattr(engine, "_SAMPLE", 60)
    X = crowds(2, 240)
    found = MeanShift(device="cuda").fit(X)
    expected = MeanShift().fit(X)
    assert found.profile_.total == expected.profile_.total == 240
    ratio = found.chosen_["min_cluster_size"] / expected.chosen_["min_cluster_size"]
    assert 0.5 < ratio < 2.0


def test_the_default_batch_is_a_sixteenth():
    X = crowds(2, 96)
    found = StochasticMeanShift(bandwidth=1.0, device="cuda", random_state=0).fit(X)
    expected = StochasticMeanShift(bandwidth=1.0, batch_size=6, random_state=0).fit(X)
    assert found.n_steps_ == expected.n_steps_
    np.testing.assert_array_equal(found.labels_, expected.labels_)


def test_one_point_at_a_time_follows_the_promised_draws():
    X = crowds(2, 24)
    options = {"bandwidth": 1.2, "random_state": 5, "batch_size": 1}
    expected = StochasticMeanShift(**options).fit(X)
    found = StochasticMeanShift(**options, device="cuda").fit(X)
    assert found.n_steps_ == expected.n_steps_
    np.testing.assert_allclose(found.modes_, expected.modes_, atol=1e-9)


@pytest.mark.parametrize(("kind", "more"), ESTIMATORS)
def test_the_callback_sees_the_points_climb(kind, more):
    X = crowds(2)
    seen = {"cpu": [], "cuda": []}
    for device, notes in seen.items():

        def note(progress, notes=notes):
            notes.append((progress.sweep, progress.positions, progress.count_clusters()))

        model = kind(bandwidth=1.0, **more, device=device).set_callbacks(note).fit(X)
    there, here = seen["cuda"], seen["cpu"]
    if kind is MeanShift:  # climbs that meet on the CPU follow sooner
        there, here = there[:1], here[:1]
    for (sweep, positions, n_clusters), expected in zip(there, here, strict=True):
        assert (sweep, n_clusters) == (expected[0], expected[2])
        np.testing.assert_allclose(positions, expected[1], atol=1e-6)
    sweep, positions, n_clusters = seen["cuda"][-1]
    assert sweep == model.n_iter_ - (kind is StochasticMeanShift and sweep < model.n_iter_)
    assert n_clusters == len(model.cluster_centers_)
    if kind is not StochasticMeanShift:  # which ends within a sweep
        np.testing.assert_array_equal(positions, model.modes_)


@pytest.mark.parametrize("max_iter", [7, 300])
def test_climbs_end_alike_with_leaps_and_without(max_iter):
    """A callback wants to see every step, so climbs do not leap."""
    X = crowds(3, 100)
    model = MeanShift(bandwidth=1.5, tol=1e-9, max_iter=max_iter, device="cuda")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        leapt = clone(model).fit(X)
        walked = clone(model).set_callbacks(lambda progress: None).fit(X)
    np.testing.assert_array_equal(leapt.labels_, walked.labels_)
    np.testing.assert_allclose(leapt.modes_, walked.modes_, atol=1e-9)
    for name in ("n_iter_", "n_steps_", "converged_"):
        assert getattr(leapt, name) == getattr(walked, name), name


def seeding_of(name, X):
    near = X[:9] + 0.25
    return {
        "drawn": 12,
        "more than points": 1000,
        "bins": "bins",
        "array": near,
        "some far": np.vstack([near, np.full((3, X.shape[1]), 1e4)]),
    }[name]


@pytest.mark.parametrize("name", ["drawn", "more than points", "bins", "array", "some far"])
@pytest.mark.parametrize("d", [2, 12])
def test_seeding_gives_the_result_of_the_cpu(d, name):
    X = crowds(d, 70)
    starts = seeding_of(name, X)
    options = {"bandwidth": 1.0 if d == 2 else 3.0, "seeding": starts, "random_state": 4}
    w = make_weights("real", len(X))
    models = {}
    shown = {"cpu": [], "cuda": []}
    for device, seen in shown.items():
        model = MeanShift(**options, device=device)
        model.set_callbacks(lambda progress, seen=seen: seen.append(progress.positions))
        models[device] = model.fit(X, sample_weight=w)
    here, there = models["cpu"], models["cuda"]
    np.testing.assert_array_equal(there.labels_, here.labels_)
    np.testing.assert_allclose(there.modes_, here.modes_, atol=1e-4)
    np.testing.assert_allclose(shown["cuda"][0], shown["cpu"][0], atol=1e-4)
    for attribute in ("n_iter_", "n_steps_", "converged_"):
        assert getattr(there, attribute) == getattr(here, attribute), attribute


def test_starts_without_mass_are_refused():
    with pytest.raises(ValueError, match="no start in seeding has a point of positive weight"):
        MeanShift(bandwidth=1.0, seeding=[[1e4, 0.0]], device="cuda").fit(crowds(2))


@pytest.mark.parametrize("seeding", [7, "bins"])
def test_seeding_of_tensors(seeding):
    X = crowds(2, 70)
    options = {"bandwidth": 1.0, "seeding": seeding, "random_state": 4}
    found = MeanShift(**options, device="cuda").fit(tensor(X))
    assert found.labels_.tolist() == MeanShift(**options).fit(X).labels_.tolist()


def test_several_runs_give_the_result_of_the_cpu():
    X, results = crowds(2, 60), []
    for device in ("cpu", "cuda"):
        runs = StochasticMeanShift(bandwidth=1.0, batch_size=10, device=device)
        results.append(Consensus(runs, n_runs=3, random_state=2).fit(X))
    here, there = results
    assert there.estimator_.engine_ == "cuda"
    np.testing.assert_array_equal(there.labels_, here.labels_)
    np.testing.assert_array_equal(there.confidence_, here.confidence_)
    np.testing.assert_allclose(there.cluster_centers_, here.cluster_centers_, atol=1e-6)
    new = crowds(2, 30, seed=1)
    np.testing.assert_array_equal(there.predict(new), here.predict(new))
    np.testing.assert_allclose(there.membership(new), here.membership(new), atol=1e-5)
    np.testing.assert_allclose(there.score_samples(new), here.score_samples(new), rtol=1e-6)


def test_few_steps_warn():
    with pytest.warns(match="did not converge within max_iter=1"):
        MeanShift(bandwidth=1.0, max_iter=1, device="cuda").fit(crowds(2))


def test_a_fit_to_arrays_can_be_pickled_and_go_on_without_a_gpu():
    X = crowds(12)
    model = MeanShift(bandwidth=3.0, device="cuda").fit(X.astype(np.float32))
    again = pickle.loads(pickle.dumps(model)).set_params(device="cpu")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_one_point_and_all_the_same():
    for X in (np.ones((1, 2)), np.ones((70, 2)), np.ones((70, 12))):
        for kind, more in ESTIMATORS:
            model = kind(bandwidth=1.0, **more, device="cuda").fit(X)
            assert (model.labels_ == 0).all()
            np.testing.assert_allclose(model.modes_, X)


@pytest.mark.parametrize(("kind", "more"), ESTIMATORS)
@pytest.mark.parametrize(
    ("d", "options"),
    [
        (2, {"bandwidth": 1.0}),
        (2, {"bandwidth": 1.0, "n_neighbors": 7}),
        (12, {"bandwidth": 0.3, "metric": "cosine"}),
        (12, {"bandwidth": 3.0, "feature_scale": tuple(np.linspace(1.0, 2.0, 12))}),
    ],
)
def test_cells_give_the_result_of_the_cpu(kind, more, d, options):
    X = crowds(d, 150)
    w = make_weights("real", len(X))
    options = {**options, **more, "resolution": 1.5}
    here = kind(**options).fit(X, sample_weight=w)
    there = kind(**options, device="cuda").fit(X, sample_weight=w)
    np.testing.assert_array_equal(there.labels_, here.labels_)
    np.testing.assert_allclose(there.modes_, here.modes_, atol=1e-4)
    np.testing.assert_allclose(there.cluster_centers_, here.cluster_centers_, atol=1e-4)
    for name in ("n_iter_", "n_steps_", "converged_"):
        assert getattr(there, name) == getattr(here, name), name
    new = crowds(d, 30, seed=1)
    np.testing.assert_array_equal(there.predict(X), there.labels_)
    np.testing.assert_array_equal(there.predict(new), here.predict(new))
    np.testing.assert_allclose(there.score_samples(new), here.score_samples(new), rtol=1e-3)
    np.testing.assert_array_equal(there.set_params(device="cpu").predict(new), here.predict(new))


def test_cells_of_tensors():
    X = crowds(2, 150)
    found = MeanShift(bandwidth=1.0, resolution=2.0, device="cuda").fit(tensor(X).float())
    expected = MeanShift(bandwidth=1.0, resolution=2.0).fit(X.astype(np.float32))
    assert found.labels_.tolist() == expected.labels_.tolist()
    assert found.modes_.dtype == found.cluster_centers_.dtype == torch.float32
    assert found.predict(tensor(X)).tolist() == expected.predict(X).tolist()


def test_the_callback_sees_the_points_of_the_cells():
    X, seen = crowds(2, 80), []
    model = BlurringMeanShift(bandwidth=1.0, resolution=2.0, device="cuda")
    model.set_callbacks(lambda progress: seen.append(progress.positions)).fit(X)
    np.testing.assert_array_equal(seen[-1], model.modes_)
    assert len(np.unique(seen[0], axis=0)) < len(X)


def test_streams_stay_on_the_cpu():
    model = MeanShift(bandwidth=1.0, resolution=2.0, device="cuda")
    with pytest.raises(ValueError, match=r"partial_fit keeps its cells on the CPU.*device='cpu'"):
        model.partial_fit(crowds(2))
    assert model.set_params(device="auto").partial_fit(crowds(2)).engine_ == "cpu"
