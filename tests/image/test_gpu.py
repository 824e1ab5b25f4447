"""A GPU, or Triton's interpreter in its place, finds what the CPU finds, to the last bit."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from helpers import MISSING
from image.pictures import PICTURES, climbed, holes_in, noise, prepared
from modeshift.image import filter, segment

if MISSING:
    pytest.skip("PyTorch and Triton are not installed", allow_module_level=True)

import torch
import triton.language as tl

from modeshift.image import gpu
from modeshift.image.lattice import make_settings
from on_gpu import DEVICE  # noqa: F401  # skips where there is no device
from twins import image as twin

SLOW = ("two bands", "six bands", "volume", "uneven")


def some_slow(names):
    return [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in names]


def assert_same_ends(image, mask=None, **parameters):
    plan, block = prepared(image, mask, **parameters)
    wanted = climbed(plan, block)
    found = gpu.climb_on_gpu(plan, plan.layout.bands_last(image), block.valid)
    assert_array_equal(found.places, wanted.places)
    assert_array_equal(found.colours, wanted.colours[: plan.layout.n_bands])
    assert_array_equal(found.steps, wanted.steps)
    assert found.steps.dtype == wanted.steps.dtype
    return found.steps


@pytest.mark.parametrize("name", some_slow(PICTURES))
@pytest.mark.parametrize("holes", [False, True])
def test_the_same_ends_as_on_the_cpu(name, holes):
    image, parameters = PICTURES[name]
    mask = holes_in(name) if holes else None
    small = {"spatial": 2.4} if image.size > 1 else {}
    assert_same_ends(image, mask, **{**small, "max_iter": 5, **parameters})


def test_climbs_end_in_different_rounds():
    image, parameters = PICTURES["grey"]
    steps = assert_same_ends(image, **parameters, spatial=2.4, tol=0.0, max_iter=30)
    rounds = np.unique(-(-steps // gpu._STEPS))
    assert len(rounds) > 2


def test_sums_that_float32_does_not_hold(monkeypatch):
    monkeypatch.setattr(gpu, "_total", lambda *_: tl.float64)
    image, parameters = PICTURES["grey"]
    assert_same_ends(image, **parameters, spatial=2.4, max_iter=5)


@pytest.mark.parametrize(("radius", "wide"), [(60.0, False), (74.0, True), (255.0, True)])
def test_sums_of_large_windows_are_float64(radius, wide):
    settings = make_settings((radius,) * 3, 1024, 0.01, 100)
    window = gpu.make_window(settings, (1, 1000, 1000))
    largest_sum = np.pi * radius**2 * max(radius * settings.unit, 1024)
    assert (largest_sum >= 2**24) == wide
    assert gpu._total(settings, window) == (tl.float64 if wide else tl.float32)


@pytest.mark.parametrize("radii", [(2.0, 2.0, 2.0), (1.3, 4.2, 2.9), (3.0, 1.0, 7.5)])
@pytest.mark.parametrize("shape", [(9, 17, 19), (1, 17, 19), (9, 1, 4)])
def test_windows_hold_what_the_twin_finds(radii, shape):
    """Places in all parts of a pixel: the rows have all near pixels, the chords are exact."""
    settings = make_settings(radii, 1024, 0.01, 100)
    window, unit = gpu.make_window(settings, shape), settings.unit
    middle = np.array(shape) // 2
    grid = np.stack(np.indices(shape), axis=-1)
    rng = np.random.default_rng(0)
    for _ in range(40):
        place = middle * unit + rng.integers(0, unit, 3) * (np.array(shape) > 1)
        near = twin.in_ellipsoid(grid * unit - place, np.array(settings.radius, dtype=float))
        found = np.zeros(shape, bool)
        for dz, dy, first, n in window.rows:
            z, y = middle[0] + dz, middle[1] + dy
            if not (0 <= z < shape[0] and 0 <= y < shape[1]):
                continue
            chord = window.chords[abs(z * unit - place[0]), abs(y * unit - place[1])]
            for x in range(max(middle[2] + first, 0), min(middle[2] + first + n, shape[2])):
                found[z, y, x] = abs(x * unit - place[2]) <= chord
        assert_array_equal(found, near)


@pytest.mark.parametrize("shape", [(1, 4, 8), (1, 5, 9), (3, 1, 1), (2, 7, 17)])
def test_pixels_of_a_tile_follow_each_other(shape):
    grid = torch.arange(1, 1 + np.prod(shape)).reshape(shape)
    tiles = gpu._in_tiles(grid).reshape(-1, 32)
    assert_array_equal(np.sort(tiles[tiles > 0]), grid.flatten())
    for tile in tiles:
        z, y, x = np.nonzero(np.isin(grid, tile[tile > 0]))
        assert len({*z}) == len({*(y // 4)}) == len({*(x // 8)}) == 1


KINDS = (
    "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "float32",
    "float64", "longdouble", ">u2", ">f4", "bool",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("holes", [False, True])
def test_the_same_pixels_of_every_dtype(kind, holes):
    values = noise((4, 6, 2), np.float64) / 2
    image = values > 75 if kind == "bool" else values.astype(kind)
    mask = np.random.default_rng(1).random((4, 6)) > 0.2 if holes else None
    how = {"spatial": 1.5, "max_iter": 3, "range": 30.3, "channel_axis": -1, "mask": mask}
    found = filter(image, device="cuda", **how)
    assert found.dtype == image.dtype
    assert_array_equal(found, filter(image, **how))


@pytest.mark.parametrize("kind", ["uint8", "uint16", "float32", "float64"])
def test_the_same_pixels_of_rgb(kind):
    image = np.random.default_rng(2).integers(0, 256, (5, 6, 3)) // 16 * 16
    image = image.astype(kind) * 257 if kind == "uint16" else image.astype(kind)
    image = image / image.dtype.type(256) if image.dtype.kind == "f" else image
    how = {"spatial": 1.5, "max_iter": 3, "range": 40.0}
    found = filter(image, device="cuda", **how)
    assert found.dtype == image.dtype
    assert_array_equal(found, filter(image, **how))


def test_pixels_without_data_keep_their_values():
    image = noise((5, 7), np.float32)
    image[1, 2], image[3, 3], image[0, 6] = np.nan, np.inf, -999.0
    how = {"spatial": 2.0, "max_iter": 4, "nodata": -999.0}
    found = filter(image, device="cuda", **how)
    assert_array_equal(found, filter(image, **how))
    assert_array_equal(found[[1, 3, 0], [2, 3, 6]], image[[1, 3, 0], [2, 3, 6]])


def test_bands_first_and_read_only():
    image = noise((3, 5, 6), np.uint8)
    image.flags.writeable = False
    how = {"spatial": 2.0, "max_iter": 4, "channel_axis": 0}
    assert_array_equal(filter(image, device="cuda", **how), filter(image, **how))


def test_the_same_labels():
    image = PICTURES["photo"][0][:5, :9]
    how = {"spatial": 2.0, "max_iter": 4}
    assert_array_equal(segment(image, device="cuda", **how), segment(image, **how))


def test_refusals():
    with pytest.raises(ValueError, match="needs schedule='deterministic', got 'blurring'"):
        segment(np.zeros((9, 9)), device="cuda", schedule="blurring")
    with pytest.raises(ValueError, match="takes up to 16 bands, and image has 20"):
        segment(np.zeros((9, 9, 20)), channel_axis=-1, device="cuda")
    with pytest.raises(ValueError, match="image has no pixel that counts"):
        filter(np.full((9, 9), np.nan), device="cuda")
