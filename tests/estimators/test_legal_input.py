"""What is legal works: odd shapes, places, scales and kinds of arrays."""

import sys

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher
from numpy.testing import assert_allclose, assert_array_equal

from modeshift import BlurringMeanShift, MeanShift, StochasticMeanShift

ESTIMATORS = {
    "deterministic": lambda **options: MeanShift(**options),
    "bins": lambda **options: MeanShift(seeding="bins", **options),
    "stochastic": lambda **options: StochasticMeanShift(random_state=0, **options),
    "blurring": lambda **options: BlurringMeanShift(**options),
}
OVERFLOWING = 2.0**1020  # the sum of twenty of these is no float64

# Squares of distances may become inf. Compiled kernels do not mention it, plain Python does.
squares_overflow = pytest.mark.filterwarnings("ignore:overflow encountered in scalar")


@pytest.fixture(params=ESTIMATORS)
def make(request):
    """One estimator after the other, ready to be given its options."""
    return ESTIMATORS[request.param]


def blobs(n=40, d=2, seed=0):
    """Points around three centres, on a lattice of 2**-10 so that moving them rounds nothing."""
    rng = np.random.default_rng(seed)
    centers = 6.0 * np.arange(3)[:, np.newaxis] + np.zeros(d)
    X = centers[rng.choice(3, size=n, p=[0.5, 0.3, 0.2])] + rng.normal(scale=0.6, size=(n, d))
    return np.round(X * 1024) / 1024


X = blobs()
WEIGHTS = np.random.default_rng(1).integers(0, 4, len(X)).astype(float)


def assert_same_fit(actual, expected):
    """Two fits agree in labels, positions and labels of new points, to the last bits or so."""
    assert_array_equal(actual.labels_, expected.labels_)
    assert_allclose(actual.modes_, expected.modes_, rtol=1e-12)
    assert_allclose(actual.cluster_centers_, expected.cluster_centers_, rtol=1e-12)


def test_the_data_are_worth_testing_with(make):
    """More than one cluster, of different sizes, so that labels mean something."""
    sizes = np.bincount(make(bandwidth=1.5).fit(X).labels_)
    assert len(sizes) >= 3
    assert len(set(sizes)) >= 3


# Few points, few features, many of the same


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("bandwidth", [None, 1e-3, 1.0, 1e9])
def test_one_point(make, d, bandwidth):
    point = np.full((1, d), 2.5)
    new = point + np.array([[0.0], [1.0], [1e6]])
    estimator = make(bandwidth=bandwidth).fit(point)
    assert_array_equal(estimator.labels_, [0])
    assert_array_equal(estimator.modes_, point)
    assert_array_equal(estimator.cluster_centers_, point)
    assert estimator.converged_
    assert_array_equal(estimator.predict(new), [0, 0, 0])


def test_one_feature(make):
    column = np.array([[5.0], [0.0], [5.5], [0.2], [5.2], [-40.0]])
    estimator = make(bandwidth=1.0).fit(column)
    assert_array_equal(estimator.labels_, [0, 1, 0, 1, 0, 2])
    centers = estimator.cluster_centers_.ravel()
    assert 5.0 <= centers[0] <= 5.5
    assert 0.0 <= centers[1] <= 0.2
    assert centers[2] == -40.0
    assert_array_equal(estimator.predict([[5.1], [0.3], [-39.9], [-30.0], [2.9]]), [0, 1, 2, 2, 0])


@pytest.mark.parametrize("bandwidth", [None, 1e-3, 1e3])
@pytest.mark.parametrize("place", [0.0, 0.1, -1e8])
def test_all_points_identical(make, bandwidth, place):
    same = np.full((7, 2), place)
    estimator = make(bandwidth=bandwidth).fit(same)
    assert_array_equal(estimator.labels_, np.zeros(7))
    assert_array_equal(estimator.modes_, same)
    assert_array_equal(estimator.cluster_centers_, same[:1])
    assert estimator.bandwidth_ == (bandwidth or 1.0)


def test_many_duplicates(make):
    sites = np.array([[0.0, 0.0], [0.5, 0.0], [10.0, 0.0], [20.0, 3.0]])
    of_site = np.repeat([3, 0, 2, 1], [4, 9, 6, 21])
    of_site = np.random.default_rng(0).permutation(of_site)
    estimator = make(bandwidth=1.0).fit(sites[of_site])
    assert_array_equal(estimator.labels_, np.array([0, 0, 1, 2])[of_site])
    first, *others = estimator.cluster_centers_
    assert 0.0 <= first[0] <= 0.5
    assert first[1] == 0.0
    assert_allclose(others, sites[2:], rtol=1e-12)
    assert_array_equal(estimator.predict(sites), [0, 0, 1, 2])


@pytest.mark.parametrize("bandwidth", [100.0, 1e6, 1e150, 1e308])
def test_bandwidth_larger_than_the_data(make, bandwidth):
    estimator = make(bandwidth=bandwidth).fit(X)
    assert_array_equal(estimator.labels_, np.zeros(len(X)))
    assert len(estimator.cluster_centers_) == 1
    assert estimator.bandwidth_ == bandwidth
    assert_array_equal(estimator.predict([[1e9, 0.0], [0.0, 0.0]]), [0, 0])


@squares_overflow
@pytest.mark.parametrize("bandwidth", [1e-4, 1e-150, 1e-300])
def test_bandwidth_smaller_than_every_gap(make, bandwidth):
    points = np.unique(X, axis=0)[::-1]
    estimator = make(bandwidth=bandwidth).fit(points)
    assert_array_equal(estimator.labels_, np.arange(len(points)))
    assert_array_equal(estimator.modes_, points)
    assert_array_equal(estimator.cluster_centers_, points)
    assert_array_equal(estimator.predict(points), np.arange(len(points)))


# Places and scales


@pytest.mark.parametrize("bandwidth", [1.5, None])
@pytest.mark.parametrize("offset", [1e8, -1e8])
def test_huge_offset(make, offset, bandwidth):
    here = make(bandwidth=bandwidth).fit(X)
    there = make(bandwidth=bandwidth).fit(X + offset)
    assert_array_equal(there.labels_, here.labels_)
    spacing = np.spacing(abs(offset))
    assert_allclose(there.modes_ - offset, here.modes_, rtol=0, atol=2 * spacing)
    assert_allclose(there.bandwidth_, here.bandwidth_, rtol=1e-12)
    new = blobs(seed=5)
    assert_array_equal(there.predict(new + offset), here.predict(new))


@pytest.mark.parametrize("scale", [1e-300, 2.0**-1000, 1e-160, 1e160, 2.0**1000, 1e300])
@pytest.mark.parametrize("bandwidth", [1.5, None])
def test_tiny_and_huge_scales(make, scale, bandwidth):
    plain = make(bandwidth=bandwidth).fit(X, sample_weight=WEIGHTS)
    scaled = make(bandwidth=bandwidth and bandwidth * scale).fit(X * scale, sample_weight=WEIGHTS)
    assert_array_equal(scaled.labels_, plain.labels_)
    assert_allclose(scaled.bandwidth_ / scale, plain.bandwidth_, rtol=1e-12)
    assert_allclose(scaled.modes_ / scale, plain.modes_, rtol=1e-9, atol=1e-12)
    assert_allclose(scaled.cluster_centers_ / scale, plain.cluster_centers_, rtol=1e-9, atol=1e-12)
    new = blobs(seed=5)
    assert_array_equal(scaled.predict(new * scale), plain.predict(new))


@pytest.mark.parametrize("scale", [2.0**-120, 2.0**120])
def test_tiny_and_huge_float32(make, scale):
    """The square of such a number is no float32."""
    plain = make(bandwidth=1.5).fit(X.astype(np.float32))
    scaled = make(bandwidth=1.5 * scale).fit(X.astype(np.float32) * np.float32(scale))
    assert_array_equal(scaled.labels_, plain.labels_)
    assert scaled.modes_.dtype == np.float32
    assert_array_equal(scaled.modes_ / np.float32(scale), plain.modes_)


@squares_overflow
@pytest.mark.parametrize("far", [1e9, 1e155, 1e300, 1.7e308])
def test_huge_extent_beside_small_structure(make, far):
    points = np.array([[0.0, 0.0], [0.5, 0.0], [0.2, 0.2], [3.0, 0.0], [far, far]])
    estimator = make(bandwidth=1.0).fit(points)
    assert_array_equal(estimator.labels_, [0, 0, 0, 1, 2])
    assert_array_equal(estimator.modes_[3:], points[3:])
    assert_array_equal(estimator.predict(points), estimator.labels_)
    assert_array_equal(estimator.predict([[0.9, 0.0], [3.5, 0.0]]), [0, 1])


@squares_overflow
@pytest.mark.parametrize("far", [1e9, 1e155, 1e300, 1.7e308])
def test_huge_extent_on_both_sides(make, far):
    """The distance between the outer two may be no float64."""
    points = np.array([[far], [0.0], [-far]])
    assert 0.0 < make(bandwidth=None).fit(points).bandwidth_ < np.inf
    estimator = make(bandwidth=1.0).fit(points)
    assert_array_equal(estimator.labels_, [0, 1, 2])
    assert_array_equal(estimator.cluster_centers_, points)


@squares_overflow
def test_values_whose_sum_is_no_number(make):
    """Partial sums are +inf and -inf, and their sum was a RuntimeWarning."""
    largest = np.finfo(np.float32).max
    far = np.full((8, 33), largest, dtype=np.float32)
    far[:, 1::2] *= -1
    assert_array_equal(make(bandwidth=1.0).fit(far).labels_, 0)


@pytest.mark.parametrize("far", [1e9, 1e155, 1e300, 1.7e308])
def test_new_points_far_from_everything(make, far):
    """They have nobody near and take the label of the nearest centre."""
    estimator = make(bandwidth=1.0).fit([[0.0, 0.0], [0.1, 0.0], [far, 0.0]])
    assert_array_equal(estimator.predict([[0.9 * far, 0.0], [-far, 0.0]]), [1, 0])


@squares_overflow
@pytest.mark.parametrize("far", [1e155, 1e300, 1.7e308])
def test_new_points_so_far_that_all_centers_are_equally_near(make, far):
    estimator = make(bandwidth=1.0).fit([[0.0, 0.0], [0.1, 0.0], [10.0, 0.0]])
    assert set(estimator.predict([[far, 0.0], [-far, -far]])) <= {0, 1}


@squares_overflow
def test_starts_far_from_everything():
    """A start as far as float64 reaches has nobody near and is dropped."""
    estimator = MeanShift(bandwidth=1.0, seeding=[[1.7e308], [0.0], [9.5]])
    assert_array_equal(estimator.fit([[0.0], [0.1], [10.0]]).labels_, [0, 0, 1])


# Weights


@pytest.mark.parametrize("scale", [1e-300, 1e-3, 1e300, OVERFLOWING])
def test_scale_of_the_weights_does_not_matter(make, scale):
    plain = make(bandwidth=1.5).fit(X, sample_weight=WEIGHTS)
    scaled = make(bandwidth=1.5).fit(X, sample_weight=WEIGHTS * scale)
    assert_same_fit(scaled, plain)
    new = blobs(seed=5)
    assert_array_equal(scaled.predict(new), plain.predict(new))


def test_weights_that_no_sum_can_hold_still_rank_the_clusters(make):
    """The second cluster is the heavier one."""
    estimator = make(bandwidth=1.0).fit(
        [[0.0], [9.0], [0.1], [9.1], [9.2]], sample_weight=np.full(5, 1.7e308)
    )
    assert_array_equal(estimator.labels_, [1, 0, 1, 0, 0])


@pytest.mark.parametrize("scale", [1e-300, 1 / 40, 1e300, OVERFLOWING])
def test_scale_of_the_weights_does_not_matter_to_the_estimated_bandwidth(make, scale):
    """Weights that sum to 1 are as good as weights of 1."""
    plain = make().fit(X)
    scaled = make().fit(X, sample_weight=np.full(len(X), scale))
    assert_allclose(scaled.bandwidth_, plain.bandwidth_, rtol=1e-9)
    assert_same_fit(scaled, plain)


@pytest.mark.parametrize(
    "weights",
    [list(WEIGHTS), WEIGHTS.astype(int), WEIGHTS.astype(np.float32), WEIGHTS.astype(">f8")],
    ids=["list", "int", "float32", "big-endian"],
)
def test_kinds_of_weights(make, weights):
    expected = make(bandwidth=1.5).fit(X, sample_weight=WEIGHTS)
    assert_same_fit(make(bandwidth=1.5).fit(X, sample_weight=weights), expected)


def test_weights_may_be_bool(make):
    """True and False say who attracts."""
    mask = WEIGHTS > 0
    expected = make(bandwidth=1.5).fit(X, sample_weight=mask.astype(float))
    assert_same_fit(make(bandwidth=1.5).fit(X, sample_weight=mask), expected)


# Kinds of arrays


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def spread_out(array):
    """The same values, every third row and second column backwards of a larger array."""
    large = np.zeros((3 * len(array), 2 * array.shape[1]))
    view = large[::3, ::-2]
    view[...] = array
    return view


WHOLE = np.round(X)
KINDS = {
    "int64": (WHOLE, lambda array: array.astype(np.int64)),
    "uint8": (WHOLE - WHOLE.min(), lambda array: array.astype(np.uint8)),
    "bool": (X > 4, lambda array: array.astype(bool)),
    "float16": (X.astype(np.float16), lambda array: array.astype(np.float16)),
    "longdouble": (X, lambda array: array.astype(np.longdouble)),
    "read-only": (X, read_only),
    "Fortran": (X, np.asfortranarray),
    "not contiguous": (X, spread_out),
    "big-endian float64": (X, lambda array: array.astype(">f8")),
    "big-endian float32": (X, lambda array: array.astype(">f4")),
    "big-endian int32": (WHOLE, lambda array: array.astype(">i4")),
    "list of lists": (X, lambda array: array.tolist()),
    "list of arrays": (X, list),
    "numeric objects": (X, lambda array: array.astype(object)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_arrays(make, kind):
    values, convert = KINDS[kind]
    values = values.astype(np.float64)
    expected = make(bandwidth=1.5).fit(values)
    actual = make(bandwidth=1.5).fit(convert(values))
    assert_same_fit(actual, expected)
    assert actual.modes_.dtype.isnative
    assert_array_equal(actual.predict(convert(values)), expected.predict(values))


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_arrays_with_an_estimated_bandwidth(make, kind):
    values, convert = KINDS[kind]
    expected = make().fit(values.astype(np.float64))
    actual = make().fit(convert(values))
    assert 0 < actual.bandwidth_ < np.inf
    assert_allclose(actual.bandwidth_, expected.bandwidth_)
    assert_array_equal(actual.labels_, expected.labels_)


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        (np.float32, np.float32),
        (np.float64, np.float64),
        (np.float16, np.float64),
        (np.int32, np.float64),
        (bool, np.float64),
    ],
)
def test_float32_is_kept_and_all_else_becomes_float64(make, dtype, expected):
    estimator = make(bandwidth=1.5, record=True).fit(X.astype(dtype))
    assert estimator.modes_.dtype == expected
    assert estimator.cluster_centers_.dtype == expected
    assert {path.dtype for path in estimator.paths_} == {np.dtype(expected)}
    assert isinstance(estimator.bandwidth_, float)
    assert estimator.labels_.dtype.kind == "i"
    assert estimator.predict(X.astype(dtype)).dtype == estimator.labels_.dtype


def test_float32_differs_from_float64_by_rounding_alone(make):
    """All arithmetic is float64: the modes are those of the same numbers, rounded once."""
    single = X.astype(np.float32) + np.float32(0.1)
    expected = make(bandwidth=1.5).fit(single.astype(np.float64))
    actual = make(bandwidth=1.5).fit(single)
    assert_array_equal(actual.labels_, expected.labels_)
    assert_array_equal(actual.modes_, expected.modes_.astype(np.float32))


# What is the user's stays the user's


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_input_is_not_modified(make, dtype):
    data, weights = X.astype(dtype), WEIGHTS.copy()
    before = data.copy()
    make(bandwidth=1.5).fit(data, sample_weight=weights).predict(data)
    assert_array_equal(data, before)
    assert_array_equal(weights, WEIGHTS)


def test_seeding_is_not_modified():
    seeding = X[:5].copy()
    MeanShift(bandwidth=1.5, seeding=seeding).fit(X)
    assert_array_equal(seeding, X[:5])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_changing_the_data_after_the_fit_changes_nothing(make, dtype):
    data = np.array([[0.0], [0.1], [10.0]], dtype=dtype)
    estimator = make(bandwidth=4.0).fit(data)
    assert_array_equal(estimator.predict([[3.0]]), [0])
    data[...] = 6.9  # over these the new point would climb to the other cluster
    assert_array_equal(estimator.predict([[3.0]]), [0])


def test_changing_the_weights_after_the_fit_changes_nothing(make):
    weights = np.array([3.0, 1.0])
    estimator = make(bandwidth=4.0).fit([[0.0], [6.0]], sample_weight=weights)
    assert_array_equal(estimator.predict([[3.0]]), [0])
    weights[...] = [1.0, 3.0]  # with these the new point would climb to the other cluster
    assert_array_equal(estimator.predict([[3.0]]), [0])


# Kinds of numbers as parameters

NUMPY_PARAMETERS = {
    "bandwidth": np.float32(1.5),
    "tol": np.float32(2**-9),
    "merge_radius": np.float16(0.25),
    "max_iter": np.int64(300),
    "min_cluster_size": np.uint8(1),
    "n_jobs": np.int32(2),
    "record": np.False_,
}


def test_numbers_of_numpy_as_parameters(make):
    expected = make(bandwidth=1.5, tol=2**-9).fit(X)
    actual = make(**NUMPY_PARAMETERS).fit(X)
    assert_array_equal(actual.modes_, expected.modes_)
    assert_array_equal(actual.labels_, expected.labels_)
    assert isinstance(actual.bandwidth_, float)


def compiled_versions():
    """How many versions of each kernel of the package have been compiled so far."""
    modules = [module for name, module in sys.modules.items() if name.startswith("modeshift")]
    kernels = {
        f"{value.__module__}.{value.__name__}": len(value.signatures)
        for module in modules
        for value in vars(module).values()
        if isinstance(value, Dispatcher)
    }
    assert kernels
    return kernels


@pytest.mark.jit
def test_kinds_of_input_compile_nothing_anew(make):
    """A user with float32, whole-number or read-only input must not wait for the compiler."""
    make(bandwidth=1.5, record=True).fit(X, sample_weight=WEIGHTS).predict(X)
    make(bandwidth=1.5).fit(X).predict(X)
    before = compiled_versions()
    make(**NUMPY_PARAMETERS).fit(X).predict(X)
    make(bandwidth=2, tol=0, merge_radius=1).fit(WHOLE)
    for values, convert in KINDS.values():
        estimator = make(bandwidth=1.5).fit(convert(values), sample_weight=read_only(WEIGHTS))
        estimator.predict(convert(values))
    make(bandwidth=1.5).fit(X.astype(np.float32)).predict(X.astype(np.float32))
    assert compiled_versions() == before


@pytest.mark.parametrize("pair", [[1.0, 1.5], np.array([1.0, 1.5]), (1, 1.5)], ids=repr)
def test_pair_of_bandwidths_in_any_sequence(pair):
    expected = StochasticMeanShift(bandwidth=(1.0, 1.5), random_state=0).fit(X)
    actual = StochasticMeanShift(bandwidth=pair, random_state=0).fit(X)
    assert actual.bandwidth_ == 1.5
    assert_array_equal(actual.modes_, expected.modes_)


@pytest.mark.parametrize("n_jobs", [2, 64, -1])
def test_any_number_of_jobs(make, n_jobs):
    expected = make(bandwidth=1.5).fit(X)
    actual = make(bandwidth=1.5, n_jobs=n_jobs).fit(X)
    assert_array_equal(actual.modes_, expected.modes_)
    assert_array_equal(actual.labels_, expected.labels_)
