"""The climb on a GPU, or as Python by Triton's interpreter: the same places as on the CPU."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from helpers import MISSING
from image.pictures import PICTURES, climbed, holes_in, prepared
from modeshift.image import filter, segment

if MISSING:
    pytest.skip("PyTorch and Triton are not installed", allow_module_level=True)

from modeshift.image.gpu import climb_on_gpu
from on_gpu import DEVICE  # noqa: F401  # skips where there is no device


def slow(name):
    return pytest.param(name, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    "name", ["grey", "photo", slow("two bands"), slow("six bands"), slow("volume"), slow("uneven")]
)
@pytest.mark.parametrize("holes", [False, True])
def test_the_same_places_as_on_the_cpu(name, holes):
    image, parameters = PICTURES[name]
    parameters = {"spatial": 2.4, "max_iter": 5, **parameters}
    plan, block = prepared(image, holes_in(name) if holes else None, **parameters)
    n_bands, pixels = plan.layout.n_bands, np.flatnonzero(block.valid)
    wanted = climbed(plan, block)
    found = climb_on_gpu(block, plan.settings, pixels, n_bands)
    assert_array_equal(found.places[:, pixels], wanted.places[:, pixels])
    assert_array_equal(found.colours[:, pixels], wanted.colours[:n_bands][:, pixels])
    assert_array_equal(found.steps[pixels], wanted.steps[pixels])


def test_the_same_labels_and_pixels():
    image = PICTURES["photo"][0][:5, :9]
    how = {"spatial": 2.0, "max_iter": 4}
    assert_array_equal(segment(image, device="cuda", **how), segment(image, **how))
    assert_array_equal(filter(image, device="cuda", **how), filter(image, **how))


def test_refusals():
    with pytest.raises(ValueError, match="needs schedule='deterministic', got 'blurring'"):
        segment(np.zeros((9, 9)), device="cuda", schedule="blurring")
    with pytest.raises(ValueError, match="takes up to 16 bands, and image has 20"):
        segment(np.zeros((9, 9, 20)), channel_axis=-1, device="cuda")
