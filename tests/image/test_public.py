"""``segment``, ``filter`` and ``hierarchy``: conventions, defaults, bad input."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from image.pictures import PICTURES, noise
from modeshift.image import filter, hierarchy, segment

GREY = noise((20, 30), np.uint8)
RGB = noise((20, 30, 3), np.uint8)


def flag(shape=(40, 60), dtype=np.uint8):
    """Three stripes of 20, 15 and 25 columns."""
    columns = np.repeat([10, 120, 240], [20, 15, 25])
    return np.broadcast_to(columns, shape).astype(dtype)


def test_labels_count_down_by_size():
    labels = segment(flag())
    assert labels.dtype == np.int32
    assert labels[0, [0, 20, 35]].tolist() == [2, 3, 1]
    assert hierarchy(flag()).sizes.tolist() == [1000, 800, 600]


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int64, np.float32, np.float64])
def test_any_dtype_gives_the_same_regions(dtype):
    assert_array_equal(segment(flag(dtype=dtype)), segment(flag()))


@pytest.mark.parametrize("dtype", [np.float16, np.longdouble, ">u2", ">f4", ">f8"])
def test_dtypes_that_kernels_do_not_know(dtype):
    picture = (flag() + np.random.default_rng(0).integers(0, 3, flag().shape)).astype(dtype)
    plain = picture.astype(np.uint16 if picture.dtype.kind == "u" else np.float64)
    smoothed = filter(picture, range=20)
    assert smoothed.dtype == dtype
    assert_array_equal(smoothed, filter(plain, range=20).astype(dtype))
    assert_array_equal(segment(picture, range=20), segment(plain, range=20))


def test_booleans():
    assert segment(flag() > 100)[0, [0, 20, 59]].tolist() == [2, 1, 1]
    smoothed = filter(flag() > 100)
    assert smoothed.dtype == bool
    assert_array_equal(smoothed, flag() > 100)


def test_masked_pixels_and_pixels_without_data_are_0():
    picture = flag(dtype=float)
    mask = np.ones(picture.shape, bool)
    mask[:, 30:33] = False
    by_mask = segment(picture, mask=mask)
    assert_array_equal(by_mask == 0, ~mask)
    picture[~mask] = np.nan
    assert_array_equal(segment(picture), by_mask)
    picture[~mask] = -999.0
    assert_array_equal(segment(picture, nodata=-999), by_mask)
    assert_array_equal(filter(picture, nodata=-999)[~mask], picture[~mask])


def test_no_data_in_one_band_only_is_data_unless_it_is_nan():
    bands = np.stack([flag(), flag(), flag(), flag()], axis=-1).astype(float)
    bands[0, 0, 1] = 0
    assert segment(bands, nodata=0)[0, 0] > 0
    bands[0, 0, 1] = np.nan
    assert segment(bands)[0, 0] == 0


def test_parts_that_do_not_touch_stay_apart():
    mask = np.ones(flag().shape, bool)
    mask[:, 30] = False
    tree = hierarchy(flag(), mask=mask)
    assert tree.cut(1).max() == 2


@pytest.mark.parametrize("schedule", ["stochastic", "blurring"])
def test_other_schedules_find_the_stripes(schedule):
    rng = np.random.default_rng(0)
    picture = flag((20, 60), float) + rng.normal(scale=2, size=(20, 60))
    labels = segment(picture, schedule=schedule, random_state=0, spatial=4, n_regions=3)
    assert labels[0, [0, 20, 35]].tolist() == [2, 3, 1]
    again = segment(picture, schedule=schedule, random_state=0, spatial=4, n_regions=3)
    assert_array_equal(labels, again)


@pytest.mark.parametrize("name", PICTURES)
def test_the_smoothed_image_looks_like_the_image(name):
    image, parameters = PICTURES[name]
    smoothed = filter(image, **parameters)
    assert smoothed.shape == image.shape
    assert smoothed.dtype == image.dtype
    assert smoothed.min() >= image.min() - 1
    assert smoothed.max() <= image.max() + 1


def test_edges_stay_sharp():
    picture = flag(dtype=float) + np.random.default_rng(0).normal(scale=3, size=(40, 60))
    smoothed = filter(picture, range=20)
    assert np.abs(smoothed - flag()).max() < 3
    assert np.abs(np.diff(smoothed, axis=1))[:, 19].min() > 100


def test_cuts_are_nested():
    tree = hierarchy(noise((30, 40), np.uint8, seed=3), range=15, min_size=3)
    assert tree.n_regions > 20
    finer = tree.cut(level=0)
    assert_array_equal(finer, tree.labels)
    for n in (15, 7, 2, 1):
        coarser = tree.cut(n)
        assert len(np.unique(coarser)) == n
        pairs = np.unique(np.stack([finer.ravel(), coarser.ravel()]), axis=1)
        assert len(np.unique(pairs[0])) == pairs.shape[1]  # each finer region is in one
        sizes = np.bincount(coarser.ravel())[1:]
        assert (np.diff(sizes) <= 0).all()
        finer = coarser
    assert_array_equal(tree.cut(10**6), tree.labels)
    assert repr(tree) == f"Hierarchy(labels of shape (30, 40), 1 to {tree.n_regions} regions)"


def test_painting_gives_every_region_its_value():
    tree = hierarchy(flag())
    painted = tree.paint(tree.colors)[0, [0, 20, 35], 0]
    assert np.abs(painted - [10, 120, 240]).max() < 0.02  # a thousandth of the range


def test_channels_may_be_anywhere():
    wanted = segment(RGB)
    assert_array_equal(segment(np.moveaxis(RGB, -1, 0), channel_axis=0), wanted)
    assert_array_equal(segment(RGB, channel_axis=-1), wanted)
    assert segment(noise((5, 6, 7), float), channel_axis=None).shape == (5, 6, 7)
    assert segment(noise((5, 6, 7, 2), float), channel_axis=3).shape == (5, 6, 7)


def test_spacing_is_the_unit_of_spatial():
    volume = noise((6, 9, 8), np.uint8)
    in_pixels = segment(volume, channel_axis=None, spatial=(1, 3, 3))
    in_units = segment(volume, channel_axis=None, spatial=1.5, spacing=(1.5, 0.5, 0.5))
    assert_array_equal(in_pixels, in_units)


def test_lab_is_that_of_scikit_image():
    color = pytest.importorskip("skimage.color")
    from modeshift.image.lab import to_lab, to_rgb

    rgb = np.random.default_rng(0).integers(0, 256, (40, 50, 3)).astype(np.uint8)
    assert np.abs(to_lab(rgb) - color.rgb2lab(rgb)).max() < 1e-3
    assert_array_equal(to_rgb(to_lab(rgb), rgb.dtype), rgb)
    assert np.abs(to_lab(rgb / 255) - to_lab(rgb)).max() < 1e-9


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.floats(-50, 50), st.sampled_from([0.25, 1.0, 3.0]))
def test_shifted_and_scaled_values_have_the_same_regions(seed, shift, scale):
    rng = np.random.default_rng(seed)
    picture = rng.integers(0, 5, (9, 11)) * 50.0 + rng.normal(size=(9, 11))
    labels = segment(picture, range=30, min_size=3)
    again = segment(picture * scale + shift, range=30 * scale, min_size=3)
    assert (labels != again).mean() < 0.2  # values are rounded to a thousandth of the range


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 60))
def test_every_region_is_connected_and_large_enough(seed, min_size):
    from scipy.ndimage import label

    rng = np.random.default_rng(seed)
    mask = rng.random((12, 13)) > 0.1
    labels = segment(rng.normal(size=(12, 13)), mask=mask, min_size=min_size, level=0)
    parts = label(mask)[0]
    for region in range(1, labels.max() + 1):
        inside = labels == region
        assert label(inside)[1] == 1
        part = parts == parts[inside][0]
        assert inside.sum() >= min(min_size, part.sum())


BAD = {
    "no pixels: its shape is (0, 5)": lambda: segment(np.zeros((0, 5))),
    "no pixel that counts": lambda: segment(GREY, mask=np.zeros((20, 30), bool)),
    "all are masked or without data": lambda: filter(np.full((20, 30), np.nan)),
    "got the shape ()": lambda: segment(np.float64(3)),
    "got the shape (5,)": lambda: segment(np.arange(5)),
    "got the shape (3, 4, 5, 6, 7)": lambda: segment(np.zeros((3, 4, 5, 6, 7))),
    "channel_axis=5 is no axis": lambda: segment(RGB, channel_axis=5),
    "channel_axis must be a whole number, None or 'auto', got 'last'": lambda: segment(
        RGB, channel_axis="last"
    ),
    "pass channel_axis=None if it is a volume": lambda: segment(np.zeros((10, 11, 12))),
    "pass the axis of the bands": lambda: segment(np.zeros((3, 4, 5, 6))),
    "image must hold real numbers, got complex128": lambda: segment(np.zeros((3, 3), complex)),
    "image is a masked array": lambda: segment(np.ma.masked_less(GREY, 100)),
    "got the path 'photo.png'": lambda: segment("photo.png"),
    "spatial must be greater than 0": lambda: segment(GREY, spatial=0),
    "spatial must be greater than 0 and finite, got -3": lambda: segment(GREY, spatial=-3),
    "spatial=500 is larger than the image": lambda: segment(GREY, spatial=500),
    "at least 1/16": lambda: segment(GREY, spatial=0.01),
    "one for each of the 2 axes, got (3, 3, 3)": lambda: segment(GREY, spatial=(3, 3, 3)),
    "range must be greater than 0": lambda: segment(GREY, range=-1),
    "range=1e-09 is too small": lambda: segment(GREY.astype(float), range=1e-9),
    "one for each of the 3 bands, got (1, 2)": lambda: segment(RGB, range=(1, 2)),
    "it has no axis of bands": lambda: segment(RGB, mask=np.ones((20, 30, 3), bool)),
    "mask must be boolean": lambda: segment(GREY, mask=np.ones((20, 30))),
    "RGB in floats lies between 0 and 1": lambda: segment(RGB.astype(float)),
    "RGB must be uint8, uint16 or floats": lambda: segment(RGB.astype(int)),
    "convert2lab=True needs the 3 bands": lambda: segment(GREY, convert2lab=True),
    "convert2lab must be True, False or None": lambda: segment(GREY, convert2lab="yes"),
    "schedule must be one of": lambda: segment(GREY, schedule="fast"),
    "random_state must be None": lambda: segment(GREY, schedule="stochastic", random_state="x"),
    "n_jobs must not be 0": lambda: segment(GREY, n_jobs=0),
    "min_size must be at least 0": lambda: segment(GREY, min_size=-1),
    "n_regions must be at least 1": lambda: segment(GREY, n_regions=0),
    "n_regions and level do not go together": lambda: segment(GREY, n_regions=3, level=4),
    "level must be at least 0": lambda: segment(GREY, level=-1),
    "nodata must be a number": lambda: segment(GREY, nodata="x"),
    "spacing must be greater than 0": lambda: segment(GREY, spacing=0),
    "device must be one of": lambda: segment(GREY, device="tpu"),
    "tol must be at least 0": lambda: segment(GREY, tol=-1),
    "max_iter must be at least 1": lambda: segment(GREY, max_iter=0),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_input_gets_one_clear_line(message):
    with pytest.raises((ValueError, TypeError), match=re.escape(message)) as caught:
        BAD[message]()
    assert "\n" not in str(caught.value)


def test_one_pixel_and_one_colour_are_one_region():
    assert segment(np.uint8([[3]])).tolist() == [[1]]
    assert_array_equal(segment(np.full((30, 40, 3), 7, np.uint8)), np.ones((30, 40)))
