"""The kernels for the GPU against their naive twins: on a GPU, or as Python by an interpreter."""

from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import make_data, make_weights
from modeshift.engines.cpu import scale
from modeshift.engines.cpu.components import connected_components as components_of
from modeshift.engines.cpu.nearest import NearestSearch as NearestOnCpu
from modeshift.engines.cpu.nearest import nearest_rows as nearest_of
from modeshift.engines.cuda import few_field, local, many_field, memory, nearest, nearest_field
from modeshift.engines.cuda.components import connected_components
from modeshift.engines.cuda.few_field import FewField
from modeshift.engines.cuda.halves import (
    make_frame,
    room_for,
    roughness_of,
    slack_of,
    split_rows,
    tiles_near,
    width_of,
)
from modeshift.engines.cuda.many_field import ManyField
from modeshift.engines.cuda.nearest import NearestSearch
from modeshift.engines.cuda.nearest_field import NearestField
from modeshift.engines.cuda.tiles import FEW, balls_around, locality_order, near_tiles, padded
from modeshift.engines.rule import TRUNCATION, Flat, Gaussian, Sphere
from modeshift.engines.rule import nearest as nearest_rule
from on_gpu import DEVICE, tensor
from twins import naive

FAST_ERROR = 2.0**-7  # of |q|^2 + |x|^2: two numbers of 8 bits


def ask(X, weights, h, places, rule=None, precision="exact", dtype=torch.float64, room=None):
    """Means and masses near places, from the field of the device that suits the data."""
    order = locality_order(tensor(X, dtype))
    kind = FewField if X.shape[1] <= FEW else ManyField
    w = np.ones(len(X)) if weights is None else weights
    field = kind(
        tensor(X, dtype)[order], tensor(w, torch.float64)[order], h, rule or Flat(), precision
    )
    if room is not None:
        field._room = room
    answer = field.means_near(tensor(places, dtype))
    return answer.means.cpu().numpy(), answer.masses.cpu().numpy(), field


def twin(X, weights, h, places, rule=naive.PLAIN):
    w = np.ones(len(X)) if weights is None else weights
    means, masses = zip(*(naive.mean_near(X, w, x, h, rule) for x in places), strict=True)
    return np.array(means), np.array(masses)


def places_for(X, h, m=20, seed=0):
    rng = np.random.default_rng(seed)
    return X[rng.integers(len(X), size=m)] + rng.normal(scale=0.2 * h, size=(m, X.shape[1]))


@pytest.mark.parametrize("kernel", ["flat", "gaussian"])
@pytest.mark.parametrize("d", [2, 9])
def test_light_points_beside_heavy_ones(d, kernel):
    """In float16 a point of 1e-13 of the heaviest weight was lost, and its mean was elsewhere."""
    X, h = make_data("clustered", 40, d)
    weights = 10.0 ** np.linspace(-8, 5, 40)
    rule = Gaussian() if kernel == "gaussian" else Flat()
    means, masses, _ = ask(X, weights, 0.1 * h, X, rule)
    expected, expected_masses = twin(X, weights, 0.1 * h, X, naive.PLAIN._replace(kernel=kernel))
    np.testing.assert_allclose(masses, expected_masses, rtol=1e-5)
    np.testing.assert_allclose(means, expected, atol=1e-5 * np.ptp(X))


@pytest.mark.product
@pytest.mark.parametrize("weights", [None, "zeros"])
@pytest.mark.parametrize("kernel", ["flat", "gaussian"])
@pytest.mark.parametrize("d", [1, 2, 3, 5, 8, 9, 17, 40, 300])
@pytest.mark.parametrize("maker", ["clustered", "lattice"])
def test_exact_means_equal_the_twin(maker, d, kernel, weights):
    X, h = make_data(maker, 70, d)
    w = make_weights(weights, 70)
    h = h if kernel == "flat" else 0.4 * h
    places = X[::4] if maker == "lattice" else places_for(X, h)
    rule = Flat() if kernel == "flat" else Gaussian()
    means, masses, _ = ask(X, w, h, places, rule)
    expected, expected_masses = twin(X, w, h, places, naive.PLAIN._replace(kernel=kernel))
    close = 1e-12
    if d > FEW:  # tensor cores: values of 22 bits; and for a Gaussian the error of the distances
        close = 1e-5 if kernel == "flat" else 1e-3
    np.testing.assert_allclose(masses, expected_masses, rtol=close)
    np.testing.assert_allclose(means, expected, atol=close * np.abs(X).max())


@pytest.mark.parametrize("d", [2, 12])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_points_at_the_radius_count(d, dtype):
    """On the lattice many pairs are exactly h apart: none of them may be lost to rounding."""
    X, _ = make_data("lattice", 90, d)
    for h in (1.0, 2.0, np.sqrt(6.0) + 1e-6):
        _, masses, _ = ask(X, None, h, X[:30], dtype=dtype)
        np.testing.assert_array_equal(masses, [naive.near(X, x, h).sum() for x in X[:30]])


@pytest.mark.parametrize("d", [2, 12])
def test_float64_is_told_apart_in_float64(d):
    """Distances that differ from h by less than float32 can say: in fields and in the merge."""
    h = np.sqrt(2.0) / 3
    X = np.zeros((3, d))
    X[1, 0], X[2, 1] = h * (1 - 1e-11), h * (1 + 1e-11)
    _, masses, _ = ask(X, None, h, X[:1])
    assert masses[0] == 2
    assert connected_components(tensor(X), h).tolist() == [0, 0, 1]


@pytest.mark.parametrize("room", [1, pytest.param(64, marks=pytest.mark.slow)])
def test_where_everything_is_in_doubt_it_is_settled(room):
    """Two groups a million bandwidths apart: 16 bits tell nothing about who is near."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 12)) + 3e6 * rng.integers(2, size=(80, 1))
    h = 5.0
    means, masses, field = ask(X, None, h, X[:20], room=room)
    np.testing.assert_array_equal(masses, [naive.near(X, x, h).sum() for x in X[:20]])
    assert field._room >= room
    expected, _ = twin(X, None, h, X[:20])
    np.testing.assert_allclose(means, expected, atol=3e6 * 2.0**-21)


@pytest.mark.parametrize("weights", [None, "real"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("d", "space"), [(12, 1e2), (40, 1e4), (300, 1e2)])
def test_wide_data_leave_no_gaussian_in_doubt(d, space, dtype, weights, monkeypatch):
    """Groups many bandwidths apart: all pairs were in doubt, and computed one by one."""
    rng = np.random.default_rng(d)
    n = 60 if d == 300 else 200
    groups = np.sort(rng.integers(5, size=n))  # places are asked in the order of space
    X = space * rng.normal(size=(5, d))[groups] + rng.normal(size=(n, d))
    X, w, h = X.astype(np.float32).astype(float), make_weights(weights, n), 0.5 * np.sqrt(d)
    monkeypatch.setattr(
        ManyField, "_settle", lambda *given: pytest.fail("pairs in doubt", pytrace=False)
    )
    means, masses, _ = ask(X, w, h, X, Gaussian(), dtype=dtype)
    expected, expected_masses = twin(X, w, h, X, naive.PLAIN._replace(kernel="gaussian"))
    np.testing.assert_allclose(masses, expected_masses, rtol=1e-4)
    close = 1e-5 * h if dtype == torch.float64 else 1e-7 * np.abs(X).max()
    np.testing.assert_allclose(means, expected, atol=close)


def test_a_block_with_places_of_both_sides_is_settled(monkeypatch):
    """Too many places far from all others to give each of them a block."""
    monkeypatch.setattr(local, "_FREE", 0)
    rng = np.random.default_rng(0)
    X = 1e4 * rng.normal(size=(15, 12)).repeat(2, axis=0) + rng.normal(size=(30, 12))
    means, masses, _ = ask(X, None, 2.0, X, Gaussian())
    expected, expected_masses = twin(X, None, 2.0, X, naive.PLAIN._replace(kernel="gaussian"))
    np.testing.assert_allclose(masses, expected_masses, rtol=1e-4)
    np.testing.assert_allclose(means, expected, atol=1e-6 * np.abs(X).max())


@pytest.mark.parametrize("sizes", [[1], [5], [16, 3], [1, 40, 16, 2]])
def test_places_are_cut_where_they_are_far_apart(sizes):
    side = np.repeat(np.arange(len(sizes)), sizes)
    places = tensor(np.c_[1e3 * side, np.random.default_rng(0).uniform(size=len(side))])
    rows, slots = local.cut_apart(places, 10.0, 16)
    assert torch.equal(rows[slots], torch.arange(len(side), device=rows.device))
    of_blocks = tensor(side)[rows].reshape(-1, 16)
    assert bool((of_blocks == of_blocks[:, :1]).all())
    assert len(of_blocks) == sum(-(-size // 16) for size in sizes)


@pytest.mark.parametrize("d", [16, 60, 256])
@pytest.mark.parametrize("kind", ["all signs", "positive", "two far away"])
def test_the_error_of_a_margin_is_within_its_bound(d, kind):
    """Two points far away make all others so small that float16 has too few digits for them."""
    rng = np.random.default_rng(d)
    rows = tensor(rng.uniform(0 if kind == "positive" else -1, 1, size=(200, d)), torch.float32)
    if kind == "two far away":
        rows = torch.cat([(rows - rows.mean(dim=0))[2:], rows[:1] * 0 + 1e5, rows[:1] * 0 - 1e5])
    frame = make_frame(rows, 1.0)
    halves = split_rows(rows, frame, room_for(rows, 8, width_of(d), "exact"))
    exact = (rows.double() - frame.centre.double()) * frame.factor
    if DEVICE.type == "cuda":  # the tensor cores themselves
        product = lambda a, b: torch.mm(a, b.T, out_dtype=torch.float32)  # noqa: E731
    else:
        product = lambda a, b: a.float() @ b.float().T  # noqa: E731
    upper = product(halves.high, halves.high)
    score = upper + (product(halves.high, halves.low) + product(halves.low, halves.high))
    squares = 2.0 * halves.half_squares.double()
    bound = slack_of(squares, d)
    error = (score.double() - exact @ exact.T).abs()
    assert bool((error <= bound[:, None] + bound).all())
    error = (upper.double() - exact @ exact.T).abs()
    assert bool((error <= roughness_of(d) * (bound[:, None] + bound)).all())


@pytest.mark.parametrize("d", [9, 40])
def test_fast_errs_only_where_bfloat16_cannot_tell(d):
    X, h = make_data("clustered", 90, d)
    _, masses, _ = ask(X, None, h, X, precision="fast")
    centred = X - X.mean(axis=0)
    squares = (centred**2).sum(axis=1)
    slack = FAST_ERROR * (squares[:, None] + squares)
    gaps = ((X[:, None] - X) ** 2).sum(axis=2)
    assert np.all(masses >= (gaps <= h * h - slack).sum(axis=1))
    assert np.all(masses <= (gaps <= h * h + slack).sum(axis=1))


@pytest.mark.parametrize("d", [2, 12])
def test_shares_of_the_work_add_up(d, monkeypatch):
    for module in (few_field, many_field):
        monkeypatch.setattr(module, "n_processors", lambda device: 8)
    monkeypatch.setattr(few_field, "_FAN", 4)
    X, h = make_data("uniform", 150, d)
    means, masses, _ = ask(X, None, h, X[:12])
    expected, expected_masses = twin(X, None, h, X[:12])
    np.testing.assert_array_equal(masses, expected_masses)
    np.testing.assert_allclose(means, expected, atol=1e-5)


@pytest.mark.parametrize("d", [3, 12])
@pytest.mark.parametrize("precision", ["exact", "fast"])
def test_places_far_from_all_points_stay(d, precision):
    """However far: float16 ends at 65,504, and an infinite product would be near everybody."""
    X, h = make_data("clustered", 40, d)
    far = X[0] + np.array([[1e3], [-1e3], [1e5], [-1e5], [1e9], [1e15]])
    places = np.vstack([X[:2], far])
    means, masses, _ = ask(X, None, h, places, precision=precision)
    np.testing.assert_array_equal(means[2:], far)
    np.testing.assert_array_equal(masses[2:], 0.0)
    assert np.all(masses[:2] >= 1)


@pytest.mark.parametrize("rule", [Flat(), Gaussian(), Flat(Sphere())], ids=repr)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("d", [2, 5])
def test_a_leap_equals_its_steps_one_by_one(d, dtype, rule):
    X, h = make_data("clustered", 50, d)
    if rule.space == Sphere():
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        h = 0.2
    _, _, field = ask(X, None, h, X[:1], rule, dtype=dtype)
    tol, most, places = 0.02 * h, 5, field.points
    leapt = field.leap(places, tol, most)
    steps = torch.zeros(len(places), dtype=torch.int64, device=DEVICE)
    climbing = torch.ones(len(places), dtype=torch.bool, device=DEVICE)
    for _ in range(most):
        answer = field.means_near(places)
        places = torch.where(climbing[:, None], answer.means, places)
        steps += climbing
        climbing = climbing & (answer.squares > tol * tol)
    assert steps.unique().tolist() != [most]
    assert torch.equal(leapt.steps, steps)
    assert torch.equal(leapt.squares > tol * tol, climbing)
    close = 1e-12 if dtype == torch.float64 else 1e-5
    torch.testing.assert_close(leapt.means, places, rtol=0.0, atol=close * float(np.abs(X).max()))


def test_many_climbs_take_one_step_at_a_time():
    _, _, field = ask(*make_data("clustered", 50, 2)[:1], None, 1.0, np.zeros((1, 2)))
    assert field.leap_length(few_field._MOST_LEAPING) > 1
    assert field.leap_length(few_field._MOST_LEAPING + 1) == 1


@pytest.mark.parametrize("weights", [None, "real"])
@pytest.mark.parametrize("d", [2, 12])
def test_a_field_follows_its_points(d, weights):
    X, h = make_data("clustered", 60, d)
    w = make_weights(weights, 60)
    w = np.ones(60) if w is None else w
    kind = FewField if d <= FEW else ManyField
    field = kind(tensor(X), tensor(w), h, Flat(), "exact")
    rows = tensor([3, 17, 44])
    field.move_points(rows, tensor(X[:3] + 0.25))
    X[[3, 17, 44]] = X[:3] + 0.25
    answer = field.means_near(field.points)
    expected, masses = twin(X, w, h, X)
    np.testing.assert_allclose(answer.masses.cpu(), masses, rtol=1e-6)
    np.testing.assert_allclose(answer.means.cpu(), expected, atol=1e-5)


def test_a_gpu_with_less_shared_memory_gets_smaller_tiles(monkeypatch):
    asked = []

    class Picky:
        def __getitem__(self, grid):
            def launch(*arguments, BLOCK, **constants):
                asked.append(BLOCK)
                if BLOCK > 32:
                    raise many_field.OutOfResources(300_000, 100_000, "shared memory")
                return kernel[grid](*arguments, BLOCK=BLOCK, **constants)

            return launch

    kernel = many_field.sweep_many
    monkeypatch.setattr(many_field, "sweep_many", Picky())
    X, h = make_data("clustered", 50, 12)
    _, masses, _ = ask(X, None, h, X)
    assert asked == [128, 128, 64, 32]
    np.testing.assert_array_equal(masses, [naive.near(X, x, h).sum() for x in X])


def test_memory_that_runs_out_means_fewer_places_at_a_time(monkeypatch):
    sizes = []

    def work(rows):
        sizes.append(len(rows))
        if len(rows) > 1500:
            raise torch.cuda.OutOfMemoryError
        return (rows + 1,)

    rows = torch.arange(9000.0)[:, None]
    (result,) = memory.in_chunks(work, rows)
    assert torch.equal(result, rows + 1)
    assert sizes[0] == 9000
    assert max(sizes[2:]) <= 1500

    def hopeless(rows):
        raise torch.cuda.OutOfMemoryError

    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (2**30, 2**33))
    with pytest.raises(MemoryError, match=r"1\.0 of 8\.0 GiB free.*device='cpu'"):
        memory.in_chunks(hopeless, rows)


@pytest.mark.parametrize("maker", ["clustered", "uniform", "lattice", "duplicates"])
@pytest.mark.parametrize("d", [1, 2, 12])
def test_components_equal_those_of_the_cpu(maker, d):
    X, h = make_data(maker, 150, d)
    for radius in (0.3 * h, 1.0) if maker == "lattice" else (0.2 * h, 0.5 * h):
        found = connected_components(tensor(X), radius).cpu().numpy()
        np.testing.assert_array_equal(found, components_of(X, radius))


def test_a_long_chain_is_one_component():
    X = np.c_[np.arange(500.0), np.zeros(500)][np.random.default_rng(0).permutation(500)]
    assert int(connected_components(tensor(X), 1.0).max()) == 0
    assert int(connected_components(tensor(X), 0.99).max()) == 499


@pytest.mark.parametrize("d", [2, 12])
def test_nearest_rows_equal_those_of_the_cpu(d):
    X, _ = make_data("lattice", 90, d)
    places, _ = make_data("uniform", 50, d)
    for asked in (places, X):  # on the lattice there are ties
        found = NearestSearch(tensor(X))(tensor(asked)).cpu().numpy()
        np.testing.assert_array_equal(found, nearest_of(X, asked))


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
@pytest.mark.parametrize(("n", "d"), [(1, 2), (7, 3), (90, 2), (200, 12)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_several_nearest_equal_those_of_the_cpu(n, d, dtype):
    X, _ = make_data("uniform", n, d)
    X = np.concatenate([X, X[: n // 3]]).astype(np.float32).astype(float)
    far = np.full((1, d), 1e30 if dtype == torch.float32 else 1e200)
    places = np.concatenate([X, make_data("uniform", 50, d)[0], far])
    rows, squares = NearestSearch(tensor(X, dtype)).several(tensor(places, dtype), 10)
    expected = NearestOnCpu(X).several(places, 10)
    np.testing.assert_allclose(squares[:-1].cpu(), expected.squares[:-1], rtol=1e-3, atol=1e-5)
    assert (squares[:, 0].cpu().numpy()[: len(X)] == 0.0).all()
    assert (squares[-1] >= 1e29).all()
    if dtype == torch.float64:
        np.testing.assert_array_equal(rows.cpu(), expected.rows)


@pytest.mark.parametrize(("n", "d"), [(90, 1), (300, 2), (1500, 2), (200, 12)])
def test_several_nearest_of_a_lattice_are_those_of_the_cpu(n, d):
    X = 0.1 * make_data("lattice", n, d)[0]  # no whole numbers: the last bit decides
    rows, squares = NearestSearch(tensor(X)).several(tensor(X[:40]), 10)
    expected = NearestOnCpu(X).several(X[:40], 10)
    np.testing.assert_array_equal(squares.cpu(), expected.squares)
    np.testing.assert_array_equal(rows.cpu(), expected.rows)


def test_of_equally_near_targets_the_lower_ones_stay():
    """They were lost when nearer targets, which come later, took their slots."""
    angles = 0.5 * np.pi * np.arange(64)
    around = np.c_[np.cos(angles), np.sin(angles)].round()
    X = np.r_[around, np.full((5, 2), 0.25)]
    rows, _ = NearestSearch(tensor(X)).several(tensor(np.zeros((1, 2))), 10)
    assert rows[0].tolist() == [64, 65, 66, 67, 68, 0, 1, 2, 3, 4]


def test_far_tiles_are_not_visited():
    """With targets that are NaN in far tiles nothing changes, because nobody looks at them."""
    X = np.r_[make_data("uniform", 2000, 2)[0], make_data("uniform", 4000, 2)[0] + 1e3]
    search = NearestSearch(tensor(X))
    places = tensor(X[:30])
    expected = search.several(places, 5)
    far = (search._tiles.columns > 500).any(dim=0)
    assert int(far.sum()) >= 4000
    search._tiles.columns[:, far] = torch.nan
    search._tiles.numbers[far] = -1
    found = search.several(places, 5)
    assert torch.equal(found.rows, expected.rows)


def nearest_field_of(X, weights, h, k, ball, precision="exact", dtype=torch.float64):
    order = locality_order(tensor(X, dtype))
    w = np.ones(len(X)) if weights is None else weights
    return NearestField(
        tensor(X, dtype)[order], tensor(w)[order], h, nearest_rule(ball, k, w), precision, order
    )


@pytest.mark.parametrize("k", [1.0, 6.0, 40.0])
@pytest.mark.parametrize("weights", [None, "real", "zeros"])
@pytest.mark.parametrize("d", [2, 12])
@pytest.mark.parametrize("maker", ["clustered", "lattice"])
def test_means_of_the_nearest_equal_the_twin(maker, d, weights, k):
    X, h = make_data(maker, 90, d)
    w = make_weights(weights, 90)
    places = X[::4] if maker == "lattice" else places_for(X, h)
    for ball, kernel, radius in ((Flat(), "flat", np.inf), (Gaussian(), "gaussian", 0.4 * h)):
        field = nearest_field_of(X, w, radius, k, ball)
        answer = field.means_near(tensor(places))
        rule = naive.PLAIN._replace(kernel=kernel, n_neighbors=k)
        expected, masses = twin(X, w, radius, places, rule)
        np.testing.assert_allclose(answer.masses.cpu(), masses, rtol=1e-12)
        np.testing.assert_allclose(answer.means.cpu(), expected, atol=1e-12 * np.abs(X).max())


@pytest.mark.parametrize("weights", [None, "real"])
def test_points_that_do_not_fit_at_once_are_found_in_rounds(weights, monkeypatch):
    monkeypatch.setattr(nearest_field, "MOST", 8)
    rounds, keep = [], nearest.keep_nearest
    monkeypatch.setattr(
        nearest_field, "keep_nearest", lambda *given: rounds.append(given) or keep(*given)
    )
    X, _ = make_data("lattice", 120, 2)  # ties across the rounds
    w = make_weights(weights, 120)
    field = nearest_field_of(X, w, 2.5, 37.0, Flat())
    answer = field.means_near(tensor(X))
    assert len(rounds) > 3
    expected, masses = twin(X, w, 2.5, X, naive.PLAIN._replace(n_neighbors=37.0))
    np.testing.assert_allclose(answer.masses.cpu(), masses, rtol=1e-12)
    np.testing.assert_allclose(answer.means.cpu(), expected, atol=1e-12)


@pytest.mark.parametrize("weights", [None, "zeros"])
@pytest.mark.parametrize("maker", ["clustered", "lattice", "duplicates"])
@pytest.mark.parametrize(("d", "k"), [(2, 7), (2, 60), (12, 5)])
def test_the_scale_of_an_infinite_bandwidth_is_that_of_the_cpu(maker, d, k, weights, monkeypatch):
    monkeypatch.setattr(scale, "_SAMPLE", 50)
    monkeypatch.setattr(nearest_field, "MOST", 32)  # several rounds
    X = 0.1 * make_data(maker, 120, d)[0]
    w = make_weights(weights, 120)
    w = np.ones(120) if w is None else w
    found = scale.nearest_scale(X, w, k, partial(nearest_field.farthest_of_nearest, DEVICE))
    assert found == scale.nearest_scale(X, w, k)


def test_fast_finds_the_nearest_in_float32():
    X, _ = make_data("clustered", 90, 12)
    means = nearest_field_of(X, None, np.inf, 5.0, Flat(), "fast").means_near(tensor(X)).means
    expected, _ = twin(X, None, np.inf, X, naive.PLAIN._replace(n_neighbors=5.0))
    np.testing.assert_allclose(means.cpu(), expected, atol=1e-12 * np.abs(X).max())


@settings(max_examples=25)
@given(st.integers(1, 300), st.sampled_from([1, 2, 7, 8, 9, 30]), st.integers(0, 2**32 - 1))
def test_near_tiles_miss_nobody(n, d, seed):
    X, h = make_data("clustered", n, d, seed)
    points = tensor(X, torch.float32)
    order = locality_order(points)
    assert sorted(order.tolist()) == list(range(n))
    sorted_points = points[order]
    blocks = balls_around(padded(sorted_points, 16), 16)
    tiles = balls_around(padded(sorted_points, 8), 8)
    visits = near_tiles(blocks, tiles, h)
    listed = {
        (block, int(tile))
        for block, (start, count) in enumerate(zip(visits.starts, visits.counts, strict=True))
        for tile in visits.tiles[start : start + count]
    }
    near = torch.cdist(sorted_points.double(), sorted_points.double()) <= h
    assert {(int(i) // 16, int(j) // 8) for i, j in near.nonzero()} <= listed


@pytest.mark.parametrize("scale", [1.0, 1e6])
@pytest.mark.parametrize(("n", "d"), [(1, 9), (70, 9), (300, 12), (150, 300)])
def test_lists_of_tiles_miss_nobody(n, d, scale):
    """Blocks of places, some far away, and tiles of points; the last of each is not full."""
    X, h = make_data("clustered", n, d, n)
    X = X + scale * np.arange(n)[:, None] // (n // 2 + 1)
    points = tensor(X)
    places = torch.cat([points[: n // 2 + 1], points[:1] + 1e9, points[:1] - 3 * scale])
    frame, width = make_frame(points, h), width_of(d)
    tiles = split_rows(points, frame, room_for(points, 8, width, "exact"))
    blocks = split_rows(places, frame, room_for(places, 16, width, "exact"))
    visits, worth_it = tiles_near(blocks, tiles, h * frame.factor)
    n_tiles = len(tiles.radii)
    listed = {
        (block, int(tile))
        for block, (start, count) in enumerate(zip(visits.starts, visits.counts, strict=True))
        for tile in (visits.tiles[start : start + count] if worth_it else range(n_tiles))
    }
    near = torch.cdist(places, points, compute_mode="donot_use_mm_for_euclid_dist") <= h
    assert {(int(i) // 16, int(j) // 8) for i, j in near.nonzero()} <= listed
    if n == 300 and scale > 1:
        assert len(listed) < 0.7 * len(blocks.radii) * n_tiles


def test_the_truncation_is_that_of_the_cpu():
    X = np.zeros((1, 12))
    for distance, counts in ((TRUNCATION - 1e-6, True), (TRUNCATION + 1e-6, False)):
        place = np.eye(1, 12) * distance
        _, masses, _ = ask(X, None, 1.0, place, Gaussian())
        assert (masses[0] > 0) == counts
