"""Colours in whole units and back: pieces of rows on any thread are those of the naive twin."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from image.pictures import PICTURES, climbed, holes_in, prepared, units_of
from modeshift.image import lab
from modeshift.image.block import make_block
from modeshift.image.lattice import FAR
from modeshift.image.segmenting import smooth
from twins import image as twin


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.parametrize("holes", [False, True])
def test_planes_are_those_of_the_twin(name, holes, monkeypatch):
    monkeypatch.setattr("modeshift.image.rows._PIXELS", 20)  # some rows at a time
    image, parameters = PICTURES[name]
    plan, block = prepared(image, holes_in(name) if holes else None, **parameters)
    colours = plan.layout.bands_last(image)
    colours = twin.to_lab(colours) if plan.is_lab else colours
    wanted = twin.to_units(colours, plan.colours.middle, plan.colours.factor)
    assert_array_equal(units_of(plan, block), np.where(block.valid[..., np.newaxis], wanted, 0))
    outside = np.ones(block.planes.shape[3], bool)
    outside[block.pad : block.pad + block.shape[2]] = False
    bands = block.planes[: plan.layout.n_bands]
    assert (bands[..., outside] == FAR).all()
    assert (bands[..., ~outside][:, ~block.valid] == FAR).all()


@pytest.mark.parametrize("name", PICTURES)
def test_smoothed_pixels_are_those_of_the_twin(name, monkeypatch):
    monkeypatch.setattr("modeshift.image.rows._PIXELS", 20)
    image, parameters = PICTURES[name]
    plan, block = prepared(image, holes_in(name), **parameters)
    pixels = plan.layout.bands_last(image)
    ends = climbed(plan, block)
    units = np.moveaxis(ends.colours[: plan.layout.n_bands].reshape(-1, *block.shape), 0, -1)
    colours = twin.from_units(units, plan.colours.middle, plan.colours.factor)
    wanted = twin.to_dtype(twin.from_lab(colours) if plan.is_lab else colours, image.dtype)
    wanted = np.where(block.valid[..., np.newaxis], wanted, pixels)
    found = smooth(plan, ends, block.valid, pixels, n_threads=2)
    assert found.dtype == image.dtype
    assert_array_equal(found, wanted)


def test_threads_change_no_plane():
    image, parameters = PICTURES["photo"]
    plan, block = prepared(np.tile(image, (20, 20, 1)), **parameters)
    pixels = np.tile(image, (20, 20, 1))[np.newaxis]
    assert_array_equal(make_block(plan, pixels, None, n_threads=3).planes, block.planes)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_whole_numbers_of_light_are_the_nearest(dtype):
    top = np.iinfo(dtype).max
    rng = np.random.default_rng(0)
    light = np.concatenate([rng.uniform(-0.01, 1.01, 5000), rng.uniform(0, 0.01, 5000), [0, 1]])
    wanted = np.rint(lab.encoded(light, np.dtype(float)) * top)
    assert_array_equal(lab.encoded(light, np.dtype(dtype)), wanted)
    each = np.arange(top + 1, dtype=dtype)
    assert_array_equal(lab.encoded(lab.linear(each), np.dtype(dtype)), each)
    borders = lab.borders(np.dtype(dtype))
    assert_array_equal(lab.encoded(borders, np.dtype(dtype)), each[1:])
    below = np.nextafter(borders, 0)
    assert_array_equal(lab.encoded(below, np.dtype(dtype)), each[:-1])
