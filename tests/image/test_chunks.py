"""Dask arrays: the same labels, hierarchy and smoothed pixels as in memory."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from image.pictures import PICTURES, holes_in
from modeshift.image import filter, hierarchy, segment

da = pytest.importorskip("dask.array")


def chunked(image, channel_axis):
    sides = [5] * image.ndim
    if channel_axis is not None:
        sides[channel_axis] = 2
    return da.from_array(image, chunks=tuple(sides))


@pytest.mark.parametrize("name", ["grey", "photo", "RGB", "six bands", "volume"])
@pytest.mark.parametrize("holes", [False, True])
def test_equals_the_image_in_memory(name, holes):
    image, parameters = PICTURES[name]
    parameters = {"spatial": 2.0, "min_size": 4, **parameters}
    if holes:
        parameters["mask"] = holes_in(name)
    chunks = chunked(image, {"RGB": 0, "photo": 2, "six bands": 2}.get(name))
    wanted, found = hierarchy(image, **parameters), hierarchy(chunks, **parameters)
    assert isinstance(found.labels, da.Array)
    assert_array_equal(found.labels.compute(), wanted.labels)
    assert_array_equal(found.merges, wanted.merges)
    assert_array_equal(found.heights, wanted.heights)
    assert_array_equal(found.colors, wanted.colors)
    cut = segment(chunks, n_regions=3, **parameters)
    assert cut.dtype == np.int32
    assert_array_equal(cut.compute(), wanted.cut(3))
    del parameters["min_size"]
    smoothed = filter(chunks, **parameters)
    assert smoothed.dtype == image.dtype
    assert_array_equal(smoothed.compute(), filter(image, **parameters))


def test_results_come_a_few_at_a_time(monkeypatch):
    """A worker holds what it sends: 400 tiles together were more than its memory."""
    from modeshift.engines.dask.lookout import Lookout

    get, together = Lookout.get, []

    def counted(lookout, results):
        together.append(len(results))
        return get(lookout, results)

    monkeypatch.setattr(Lookout, "get", counted)
    monkeypatch.setattr("modeshift.image.chunks._FETCHED", 3)
    image = np.kron(np.arange(20).reshape(4, 5), np.ones((5, 5)))
    parameters = {"channel_axis": None, "range": 0.4}
    found, wanted = hierarchy(chunked(image, None), **parameters), hierarchy(image, **parameters)
    assert max(together) == 3
    assert_array_equal(found.labels.compute(), wanted.labels)


@pytest.mark.slow
def test_4000_x_4000_pixels_in_chunks_equal_one_piece():
    """The margins of real sizes: 16 chunks, defaults, shapes that go over their borders."""
    rng = np.random.default_rng(0)
    image = np.zeros((4000, 4000, 3), np.uint8)
    for side, height in ((500, 110), (80, 60), (16, 20)):
        n = 4000 // side
        image += np.kron(
            rng.integers(0, height, (n, n, 3), np.uint8), np.ones((side, side, 1), np.uint8)
        )
    image += rng.integers(0, 16, image.shape, np.uint8)
    wanted = hierarchy(image, n_jobs=2)
    assert wanted.n_regions > 10_000
    found = hierarchy(da.from_array(image, chunks=(1000, 1000, 3)), n_jobs=1)
    assert_array_equal(found.labels.compute(), wanted.labels)
    assert_array_equal(found.merges, wanted.merges)
    assert_array_equal(found.heights, wanted.heights)


def test_refusals():
    chunks = da.zeros((20, 30), chunks=10)
    with pytest.raises(ValueError, match="needs an image in memory"):
        segment(chunks, schedule="blurring")
    with pytest.raises(ValueError, match="n_jobs must not be 0"):
        segment(chunks, n_jobs=0)
    with pytest.raises(ValueError, match="no pixel that counts"):
        segment(da.full((20, 30), np.nan, chunks=10))
